// SPDX-License-Identifier: Apache-2.0
#include "network/next_hops.h"

#include <algorithm>

#include "common/ranges.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kFar = ~std::uint32_t{0};

// The switch that a host with one edge is at; else the host itself.
NodeId switch_of_host(const NetworkGraph& graph, NodeId host) {
  const PortSet ports = graph.ports_of(host);
  const NodeId other = graph.port(ports[0]).to;
  return ports.size() == 1 && !graph.is_host(other) ? other : host;
}

// How many edges lie between each node and `target`, with none of them through another host.
std::vector<std::uint32_t> distances_to(const NetworkGraph& graph, NodeId target,
                                        const std::vector<bool>& is_up) {
  std::vector<std::uint32_t> distance(graph.nodes(), kFar);
  std::vector<NodeId> order = {target};
  distance[target] = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const NodeId node = order[i];
    if (graph.is_host(node) && node != target) {
      continue;
    }
    for (const PortId port : graph.ports_of(node)) {
      const NodeId other = graph.port(port).to;
      if (is_up[NetworkGraph::edge_of(port)] && distance[other] == kFar) {
        distance[other] = distance[node] + 1;
        order.push_back(other);
      }
    }
  }
  return distance;
}

}  // namespace

NextHops::NextHops(const NetworkGraph& graph)
    : graph_(graph),
      groups_(graph.hosts()),
      access_(graph.hosts(), kNoNetworkPort),
      is_cut_(graph.hosts()) {
  std::vector<std::uint32_t> group_at(graph.nodes(), kFar);
  for (NodeId host = 0; host < graph.hosts(); ++host) {
    const NodeId leaf = switch_of_host(graph, host);
    if (group_at[leaf] == kFar) {
      group_at[leaf] = static_cast<std::uint32_t>(leaf_of_.size());
      leaf_of_.push_back(leaf);
    }
    groups_[host] = group_at[leaf];
    access_[host] = NetworkGraph::peer(graph.ports_of(host)[0]);
  }
  fill(std::vector<bool>(graph.edges(), true));
}

void NextHops::fill(const std::vector<bool>& is_up) {
  table_.assign(graph_.nodes() * leaf_of_.size(), 0);
  sets_.assign(1, Set{});
  pool_.clear();
  for (NodeId host = 0; host < graph_.hosts(); ++host) {
    is_cut_[host] = !is_up[NetworkGraph::edge_of(access_[host])];
  }
  std::vector<std::vector<std::uint32_t>> distances;  // by group
  for (const NodeId leaf : leaf_of_) {
    distances.push_back(distances_to(graph_, leaf, is_up));
  }
  std::vector<PortId> ports;
  for (NodeId node = 0; node < graph_.nodes(); ++node) {
    const auto first_set = static_cast<std::uint32_t>(sets_.size());
    for (std::size_t group = 0; group < leaf_of_.size(); ++group) {
      const std::vector<std::uint32_t>& distance = distances[group];
      ports.clear();
      for (const PortId port : graph_.ports_of(node)) {
        const NodeId other = graph_.port(port).to;
        const bool is_way = !graph_.is_host(other) || other == leaf_of_[group];
        if (is_up[NetworkGraph::edge_of(port)] && is_way && distance[node] != kFar &&
            distance[other] + 1 == distance[node]) {
          ports.push_back(port);
        }
      }
      table_[node * leaf_of_.size() + group] = set_of(ports, first_set);
    }
  }
}

// Only sets of the same node, from `first` on, can be equal.
std::uint32_t NextHops::set_of(const std::vector<PortId>& ports, std::uint32_t first) {
  if (ports.empty()) {
    return 0;
  }
  for (std::uint32_t set = first; set < sets_.size(); ++set) {
    const PortId* const own = pool_.data() + sets_[set].first;
    if (std::equal(own, own + sets_[set].count, ports.begin(), ports.end())) {
      return set;
    }
  }
  sets_.push_back(
      {static_cast<std::uint32_t>(pool_.size()), static_cast<std::uint32_t>(ports.size())});
  pool_.insert(pool_.end(), ports.begin(), ports.end());
  return static_cast<std::uint32_t>(sets_.size() - 1);
}

std::uint32_t NextHops::switches_between(NodeId from, NodeId to) const {
  std::uint32_t count = 0;
  for (NodeId node = from; node != to; ++count) {
    const PortSet ports = candidates(node, to);
    if (ports.empty()) {
      return 0;
    }
    node = graph_.port(ports[0]).to;
  }
  return count - 1;
}

NetworkLinks::NetworkLinks(NextHops& hops, Time detect_delay)
    : hops_(hops),
      detect_delay_(detect_delay),
      is_up_(hops.graph().edges(), true),
      is_known_up_(is_up_) {}

void NetworkLinks::take_down(EdgeId edge, Time now) {
  if (is_up_[edge]) {
    is_up_[edge] = false;
    losses_.push_back({edge, now + detect_delay_});
  }
}

void NetworkLinks::bring_up(EdgeId edge, Time now) {
  detect(now);
  is_up_[edge] = true;
  losses_ = those(losses_, [edge](const Loss& one) { return one.edge != edge; });
  if (!is_known_up_[edge]) {
    is_known_up_[edge] = true;
    hops_.fill(is_known_up_);
  }
}

Time NetworkLinks::next_detection() const {
  return losses_.empty() ? Time::never() : losses_.front().at;
}

bool NetworkLinks::detect(Time now) {
  if (next_detection() > now) {
    return false;
  }
  while (next_detection() <= now) {
    is_known_up_[losses_.front().edge] = false;
    losses_.erase(losses_.begin());
  }
  hops_.fill(is_known_up_);
  return true;
}

}  // namespace flitwise
