// SPDX-License-Identifier: Apache-2.0
/// The network port behind send memory: a transmit buffer for each virtual lane, and one wire that
/// they share as the VL arbiter says. A lane whose peer has no room for its next packet stalls
/// alone.
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
  /// A packet that starts on the wire.
  struct Start {
    unsigned queue = 0;
    std::uint32_t bytes = 0;
    Time ready{};     ///< it might have left, had nothing been in its way
    Time has_room{};  ///< the peer has room for it, and for all of its lane before it
    Time is_first{};  ///< of its lane, from then on
    Time begin{}, end{};
    unsigned lanes = 0;  ///< whose first packets might have started then, a bit each
  };

  /// Packets leave only where the peer has room for them, from now on: so many bytes for each lane
  /// to begin with. [PIO-1.3]
  void limit(std::uint64_t peer_bytes) {
    is_limited_ = true;
    for (Lane& lane : lanes_) {
      lane.rooms.push_back({peer_bytes, Time{}});
    }
  }
  /// From `when` on the peer has room for so many bytes more of that lane. REQUIRES: limit(), and
  /// times of a lane do not fall.
  void add_room(unsigned queue, std::uint64_t bytes, Time when) {
    make_room(lanes_[queue].rooms);
    lanes_[queue].rooms.push_back({bytes, when});
    wake_ = Time{};
  }
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
    filled_ |= 1U << queue;
    drained_ = std::max(drained_, ready) + duration_of(bytes);
    wake_ = Time{};
    ++waiting_;
  }
  /// Sends what may go by now, lane after lane. Calls began(Start) for each packet that starts, and
  /// sent(queue, bytes, begun, end) for each that is over.
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
        wake_ = Time::never();
        return;
      }
      if (begin > now) {
        wake_ = begin;
        return;
      }
      const VlArbiter::Choice choice = arbiter_.choose(lanes);
      const Packet packet = lanes_[choice.queue].packets.front();
      arbiter_.granted(choice, (packet.bytes + kSendBlockBytes - 1) / kSendBlockBytes);
      free_ = begin + duration_of(packet.bytes);
      is_busy_ = true;
      sending_ = choice.queue;
      began(Start{choice.queue, packet.bytes, packet.ready, take_room(choice.queue, packet.bytes),
                  lanes_[choice.queue].is_first, begin, free_, lanes});
    }
  }
  /// When work() has something to do; never: nothing waits, or all that does waits for room at the
  /// peer.
  Time next(Time now) const {
    return is_busy_ ? free_ : waiting_ == 0 ? Time::never() : std::max(wake_, now);
  }
  /// When all that waits has left, whichever lane goes first; where one may stall or the peer sets
  /// a limit: as next(). Looked at then, work() knows when each packet has left.
  Time drained(Time now) const {
    return waiting_ == 0 || may_stall() ? next(now) : std::max(drained_, now);
  }
  /// The same, were a packet put that may leave from `ready` on. REQUIRES: !may_stall().
  Time drained_with(std::uint32_t bytes, Time ready) const {
    return std::max(drained_, ready) + duration_of(bytes);
  }
  /// A lane may have to wait for the peer.
  bool may_stall() const { return is_limited_ || stall_.until > Time{}; }
  /// Lanes that have a packet and no room for it at the peer, a bit each.
  unsigned lanes_without_room() const {
    unsigned lanes = 0;
    for (unsigned left = is_limited_ ? filled_ : 0U; left != 0; left &= left - 1) {
      const auto queue = static_cast<unsigned>(__builtin_ctz(left));
      const bool is_sending = is_busy_ && queue == sending_;
      lanes |= !is_sending && room_at(queue) == Time::never() ? 1U << queue : 0U;
    }
    return lanes;
  }
  bool is_empty() const { return waiting_ == 0; }
  Time free_at() const { return free_; }  ///< the wire, as far as work() knows
  std::size_t waiting() const { return waiting_; }

 private:
  struct Packet {
    std::uint32_t bytes = 0;
    Time ready{}, begun = Time::never();
  };
  struct Room {
    std::uint64_t bytes = 0;
    Time when{};
  };
  struct Lane {
    boost::circular_buffer<Packet> packets = boost::circular_buffer<Packet>(64);
    boost::circular_buffer<Room> rooms = boost::circular_buffer<Room>(64);  // at the peer
    std::uint64_t bytes = 0;
    Time is_first{};  // the packet in front, from then on
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
    const Time ready = std::max(free_, lanes_[queue].packets.front().ready);
    const Time begin = is_limited_ ? std::max(ready, room_at(queue)) : ready;
    const bool is_stalled = queue == stall_.queue && begin >= stall_.from && begin < stall_.until;
    return is_stalled ? stall_.until : begin;
  }
  // When the peer has room for the first packet of a lane, as far as is known.
  Time room_at(unsigned queue) const {
    std::uint64_t bytes = 0;
    for (const Room& room : lanes_[queue].rooms) {
      bytes += room.bytes;
      if (bytes >= lanes_[queue].packets.front().bytes) {
        return room.when;
      }
    }
    return Time::never();
  }
  // The same; the packet has it now.
  Time take_room(unsigned queue, std::uint64_t bytes) {
    Time when{};
    while (is_limited_ && bytes > 0) {
      Room& room = lanes_[queue].rooms.front();
      const std::uint64_t taken = std::min(bytes, room.bytes);
      when = room.when;
      bytes -= taken;
      room.bytes -= taken;
      if (room.bytes == 0) {
        lanes_[queue].rooms.pop_front();
      }
    }
    return when;
  }
  struct Next {
    Time begin{};
    unsigned lanes = 0;  // a bit each
  };
  // The lanes whose first packets may start soonest: it does not matter when somebody looks.
  Next next_lanes() const {
    Next next{Time::never(), 0};
    for (unsigned left = filled_; left != 0; left &= left - 1) {
      const auto queue = static_cast<unsigned>(__builtin_ctz(left));
      const Time begin = begin_of(queue);
      if (begin < next.begin) {
        next = {begin, 0};
      }
      next.lanes |= begin == next.begin && begin != Time::never() ? 1U << queue : 0U;
    }
    return next;
  }
  template <class Sent>
  void finish(Sent sent) {
    Lane& lane = lanes_[sending_];
    const Packet packet = lane.packets.front();
    lane.packets.pop_front();
    lane.bytes -= packet.bytes;
    lane.is_first = free_;
    filled_ &= lane.packets.empty() ? ~(1U << sending_) : ~0U;
    --waiting_;
    is_busy_ = false;
    sent(sending_, packet.bytes, packet.begun, free_);
  }

  const double fs_per_byte_;
  const std::uint64_t buffer_bytes_;
  std::array<Lane, kVlQueues> lanes_;
  unsigned filled_ = 0;  // lanes that have a packet, a bit each
  std::size_t waiting_ = 0;
  VlArbiter arbiter_;
  unsigned sending_ = 0;  // the lane that sends
  Time free_{};           // of the wire: from then on
  Time drained_{};        // if no lane stalls
  Time wake_{};           // the first packet may go then
  bool is_busy_ = false;
  bool is_limited_ = false;  // by the room of the peer
  Stall stall_;
};

}  // namespace flitwise
