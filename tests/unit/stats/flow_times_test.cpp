// SPDX-License-Identifier: Apache-2.0
// Times of flows by their sizes.
#include "stats/flow_times.h"

#include <gtest/gtest.h>

namespace flitwise::flow_times_test {
namespace {

TEST(FlowTimes, BucketsHaveThoseUpToTheirSize) {
  FlowTimes times;
  times.record(10'000, Time::from_us(3), Time::from_us(2));
  times.record(10'001, Time::from_us(8), Time::from_us(4));
  times.record(100'000, Time::from_us(4), Time::from_us(4));
  times.record(20'000'000, Time::from_us(1625 * 2), Time::from_us(1625));
  EXPECT_EQ(times.flows(), 4U);
  const std::vector<FlowTimesRow> rows = times.rows();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].name, "to_10k");
  EXPECT_EQ(rows[0].flows, 1U);
  EXPECT_DOUBLE_EQ(rows[0].mean_slowdown, 1.5);
  EXPECT_EQ(rows[1].name, "to_100k");
  EXPECT_EQ(rows[1].flows, 2U);
  EXPECT_DOUBLE_EQ(rows[1].mean_ns, 6000);
  EXPECT_DOUBLE_EQ(rows[1].mean_slowdown, 1.5);
  EXPECT_NEAR(rows[1].p99_slowdown, 2, 2 / 64.0);
  EXPECT_DOUBLE_EQ(rows[1].max_slowdown, 2);
  EXPECT_EQ(rows[2].name, "more");
  EXPECT_DOUBLE_EQ(rows[2].max_ns, 3'250'000);
  EXPECT_EQ(rows[3].name, "all");
  EXPECT_EQ(rows[3].flows, 4U);
  EXPECT_DOUBLE_EQ(rows[3].mean_slowdown, 6.5 / 4);
}

TEST(FlowTimes, WithoutFlowsThereIsTheSumAlone) {
  const std::vector<FlowTimesRow> rows = FlowTimes().rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].flows, 0U);
  EXPECT_EQ(rows[0].mean_slowdown, 0);
}

}  // namespace
}  // namespace flitwise::flow_times_test
