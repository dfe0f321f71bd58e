// SPDX-License-Identifier: Apache-2.0
/// The output of a port that nobody pauses, in closed form: a FIFO bounded in bytes is the time at
/// which its wire is free. A packet costs no more than its sums. [NW-8]
#pragma once

#include <algorithm>
#include <cstdint>

#include "flitwise/time.h"
#include "network/network_plan.h"
#include "network/red.h"

namespace flitwise {

/// When so many bytes have passed a wire of that rate.
inline Time wire_time(std::uint64_t bytes, double gbps) {
  return {static_cast<std::int64_t>(static_cast<double>(bytes) * 8e6 / gbps)};
}

/// When something ends that was to end at `end`, if from now on it takes so many times as long.
inline Time at_other_rate(Time end, Time now, double times) {
  return end <= now ? end
                    : now + Time{static_cast<std::int64_t>(
                                static_cast<double>((end - now).fs) * times + 0.5)};
}

enum class PortOutcome : std::uint8_t {
  kTaken,
  kMarked,      ///< taken, and CE is to be set in it
  kRedDropped,  ///< it has no ECT where others are marked
  kFull         ///< it has no room
};

class OutputPort {
 public:
  struct Counters {
    std::uint64_t packets = 0, bytes = 0;  ///< taken
    std::uint64_t peak = 0;                ///< bytes of the queue
    double queued_byte_fs = 0;             ///< over a span of time it is the mean of the queue
    Time busy{};
    std::uint64_t full = 0, red = 0;  ///< packets dropped: for want of room, without ECT
    std::uint64_t dropped_bytes = 0;  ///< of both
    std::uint64_t marked = 0;
  };
  struct Pushed {
    PortOutcome outcome;
    Time start{}, end{};  ///< of those taken: first bit out, last bit out
    bool is_taken() const { return outcome <= PortOutcome::kMarked; }
  };

  /// Room for so many bytes. REQUIRES: gbps > 0.
  OutputPort(double gbps, std::uint64_t room) : gbps_(gbps), room_(room) {}

  /// A packet is ready to leave now, behind those before it. What is not yet on the wire has its
  /// room, to the byte. REQUIRES: now does not fall.
  Pushed push(Time now, std::uint32_t bytes, Ecn ecn, const RedRules& red, Random& random) {
    const std::uint64_t queued = queued_bytes(now);
    if (queued + bytes > room_) {
      ++sum_.full;
      sum_.dropped_bytes += bytes;
      return {PortOutcome::kFull};
    }
    const RedVerdict verdict = red_verdict(red, queued, ecn, random);
    if (verdict == RedVerdict::kDrop) {
      ++sum_.red;
      sum_.dropped_bytes += bytes;
      return {PortOutcome::kRedDropped};
    }
    const Time start = std::max(now, free_at_), span = wire_time(bytes, gbps_);
    free_at_ = start + span;
    ++sum_.packets;
    sum_.bytes += bytes;
    sum_.busy += span;
    sum_.peak = std::max(sum_.peak, queued + bytes);
    // All of it waits, and then it goes at a constant rate.
    sum_.queued_byte_fs += static_cast<double>(bytes) * (static_cast<double>((start - now).fs) +
                                                         static_cast<double>(span.fs) / 2);
    sum_.marked += verdict == RedVerdict::kMark ? 1 : 0;
    return {verdict == RedVerdict::kMark ? PortOutcome::kMarked : PortOutcome::kTaken, start,
            free_at_};
  }
  /// What has not left yet.
  std::uint64_t queued_bytes(Time now) const {
    return free_at_ <= now ? 0
                           : static_cast<std::uint64_t>(
                                 static_cast<double>((free_at_ - now).fs) * gbps_ / 8e6 + 0.5);
  }
  Time free_at() const { return free_at_; }
  double gbps() const { return gbps_; }
  /// From now on: the rest of the packet on the wire, what waits and what comes.
  void set_gbps(double gbps, Time now) {
    const Time before = free_at_;
    free_at_ = at_other_rate(free_at_, now, gbps_ / gbps);
    sum_.busy += free_at_ - before;
    gbps_ = gbps;
  }
  const Counters& counters() const { return sum_; }
  /// The peak begins anew.
  void start_window(Time now) { sum_.peak = queued_bytes(now); }

 private:
  double gbps_;
  std::uint64_t room_;
  Time free_at_{};
  Counters sum_;
};

/// When a packet that left a port from `start` to `end` may leave the next node, whose port has
/// `next_gbps`, so far as it is concerned. Store and forward: when all of it is there. Cut-through:
/// when its headers are, or so much later that a faster wire does not overtake it. [NW-1]
inline Time ready_after(const OutputPort::Pushed& left, EdgeRate edge, bool is_cut_through,
                        std::uint32_t bytes, std::uint32_t header_bytes, double next_gbps) {
  const Time whole = left.end + edge.delay;
  if (!is_cut_through) {
    return whole;
  }
  const Time head = left.start + wire_time(header_bytes, edge.gbps) + edge.delay;
  return std::min(whole, std::max(head, whole - wire_time(bytes, next_gbps)));
}

}  // namespace flitwise
