// SPDX-License-Identifier: Apache-2.0
// What has to fit together where devices have RDMA adapters.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/printable.h"
#include "common/problems.h"
#include "common/quantity.h"
#include "common/ranges.h"
#include "config/adapter_flows.h"
#include "config/instances.h"
#include "config/load.h"
#include "config/names.h"
#include "config/relations.h"
#include "config/sections/sections.h"
#include "endpoint/domain_numbers.h"
#include "network/addresses.h"
#include "network/network_setup.h"
#include "rdma/rdma_area.h"
#include "rdma/rdma_connections.h"
#include "rdma/rdma_frame.h"

namespace flitwise::config {
namespace {

constexpr const char* kRdmaPeer = "device.rdma.peer";

// That have queue pairs.
std::size_t functions_of(const Config& config) {
  return std::min<std::size_t>(workload_functions(config.device).size(), config.workload.domains);
}

// At most.
unsigned pairs_of_function(const Config& config) {
  const auto functions = static_cast<unsigned>(functions_of(config));
  return (config.workload.domains + functions - 1) / functions;
}

RdmaGeometry geometry_of(const Config& config) {
  const WorkloadConfig& workload = config.workload;
  const RdmaConfig& rdma = config.device.rdma;
  return {workload.buffer_size,
          rdma.queue,
          rdma.cq,
          rdma.cqe,
          workload.sizes.empty() ? workload.payload : workload.size_cap,
          rdma.pretranslation.is_on ? pairs_of_function(config) : 0};
}

// [HP-8]
void check_shares(const RdmaConfig& rdma, std::size_t functions, BrokenRelations& broken) {
  const struct {
    const char* path;
    const std::vector<unsigned>& list;
  } lists[] = {{"device.rdma.shares.kicks", rdma.shares.kicks},
               {"device.rdma.shares.states", rdma.shares.states},
               {"device.rdma.shares.later", rdma.shares.later}};
  for (const auto& one : lists) {
    broken.add_if(one.list.size() > functions, {one.path, "workload.functions"},
                  "{} shares for {} functions that carry the workload; expected one for each at "
                  "most",
                  one.list.size(), functions);
  }
  broken.add_if(rdma.shares.later.size() > rdma.shares.kicks.size(),
                {"device.rdma.shares.later", "device.rdma.shares.kicks"},
                "{} weights later, and {} before; expected no more than before",
                rdma.shares.later.size(), rdma.shares.kicks.size());
  std::uint64_t held = 0;
  for (const unsigned share : rdma.shares.states) {
    held += share;
  }
  const std::uint64_t rest = rdma.shares.states.size() < functions ? 1 : 0;
  broken.add_if(!rdma.shares.states.empty() && held + rest > rdma.qpsc_entries,
                {"device.rdma.shares.states", "device.rdma.qpsc_entries"},
                "shares of {} entries in all, of a cache of {}; expected no more than it has, and "
                "one at least for functions without a share",
                held, rdma.qpsc_entries);
}

}  // namespace

void check_rdma(const Config& config, BrokenRelations& broken) {
  const WorkloadConfig& workload = config.workload;
  if (workload.via != WorkloadVia::kRdma) {
    return;
  }
  const char* const size = workload.sizes.empty() ? "workload.payload" : "workload.size_cap";
  broken.add_if(
      workload.kind != WorkloadKind::kPostedWrite && workload.kind != WorkloadKind::kFlows,
      {"workload.via", "workload.kind"},
      "kind {} by rdma; expected flows, or posted_write, and weights of workload.rdma for "
      "kinds of work requests",
      spelling(workload.kind));
  broken.add_if(
      workload.rdma.sum() == 0, {"workload.rdma.write"},
      "no kind of work request with a weight; expected one of workload.rdma of 1 or more");
  broken.add_if(
      workload.kind == WorkloadKind::kFlows && config.network.topology == NetworkTopology::kCable,
      {"workload.kind", "network.topology"},
      "flows between adapters without a network; expected network.topology switch, or "
      "another one with switches");
  const bool has_flows = workload.kind == WorkloadKind::kFlows;
  broken.add_if(
      has_flows && workload.flows.pattern == FlowPattern::kSizes && workload.sizes.empty(),
      {"workload.flows.pattern", "workload.sizes"},
      "no sizes; expected workload.sizes with the name of a distribution, or a CSV");
  broken.add_if(
      has_flows && workload.flows.pattern == FlowPattern::kTrace && workload.trace.empty(),
      {"workload.flows.pattern", "workload.trace"},
      "no trace; expected workload.trace with a CSV of time_ns,src,dst,bytes");
  broken.add_if(config.link.carrier != Carrier::kPcie, {"workload.via", "link.carrier"},
                "RDMA on the {} carrier; expected link.carrier pcie",
                spelling(config.link.carrier));
  broken.add_if(!workload.real_payload, {"workload.via", "workload.real_payload"},
                "work requests, which are bytes in host memory; expected workload.real_payload "
                "true");
  const IommuDriverConfig& driver = config.host.iommu_driver;
  broken.add_if(driver.enabled && driver.teardown_rate > 0,
                {"workload.via", "host.iommu_driver.teardown_rate"},
                "contexts that end, and queue pairs that do not; expected "
                "host.iommu_driver.teardown_rate 0");
  const Bytes page = config.iommu.page;
  broken.add_if(
      driver.enabled && (workload.buffer_size % page != 0 || workload.buffer_base % page != 0),
      {"host.iommu_driver.enabled", "workload.buffer_size", "workload.buffer_base", "iommu.page"},
      "buffers of {} from {:#x} on, which a driver maps in pages of {}; expected whole pages",
      size_text(workload.buffer_size), workload.buffer_base, size_text(page));
  broken.add_if(workload.domain_choice == DomainChoice::kChurn,
                {"workload.via", "workload.domain_choice"},
                "contexts that end, and queue pairs that do not; expected another "
                "workload.domain_choice");
  const RdmaConfig& rdma = config.device.rdma;
  broken.add_if(workload.rdma.send > 0 && workload.domains > rdma.cq,
                {"workload.rdma.send", "workload.domains", "device.rdma.cq"},
                "{} queue pairs that take messages, and a completion queue of {}; expected "
                "device.rdma.cq of an entry or more for each",
                workload.domains, rdma.cq);
  const std::size_t functions = functions_of(config);
  broken.add_if(config.host.verbs.hostile > 0 && config.host.verbs.hostile >= functions,
                {"host.verbs.hostile", "workload.functions", "device.functions.count"},
                "{} hostile functions of {} that carry the workload; expected one at least whose "
                "software is none",
                config.host.verbs.hostile, functions);
  check_shares(rdma, functions, broken);
  if (config.device.srdma.is_on) {
    for (NetworkComplaint& one : session_complaints(config.device.srdma, true)) {
      broken.push_back({std::move(one.paths), std::move(one.message)});
    }
  }
  RdmaPacket largest;  // of all that have a payload
  largest.opcode = RdmaOpcode::kWriteOnlyImm;
  largest.payload_bytes = rdma.mtu;
  const Bytes frame = wire_bytes_of(largest), packet = frame - kEthernetOverheadBytes;
  broken.add_if(2 * Bytes{rdma.mtu} > rdma.dma_memory || 2 * packet > rdma.payload_ram,
                {"device.rdma.mtu", "device.rdma.dma_memory", "device.rdma.payload_ram"},
                "an MTU of {}; expected memories of two packets or more: of {} of payload, and of "
                "{} with headers",
                size_text(rdma.mtu), size_text(2 * Bytes{rdma.mtu}), size_text(2 * packet));
  const auto& translated = rdma.pretranslation.timing;
  broken.add_if(rdma.pretranslation.is_on && translated.longest_retry < translated.retry,
                {"device.rdma.pretranslation.timing.longest_retry",
                 "device.rdma.pretranslation.timing.retry"},
                "the longest time to the next attempt is {:.0f} us, and the first {:.0f} us; "
                "expected no less",
                translated.longest_retry.ns() / 1'000, translated.retry.ns() / 1'000);
  broken.add_if(
      config.network.topology != NetworkTopology::kCable && config.network.switches.queue < frame,
      {"network.switch.queue", "device.rdma.mtu"},
      "a queue of {} for frames of up to {}; expected room for one or more",
      size_text(config.network.switches.queue), size_text(frame));
  broken.add_if(
      rdma.pretranslation.is_on && (config.iommu.translation == Translation::kOff ||
                                    config.iommu.translation == Translation::kPassThrough),
      {"device.rdma.pretranslation.enabled", "iommu.translation"},
      "structures that are to be translated ahead of use, and iommu.translation {}; "
      "expected first_stage, second_stage or nested",
      spelling(config.iommu.translation));
  broken.add_if(rdma.pretranslation.is_on && workload.at == At::kTranslated,
                {"device.rdma.pretranslation.enabled", "workload.at"},
                "addresses that all are translated already; expected workload.at untranslated");
  const RdmaGeometry geometry = geometry_of(config);
  const RdmaArea area(geometry, 0, 0U);
  constexpr Bytes kUnit = Bytes{4} << 10;  // buffers have whole pages
  const Bytes most = std::max<Bytes>(geometry.most_bytes, 8) + 63;
  broken.add_if(
      geometry.together > 0 && area.places() == 0,
      {"device.rdma.pretranslation.enabled", "workload.buffer_size", "workload.domains", size,
       "device.rdma.queue", "device.rdma.cq"},
      "states and rings of {} queue pairs of {} entries, and two completion queues of {}, that lie "
      "together in the first buffer, of {}; expected room for three messages of {} behind them, {} "
      "or more",
      geometry.together, rdma.queue, rdma.cq, size_text(workload.buffer_size),
      size_text(geometry.most_bytes),
      size_text((structures_end(geometry) + 3 * most + kUnit - 1) / kUnit * kUnit));
  broken.add_if(
      geometry.together == 0 && area.places() == 0,
      {"workload.buffer_size", size, "device.rdma.queue", "device.rdma.cq"},
      "a buffer of {} for rings of {} entries, two completion queues of {} and messages of {}; "
      "expected room for three messages behind them, {} or more",
      size_text(workload.buffer_size), rdma.queue, rdma.cq, size_text(geometry.most_bytes),
      size_text((area.completions_begin() + area.completions_bytes() + 3 * most + kUnit - 1) /
                kUnit * kUnit));
}

namespace {

/// Keys that have one value at both ends of a connection, in canonical spelling.
constexpr const char* kShared[] = {"device.srdma.enabled",
                                   "device.srdma.groups",
                                   "device.srdma.secured",
                                   "device.srdma.receive",
                                   "device.srdma.ooo_window",
                                   "device.srdma.sack",
                                   "device.srdma.congestion.kind",
                                   "device.srdma.cm_port",
                                   "device.srdma.cm_plain",
                                   "device.rdma.mtu",
                                   "device.rdma.queue",
                                   "device.rdma.cq",
                                   "device.rdma.cqe",
                                   "device.rdma.pretranslation.enabled",
                                   "workload.payload",
                                   "workload.buffer_size",
                                   "workload.sizes",
                                   "workload.size_cap"};

/// All devices of a machine, and what has to hold between those with adapters.
class Adapters {
 public:
  Adapters(const Graph& graph, const std::vector<Config>& configs,
           std::vector<BrokenRelationOf>& all)
      : graph_(graph),
        configs_(configs),
        all_(all),
        names_(mapped(graph.devices(), [&](NodeIndex node) { return graph[node].name; })),
        has_switch_(configs.front().network.topology != NetworkTopology::kCable),
        asked_(configs.size()) {}

