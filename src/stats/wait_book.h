// SPDX-License-Identifier: Apache-2.0
/// Adds up the waits at one queue: how many there were, and how long they took together. Divided by
/// the window that is the mean length of the queue.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "flitwise/result.h"
#include "flitwise/time.h"

namespace flitwise {

class WaitBook {
 public:
  /// Somebody waits, or has waited, from `since` to `until`. Counts where that is in the window and
  /// lasts; only as far as it is in the window.
  void add(Time since, Time until) {
    since = std::max(since, begin_);
    if (until > since) {
      ++count_;
      total_ += until - since;
    }
  }
  /// The waits of another queue of the same name and window as well.
  void add(const WaitBook& other) {
    count_ += other.count_;
    total_ += other.total_;
  }
  void start_window(Time now) {
    begin_ = now;
    count_ = 0;
    total_ = Time{};
  }
  std::uint64_t count() const { return count_; }
  Time total() const { return total_; }
  WaitResult result(std::string place, std::string resource) const {
    return {std::move(place), std::move(resource), count_, total_};
  }

 private:
  Time begin_{};
  std::uint64_t count_ = 0;
  Time total_{};
};

}  // namespace flitwise
