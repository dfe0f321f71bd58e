// SPDX-License-Identifier: Apache-2.0
// The QP-state cache: states, pins, write-back, resets; and random work against the states that
// queue pairs should have.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <utility>

#include "common/random.h"
#include "hca/qp_state_cache.h"

namespace flitwise::qp_state_cache_test {
namespace {

using Outcome = QpLookup::Outcome;

Slot fetch(QpStateCache& cache, QpTag tag) {
  const QpLookup found = cache.look_up(tag);
  EXPECT_EQ(found.outcome, Outcome::kFetch);
  EXPECT_TRUE(cache.end_fetch(found.entry, true));
  return found.entry;
}

TEST(QpStateCache, HP_2_OneFetchForAllThatWait) {
  QpStateCache cache(4, 0);
  const Slot entry = cache.look_up({1, 7}).entry;
  EXPECT_EQ(cache.state(entry), QpEntryState::kFetching);
  const QpLookup second = cache.look_up({1, 7});
  EXPECT_EQ(second.outcome, Outcome::kWait);
  EXPECT_EQ(second.entry, entry);
  EXPECT_EQ(cache.pins(entry), 3U);  // the fetch as well
  EXPECT_TRUE(cache.end_fetch(entry, true));
  EXPECT_EQ(cache.state(entry), QpEntryState::kValid);
  EXPECT_EQ(cache.look_up({1, 7}).outcome, Outcome::kHit);
  EXPECT_EQ(cache.counts().fetches, 1U);
}

TEST(QpStateCache, HP_2_AFetchThatFailsLeavesNothing) {
  QpStateCache cache(1, 0);
  const Slot entry = cache.look_up({1, 7}).entry;
  EXPECT_FALSE(cache.end_fetch(entry, false));
  EXPECT_FALSE(cache.find({1, 7}).has_value());
  EXPECT_FALSE(cache.has_room_for({1, 8}));  // who asked has not let go yet
  cache.unpin(entry);
  EXPECT_EQ(cache.look_up({1, 7}).outcome, Outcome::kFetch);
}

TEST(QpStateCache, HP_3_TheLeastRecentlyUsedGoesAndPinnedOnesStay) {
  QpStateCache cache(3, 0);
  const Slot first = fetch(cache, {0, 1});
  const Slot second = fetch(cache, {0, 2});
  const Slot third = fetch(cache, {0, 3});
  EXPECT_EQ(cache.look_up({0, 4}).outcome, Outcome::kStall);
  EXPECT_EQ(cache.counts().stalls, 1U);
  cache.mark_dirty(second);
  cache.unpin(second);
  cache.unpin(third);
  cache.unpin(first);
  const QpLookup fourth = cache.look_up({0, 4});
  EXPECT_EQ(fourth.entry, second);
  EXPECT_EQ(fourth.writes_back, (QpTag{0, 2}));
  const QpLookup fifth = cache.look_up({0, 5});
  EXPECT_EQ(fifth.entry, third);
  EXPECT_FALSE(fifth.writes_back.has_value());
}

TEST(QpStateCache, HP_3_ASetHasItsOwnWays) {
  QpStateCache cache(4, 2);
  fetch(cache, {0, 0});
  fetch(cache, {0, 2});
  EXPECT_EQ(cache.look_up({0, 4}).outcome, Outcome::kStall);
  EXPECT_EQ(cache.look_up({0, 5}).outcome, Outcome::kFetch);
}

TEST(QpStateCache, HP_4_AResetFreesTheEntriesOfItsFunctionAlone) {
  QpStateCache cache(3, 0);
  const Slot idle = fetch(cache, {1, 7});
  const Slot busy = fetch(cache, {1, 8});
  const Slot other = fetch(cache, {2, 7});
  cache.mark_dirty(idle);
  cache.mark_dirty(busy);
  cache.mark_dirty(other);
  cache.unpin(idle);
  cache.reset(1);
  EXPECT_FALSE(cache.find({1, 7}).has_value());
  EXPECT_FALSE(cache.find({1, 8}).has_value());
  EXPECT_EQ(cache.state(other), QpEntryState::kDirty);
  const QpLookup anew = cache.look_up({1, 8});
  EXPECT_EQ(anew.entry, idle);
  EXPECT_FALSE(anew.writes_back.has_value());
  EXPECT_EQ(cache.look_up({1, 7}).outcome, Outcome::kStall);  // the old work is not done
  cache.mark_dirty(busy);
  EXPECT_EQ(cache.state(busy), QpEntryState::kInvalid);
  cache.unpin(busy);
  EXPECT_EQ(cache.look_up({1, 7}).entry, busy);
}

TEST(QpStateCache, HP_4_AStateThatComesAfterTheResetIsDiscarded) {
  QpStateCache cache(2, 0);
  const Slot old = cache.look_up({1, 7}).entry;
  cache.reset(1);
  const Slot anew = cache.look_up({1, 7}).entry;
  EXPECT_NE(anew, old);
  EXPECT_FALSE(cache.end_fetch(old, true));
  EXPECT_EQ(cache.state(anew), QpEntryState::kFetching);
  EXPECT_TRUE(cache.end_fetch(anew, true));
}

// Each work adds one to the state of its queue pair. What memory and cache have together is that.
TEST(QpStateCache, HP_C2_StatesSurviveAnyOrderOfWorkAndEvictions) {
  constexpr std::uint64_t kSeed = 11;
  Random random(kSeed);
  QpStateCache cache(8, 4);
  std::map<std::pair<std::uint32_t, std::uint32_t>, unsigned> memory, expected;
  std::vector<unsigned> states(8);
  std::deque<std::pair<Slot, QpTag>> fetches, work;
  for (unsigned step = 0; step < 20'000; ++step) {
    const std::uint64_t choice = random.below(3);
    if (choice == 0) {
      const QpTag tag{static_cast<std::uint32_t>(random.below(2)),
                      static_cast<std::uint32_t>(random.below(12))};
      const QpLookup found = cache.look_up(tag);
      if (found.writes_back) {
        memory[{found.writes_back->function, found.writes_back->number}] = states[found.entry];
      }
      if (found.outcome == Outcome::kFetch) {
        fetches.emplace_back(found.entry, tag);
      }
      if (found.outcome != Outcome::kStall) {
        work.emplace_back(found.entry, tag);
      }
    } else if (choice == 1 && !fetches.empty()) {
      const auto [entry, tag] = fetches.front();
      fetches.pop_front();
      ASSERT_TRUE(cache.end_fetch(entry, true));
      states[entry] = memory[{tag.function, tag.number}];
    } else if (choice == 2 && !work.empty() &&
               cache.state(work.front().first) != QpEntryState::kFetching) {
      const auto [entry, tag] = work.front();
      work.pop_front();
      ASSERT_EQ(cache.find(tag), entry) << "a pinned entry is gone, seed " << kSeed;
      ASSERT_EQ(states[entry], (expected[{tag.function, tag.number}])) << "seed " << kSeed;
      if (random.chance(0.5)) {
        states[entry] = ++expected[{tag.function, tag.number}];
        cache.mark_dirty(entry);
      }
      cache.unpin(entry);
    }
  }
  const QpStateCache::Counts& counts = cache.counts();
  EXPECT_GT(counts.hits, 100U);
  EXPECT_GT(counts.waits, 100U);
  EXPECT_GT(counts.stalls, 100U);
  EXPECT_GT(counts.write_backs, 100U);
}

}  // namespace
}  // namespace flitwise::qp_state_cache_test