  void check() {
    if (has_switch_ && !(check_network() && check_flows())) {
      return;
    }
    for (std::size_t own = 0; own < names_.size(); ++own) {
      check_peer(own);
    }
    if (!flows_.empty()) {
      set_receivers();
    }
    const std::vector<RdmaConnections> connections = rdma_connections(asked_);
    for (std::size_t own = 0; own < names_.size(); ++own) {
      check_number(own, connections[own]);
    }
    for (std::size_t own = 0; own < names_.size(); ++own) {
      for (const std::size_t peer : asked_[own]) {
        check_functions(own, peer);
        check_ends(own, peer, connections);
      }
    }
  }

 private:
  void add(std::size_t device, std::vector<std::string> paths, std::string text) {
    all_.push_back({graph_.devices()[device], {std::move(paths), std::move(text)}});
  }
  bool has_adapter(std::size_t device) const {
    return configs_[device].workload.via == WorkloadVia::kRdma;
  }

  // All of them are at one network, the first one at its first host.
  bool check_network() {
    const std::vector<std::size_t> adapters = adapter_hosts(configs_);
    if (adapters.size() < 2) {  // which another sentence says
      return true;
    }
    const std::size_t before = all_.size();
    const auto cables = mapped<EdgeRate>(adapters, [&](std::size_t device) -> EdgeRate {
      const auto& port = configs_[device].device.rdma.port;
      return {port.rate_gbps, port.propagation};
    });
    const std::size_t first = adapters.front();
    const NetworkConfig& network = configs_[first].network;
    const bool is_star = network.topology == NetworkTopology::kSwitch;
    const auto count = static_cast<unsigned>(adapters.size());
    if (count > kMostNetworkPorts) {
      add(first, {"network.topology", "system.devices"},
          fmt::format("{} adapters in one network; expected {} at most", count, kMostNetworkPorts));
    } else if (!is_star && count > network.hosts) {
      add(first, {"network.hosts", "system.devices"},
          fmt::format("{} adapters, and {} hosts; expected a host for each", count, network.hosts));
    } else {
      NetworkConfig own = network;
      own.hosts = is_star ? std::max(2U, count) : network.hosts;
      std::vector<NetworkComplaint> complaints = shape_complaints(own);
      if (complaints.empty()) {
        const NetworkPlan plan = is_star ? star_plan(cables) : network_plan(own);
        complaints = plan_complaints(own, plan, configs_[first].device.rdma.mtu);
        check_plan(first, own, plan, count);
      }
      for (NetworkComplaint& one : class_complaints(own, configs_[first].device.srdma)) {
        complaints.push_back(std::move(one));
      }
      for (NetworkComplaint& one : complaints) {
        add(first, std::move(one.paths), std::move(one.message));
      }
    }
    return all_.size() == before;
  }

