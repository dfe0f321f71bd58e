// SPDX-License-Identifier: Apache-2.0
/// The pending wake-up of an SC_METHOD, snapped to a clock: asking for a later time than the
/// pending one costs nothing.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <systemc>

#include "flitwise/error.h"
#include "flitwise/link_socket.h"
#include "flitwise/time.h"

namespace flitwise {

class Wakeup {
 public:
  Wakeup(const char* name, Time period)
      : soon_(name), later_((std::string(name) + "_timer").c_str()), period_(period) {}

  /// The process sensitive to this runs at the first clock edge at or after `when` (never earlier
  /// than now). For a time far ahead it may run before, and asks again.
  void at(Time when) {
    if (when > pending_ - period_) {
      return;  // the pending edge is the one asked for, or an earlier one
    }
    const Time t = now_here();
    if (when > t + kSoon) {
      if (when < timer_ && when != Time::never()) {
        timer_ = next_edge(when, period_);
        later_.notify(to_sc_time(timer_ - t));
      }
      return;
    }
    pending_ = edge_after(when < t ? t : when);
    soon_.notify(to_sc_time(pending_ - t));
  }
  /// To be called first thing by the woken process. One that is woken again and again while time
  /// stands still has gone wrong, and ends the simulation.
  void taken() {
    const Time t = now_here();
    wakes_here_ = t == taken_at_ ? wakes_here_ + 1 : 1;
    taken_at_ = t;
    FLITWISE_CHECK(wakes_here_ <= kMostWakes,
                   std::string(soon_.name()) + " wakes its process without end at one time");
    if (pending_ <= t) {
      // Where the timer woke the process, the other notification may still be under way, and the
      // kernel would drop the next one in its favour.
      soon_.cancel();
      pending_ = Time::never();
    }
    timer_ = timer_ <= t ? Time::never() : timer_;
  }
  /// Makes the SC_METHOD that it wakes, in the module that is being constructed.
  template <class Work>
  void wakes(const char* process, Work work) const {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&soon_);
    options.set_sensitivity(&later_);
    sc_core::sc_spawn(work, process, &options);
  }

  /// At one time. Work that goes on in the same instant takes a few.
  static constexpr unsigned kMostWakes = 1'000'000;

 private:
  /// Waits longer than this are timers. They are mostly put off again before they run out, and the
  /// kernel keeps every notification that was overtaken by an earlier one until its time has come:
  /// so a timer stays where it is, however often it is put off.
  static constexpr Time kSoon = Time::from_ns(500);

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

  Time now_here() const { return {static_cast<std::int64_t>(context_.time_stamp().value())}; }

  const sc_core::sc_simcontext& context_ = *sc_core::sc_get_curr_simcontext();
  sc_core::sc_event soon_;
  sc_core::sc_event later_;
  Time period_;
  Time last_edge_{};
  Time taken_at_ = Time::never();
  unsigned wakes_here_ = 0;       // at that time
  Time pending_ = Time::never();  // of soon_
  Time timer_ = Time::never();    // of later_
};

}  // namespace flitwise
