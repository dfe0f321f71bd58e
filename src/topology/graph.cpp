// SPDX-License-Identifier: Apache-2.0
// Nodes and edges of each topology, the tree below each root port, and checks, one function each.
#include "topology/graph.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

#include "common/problems.h"
#include "common/ranges.h"

namespace flitwise {
namespace {

std::string numbered(unsigned host, const char* kind, unsigned index) {
  return host_prefix(host) + kind + std::to_string(index);
}

const char* prefix_of(NodeKind kind) {
  return kind == NodeKind::kRootPort ? "rp" : kind == NodeKind::kSwitch ? "sw" : "ep";
}

/// All nodes of a configuration by their names, and its edges, whichever way they were written.
class NodeTable {
 public:
  /// `direct` and `switch` are expanded. Of two nodes with one name the first counts.
  explicit NodeTable(const SystemConfig& system) {
    if (system.topology == Topology::kGraph) {
      for (const NodeConfig& node : system.nodes) {
        const bool is_root_port = node.kind == NodeKind::kRootPort;
        add(is_root_port ? host_prefix(node.host) + node.name : node.name, node.kind, node.host);
      }
      edges_ = system.edges;
    }
    of_user_ = nodes_.size();
    if (system.topology == Topology::kGraph) {
      add_root_ports();
    } else {
      expand(system);
    }
  }

  /// Those of the user, and the other root ports that an edge names, of all hosts there may be.
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<EdgeConfig>& edges() const { return edges_; }
  std::optional<NodeIndex> find(const std::string& name) const {
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? std::nullopt : std::optional<NodeIndex>(at->second);
  }
  /// Indices of the user's nodes come first, in the order of system.nodes.
  std::size_t of_user() const { return of_user_; }

 private:
  // They need no line in system.nodes.
  void add_root_ports() {
    std::set<std::string> named;
    for (const EdgeConfig& edge : edges_) {
      named.insert({edge.from, edge.to});
    }
    for (unsigned host = 0; host < kMostHosts; ++host) {
      for (unsigned port = 0; port < kMostRootPorts; ++port) {
        if (const std::string name = numbered(host, "rp", port); named.count(name) > 0) {
          add(name, NodeKind::kRootPort, host);
        }
      }
    }
  }