  // Of workloads of kind flows.
  bool check_flows() {
    const std::vector<std::size_t> adapters = adapter_hosts(configs_);
    const auto has_flows = [&](std::size_t device) {
      return configs_[device].workload.kind == WorkloadKind::kFlows;
    };
    const auto without = find_if(adapters, [&](std::size_t device) { return !has_flows(device); });
    if (without != adapters.end()) {
      if (const auto one = find_if(adapters, has_flows); one != adapters.end()) {
        add(*without, {"workload.kind"},
            fmt::format("kind {}, and flows at {}; expected flows at all adapters, or at none",
                        spelling(configs_[*without].workload.kind), names_[*one]));
        return false;
      }
      return true;
    }
    if (!adapters.empty()) {
      flows_ = adapter_flows(configs_[adapters.front()], adapters.size());
    }
    const std::string flaw = flaw_of(adapters);
    if (!flaw.empty()) {
      add(adapters.front(), {"workload.flows.pattern", "workload.kind", "network.hosts"}, flaw);
    }
    return flaw.empty();
  }

  // Devices for hosts.
  void set_receivers() {
    const std::vector<std::size_t> adapters = adapter_hosts(configs_);
    const auto receivers = receivers_of(flows_, adapters.size());
    for (std::size_t host = 0; host < adapters.size(); ++host) {
      asked_[adapters[host]] =
          mapped<std::size_t>(receivers[host], [&](std::size_t peer) { return adapters[peer]; });
    }
  }

