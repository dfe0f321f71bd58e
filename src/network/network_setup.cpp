// SPDX-License-Identifier: Apache-2.0
#include "network/network_setup.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/problems.h"
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

NodeId node_of(const NetworkConfig& network, const std::string& name) {
  NetworkPlan names;
  names.hosts = network.hosts;
  names.switches = network.graph.switches;
  return *names.find(name);
}

NetworkPlan graph_plan(const NetworkConfig& network, EdgeRate usual) {
  NetworkPlan plan;
  plan.hosts = network.hosts;
  plan.switches = network.graph.switches;
  for (const NetworkEdgeConfig& edge : network.graph.edges) {
    plan.edges.push_back({node_of(network, edge.from),
                          node_of(network, edge.to),
                          {edge.rate_gbps.value_or(usual.gbps), edge.delay.value_or(usual.delay)}});
  }
  return plan;
}

std::string path_of_edge(std::size_t edge, const char* field) {
  return fmt::format("network.graph.edges[{}].{}", edge, field);
}

// Of nodes and edges one by one, with the place of each.
std::vector<NetworkComplaint> graph_complaints(const NetworkConfig& network) {
  std::vector<NetworkComplaint> all;
  NetworkPlan names;
  names.hosts = network.hosts;
  std::vector<std::string> known = {"h0", fmt::format("h{}", network.hosts - 1)};
  for (std::size_t i = 0; i < network.graph.switches.size(); ++i) {
    const std::string& name = network.graph.switches[i];
    if (names.find(name)) {
      all.push_back({{fmt::format("network.graph.switches[{}]", i)},
                     fmt::format("a second node {}; expected a name of its own", name)});
    }
    names.switches.push_back(name);
    known.push_back(name);
  }
  std::vector<std::string> first_edges(network.hosts);
  for (std::size_t i = 0; i < network.graph.edges.size(); ++i) {
    const NetworkEdgeConfig& edge = network.graph.edges[i];
    for (const bool is_first : {true, false}) {
      const std::string& name = is_first ? edge.from : edge.to;
      const std::string path = path_of_edge(i, is_first ? "from" : "to");
      const auto node = names.find(name);
      if (!node) {
        all.push_back(
            {{path},
             fmt::format("unknown node '{}'; expected a host, h0 to h{}, or a switch of "
                         "network.graph.switches{}",
                         name, network.hosts - 1, config::nearest_hint(name, known, "node"))});
      } else if (names.is_host(*node) && !first_edges[*node].empty()) {
        all.push_back({{path},
                       fmt::format("a second edge of host {}, which has one to {}; expected one "
                                   "edge a host",
                                   name, first_edges[*node])});
      } else if (names.is_host(*node)) {
        first_edges[*node] = is_first ? edge.to : edge.from;
      }
    }
  }
  if (all.empty()) {
    const std::string complaint = graph_plan(network, {}).complaint();
    if (!complaint.empty()) {
      all.push_back(
          {{"network.graph.edges", "network.graph.switches", "network.hosts"}, complaint});
    }
  }
  return all;
}

}  // namespace

NetworkPlan star_plan(const std::vector<EdgeRate>& cables) {
  NetworkPlan plan;
  plan.hosts = static_cast<std::uint32_t>(cables.size());
  plan.switches = {"switch"};
  for (const EdgeRate& cable : cables) {
    plan.edges.push_back({static_cast<NodeId>(plan.edges.size()), plan.hosts, cable});
  }
  return plan;
}

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
    case NetworkTopology::kGraph: return graph_plan(network, rate);
    default: return star_plan(std::vector<EdgeRate>(network.hosts, rate));
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

std::unique_ptr<FlowSource> flow_source(const Config& config, unsigned hosts,
                                        const Random& random) {
  const FlowsConfig& flows = config.workload.flows;
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
  const auto flows =
      flow_source(config, network_plan(config.network).hosts, Random(config.run.seed));
  std::uint64_t packets = 0;
  for (Flow flow; flows->next(flow);) {
    packets += FlowFraming{config.device.srdma.mtu}.packets(flow.bytes);
  }
  return packets;
}

