// SPDX-License-Identifier: Apache-2.0
/// A set-associative cache of tagged values; all memory is taken at construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "flitwise/config.h"
#include "workload/random.h"

namespace flitwise {

/// Spreads what stands in few bits over all of a hash.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8'feb8'6659'fd93;
  x = (x ^ (x >> 32)) * 0xd6e8'feb8'6659'fd93;
  return x ^ (x >> 32);
}

struct CacheShape {
  std::uint32_t entries = 0;  ///< 0: there is no cache, nothing is ever found
  std::uint32_t ways = 0;     ///< 0 or beyond `entries`: fully associative; divides `entries`
  CachePolicy policy = CachePolicy::kLru;
};

/// Key has operator==, `std::uint64_t hash() const`, whose bits are well mixed, and
/// `std::uint64_t index() const`: its set is index() modulo their number, so that neighbours with
/// consecutive indices do not push each other out.
template <class Key, class Value>
class TaggedCache {
 public:
  explicit TaggedCache(const CacheShape& shape, std::uint64_t seed = 1)
      : policy_(shape.policy),
        ways_(shape.ways == 0 || shape.ways > shape.entries ? shape.entries : shape.ways),
        sets_(ways_ == 0 ? 0 : shape.entries / ways_),
        random_(seed),
        marks_(std::size_t{sets_} * ways_),
        stamps_(marks_.size()),
        lines_(marks_.size()) {}

  /// Asks; changes nothing.
  const Value* peek(const Key& key) const {
    const std::optional<std::size_t> slot = slot_of(key);
    return slot ? &lines_[*slot].second : nullptr;
  }
  /// Asks and counts as a use. Stays valid until the next insert or invalidation.
  const Value* find(const Key& key) {
    const std::optional<std::size_t> slot = slot_of(key);
    if (!slot) {
      return nullptr;
    }
    if (policy_ == CachePolicy::kLru) {
      stamps_[*slot] = ++clock_;
    }
    return &lines_[*slot].second;
  }
  /// Replaces the value of this key, or takes a free way, or a victim's, whose key it returns.
  std::optional<Key> insert(const Key& key, const Value& value) {
    if (sets_ == 0) {
      return key;  // it is out as soon as it is in
    }
    const std::optional<std::size_t> present = slot_of(key);
    const std::size_t slot = present ? *present : place_for(key);
    std::optional<Key> evicted;
    if (!present && marks_[slot] != 0) {
      evicted = lines_[slot].first;
    }
    if (!present && marks_[slot] == 0) {
      ++size_;
    }
    if (!present || policy_ == CachePolicy::kLru) {
      stamps_[slot] = ++clock_;
    }
    marks_[slot] = mark_of(key.hash());
    lines_[slot] = {key, value};
    return evicted;
  }
  /// Drops every entry for which is_stale(key, value). Returns how many.
  template <class Predicate>
  unsigned invalidate_if(Predicate is_stale) {
    unsigned dropped = 0;
    for (std::size_t slot = 0; size_ > 0 && slot < marks_.size(); ++slot) {
      if (marks_[slot] != 0 && is_stale(lines_[slot].first, lines_[slot].second)) {
        marks_[slot] = 0;
        ++dropped;
      }
    }
    size_ -= dropped;
    return dropped;
  }
  unsigned invalidate_all() {
    return invalidate_if([](const Key&, const Value&) { return true; });
  }
  unsigned size() const { return size_; }
  unsigned capacity() const { return static_cast<unsigned>(marks_.size()); }

 private:
  /// Part of the hash by which a way is known at a glance; 0 is an empty way.
  static std::uint32_t mark_of(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> 32) | 1U;
  }
  std::size_t set_of(const Key& key) const { return key.index() % sets_ * ways_; }
  std::optional<std::size_t> slot_of(const Key& key) const {
    if (size_ == 0) {
      return std::nullopt;
    }
    const std::uint32_t mark = mark_of(key.hash());
    const std::size_t first = set_of(key);
    for (std::size_t slot = first; slot < first + ways_; ++slot) {
      if (marks_[slot] == mark && lines_[slot].first == key) {
        return slot;
      }
    }
    return std::nullopt;
  }
  std::size_t place_for(const Key& key) {
    const std::size_t first = set_of(key);
    std::size_t oldest = first;
    for (std::size_t slot = first; slot < first + ways_; ++slot) {
      if (marks_[slot] == 0) {
        return slot;
      }
      if (stamps_[slot] < stamps_[oldest]) {
        oldest = slot;
      }
    }
    return policy_ == CachePolicy::kRandom ? first + random_.below(ways_) : oldest;
  }

  CachePolicy policy_;
  std::uint32_t ways_, sets_;
  Random random_;
  std::uint64_t clock_ = 0;
  unsigned size_ = 0;
  std::vector<std::uint32_t> marks_;
  std::vector<std::uint64_t> stamps_;
  std::vector<std::pair<Key, Value>> lines_;
};

}  // namespace flitwise