  std::string flaw_of(const std::vector<std::size_t>& adapters) const {
    std::vector<bool> has_flow(adapters.size());
    for (const Flow& flow : flows_) {
      has_flow[flow.source] = has_flow[flow.destination] = true;
    }
    const auto idle = std::find(has_flow.begin(), has_flow.end(), false);
    return idle == has_flow.end()
               ? ""
               : fmt::format("no flow from or to {}; expected one at least for each adapter",
                             names_[adapters[static_cast<std::size_t>(idle - has_flow.begin())]]);
  }

  void check_plan(std::size_t first, const NetworkConfig& network, const NetworkPlan& plan,
                  unsigned adapters) {
    const auto edge = fault_edge(network, plan);
    if (edge && network.fault.rate_gbps > 0 &&
        std::min(plan.edges[*edge].from, plan.edges[*edge].to) < adapters) {
      add(first, {"network.fault.rate", "network.fault.link"},
          fmt::format("a slow link {} of an adapter, whose port keeps its rate; expected one "
                      "between switches, or network.fault.rate 0 (not modelled yet)",
                      network.fault.link));
    }
    for (const PlannedEdge& one : plan.edges) {
      if (plan.is_host(one.from) && plan.is_host(one.to)) {
        add(first, {"network.topology", "network.graph.edges"},
            fmt::format("edge {} joins two hosts; expected a switch between them, or topology "
                        "cable",
                        plan.name_of(one.from) + "-" + plan.name_of(one.to)));
      }
    }
  }

