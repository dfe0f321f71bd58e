// SPDX-License-Identifier: Apache-2.0
// Topologies by preset and edge by edge. [NW-1]
#include "network/network_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flitwise::network_plan_test {
namespace {

using testing::HasSubstr;

const EdgeRate kEdge{};

TEST(NetworkPlan, NW_1_PresetsHaveTheirNodesAndEdges) {
  struct Expected {
    NetworkPlan plan;
    std::uint32_t hosts;
    std::size_t switches, edges;
  };
  const Expected all[] = {{direct_plan(kEdge), 2, 0, 1},
                          {dumbbell_plan(3, kEdge, kEdge), 6, 2, 7},
                          {leaf_spine_plan(4, 4, 4, kEdge, kEdge), 16, 8, 32},
                          {leaf_spine_plan(32, 32, 32, kEdge, kEdge), 1024, 64, 2048},
                          {fat_tree_plan(4, kEdge), 16, 20, 48},
                          {fat_tree_plan(16, kEdge), 1024, 320, 3072}};
  for (const Expected& one : all) {
    EXPECT_EQ(one.plan.hosts, one.hosts);
    EXPECT_EQ(one.plan.switches.size(), one.switches);
    EXPECT_EQ(one.plan.edges.size(), one.edges);
    EXPECT_EQ(one.plan.complaint(), "");
  }
}

TEST(NetworkPlan, EachHostOfAFatTreeAndEachSwitchHasItsPorts) {
  const NetworkPlan plan = fat_tree_plan(6, kEdge);
  std::vector<unsigned> ports(plan.nodes());
  for (const PlannedEdge& edge : plan.edges) {
    ++ports[edge.from];
    ++ports[edge.to];
  }
  for (NodeId node = 0; node < plan.nodes(); ++node) {
    EXPECT_EQ(ports[node], plan.is_host(node) ? 1U : 6U) << plan.name_of(node);
  }
}

TEST(NetworkPlan, NodesAndEdgesAreFoundByTheirNames) {
  NetworkPlan plan = leaf_spine_plan(2, 3, 4, {100, Time::from_ns(5)}, {400, Time::from_ns(7)});
  EXPECT_EQ(plan.name_of(4), "h4");
  EXPECT_EQ(plan.find("h4"), NodeId{4});
  EXPECT_EQ(plan.find("leaf1"), NodeId{7});
  EXPECT_EQ(plan.find("spine3"), NodeId{11});
  EXPECT_EQ(plan.find("h6"), std::nullopt);
  EXPECT_EQ(plan.find("spine4"), std::nullopt);
  const auto edge = plan.edge_between(*plan.find("spine3"), *plan.find("leaf1"));
  ASSERT_TRUE(edge.has_value());
  EXPECT_EQ(plan.name_of_edge(*edge), "leaf1-spine3");
  EXPECT_EQ(plan.edges[*edge].rate.gbps, 400);
  EXPECT_EQ(plan.edges[*plan.edge_between(4, 7)].rate.delay, Time::from_ns(5));
  EXPECT_EQ(plan.edge_between(4, 6), std::nullopt);
}

TEST(NetworkPlan, EdgesOneByOne) {
  const auto [plan, problem] =
      plan_of_edges({{"h1", "east", kEdge}, {"west", "h0", kEdge}, {"east", "west", {25, Time{}}}});
  EXPECT_EQ(problem, "");
  EXPECT_EQ(plan.complaint(), "");
  EXPECT_EQ(plan.hosts, 2U);
  EXPECT_EQ(plan.name_of(2), "east");
  EXPECT_EQ(plan.name_of_edge(2), "east-west");
  EXPECT_EQ(plan.edges[2].rate.gbps, 25);
  EXPECT_EQ(plan_of_edges({{"h0", "s", kEdge}, {"h2", "s", kEdge}}).second,
            "h1 has no edge, and h2 has; expected hosts from h0 on without gaps");
  EXPECT_EQ(plan_of_edges({{"h0", "h1024", kEdge}}).second,
            "host h1024 seen; expected h0 to h1023");
  EXPECT_EQ(plan_of_edges({{"h0", "h01", kEdge}, {"h1", "h01", kEdge}}).first.switches,
            std::vector<std::string>{"h01"});
}

TEST(NetworkPlan, WhatIsNoNetworkIsSaid) {
  const auto changed = [](auto change) {
    NetworkPlan plan = dumbbell_plan(1, kEdge, kEdge);
    change(plan);
    return plan.complaint();
  };
  EXPECT_EQ(changed([](NetworkPlan&) {}), "");
  EXPECT_EQ(leaf_spine_plan(1, 1, 1, kEdge, kEdge).complaint(), "1 hosts seen; expected 2 to 1024");
  EXPECT_EQ(changed([](NetworkPlan& p) { p.hosts = 1025; }), "1025 hosts seen; expected 2 to 1024");
  EXPECT_THAT(changed([](NetworkPlan& p) { p.edges[1].to = 4; }),
              HasSubstr("edge 1 leads to node 4; expected 0 to 3"));
  EXPECT_THAT(changed([](NetworkPlan& p) { p.edges[2].to = 2; }),
              HasSubstr("edge left-left joins a node to itself"));
  EXPECT_THAT(changed([](NetworkPlan& p) { p.edges[2].rate.gbps = 0; }),
              HasSubstr("edge left-right has 0 Gb/s; expected more than 0"));
  EXPECT_THAT(changed([](NetworkPlan& p) { p.edges[0].rate.delay = Time{-1}; }),
              HasSubstr("edge h0-left has a delay of -1e-06 ns; expected 0 to"));
  EXPECT_EQ(changed([](NetworkPlan& p) { p.edges.pop_back(); }),
            "no way leads from h0 to h1; expected one that goes through no other host");
  // A host does not forward.
  EXPECT_THAT(plan_of_edges(
                  {{"h0", "a", kEdge}, {"a", "h1", kEdge}, {"h1", "b", kEdge}, {"b", "h2", kEdge}})
                  .first.complaint(),
              HasSubstr("no way leads from h0 to h2"));
}

}  // namespace
}  // namespace flitwise::network_plan_test
