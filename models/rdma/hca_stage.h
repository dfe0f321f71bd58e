// SPDX-License-Identifier: Apache-2.0
/// A stage of an RDMA adapter: a queue with an end, in order, and what it takes to pass it. [HP-5]
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/due_queue.h"
#include "stats/open_wait.h"

namespace flitwise {

template <class Entry>
class HcaStage {
 public:
  /// key: of its latency.
  HcaStage(const char* name, const char* key, std::size_t depth, Time latency, Time clock)
      : name_(name), key_(key), depth_(depth), latency_(latency), clock_(clock) {}

  bool is_full() const { return entries_.size() >= depth_; }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  /// It keeps others behind it from beginning for so many clocks, and its own latency is longer by
  /// `more`.
  void push(Entry entry, Time now, std::uint32_t clocks = 1, Time more = {}) {
    const Time begin = std::max(now, free_);
    waits_.add(now, begin);
    free_ = begin + clock_ * clocks;
    due_ = std::max(due_, begin + latency_ + more);
    entries_.add(std::move(entry), due_);
    ++entered_;
  }
  Time next() const { return entries_.next(); }
  /// Its first entry has passed. REQUIRES, of the two others: !empty().
  bool is_due(Time now) const { return entries_.is_due(now); }
  Entry& front() { return entries_.front(); }
  Entry take() { return entries_.take(); }
  /// After all that could be done now: when there is more; what is due still waits for others.
  Time settle(Time now) {
    blocked_.set(is_due(now), waits_, now);
    return is_due(now) ? Time::never() : entries_.next();
  }

  std::uint64_t entered() const { return entered_; }
  void start_window(Time now) { waits_.start_window(now); }
  WaitResult waits(const std::string& place, const char* direction) const {
    return waits_.result({place, name_, ResourceRole::kQueue, direction, "write", key_, depth_});
  }
  /// For a report of what waits; empty where nothing does.
  std::string waiting() const { return empty() ? "" : std::to_string(size()) + " at " + name_; }

 private:
  const char* name_;
  const char* key_;
  std::size_t depth_;
  Time latency_, clock_;
  Time free_{}, due_{};
  DueQueue<Entry> entries_;
  std::uint64_t entered_ = 0;
  OpenWait blocked_;
  WaitBook waits_;
};

}  // namespace flitwise
