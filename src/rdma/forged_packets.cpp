// SPDX-License-Identifier: Apache-2.0
#include "rdma/forged_packets.h"

#include <vector>

#include "network/roce_opcodes.h"

namespace flitwise {
namespace {

// All that have a form: a frame with another code never comes to a queue pair.
const std::vector<RoceOpcode>& opcodes() {
  return roce_opcodes();
}

constexpr bool has_reth(RdmaPacketKind kind) {
  return kind == RdmaPacketKind::kWrite || kind == RdmaPacketKind::kRead ||
         kind == RdmaPacketKind::kAtomic;
}

}  // namespace

RdmaPacket ForgedPackets::next(const RdmaPacket& sent) {
  RdmaPacket packet = sent;
  packet.payload = {};
  packet.psn = some_psn(sent.psn);
  for (std::uint64_t left = 1 + random_.below(3); left > 0; --left) {
    change_one(packet);
  }
  return packet;
}

void ForgedPackets::change_one(RdmaPacket& packet) {
  const auto below = [this](std::uint64_t bound) {
    return static_cast<std::uint32_t>(random_.below(bound));
  };
  switch (below(13)) {
    case 0:
    case 1: {
      packet.opcode = static_cast<RdmaOpcode>(opcodes()[below(opcodes().size())].code);
      if (packet.key == 0 && has_reth(info_of(packet.opcode).kind)) {
        packet.key = some_key();
        packet.address = some_address(target_.base);
        packet.length = packet.payload_bytes;
      }
      break;
    }
    case 2: packet.queue_pair = target_.first_pair + below(target_.pairs); break;
    case 3: packet.queue_pair = below(kPsnMask + 1ULL); break;
    case 4:
      packet.partition = static_cast<std::uint16_t>(below(2) == 0 ? below(1 << 16) : 0x7fff);
      break;
    case 5: packet.version = static_cast<std::uint8_t>(below(16)); break;
    case 6: packet.key = some_key(); break;
    case 7: packet.address = some_address(packet.address); break;
    case 8:
      packet.length =
          below(2) == 0 ? packet.length + below(64) : static_cast<std::uint32_t>(random_.next());
      break;
    case 9:
      packet.payload_bytes = below(target_.mtu + 9ULL);
      packet.pad = pad_of(packet.payload_bytes);
      break;
    case 10: packet.pad = static_cast<std::uint8_t>(below(4)); break;
    case 11:
      packet.syndrome = static_cast<std::uint8_t>(random_.next());
      packet.messages = below(kPsnMask + 1ULL);
      break;
    default:
      packet.immediate = some_key();
      packet.operand = random_.next();
      packet.compare = random_.next();
      packet.original = random_.next();
      packet.asks_for_ack = !packet.asks_for_ack;
      packet.is_solicited = !packet.is_solicited;
      break;
  }
}

// Of a region of the receiver, with a tag that fits or not; or any.
std::uint32_t ForgedPackets::some_key() {
  const auto any = static_cast<std::uint32_t>(random_.next());
  return random_.chance(0.25)
             ? any
             : static_cast<std::uint32_t>(random_.below(target_.keys + 2ULL)) << 8 |
                   (random_.chance(0.75) ? 1 : any & 0xff);
}

// Anywhere in the memory that has regions, a little before or behind it, near another one, at the
// end of all addresses, or anywhere.
std::uint64_t ForgedPackets::some_address(std::uint64_t near) {
  constexpr std::uint64_t kNear = 4096;
  switch (random_.below(6)) {
    case 0: return target_.base + random_.below(target_.bytes);
    case 1: return target_.base + target_.bytes - kNear + random_.below(2 * kNear);
    case 2: return target_.base - 1 - random_.below(kNear);
    case 3: return near - kNear + random_.below(2 * kNear);
    case 4: return 0 - 1 - random_.below(kNear);
    default: return random_.next();
  }
}

// Few are the next in order, so that queue pairs live long enough to be tried.
Psn ForgedPackets::some_psn(Psn near) {
  constexpr std::uint64_t kNear = 64;
  switch (random_.below(8)) {
    case 0: return static_cast<Psn>(random_.next()) & kPsnMask;
    case 1: return psn_plus(near, static_cast<std::uint32_t>(random_.below(kNear)));
    default: return psn_plus(near, kPsnMask + 1 - static_cast<std::uint32_t>(random_.below(kNear)));
  }
}

}  // namespace flitwise
