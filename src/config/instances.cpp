// SPDX-License-Identifier: Apache-2.0
// Instances: names, what they may override, and the overrides applied.
#include "config/instances.h"

#include "config/adapter_flows.h"

#include <algorithm>

#include "common/ranges.h"
#include "config/document.h"
#include "config/load.h"
#include "config/sections/sections.h"
#include "dhi/negotiation.h"

namespace flitwise {

namespace config {
namespace {

/// What a root port, the handle tables behind it and cores that send to its devices read; the rest
/// of `host` is the host's alone.
const std::vector<std::string> kOfRootPort = {"host.requester_check",
                                              "host.pasid",
                                              "host.translated_pasid",
                                              "host.atomics",
                                              "host.deferrable_writes",
                                              "host.dma_window",
                                              "host.trusted_window",
                                              "host.dhi.dealloc",
                                              "host.dhi.check_capabilities",
                                              "host.dhi.report_errors",
                                              "host.dhi.unknown_domain",
                                              "host.dhi.grant",
                                              "host.dhi.granted",
                                              "host.dhi.storage",
                                              "host.timing.root_port",
                                              "host.cores",
                                              "host.verbs",
                                              "host.cxl_mem"};

/// Completions of reads are dropped by the host at the upper end.
std::vector<std::string> sections_of_link(const Graph& graph, NodeIndex lower) {
  std::vector<std::string> sections = {"link", "message", "faults.up", "faults.down",
                                       "faults.break"};
  if (graph.is(graph.upper_of(lower), NodeKind::kRootPort)) {
    sections.emplace_back("faults.drop_completions");
  }
  return sections;
}

}  // namespace

std::vector<InstanceName> instance_names(const Graph& graph) {
  std::vector<InstanceName> all;
  for (unsigned host = 0; host < graph.hosts() && graph.hosts() > 1; ++host) {
    all.push_back({host_name(host), {"host", "iommu"}, InstanceKind::kHost, 0});
  }
  for (const NodeIndex index : graph.all()) {
    const Node& node = graph[index];
    if (node.upper) {
      all.push_back({node.link, sections_of_link(graph, index), InstanceKind::kLink, index});
    }
    switch (node.kind) {
      case NodeKind::kRootPort:
        all.push_back({node.name, kOfRootPort, InstanceKind::kNode, index});
        if (!graph.has_switch_in_tree(index)) {
          all.back().sections.emplace_back("workload");
        }
        break;
      case NodeKind::kSwitch:
        all.push_back(
            {node.name,
             {"system.switch_mode", "system.source_validation", "system.acs", "system.timing"},
             InstanceKind::kNode,
             index});
        break;
      case NodeKind::kDevice:
        all.push_back({node.name,
                       {"device", "workload", "faults.pio_integrity"},
                       InstanceKind::kNode,
                       index});
        break;
    }
  }
  return all;
}

Config with_overrides(const Config& config,
                      const std::vector<std::pair<std::string, std::string>>& overrides) {
  Config copy = config;
  ProblemList problems;
  for (const auto& [path, text] : overrides) {
    const Place place{"system.instances: " + path, 0, 0, 0};
    const Key* key = find_row(path);
    if (key == nullptr) {
      problems.add(place, path, "unknown key");
      continue;
    }
    const auto report = [&, &at = path](const Place& where, const std::string& message) {
      problems.add(where, at, message);
    };
    key->read(copy, parse_yaml(text, place, problems, true), {report, {""}});
  }
  if (!problems.empty()) {
    throw ConfigError(problems.sorted());
  }
  return copy;
}

}  // namespace config

Config for_instance(const Config& config, const std::string& name) {
  const auto at = config.instances.find(name);
  return at == config.instances.end() ? config : config::with_overrides(config, at->second);
}

Config config_of_host(const Config& whole, unsigned host) {
  return for_instance(whole, host_name(host));
}

namespace {

Config as_written(const Config& whole, const Graph& graph, NodeIndex node) {
  const Node& one = graph[node];
  const NodeIndex lower = one.upper ? node : one.lower.front();
  return for_instance(for_instance(config_of_host(whole, one.host), one.name), graph[lower].link);
}

// What follows from the flows of all adapters together.
void add_flows(const Config& whole, const Graph& graph, NodeIndex node, Config& device) {
  const auto configs =
      mapped<Config>(graph.devices(), [&](NodeIndex one) { return as_written(whole, graph, one); });
  std::vector<std::string> names;
  std::size_t own = 0;
  for (const std::size_t one : adapter_hosts(configs)) {
    own = graph.devices()[one] == node ? names.size() : own;
    names.push_back(graph[graph.devices()[one]].name);
  }
  set_flows(adapter_flows(whole, names.size()), names, own, device);
}

}  // namespace

Config config_of_node(const Config& whole, const Graph& graph, NodeIndex node) {
  Config config = as_written(whole, graph, node);
  if (config.workload.kind == WorkloadKind::kFlows && config.workload.via == WorkloadVia::kRdma &&
      graph.is(node, NodeKind::kDevice) && config.network.mode == NetworkMode::kFull) {
    add_flows(whole, graph, node, config);
  }
  return config;
}

std::vector<Bytes> buffer_bases(const Config& whole, const Graph& graph) {
  struct Span {
    unsigned host;
    Bytes first, end;
  };
  std::vector<Span> taken;
  std::vector<Bytes> bases;
  for (const NodeIndex node : graph.devices()) {
    const WorkloadConfig workload = config_of_node(whole, graph, node).workload;
    Span own = {graph[node].host, workload.buffer_base, 0};
    if (workload.via == WorkloadVia::kPio || workload.via == WorkloadVia::kRdma) {
      const Bytes all = workload.domains * workload.buffer_size;
      const auto others = those(taken, [&](const Span& span) { return span.host == own.host; });
      if (any_of(others, [&](const Span& span) {
            return span.first < own.first + all && own.first < span.end;
          })) {
        for (const Span& span : others) {
          own.first = std::max(own.first, span.end);
        }
      }
      own.end = own.first + all;
      taken.push_back(own);
    }
    bases.push_back(own.first);
  }
  return bases;
}

namespace {

using HandleTables = std::vector<decltype(HostConfig::dhi)>;  // by host

HandleTables handle_tables(const Config& whole, const Graph& graph) {
  HandleTables tables;
  for (unsigned host = 0; host < graph.hosts(); ++host) {
    tables.push_back(config_of_host(whole, host).host.dhi);
  }
  return tables;
}

// One shared table of a host, or a handle alone that finds its way through switches.
bool share_handles(const HandleTables& tables, const LinkConfig& link, const Graph& graph,
                   NodeIndex a, NodeIndex b) {
  if (graph[a].host == graph[b].host && tables[graph[a].host].table == HostDhiTable::kShared) {
    return true;
  }
  return link.identity == Identity::kDhi && link.dhi_form == DhiForm::kRidFabric &&
         graph.root_of(a) == graph.root_of(b);
}

}  // namespace

std::vector<std::size_t> handle_groups(const Config& whole, const Graph& graph) {
  const HandleTables tables = handle_tables(whole, graph);
  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    std::size_t first = 0;
    while (first < i &&
           !share_handles(tables, whole.link, graph, graph.devices()[first], graph.devices()[i])) {
      ++first;
    }
    groups.push_back(first);
  }
  return groups;
}

std::vector<HandleRange> handle_ranges(const Config& whole, const Graph& graph,
                                       const std::vector<unsigned>& bits) {
  const std::vector<std::size_t> groups = handle_groups(whole, graph);
  const HandleTables tables = handle_tables(whole, graph);
  std::vector<HandleRange> ranges(bits.size());
  for (std::size_t first = 0; first < bits.size(); ++first) {
    const auto& table = tables[graph[graph.devices()[first]].host];
    const unsigned entries = table.table == HostDhiTable::kShared
                                 ? table.entries
                                 : HandleRange::of_bits(kMaxHandleBits).size();
    std::vector<std::size_t> members;
    std::vector<unsigned> widths;
    for (std::size_t i = first; i < bits.size(); ++i) {
      if (groups[i] == first) {
        members.push_back(i);
        widths.push_back(bits[i]);
      }
    }
    const std::vector<HandleRange> parts = partition_handles(entries, widths);
    for (std::size_t k = 0; k < members.size(); ++k) {
      ranges[members[k]] = parts[k];
    }
  }
  return ranges;
}

}  // namespace flitwise
