// SPDX-License-Identifier: Apache-2.0
/// The machine as nodes and links: root ports of each host, and the tree of switches and devices
/// below each of them. A name is a label; what a node is and what stands above it is asked here.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "flitwise/config.h"

namespace flitwise {

using NodeIndex = std::size_t;

inline constexpr unsigned kMostHosts = 16;
inline constexpr unsigned kMostDevices = 64;    ///< of one host
inline constexpr unsigned kMostRootPorts = 64;  ///< of one host, that need no line in system.nodes
inline constexpr unsigned kMostBuses = 256;     ///< of one host, bus 0 with its root ports included

/// "h0", "h1".
std::string host_name(unsigned host);
/// "", "h1.", "h2.": what belongs to the first host has no prefix.
std::string host_prefix(unsigned host);

/// Parts of a host, by name behind its prefix; no node has one of these.
namespace host_part {
inline constexpr const char* kMemory = "memory";
inline constexpr const char* kMemoryPort = "memory_port";
inline constexpr const char* kBridge = "host_bridge";
inline constexpr const char* kAgent = "iommu0";
inline constexpr const char* kDriver = "iommu_driver";
inline constexpr const char* kHome = "home";
inline constexpr std::array kAll = {kMemory, kMemoryPort, kBridge, kAgent, kDriver, kHome};
}  // namespace host_part

/// The switch between network ports; its ports are named after it and who is there: "network.ep0".
inline constexpr const char* kNetworkSwitch = "network";

/// Bus numbers that software gives to a node: the link above it, and the bus inside a switch. VFs
/// take no further ones, since a device has up to 256 functions. Root ports are on bus 0.
constexpr unsigned own_buses(NodeKind kind) {
  return kind == NodeKind::kRootPort ? 0 : kind == NodeKind::kSwitch ? 2 : 1;
}

struct Node {
  std::string name;
  NodeKind kind = NodeKind::kDevice;
  unsigned host = 0;
  std::optional<NodeIndex> upper;  ///< none above a root port
  std::vector<NodeIndex> lower;    ///< in the order of the ports of a switch
  std::string link;                ///< to the upper node: "rp0-ep0"; of a root port: empty
  /// By kind and order below its host, as a default topology names it: "ep1", "h1.sw0". Random
  /// numbers go by it, so that a name is but a label.
  std::string position;
};

class Graph {
 public:
  /// REQUIRES: topology_flaws(system) is empty.
  explicit Graph(const SystemConfig& system);

  const Node& operator[](NodeIndex node) const { return nodes_[node]; }
  /// Those that have something below; host by host.
  const std::vector<NodeIndex>& root_ports() const { return root_ports_; }
  /// Depth first from the root ports on, in the order of their ports: as software finds them.
  const std::vector<NodeIndex>& devices() const { return devices_; }
  const std::vector<NodeIndex>& switches() const { return switches_; }
  /// The same order, each node before what is below it.
  const std::vector<NodeIndex>& all() const { return all_; }
  unsigned hosts() const { return hosts_; }

  std::optional<NodeIndex> find(const std::string& name) const;
  NodeIndex root_of(NodeIndex node) const;
  /// Nearest first.
  std::vector<NodeIndex> switches_above(NodeIndex node) const;
  /// Is one of them the node itself, or does it stand below it?
  bool is_at_or_below(NodeIndex node, NodeIndex above) const;
  bool is(NodeIndex node, NodeKind kind) const { return nodes_[node].kind == kind; }
  /// There is a switch between the node's root port and its devices.
  bool has_switch_in_tree(NodeIndex node) const {
    return is(nodes_[root_of(node)].lower.front(), NodeKind::kSwitch);
  }
  /// REQUIRES: the node is no root port.
  NodeIndex upper_of(NodeIndex node) const { return *nodes_[node].upper; }

 private:
  void visit(NodeIndex node, unsigned host);

  unsigned hosts_;
  std::vector<Node> nodes_;
  std::vector<NodeIndex> root_ports_, devices_, switches_, all_;
};

/// Why nodes and edges of a configuration make no machine.
struct TopologyFlaw {
  std::string path;     ///< "system.edges[2].to", "system.nodes[0]", "system.hosts"
  std::string message;  ///< what was seen; what was expected
};

/// Empty: Graph(system) may be made.
std::vector<TopologyFlaw> topology_flaws(const SystemConfig& system);

}  // namespace flitwise
