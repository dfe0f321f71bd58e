// SPDX-License-Identifier: Apache-2.0
// The data link layer of generations 1 to 5.
#include "link/non_flit_framer.h"

#include <algorithm>

#include "link/ack_limits.h"
#include "link/lane_stream.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kDllpBits = 64;  // [LNK-5.6]

Time symbols(const LinkConfig& link, unsigned count) {
  const LineCoding coding = line_coding(link.preset, link.skp);
  return Time{coding.unit_interval_fs * static_cast<std::int64_t>(coding.ui_per_row)} * count;
}

Time ack_limit(const LinkConfig& link) {
  return symbols(link, ack_limit_symbols(link.preset.generation, link.preset.lanes,
                                         static_cast<unsigned>(link.mps)));
}

Time replay_limit(const LinkConfig& link) {
  if (link.timing.replay_timeout.fs > 0) {
    return link.timing.replay_timeout;
  }
  return symbols(link, replay_limit_symbols(link.preset.generation, link.preset.lanes,
                                            static_cast<unsigned>(link.mps)));
}

}  // namespace

NonFlitFramer::NonFlitFramer(const LinkConfig& link, TransactionQueues& queues, PacketPool& pool)
    : queues_(queues),
      pool_(pool),
      receiver_(ack_limit(link), link.ack_coalesce),
      replay_(link.replay_buffer, replay_limit(link)),
      credits_(link, ack_limit(link), queues) {}

void NonFlitFramer::start(Time now) {
  credits_.start(now);
}

// Order of sending: Nak and Ack, flow control, replays, new TLPs. [LNK-8.14]
bool NonFlitFramer::next(Time now, WireUnit& unit) {
  if (replay_.deadline() <= now) {
    recovery_requested_ = replay_.expire() || recovery_requested_;
    stats_.replay_events = replay_.replay_events();
  }
  return next_dllp(now, unit) ||
         (credits_.is_active() && !recovery_requested_ && next_tlp(now, unit));
}

bool NonFlitFramer::next_dllp(Time now, WireUnit& unit) {
  if (receiver_.deadline() <= now) {
    const AckNakReceiver::Owed owed = receiver_.take();
    Dllp dllp;
    dllp.type = owed.is_nak ? DllpType::kNak : DllpType::kAck;
    dllp.sequence = owed.sequence;
    if (breaks_sequence_ && !owed.is_nak) {
      dllp.sequence = (owed.sequence + 1U) & kSequenceMask;  // not delivered yet [LNK-7.15]
      breaks_sequence_ = false;
    }
    ++(owed.is_nak ? stats_.naks : stats_.acks);
    put(dllp, unit);
    return true;
  }
  if (credits_.deadline() <= now) {
    const Dllp dllp = credits_.take(now);
    stats_.update_fcs += dllp.type == DllpType::kUpdateFc ? 1 : 0;
    put(dllp, unit);
    return true;
  }
  return false;
}

void NonFlitFramer::put(const Dllp& dllp, WireUnit& unit) {
  unit.packet = pool_.make(PacketKind::kDllp);
  unit.packet->dllp = dllp;
  unit.sequence = 0;
  unit.is_replay = false;
  unit.size = WireSize{};
  unit.size.dllp = kDllpBits;
}

bool NonFlitFramer::next_tlp(Time now, WireUnit& unit) {
  if (replay_.is_replaying()) {
    ReplayBuffer::Replay replay = replay_.next_replay();
    unit.packet = std::move(replay.packet);
    unit.sequence = replay.sequence;
    unit.is_replay = true;
    unit.size = unit.packet->size;
    ++stats_.replays;
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
  unit.is_replay = false;
  unit.size = unit.packet->size;
  return true;
}

void NonFlitFramer::sent(const WireUnit& unit, Time last) {
  if (unit.packet->kind == PacketKind::kTlp) {
    replay_.sent(last);
  }
}

void NonFlitFramer::receive(const WireUnit& unit, bool is_damaged, Time now,
                            std::vector<PacketRef>& delivered) {
  if (unit.packet->kind == PacketKind::kDllp) {
    if (is_damaged) {
      ++stats_.damaged_dllps;  // [LNK-6.7]
    } else {
      receive_dllp(unit.packet->dllp, now);
    }
    return;
  }
  switch (receiver_.receive(unit.sequence, is_damaged, now)) {
    case AckNakReceiver::Verdict::kAccepted:
      if (!credits_.accept(unit.packet->tlp)) {
        ++stats_.credit_overruns;
      }
      delivered.push_back(unit.packet);
      break;
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
}

void NonFlitFramer::receive_dllp(const Dllp& dllp, Time now) {
  switch (dllp.type) {
    case DllpType::kAck:
    case DllpType::kNak:
      receive_ack(dllp, now);
      break;
    case DllpType::kInitFc1:
    case DllpType::kInitFc2:
    case DllpType::kUpdateFc:
      credits_.receive(dllp, now);
      break;
    case DllpType::kDataLinkFeature:
    case DllpType::kPmEnterL1:
    case DllpType::kPmEnterL23:
    case DllpType::kPmActiveStateRequestL1:
    case DllpType::kPmRequestAck:
    case DllpType::kVendor:
    case DllpType::kNop:
      break;  // carried, without effect here [LNK-N.2, LNK-N.8]
  }
}

void NonFlitFramer::receive_ack(const Dllp& dllp, Time now) {
  const ReplayBuffer::Outcome outcome = replay_.acknowledge(dllp.sequence, now);
  if (!outcome.is_valid) {
    ++stats_.dl_protocol_errors;
    return;
  }
  if (dllp.type == DllpType::kNak && !replay_.empty()) {
    replay_.start_replay();
    stats_.replay_events = replay_.replay_events();
  }
}

void NonFlitFramer::freed(const Packet& packet, Time now) {
  credits_.free(packet.tlp, now);
}

Time NonFlitFramer::deadline() const {
  if (replay_.is_replaying()) {
    return Time{};  // more to send, at once
  }
  return std::min({receiver_.deadline(), replay_.deadline(), credits_.deadline()});
}

bool NonFlitFramer::take_recovery_request() {
  const bool requested = recovery_requested_;
  if (requested) {
    ++stats_.retrains;
    recovery_requested_ = false;
  }
  return requested;
}

void NonFlitFramer::recovered(Time /*now*/) {
  replay_.recovered();
  stats_.replay_events = replay_.replay_events();
}

void NonFlitFramer::reset(Time now) {
  note_replay_buffer(false, now);
  receiver_.reset();
  replay_.reset();
  credits_.reset();
  recovery_requested_ = false;
}

bool NonFlitFramer::is_quiet() const {
  return replay_.empty() && receiver_.deadline() == Time::never() && !credits_.has_unadvertised() &&
         queues_.empty();
}

}  // namespace flitwise
