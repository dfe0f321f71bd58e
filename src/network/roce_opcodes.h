// SPDX-License-Identifier: Apache-2.0
/// The opcodes of the base transport header: what stands behind it. [ROCE-3]
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/roce_headers.h"

namespace flitwise {

inline constexpr std::uint8_t kCnpOpcode = 0x81;
/// The largest path MTU.
inline constexpr std::uint16_t kMostRocePayload = 4096;

struct RoceOpcode {
  std::uint8_t code;
  std::string name;                   ///< as in Linux' ib_pack.h: "RC_SEND_ONLY"
  std::vector<RoceHeaderId> headers;  ///< behind BTH
  std::uint16_t least_payload, most_payload;
};

/// By code.
const std::vector<RoceOpcode>& roce_opcodes();
/// Null: no opcode of RC, UC, UD or CNP.
const RoceOpcode* roce_opcode(std::uint8_t code);

}  // namespace flitwise
