// SPDX-License-Identifier: Apache-2.0
// Circles of channels that wait for each other. [NW-9] [NW-C9]
#include "network/channel_cycles.h"

#include <gtest/gtest.h>

namespace flitwise::channel_cycles_test {
namespace {

const EdgeRate kEdge{};

std::string cycle_of(const NetworkPlan& plan) {
  EXPECT_EQ(plan.complaint(), "");
  const NetworkGraph graph(plan);
  return text_of_cycle(plan, graph, find_channel_cycle(NextHops(graph)));
}

// So many switches in a ring, a host at each.
NetworkPlan ring_of(unsigned switches) {
  std::vector<NamedEdge> edges;
  for (unsigned i = 0; i < switches; ++i) {
    edges.push_back({"h" + std::to_string(i), "s" + std::to_string(i), kEdge});
    edges.push_back({"s" + std::to_string(i), "s" + std::to_string((i + 1) % switches), kEdge});
  }
  return plan_of_edges(edges).first;
}

TEST(ChannelCycles, NW_C9_ARingOfFourIsRefusedWithItsNodes) {
  EXPECT_EQ(cycle_of(ring_of(4)), "s0 > s1 > s2 > s3 > s0");
  EXPECT_NE(cycle_of(ring_of(5)), "");
  EXPECT_EQ(cycle_of(ring_of(3)), "");  // each switch is a neighbour of each: no channel waits
}

TEST(ChannelCycles, NW_9_TreesHaveNone) {
  EXPECT_EQ(cycle_of(direct_plan(kEdge)), "");
  EXPECT_EQ(cycle_of(dumbbell_plan(4, kEdge, kEdge)), "");
  EXPECT_EQ(cycle_of(leaf_spine_plan(8, 4, 8, kEdge, kEdge)), "");
  EXPECT_EQ(cycle_of(fat_tree_plan(8, kEdge)), "");
}

// A spine that has lost a leaf could reach it by way of another one; nobody sends that way.
TEST(ChannelCycles, NW_9_ALostLinkMakesNoneInALeafSpine) {
  const NetworkPlan plan = leaf_spine_plan(4, 2, 4, kEdge, kEdge);
  const NetworkGraph graph(plan);
  NextHops hops(graph);
  NetworkLinks links(hops, Time{});
  links.take_down(*plan.edge_between(*plan.find("leaf1"), *plan.find("spine2")), Time{});
  links.take_down(*plan.edge_between(*plan.find("leaf0"), *plan.find("spine1")), Time{});
  ASSERT_TRUE(links.detect(Time{}));
  EXPECT_TRUE(find_channel_cycle(hops).empty());
}

TEST(ChannelCycles, EachChannelOfACircleLeadsToTheNext) {
  const NetworkPlan plan = ring_of(6);
  const NetworkGraph graph(plan);
  const std::vector<PortId> cycle = find_channel_cycle(NextHops(graph));
  ASSERT_FALSE(cycle.empty());
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    EXPECT_EQ(graph.port(cycle[i]).to, graph.port(cycle[(i + 1) % cycle.size()]).from);
  }
}

}  // namespace
}  // namespace flitwise::channel_cycles_test
