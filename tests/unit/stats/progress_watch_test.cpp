// SPDX-License-Identifier: Apache-2.0
// What counts as progress of a run, and when patience is over (docs/statistics.md).
#include "stats/progress_watch.h"

#include <gtest/gtest.h>

namespace flitwise::progress_watch_test {
namespace {

using Outlook = ProgressWatch::Outlook;
Time us(std::int64_t n) {
  return Time::from_us(n);
}

TEST(ProgressWatch, OnlyWhatIsCompletedMakesPatienceBeginAnew) {
  ProgressWatch watch(us(100), 0);
  watch.begin(us(0));
  EXPECT_EQ(watch.look(us(50), 0, 0), Outlook::kMoves);
  EXPECT_EQ(watch.look(us(51), 0, 1), Outlook::kDoubtful);
  EXPECT_EQ(watch.look(us(100), 0, 2), Outlook::kDoubtful);
  EXPECT_EQ(watch.look(us(101), 1, 3), Outlook::kMoves);
  EXPECT_EQ(watch.look(us(201), 1, 4), Outlook::kDoubtful);
  EXPECT_EQ(watch.look(us(202), 1, 5), Outlook::kRepeats);
}

TEST(ProgressWatch, SilenceIsToldFromThingsThatGoByAndCompleteNothing) {
  ProgressWatch watch(us(100), 0);
  watch.begin(us(0));
  EXPECT_EQ(watch.look(us(10), 0, 7), Outlook::kMoves);
  EXPECT_EQ(watch.look(us(101), 0, 7), Outlook::kSilent) << "nothing at all since 10 us";
  EXPECT_EQ(watch.look(us(102), 0, 8), Outlook::kRepeats) << "something just now";
  watch.begin(us(102));
  EXPECT_EQ(watch.look(us(103), 0, 9), Outlook::kMoves);
}

TEST(ProgressWatch, SilenceIsHalfOfPatienceAndMore) {
  ProgressWatch watch(us(100), 0);
  watch.begin(us(0));
  EXPECT_EQ(watch.look(us(60), 0, 1), Outlook::kDoubtful);
  EXPECT_EQ(watch.look(us(110), 0, 1), Outlook::kRepeats) << "50 us ago";
  EXPECT_EQ(watch.look(us(111), 0, 1), Outlook::kSilent);
  EXPECT_EQ(watch.look(us(112), 3, 1), Outlook::kMoves) << "a completion without any activity";
  EXPECT_EQ(watch.look(us(162), 3, 1), Outlook::kMoves);
  EXPECT_EQ(watch.look(us(163), 3, 1), Outlook::kDoubtful);
}

TEST(ProgressWatch, WhatMemoryHasTakenIsCompletedWhenMemoryIsDone) {
  ProgressWatch watch(us(100), 0);
  watch.begin(us(0));
  EXPECT_EQ(watch.look(us(10), 1, 1, us(500)), Outlook::kMoves);
  EXPECT_EQ(watch.look(us(550), 1, 1, us(500)), Outlook::kMoves);
  EXPECT_EQ(watch.look(us(551), 1, 1, us(500)), Outlook::kDoubtful);
  EXPECT_EQ(watch.look(us(601), 1, 2, us(900)), Outlook::kRepeats)
      << "an access to memory that completes nothing is no progress";
}

TEST(ProgressWatch, TheFirstStepsBehindACompletionAreProgress) {
  ProgressWatch watch(us(100), 2);
  watch.begin(us(0));
  EXPECT_EQ(watch.look(us(90), 0, 1), Outlook::kMoves);
  EXPECT_EQ(watch.look(us(180), 0, 7), Outlook::kMoves)
      << "what lies between two looks is one step";
  EXPECT_EQ(watch.look(us(270), 0, 8), Outlook::kDoubtful);
  EXPECT_EQ(watch.look(us(281), 0, 9), Outlook::kRepeats) << "patience since the second step";
  EXPECT_EQ(watch.look(us(282), 1, 9), Outlook::kMoves);
  EXPECT_EQ(watch.look(us(380), 1, 10), Outlook::kMoves) << "two steps more";
  EXPECT_EQ(watch.look(us(470), 1, 11), Outlook::kMoves);
  EXPECT_EQ(watch.look(us(560), 1, 12), Outlook::kDoubtful);
  watch.begin(us(600));
  EXPECT_EQ(watch.look(us(690), 1, 13), Outlook::kMoves);
}

TEST(ProgressWatch, AStepDoesNotShortenTheTimeThatMemoryHas) {
  ProgressWatch watch(us(100), 2);
  watch.begin(us(0));
  EXPECT_EQ(watch.look(us(10), 1, 1, us(500)), Outlook::kMoves);
  EXPECT_EQ(watch.look(us(20), 1, 2, us(500)), Outlook::kMoves);
  EXPECT_EQ(watch.look(us(550), 1, 2, us(500)), Outlook::kMoves);
}

}  // namespace
}  // namespace flitwise::progress_watch_test
