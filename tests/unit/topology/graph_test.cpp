// SPDX-License-Identifier: Apache-2.0
// Nodes and edges: what `direct` and `switch` expand into, trees, and what makes no machine.
#include "topology/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace flitwise::graph_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> names(const Graph& graph, const std::vector<NodeIndex>& nodes) {
  std::vector<std::string> all;
  for (const NodeIndex node : nodes) {
    all.push_back(graph[node].name);
  }
  return all;
}

std::vector<std::string> links(const Graph& graph) {
  std::vector<std::string> all;
  for (const NodeIndex node : graph.all()) {
    if (graph[node].upper) {
      all.push_back(graph[node].link);
    }
  }
  return all;
}

Graph graph_of(const std::string& system) {
  return Graph(config_of("system: " + system).system);
}

TEST(Graph, DirectIsOneRootPortForEachDevice) {
  const Graph graph = graph_of("{devices: 2}");
  EXPECT_THAT(names(graph, graph.root_ports()), ElementsAre("rp0", "rp1"));
  EXPECT_THAT(names(graph, graph.devices()), ElementsAre("ep0", "ep1"));
  EXPECT_THAT(links(graph), ElementsAre("rp0-ep0", "rp1-ep1"));
  EXPECT_FALSE(graph.has_switch_in_tree(graph.devices()[0]));
}

TEST(Graph, SwitchIsOneAboveAllDevices) {
  const Graph graph = graph_of("{topology: switch, devices: 2}");
  EXPECT_THAT(names(graph, graph.root_ports()), ElementsAre("rp0"));
  EXPECT_THAT(links(graph), ElementsAre("rp0-sw0", "sw0-ep0", "sw0-ep1"));
  EXPECT_TRUE(graph.has_switch_in_tree(graph.root_ports()[0]));
}

TEST(Graph, EachHostHasTheSameBelowIt) {
  const Graph graph = graph_of("{hosts: 2, devices: 2}");
  EXPECT_THAT(names(graph, graph.devices()), ElementsAre("ep0", "ep1", "h1.ep0", "h1.ep1"));
  EXPECT_THAT(links(graph), ElementsAre("rp0-ep0", "rp1-ep1", "h1.rp0-h1.ep0", "h1.rp1-h1.ep1"));
  EXPECT_EQ(graph[graph.devices()[2]].host, 1U);
}

const char* const kTree =
    "{topology: graph, nodes: [{name: sw0, kind: device}, {name: top, kind: switch},"
    " {name: mid, kind: switch}, {name: ep-7, kind: device}, {name: 5, kind: device}],"
    " edges: [{from: rp3, to: top}, {from: top, to: ep-7}, {from: top, to: mid},"
    " {from: mid, to: 5}, {from: rp0, to: sw0}]}";

TEST(Graph, NamesAreLabels) {
  const Graph graph = graph_of(kTree);
  const NodeIndex device = *graph.find("sw0");
  EXPECT_TRUE(graph.is(device, NodeKind::kDevice));
  EXPECT_THAT(names(graph, graph.root_ports()), ElementsAre("rp0", "rp3"));
  EXPECT_THAT(names(graph, graph.devices()), ElementsAre("sw0", "ep-7", "5"));
  EXPECT_THAT(links(graph), ElementsAre("rp0-sw0", "rp3-top", "top-ep-7", "top-mid", "mid-5"));
}

std::vector<std::string> positions(const Graph& graph) {
  std::vector<std::string> all;
  for (const NodeIndex node : graph.all()) {
    all.push_back(graph[node].position);
  }
  return all;
}

TEST(Graph, PositionsAreTheNamesOfDefaultTopologies) {
  EXPECT_THAT(positions(graph_of(kTree)),
              ElementsAre("rp0", "ep0", "rp1", "sw0", "ep1", "sw1", "ep2"));
  for (const std::string topology : {"direct", "switch"}) {
    const Graph graph = graph_of("{hosts: 2, devices: 3, topology: " + topology + "}");
    EXPECT_THAT(positions(graph), testing::ElementsAreArray(names(graph, graph.all())));
  }
}

