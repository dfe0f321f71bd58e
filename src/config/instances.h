// SPDX-License-Identifier: Apache-2.0
/// Names of the machine's instances, which sections each may override, and which handles each
/// device may use.
#pragma once

#include <string>
#include <vector>

#include "dhi/handle_types.h"
#include "flitwise/config.h"
#include "topology/graph.h"

namespace flitwise::config {

enum class InstanceKind { kHost, kLink, kNode };

struct InstanceName {
  std::string name;                   ///< "ep0", "rp0", "sw0", "rp0-ep0"; of several hosts "h0"
  std::vector<std::string> sections;  ///< what its overrides may lie in
  InstanceKind kind = InstanceKind::kNode;
  NodeIndex node = 0;  ///< of a link: its lower node; not of a host
};

/// Every instance of the machine.
std::vector<InstanceName> instance_names(const Graph& graph);

/// The overrides applied to a copy of the whole.
Config with_overrides(const Config& config,
                      const std::vector<std::pair<std::string, std::string>>& overrides);

}  // namespace flitwise::config

namespace flitwise {

/// Configuration of a host.
Config config_of_host(const Config& whole, unsigned host);

/// Configuration of a node and of the link to the node above it; of a root port: to that below.
Config config_of_node(const Config& whole, const Graph& graph, NodeIndex node);

/// First byte of the buffers of each device, in the order of Graph::devices():
/// workload.buffer_base, but credits of two devices that send by PIO return to buffers of their
/// own. Where those of one would overlap those of others of its host, they begin behind them.
std::vector<Bytes> buffer_bases(const Config& whole, const Graph& graph);

/// Which devices have a number space in common, so that their handles are kept apart: of each one
/// in the order of Graph::devices(), the first of its group. [DHI D2] [DHI D23]
std::vector<std::size_t> handle_groups(const Config& whole, const Graph& graph);

/// By device; bits: device.dhi.bits of each. Devices that share a number space get ranges apart,
/// the others all that their width names.
std::vector<HandleRange> handle_ranges(const Config& whole, const Graph& graph,
                                       const std::vector<unsigned>& bits);

}  // namespace flitwise
