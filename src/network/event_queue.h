// SPDX-License-Identifier: Apache-2.0
/// What happens when in a simulation of packets: (time, what), those of one time in the order in
/// which they came. Nothing is allocated once it has grown.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "flitwise/time.h"

namespace flitwise {

/// A wheel of buckets of a nanosecond for what happens within four microseconds, as nearly all of a
/// network does, and a heap for what lies further ahead. add() and take() touch two or three lines
/// of the cache, whatever the number of events; a heap of them all would touch a dozen.
class EventQueue {
 public:
  using What = std::uint32_t;

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// The first time; never where there is none.
  Time next() const { return empty() ? Time::never() : Time{first().when}; }
  /// REQUIRES: !empty().
  What front() const { return first().what; }

  /// REQUIRES: not before an event that has been taken.
  void add(Time when, What what) {
    const Entry entry{when.fs, what, next_order_++};
    ++size_;
    const std::int64_t bucket = when.fs >> kWidthBits;
    if (bucket >= turn_ + kBuckets) {
      far_.push_back(entry);
      std::push_heap(far_.begin(), far_.end(), is_behind);
    } else if (bucket <= turn_) {
      insert(bucket_of(turn_), entry);
    } else {
      ++ahead_;
      if (bucket <= sorted_) {
        sorted_ = bucket;
        insert(bucket_of(bucket), entry);
      } else {
        std::vector<Entry>& far_bucket = bucket_of(bucket);
        if (far_bucket.capacity() == 0 && !spare_.empty()) {
          far_bucket.swap(spare_.back());
          spare_.pop_back();
        }
        far_bucket.push_back(entry);
      }
      used_[index_of(bucket) / 64] |= std::uint64_t{1} << (index_of(bucket) % 64);
    }
    turn();
  }
  /// REQUIRES: !empty().
  void take() {
    --size_;
    if (is_far_first()) {
      if (ahead_ == 0 && bucket_of(turn_).empty()) {
        turn_ = sorted_ = std::max(turn_, far_.front().when >> kWidthBits);
      }
      std::pop_heap(far_.begin(), far_.end(), is_behind);
      far_.pop_back();
    } else {
      bucket_of(turn_).pop_back();
    }
    turn();
  }
  /// The event that comes `n` behind the first as things stand, so that what it touches can be on
  /// its way into the cache; null: it is not known. Events further ahead than those of this bucket
  /// and the next are not, nor those of the heap.
  const What* behind(std::size_t n) {
    const std::vector<Entry>& current = bucket_of(turn_);
    if (n < current.size()) {
      return &current[current.size() - 1 - n].what;
    }
    if (ahead_ == 0) {
      return nullptr;
    }
    if (sorted_ == turn_) {
      sorted_ = first_used();
      sort(bucket_of(sorted_));
    }
    const std::vector<Entry>& next = bucket_of(sorted_);
    n -= current.size();
    return n < next.size() ? &next[next.size() - 1 - n].what : nullptr;
  }
  /// The same as take() and add().
  void replace(Time when, What what) {
    take();
    add(when, what);
  }

 private:
  struct Entry {
    std::int64_t when = 0;
    What what = 0;
    std::uint32_t order = 0;  // of its coming; goes round
  };
  // A type, and no function: sorting has it inlined.
  struct IsBehind {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.when != b.when ? a.when > b.when : static_cast<std::int32_t>(a.order - b.order) > 0;
    }
  };
  static constexpr IsBehind is_behind{};
  static constexpr unsigned kWidthBits = 20;  // 1.05 ns
  static constexpr std::int64_t kBuckets = 4096;
  static std::size_t index_of(std::int64_t bucket) {
    return static_cast<std::size_t>(bucket & (kBuckets - 1));
  }
  std::vector<Entry>& bucket_of(std::int64_t bucket) { return buckets_[index_of(bucket)]; }

  // The bucket of `turn_` is sorted, its first event at the end; it is empty where no bucket has
  // one.
  bool is_far_first() const {
    const std::vector<Entry>& current = buckets_[index_of(turn_)];
    return current.empty() || (!far_.empty() && is_behind(current.back(), far_.front()));
  }
  const Entry& first() const {
    return is_far_first() ? far_.front() : buckets_[index_of(turn_)].back();
  }
  void turn() {
    if (!bucket_of(turn_).empty() || ahead_ == 0) {
      return;
    }
    if (bucket_of(turn_).capacity() > 0) {
      spare_.emplace_back().swap(bucket_of(turn_));
    }
    const std::int64_t bucket = first_used();
    std::vector<Entry>& current = bucket_of(bucket);
    if (bucket != sorted_) {
      sort(current);
    }
    turn_ = sorted_ = bucket;
    used_[index_of(bucket) / 64] &= ~(std::uint64_t{1} << (index_of(bucket) % 64));
    ahead_ -= current.size();
  }
  // The first bucket behind `turn_` that has events. REQUIRES: one has.
  std::int64_t first_used() const {
    std::int64_t bucket = turn_ + 1;
    for (;;) {
      const std::size_t index = index_of(bucket);
      const std::uint64_t rest = used_[index / 64] >> (index % 64);
      if (rest != 0) {
        return bucket + __builtin_ctzll(rest);
      }
      bucket += static_cast<std::int64_t>(64 - index % 64);
    }
  }
  static void sort(std::vector<Entry>& bucket) {
    std::sort(bucket.begin(), bucket.end(), is_behind);
  }
  static void insert(std::vector<Entry>& bucket, const Entry& entry) {
    bucket.insert(std::upper_bound(bucket.begin(), bucket.end(), entry, is_behind), entry);
  }

  std::array<std::vector<Entry>, kBuckets> buckets_;
  std::vector<std::vector<Entry>> spare_;  // of buckets that are empty; the last is in the cache
  std::array<std::uint64_t, kBuckets / 64> used_{};  // those behind `turn_` that have events
  std::vector<Entry> far_;                           // a heap
  std::int64_t turn_ = 0;                            // the bucket that is taken from
  std::int64_t sorted_ = 0;                          // the next one, once it is sorted, or `turn_`
  std::size_t ahead_ = 0;                            // events in buckets behind it
  std::size_t size_ = 0;
  std::uint32_t next_order_ = 0;
};

}  // namespace flitwise
