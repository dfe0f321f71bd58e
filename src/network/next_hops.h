// SPDX-License-Identifier: Apache-2.0
/// By which ports a node may send to a host: all that lie on shortest ways, as a central manager
/// fills them in, and what links that go down and come up change in them. [NW-6] [NW-9]
#pragma once

#include <cstdint>
#include <vector>

#include "network/network_graph.h"

namespace flitwise {

/// Hosts with one edge to the same switch share their sets, and equal sets are kept once: 1,024
/// hosts in a fat tree take less than 1 MB.
class NextHops {
 public:
  /// Fills the sets in. Ways never go through a host. Costs nodes x leaves x ports of a node.
  /// `graph` has to outlive it.
  explicit NextHops(const NetworkGraph& graph);

  /// Shortest ways without the edges that are not up, by edge; the same cost.
  void fill(const std::vector<bool>& is_up);

  /// The ports of `node` that are on a shortest way to the host, in the order of edges; empty: no
  /// way. A few loads. They hold until fill(). REQUIRES: node is not the host.
  PortSet candidates(NodeId node, NodeId host) const {
    const std::uint32_t group = groups_[host];
    if (leaf_of_[group] == node) {
      return {&access_[host], is_cut_[host] ? 0U : 1U};
    }
    const Set& set = sets_[table_[std::size_t{node} * leaf_of_.size() + group]];
    return {pool_.data() + set.first, set.count};
  }
  /// Hosts of one leaf have one number, from 0 on.
  std::uint32_t leaf_of_host(NodeId host) const { return groups_[host]; }
  /// Nodes on a shortest way, without the two ends; packets of a flow alone cross so many queues
  /// of switches. 0 also where there is no way. Walks the way.
  std::uint32_t switches_between(NodeId from, NodeId to) const;
  const NetworkGraph& graph() const { return graph_; }

 private:
  struct Set {
    std::uint32_t first = 0, count = 0;
  };
  std::uint32_t set_of(const std::vector<PortId>& ports, std::uint32_t first);

  const NetworkGraph& graph_;
  std::vector<std::uint32_t> groups_;  // by host
  std::vector<NodeId> leaf_of_;        // by group: the switch of its hosts, or the host
  std::vector<PortId> access_;         // by host: the port of its switch to it
  std::vector<bool> is_cut_;           // by host: that edge is down
  std::vector<std::uint32_t> table_;   // by node and group: a set
  std::vector<Set> sets_;              // the first one is empty
  std::vector<PortId> pool_;
};

/// Links that go down and come up, and when switches know. What is sent by a port whose link is
/// down is lost. [NW-6]
class NetworkLinks {
 public:
  /// `hops` has to outlive it.
  NetworkLinks(NextHops& hops, Time detect_delay);

  bool is_up(EdgeId edge) const { return is_up_[edge]; }
  void take_down(EdgeId edge, Time now);
  /// Sets of candidates have it again at once. One that comes up before its loss was noticed was
  /// never missed.
  void bring_up(EdgeId edge, Time now);
  /// When the next loss is noticed; never: none is under way.
  Time next_detection() const;
  /// Losses whose time has come are noticed: true where candidates are other ones now, which costs
  /// NextHops::fill().
  bool detect(Time now);

 private:
  struct Loss {
    EdgeId edge;
    Time at;
  };
  NextHops& hops_;
  const Time detect_delay_;
  std::vector<bool> is_up_, is_known_up_;  // by edge
  std::vector<Loss> losses_;               // not noticed yet, oldest first
};

}  // namespace flitwise
