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

/// Headers of our own, which nothing in a frame tells of: both ends have agreed on them before.
struct RoceExtensions {
  bool has_echo = false;   ///< behind the AETH of each Acknowledge [MO-1]
  bool has_sack = false;   ///< behind that [RX-6]
  bool has_place = false;  ///< a RETH in WRITE Middle and Last too [RX-2]

  bool any() const { return has_echo || has_sack || has_place; }
};
/// void visit(RoceHeaderId) for each header behind BTH.
template <class Visit>
void for_each_header(const RoceOpcode& opcode, const RoceExtensions& extensions, Visit visit) {
  constexpr std::uint8_t kWriteMiddle = 0x07, kWriteLastImmediate = 0x09, kAcknowledge = 0x11;
  if (extensions.has_place && opcode.code >= kWriteMiddle && opcode.code <= kWriteLastImmediate) {
    visit(RoceHeaderId::kReth);
  }
  for (const RoceHeaderId id : opcode.headers) {
    visit(id);
  }
  if (opcode.code == kAcknowledge) {
    if (extensions.has_echo) {
      visit(RoceHeaderId::kEcho);
    }
    if (extensions.has_sack) {
      visit(RoceHeaderId::kSack);
    }
  }
}

/// By code.
const std::vector<RoceOpcode>& roce_opcodes();
/// Null: no opcode of RC, UC, UD or CNP.
const RoceOpcode* roce_opcode(std::uint8_t code);

}  // namespace flitwise
