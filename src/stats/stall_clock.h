// SPDX-License-Identifier: Apache-2.0
/// Adds up the time during which something wanted to go on and could not.
#pragma once

#include "flitwise/time.h"

namespace flitwise {

class StallClock {
 public:
  void start(Time now) {
    if (since_ == Time::never()) {
      since_ = now;
    }
  }
  void stop(Time now) {
    if (since_ != Time::never()) {
      total_ += now - since_;
      since_ = Time::never();
    }
  }
  void set(bool is_stalled, Time now) { is_stalled ? start(now) : stop(now); }
  Time total(Time now) const { return since_ == Time::never() ? total_ : total_ + (now - since_); }

 private:
  Time since_ = Time::never();
  Time total_{};
};

}  // namespace flitwise
