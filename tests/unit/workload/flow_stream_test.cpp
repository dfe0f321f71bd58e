// SPDX-License-Identifier: Apache-2.0
// Flows as work of the device of their host: pieces, starts and sums.
#include "workload/flow_stream.h"

#include <gtest/gtest.h>

namespace flitwise::flow_stream_test {
namespace {

constexpr auto kAny = [](std::uint32_t /*peer*/) { return true; };

TEST(FlowPosts, AFlowIsWritesOfAPieceAndOneOfTheRest) {
  const std::vector<Flow> flows = {{0, 1, 2, 2'500, Time::from_us(3), kNoFlow},
                                   {4, 1, 2, 1'000, Time::from_us(7), kNoFlow}};
  FlowPosts posts(1, 1'000);
  for (const Flow& flow : flows) {
    posts.add(0, flow);
  }
  WorkItem item;
  EXPECT_FALSE(posts.take(Time::from_us(2), kAny, item)) << "it has not started";
  EXPECT_EQ(posts.next_start(Time::from_us(2)), Time::from_us(3));
  for (const std::uint32_t bytes : {1'000U, 1'000U, 500U}) {
    EXPECT_TRUE(posts.take(Time::from_us(3), kAny, item));
    EXPECT_EQ(item.op, Op::kWrite);
    EXPECT_EQ(to_int(item.domain), 0U);
    EXPECT_EQ(item.bytes, bytes);
    EXPECT_EQ(item.at, Time::from_us(3));
  }
  EXPECT_FALSE(posts.take(Time::from_us(6), kAny, item));
  EXPECT_TRUE(posts.take(Time::from_us(7), kAny, item));
  EXPECT_EQ(posts.next_start(Time::from_us(7)), Time::never());
  EXPECT_EQ(pieces_of(flows[0], 1'000), 3U);
}

TEST(FlowPosts, PeersHaveTheirTurnsWhereThereIsRoom) {
  FlowPosts posts(3, 1'000);
  for (const std::uint32_t peer : {0U, 1U, 2U}) {
    posts.add(peer, {peer, 9, peer, 2'000, {}, kNoFlow});
  }
  std::vector<std::uint32_t> to;
  WorkItem item;
  while (posts.take(
      {}, [&](std::uint32_t peer) { return peer != 1 || to.size() >= 3; }, item)) {
    to.push_back(to_int(item.domain));
  }
  EXPECT_EQ(to, (std::vector<std::uint32_t>{0, 2, 0, 1, 2, 1}));
}

TEST(FlowStream, ListedFlowsComeInTheirOrder) {
  const auto source = listed_flows({{0, 1, 2, 5, {}, kNoFlow}, {1, 2, 1, 6, {}, kNoFlow}});
  EXPECT_EQ(source->left(), 2U);
  Flow flow;
  ASSERT_TRUE(source->next(flow));
  EXPECT_EQ(flow.bytes, 5U);
  ASSERT_TRUE(source->next(flow));
  EXPECT_EQ(flow.source, 2U);
  EXPECT_FALSE(source->next(flow));
}

}  // namespace
}  // namespace flitwise::flow_stream_test