std::uint64_t pairs_of_ports(const SrdmaConfig& srdma) {
  const auto has = [&srdma](unsigned port) {
    return port >= srdma.first_port && port <= srdma.last_port ? 1U : 0U;
  };
  constexpr unsigned kRoce = 4791;
  const std::uint64_t ports = srdma.last_port - srdma.first_port + 1U - has(kRoce) -
                              (srdma.cm_port == kRoce ? 0 : has(srdma.cm_port));
  return ports * ports;
}

std::vector<NetworkComplaint> session_complaints(const SrdmaConfig& srdma, bool has_handshake) {
  std::vector<NetworkComplaint> all;
  const auto add_if = [&all](bool is_wrong, std::vector<std::string> paths, std::string message) {
    if (is_wrong) {
      all.push_back({std::move(paths), std::move(message)});
    }
  };
  add_if(srdma.first_port > srdma.last_port, {"device.srdma.first_port", "device.srdma.last_port"},
         fmt::format("ports {} to {}; expected the first one first", srdma.first_port,
                     srdma.last_port));
  add_if(srdma.is_on && srdma.first_port <= srdma.last_port && pairs_of_ports(srdma) == 0,
         {"device.srdma.first_port", "device.srdma.last_port"},
         fmt::format("ports {} to {}, which no session may have; expected others than 4791 and "
                     "device.srdma.cm_port [SG-3]",
                     srdma.first_port, srdma.last_port));
  add_if(srdma.is_on && srdma.control.is_on && srdma.control.relaxed > srdma.control.threshold,
         {"device.srdma.control.relaxed", "device.srdma.control.threshold"},
         fmt::format("relaxed below {}, congested above {}; expected relaxed up to the threshold "
                     "[CT-8]",
                     srdma.control.relaxed, srdma.control.threshold));
  add_if(srdma.is_on && (has_handshake || srdma.control.is_on) &&
             (srdma.min_sessions > srdma.sessions || srdma.sessions > srdma.max_sessions),
         {"device.srdma.sessions", "device.srdma.min_sessions", "device.srdma.max_sessions"},
         fmt::format("{} sessions, {} at least, {} at most; expected them in this order",
                     srdma.sessions, srdma.min_sessions, srdma.max_sessions));
  add_if(srdma.is_on && has_handshake && srdma.is_secured &&
             srdma.keys.lifetime < srdma.keys.refresh_margin,
         {"device.srdma.keys.lifetime", "device.srdma.keys.refresh_margin"},
         fmt::format("keys of {} us, changed {} us before their end; expected a lifetime of at "
                     "least refresh_margin [KY-C4]",
                     srdma.keys.lifetime.ns() / 1e3, srdma.keys.refresh_margin.ns() / 1e3));
  return all;
}

std::uint8_t data_tos(const NetworkConfig& network, const SrdmaConfig& srdma) {
  constexpr unsigned kEct0 = 2;
  return static_cast<std::uint8_t>((srdma.adaptive_routing ? network.routing.value & ~3U : 0) |
                                   (network.ecn.is_on ? kEct0 : 0));
}

std::vector<NetworkComplaint> class_complaints(const NetworkConfig& network,
                                               const SrdmaConfig& srdma) {
  const std::uint64_t tos = data_tos(network, srdma);
  if (!srdma.adaptive_routing || (tos & network.routing.mask) == network.routing.value) {
    return {};
  }
  return {
      {{"network.routing.value", "network.routing.mask"},
       fmt::format("value {}, mask {}, but data packets have ToS {}, as its last two bits are "
                   "those of ECN, so that none would be routed adaptively; expected value {} "
                   "and mask 252, or such [NW-4]",
                   network.routing.value, network.routing.mask, tos, network.routing.value & 252)}};
}

std::vector<NetworkComplaint> shape_complaints(const NetworkConfig& network) {
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
  if (network.topology == NetworkTopology::kGraph) {
    all = graph_complaints(network);
  }
  add_if(network.ecn.is_on && network.ecn.kmin >= network.ecn.kmax,
         {"network.ecn.kmin", "network.ecn.kmax"},
         fmt::format("kmin {}, kmax {} bytes; expected kmin below kmax", network.ecn.kmin,
                     network.ecn.kmax));
  return all;
}

