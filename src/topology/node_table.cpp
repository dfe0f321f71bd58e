// SPDX-License-Identifier: Apache-2.0
// Nodes and edges of each topology.
#include "topology/node_table.h"

namespace flitwise {
namespace {

std::string numbered(unsigned host, const char* kind, unsigned index) {
  return host_prefix(host) + kind + std::to_string(index);
}

}  // namespace

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

}  // namespace flitwise