TEST(Graph, TreesAreAsked) {
  const Graph graph = graph_of(kTree);
  const NodeIndex leaf = *graph.find("5"), top = *graph.find("top"), mid = *graph.find("mid");
  EXPECT_THAT(graph.switches_above(leaf), ElementsAre(mid, top));
  EXPECT_EQ(graph[graph.root_of(leaf)].name, "rp3");
  EXPECT_TRUE(graph.is_at_or_below(leaf, top));
  EXPECT_TRUE(graph.is_at_or_below(top, top));
  EXPECT_FALSE(graph.is_at_or_below(top, mid));
  EXPECT_FALSE(graph.is_at_or_below(*graph.find("sw0"), top));
  EXPECT_TRUE(graph.has_switch_in_tree(leaf));
  EXPECT_FALSE(graph.has_switch_in_tree(*graph.find("sw0")));
}

TEST(Graph, RootPortsOfOtherHostsHaveAPrefix) {
  const Graph graph = graph_of(
      "{topology: graph, hosts: 2, nodes: [{name: a, kind: device}, {name: b, kind: device},"
      " {name: front, kind: root_port, host: 1}],"
      " edges: [{from: h1.front, to: b}, {from: rp0, to: a}]}");
  EXPECT_THAT(links(graph), ElementsAre("rp0-a", "h1.front-b"));
  EXPECT_EQ(graph[*graph.find("b")].host, 1U);
}

/// The problems of nodes and edges on lines of their own: nodes on line 4, edges from line 6 on.
std::vector<std::string> flaws(const std::string& nodes, const std::vector<std::string>& edges,
                               const std::string& hosts = "1") {
  std::string yaml =
      "system:\n  topology: graph\n  hosts: " + hosts + "\n  nodes: [" + nodes + "]\n  edges:\n";
  for (const std::string& edge : edges) {
    yaml += "    - {" + edge + "}\n";
  }
  return problems_of(yaml);
}

const std::string kSw = "{name: sw, kind: switch}, ";
const std::string kDev = "{name: dev, kind: device}";

TEST(GraphFlaws, UnknownNode) {
  EXPECT_THAT(flaws(kSw + kDev, {"from: rp0, to: sw", "from: swi, to: dev"}),
              ElementsAre(AllOf(StartsWith("c.yaml:7:14: system.edges[1].from: unknown node 'swi'"),
                                HasSubstr("nearest name 'sw'"))));
}

TEST(GraphFlaws, ARootPortOfAnotherHostHasItsHostInFront) {
  const std::string port = "{name: x, kind: root_port, host: ";
  EXPECT_THAT(flaws(port + "1}, " + kDev, {"from: x, to: dev"}, "2"),
              ElementsAre(HasSubstr("do you mean 'h1.x'?")));
  EXPECT_THAT(
      flaws(port + "3}, " + kDev, {"from: rp0, to: dev"}),
      ElementsAre(HasSubstr("host 3; expected a number below system.hosts: there is 1 host")));
}

TEST(GraphFlaws, TwoUppers) {
  EXPECT_THAT(flaws(kDev, {"from: rp0, to: dev", "from: rp1, to: dev"}),
              ElementsAre(AllOf(StartsWith("c.yaml:7:23: system.edges[1].to: 'dev' is below 'rp0'"),
                                HasSubstr("expected one upper node"))));
}

TEST(GraphFlaws, Cycle) {
  EXPECT_THAT(flaws("{name: a, kind: switch}, {name: b, kind: switch}",
                    {"from: a, to: b", "from: b, to: a"}),
              ElementsAre(StartsWith("c.yaml:7:7: system.edges[1]: a cycle: 'a' is above 'b'")));
}

