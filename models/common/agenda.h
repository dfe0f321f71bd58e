// SPDX-License-Identifier: Apache-2.0
/// Several duties of one process, each with its own next time: what falls on one clock edge costs
/// one notification of the kernel.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "common/wakeup.h"
#include "flitwise/time.h"

namespace flitwise {

template <std::size_t kDuties>
class Agenda {
 public:
  Agenda(const char* name, Time period) : wakeup_(name, period) { due_.fill(Time::never()); }

  /// The duty is to be done at the first clock edge at or after `when`; an earlier time that was
  /// asked for stands.
  void at(std::size_t duty, Time when) {
    if (when >= due_[duty]) {
      return;
    }
    due_[duty] = when;
    if (!is_running_) {
      wakeup_.at(when);
    }
  }

  /// To be called first and last by the woken process; between them it takes what is due.
  void begin() {
    wakeup_.taken();
    is_running_ = true;
  }
  void end() {
    is_running_ = false;
    const Time next = *std::min_element(due_.begin(), due_.end());
    if (next != Time::never()) {
      wakeup_.at(next);
    }
  }
  /// True once the duty's time has come; from then on it is not due until asked for again.
  bool take(std::size_t duty, Time now) {
    if (due_[duty] > now) {
      return false;
    }
    due_[duty] = Time::never();
    return true;
  }

  /// As Wakeup::wakes.
  template <class Work>
  void wakes(const char* process, Work work) const {
    wakeup_.wakes(process, work);
  }

 private:
  Wakeup wakeup_;
  std::array<Time, kDuties> due_;
  bool is_running_ = false;
};

}  // namespace flitwise
