// SPDX-License-Identifier: Apache-2.0
// The tree below each root port.
#include "topology/graph.h"

#include <algorithm>

#include "topology/node_table.h"

namespace flitwise {

std::string host_name(unsigned host) {
  return "h" + std::to_string(host);
}

std::string host_prefix(unsigned host) {
  return host == 0 ? "" : host_name(host) + ".";
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
