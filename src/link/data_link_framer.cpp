// SPDX-License-Identifier: Apache-2.0
// The data link layer of both modes.
#include "link/data_link_framer.h"

#include <algorithm>

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

void DataLinkFramer::start_replay() {
  recovery_requested_ = replay_.start_replay() || recovery_requested_;
  note_replay_events();
}

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
  if (breaks_sequence_ && !owed.is_nak) {
    dllp.sequence = numbers_.next(owed.sequence);  // not delivered yet [LNK-7.15]
    breaks_sequence_ = false;
  }
  ++(owed.is_nak ? stats_.naks : stats_.acks);
  return make_dllp(dllp);
}

PacketRef DataLinkFramer::take_flow_control(Time now) {
  const Dllp dllp = credits_.take(now);
  stats_.update_fcs += is_update_fc(dllp.type) ? 1 : 0;
  return make_dllp(dllp);
}

PacketRef DataLinkFramer::make_dllp(const Dllp& dllp) const {
  PacketRef packet = pool_.make(PacketKind::kDllp);
  packet->dllp = dllp;
  return packet;
}

void DataLinkFramer::receive_dllp(const Dllp& dllp, Time now) {
  if (is_flow_control(dllp.type) || dllp.type == DllpType::kOptimizedUpdateFc) {
    credits_.receive(dllp, now);
    return;
  }
  if (!is_ack_or_nak(dllp.type)) {
    return;  // carried, without effect here [LNK-N.2, LNK-N.8]
  }
  const ReplayBuffer::Outcome outcome = replay_.acknowledge(dllp.sequence, now);
  if (!outcome.is_valid) {
    ++stats_.dl_protocol_errors;
    return;
  }
  if (dllp.type == DllpType::kNak && !replay_.empty()) {
    start_replay();
  }
}

bool DataLinkFramer::accepts(std::uint16_t sequence, bool is_damaged, Time now) {
  switch (receiver_.receive(sequence, is_damaged, now)) {
    case AckNakReceiver::Verdict::kAccepted:
      return true;
    case AckNakReceiver::Verdict::kDamaged:
      ++stats_.damaged_tlps;
      break;
    case AckNakReceiver::Verdict::kDuplicate:
      ++stats_.duplicates;
      break;
    case AckNakReceiver::Verdict::kOutOfSequence:
      ++stats_.out_of_sequence;
      break;
  }
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

void DataLinkFramer::recovered(Time /*now*/) {
  replay_.recovered();
  note_replay_events();
}

void DataLinkFramer::note_replay_events() {
  stats_.replay_events += replay_.replay_events() - replay_events_noted_;
  replay_events_noted_ = replay_.replay_events();
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

}  // namespace flitwise