  // Each host has the same below it.
  void expand(const SystemConfig& system) {
    const bool has_switch = system.topology == Topology::kSwitch;
    for (unsigned host = 0; host < system.hosts; ++host) {
      const std::string sw = numbered(host, "sw", 0);
      for (unsigned port = 0; port < (has_switch ? 1 : system.devices); ++port) {
        add(numbered(host, "rp", port), NodeKind::kRootPort, host);
      }
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

  void add(const std::string& name, NodeKind kind, unsigned host) {
    by_name_.emplace(name, nodes_.size());
    nodes_.push_back({name, kind, host, {}, {}, {}, {}});
  }

  std::vector<Node> nodes_;
  std::vector<EdgeConfig> edges_;
  std::map<std::string, NodeIndex> by_name_;
  std::size_t of_user_ = 0;
};

std::string in_list(const char* list, std::size_t index, const char* field = "") {
  return fmt::format("system.{}[{}]{}", list, index, field);
}

/// One look at the nodes and edges of a graph, edge by edge.
class Examination {
 public:
  explicit Examination(const SystemConfig& system) : system_(system), table_(system) {
    uppers_.resize(table_.nodes().size());
    lowers_.resize(table_.nodes().size());
  }

  std::vector<TopologyFlaw> flaws() {
    check_names();
    for (std::size_t i = 0; i < system_.edges.size(); ++i) {
      check_edge(i);
    }
    if (!flaws_.empty()) {
      return std::move(flaws_);  // what follows would only tell of the same again
    }
    for (NodeIndex i = 0; i < table_.of_user(); ++i) {
      check_place(i);
    }
    check_hosts();
    return std::move(flaws_);
  }

 private:
  void add(std::string path, std::string message) {
    flaws_.push_back({std::move(path), std::move(message)});
  }

  // Hosts, nodes and links are instances that may have keys of their own; parts of hosts have rows
  // in results.
  void check_names() {
    names_.insert(kNetworkSwitch);
    for (unsigned host = 0; host < kMostHosts; ++host) {
      names_.insert(host_name(host));
      for (const char* part : host_part::kAll) {
        names_.insert(host_prefix(host) + part);
      }
    }
    for (NodeIndex i = 0; i < table_.of_user(); ++i) {
      const Node& node = table_.nodes()[i];
      if (!names_.insert(node.name).second) {
        add(in_list("nodes", i, ".name"),
            fmt::format("a second '{}'; expected each name of nodes, hosts and their "
                        "parts once",
                        node.name));
      }
      if (node.host >= system_.hosts && node.kind == NodeKind::kRootPort) {
        add(in_list("nodes", i, ".host"),
            fmt::format("host {}; expected a number below system.hosts: {}", node.host,
                        hosts_there_are()));
      }
      if (node.host > 0 && node.kind != NodeKind::kRootPort) {
        add(in_list("nodes", i, ".host"),
            fmt::format("a host of '{}', which is no root port; expected an edge from a root port "
                        "of that host",
                        node.name));
      }
    }
  }

  void check_edge(std::size_t index) {
    const EdgeConfig& edge = system_.edges[index];
    const auto from = found(edge.from, in_list("edges", index, ".from"));
    const auto to = found(edge.to, in_list("edges", index, ".to"));
    if (from && to && may_be_upper(*from, index) && may_be_lower(*to, index)) {
      uppers_[*to] = *from;
      ++lowers_[*from];
      if (!names_.insert(edge.from + "-" + edge.to).second) {
        add(in_list("edges", index),
            fmt::format("a second '{}-{}'; expected nodes whose names tell links apart", edge.from,
                        edge.to));
      }
    }
  }

  std::optional<NodeIndex> found(const std::string& name, const std::string& path) {
    const std::optional<NodeIndex> node = table_.find(name);
    if (!node) {
      std::vector<std::string> names = {host_prefix(system_.hosts - 1) + "rp0"};
      for (NodeIndex i = 0; i < table_.of_user(); ++i) {
        names.push_back(table_.nodes()[i].name);
      }
      add(path, fmt::format("unknown node '{}'; expected a name of system.nodes, or a root port "
                            "such as {}{}",
                            name, names.front(), hint_of(name, names)));
    } else if (table_.nodes()[*node].host >= system_.hosts) {
      const unsigned host = table_.nodes()[*node].host;
      add(path, fmt::format("'{}' belongs to host h{}; expected system.hosts of at least {}, {}",
                            name, host, host + 1, hosts_there_are()));
      return std::nullopt;
    }
    return node;
  }

  // A root port of another host has the name of its host in front.
  std::string hint_of(const std::string& name, const std::vector<std::string>& names) const {
    for (unsigned host = 1; host < system_.hosts; ++host) {
      if (table_.find(host_prefix(host) + name)) {
        return fmt::format("; do you mean '{}{}'?", host_prefix(host), name);
      }
    }
    return config::nearest_hint(name, names, "name");
  }

  std::string hosts_there_are() const {
    return system_.hosts == 1 ? "there is 1 host"
                              : fmt::format("there are {} hosts", system_.hosts);
  }

  bool may_be_upper(NodeIndex node, std::size_t edge) {
    const Node& upper = table_.nodes()[node];
    if (upper.kind == NodeKind::kDevice) {
      add(in_list("edges", edge, ".from"),
          fmt::format("'{}' is a device; expected a root port or a switch", upper.name));
    } else if (upper.kind == NodeKind::kRootPort && lowers_[node] > 0) {
      add(in_list("edges", edge, ".from"),
          fmt::format("a second link of root port '{}'; expected a switch, or another root port",
                      upper.name));
    } else {
      return true;
    }
    return false;
  }

  bool may_be_lower(NodeIndex node, std::size_t edge) {
    const Node& lower = table_.nodes()[node];
    if (lower.kind == NodeKind::kRootPort) {
      add(in_list("edges", edge, ".to"),
          fmt::format("'{}' is a root port; expected a switch or a device", lower.name));
    } else if (uppers_[node]) {
      add(in_list("edges", edge, ".to"),
          fmt::format("'{}' is below '{}' already; expected one upper node for each", lower.name,
                      table_.nodes()[*uppers_[node]].name));
    } else if (closes_cycle(node, edge)) {
      add(in_list("edges", edge), fmt::format("a cycle: '{}' is above '{}' already; expected a "
                                              "tree below each root port",
                                              lower.name, system_.edges[edge].from));
    } else {
      return true;
    }
    return false;
  }

  bool closes_cycle(NodeIndex lower, std::size_t edge) const {
    std::optional<NodeIndex> above = table_.find(system_.edges[edge].from);
    while (above && *above != lower) {
      above = uppers_[*above];
    }
    return above.has_value();
  }

  void check_place(NodeIndex node) {
    const Node& one = table_.nodes()[node];
    if (one.kind != NodeKind::kRootPort && !uppers_[node]) {
      add(in_list("nodes", node, ".name"),
          fmt::format("nothing is above '{}'; expected an edge to it", one.name));
    }
    if (one.kind != NodeKind::kDevice && lowers_[node] == 0) {
      add(in_list("nodes", node, ".name"),
          fmt::format("nothing is below '{}'; expected an edge from it", one.name));
    }
  }

  void check_hosts() {
    std::vector<unsigned> devices(system_.hosts, 0);
    std::vector<unsigned> buses(system_.hosts, 1);  // bus 0
    for (NodeIndex i = 0; i < table_.of_user(); ++i) {
      NodeIndex root = i;
      while (uppers_[root]) {
        root = *uppers_[root];
      }
      const Node& top = table_.nodes()[root];
      const NodeKind kind = table_.nodes()[i].kind;
      if (top.kind != NodeKind::kRootPort) {
        continue;
      }
      if (kind == NodeKind::kDevice && ++devices[top.host] == kMostDevices + 1) {
        add(in_list("nodes", i), fmt::format("more than {} devices of host h{}; expected up to {}",
                                             kMostDevices, top.host, kMostDevices));
      }
      const unsigned before = buses[top.host];
      buses[top.host] += own_buses(kind);
      if (before <= kMostBuses && buses[top.host] > kMostBuses) {
        add(in_list("nodes", i),
            fmt::format(
                "more than {} bus numbers of host h{}; expected up to {}: two a switch, one "
                "a device and one for the root ports",
                kMostBuses, top.host, kMostBuses));
      }
    }
    for (unsigned host = 0; host < system_.hosts && flaws_.empty(); ++host) {
      if (devices[host] == 0) {
        add(system_.hosts > 1 ? "system.hosts" : "system.topology",
            fmt::format("host h{} has no device; expected an edge from {}rp0", host,
                        host_prefix(host)));
      }
    }
  }

  const SystemConfig& system_;
  const NodeTable table_;
  std::vector<std::optional<NodeIndex>> uppers_;  // by node
  std::vector<unsigned> lowers_;                  // their number
  std::set<std::string> names_;
  std::vector<TopologyFlaw> flaws_;
};

}  // namespace

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
  const auto others = std::count_if(all_.begin(), all_.end(), [&](NodeIndex other) {
    return nodes_[other].host == host && nodes_[other].kind == nodes_[node].kind;
  });
  nodes_[node].host = host;
  nodes_[node].position =
      numbered(host, prefix_of(nodes_[node].kind), static_cast<unsigned>(others));
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
  const auto at = find_if(all_, [&](NodeIndex node) { return nodes_[node].name == name; });
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

std::vector<TopologyFlaw> topology_flaws(const SystemConfig& system) {
  if (system.topology == Topology::kGraph) {
    return Examination(system).flaws();
  }
  std::vector<TopologyFlaw> flaws;
  const std::string expected = "expected system.topology graph with nodes and edges";
  if (!system.nodes.empty()) {
    flaws.push_back({"system.nodes", "nodes of one's own; " + expected});
  }
  if (!system.edges.empty()) {
    flaws.push_back({"system.edges", "edges of one's own; " + expected});
  }
  return flaws;
}

}  // namespace flitwise
