// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_forger.h"

#include "srdma/frame_fields.h"

namespace flitwise {

// What an injector with the right tuple can make, who reads all and has no key; and one without the
// tuple. [SEL-8]
FrameRef HcaForger::make_of_session(const HcaBuilt& sent, FramePool& pool) {
  using namespace frame_field;
  constexpr std::uint64_t kPorts = 65'536;
  const ByteVector& bytes = sent.frame->bytes;
  const std::uint64_t kind = random_.below(6);
  if (kind == 0) {  // where plain RoCEv2 and control messages go
    return make(packets_.next(*sent.packet), pool);
  }
  if (kind <= 3) {
    FrameRef frame = pool.make(0);
    frame->bytes = bytes;
    frame->wire_bytes = sent.frame->wire_bytes;
    if (kind == 2) {  // a guess
      put(&frame->bytes[sent.parts.udp], kSourcePort, random_.below(kPorts));
      put(&frame->bytes[sent.parts.udp], kDestinationPort, random_.below(kPorts));
    } else if (kind == 3) {  // a bit of what a key protects, or an ICRC
      const std::size_t from = sent.parts.bth;
      frame->bytes[from + random_.below(bytes.size() - from)] ^=
          static_cast<std::uint8_t>(1U << random_.below(8));
    }
    return frame;  // else it comes a second time
  }
  RdmaPacket packet = packets_.next(*sent.packet);
  if (packet.has_echo) {
    forge_echo(packet);
  }
  FrameRef frame = make(packet, pool);
  RoceParts parts;
  const RoceExtensions extensions{packet.has_echo, packet.has_sack, packet.names_place};
  if (packet_of(frame->bytes, parts, extensions)) {
    for (const RoceField& field : {kSourceAddress, kDestinationAddress}) {
      put(&frame->bytes[parts.ip], field, get(&bytes[sent.parts.ip], field));
    }
    for (const RoceField& field : {kSourcePort, kDestinationPort}) {
      put(&frame->bytes[parts.udp], field, get(&bytes[sent.parts.udp], field));
    }
    seal_roce(frame->bytes.data(), parts);
  }
  return frame;
}

void HcaForger::forge_echo(RdmaPacket& packet) {
  switch (random_.below(4)) {
    case 0: packet.echo.session = static_cast<std::uint16_t>(random_.next()); break;
    case 1: packet.echo.psn = static_cast<Psn>(random_.next()) & kPsnMask; break;
    case 2: packet.echo.hold_ns = static_cast<std::uint32_t>(random_.next()); break;
    default: packet.sack = random_.next(); break;
  }
}

}  // namespace flitwise
