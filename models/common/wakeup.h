// SPDX-License-Identifier: Apache-2.0
/// One pending wake-up of an SC_METHOD, snapped to a clock: asking for a later time than the
/// pending one costs nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <systemc>

#include "flitwise/link_socket.h"
#include "flitwise/time.h"

namespace flitwise {

class Wakeup {
 public:
  Wakeup(const char* name, Time period) : event_(name), period_(period) {}

  /// The process sensitive to this runs at the first clock edge at or after `when` (never earlier
  /// than now).
  void at(Time when) {
    if (when > pending_ - period_) {
      return;  // the pending edge is the one asked for, or an earlier one
    }
    const Time t = now();
    pending_ = edge_after(when < t ? t : when);
    event_.notify(to_sc_time(pending_ - t));
  }
  /// To be called first thing by the woken process.
  void taken() { pending_ = Time::never(); }
  bool is_pending() const { return pending_ != Time::never(); }
  const sc_core::sc_event& event() const { return event_; }

 private:
  // The next edge, counted from the last one: a short division where the wait is short.
  Time edge_after(Time when) {
    const std::int64_t ahead = when.fs - last_edge_.fs;
    if (ahead < 0 || ahead > std::numeric_limits<std::uint32_t>::max() - period_.fs) {
      last_edge_ = next_edge(when, period_);
    } else {
      const auto period = static_cast<std::uint32_t>(period_.fs);
      last_edge_ += period_ * ((static_cast<std::uint32_t>(ahead) + period - 1) / period);
    }
    return last_edge_;
  }

  sc_core::sc_event event_;
  Time period_;
  Time last_edge_{};
  Time pending_ = Time::never();
};

}  // namespace flitwise
