// SPDX-License-Identifier: Apache-2.0
/// What a monitor remembers of a message of CXL.cache or CXL.mem that may be gone by the time it is
/// named in a violation.
#pragma once

#include <cstdint>
#include <string>

#include "flitwise/cxl.h"
#include "flitwise/packet.h"

namespace flitwise {

struct MessageNote {
  std::uint64_t uid = 0;
  std::uint64_t address = 0;
  CxlChannel channel = CxlChannel::kM2sReq;
  std::uint8_t opcode = 0;
  std::uint16_t id = 0;
};

inline MessageNote note_of_message(const Packet& packet) {
  const CxlMessage& message = *packet.cxl;
  return {packet.uid, message.address, message.channel, message.opcode, message.id};
}

/// "#17 M2S Req MemRd id 5 at 0x1000"
std::string text_of(const MessageNote& note);

}  // namespace flitwise
