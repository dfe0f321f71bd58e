// SPDX-License-Identifier: Apache-2.0
/// What a monitor remembers of a packet that may be gone by the time it is named in a violation.
#pragma once

#include <cstdint>
#include <string>

#include "flitwise/cxl.h"
#include "flitwise/packet.h"

namespace flitwise {

struct PacketNote {
  std::uint64_t uid = 0;
  std::uint64_t address = 0;
  TlpType type = TlpType::kMRd;
  std::uint16_t length_dw = 0;
  std::uint16_t tag = 0;
  Bdf requester_id;
};

inline PacketNote note_of(const Packet& packet) {
  const Tlp& tlp = packet.tlp;
  return {packet.uid, tlp.address, tlp.type, tlp.length_dw, tlp.tag, tlp.requester_id};
}

/// "#17 MRd tag 5 from 01:00.0 at 0x1000, 16 DW"
std::string text_of(const PacketNote& note);
/// The same with what else tells a completion, a message or a DLLP apart; of a message of CXL.cache
/// or CXL.mem its own.
std::string text_of(const Packet& packet);
std::string text_of(Bdf bdf);  ///< "01:00.0"

/// What a unit on a wire is: "MRd", "UpdateFC", "flit", "M2S Req", "message" of the bit-packed
/// carrier.
const char* kind_of(const Packet& packet);

/// The same of a message of CXL.cache or CXL.mem.
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
