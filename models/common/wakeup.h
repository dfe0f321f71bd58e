// SPDX-License-Identifier: Apache-2.0
/// One pending wake-up of an SC_METHOD, snapped to a clock: asking for a later time than the
/// pending one costs nothing.
#pragma once

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
    const Time edge = next_edge(when < now() ? now() : when, period_);
    if (pending_ != Time::never() && pending_ <= edge) {
      return;
    }
    pending_ = edge;
    event_.notify(to_sc_time(edge - now()));
  }
  /// To be called first thing by the woken process.
  void taken() { pending_ = Time::never(); }
  bool is_pending() const { return pending_ != Time::never(); }
  const sc_core::sc_event& event() const { return event_; }

 private:
  sc_core::sc_event event_;
  Time period_;
  Time pending_ = Time::never();
};

}  // namespace flitwise
