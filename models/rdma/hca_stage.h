// SPDX-License-Identifier: Apache-2.0
/// A queue with an end, in order, with what it takes to pass it; and a stage of an RDMA adapter
/// that is one. [HP-5, HP-6]
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/due_queue.h"
#include "rdma/hca_module.h"
#include "stats/open_wait.h"

namespace flitwise {

/// Entries in order, each with the time at which it has passed the stage.
template <class Entry>
class HcaQueue {
 public:
  HcaQueue(std::size_t depth, Time latency, Time clock)
      : depth_(depth), latency_(latency), clock_(clock) {}

  bool is_full() const { return entries_.size() >= depth_; }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  std::size_t depth() const { return depth_; }
  /// Is there an entry of which this is true?
  template <class Condition>
  bool has(Condition condition) const {
    return entries_.has(condition);
  }
  /// It keeps others behind it from beginning for so many clocks, and its own latency is longer by
  /// `more`.
  void push(Entry entry, Time now, std::uint32_t clocks = 1, Time more = {}) {
    const Time begin = std::max(now, free_);
    waits_.add(now, begin);
    free_ = begin + clock_ * clocks;
    due_ = std::max(due_, begin + latency_ + more);
    entries_.add(std::move(entry), due_);
    ++entered_;
    busy_ += clock_ * clocks;
    spent_ -= static_cast<std::uint64_t>(now.fs);
  }
  Time next() const { return entries_.next(); }
  /// Its first entry has passed. REQUIRES, of the two others: !empty().
  bool is_due(Time now) const { return entries_.is_due(now); }
  Entry& front() { return entries_.front(); }
  Entry take(Time now) {
    spent_ += static_cast<std::uint64_t>(now.fs);
    return entries_.take();
  }
  /// Something of the stage that is not in this queue, or not any more: its time there counts.
  void hold(Time now) {
    ++held_;
    spent_ -= static_cast<std::uint64_t>(now.fs);
  }
  void let_go(Time now) {
    --held_;
    spent_ += static_cast<std::uint64_t>(now.fs);
  }
  /// What is due still waits for others, after all that could be done now.
  void note_blocked(bool is_blocked, Time now) { blocked_.set(is_blocked, waits_, now); }

  void start_window(Time now) {
    waits_.start_window(now);
    before_ = spent_until(now);
    entered_ = 0;
    busy_ = Time{};
  }
  const WaitBook& waits() const { return waits_; }
  void report(HcaStageResult& row, Time now) const {
    row.entries = entered_;
    row.busy_ns = busy_.ns();
    row.waits = waits_.count();
    const double spent = static_cast<double>(spent_until(now) - before_) / 1e6;
    row.time_mean = entered_ == 0 ? 0 : spent / static_cast<double>(entered_);
  }

 private:
  // Time that all entries so far have spent here, together, modulo 2^64 fs.
  std::uint64_t spent_until(Time now) const {
    return spent_ + (entries_.size() + held_) * static_cast<std::uint64_t>(now.fs);
  }

  std::size_t depth_;
  Time latency_, clock_;
  Time free_{}, due_{};
  DueQueue<Entry> entries_;
  std::uint64_t entered_ = 0, held_ = 0, spent_ = 0, before_ = 0;
  Time busy_{};
  OpenWait blocked_;
  WaitBook waits_;
};

/// A module that is such a queue. Name: of its row of waits, too.
template <class Entry>
class HcaStage : public HcaModule {
 public:
  /// key: of its latency.
  HcaStage(const char* name, const char* key, std::size_t depth, Time latency, Time clock)
      : HcaModule(name), key_(key), queue_(depth, latency, clock) {}

  void settle(Time now) override {
    const bool is_blocked = queue_.is_due(now);
    queue_.note_blocked(is_blocked, now);
    ask(queue_.next(), is_blocked ? Time::never() : queue_.next());
  }
  bool is_quiet() const override { return queue_.empty(); }
  std::string waiting() const override {
    return queue_.empty() ? "" : std::to_string(queue_.size()) + " at " + basename();
  }
  void start_window(Time now) override {
    HcaModule::start_window(now);
    queue_.start_window(now);
  }
  void add_waits(const std::string& place, std::vector<WaitResult>& all) const override {
    all.push_back(queue_.waits().result(
        {place, basename(), ResourceRole::kQueue, "down", "write", key_, queue_.depth()}));
  }
  HcaStageResult result(Time now) const override {
    HcaStageResult row = HcaModule::result(now);
    queue_.report(row, now);
    return row;
  }

 protected:
  void push(Entry entry, Time now, std::uint32_t clocks = 1, Time more = {}) {
    queue_.push(std::move(entry), now, clocks, more);
    ask_at(queue_.next());
  }
  const char* const key_;
  HcaQueue<Entry> queue_;
};

}  // namespace flitwise
