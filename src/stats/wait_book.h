// SPDX-License-Identifier: Apache-2.0
/// Clocks of what is waited for, and of what is in use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "flitwise/result.h"
#include "flitwise/time.h"

namespace flitwise {

/// Adds up the waits at one queue: how many there were, and how long they took together. Divided by
/// the window that is the mean length of the queue.
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

/// How much of a bounded resource was in use: the mean over the window, and the most at a time.
class UseClock {
 public:
  /// So many units are in use from now on.
  void set(std::uint64_t in_use, Time now) {
    sum_ += static_cast<double>(in_use_) * static_cast<double>((now - since_).fs);
    since_ = now;
    in_use_ = in_use;
    peak_ = std::max(peak_, in_use);
  }
  /// One unit more from `when` on, which may lie ahead.
  void take(Time when, Time now) {
    let_begin(now);
    starts_.insert(std::upper_bound(starts_.begin(), starts_.end(), when), when);
    let_begin(now);
  }
  /// One less. REQUIRES: it has begun.
  void give(Time now) {
    let_begin(now);
    set(in_use_ - 1, now);
  }
  void start_window(Time now) {
    let_begin(now);
    since_ = begin_ = now;
    sum_ = 0;
    peak_ = in_use_;
    ended_ = false;
  }
  /// What comes later does not count; or it does, after all.
  void end_window(Time now) {
    let_begin(now);
    end_ = {peak_, mean(now)};
    ended_ = true;
  }
  void extend_window() { ended_ = false; }
  std::uint64_t peak() const { return ended_ ? end_.peak : peak_; }
  /// Mean of the units in use in the window, which may be open still; 0 at its very beginning.
  double mean(Time now) const {
    if (ended_) {
      return end_.mean;
    }
    const double span = static_cast<double>((now - begin_).fs);
    double sum = sum_ + static_cast<double>(in_use_) * static_cast<double>((now - since_).fs);
    for (const Time start : starts_) {
      sum += static_cast<double>(std::max(now - start, Time{}).fs);
    }
    return span > 0 ? sum / span : 0;
  }

 private:
  struct End {
    std::uint64_t peak = 0;
    double mean = 0;
  };
  void let_begin(Time now) {
    while (!starts_.empty() && starts_.front() <= now) {
      set(in_use_ + 1, starts_.front());
      starts_.erase(starts_.begin());
    }
  }

  Time begin_{}, since_{};
  std::vector<Time> starts_;  // of units that are to be in use, in order
  End end_;
  bool ended_ = false;  // whether end_ holds
  std::uint64_t in_use_ = 0, peak_ = 0;
  double sum_ = 0;  // units x femtoseconds
};

/// Of one resource: for how long it was waited for, and by how many.
struct StallCount {
  Time time{};
  std::uint64_t count = 0;
  StallCount operator+(const StallCount& other) const {
    return {time + other.time, count + other.count};
  }
  StallCount operator-(const StallCount& before) const {
    return {time - before.time, count - before.count};
  }
};

/// Adds up the time during which something wanted to go on and could not, and how often.
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
