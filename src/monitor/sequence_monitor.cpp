// SPDX-License-Identifier: Apache-2.0
// Sequence numbers sent, sent again, delivered and acknowledged.
#include "monitor/sequence_monitor.h"

#include <fmt/format.h>

#include <algorithm>

namespace flitwise {
namespace {

constexpr MonitoredRule kNotNext{"LNK-7.1", "a new TLP does not have the next sequence number"};
constexpr MonitoredRule kTooMany{"LNK-7.2", "a new TLP was sent though 2048 are unacknowledged"};
constexpr MonitoredRule kNewInReplay{"LNK-7.10", "a new TLP was sent in the middle of a replay"};
constexpr MonitoredRule kWrongReplay{"LNK-7.10",
                                     "a replay is not of what is unacknowledged, oldest first"};
constexpr MonitoredRule kOtherPacket{"LNK-7.3", "a replay repeats another packet than was sent"};
constexpr MonitoredRule kNotInOrder{"LNK-7.5", "a TLP was delivered out of order or twice"};
constexpr MonitoredRule kAckBeyond{"LNK-7.15", "an Ack goes beyond what was delivered"};
constexpr MonitoredRule kNakBeyond{"LNK-7.4", "a Nak names another TLP than the last delivered"};

}  // namespace

void SequenceMonitor::grow() {
  std::vector<std::uint64_t> larger(uids_.size() * 2);
  const auto larger_mask = static_cast<unsigned>(larger.size() - 1);
  for (unsigned sequence = (acked_ + 1) & kMask; sequence != next_;
       sequence = (sequence + 1) & kMask) {
    larger[sequence & larger_mask] = uid_at(sequence);
  }
  uids_ = std::move(larger);
  ring_mask_ = larger_mask;
}

// New TLPs go on unseen up to where a replay, the window or the ring ends that.
void SequenceMonitor::set_stop() {
  const unsigned room = std::min(ring_mask_, kMostUnacknowledged);
  stop_ = is_replaying_ ? next_ : (acked_ + 1 + room) & kMask;
}

void SequenceMonitor::report(const Packet& packet, unsigned sequence, Time now) {
  const unsigned last = (next_ - 1) & kMask;
  const std::string before =
      fmt::format("#{} with sequence {}; acknowledged up to {}", uid_at(last), last, acked_);
  const unsigned unacknowledged = distance(acked_, next_) - 1;
  if (sequence != next_) {
    reporter_.report(kNotNext, now, packet, fmt::format("sequence {} after ", sequence) + before);
  } else if (is_replaying_) {
    reporter_.report(kNewInReplay, now, packet, before);
  } else if (unacknowledged >= kMostUnacknowledged) {
    reporter_.report(kTooMany, now, packet, before);
  }
  is_replaying_ = false;
  while (unacknowledged >= ring_mask_ && ring_mask_ < kMostUnacknowledged) {
    grow();
  }
  set_stop();
}

void SequenceMonitor::sent_again(const Packet& packet, unsigned sequence, Time now) {
  const unsigned oldest = (acked_ + 1) & kMask;
  const bool goes_on = is_replaying_ && sequence == replay_;
  if ((sequence != oldest && !goes_on) || oldest == next_) {
    reporter_.report(kWrongReplay, now, packet,
                     fmt::format("sequence {}; #{} with {} is the oldest unacknowledged", sequence,
                                 uid_at(oldest), oldest));
  } else if (uid_at(sequence) != packet.uid) {
    reporter_.report(kOtherPacket, now, packet,
                     fmt::format("#{} with sequence {}", uid_at(sequence), sequence));
  }
  replay_ = (sequence + 1) & kMask;
  is_replaying_ = replay_ != next_;
  set_stop();
}

void SequenceMonitor::report_delivery(const Packet& packet, unsigned sequence, Time now) const {
  reporter_.report(
      kNotInOrder, now, packet,
      fmt::format("sequence {}; #{} with {} is awaited", sequence, uid_at(awaited_), awaited_));
}

void SequenceMonitor::acknowledging(const Packet& packet, Time now) {
  const unsigned beyond = distance(awaited_, packet.dllp.sequence + 1U);
  const bool is_nak = packet.dllp.type == DllpType::kNak;
  if (is_nak ? beyond != 0 : beyond != 0 && beyond <= kMostUnacknowledged) {
    const unsigned last = (awaited_ - 1) & kMask;
    reporter_.report(
        is_nak ? kNakBeyond : kAckBeyond, now, packet,
        fmt::format("#{} with sequence {} was the last delivered", uid_at(last), last));
  }
}

// What is outside the window changes nothing. [LNK-7.8] [LNK-7.9]
void SequenceMonitor::acknowledged(const Dllp& dllp) {
  const unsigned freed = distance(acked_, dllp.sequence);
  if (freed >= distance(acked_, next_)) {
    return;
  }
  if (is_replaying_ && distance(acked_, replay_) <= freed) {
    replay_ = (dllp.sequence + 1U) & kMask;
    is_replaying_ = replay_ != next_;
  }
  acked_ = dllp.sequence;
  set_stop();
}

}  // namespace flitwise
