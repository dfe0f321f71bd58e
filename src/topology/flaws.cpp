// SPDX-License-Identifier: Apache-2.0
// Checks of nodes and edges, one function each.
#include <fmt/format.h>

#include <optional>
#include <set>

#include "common/problems.h"
#include "topology/node_table.h"

namespace flitwise {
namespace {

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

  // Hosts, nodes and links are instances that may have keys of their own.
  void check_names() {
    for (unsigned host = 0; host < kMostHosts; ++host) {
      names_.insert(host_name(host));
    }
    for (NodeIndex i = 0; i < table_.of_user(); ++i) {
      const Node& node = table_.nodes()[i];
      if (!names_.insert(node.name).second) {
        add(in_list("nodes", i, ".name"),
            fmt::format("a second '{}'; expected each name of nodes and hosts once", node.name));
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
                            name, names.front(), config::nearest_hint(name, names, "name")));
    } else if (table_.nodes()[*node].host >= system_.hosts) {
      add(path, fmt::format("'{}' belongs to host h{}; expected system.hosts of at least {}", name,
                            table_.nodes()[*node].host, table_.nodes()[*node].host + 1));
      return std::nullopt;
    }
    return node;
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
    for (NodeIndex i = 0; i < table_.of_user(); ++i) {
      NodeIndex root = i;
      while (uppers_[root]) {
        root = *uppers_[root];
      }
      const Node& top = table_.nodes()[root];
      const bool counts = table_.nodes()[i].kind == NodeKind::kDevice;
      if (counts && top.kind == NodeKind::kRootPort && ++devices[top.host] == kMostDevices + 1) {
        add(in_list("nodes", i), fmt::format("more than {} devices of host h{}; expected up to {}",
                                             kMostDevices, top.host, kMostDevices));
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
