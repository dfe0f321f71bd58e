// SPDX-License-Identifier: Apache-2.0
// Ranges of handles.
#include "config/handle_ranges.h"

#include "dhi/negotiation.h"

namespace flitwise {

namespace {

// One shared table of a host, or a handle alone that finds its way through switches.
bool share_handles(const Config& config, const Graph& graph, NodeIndex a, NodeIndex b) {
  if (config.host.dhi.table == HostDhiTable::kShared) {
    return graph[a].host == graph[b].host;
  }
  return config.link.identity == Identity::kDhi && config.link.dhi_form == DhiForm::kRidFabric &&
         graph.root_of(a) == graph.root_of(b);
}

}  // namespace

std::vector<std::size_t> handle_groups(const Config& whole, const Graph& graph) {
  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i < graph.devices().size(); ++i) {
    std::size_t first = 0;
    while (first < i && !share_handles(whole, graph, graph.devices()[first], graph.devices()[i])) {
      ++first;
    }
    groups.push_back(first);
  }
  return groups;
}

std::vector<HandleRange> handle_ranges(const Config& whole, const Graph& graph,
                                       const std::vector<unsigned>& bits) {
  const std::vector<std::size_t> groups = handle_groups(whole, graph);
  const unsigned entries = whole.host.dhi.table == HostDhiTable::kShared
                               ? whole.host.dhi.entries
                               : HandleRange::of_bits(kMaxHandleBits).size();
  std::vector<HandleRange> ranges(bits.size());
  for (std::size_t first = 0; first < bits.size(); ++first) {
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
