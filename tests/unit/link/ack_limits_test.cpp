// SPDX-License-Identifier: Apache-2.0
// Ack latency and replay timer limits against the published tables.

#include <gtest/gtest.h>

#include "link/replay_timer.h"
#include "unit/link/link_support.h"

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

LinkConfig link_of(unsigned generation, unsigned lanes, std::int64_t propagation_ns) {
  LinkConfig link;
  link.preset = test::preset(generation, lanes);
  link.mps = 256;
  link.timing.propagation = Time::from_ns(propagation_ns);
  link.timing.receive = Time{};
  return link;
}

// Symbols of 4, 2 and 1 ns; with 128b/130b the sync header makes them 1/64 longer.
TEST(AckLimits, LNK_7_18_ReplayTimerIsThreeLimitsBelow16GTs) {
  EXPECT_EQ(replay_limit(link_of(1, 1, 0)), Time::from_ns(4) * 3 * (512 - 96));
  EXPECT_EQ(replay_limit(link_of(2, 8, 0)), Time::from_ns(2) * 3 * (203 - 45));
  EXPECT_NEAR(replay_limit(link_of(3, 8, 0)).ns(), 609.0 * 65 / 64, 10);
}

TEST(AckLimits, LNK_7_18_TheRoundTripComesOnTop) {
  for (const unsigned generation : {1U, 2U, 3U}) {
    LinkConfig link = link_of(generation, 8, 0);
    const Time without = replay_limit(link);
    link.timing.propagation = Time::from_ns(200);
    EXPECT_EQ(replay_limit(link) - without, Time::from_ns(400)) << generation;
    link.timing.receive = Time::from_ns(30);
    EXPECT_EQ(replay_limit(link) - without, Time::from_ns(460)) << generation;
    EXPECT_GT(replay_limit(link), ack_return_time(link)) << generation;
    link.timing.replay_timeout = Time::from_ns(500);
    EXPECT_EQ(replay_limit(link), Time::from_ns(500));  // as it was set, short or not
  }
}

TEST(AckLimits, LNK_7_19_SimplifiedReplayTimerFrom16GTs) {
  for (const unsigned generation : {4U, 5U}) {
    const double symbol_ns = generation == 4 ? 0.5 : 0.25;
    const double limit = replay_limit(link_of(generation, 16, 200)).ns();
    EXPECT_GE(limit, 24'000 * symbol_ns);
    EXPECT_LE(limit, 31'000 * symbol_ns);
    // Where the wire is longer than that, it takes longer.
    const LinkConfig far = link_of(generation, 16, 20'000);
    EXPECT_GT(replay_limit(far), ack_return_time(far));
  }
}

}  // namespace
}  // namespace flitwise::ack_limits_test
