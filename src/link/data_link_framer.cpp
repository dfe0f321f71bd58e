// SPDX-License-Identifier: Apache-2.0
// The data link layer of both modes, and that of generations 1 to 5.
#include "link/data_link_framer.h"

#include <algorithm>

#include "link/replay_timer.h"
#include "tlp/wire_size.h"

namespace flitwise {

DataLinkFramer::DataLinkFramer(const LinkConfig& link, TransactionQueues& queues, PacketPool& pool,
                               Time ack_limit, Time replay_limit, SequenceSpace numbers,
                               ReplayCount count)
    : queues_(queues),
      pool_(pool),
      receiver_(ack_limit, link.ack_coalesce, numbers),
      replay_(link.replay_buffer, replay_limit, numbers, count),
      credits_(link, ack_limit, queues),
      numbers_(numbers) {}

void DataLinkFramer::take_replay(WireUnit& unit) {
  ReplayBuffer::Replay replay = replay_.next_replay();
  unit.packet = std::move(replay.packet);
  unit.sequence = replay.sequence;
  unit.is_replay = true;
  ++stats_.replays;
}

PacketRef DataLinkFramer::take_ack() {
  const AckNakReceiver::Owed owed = receiver_.take();
  Dllp dllp;
  dllp.type = owed.is_nak ? DllpType::kNak : DllpType::kAck;
  dllp.sequence = owed.sequence;
  if (hooks_.ack && !owed.is_nak) {
    dllp.sequence = hooks_.ack(owed.sequence, numbers_.next(owed.sequence));
  }
  ++(owed.is_nak ? stats_.naks : stats_.acks);
  return make_dllp(dllp);
}

void DataLinkFramer::receive_dllp(const Dllp& dllp, Time now) {
  if (is_flow_control(dllp.type) || dllp.type == DllpType::kOptimizedUpdateFc) {
    credits_.receive(hooks_.flow_control ? hooks_.flow_control(dllp) : dllp, now);
    return;
  }
  if (!is_ack_or_nak(dllp.type)) {
    return;  // carried, without effect here [LNK-N.2, LNK-N.8]
  }
  if (!replay_.acknowledge(dllp.sequence, now)) {
    ++stats_.dl_protocol_errors;
    return;
  }
  if (dllp.type == DllpType::kNak && !replay_.empty()) {
    start_replay();
  }
}

bool DataLinkFramer::accepts(std::uint16_t sequence, bool is_damaged, Time now) {
  static constexpr std::uint64_t FramerStats::*const kRefused[] = {
      nullptr, &FramerStats::damaged_tlps, &FramerStats::duplicates, &FramerStats::out_of_sequence};
  const AckNakReceiver::Verdict verdict = receiver_.receive(sequence, is_damaged, now);
  if (verdict == AckNakReceiver::Verdict::kAccepted) {
    return true;
  }
  ++(stats_.*kRefused[static_cast<std::size_t>(verdict)]);
  return false;
}

Time DataLinkFramer::deadline() const {
  if (replay_.is_replaying()) {
    return Time{};  // more to send, at once
  }
  return std::min({receiver_.deadline(), replay_.deadline(), credits_.deadline()});
}

bool DataLinkFramer::take_recovery_request() {
  const bool requested = recovery_requested_;
  stats_.retrains += requested ? 1 : 0;
  recovery_requested_ = false;
  return requested;
}

void DataLinkFramer::reset(Time now) {
  note_replay_buffer(false, now);
  receiver_.reset();
  replay_.reset();
  credits_.reset();
  recovery_requested_ = false;
}

bool DataLinkFramer::is_quiet() const {
  return replay_.empty() && receiver_.deadline() == Time::never() && !credits_.has_unadvertised() &&
         queues_.empty();
}

NonFlitFramer::NonFlitFramer(const LinkConfig& link, TransactionQueues& queues, PacketPool& pool)
    : DataLinkFramer(link, queues, pool, ack_limit(link), replay_limit(link),
                     SequenceSpace::of_tlps(), kTlpReplayCount) {}

// Order of sending: Nak and Ack, flow control, replays, new TLPs. [LNK-8.14]
[[gnu::flatten, gnu::noinline]] bool NonFlitFramer::next(Time now, WireUnit& unit) {
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

WireSize NonFlitFramer::skip_update(Time now) {
  skip_flow_control(now);
  WireSize size;
  size.dllp = kDllpBits;
  return size;
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
