// SPDX-License-Identifier: Apache-2.0
// The data link layer of generations 1 to 5.
#include "link/non_flit_framer.h"

#include "link/replay_timer.h"
#include "tlp/wire_size.h"

namespace flitwise {

NonFlitFramer::NonFlitFramer(const LinkConfig& link, TransactionQueues& queues, PacketPool& pool)
    : DataLinkFramer(link, queues, pool, ack_limit(link), replay_limit(link),
                     SequenceSpace::of_tlps(), kTlpReplayCount) {}

// Order of sending: Nak and Ack, flow control, replays, new TLPs. [LNK-8.14]
[[gnu::flatten]] bool NonFlitFramer::next(Time now, WireUnit& unit) {
  check_replay_timer(now);
  return next_dllp(now, unit) || (may_carry_tlps() && next_tlp(now, unit));
}

bool NonFlitFramer::has_work(Time now) const {
  if (receiver_.deadline() <= now || credits_.deadline() <= now) {
    return true;
  }
  if (!may_carry_tlps() || replay_.is_replaying()) {
    return may_carry_tlps();
  }
  const std::optional<TransactionQueues::Position> position = queues_.choose(now);
  return position && replay_.has_room(queues_.peek(*position).size.total() / 8);
}

bool NonFlitFramer::next_dllp(Time now, WireUnit& unit) {
  if (receiver_.deadline() <= now) {
    unit.packet = take_ack();
  } else if (credits_.deadline() <= now) {
    unit.packet = take_flow_control(now);
  } else {
    return false;
  }
  unit.size.dllp = kDllpBits;
  return true;
}

bool NonFlitFramer::next_tlp(Time now, WireUnit& unit) {
  if (replay_.is_replaying()) {
    take_replay(unit);
    unit.size = unit.packet->size;
    return true;
  }
  const std::optional<TransactionQueues::Position> position = queues_.choose(now);
  if (!position || queues_.is_mixed()) {
    queues_.note_stalls(now);
  }
  if (!position) {
    return false;
  }
  const Packet& candidate = queues_.peek(*position);
  const std::uint32_t bytes = candidate.size.total() / 8;
  const bool has_room = replay_.has_room(bytes);
  note_replay_buffer(!has_room, now);
  if (!has_room) {
    return false;
  }
  unit.packet = queues_.take(*position);
  unit.sequence = replay_.push(unit.packet, bytes);
  unit.size = unit.packet->size;
  return true;
}

void NonFlitFramer::sent(const WireUnit& unit, Time last) {
  if (unit.packet->kind == PacketKind::kTlp) {
    replay_.sent(last);
  }
}

[[gnu::flatten]] void NonFlitFramer::receive(const WireUnit& unit, bool is_damaged, Time now,
                                             std::vector<PacketRef>& delivered) {
  if (unit.packet->kind == PacketKind::kDllp) {
    if (is_damaged) {
      ++stats_.damaged_dllps;  // [LNK-6.7]
    } else {
      receive_dllp(unit.packet->dllp, now);
    }
    return;
  }
  if (accepts(unit.sequence, is_damaged, now)) {
    deliver(unit.packet, delivered);
  }
}

}  // namespace flitwise
