// SPDX-License-Identifier: Apache-2.0
/// A set-associative cache of tagged values; all memory is taken at construction. What an access
/// costs does not grow with the number of ways: entries are found by an index, and each set keeps
/// its ways in the order of their use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "common/random.h"
#include "flitwise/config.h"

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

/// Which free way of a set is filled first.
enum class FreeWays : std::uint8_t { kLowestFirst, kLatestFirst };

/// Key has operator==, `std::uint64_t hash() const`, whose bits are well mixed, and
/// `std::uint64_t index() const`: its set is index() modulo their number, so that neighbours with
/// consecutive indices do not push each other out.
template <class Key, class Value, FreeWays kFreeWays = FreeWays::kLowestFirst>
class TaggedCache {
 public:
  explicit TaggedCache(const CacheShape& shape, std::uint64_t seed = 1)
      : policy_(shape.policy),
        ways_(shape.ways == 0 || shape.ways > shape.entries ? shape.entries : shape.ways),
        sets_(ways_ == 0 ? 0 : shape.entries / ways_),
        random_(seed),
        lines_(std::size_t{sets_} * ways_),
        orders_(sets_),
        neighbours_(lines_.size()),
        is_used_(lines_.size()) {
    std::size_t places = 2;
    while (places < 2 * lines_.size()) {
      places *= 2;
    }
    index_.resize(places);
    for (std::size_t slot = lines_.size(); slot-- > 0;) {
      set_free(slot);
    }
  }

  /// Asks and counts as a use. Stays valid until the next insert or invalidation.
  const Value* find(const Key& key) {
    const std::optional<std::size_t> slot = slot_of(key);
    if (!slot) {
      return nullptr;
    }
    if (policy_ == CachePolicy::kLru) {
      move_to_newest(*slot);
    }
    return &lines_[*slot].second;
  }
  /// Replaces the value of this key, or takes a free way, or a victim's, whose key it returns.
  std::optional<Key> insert(const Key& key, const Value& value) {
    if (sets_ == 0) {
      return key;  // it is out as soon as it is in
    }
    if (const std::optional<std::size_t> present = slot_of(key)) {
      if (policy_ == CachePolicy::kLru) {
        move_to_newest(*present);
      }
      lines_[*present].second = value;
      return std::nullopt;
    }
    const std::size_t set = key.index() % sets_;
    std::optional<Key> evicted;
    if (orders_[set].used == ways_) {
      const std::size_t victim = policy_ == CachePolicy::kRandom
                                     ? set * ways_ + random_.below(ways_)
                                     : orders_[set].oldest;
      evicted = lines_[victim].first;
      drop(victim);
    }
    const std::size_t slot = free_way(set);
    const bool is_last = ++orders_[set].used == ways_;
    if (kFreeWays == FreeWays::kLatestFirst || is_last) {
      orders_[set].free = is_last ? kNone : neighbours_[slot].older;
    }
    lines_[slot] = {key, value};
    is_used_[slot] = true;
    ++size_;
    append(slot);
    index_[place_in_index(key)] = static_cast<std::uint32_t>(slot + 1);
    return evicted;
  }
  /// Drops one entry; false: it was not there.
  bool erase(const Key& key) {
    const std::optional<std::size_t> slot = slot_of(key);
    if (slot) {
      drop(*slot);
    }
    return slot.has_value();
  }
  /// Drops every entry for which is_stale(key, value). Returns how many.
  template <class Predicate>
  unsigned invalidate_if(Predicate is_stale) {
    unsigned dropped = 0;
    for (std::size_t slot = 0; size_ > 0 && slot < lines_.size(); ++slot) {
      if (is_used_[slot] && is_stale(lines_[slot].first, lines_[slot].second)) {
        drop(slot);
        ++dropped;
      }
    }
    return dropped;
  }
  unsigned invalidate_all() {
    return invalidate_if([](const Key&, const Value&) { return true; });
  }
  unsigned size() const { return size_; }
  unsigned capacity() const { return static_cast<unsigned>(lines_.size()); }

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  struct Neighbours {
    std::uint32_t older = kNone, newer = kNone;
  };
  /// Of a set: ways in use, and free ones: none before this one, or this one and its older ones;
  /// and how many are in use.
  struct Order {
    std::uint32_t oldest = kNone, newest = kNone, free = kNone, used = 0;
  };

  /// Where the key stands in the index, or would: linear probing.
  std::size_t place_in_index(const Key& key) const {
    std::size_t place = key.hash() & (index_.size() - 1);
    while (index_[place] != 0 && !(lines_[index_[place] - 1].first == key)) {
      place = (place + 1) & (index_.size() - 1);
    }
    return place;
  }
  std::optional<std::size_t> slot_of(const Key& key) const {
    if (size_ == 0) {
      return std::nullopt;
    }
    const std::uint32_t found = index_[place_in_index(key)];
    return found == 0 ? std::nullopt : std::optional<std::size_t>(found - 1);
  }
  /// Those behind it that a search would no longer find move up.
  void take_from_index(const Key& key) {
    const std::size_t mask = index_.size() - 1;
    std::size_t hole = place_in_index(key);
    for (std::size_t place = (hole + 1) & mask; index_[place] != 0; place = (place + 1) & mask) {
      const std::size_t home = lines_[index_[place] - 1].first.hash() & mask;
      if (((place - home) & mask) >= ((place - hole) & mask)) {
        index_[hole] = index_[place];
        hole = place;
      }
    }
    index_[hole] = 0;
  }
  void append(std::size_t slot) {
    Order& order = orders_[slot / ways_];
    neighbours_[slot] = {order.newest, kNone};
    (order.newest == kNone ? order.oldest : neighbours_[order.newest].newer) =
        static_cast<std::uint32_t>(slot);
    order.newest = static_cast<std::uint32_t>(slot);
  }
  void unlink(std::size_t slot) {
    Order& order = orders_[slot / ways_];
    const Neighbours beside = neighbours_[slot];
    (beside.older == kNone ? order.oldest : neighbours_[beside.older].newer) = beside.newer;
    (beside.newer == kNone ? order.newest : neighbours_[beside.newer].older) = beside.older;
  }
  void move_to_newest(std::size_t slot) {
    unlink(slot);
    append(slot);
  }
  void drop(std::size_t slot) {
    take_from_index(lines_[slot].first);
    unlink(slot);
    is_used_[slot] = false;
    --orders_[slot / ways_].used;
    --size_;
    set_free(slot);
  }
  void set_free(std::size_t slot) {
    std::uint32_t& free = orders_[slot / ways_].free;
    if constexpr (kFreeWays == FreeWays::kLatestFirst) {
      neighbours_[slot].older = free;
      free = static_cast<std::uint32_t>(slot);
    } else {
      free = std::min(free, static_cast<std::uint32_t>(slot));
    }
  }
  /// The free way of the set to be filled next. Nothing is searched where a victim has just left a
  /// full set. REQUIRES: there is one.
  std::uint32_t free_way(std::size_t set) {
    std::uint32_t& free = orders_[set].free;
    if constexpr (kFreeWays == FreeWays::kLowestFirst) {
      while (is_used_[free]) {
        ++free;
      }
    }
    return free;
  }

  CachePolicy policy_;
  std::uint32_t ways_, sets_;
  Random random_;
  unsigned size_ = 0;
  std::vector<std::pair<Key, Value>> lines_;
  std::vector<Order> orders_;           // by set
  std::vector<Neighbours> neighbours_;  // by way of all sets
  std::vector<bool> is_used_;           // likewise
  std::vector<std::uint32_t> index_;    // ways + 1, by hash; 0: none
};

}  // namespace flitwise
