// SPDX-License-Identifier: Apache-2.0
#include "rdma/held_requests.h"

namespace flitwise {
namespace {

bool is_atomic_packet(RdmaOpcode opcode) {
  return info_of(opcode).kind == RdmaPacketKind::kAtomic;
}

}  // namespace

void HeldRequests::hold(const RdmaPacket& packet, Time now, bool is_placed) {
  psns_.insert(packet.psn);
  grow((packet.psn - psns_.base()) & kPsnMask);
  Held& held = place(packet.psn);
  const bool is_atomic = is_atomic_packet(packet.opcode);
  held.address = packet.address;
  held.first = is_atomic ? packet.operand : packet.length | std::uint64_t{packet.immediate} << 32;
  held.second = packet.compare;
  held.came = now;
  held.key = packet.key;
  held.payload_bytes = packet.payload_bytes;
  held.session = packet.session;
  held.partition = packet.partition;
  held.opcode = packet.opcode;
  held.pad = packet.pad;
  held.asks_for_ack = packet.asks_for_ack;
  held.is_solicited = packet.is_solicited;
  held.is_marked = packet.is_marked;
  held.is_placed = is_placed;
  held.names_place = packet.names_place;
}

bool HeldRequests::take(Psn psn, RdmaPacket& packet, bool& is_placed) {
  if (!psns_.erase(psn)) {
    return false;
  }
  const Held& held = place(psn);
  packet = RdmaPacket{};
  packet.psn = psn;
  packet.address = held.address;
  if (is_atomic_packet(held.opcode)) {
    packet.operand = held.first;
    packet.compare = held.second;
  } else {
    packet.length = static_cast<std::uint32_t>(held.first);
    packet.immediate = static_cast<std::uint32_t>(held.first >> 32);
  }
  packet.key = held.key;
  packet.payload_bytes = held.payload_bytes;
  packet.session = held.session;
  packet.partition = held.partition;
  packet.opcode = held.opcode;
  packet.pad = held.pad;
  packet.asks_for_ack = held.asks_for_ack;
  packet.is_solicited = held.is_solicited;
  packet.is_marked = held.is_marked;
  packet.names_place = held.names_place;
  is_placed = held.is_placed;
  return true;
}

void HeldRequests::grow(std::uint32_t distance) {
  constexpr std::size_t kFirst = 16;
  std::size_t size = std::max(places_.size(), kFirst);
  while (size <= distance) {
    size *= 2;
  }
  if (size != places_.size()) {
    std::vector<Held> old(size);
    old.swap(places_);
    for (Psn psn = psns_.first_in(psns_.base(), psns_.end()); psn != psns_.end();
         psn = psns_.first_in(psn_plus(psn, 1), psns_.end())) {
      if (!old.empty()) {
        place(psn) = old[psn & (old.size() - 1)];
      }
    }
  }
}

}  // namespace flitwise
