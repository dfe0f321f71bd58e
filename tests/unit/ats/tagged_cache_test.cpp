// SPDX-License-Identifier: Apache-2.0
// The set-associative cache against a naive one.
#include "ats/tagged_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <list>
#include <vector>

namespace flitwise::tagged_cache_test {
namespace {

struct Key {
  std::uint32_t value = 0;
  std::uint64_t hash() const { return value * 0x9e37'79b9'7f4a'7c15ULL ^ value; }
  std::uint64_t index() const { return value; }
  friend bool operator==(Key a, Key b) { return a.value == b.value; }
};
using Cache = TaggedCache<Key, int>;

/// One set as a list, the next victim first.
class NaiveSet {
 public:
  NaiveSet(unsigned ways, bool renews) : ways_(ways), renews_(renews) {}
  bool find(std::uint32_t key) {
    const auto at = std::find(keys_.begin(), keys_.end(), key);
    if (at == keys_.end()) {
      return false;
    }
    if (renews_) {
      keys_.splice(keys_.end(), keys_, at);
    }
    return true;
  }
  std::optional<std::uint32_t> insert(std::uint32_t key) {
    if (find(key)) {
      return std::nullopt;
    }
    keys_.push_back(key);
    if (keys_.size() <= ways_) {
      return std::nullopt;
    }
    const std::uint32_t victim = keys_.front();
    keys_.pop_front();
    return victim;
  }
  void remove_odd() {
    keys_.remove_if([](std::uint32_t key) { return key % 2 == 1; });
  }

 private:
  unsigned ways_;
  bool renews_;
  std::list<std::uint32_t> keys_;
};

void compare(CachePolicy policy, unsigned entries, unsigned ways) {
  Cache cache({entries, ways, policy});
  const unsigned sets = entries / ways;
  std::vector<NaiveSet> naive(sets, NaiveSet(ways, policy == CachePolicy::kLru));
  Random random(7);
  for (unsigned i = 0; i < 20'000; ++i) {
    const auto key = static_cast<std::uint32_t>(random.below(3 * entries));
    NaiveSet& set = naive[key % sets];
    if (random.chance(0.5)) {
      const int* found = cache.find({key});
      ASSERT_EQ(found != nullptr, set.find(key));
      ASSERT_TRUE(found == nullptr || *found == static_cast<int>(key));
    } else {
      const auto evicted = cache.insert({key}, static_cast<int>(key));
      const auto expected = set.insert(key);
      ASSERT_EQ(evicted.has_value(), expected.has_value());
      ASSERT_TRUE(!evicted || evicted->value == *expected);
    }
    if (i % 1000 == 999) {
      cache.invalidate_if([](Key k, int) { return k.value % 2 == 1; });
      for (NaiveSet& one : naive) {
        one.remove_odd();
      }
    }
  }
}

TEST(TaggedCache, LruAndFifoAgreeWithANaiveCache) {
  for (const unsigned ways : {1U, 2U, 4U, 16U}) {
    compare(CachePolicy::kLru, 16, ways);
    compare(CachePolicy::kFifo, 16, ways);
  }
}

TEST(TaggedCache, RandomVictimsFollowTheSeedAndStayInTheSet) {
  Cache one({4, 4, CachePolicy::kRandom}, 3), same({4, 4, CachePolicy::kRandom}, 3);
  std::vector<unsigned> victims(100);
  for (std::uint32_t key = 0; key < 50; ++key) {
    const auto evicted = one.insert({key}, 0);
    const auto again = same.insert({key}, 0);
    ASSERT_EQ(evicted.has_value(), key >= 4);
    ASSERT_TRUE(evicted == again);
    if (evicted) {
      ++victims[evicted->value];
    }
  }
  EXPECT_EQ(one.size(), 4U);
  EXPECT_LT(*std::max_element(victims.begin(), victims.end()), 2U);
  EXPECT_FALSE(std::is_sorted(victims.begin(), victims.begin() + 50, std::greater<>()));
}

TEST(TaggedCache, WithoutEntriesNothingIsFound) {
  Cache cache({0, 0, CachePolicy::kLru});
  EXPECT_TRUE(cache.insert({1}, 1));
  EXPECT_EQ(cache.find({1}), nullptr);
  EXPECT_EQ(cache.capacity(), 0U);
}

/// Processor time of so many values that each push another out of a full set.
std::clock_t time_of_victims(std::uint32_t ways) {
  Cache cache({ways, ways, CachePolicy::kLru});
  for (std::uint32_t key = 0; key < ways; ++key) {
    cache.insert({key}, 0);
  }
  // The oldest lie all over the set.
  Random random(3);
  for (std::uint32_t i = 0; i < ways; ++i) {
    cache.find({static_cast<std::uint32_t>(random.below(ways))});
  }
  const std::clock_t begin = std::clock();
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    cache.insert({ways + i}, 0);
  }
  return std::clock() - begin;
}

// A search for a free way took a thousand times as long.
TEST(TaggedCache, AVictimCostsNoMoreInALargeSet) {
  const std::clock_t few = time_of_victims(16);
  EXPECT_LT(time_of_victims(65'536), 30 * (few + CLOCKS_PER_SEC / 1000));
}

TEST(TaggedCache, FreeWaysAreFilledFromTheLowestOrTheLatestOn) {
  const auto left_at_random = [](auto cache) {
    for (std::uint32_t key = 0; key < 4; ++key) {
      cache.insert({key}, 0);
    }
    EXPECT_TRUE(cache.erase({1}));
    EXPECT_TRUE(cache.erase({2}));
    EXPECT_FALSE(cache.erase({2}));
    cache.insert({4}, 0);
    cache.insert({5}, 0);
    return cache.insert({6}, 0)->value;
  };
  using Latest = TaggedCache<Key, int, FreeWays::kLatestFirst>;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const std::uint32_t lowest = left_at_random(Cache({4, 4, CachePolicy::kRandom}, seed));
    const std::uint32_t latest = left_at_random(Latest({4, 4, CachePolicy::kRandom}, seed));
    EXPECT_EQ(latest, lowest == 4 ? 5U : lowest == 5 ? 4U : lowest);
  }
}

}  // namespace
}  // namespace flitwise::tagged_cache_test