TEST(GraphFlaws, NodeWithoutUpperAndSwitchWithoutLower) {
  EXPECT_THAT(
      flaws(kSw + kDev + ", {name: on, kind: device}", {"from: rp0, to: sw", "from: rp1, to: dev"}),
      ElementsAre(StartsWith("c.yaml:4:18: system.nodes[0].name: nothing is below 'sw'"),
                  StartsWith("c.yaml:4:71: system.nodes[2].name: nothing is above 'on'")));
}

TEST(GraphFlaws, KindsAndNames) {
  EXPECT_THAT(
      flaws("{name: a, kind: swich}, {name: b, kind: nic_switch}, {name: a b, kind: device},"
            " {kind: device}, {name: c, kind: device, port: 1}",
            {}),
      ElementsAre(AllOf(HasSubstr("unknown kind 'swich'"), HasSubstr("nearest kind 'switch'")),
                  HasSubstr("kind 'nic_switch' is not modelled yet"),
                  HasSubstr("name 'a b'; expected a node such as"), HasSubstr("no 'name'"),
                  HasSubstr("unknown key 'port'"), HasSubstr("system.edges")));
}

TEST(GraphFlaws, NameTwice) {
  EXPECT_THAT(flaws(kDev + ", " + kDev, {"from: rp0, to: dev"}),
              ElementsAre(StartsWith("c.yaml:4:45: system.nodes[1].name: a second 'dev'")));
  EXPECT_THAT(flaws("{name: h1, kind: device}", {"from: rp0, to: h1"}),
              ElementsAre(HasSubstr("a second 'h1'")));
}

TEST(GraphFlaws, NamesOfPartsOfAHost) {
  for (const std::string part :
       {"memory", "memory_port", "host_bridge", "iommu0", "iommu_driver", "home", "network"}) {
    EXPECT_THAT(flaws("{name: " + part + ", kind: device}", {"from: rp0, to: " + part}),
                ElementsAre(HasSubstr("a second '" + part + "'")));
  }
  EXPECT_THAT(
      flaws(kDev + ", {name: memory, kind: root_port, host: 1}", {"from: h1.memory, to: dev"}, "2"),
      Contains(HasSubstr("a second 'h1.memory'")));
  EXPECT_THAT(flaws("{name: memory0, kind: device}", {"from: rp0, to: memory0"}), IsEmpty());
}

TEST(GraphFlaws, LinksThatAreSpelledAlike) {
  EXPECT_THAT(
      flaws("{name: a, kind: switch}, {name: a-b, kind: switch}, {name: c, kind: device},"
            " {name: b-c, kind: device}",
            {"from: rp0, to: a", "from: rp1, to: a-b", "from: a, to: b-c", "from: a-b, to: c"}),
      ElementsAre(StartsWith("c.yaml:9:7: system.edges[3]: a second 'a-b-c'")));
}

TEST(GraphFlaws, HostsOutOfRange) {
  EXPECT_THAT(flaws(kDev, {"from: h2.rp0, to: dev"}, "2"),
              ElementsAre(HasSubstr("'h2.rp0' belongs to host h2; expected system.hosts of at "
                                    "least 3")));
  EXPECT_THAT(flaws(kDev, {"from: rp0, to: dev"}, "2"),
              ElementsAre(StartsWith("c.yaml:3:10: system.hosts: host h1 has no device")));
  EXPECT_THAT(flaws(kDev, {"from: rp0, to: dev"}, "17"),
              ElementsAre(StartsWith("c.yaml:3:10: system.hosts: 17; expected 1..16")));
}

