// SPDX-License-Identifier: Apache-2.0
// Events come out by time, those of one time in the order in which they went in.
#include "network/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "common/random.h"

namespace flitwise::event_queue_test {
namespace {

TEST(EventQueue, IsEmptyAtFirst) {
  const EventQueue queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.next(), Time::never());
}

TEST(EventQueue, KeepsTheOrderOfEventsOfOneTime) {
  EventQueue queue;
  for (std::uint32_t i = 0; i < 100; ++i) {
    queue.add(Time::from_ns(7), i);
  }
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(queue.front(), i);
    queue.take();
  }
}

/// Spans from femtoseconds to beyond the wheel, and many that are equal.
std::int64_t any_span(Random& random) {
  constexpr std::uint64_t kSpans[] = {3,           300,           2'000'000,
                                      500'000'000, 5'000'000'000, 40'000'000'000};
  const std::uint64_t most = kSpans[random.below(6)];
  return static_cast<std::int64_t>(random.below(most) / (most / 3) * (most / 3) +
                                   random.below(2) * random.below(most));
}

TEST(EventQueue, SortsWhatComesInAnyOrderAsAStableSortDoes) {
  Random random(1);
  EventQueue queue;
  std::vector<std::pair<std::int64_t, std::uint32_t>> expected;
  for (std::uint32_t i = 0; i < 5'000; ++i) {
    const std::int64_t when = any_span(random);
    queue.add(Time{when}, i);
    expected.emplace_back(when, i);
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [when, what] : expected) {
    ASSERT_EQ(queue.next(), Time{when});
    ASSERT_EQ(queue.front(), what);
    queue.take();
  }
  EXPECT_TRUE(queue.empty());
}

// Events that bring others about, as in a simulation, against a sorted list.
TEST(EventQueue, GivesEventsInOrderWhileOthersCome) {
  Random random(2);
  EventQueue queue;
  std::multimap<std::int64_t, std::uint32_t> expected;
  std::uint32_t number = 0;
  const auto add = [&](Time when) {
    queue.add(when, number);
    expected.emplace(when.fs, number++);
  };
  for (int i = 0; i < 50; ++i) {
    add(Time{any_span(random)});
  }
  for (int i = 0; i < 100'000 && !expected.empty(); ++i) {
    ASSERT_EQ(queue.size(), expected.size());
    ASSERT_EQ(queue.next(), Time{expected.begin()->first});
    ASSERT_EQ(queue.front(), expected.begin()->second);
    const Time now = queue.next();
    expected.erase(expected.begin());
    queue.behind(random.below(6));  // whether anybody looks ahead changes nothing
    if (random.below(2) == 0) {
      queue.take();
    } else {
      const Time when = now + Time{any_span(random)};
      queue.replace(when, number);
      expected.emplace(when.fs, number++);
    }
    if (queue.size() < 40 && random.below(3) > 0) {
      add(now + Time{any_span(random)});
    }
  }
}

TEST(EventQueue, KnowsWhatComesNextInThisBucketAndTheOneBehindIt) {
  constexpr std::int64_t kBucket = std::int64_t{1} << 20;  // femtoseconds
  EventQueue queue;
  const std::int64_t times[] = {30, 10, 20, 2 * kBucket + 5, 2 * kBucket + 3, 5 * kBucket};
  for (std::uint32_t i = 0; i < 6; ++i) {
    queue.add(Time{times[i]}, i);
  }
  const auto expect = [&](const std::vector<std::uint32_t>& events) {
    for (std::size_t n = 0; n < events.size(); ++n) {
      ASSERT_NE(queue.behind(n), nullptr) << n;
      EXPECT_EQ(*queue.behind(n), events[n]) << n;
    }
    EXPECT_EQ(queue.behind(events.size()), nullptr);
  };
  expect({1, 2, 0, 4, 3});
  queue.add(Time{2 * kBucket + 4}, 6);
  expect({1, 2, 0, 4, 6, 3});
  queue.add(Time{kBucket}, 7);
  expect({1, 2, 0, 7});
  for (const std::uint32_t event : {1, 2, 0, 7, 4, 6, 3, 5}) {
    EXPECT_EQ(queue.front(), event);
    queue.take();
  }
}

}  // namespace
}  // namespace flitwise::event_queue_test
