// SPDX-License-Identifier: Apache-2.0
/// What happens when in a simulation of packets: (time, what), those of one time in the order in
/// which they came. Nothing is allocated once it has grown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "flitwise/time.h"

namespace flitwise {

/// A heap with four children a node: add and take cost the logarithm of the size to base 4.
class EventQueue {
 public:
  using What = std::uint32_t;

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  /// The first time; never where there is none.
  Time next() const { return empty() ? Time::never() : Time{entries_.front().when}; }
  /// REQUIRES: !empty().
  What front() const { return entries_.front().what; }

  void add(Time when, What what) {
    entries_.emplace_back();
    rise(entries_.size() - 1, {when.fs, next_order_++, what});
  }
  /// REQUIRES: !empty().
  void take() {
    const Entry last = entries_.back();
    entries_.pop_back();
    if (!entries_.empty()) {
      sink(last);
    }
  }
  /// The same as take() and add(), at about the cost of one of them.
  void replace(Time when, What what) { sink({when.fs, next_order_++, what}); }

 private:
  struct Entry {
    std::int64_t when = 0;
    std::uint64_t order = 0;  // of its coming
    What what = 0;
    bool is_before(const Entry& other) const {
      return when != other.when ? when < other.when : order < other.order;
    }
  };
  static constexpr std::size_t kChildren = 4;

  void rise(std::size_t at, const Entry& entry) {
    while (at > 0) {
      const std::size_t parent = (at - 1) / kChildren;
      if (!entry.is_before(entries_[parent])) {
        break;
      }
      entries_[at] = entries_[parent];
      at = parent;
    }
    entries_[at] = entry;
  }
  void sink(const Entry& entry) {
    std::size_t at = 0;
    for (;;) {
      const std::size_t first = at * kChildren + 1;
      if (first >= entries_.size()) {
        break;
      }
      const std::size_t end =
          first + kChildren < entries_.size() ? first + kChildren : entries_.size();
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (entries_[child].is_before(entries_[least])) {
          least = child;
        }
      }
      if (!entries_[least].is_before(entry)) {
        break;
      }
      entries_[at] = entries_[least];
      at = least;
    }
    entries_[at] = entry;
  }

  std::vector<Entry> entries_;
  std::uint64_t next_order_ = 0;
};

}  // namespace flitwise
