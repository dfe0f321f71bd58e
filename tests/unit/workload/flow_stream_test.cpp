// SPDX-License-Identifier: Apache-2.0
// Flows as work of the device of their host: pieces, starts and sums.
#include "workload/flow_stream.h"

#include <gtest/gtest.h>

namespace flitwise::flow_stream_test {
namespace {

TEST(FlowStream, AFlowIsWritesOfAPieceAndOneOfTheRest) {
  const std::vector<Flow> flows = {{0, 1, 2, 2'500, Time::from_us(3), kNoFlow},
                                   {4, 1, 2, 1'000, Time::from_us(7), kNoFlow}};
  const auto stream = flow_stream(flows, 1'000);
  EXPECT_EQ(stream->left(), 4U);
  std::vector<std::uint32_t> bytes;
  std::vector<Time> starts;
  for (WorkItem item; stream->next(item);) {
    EXPECT_EQ(item.op, Op::kWrite);
    EXPECT_EQ(to_int(item.domain), 0U);
    bytes.push_back(item.bytes);
    starts.push_back(item.at);
  }
  EXPECT_EQ(bytes, (std::vector<std::uint32_t>{1'000, 1'000, 500, 1'000}));
  EXPECT_EQ(starts, (std::vector<Time>{Time::from_us(3), Time::from_us(3), Time::from_us(3),
                                       Time::from_us(7)}));
  EXPECT_EQ(stream->left(), 0U);
  EXPECT_EQ(pieces_of(flows[0], 1'000), 3U);
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
