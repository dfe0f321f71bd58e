// SPDX-License-Identifier: Apache-2.0
// Ports on shortest ways, and links that go down and come up. [NW-6] [NW-9]
#include "network/next_hops.h"

#include <gtest/gtest.h>

#include <set>

namespace flitwise::next_hops_test {
namespace {

const EdgeRate kEdge{};

// Names of the nodes that the candidates lead to.
std::set<std::string> next_of(const NetworkPlan& plan, const NextHops& hops,
                              const std::string& node, NodeId host) {
  std::set<std::string> names;
  for (const PortId port : hops.candidates(*plan.find(node), host)) {
    EXPECT_EQ(hops.graph().port(port).from, *plan.find(node));
    names.insert(plan.name_of(hops.graph().port(port).to));
  }
  return names;
}

using Names = std::set<std::string>;

TEST(NetworkGraph, PortsKnowWhereTheyAreAndWhereTheyLead) {
  const NetworkPlan plan = leaf_spine_plan(2, 2, 3, {100, Time{1}}, {400, Time{2}});
  const NetworkGraph graph(plan);
  EXPECT_EQ(graph.nodes(), 9U);
  EXPECT_EQ(graph.edges(), plan.edges.size());
  std::set<PortId> seen;
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    std::uint32_t place = 0;
    for (const PortId port : graph.ports_of(node)) {
      EXPECT_EQ(graph.port(port).from, node);
      EXPECT_EQ(graph.place_of(port), place++);
      EXPECT_EQ(graph.port(NetworkGraph::peer(port)).from, graph.port(port).to);
      EXPECT_EQ(graph.port(NetworkGraph::peer(port)).to, node);
      const PlannedEdge& edge = plan.edges[NetworkGraph::edge_of(port)];
      EXPECT_EQ(graph.port(port).rate.gbps, edge.rate.gbps);
      EXPECT_TRUE(seen.insert(port).second);
    }
  }
  EXPECT_EQ(seen.size(), graph.ports());
}

TEST(NextHops, NW_9_LeavesHaveAllSpinesAndSpinesOneLeaf) {
  const NetworkPlan plan = leaf_spine_plan(4, 4, 4, kEdge, kEdge);
  const NetworkGraph graph(plan);
  const NextHops hops(graph);
  EXPECT_EQ(next_of(plan, hops, "leaf0", 15), (Names{"spine0", "spine1", "spine2", "spine3"}));
  EXPECT_EQ(next_of(plan, hops, "leaf0", 3), Names{"h3"});
  EXPECT_EQ(next_of(plan, hops, "spine2", 15), Names{"leaf3"});
  EXPECT_EQ(next_of(plan, hops, "h0", 15), Names{"leaf0"});
  EXPECT_EQ(hops.switches_between(0, 15), 3U);
  EXPECT_EQ(hops.switches_between(0, 1), 1U);
}

TEST(NextHops, NW_9_WaysOfAFatTreeGoUpAndDown) {
  const NetworkPlan plan = fat_tree_plan(4, kEdge);
  const NetworkGraph graph(plan);
  const NextHops hops(graph);
  EXPECT_EQ(next_of(plan, hops, "edge0", 15), (Names{"agg0", "agg1"}));
  EXPECT_EQ(next_of(plan, hops, "edge0", 2), (Names{"agg0", "agg1"}));
  EXPECT_EQ(next_of(plan, hops, "agg1", 2), Names{"edge1"});
  EXPECT_EQ(next_of(plan, hops, "agg1", 15), (Names{"core2", "core3"}));
  EXPECT_EQ(next_of(plan, hops, "core2", 15), Names{"agg7"});
  EXPECT_EQ(hops.switches_between(0, 1), 1U);
  EXPECT_EQ(hops.switches_between(0, 2), 3U);
  EXPECT_EQ(hops.switches_between(0, 15), 5U);
}

TEST(NextHops, EveryHostIsReachedByEveryChoice) {
  const NetworkPlan plans[] = {direct_plan(kEdge), dumbbell_plan(4, kEdge, kEdge),
                               leaf_spine_plan(3, 2, 5, kEdge, kEdge), fat_tree_plan(4, kEdge)};
  for (const NetworkPlan& plan : plans) {
    const NetworkGraph graph(plan);
    const NextHops hops(graph);
    for (NodeId from = 0; from < plan.hosts; ++from) {
      for (NodeId to = 0; to < plan.hosts; ++to) {
        for (unsigned choice = 0; choice < 6 && from != to; ++choice) {
          NodeId node = from;
          for (unsigned hop = 0; node != to && hop < 7; ++hop) {
            const PortSet ports = hops.candidates(node, to);
            ASSERT_FALSE(ports.empty());
            ASSERT_TRUE(hop == 0 || !graph.is_host(node));
            node = graph.port(ports[choice % ports.size()]).to;
          }
          EXPECT_EQ(node, to);
        }
      }
    }
  }
}

TEST(NextHops, AHostWithTwoEdgesIsReachedByBothAndForwardsNothing) {
  const auto [plan, problem] = plan_of_edges({{"h0", "a", kEdge},
                                              {"h1", "a", kEdge},
                                              {"h1", "b", kEdge},
                                              {"a", "c", kEdge},
                                              {"b", "c", kEdge},
                                              {"h2", "b", kEdge}});
  ASSERT_EQ(problem + plan.complaint(), "");
  const NetworkGraph graph(plan);
  const NextHops hops(graph);
  EXPECT_EQ(next_of(plan, hops, "c", 1), (Names{"a", "b"}));
  EXPECT_EQ(next_of(plan, hops, "a", 1), Names{"h1"});
  EXPECT_EQ(next_of(plan, hops, "h1", 0), Names{"a"});
  EXPECT_EQ(next_of(plan, hops, "a", 2), Names{"c"});  // not through h1, which is as near
  EXPECT_EQ(next_of(plan, hops, "h0", 2), Names{"a"});
}

TEST(NetworkLinks, NW_6_ALostLinkIsNoCandidateFromDetectionOn) {
  const NetworkPlan plan = leaf_spine_plan(2, 2, 4, kEdge, kEdge);
  const NetworkGraph graph(plan);
  NextHops hops(graph);
  NetworkLinks links(hops, Time::from_us(100));
  const EdgeId edge = *plan.edge_between(*plan.find("leaf1"), *plan.find("spine2"));
  const Names all = {"spine0", "spine1", "spine2", "spine3"}, rest = {"spine0", "spine1", "spine3"};
  links.take_down(edge, Time::from_us(50));
  EXPECT_FALSE(links.is_up(edge));
  EXPECT_EQ(links.next_detection(), Time::from_us(150));
  EXPECT_FALSE(links.detect(Time::from_us(149)));
  EXPECT_EQ(next_of(plan, hops, "leaf1", 0), all);
  EXPECT_TRUE(links.detect(Time::from_us(150)));
  EXPECT_EQ(next_of(plan, hops, "leaf1", 0), rest);
  // The manager tells those that are further away as well: they would send into a dead end.
  EXPECT_EQ(next_of(plan, hops, "leaf0", 2), rest);
  EXPECT_EQ(next_of(plan, hops, "leaf0", 1), Names{"h1"});
  EXPECT_EQ(links.next_detection(), Time::never());
  links.bring_up(edge, Time::from_us(200));
  EXPECT_EQ(next_of(plan, hops, "leaf1", 0), all);
  EXPECT_EQ(next_of(plan, hops, "leaf0", 2), all);
}

TEST(NetworkLinks, NW_6_ALinkThatIsBackBeforeDetectionWasNeverMissed) {
  const NetworkPlan plan = dumbbell_plan(1, kEdge, kEdge);
  const NetworkGraph graph(plan);
  NextHops hops(graph);
  NetworkLinks links(hops, Time::from_us(100));
  links.take_down(2, Time{});
  links.take_down(2, Time::from_us(1));  // it is already
  links.bring_up(2, Time::from_us(99));
  EXPECT_TRUE(links.is_up(2));
  EXPECT_FALSE(links.detect(Time::from_us(100)));
  EXPECT_EQ(next_of(plan, hops, "left", 1), Names{"right"});
  links.take_down(2, Time::from_us(200));
  links.bring_up(1, Time::from_us(300));  // another one: the loss is noticed all the same
  EXPECT_TRUE(hops.candidates(*plan.find("left"), 1).empty());
  EXPECT_EQ(hops.switches_between(0, 1), 0U);
}

TEST(NetworkLinks, NW_6_TheLastEdgeToAHostMayBeLostToo) {
  const NetworkPlan plan = dumbbell_plan(2, kEdge, kEdge);
  const NetworkGraph graph(plan);
  NextHops hops(graph);
  NetworkLinks links(hops, Time{});
  links.take_down(0, Time{});
  EXPECT_TRUE(links.detect(Time{}));
  EXPECT_TRUE(hops.candidates(*plan.find("left"), 0).empty());
  EXPECT_TRUE(hops.candidates(0, 3).empty());
  EXPECT_EQ(next_of(plan, hops, "left", 1), Names{"h1"});
}

}  // namespace
}  // namespace flitwise::next_hops_test
