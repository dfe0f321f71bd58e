// SPDX-License-Identifier: Apache-2.0
/// A list of messages with their lines, packed into as many flits as it takes. [CXL-2.7] [CXL-4.6]
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cxl/flit_codec.h"

namespace flitwise {

struct CxlSend {
  CxlMessage message;
  std::array<std::uint8_t, kCxlLineBytes> line{};  ///< for messages with data
};

/// Messages of a channel keep their order. REQUIRES: all are of the direction and have a place in
/// the formats; nothing is owed before.
std::vector<CxlFlit> pack_messages(const CxlSlotFormats& formats, CxlDirection direction,
                                   const std::vector<CxlSend>& messages);

}  // namespace flitwise
