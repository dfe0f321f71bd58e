// SPDX-License-Identifier: Apache-2.0
// Ack latency and replay timer limits against the published tables.
#include "link/ack_limits.h"

#include <gtest/gtest.h>

namespace flitwise::ack_limits_test {
namespace {

TEST(AckLimits, LNK_7_16_AgreeWithThePublishedTable) {
  struct Row {
    unsigned mps, x1, x4, x8, x16;
  };
  for (const Row row :
       {Row{128, 333, 169, 163, 144}, Row{256, 512, 214, 203, 168}, Row{512, 655, 250, 182, 182},
        Row{1024, 1167, 378, 246, 246}, Row{4096, 4239, 1146, 630, 630}}) {
    for (unsigned generation = 1; generation <= 5; ++generation) {
      const unsigned less = generation == 1 ? 96 : generation == 2 ? 45 : 0;
      EXPECT_EQ(ack_limit_symbols(generation, 1, row.mps), row.x1 - less);
      EXPECT_EQ(ack_limit_symbols(generation, 4, row.mps), row.x4 - less);
      EXPECT_EQ(ack_limit_symbols(generation, 8, row.mps), row.x8 - less);
      EXPECT_EQ(ack_limit_symbols(generation, 16, row.mps), row.x16 - less);
    }
  }
}

TEST(AckLimits, LNK_7_17_WideLinksHaveAFactorOfThreeOrTwo) {
  EXPECT_EQ(ack_limit_symbols(3, 12, 128), 156U * 3 / 12 + 115);
  EXPECT_EQ(ack_limit_symbols(2, 32, 4096), 327U);
  EXPECT_EQ(ack_limit_symbols(1, 32, 2048), 148U);
  EXPECT_EQ(ack_limit_symbols(1, 2, 128), 156U * 14 / 20 + 19);
}

TEST(AckLimits, LNK_7_18_ReplayTimerIsThreeLimitsBelow16GTs) {
  EXPECT_EQ(replay_limit_symbols(3, 8, 256), 609U);
  EXPECT_EQ(replay_limit_symbols(1, 1, 128), 3U * (333 - 96));
}

TEST(AckLimits, LNK_7_19_SimplifiedReplayTimerFrom16GTs) {
  for (const unsigned generation : {4U, 5U}) {
    EXPECT_GE(replay_limit_symbols(generation, 16, 256), 24'000U);
    EXPECT_LE(replay_limit_symbols(generation, 16, 256), 31'000U);
  }
}

}  // namespace
}  // namespace flitwise::ack_limits_test