  void check_peer(std::size_t own) {
    const std::string& peer = configs_[own].device.rdma.peer;
    if (peer.empty()) {
      return;
    }
    const auto place = std::find(names_.begin(), names_.end(), peer);
    const auto there = static_cast<std::size_t>(place - names_.begin());
    if (place == names_.end()) {
      add(own, {kRdmaPeer},
          fmt::format("no device '{}' in this topology; expected {}, or none{}", shortened(peer),
                      alternatives(names_), nearest_hint(peer, names_, "name")));
    } else if (has_adapter(own) && there == own) {
      add(own, {kRdmaPeer}, "a cable from a device to itself; expected another device, or none");
    } else if (has_adapter(own) && !has_adapter(there)) {
      add(own, {kRdmaPeer},
          fmt::format("'{}' has no RDMA adapter, as its workload.via is not rdma", peer));
    } else if (has_adapter(own)) {
      asked_[own] = {there};
    }
  }

  // By cables each has one peer, by a switch one or more.
  void check_number(std::size_t own, const RdmaConnections& connections) {
    if (!has_adapter(own)) {
      return;
    }
    if (connections.empty() && configs_[own].device.rdma.peer.empty()) {
      add(own, {kRdmaPeer, "workload.via"},
          fmt::format("an adapter without a {}, as it names no peer and no device names it; "
                      "expected the name of the device at the other end{}, such as "
                      "system.instances: {{ep0: {{device.rdma.peer: ep1}}}}",
                      has_switch_ ? "peer" : "cable", has_switch_ ? "" : " of a cable"));
    }
    if (connections.size() > 1 && !has_switch_) {
      const std::string& first = names_[connections[0].peer];
      const std::size_t second = connections[1].peer;
      add(contains(asked_[second], own) ? second : own, {kRdmaPeer},
          fmt::format("'{}' has a cable to {} already; expected devices in pairs, or "
                      "network.topology switch",
                      names_[own], first));
    }
    const Config& config = configs_[own];
    if (connections.size() > 1 && functions_of(config) > 1) {
      add(own, {"workload.functions", kRdmaPeer},
          fmt::format("queue pairs of {} functions with {} peers; expected one function, or one "
                      "peer (not modelled yet)",
                      functions_of(config), connections.size()));
    }
    if (connections.size() > 1 && config.device.rdma.hostile_frames > 0) {
      add(own, {"device.rdma.hostile_frames", kRdmaPeer},
          fmt::format("forged frames of an adapter with {} peers; expected one peer (not modelled "
                      "yet)",
                      connections.size()));
    }
    const unsigned pairs = config.workload.domains;
    if (has_switch_ && !connections.empty() && pairs % connections.size() != 0) {
      add(own, {"workload.domains", kRdmaPeer},
          fmt::format("{} queue pairs for {} peers; expected workload.domains that these share "
                      "out evenly, such as {}",
                      pairs, connections.size(),
                      (pairs / connections.size() + 1) * connections.size()));
    }
  }

