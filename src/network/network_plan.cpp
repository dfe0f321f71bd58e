// SPDX-License-Identifier: Apache-2.0
#include "network/network_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "common/ranges.h"

namespace flitwise {
namespace {

constexpr double kMostGbps = 10'000;
constexpr Time kLongestDelay = Time::from_us(1'000'000);
constexpr std::size_t kMostSwitches = 4096, kMostEdges = 65'536;

// All nodes that can be reached from the first one, by edges.
std::vector<bool> reached_from_first(const NetworkPlan& plan) {
  std::vector<std::vector<NodeId>> next(plan.nodes());
  for (const PlannedEdge& edge : plan.edges) {
    next[edge.from].push_back(edge.to);
    next[edge.to].push_back(edge.from);
  }
  std::vector<bool> is_reached(plan.nodes());
  std::vector<NodeId> open = {0};
  is_reached[0] = true;
  while (!open.empty()) {
    const NodeId node = open.back();
    open.pop_back();
    if (plan.is_host(node) && node != 0) {
      continue;  // no way goes through a host
    }
    for (const NodeId other : next[node]) {
      if (!is_reached[other]) {
        is_reached[other] = true;
        open.push_back(other);
      }
    }
  }
  return is_reached;
}

std::string complaint_about_edge(const NetworkPlan& plan, EdgeId edge) {
  const PlannedEdge& one = plan.edges[edge];
  if (one.from >= plan.nodes() || one.to >= plan.nodes()) {
    return fmt::format("edge {} leads to node {}; expected 0 to {}", edge,
                       std::max(one.from, one.to), plan.nodes() - 1);
  }
  const std::string name = plan.name_of_edge(edge);
  if (one.from == one.to) {
    return fmt::format("edge {} joins a node to itself; expected two nodes", name);
  }
  if (!(one.rate.gbps > 0 && one.rate.gbps <= kMostGbps)) {
    return fmt::format("edge {} has {} Gb/s; expected more than 0, up to {}", name, one.rate.gbps,
                       kMostGbps);
  }
  if (one.rate.delay < Time{} || one.rate.delay > kLongestDelay) {
    return fmt::format("edge {} has a delay of {} ns; expected 0 to {}", name, one.rate.delay.ns(),
                       kLongestDelay.ns());
  }
  return {};
}

std::vector<std::string> numbered(const char* name, std::uint32_t count) {
  std::vector<std::string> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    all.push_back(fmt::format("{}{}", name, i));
  }
  return all;
}

template <class T>
void append(std::vector<T>& to, std::vector<T> more) {
  to.insert(to.end(), more.begin(), more.end());
}

// The number behind "h"; none: the name is that of a switch.
std::optional<std::uint32_t> host_of(const std::string& name) {
  std::uint32_t number = 0;
  const char* const end = name.data() + name.size();
  const bool is_plain = name.size() == 2 || (name.size() > 2 && name[1] != '0');
  if (!is_plain || name[0] != 'h') {
    return std::nullopt;
  }
  const auto read = std::from_chars(name.data() + 1, end, number);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string NetworkPlan::name_of(NodeId node) const {
  return is_host(node) ? fmt::format("h{}", node) : switches[node - hosts];
}

std::string NetworkPlan::name_of_edge(EdgeId edge) const {
  return name_of(edges[edge].from) + "-" + name_of(edges[edge].to);
}

std::optional<NodeId> NetworkPlan::find(const std::string& name) const {
  if (const auto host = host_of(name); host && *host < hosts) {
    return host;
  }
  const auto found = std::find(switches.begin(), switches.end(), name);
  return found == switches.end()
             ? std::nullopt
             : std::optional(hosts + static_cast<NodeId>(found - switches.begin()));
}

std::optional<EdgeId> NetworkPlan::edge_between(NodeId a, NodeId b) const {
  const auto found = find_if(edges, [&](const PlannedEdge& edge) {
    return (edge.from == a && edge.to == b) || (edge.from == b && edge.to == a);
  });
  return found == edges.end() ? std::nullopt
                              : std::optional(static_cast<EdgeId>(found - edges.begin()));
}

std::string NetworkPlan::complaint() const {
  if (hosts < 2 || hosts > kMostNetworkHosts) {
    return fmt::format("{} hosts seen; expected 2 to {}", hosts, kMostNetworkHosts);
  }
  if (switches.size() > kMostSwitches || edges.size() > kMostEdges) {
    return fmt::format("{} switches and {} edges seen; expected {} and {} at most", switches.size(),
                       edges.size(), kMostSwitches, kMostEdges);
  }
  for (EdgeId edge = 0; edge < edges.size(); ++edge) {
    if (std::string text = complaint_about_edge(*this, edge); !text.empty()) {
      return text;
    }
  }
  const std::vector<bool> is_reached = reached_from_first(*this);
  for (NodeId node = 0; node < nodes(); ++node) {
    if (!is_reached[node]) {
      return fmt::format("no way leads from {} to {}; expected one that goes through no other host",
                         name_of(0), name_of(node));
    }
  }
  return {};
}

NetworkPlan direct_plan(EdgeRate rate) {
  return {2, {}, {{0, 1, rate}}};
}

NetworkPlan dumbbell_plan(std::uint32_t hosts_a_side, EdgeRate host, EdgeRate middle) {
  NetworkPlan plan{2 * hosts_a_side, {"left", "right"}, {}};
  for (NodeId h = 0; h < plan.hosts; ++h) {
    plan.edges.push_back({h, plan.hosts + (h < hosts_a_side ? 0 : 1), host});
  }
  plan.edges.push_back({plan.hosts, plan.hosts + 1, middle});
  return plan;
}

NetworkPlan leaf_spine_plan(std::uint32_t leaves, std::uint32_t hosts_a_leaf, std::uint32_t spines,
                            EdgeRate host, EdgeRate up) {
  NetworkPlan plan{leaves * hosts_a_leaf, numbered("leaf", leaves), {}};
  append(plan.switches, numbered("spine", spines));
  for (NodeId h = 0; h < plan.hosts; ++h) {
    plan.edges.push_back({h, plan.hosts + h / hosts_a_leaf, host});
  }
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
    for (std::uint32_t spine = 0; spine < spines; ++spine) {
      plan.edges.push_back({plan.hosts + leaf, plan.hosts + leaves + spine, up});
    }
  }
  return plan;
}

NetworkPlan fat_tree_plan(std::uint32_t k, EdgeRate rate) {
  const std::uint32_t half = k / 2;
  NetworkPlan plan{k * half * half, numbered("edge", k * half), {}};
  append(plan.switches, numbered("agg", k * half));
  append(plan.switches, numbered("core", half * half));
  const NodeId edge0 = plan.hosts, agg0 = edge0 + k * half, core0 = agg0 + k * half;
  for (NodeId h = 0; h < plan.hosts; ++h) {
    plan.edges.push_back({h, edge0 + h / half, rate});
  }
  for (std::uint32_t at = 0; at < k * half; ++at) {  // a place in a pod, pod by pod
    for (std::uint32_t i = 0; i < half; ++i) {
      plan.edges.push_back({edge0 + at, agg0 + at / half * half + i, rate});
    }
  }
  for (std::uint32_t at = 0; at < k * half; ++at) {
    for (std::uint32_t i = 0; i < half; ++i) {
      plan.edges.push_back({agg0 + at, core0 + at % half * half + i, rate});
    }
  }
  return plan;
}

std::pair<NetworkPlan, std::string> plan_of_edges(const std::vector<NamedEdge>& edges) {
  NetworkPlan plan;
  for (const NamedEdge& edge : edges) {
    for (const std::string& name : {edge.from, edge.to}) {
      if (const auto host = host_of(name)) {
        if (*host >= kMostNetworkHosts) {
          return {plan,
                  fmt::format("host {} seen; expected h0 to h{}", name, kMostNetworkHosts - 1)};
        }
        plan.hosts = std::max(plan.hosts, *host + 1);
      } else if (!contains(plan.switches, name)) {
        plan.switches.push_back(name);
      }
    }
  }
  std::vector<bool> is_there(plan.hosts);
  for (const NamedEdge& edge : edges) {
    const NodeId from = *plan.find(edge.from), to = *plan.find(edge.to);
    for (const NodeId node : {from, to}) {
      if (plan.is_host(node)) {
        is_there[node] = true;
      }
    }
    plan.edges.push_back({from, to, edge.rate});
  }
  const auto gap = std::find(is_there.begin(), is_there.end(), false);
  return {plan,
          gap == is_there.end()
              ? ""
              : fmt::format("h{} has no edge, and h{} has; expected hosts from h0 on without gaps",
                            gap - is_there.begin(), plan.hosts - 1)};
}

}  // namespace flitwise
