// SPDX-License-Identifier: Apache-2.0
#include "network/fabric_rules.h"

#include "network/network_setup.h"

namespace flitwise {

PacketFabricRules fabric_rules(const NetworkConfig& network, const NetworkPlan& plan,
                               bool is_adaptive, std::uint32_t mtu) {
  PacketFabricRules rules;
  auto& adaptive = rules.path.adaptive;
  adaptive.is_on = is_adaptive;
  adaptive.mask = static_cast<std::uint8_t>(network.routing.mask);
  adaptive.value = static_cast<std::uint8_t>(network.routing.value);
  adaptive.metric = network.routing.metric;
  adaptive.tie = network.routing.tie;
  const bool is_by_queue = adaptive.metric == AdaptiveMetric::kQueue;
  adaptive.level = is_by_queue ? network.routing.level : 1;
  adaptive.is_by_flowlet = network.routing.flowlet > Time{};
  adaptive.flowlet_gap = network.routing.flowlet;
  rules.util_window = network.routing.util_window;
  rules.red.is_on = network.ecn.is_on;
  rules.red.low = network.ecn.kmin;
  rules.red.high = network.ecn.kmax;
  rules.red.most = network.ecn.pmax;
  rules.hash = network.ecmp.hash;
  rules.is_symmetric = network.ecmp.is_symmetric;
  rules.is_polarised = network.ecmp.is_polarised;
  rules.is_cut_through = network.switching == Switching::kCutThrough;
  rules.room = network.switches.queue;
  rules.detect = network.timing.detect;
  if (network.pfc.is_on) {
    rules.pfc = pfc_of(network.switches.queue, most_ports(plan), mtu, network.pfc.headroom);
  }
  return rules;
}

std::string key_of_wire(const NetworkConfig& network, const NetworkGraph& graph, PortId port,
                        const std::string& rate_key) {
  const NetworkGraph::Port& one = graph.port(port);
  if (!graph.is_host(one.from) && !graph.is_host(one.to)) {
    if (network.topology == NetworkTopology::kLeafSpine) {
      return "network.leaf_spine.spines";
    }
    if (network.topology == NetworkTopology::kDumbbell) {
      return "network.dumbbell_links";
    }
  }
  const bool has_own_rate =
      network.topology == NetworkTopology::kGraph && one.rate.gbps != network.rate_gbps;
  return has_own_rate ? "" : rate_key;
}

}  // namespace flitwise
