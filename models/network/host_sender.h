// SPDX-License-Identifier: Apache-2.0
/// The port of a host of mode packet: whose turn it is to send by it, and what keeps it still.
#pragma once

#include <boost/circular_buffer.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include "network/host_connection.h"
#include "stats/wait_book.h"

namespace flitwise {

class HostSender {
 public:
  using Held = HostConnection::Held;

  boost::circular_buffer<std::uint32_t> turns;  ///< ends that may have something to send
  bool is_due = false;                          ///< an event of it is in the queue

  /// The host has one end more.
  void add_end() {
    turns.set_capacity(turns.capacity() + 1);
    ++ends(Held::kNot);
  }
  /// What holds an end, which was held by `before`.
  void note_held(Held before, Held held) {
    --ends(before);
    ++ends(held);
  }
  /// No end has given a packet: what has held them keeps the wire still.
  void stand_still(Time now) {
    const bool has_no_room = ends(Held::kBySessions) > 0;
    no_room_.set(has_no_room, now);
    no_window_.set(!has_no_room && ends(Held::kByWindow) > 0, now);
  }
  /// A packet leaves.
  void go_on(Time now) {
    no_room_.stop(now);
    no_window_.stop(now);
  }
  /// For how long it has stood still, and how often: no session had room or could be used; or only
  /// windows of queue pairs were full.
  StallCount no_room(Time now) const { return no_room_.so_far(now); }
  StallCount no_window(Time now) const { return no_window_.so_far(now); }

 private:
  std::uint32_t& ends(Held held) { return ends_[static_cast<std::size_t>(held)]; }

  std::array<std::uint32_t, 3> ends_{};  // by what holds them
  StallClock no_room_, no_window_;
};

}  // namespace flitwise