std::vector<NetworkComplaint> plan_complaints(const NetworkConfig& network, const NetworkPlan& plan,
                                              std::uint32_t mtu) {
  std::vector<NetworkComplaint> all;
  if (!network.fault.link.empty() && !fault_edge(network, plan)) {
    all.push_back(
        {{"network.fault.link"},
         fmt::format("no link is called {}; expected a name such as {}", network.fault.link,
                     plan.name_of_edge(static_cast<EdgeId>(plan.edges.size() - 1)))});
  }
  if (network.pfc.is_on) {
    const std::uint32_t ports = most_ports(plan);
    const PfcRules rules = pfc_of(network.switches.queue, ports, mtu, network.pfc.headroom);
    const auto longest = std::max_element(
        plan.edges.begin(), plan.edges.end(), [&](const PlannedEdge& a, const PlannedEdge& b) {
          return pfc_headroom(a.rate, mtu) < pfc_headroom(b.rate, mtu);
        });
    const std::string complaint =
        complaint_about(rules, network.switches.queue, ports, mtu, longest->rate);
    if (!complaint.empty()) {
      all.push_back(
          {{"network.pfc.enabled", "network.pfc.headroom", "network.switch.queue"}, complaint});
    }
  }
  if (network.pfc.is_on || !network.allow_cycles) {
    const NetworkGraph graph(plan);
    const NextHops hops(graph);
    const auto cycle = find_channel_cycle(hops);
    if (!cycle.empty()) {
      const std::string text = fmt::format("routes lead in a circle, {}; expected none",
                                           text_of_cycle(plan, graph, cycle));
      all.push_back(network.pfc.is_on
                        ? NetworkComplaint{{"network.topology", "network.pfc.enabled"},
                                           text + " with network.pfc.enabled [NW-9]"}
                        : NetworkComplaint{{"network.topology", "network.allow_cycles"},
                                           text + ", or network.allow_cycles [NW-9]"});
    }
  }
  return all;
}

std::vector<NetworkComplaint> network_complaints(const Config& config) {
  const NetworkConfig& network = config.network;
  const SrdmaConfig& srdma = config.device.srdma;
  const FlowsConfig& flows = config.workload.flows;
  std::vector<NetworkComplaint> all = shape_complaints(network);
  const auto add_if = [&all](bool is_wrong, std::vector<std::string> paths, std::string message) {
    if (is_wrong) {
      all.push_back({std::move(paths), std::move(message)});
    }
  };
  for (NetworkComplaint& one :
       session_complaints(srdma, srdma.connect != GroupConnect::kStanding)) {
    all.push_back(std::move(one));
  }
  const bool has_echo_control =
      srdma.congestion.kind != RateControl::kNone && srdma.congestion.kind != RateControl::kDcqcnQp;
  add_if(!srdma.is_on && has_echo_control, {"device.srdma.congestion.kind", "device.srdma.enabled"},
         "a window, or rates by session, without sessions; expected none or dcqcn_qp, or "
         "device.srdma.enabled true [MO-1]");
  constexpr std::uint64_t kMostPsns = (1U << 23) - 1;
  add_if(flows.bytes > kMostPsns * srdma.mtu, {"workload.flows.bytes", "device.srdma.mtu"},
         fmt::format("{} bytes in packets of {}; expected {} packets at most [PS-3]", flows.bytes,
                     srdma.mtu, kMostPsns));
  for (NetworkComplaint& one : class_complaints(network, srdma)) {
    all.push_back(std::move(one));
  }
  add_if(flows.pattern == FlowPattern::kSizes && config.workload.sizes.empty(),
         {"workload.flows.pattern", "workload.sizes"},
         "no sizes; expected workload.sizes with the name of a distribution, or a CSV");
  add_if(flows.pattern == FlowPattern::kTrace && config.workload.trace.empty(),
         {"workload.flows.pattern", "workload.trace"},
         "no trace; expected workload.trace with a CSV of time_ns,src,dst,bytes");
  for (const std::uint64_t host : config.trace.hosts) {
    add_if(host >= network.hosts, {"trace.hosts", "network.hosts"},
           fmt::format("host {} of {}; expected numbers below that", host, network.hosts));
  }
  if (all.empty()) {
    all = plan_complaints(network, network_plan(network), srdma.mtu);
  }
  return all;
}

}  // namespace flitwise
