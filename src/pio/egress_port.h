// SPDX-License-Identifier: Apache-2.0
/// The network port behind send memory: a transmit buffer for each virtual lane, and one wire that
/// they share. A lane whose peer has no credits stalls alone.
#pragma once

#include <boost/circular_buffer.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/ranges.h"
#include "flitwise/time.h"
#include "pio/launch.h"

namespace flitwise {

class EgressPort {
 public:
  /// rate_gbps: of the wire; buffer_bytes: of each lane.
  EgressPort(double rate_gbps, std::uint64_t buffer_bytes)
      : fs_per_byte_(8e6 / rate_gbps), buffer_bytes_(buffer_bytes) {}

  /// The peer has no credits for that queue between the two times.
  void stall(unsigned queue, Time from, Time until) { stall_ = {queue, from, until}; }

  /// Would a packet of so many bytes fit into the buffer of that queue now?
  bool has_room(unsigned queue, std::uint32_t bytes) const {
    return lanes_[queue].bytes + bytes <= buffer_bytes_;
  }
  /// REQUIRES: has_room(). The packet may leave from `ready` on.
  void put(unsigned queue, std::uint32_t bytes, Time ready) {
    Lane& lane = lanes_[queue];
    make_room(lane.packets);
    lane.packets.push_back({bytes, ready});
    lane.bytes += bytes;
    drained_ = std::max(drained_, ready) + duration_of(bytes);
    ++waiting_;
  }
  /// Sends what may go by now, lane after lane. Calls began(ready, begin) for each packet that
  /// starts, and sent(queue, bytes, end) for each that is over.
  template <class Began, class Sent>
  void work(Time now, Began began, Sent sent) {
    for (;;) {
      if (is_busy_) {
        if (free_ > now) {
          return;
        }
        finish(sent);
      }
      const unsigned queue = next_lane();
      if (queue == kVlQueues) {
        return;
      }
      const Packet& packet = lanes_[queue].packets.front();
      const Time begin = begin_of(queue);
      if (begin > now) {
        wake_ = begin;
        return;
      }
      free_ = begin + duration_of(packet.bytes);
      is_busy_ = true;
      turn_ = queue;
      began(packet.ready, begin);
    }
  }
  /// When work() has something to do; never: nothing waits.
  Time next(Time now) const {
    return is_busy_ ? free_ : waiting_ == 0 ? Time::never() : std::max(wake_, now);
  }
  /// When all that waits has left, whichever lane goes first; where one may stall: as next().
  /// Looked at then, work() knows when each packet has left.
  Time drained(Time now) const {
    return waiting_ == 0 || stall_.until > Time{} ? next(now) : std::max(drained_, now);
  }
  bool is_empty() const { return waiting_ == 0; }
  std::size_t waiting() const { return waiting_; }

 private:
  struct Packet {
    std::uint32_t bytes = 0;
    Time ready{};
  };
  struct Lane {
    boost::circular_buffer<Packet> packets = boost::circular_buffer<Packet>(64);
    std::uint64_t bytes = 0;
  };
  struct Stall {
    unsigned queue = kVlQueues;
    Time from{}, until{};
  };

  Time duration_of(std::uint32_t bytes) const {
    return {static_cast<std::int64_t>(bytes * fs_per_byte_ + 0.5)};
  }
  // When the first packet of a lane may start, if the wire takes it next.
  Time begin_of(unsigned queue) const {
    const Time begin = std::max(free_, lanes_[queue].packets.front().ready);
    const bool is_stalled = queue == stall_.queue && begin >= stall_.from && begin < stall_.until;
    return is_stalled ? stall_.until : begin;
  }
  // The lane whose first packet may start soonest; of several the one behind the lane that sent
  // last. So it does not matter when somebody looks.
  unsigned next_lane() const {
    unsigned first = kVlQueues;
    Time earliest = Time::never();
    for (unsigned i = 1; i <= kVlQueues; ++i) {
      const unsigned queue = (turn_ + i) % kVlQueues;
      if (!lanes_[queue].packets.empty() && begin_of(queue) < earliest) {
        earliest = begin_of(queue);
        first = queue;
      }
    }
    return first;
  }
  template <class Sent>
  void finish(Sent sent) {
    Lane& lane = lanes_[turn_];
    const std::uint32_t bytes = lane.packets.front().bytes;
    lane.packets.pop_front();
    lane.bytes -= bytes;
    --waiting_;
    is_busy_ = false;
    sent(turn_, bytes, free_);
  }

  const double fs_per_byte_;
  const std::uint64_t buffer_bytes_;
  std::array<Lane, kVlQueues> lanes_;
  std::size_t waiting_ = 0;
  unsigned turn_ = kVlQueues - 1;  // the lane that sends, or sent last
  Time free_{};                    // of the wire: from then on
  Time drained_{};                 // if no lane stalls
  Time wake_{};                    // the first packet may go then
  bool is_busy_ = false;
  Stall stall_;
};

}  // namespace flitwise
