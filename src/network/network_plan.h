// SPDX-License-Identifier: Apache-2.0
/// Hosts, switches and the edges between them, as they are asked for: by a preset or edge by edge.
/// [NW-1]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flitwise/time.h"

namespace flitwise {

/// Hosts are 0 to hosts - 1, switches come behind them.
using NodeId = std::uint32_t;
using EdgeId = std::uint32_t;

inline constexpr std::uint32_t kMostNetworkHosts = 1024;

/// Both directions of an edge alike.
struct EdgeRate {
  double gbps = 100;              ///< above 0
  Time delay = Time::from_us(1);  ///< from the last bit out to where the next node has decided
};

struct PlannedEdge {
  NodeId from = 0, to = 0;
  EdgeRate rate{};
};

/// A value to build and change: take a preset, slow an edge down, make a NetworkGraph of it.
struct NetworkPlan {
  std::uint32_t hosts = 0;
  std::vector<std::string> switches;  ///< their names
  std::vector<PlannedEdge> edges;

  std::uint32_t nodes() const { return hosts + static_cast<std::uint32_t>(switches.size()); }
  bool is_host(NodeId node) const { return node < hosts; }
  std::string name_of(NodeId node) const;       ///< "h3", or that of the switch
  std::string name_of_edge(EdgeId edge) const;  ///< "leaf0-spine2"
  std::optional<NodeId> find(const std::string& name) const;
  /// The first one between the two, in either direction. Scans.
  std::optional<EdgeId> edge_between(NodeId a, NodeId b) const;
  /// What keeps it from being a network, as a sentence; empty: nothing. No host, too many, a node
  /// without an edge, an edge to itself or to no node, a rate or delay out of range, two nodes
  /// without a way between them.
  std::string complaint() const;
};

/// Two hosts and a cable.
NetworkPlan direct_plan(EdgeRate rate);
/// Two switches, "left" and "right", so many hosts at each: 0 to n - 1 are on the left.
NetworkPlan dumbbell_plan(std::uint32_t hosts_a_side, EdgeRate host, EdgeRate middle);
/// Each leaf has its hosts, one behind the other, and an edge to each spine. Host h is at leaf
/// h / hosts_a_leaf. "leaf0", "spine0".
NetworkPlan leaf_spine_plan(std::uint32_t leaves, std::uint32_t hosts_a_leaf, std::uint32_t spines,
                            EdgeRate host, EdgeRate up);
/// k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, k^3/4 hosts. "edge0",
/// "agg0", "core0". REQUIRES: k is even, and at least 2.
NetworkPlan fat_tree_plan(std::uint32_t k, EdgeRate rate);

/// Edges by the names of their ends, such as {"h0", "s1"}. Hosts are those called "h" and a number;
/// all others are switches, in the order in which they come. Hosts have to be h0, h1 ... without
/// gaps: the second is what is wrong with the names; empty: nothing.
struct NamedEdge {
  std::string from, to;
  EdgeRate rate{};
};
std::pair<NetworkPlan, std::string> plan_of_edges(const std::vector<NamedEdge>& edges);

}  // namespace flitwise
