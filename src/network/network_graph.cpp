// SPDX-License-Identifier: Apache-2.0
#include "network/network_graph.h"

#include "flitwise/error.h"

namespace flitwise {

NetworkGraph::NetworkGraph(const NetworkPlan& plan)
    : hosts_(plan.hosts),
      first_(plan.nodes() + 1),
      by_node_(2 * plan.edges.size()),
      places_(2 * plan.edges.size()) {
  FLITWISE_CHECK(plan.complaint().empty(), plan.complaint());
  for (const PlannedEdge& edge : plan.edges) {
    ports_.push_back({edge.from, edge.to, edge.rate});
    ports_.push_back({edge.to, edge.from, edge.rate});
  }
  for (const Port& port : ports_) {
    ++first_[port.from + 1];
  }
  for (std::size_t node = 1; node < first_.size(); ++node) {
    first_[node] += first_[node - 1];
  }
  std::vector<std::uint32_t> count(plan.nodes());
  for (PortId port = 0; port < ports(); ++port) {
    const NodeId node = ports_[port].from;
    places_[port] = count[node]++;
    by_node_[first_[node] + places_[port]] = port;
  }
}

}  // namespace flitwise
