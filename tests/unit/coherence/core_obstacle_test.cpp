// SPDX-License-Identifier: Apache-2.0
// What is in the way of a core: an identifier, or its line or a way. [COH-1.3] [COH-2.2] [COH-2.4]
#include <gtest/gtest.h>

#include "coherence/device_cache.h"
#include "coherence/host_lines.h"
#include "unit/coherence/coherence_support.h"

namespace flitwise::test::core_obstacle_test {
namespace {

/// Asks one agent of CXL.cache or CXL.mem for what its core wants, and never answers.
template <class Agent>
struct Core {
  CoreObstacle obstacle(CoreOp op, std::uint64_t address, std::size_t held = 0) const {
    return agent.obstacle({op, 1, address, kAllBytes, {}}, held);
  }
  void ask(CoreOp op, std::uint64_t address) {
    ASSERT_EQ(obstacle(op, address), CoreObstacle::kNone);
    agent.request({op, 1, address, kAllBytes, {}}, out, done);
  }
  Agent agent;
  CxlOutput out;
  CoreResults done;
};

// One set of two ways, and three identifiers.
template <class Agent>
void expect_obstacles(Core<Agent> core) {
  core.ask(CoreOp::kRead, 0x00);
  EXPECT_EQ(core.obstacle(CoreOp::kRead, 0x00), CoreObstacle::kLine) << "it is being read";
  EXPECT_EQ(core.obstacle(CoreOp::kRead, 0x40, 1), CoreObstacle::kNone);
  EXPECT_EQ(core.obstacle(CoreOp::kRead, 0x40, 2), CoreObstacle::kId) << "held in front of it";
  core.ask(CoreOp::kRead, 0x40);
  EXPECT_EQ(core.obstacle(CoreOp::kRead, 0x80), CoreObstacle::kWay) << "both ways are reserved";
  EXPECT_EQ(core.obstacle(CoreOp::kReadOnce, 0x80), CoreObstacle::kNone) << "needs no way";
  core.ask(CoreOp::kReadOnce, 0x80);
  EXPECT_EQ(core.obstacle(CoreOp::kReadOnce, 0xc0), CoreObstacle::kId) << "three are out";
  EXPECT_EQ(core.obstacle(CoreOp::kEvict, 0xc0), CoreObstacle::kNone) << "nothing to do";
}

TEST(CoreObstacle, COH_1_3_OfADeviceCacheIsACqidOrALine) {
  expect_obstacles(Core<DeviceCache>{DeviceCache({1, 2, 3, 0, true}), {}, {}});
}

TEST(CoreObstacle, COH_1_3_OfTheHostsLinesIsATagOrALine) {
  Core<HostLines> core{HostLines({1, 2, 3}), {}, {}};
  EXPECT_EQ(core.obstacle(CoreOp::kWriteThrough, 0x00), CoreObstacle::kNotKnown);
  expect_obstacles(core);
}

// A victim takes an identifier of its own. [COH-2.2]
TEST(CoreObstacle, COH_2_2_AMissThatEvictsTakesTwoCqids) {
  CacheBench bench({1, 1, 1, 0, true});
  const std::uint16_t cqid = bench.ask(CoreOp::kRead, 0x00);
  bench.go(cqid, cxl::GoState::kShared);
  bench.data(cqid, 1);
  EXPECT_EQ(bench.cache.obstacle({CoreOp::kRead, 1, 0x40, kAllBytes, {}}), CoreObstacle::kId);
  EXPECT_EQ(bench.cache.obstacle({CoreOp::kReadOnce, 1, 0x40, kAllBytes, {}}), CoreObstacle::kNone);
}

}  // namespace
}  // namespace flitwise::test::core_obstacle_test
