// SPDX-License-Identifier: Apache-2.0
/// Adds up the waits at one queue: how many there were, and how long they took together. Divided by
/// the window that is the mean length of the queue.
#pragma once

#include <algorithm>
#include <cstdint>
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
      blocked_ += until - std::min(std::max(since, covered_), until);
      covered_ = std::max(covered_, until);
    }
  }
  /// The waits of another queue of the same name and window as well.
  void add(const WaitBook& other) {
    count_ += other.count_;
    total_ += other.total_;
    blocked_ = std::max(blocked_, other.blocked_);
  }
  void start_window(Time now) {
    *this = WaitBook();
    begin_ = now;
  }
  std::uint64_t count() const { return count_; }
  Time total() const { return total_; }
  /// Time in which at least one waited: exact where waits end in the order in which they began,
  /// else at most that. Of several queues: of the one that was waited for longest.
  Time blocked() const { return blocked_; }
  WaitResult result(Resource resource) const {
    return {std::move(resource), count_, total_, blocked_};
  }

 private:
  Time begin_{};
  std::uint64_t count_ = 0;
  Time total_{};
  Time blocked_{};
  Time covered_{};  // until then, what is in blocked_
};

}  // namespace flitwise
