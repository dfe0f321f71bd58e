// SPDX-License-Identifier: Apache-2.0
// Waits at a queue, added up.
#include "stats/wait_book.h"

#include <gtest/gtest.h>

namespace flitwise::wait_book_test {
namespace {

TEST(WaitBook, AddsUpWaitsAndLeavesOutThoseOfNoTime) {
  WaitBook book;
  book.add(Time::from_ns(10), Time::from_ns(15));
  book.add(Time::from_ns(12), Time::from_ns(30));
  book.add(Time::from_ns(30), Time::from_ns(30));
  book.add(Time::never(), Time::from_ns(30));
  EXPECT_EQ(book.count(), 2U);
  EXPECT_EQ(book.total(), Time::from_ns(23));
}

TEST(WaitBook, OfAWaitThatBeganBeforeTheWindowOnlyTheRestCounts) {
  WaitBook book;
  book.add(Time::from_ns(1), Time::from_ns(50));
  book.start_window(Time::from_ns(100));
  book.add(Time::from_ns(80), Time::from_ns(90));
  book.add(Time::from_ns(90), Time::from_ns(130));
  const WaitResult result = book.result({"iommu0", "walkers"});
  EXPECT_EQ(result.resource.at, "iommu0");
  EXPECT_EQ(result.resource.name, "walkers");
  EXPECT_EQ(result.count, 1U);
  EXPECT_EQ(result.total, Time::from_ns(30));
}

TEST(WaitBook, TakesTheWaitsOfAnotherQueueAlong) {
  WaitBook book, other;
  book.add(Time::from_ns(10), Time::from_ns(15));
  other.add(Time::from_ns(20), Time::from_ns(22));
  other.add(Time::from_ns(20), Time::from_ns(23));
  book.add(other);
  EXPECT_EQ(book.count(), 3U);
  EXPECT_EQ(book.total(), Time::from_ns(10));
}

// Little's law: the length of the queue over time, summed up, is what its members have waited.
TEST(WaitBook, LittlesLawTheTimeOverTheWindowIsTheMeanLengthOfTheQueue) {
  WaitBook book;
  std::int64_t length_times_ns = 0;
  for (std::int64_t ns = 0; ns < 1000; ++ns) {
    for (std::int64_t who = 0; who < 40; ++who) {
      const std::int64_t since = 23 * who;
      const std::int64_t until = since + 7 * (who % 9);
      length_times_ns += ns >= since && ns < until ? 1 : 0;
      if (ns == until) {
        book.add(Time::from_ns(since), Time::from_ns(until));
      }
    }
  }
  EXPECT_EQ(book.total(), Time::from_ns(length_times_ns));
}

TEST(UseClock, CountsAUnitFromItsTimeOn) {
  UseClock use;
  use.take(Time::from_ns(60), Time::from_ns(20));
  use.take(Time::from_ns(40), Time::from_ns(30));
  EXPECT_EQ(use.mean(Time::from_ns(40)), 0) << "neither has begun";
  EXPECT_DOUBLE_EQ(use.mean(Time::from_ns(80)), (40. + 20) / 80);
  use.give(Time::from_ns(50));
  EXPECT_EQ(use.peak(), 1U) << "one at a time";
  use.give(Time::from_ns(80));
  EXPECT_DOUBLE_EQ(use.mean(Time::from_ns(100)), (10. + 20) / 100);
}

TEST(UseClock, EndsWithItsWindowUnlessThatGoesOn) {
  UseClock use;
  use.set(1, Time{});
  use.end_window(Time::from_ns(10));
  use.set(3, Time::from_ns(20));
  EXPECT_DOUBLE_EQ(use.mean(Time::from_ns(40)), 1);
  EXPECT_EQ(use.peak(), 1U);
  use.extend_window();
  EXPECT_DOUBLE_EQ(use.mean(Time::from_ns(40)), (20. + 60) / 40);
  EXPECT_EQ(use.peak(), 3U);
}

}  // namespace
}  // namespace flitwise::wait_book_test