  void check_functions(std::size_t own, std::size_t peer) {
    const std::size_t here = functions_of(configs_[own]), far = functions_of(configs_[peer]);
    if (here != far) {
      add(own, {"workload.functions", "device.functions.count", kRdmaPeer},
          fmt::format(
              "{} functions carry the workload, and {} at {}; expected as many at both ends "
              "of a {}",
              here, far, names_[peer], has_switch_ ? "connection" : "cable"));
    }
  }

  void check_ends(std::size_t own, std::size_t peer,
                  const std::vector<RdmaConnections>& connections) {
    for (const char* const path : kShared) {
      const Key& key = *find_row(path);
      const std::string here = as_text(key.write(configs_[own]));
      if (const std::string far = as_text(key.write(configs_[peer])); far != here) {
        add(own, {path, kRdmaPeer},
            fmt::format("{} is {}, and {} at {}; expected one value at both ends of a {}", path,
                        here, far, names_[peer], has_switch_ ? "connection" : "cable"));
      }
    }
    const unsigned here = configs_[own].workload.domains, far = configs_[peer].workload.domains;
    const auto peers_here = static_cast<unsigned>(connections[own].size()),
               peers_far = static_cast<unsigned>(connections[peer].size());
    const bool are_pairs = peers_here == 1 && peers_far == 1;
    if ((has_switch_ || are_pairs) && here / peers_here != far / peers_far) {
      add(own, {"workload.domains", kRdmaPeer},
          are_pairs
              ? fmt::format("workload.domains is {}, and {} at {}; expected one value at both ends "
                            "of a {}",
                            here, far, names_[peer], has_switch_ ? "connection" : "cable")
              : fmt::format("{} queue pairs with each peer, and {} at {}, which has {} peers; "
                            "expected as many at both ends, such as workload.domains {} at {}",
                            here / peers_here, far / peers_far, names_[peer], peers_far,
                            here / peers_here * peers_far, names_[peer]));
    }
    const Config& there = configs_[peer];
    if (configs_[own].workload.rdma.send > 0 && there.workload.domains > there.device.rdma.cq) {
      add(own, {"workload.rdma.send", "workload.domains", "device.rdma.cq"},
          fmt::format("{} queue pairs that take messages at {}, and a completion queue of {}; "
                      "expected device.rdma.cq of an entry or more for each",
                      there.workload.domains, names_[peer], there.device.rdma.cq));
    }
  }

  const Graph& graph_;
  const std::vector<Config>& configs_;
  std::vector<BrokenRelationOf>& all_;
  const std::vector<std::string> names_;
  const bool has_switch_;
  std::vector<std::vector<std::size_t>> asked_;  // by device
  std::vector<Flow> flows_;                      // of workloads of that kind
};

}  // namespace

void add_broken_cables(const Graph& graph, const std::vector<Config>& configs,
                       std::vector<BrokenRelationOf>& all) {
  if (!configs.empty()) {
    Adapters(graph, configs, all).check();
  }
}

}  // namespace flitwise::config
