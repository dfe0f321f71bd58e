// SPDX-License-Identifier: Apache-2.0
/// What is known now and takes effect later: entries in the order of their times, those of one time
/// in the order in which they came.
#pragma once

#include <boost/circular_buffer.hpp>

#include <cstddef>
#include <utility>

#include "common/ranges.h"
#include "flitwise/time.h"

namespace flitwise {

template <class Entry>
class DueQueue {
 public:
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  /// The first time; never where there is none.
  Time next() const { return entries_.empty() ? Time::never() : entries_.front().when; }
  /// The last time. REQUIRES: !empty().
  Time last() const { return entries_.back().when; }
  bool is_due(Time now) const { return !entries_.empty() && entries_.front().when <= now; }
  /// The first entry. REQUIRES: !empty().
  Entry& front() { return entries_.front().entry; }
  /// Most entries come in the order of their times, at no cost.
  void add(Entry entry, Time when) {
    make_room(entries_);
    entries_.push_back({std::move(entry), when});
    for (std::size_t i = entries_.size() - 1; i > 0 && when < entries_[i - 1].when; --i) {
      std::swap(entries_[i], entries_[i - 1]);
    }
  }
  /// The first entry. REQUIRES: !empty().
  Entry take() {
    Entry entry = std::move(entries_.front().entry);
    entries_.pop_front();
    return entry;
  }
  template <class Do>
  void for_each(Do act) const {
    for (const Due& due : entries_) {
      act(due.entry);
    }
  }
  /// Is there an entry of which this is true?
  template <class Condition>
  bool has(Condition condition) const {
    return any_of(entries_, [&](const Due& due) { return condition(due.entry); });
  }

 private:
  struct Due {
    Entry entry;
    Time when{};
  };
  static constexpr std::size_t kDepth = 4;  // grows; as few as are needed stay in the cache
  boost::circular_buffer<Due> entries_ = boost::circular_buffer<Due>(kDepth);
};

}  // namespace flitwise
