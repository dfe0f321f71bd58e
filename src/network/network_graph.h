// SPDX-License-Identifier: Apache-2.0
/// A network in vectors, for the way of a packet: nodes, their ports, and where these lead. [NW-1]
#pragma once

#include <cstdint>
#include <vector>

#include "network/network_plan.h"

namespace flitwise {

/// One direction of an edge, at the node that sends: edge e has the ports 2e, at its first end, and
/// 2e + 1, at the other one.
using PortId = std::uint32_t;
inline constexpr PortId kNoNetworkPort = ~PortId{0};

/// Ports that stand one behind the other; holds as long as where they come from.
class PortSet {
 public:
  using iterator = const PortId*;
  using const_iterator = iterator;

  PortSet() = default;
  PortSet(const PortId* first, std::uint32_t count) : first_(first), count_(count) {}
  const PortId* begin() const { return first_; }
  const PortId* end() const { return first_ + count_; }
  std::uint32_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  PortId operator[](std::uint32_t place) const { return first_[place]; }

 private:
  const PortId* first_ = nullptr;
  std::uint32_t count_ = 0;
};

/// Each question is one or two loads.
class NetworkGraph {
 public:
  struct Port {
    NodeId from = 0, to = 0;
    EdgeRate rate{};
  };

  /// REQUIRES: plan.complaint() is empty.
  explicit NetworkGraph(const NetworkPlan& plan);

  std::uint32_t hosts() const { return hosts_; }
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(first_.size() - 1); }
  std::uint32_t ports() const { return static_cast<std::uint32_t>(ports_.size()); }
  std::uint32_t edges() const { return ports() / 2; }
  bool is_host(NodeId node) const { return node < hosts_; }
  const Port& port(PortId port) const { return ports_[port]; }
  /// The other end of the edge, which sends the other way.
  static constexpr PortId peer(PortId port) { return port ^ 1U; }
  static constexpr EdgeId edge_of(PortId port) { return port / 2; }
  /// All ports of a node, in the order of edges.
  PortSet ports_of(NodeId node) const {
    return {by_node_.data() + first_[node], first_[node + 1] - first_[node]};
  }
  /// Its place among the ports of its node.
  std::uint32_t place_of(PortId port) const { return places_[port]; }
  /// Where the ports of the node begin in an array that has them all, node by node.
  std::uint32_t first_of(NodeId node) const { return first_[node]; }

 private:
  std::uint32_t hosts_ = 0;
  std::vector<Port> ports_;
  std::vector<std::uint32_t> first_;   // by node, and the end
  std::vector<PortId> by_node_;        // ports, node by node
  std::vector<std::uint32_t> places_;  // by port
};

}  // namespace flitwise
