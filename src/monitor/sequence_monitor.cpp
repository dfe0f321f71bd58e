// SPDX-License-Identifier: Apache-2.0
// Sequence numbers sent, sent again, delivered and acknowledged.
#include "monitor/sequence_monitor.h"

#include <fmt/format.h>

#include <algorithm>

namespace flitwise {
// The monitor's own reading of the rules: the model's numbers are not asked.
struct SequenceMonitor::Rules {
  SequenceSpace numbers;
  unsigned most_unacknowledged;
  MonitoredRule not_next, too_many, new_in_replay, wrong_replay, other_packet, not_in_order,
      ack_beyond, nak_beyond;
};

const SequenceMonitor::Rules SequenceMonitor::kOfTlps = {
    SequenceSpace(0, 4095),  // [LNK-7.1]
    2047,                    // [LNK-7.2]
    {"LNK-7.1", "a new TLP does not have the next sequence number"},
    {"LNK-7.2", "a new TLP was sent though 2048 are unacknowledged"},
    {"LNK-7.10", "a new TLP was sent in the middle of a replay"},
    {"LNK-7.10", "a replay is not of what is unacknowledged, oldest first"},
    {"LNK-7.3", "a replay repeats another packet than was sent"},
    {"LNK-7.5", "a TLP was delivered out of order or twice"},
    {"LNK-7.15", "an Ack goes beyond what was delivered"},
    {"LNK-7.4", "a Nak names another TLP than the last delivered"}};

const SequenceMonitor::Rules SequenceMonitor::kOfFlits = {
    SequenceSpace(1, 1023),  // [LNK-11.6]
    511,                     // [LNK-11.6]
    {"LNK-11.6", "a new flit with payload does not have the next sequence number"},
    {"LNK-11.6", "a new flit was sent though 511 are unacknowledged"},
    {"LNK-11.7", "a new flit was sent in the middle of a replay"},
    {"LNK-11.7", "a replay is not of what is unacknowledged, oldest first"},
    {"LNK-11.7", "a replay repeats another flit than was sent"},
    {"LNK-11.6", "TLPs of a flit were delivered out of order, in part or twice"},
    {"LNK-11.7", "an Ack goes beyond what was delivered"},
    {"LNK-11.7", "a Nak names another flit than the last delivered"}};

SequenceMonitor::SequenceMonitor(Reporter reporter, Numbered what)
    : rules_(what == Numbered::kFlits ? &kOfFlits : &kOfTlps),
      numbers_(rules_->numbers),
      most_unacknowledged_(rules_->most_unacknowledged),
      next_(numbers_.first()),
      stop_(numbers_.plus(next_, kFirstRing - 1)),
      uids_(kFirstRing),
      awaited_(numbers_.first()),
      acked_(numbers_.last()),
      reporter_(reporter) {}

void SequenceMonitor::grow() {
  std::vector<std::uint64_t> larger(uids_.size() * 2);
  const auto larger_mask = static_cast<unsigned>(larger.size() - 1);
  for (std::uint16_t sequence = numbers_.next(acked_); sequence != next_;
       sequence = numbers_.next(sequence)) {
    larger[sequence & larger_mask] = uid_at(sequence);
  }
  uids_ = std::move(larger);
  ring_mask_ = larger_mask;
}

// New TLPs go on unseen up to where a replay, the window or the ring ends that.
void SequenceMonitor::set_stop() {
  const unsigned room = std::min(ring_mask_, most_unacknowledged_);
  stop_ = is_replaying_ ? next_ : numbers_.plus(numbers_.next(acked_), room);
}

void SequenceMonitor::report(const Packet& packet, unsigned sequence, Time now) {
  const unsigned last = numbers_.before(next_);
  const std::string before =
      fmt::format("#{} with sequence {}; acknowledged up to {}", uid_at(last), last, acked_);
  const unsigned unacknowledged = numbers_.distance(acked_, next_) - 1;
  if (sequence != next_) {
    reporter_.report(rules_->not_next, now, packet,
                     fmt::format("sequence {} after ", sequence) + before);
  } else if (is_replaying_) {
    reporter_.report(rules_->new_in_replay, now, packet, before);
  } else if (unacknowledged >= most_unacknowledged_) {
    reporter_.report(rules_->too_many, now, packet, before);
  }
  is_replaying_ = false;
  while (unacknowledged >= ring_mask_ && ring_mask_ < most_unacknowledged_) {
    grow();
  }
  set_stop();
}

void SequenceMonitor::sent_again(const Packet& packet, unsigned sequence, Time now) {
  const unsigned oldest = numbers_.next(acked_);
  const bool goes_on = is_replaying_ && sequence == replay_;
  if ((sequence != oldest && !goes_on) || oldest == next_) {
    reporter_.report(rules_->wrong_replay, now, packet,
                     fmt::format("sequence {}; #{} with {} is the oldest unacknowledged", sequence,
                                 uid_at(oldest), oldest));
  } else if (uid_at(sequence) != packet.uid) {
    reporter_.report(rules_->other_packet, now, packet,
                     fmt::format("#{} with sequence {}", uid_at(sequence), sequence));
  }
  replay_ = numbers_.next(static_cast<std::uint16_t>(sequence));
  is_replaying_ = replay_ != next_;
  set_stop();
}

void SequenceMonitor::report_delivery(const Packet& packet, unsigned sequence, Time now) const {
  reporter_.report(
      rules_->not_in_order, now, packet,
      fmt::format("sequence {}; #{} with {} is awaited", sequence, uid_at(awaited_), awaited_));
}

void SequenceMonitor::acknowledging(const Packet& packet, Time now) {
  const unsigned beyond = numbers_.distance(awaited_, numbers_.next(packet.dllp.sequence));
  const bool is_nak = packet.dllp.type == DllpType::kNak;
  if (is_nak ? beyond != 0 : beyond != 0 && beyond <= most_unacknowledged_) {
    const unsigned last = numbers_.before(awaited_);
    reporter_.report(
        is_nak ? rules_->nak_beyond : rules_->ack_beyond, now, packet,
        fmt::format("#{} with sequence {} was the last delivered", uid_at(last), last));
  }
}

// What is outside the window changes nothing. [LNK-7.8] [LNK-7.9]
void SequenceMonitor::acknowledged(const Dllp& dllp) {
  if (!numbers_.contains(dllp.sequence)) {
    return;
  }
  const unsigned freed = numbers_.distance(acked_, dllp.sequence);
  if (freed >= numbers_.distance(acked_, next_)) {
    return;
  }
  if (is_replaying_ && numbers_.distance(acked_, replay_) <= freed) {
    replay_ = numbers_.next(dllp.sequence);
    is_replaying_ = replay_ != next_;
  }
  acked_ = dllp.sequence;
  set_stop();
}

}  // namespace flitwise
