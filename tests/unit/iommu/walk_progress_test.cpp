// SPDX-License-Identifier: Apache-2.0
// Which walks count as progress while nothing is completed (docs/statistics.md).
#include "iommu/waiting_pages.h"

#include <gtest/gtest.h>

namespace flitwise::walk_progress_test {
namespace {

using Key = WaitingPages::Key;

TEST(WalkProgress, StepsCountInDoubtAlone) {
  WalkProgress progress;
  progress.step(1, Key{1, 1}, false);
  EXPECT_EQ(progress.steps(), 0U);
  progress.begin_doubt(0);
  progress.step(1, Key{1, 1}, false);
  EXPECT_EQ(progress.steps(), 1U);
  progress.end_doubt();
  progress.step(1, Key{1, 1}, true);
  EXPECT_EQ(progress.steps(), 1U);
}

TEST(WalkProgress, OfRequestsThatCameInDoubtOnlyTheFirstWalkForAPageCounts) {
  WalkProgress progress;
  progress.begin_doubt(10);
  progress.step(11, Key{1, 1}, false);
  progress.step(11, Key{1, 1}, true);
  EXPECT_EQ(progress.steps(), 2U);
  for (std::uint64_t again = 12; again < 100; ++again) {
    progress.step(again, Key{1, 1}, false);
    progress.step(again, Key{1, 1}, true);
  }
  EXPECT_EQ(progress.steps(), 2U) << "the same page again and again";
  progress.step(100, Key{2, 1}, true);
  progress.step(101, Key{1, 2}, true);
  EXPECT_EQ(progress.steps(), 4U) << "another page, and the same of somebody else";
}

TEST(WalkProgress, WalksForAllThatWaitedWhenDoubtBeganCount) {
  WalkProgress progress;
  progress.begin_doubt(3);
  progress.begin_doubt(90);  // is the same doubt
  for (std::uint64_t number = 1; number <= 5; ++number) {
    progress.step(number, Key{1, 1}, true);
  }
  EXPECT_EQ(progress.steps(), 3U);
}

TEST(WalkProgress, WhatIsCompletedMakesEachPageNewAgain) {
  WalkProgress progress;
  progress.begin_doubt(0);
  progress.step(1, Key{1, 1}, true);
  progress.end_doubt();
  progress.begin_doubt(1);
  progress.step(2, Key{1, 1}, true);
  EXPECT_EQ(progress.steps(), 2U);
}

}  // namespace
}  // namespace flitwise::walk_progress_test
