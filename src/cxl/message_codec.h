// SPDX-License-Identifier: Apache-2.0
/// One message as bits in a slot, and back. [CXL-1.7]
#pragma once

#include <cstddef>
#include <cstdint>

#include "cxl/message_fields.h"
#include "cxl/widths.h"

namespace flitwise {

/// A message as its bits tell it: byte enables themselves come with its line.
struct CxlWireMessage {
  CxlMessage message;
  bool is_valid = true;           ///< V
  bool has_byte_enables = false;  ///< 256-byte flits: BEP of D2H Data, TRP of M2S RwD
  bool has_trailer = false;       ///< 256-byte flits: TRP of S2M DRS
};

/// Bits of an identity that a D2H Req can have here.
inline constexpr std::uint32_t kMostIdentityBits = 64;

/// Puts widths.of(channel) bits at bit `at`, which are 0 before. Fields beyond their width are cut.
void put_message(const CxlWireMessage& wire, const CxlWidths& widths, std::uint8_t* bytes,
                 std::size_t at);
/// Any bits make a message; reserved ones are ignored.
CxlWireMessage message_at(CxlChannel channel, const CxlWidths& widths, const std::uint8_t* bytes,
                          std::size_t at);

}  // namespace flitwise
