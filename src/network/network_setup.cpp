// SPDX-License-Identifier: Apache-2.0
#include "network/network_setup.h"

#include <fmt/format.h>

#include <algorithm>

#include "network/channel_cycles.h"
#include "network/ideal_time.h"
#include "network/pfc.h"
#include "workload/flow_patterns.h"
#include "workload/flow_trace.h"

namespace flitwise {
namespace {

/// Hosts of a fat tree of k ports a switch.
constexpr unsigned hosts_of_fat_tree(unsigned k) {
  return k * k * k / 4;
}
/// The k that has so many hosts; 0: none has.
unsigned fat_tree_of(unsigned hosts) {
  unsigned k = 2;
  while (hosts_of_fat_tree(k) < hosts) {
    k += 2;
  }
  return hosts_of_fat_tree(k) == hosts ? k : 0;
}

/// A switch and all hosts.
NetworkPlan star_plan(unsigned hosts, EdgeRate rate) {
  NetworkPlan plan;
  plan.hosts = hosts;
  plan.switches = {"switch"};
  for (NodeId host = 0; host < hosts; ++host) {
    plan.edges.push_back({host, hosts, rate});
  }
  return plan;
}

}  // namespace

std::optional<EdgeId> fault_edge(const NetworkConfig& network, const NetworkPlan& plan) {
  for (EdgeId edge = 0; edge < plan.edges.size(); ++edge) {
    if (plan.name_of_edge(edge) == network.fault.link) {
      return edge;
    }
  }
  return std::nullopt;
}

NetworkPlan network_plan(const NetworkConfig& network) {
  const EdgeRate rate{network.rate_gbps, network.timing.hop};
  switch (network.topology) {
    case NetworkTopology::kCable: return direct_plan(rate);
    case NetworkTopology::kDumbbell: {
      NetworkPlan plan = dumbbell_plan(network.hosts / 2, rate, rate);
      const PlannedEdge middle = plan.edges[*plan.edge_between(network.hosts, network.hosts + 1)];
      for (unsigned more = 1; more < network.dumbbell_links; ++more) {
        plan.edges.push_back(middle);
      }
      return plan;
    }
    case NetworkTopology::kLeafSpine:
      return leaf_spine_plan(network.leaf_spine.leaves, network.hosts / network.leaf_spine.leaves,
                             network.leaf_spine.spines, rate, rate);
    case NetworkTopology::kFatTree: return fat_tree_plan(fat_tree_of(network.hosts), rate);
    default: return star_plan(network.hosts, rate);
  }
}

std::uint32_t most_ports(const NetworkPlan& plan) {
  std::vector<std::uint32_t> ports(plan.nodes());
  for (const PlannedEdge& edge : plan.edges) {
    ++ports[edge.from];
    ++ports[edge.to];
  }
  return *std::max_element(ports.begin(), ports.end());
}

std::unique_ptr<FlowSource> flow_source(const Config& config, const Random& random) {
  const FlowsConfig& flows = config.workload.flows;
  const unsigned hosts = network_plan(config.network).hosts;
  switch (flows.pattern) {
    case FlowPattern::kPermutation:
      return permutation_flows(hosts, flows.bytes, random.split("permutation"));
    case FlowPattern::kIncast: return incast_flows(hosts, 0, hosts - 1, flows.bytes);
    case FlowPattern::kAllToAll: return all_to_all_flows(hosts, flows.bytes, 0);
    case FlowPattern::kRing: return ring_all_reduce_flows(hosts, flows.bytes, 1);
    case FlowPattern::kSizes:
      return poisson_flows(
          {hosts, config.network.rate_gbps, flows.load, flows.count},
          SizeDistribution::load(config.workload.sizes,
                                 static_cast<std::uint32_t>(config.workload.size_cap)),
          random);
    default: return trace_flows(config.workload.trace, hosts);
  }
}

std::uint64_t data_packets(const Config& config) {
  const auto flows = flow_source(config, Random(config.run.seed));
  std::uint64_t packets = 0;
  for (Flow flow; flows->next(flow);) {
    packets += FlowFraming{config.device.srdma.mtu}.packets(flow.bytes);
  }
  return packets;
}

std::vector<NetworkComplaint> network_complaints(const Config& config) {
  const NetworkConfig& network = config.network;
  const SrdmaConfig& srdma = config.device.srdma;
  const FlowsConfig& flows = config.workload.flows;
  std::vector<NetworkComplaint> all;
  const auto add_if = [&all](bool is_wrong, std::vector<std::string> paths, std::string message) {
    if (is_wrong) {
      all.push_back({std::move(paths), std::move(message)});
    }
  };
  const unsigned leaves = network.leaf_spine.leaves;
  const bool is_leaf_spine = network.topology == NetworkTopology::kLeafSpine;
  add_if(is_leaf_spine && network.hosts % leaves != 0,
         {"network.hosts", "network.leaf_spine.leaves"},
         fmt::format("{} hosts at {} leaves; expected a multiple of the leaves", network.hosts,
                     leaves));
  add_if(network.topology == NetworkTopology::kCable && network.hosts != 2,
         {"network.hosts", "network.topology"},
         fmt::format("{} hosts at a cable; expected network.hosts 2, or another topology",
                     network.hosts));
  add_if(network.topology == NetworkTopology::kDumbbell && network.hosts % 2 != 0,
         {"network.hosts", "network.topology"},
         fmt::format("{} hosts of a dumbbell; expected an even number", network.hosts));
  const bool is_fat_tree = network.topology == NetworkTopology::kFatTree;
  add_if(is_fat_tree && fat_tree_of(network.hosts) == 0, {"network.hosts", "network.topology"},
         fmt::format("{} hosts of a fat tree; expected k^3 / 4 of an even k: 2, 16, 54, 128, 250, "
                     "432, 686 or 1024",
                     network.hosts));
  add_if(network.topology == NetworkTopology::kGraph, {"network.topology"},
         "graph; expected cable, switch, dumbbell, leaf_spine or fat_tree");
  add_if(srdma.first_port > srdma.last_port, {"device.srdma.first_port", "device.srdma.last_port"},
         fmt::format("ports {} to {}; expected the first one first", srdma.first_port,
                     srdma.last_port));
  add_if(srdma.is_on && srdma.control.is_on && srdma.control.relaxed > srdma.control.threshold,
         {"device.srdma.control.relaxed", "device.srdma.control.threshold"},
         fmt::format("relaxed below {}, congested above {}; expected relaxed up to the threshold "
                     "[CT-8]",
                     srdma.control.relaxed, srdma.control.threshold));
  add_if(srdma.is_on && srdma.control.is_on &&
             (srdma.min_sessions > srdma.sessions || srdma.sessions > srdma.max_sessions),
         {"device.srdma.sessions", "device.srdma.min_sessions", "device.srdma.max_sessions"},
         fmt::format("{} sessions, {} at least, {} at most; expected them in this order",
                     srdma.sessions, srdma.min_sessions, srdma.max_sessions));
  const bool has_echo_control = srdma.congestion.kind == RateControl::kWindow ||
                                srdma.congestion.kind == RateControl::kDcqcnSession;
  add_if(!srdma.is_on && has_echo_control, {"device.srdma.congestion.kind", "device.srdma.enabled"},
         "a window, or rates by session, without sessions; expected none or dcqcn_qp, or "
         "device.srdma.enabled true [MO-1]");
  add_if(network.ecn.is_on && network.ecn.kmin >= network.ecn.kmax,
         {"network.ecn.kmin", "network.ecn.kmax"},
         fmt::format("kmin {}, kmax {} bytes; expected kmin below kmax", network.ecn.kmin,
                     network.ecn.kmax));
  add_if(flows.pattern == FlowPattern::kSizes && config.workload.sizes.empty(),
         {"workload.flows.pattern", "workload.sizes"},
         "no sizes; expected workload.sizes with the name of a distribution, or a CSV");
  add_if(flows.pattern == FlowPattern::kTrace && config.workload.trace.empty(),
         {"workload.flows.pattern", "workload.trace"},
         "no trace; expected workload.trace with a CSV of time_ns,src,dst,bytes");
  if (all.empty() && !network.fault.link.empty()) {
    const NetworkPlan plan = network_plan(network);
    add_if(!fault_edge(network, plan), {"network.fault.link"},
           fmt::format("no link is called {}; expected a name such as {}", network.fault.link,
                       plan.name_of_edge(static_cast<EdgeId>(plan.edges.size() - 1))));
  }
  if (all.empty() && network.pfc.is_on) {
    const NetworkPlan plan = network_plan(network);
    const std::uint32_t ports = most_ports(plan);
    const PfcRules rules = pfc_of(network.switches.queue, ports, srdma.mtu, network.pfc.headroom);
    const std::string complaint =
        complaint_about(rules, network.switches.queue, ports, srdma.mtu, plan.edges.front().rate);
    add_if(!complaint.empty(),
           {"network.pfc.enabled", "network.pfc.headroom", "network.switch.queue"}, complaint);
  }
  if (all.empty() && (network.pfc.is_on || !network.allow_cycles)) {
    const NetworkPlan plan = network_plan(network);
    const NetworkGraph graph(plan);
    const NextHops hops(graph);
    const auto cycle = find_channel_cycle(hops);
    add_if(!cycle.empty(), {"network.topology", "network.allow_cycles"},
           fmt::format("routes lead in a circle, {}; expected none, or network.allow_cycles [NW-9]",
                       text_of_cycle(plan, graph, cycle)));
  }
  return all;
}

}  // namespace flitwise
