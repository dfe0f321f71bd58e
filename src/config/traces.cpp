// SPDX-License-Identifier: Apache-2.0
// Which trace may go where.
#include "config/traces.h"

#include "common/ranges.h"
#include "config/instances.h"
#include "config/load.h"
#include "topology/graph.h"
#include "workload/trace_reader.h"

namespace flitwise {

void check_traces(const Config& whole) {
  const Graph graph(whole.system);
  for (const NodeIndex node : graph.devices()) {
    const Config device = config_of_node(whole, graph, node);
    const Config above = for_instance(device, graph[graph.root_of(node)].name);
    const bool has_host_engine = device.workload.via == WorkloadVia::kCxlBoth;
    for (const Config* const one : {&device, has_host_engine ? &above : nullptr}) {
      if (one != nullptr && one->workload.kind == WorkloadKind::kTrace) {
        TraceReader(one->workload.trace, one->workload.domains,
                    TraceReach::of(*one, above.host, graph.has_switch_in_tree(node)));
      }
    }
  }
}

bool has_network_port(const Config& whole) {
  if (whole.network.mode == NetworkMode::kPacket) {
    return true;
  }
  const Graph graph(whole.system);
  return any_of(graph.devices(), [&](NodeIndex node) {
    const Config device = config_of_node(whole, graph, node);
    return device.workload.via == WorkloadVia::kRdma ||
           (device.workload.via == WorkloadVia::kPio && !device.device.pio.egress.peer.empty());
  });
}

}  // namespace flitwise
