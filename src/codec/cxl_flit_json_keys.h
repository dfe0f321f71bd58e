// SPDX-License-Identifier: Apache-2.0
/// Keys that readers and writers of flits in JSON share.
#pragma once

#include <array>
#include <string>

#include "cxl/channels.h"

namespace flitwise {

/// Which flit it is; the rest of the object says what it holds.
inline constexpr std::array kCxlKindKeys = {"flit", "direction", "identity_bits"};

/// "cache_req", "mem_data", ...
inline std::string cxl_credit_key(CxlProtocol protocol, std::size_t credit) {
  constexpr std::array<const char*, kCxlCredits> kClasses = {"req", "rsp", "data"};
  return std::string(protocol == CxlProtocol::kCache ? "cache_" : "mem_") + kClasses[credit];
}

}  // namespace flitwise
