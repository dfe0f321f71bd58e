// SPDX-License-Identifier: Apache-2.0
// Nodes and edges of each topology, and the tree below each root port.
#include "topology/graph.h"

#include <algorithm>

#include "topology/node_table.h"

namespace flitwise {
namespace {

std::string numbered(unsigned host, const char* kind, unsigned index) {
  return host_prefix(host) + kind + std::to_string(index);
}

}  // namespace

std::string host_name(unsigned host) {
  return "h" + std::to_string(host);
}

std::string host_prefix(unsigned host) {
  return host == 0 ? "" : host_name(host) + ".";
}

NodeTable::NodeTable(const SystemConfig& system) {
  if (system.topology == Topology::kGraph) {
    for (const NodeConfig& node : system.nodes) {
      const bool is_root_port = node.kind == NodeKind::kRootPort;
      add(is_root_port ? host_prefix(node.host) + node.name : node.name, node.kind, node.host);
    }
    edges_ = system.edges;
  }
  of_user_ = nodes_.size();
  for (unsigned host = 0; host < kMostHosts; ++host) {
    for (unsigned port = 0; port < kMostRootPorts; ++port) {
      add(numbered(host, "rp", port), NodeKind::kRootPort, host);
    }
  }
  if (system.topology != Topology::kGraph) {
    expand(system);
  }
}

// Each host has the same below it.
void NodeTable::expand(const SystemConfig& system) {
  const bool has_switch = system.topology == Topology::kSwitch;
  for (unsigned host = 0; host < system.hosts; ++host) {
    const std::string sw = numbered(host, "sw", 0);
    if (has_switch) {
      add(sw, NodeKind::kSwitch, host);
      edges_.push_back({numbered(host, "rp", 0), sw});
    }
    for (unsigned i = 0; i < system.devices; ++i) {
      const std::string device = numbered(host, "ep", i);
      add(device, NodeKind::kDevice, host);
      edges_.push_back({has_switch ? sw : numbered(host, "rp", i), device});
    }
  }
}

void NodeTable::add(const std::string& name, NodeKind kind, unsigned host) {
  Node node;
  node.name = name;
  node.kind = kind;
  node.host = host;
  by_name_.emplace(name, nodes_.size());
  nodes_.push_back(std::move(node));
}

std::optional<NodeIndex> NodeTable::find(const std::string& name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? std::nullopt : std::optional<NodeIndex>(at->second);
}

Graph::Graph(const SystemConfig& system) : hosts_(system.hosts) {
  const NodeTable table(system);
  nodes_ = table.nodes();
  for (const EdgeConfig& edge : table.edges()) {
    const NodeIndex upper = *table.find(edge.from);
    const NodeIndex lower = *table.find(edge.to);
    nodes_[upper].lower.push_back(lower);
    nodes_[lower].upper = upper;
    nodes_[lower].link = nodes_[upper].name + "-" + nodes_[lower].name;
  }
  for (unsigned host = 0; host < hosts_; ++host) {
    for (NodeIndex i = 0; i < nodes_.size(); ++i) {
      if (is(i, NodeKind::kRootPort) && nodes_[i].host == host && !nodes_[i].lower.empty()) {
        root_ports_.push_back(i);
        visit(i, host);
      }
    }
  }
}

void Graph::visit(NodeIndex node, unsigned host) {
  nodes_[node].host = host;
  all_.push_back(node);
  if (is(node, NodeKind::kDevice)) {
    devices_.push_back(node);
  } else if (is(node, NodeKind::kSwitch)) {
    switches_.push_back(node);
  }
  for (const NodeIndex lower : nodes_[node].lower) {
    visit(lower, host);
  }
}

std::optional<NodeIndex> Graph::find(const std::string& name) const {
  const auto at = std::find_if(all_.begin(), all_.end(),
                               [&](NodeIndex node) { return nodes_[node].name == name; });
  return at == all_.end() ? std::nullopt : std::optional<NodeIndex>(*at);
}

NodeIndex Graph::root_of(NodeIndex node) const {
  while (nodes_[node].upper) {
    node = *nodes_[node].upper;
  }
  return node;
}

std::vector<NodeIndex> Graph::switches_above(NodeIndex node) const {
  std::vector<NodeIndex> above;
  while (nodes_[node].upper) {
    node = *nodes_[node].upper;
    if (is(node, NodeKind::kSwitch)) {
      above.push_back(node);
    }
  }
  return above;
}

bool Graph::is_at_or_below(NodeIndex node, NodeIndex above) const {
  while (node != above && nodes_[node].upper) {
    node = *nodes_[node].upper;
  }
  return node == above;
}

bool Graph::has_switch_in_tree(NodeIndex node) const {
  return is(nodes_[root_of(node)].lower.front(), NodeKind::kSwitch);
}

}  // namespace flitwise