// Bus 0, and below each of 51 root ports five more: two a switch, one the device. Hosts count
// apart. SwitchTree.SoftwareNumbersAllBuses boots the machine of 256.
TEST(GraphFlaws, MoreBusesThanNumbers) {
  std::string nodes;
  std::vector<std::string> edges;
  for (int i = 0; i < 51; ++i) {
    const std::string n = std::to_string(i);
    nodes += "{name: a" + n + ", kind: switch}, {name: b" + n + ", kind: switch}, {name: d" + n +
             ", kind: device}, ";
    edges.insert(edges.end(), {"from: rp" + n + ", to: a" + n, "from: a" + n + ", to: b" + n,
                               "from: b" + n + ", to: d" + n});
  }
  EXPECT_THAT(flaws(nodes, edges), IsEmpty());
  edges.emplace_back("from: rp60, to: dev");
  EXPECT_THAT(
      flaws(nodes + kDev, edges),
      ElementsAre(AllOf(StartsWith("c.yaml:4:"),
                        HasSubstr("system.nodes[153]: more than 256 bus numbers of host h0"),
                        HasSubstr("expected up to 256: two a switch, one a device"))));
  edges.back() = "from: h1.rp0, to: dev";
  EXPECT_THAT(flaws(nodes + kDev, edges, "2"), IsEmpty());
}

TEST(GraphFlaws, LinksThatCannotBe) {
  EXPECT_THAT(flaws(kDev + ", {name: e, kind: device}", {"from: rp0, to: dev", "from: dev, to: e"}),
              ElementsAre(HasSubstr("'dev' is a device; expected a root port or a switch")));
  EXPECT_THAT(flaws(kDev + ", {name: e, kind: device}", {"from: rp0, to: dev", "from: rp0, to: e"}),
              ElementsAre(HasSubstr("a second link of root port 'rp0'")));
  EXPECT_THAT(flaws(kSw + kDev, {"from: rp0, to: sw", "from: sw, to: rp1"}),
              ElementsAre(HasSubstr("'rp1' is a root port; expected a switch or a device")));
}

TEST(GraphFlaws, NodesOfAnotherTopology) {
  EXPECT_THAT(problems_of("system: {nodes: [{name: a, kind: device}]}"),
              ElementsAre(HasSubstr("system.nodes: nodes of one's own; expected system.topology "
                                    "graph")));
}

TEST(GraphInstances, OverrideNodesLinksAndHosts) {
  const Config config = config_of(
      "system: {topology: graph, hosts: 2,"
      " nodes: [{name: a, kind: device}, {name: b, kind: device}],"
      " edges: [{from: rp0, to: a}, {from: h1.rp0, to: b}],"
      " instances: {b: {device.dhi.bits: 5}, h1.rp0-b: {link.mps: 128B}, h1: {iommu.walkers: 2}}}");
  EXPECT_EQ(for_instance(config, "b").device.dhi.bits, 5U);
  EXPECT_EQ(for_instance(config, "h1.rp0-b").link.mps, 128U);
  EXPECT_EQ(for_instance(config, "h1").iommu.walkers, 2U);
}

TEST(GraphInstances, EgressNamesNodes) {
  const std::string tree = "topology: switch, devices: 2";
  EXPECT_THAT(config_of("system: {" + tree + ", acs: {egress: [ep1]}}").system.acs.egress,
              ElementsAre("ep1"));
  EXPECT_THAT(problems_of("system: {" + tree + ", acs: {egress: [ep2]}}"),
              ElementsAre(AllOf(HasSubstr("system.acs.egress: unknown node 'ep2'"),
                                HasSubstr("nearest name"))));
  EXPECT_THAT(
      problems_of("system: {" + tree + ", acs: {egress: [rp0]}}"),
      ElementsAre(HasSubstr("a root port, which is no peer: 'rp0'; expected the name of a")));
  EXPECT_THAT(problems_of("system: {" + tree + ", instances: {sw0: {system.acs.egress: [gpu]}}}"),
              ElementsAre(HasSubstr("system.instances.sw0.system.acs.egress: unknown node 'gpu'")));
}

TEST(GraphInstances, MayNotOverrideWhatTheyHaveNoPartIn) {
  EXPECT_THAT(problems_of("system: {topology: graph, nodes: [{name: a, kind: device}],"
                          " edges: [{from: rp0, to: a}], instances: {rp0-a: {iommu.walkers: 2}}}"),
              ElementsAre(HasSubstr("'iommu.walkers' has no part in rp0-a")));
}

}  // namespace
}  // namespace flitwise::graph_test
