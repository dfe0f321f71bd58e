// SPDX-License-Identifier: Apache-2.0
// A wait from its begin to its end.
#include "stats/open_wait.h"

#include <gtest/gtest.h>

namespace flitwise::open_wait_test {
namespace {

TEST(OpenWait, CountsOnceFromItsFirstBegin) {
  WaitBook book;
  OpenWait wait;
  wait.begin(Time::from_ns(10));
  wait.begin(Time::from_ns(20));
  EXPECT_TRUE(wait.is_open());
  EXPECT_EQ(wait.since(), Time::from_ns(10));
  wait.end(book, Time::from_ns(35));
  wait.end(book, Time::from_ns(50));  // nobody waits any more
  EXPECT_FALSE(wait.is_open());
  EXPECT_EQ(book.count(), 1U);
  EXPECT_EQ(book.total(), Time::from_ns(25));
}

TEST(OpenWait, FollowsWhetherSomebodyWaits) {
  WaitBook book;
  OpenWait wait;
  for (const int ns : {1, 2, 3, 4, 5, 6, 7, 8}) {
    wait.set(ns % 4 == 2 || ns % 4 == 3, book, Time::from_ns(ns));  // from 2 to 4, from 6 to 8
  }
  EXPECT_EQ(book.count(), 2U);
  EXPECT_EQ(book.total(), Time::from_ns(4));
}

}  // namespace
}  // namespace flitwise::open_wait_test
