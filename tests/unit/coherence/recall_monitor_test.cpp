// SPDX-License-Identifier: Apache-2.0
// What a watcher of recalls sees where a line outlives one. [COH-3.14]
#include "coherence/recall_monitor.h"

#include <gtest/gtest.h>

namespace flitwise::test::recall_monitor_test {
namespace {

constexpr std::uint64_t kPage = 0x4000, kBytes = 0x1000, kLine = kPage + 0x40;

struct RecallMonitorTest : ::testing::Test {
  // A request with this place gets the line, and its agent says so.
  void hold(std::uint8_t agent, std::uint64_t line, std::uint64_t arrival) {
    EXPECT_TRUE(monitor.granted(agent, line, arrival));
    EXPECT_TRUE(monitor.told(agent, line, LineState::kShared));
  }
  bool leaves_something(std::uint64_t before) {
    return monitor.recalled(kPage, kBytes, before).has_value();
  }
  RecallMonitor monitor;
};

TEST_F(RecallMonitorTest, COH_3_14_NobodyHasALineOfBefore) {
  hold(3, kLine, 1);
  hold(1, kLine, 2);
  hold(0, kPage + kBytes, 3);
  monitor.told(3, kLine, LineState::kInvalid);
  const std::optional<RecallMonitor::Left> left = monitor.recalled(kPage, kBytes, 4);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->agent, 1);
  EXPECT_EQ(left->line, kLine);
  monitor.told(1, kLine, LineState::kInvalid);
  EXPECT_FALSE(leaves_something(4));
}

TEST_F(RecallMonitorTest, COH_3_14_ALineThatWasAskedForLaterMayStay) {
  hold(1, kLine, 4);
  EXPECT_FALSE(leaves_something(4));
  EXPECT_TRUE(leaves_something(5));
}

TEST_F(RecallMonitorTest, COH_3_14_AGrantBehindTheEndIsTooLate) {
  EXPECT_FALSE(leaves_something(4));
  EXPECT_TRUE(monitor.granted(1, kLine, 4));
  EXPECT_TRUE(monitor.granted(1, kPage + kBytes, 3)) << "of another page";
  EXPECT_FALSE(monitor.granted(1, kLine, 3));
}

TEST_F(RecallMonitorTest, COH_3_14_AGrantOnItsWayIsSeenWhenItComes) {
  EXPECT_TRUE(monitor.granted(1, kLine, 3));
  EXPECT_FALSE(leaves_something(4)) << "a cache that never has it does no harm";
  EXPECT_FALSE(monitor.told(1, kLine, LineState::kExclusive));
  EXPECT_TRUE(monitor.told(1, kLine, LineState::kInvalid));
  hold(1, kLine, 5);
}

TEST_F(RecallMonitorTest, COH_3_14_AnUpgradeIsOfItsOwnRequest) {
  hold(1, kLine, 1);
  EXPECT_TRUE(monitor.granted(1, kLine, 6));
  EXPECT_TRUE(monitor.told(1, kLine, LineState::kExclusive));
  EXPECT_TRUE(monitor.told(1, kLine, LineState::kModified));
  EXPECT_FALSE(leaves_something(6));
}

}  // namespace
}  // namespace flitwise::test::recall_monitor_test
