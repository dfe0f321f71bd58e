// SPDX-License-Identifier: Apache-2.0
/// Adds up the time during which something wanted to go on and could not, and how often.
#pragma once

#include <cstdint>

#include "flitwise/time.h"

namespace flitwise {

/// Of one resource: for how long it was waited for, and by how many.
struct StallCount {
  Time time{};
  std::uint64_t count = 0;
  StallCount operator-(const StallCount& before) const {
    return {time - before.time, count - before.count};
  }
};

class StallClock {
 public:
  void start(Time now) {
    if (since_ == Time::never()) {
      since_ = now;
      ++count_;
    }
  }
  void stop(Time now) {
    if (since_ != Time::never()) {
      total_ += now - since_;
      since_ = Time::never();
    }
  }
  void set(bool is_stalled, Time now) { is_stalled ? start(now) : stop(now); }
  bool is_running() const { return since_ != Time::never(); }
  Time total(Time now) const { return since_ == Time::never() ? total_ : total_ + (now - since_); }
  StallCount so_far(Time now) const { return {total(now), count_}; }

 private:
  Time since_ = Time::never();
  Time total_{};
  std::uint64_t count_ = 0;
};

}  // namespace flitwise
