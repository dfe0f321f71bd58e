// SPDX-License-Identifier: Apache-2.0
/// The network port behind send memory: a transmit buffer for each virtual lane, and one wire that
/// they share as the VL arbiter says. A lane whose peer has no credits stalls alone.
#pragma once

#include <boost/circular_buffer.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/ranges.h"
#include "flitwise/time.h"
#include "pio/vl_arbiter.h"

namespace flitwise {

class EgressPort {
 public:
  /// rate_gbps: of the wire; buffer_bytes: of each lane.
  EgressPort(double rate_gbps, std::uint64_t buffer_bytes)
      : fs_per_byte_(8e6 / rate_gbps), buffer_bytes_(buffer_bytes) {}

  /// Of several lanes that may send the tables choose one, as ahead of the port.
  void set_vl_tables(const VlTables& tables) { arbiter_.use_tables(tables); }
  /// The peer has no credits for that queue between the two times.
  void stall(unsigned queue, Time from, Time until) { stall_ = {queue, from, until}; }

  /// Would a packet of so many bytes fit into the buffer of that queue now?
  bool has_room(unsigned queue, std::uint32_t bytes) const {
    return lanes_[queue].bytes + bytes <= buffer_bytes_;
  }
  /// REQUIRES: has_room(). The packet may leave from `ready` on; it began to be written at `begun`,
  /// which comes back where it has left.
  void put(unsigned queue, std::uint32_t bytes, Time ready, Time begun = Time::never()) {
    Lane& lane = lanes_[queue];
    make_room(lane.packets);
    lane.packets.push_back({bytes, ready, begun});
    lane.bytes += bytes;
    drained_ = std::max(drained_, ready) + duration_of(bytes);
    ++waiting_;
  }
  /// Sends what may go by now, lane after lane. Calls began(ready, begin) for each packet that
  /// starts, and sent(queue, bytes, begun, end) for each that is over.
  template <class Began, class Sent>
  void work(Time now, Began began, Sent sent) {
    for (;;) {
      if (is_busy_) {
        if (free_ > now) {
          return;
        }
        finish(sent);
      }
      const auto [begin, lanes] = next_lanes();
      if (lanes == 0) {
        return;
      }
      if (begin > now) {
        wake_ = begin;
        return;
      }
      const VlArbiter::Choice choice = arbiter_.choose(lanes);
      const Packet& packet = lanes_[choice.queue].packets.front();
      arbiter_.granted(choice, (packet.bytes + kSendBlockBytes - 1) / kSendBlockBytes);
      free_ = begin + duration_of(packet.bytes);
      is_busy_ = true;
      sending_ = choice.queue;
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
    Time ready{}, begun = Time::never();
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
  struct Start {
    Time begin{};
    unsigned lanes = 0;  // a bit each
  };
  // The lanes whose first packets may start soonest: it does not matter when somebody looks.
  Start next_lanes() const {
    Start next{Time::never(), 0};
    for (unsigned queue = 0; queue < kVlQueues; ++queue) {
      if (lanes_[queue].packets.empty()) {
        continue;
      }
      const Time begin = begin_of(queue);
      if (begin < next.begin) {
        next = {begin, 0};
      }
      next.lanes |= begin == next.begin ? 1U << queue : 0U;
    }
    return next;
  }
  template <class Sent>
  void finish(Sent sent) {
    Lane& lane = lanes_[sending_];
    const Packet packet = lane.packets.front();
    lane.packets.pop_front();
    lane.bytes -= packet.bytes;
    --waiting_;
    is_busy_ = false;
    sent(sending_, packet.bytes, packet.begun, free_);
  }

  const double fs_per_byte_;
  const std::uint64_t buffer_bytes_;
  std::array<Lane, kVlQueues> lanes_;
  std::size_t waiting_ = 0;
  VlArbiter arbiter_;
  unsigned sending_ = 0;  // the lane that sends
  Time free_{};           // of the wire: from then on
  Time drained_{};        // if no lane stalls
  Time wake_{};           // the first packet may go then
  bool is_busy_ = false;
  Stall stall_;
};

}  // namespace flitwise
