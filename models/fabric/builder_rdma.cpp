// SPDX-License-Identifier: Apache-2.0
// Devices with RDMA adapters: their senders, what joins them, and the way of a work request.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/ranges.h"
#include "config/adapter_flows.h"
#include "endpoint/domain_numbers.h"
#include "fabric/engine_kinds.h"
#include "fabric/route_steps.h"
#include "flitwise/link_socket.h"
#include "network/adapter_network.h"
#include "network/fabric_rules.h"
#include "network/network_host_rules.h"
#include "network/network_setup.h"
#include "rdma/eps_result.h"
#include "rdma/hca_result.h"
#include "rdma/rdma_connections.h"
#include "rdma/rdma_sender.h"

namespace flitwise {
namespace {

bool is_switched(const Fabric& fabric) {
  return fabric.config.network.topology != NetworkTopology::kCable;
}

std::size_t index_of(const Fabric& fabric, const FabricDevice& device) {
  return static_cast<std::size_t>(&device - fabric.devices.data());
}

bool has_adapter(const FabricDevice& device) {
  return device.config.workload.via == WorkloadVia::kRdma;
}

// Of a network of switches: the first adapter is at the first host.
NodeId host_of(const Fabric& fabric, std::size_t device) {
  const auto first = fabric.devices.begin();
  return static_cast<NodeId>(
      std::count_if(first, first + static_cast<std::ptrdiff_t>(device), has_adapter));
}

bool has_flows(const Fabric& fabric) {
  return any_of(fabric.devices, [](const FabricDevice& device) {
    return has_adapter(device) && device.config.workload.kind == WorkloadKind::kFlows;
  });
}

// The device at a host. REQUIRES: an adapter is there.
std::size_t device_at(const Fabric& fabric, NodeId host) {
  return static_cast<std::size_t>(find_if(fabric.devices,
                                          [&](const FabricDevice& one) {
                                            return has_adapter(one) &&
                                                   host_of(fabric, index_of(fabric, one)) == host;
                                          }) -
                                  fabric.devices.begin());
}

std::vector<std::size_t> asked_by(const Fabric& fabric, const FabricDevice& device) {
  const std::string& peer = device.config.device.rdma.peer;
  if (!has_adapter(device) || peer.empty()) {
    return {};
  }
  return {static_cast<std::size_t>(
      find_if(fabric.devices, [&](const FabricDevice& one) { return one.name == peer; }) -
      fabric.devices.begin())};
}

// By device.
std::vector<RdmaConnections> connections_in(const Fabric& fabric) {
  std::vector<std::vector<std::size_t>> asked;
  for (const FabricDevice& device : fabric.devices) {
    asked.push_back(asked_by(fabric, device));
  }
  if (has_flows(fabric)) {
    const NodeId hosts = host_of(fabric, fabric.devices.size());
    const auto receivers = receivers_of(adapter_flows(fabric.config, hosts), hosts);
    for (NodeId host = 0; host < hosts; ++host) {
      asked[device_at(fabric, host)] = mapped<std::size_t>(receivers[host], [&](std::size_t to) {
        return device_at(fabric, static_cast<NodeId>(to));
      });
    }
  }
  return rdma_connections(asked);
}

// One switch has a cable of its own kind to each adapter; others are as network.topology says.
NetworkPlan plan_of(const Fabric& fabric) {
  if (fabric.config.network.topology != NetworkTopology::kSwitch) {
    return network_plan(fabric.config.network);
  }
  std::vector<EdgeRate> cables;
  for (const FabricDevice& device : fabric.devices) {
    if (has_adapter(device)) {
      const auto& port = device.config.device.rdma.port;
      cables.push_back({port.rate_gbps, port.propagation});
    }
  }
  return star_plan(cables);
}

void attach_all(Fabric& fabric) {
  NodeId host = 0;
  for (FabricDevice& device : fabric.devices) {
    if (has_adapter(device)) {
      device.nic = std::make_unique<NicPort>((device.name + "_nic").c_str(),
                                             fabric.network->cable_of(host).delay);
      NicPort& far = fabric.network->attach(host++, device.name, *device.nic);
      device.nic->to_wire.bind(far.from_wire);
      far.to_wire.bind(device.nic->from_wire);
      if (fabric.config.network.ecn.is_on) {
        device.nic->set_ecn_capable();
      }
    }
  }
}

const char* rate_key(const Fabric& fabric) {
  return fabric.config.network.topology == NetworkTopology::kSwitch ? "device.rdma.port.rate"
                                                                    : "network.rate";
}

AdapterNetwork& network_of(Fabric& fabric) {
  if (fabric.network == nullptr) {
    const Config& config = fabric.config;
    const bool is_star = config.network.topology == NetworkTopology::kSwitch;
    AdapterNetwork::Setup setup;
    setup.network = config.network;
    setup.plan = plan_of(fabric);
    setup.rules = fabric_rules(config.network, setup.plan, config.device.srdma.adaptive_routing,
                               config.device.rdma.mtu);
    setup.rules.keeps_waits = true;
    setup.latency = is_star ? config.network.switches.timing.latency : Time{};
    setup.rate_key = rate_key(fabric);
    setup.seed = config.run.seed;
    fabric.network = std::make_unique<AdapterNetwork>(kNetworkSwitch, setup);
    attach_all(fabric);
  }
  return *fabric.network;
}

// Ends of a cable are 0 and 1; in a network of switches each adapter has the number of its host.
unsigned adapter_number(const Fabric& fabric, std::size_t device, std::size_t peer) {
  return is_switched(fabric) ? host_of(fabric, device) : device < peer ? 0 : 1;
}

// That carry the workload; no more than there are domains.
std::vector<unsigned> functions_of(const FabricDevice& device) {
  std::vector<unsigned> all = workload_functions(device.config.device);
  all.resize(std::min<std::size_t>(all.size(), device.config.workload.domains));
  return all;
}

// One way between an adapter and another one, of an empty network.
Time ideal_between(Fabric& fabric, const FabricDevice& device, std::size_t peer,
                   const FlowFraming& framing, std::uint64_t bytes) {
  const auto& port = device.config.device.rdma.port;
  return is_switched(fabric) ? network_of(fabric).ideal(host_of(fabric, index_of(fabric, device)),
                                                        host_of(fabric, peer), framing, bytes)
                             : ideal_time({{port.rate_gbps, port.propagation}}, framing, bytes);
}

// What a queue pair is the adapter says, and what carries it the sessions.
HcaSessionRules session_rules(Fabric& fabric, const FabricDevice& device,
                              const RdmaConnections& peers, double gbps) {
  const RdmaConfig& rdma = device.config.device.rdma;
  SrdmaConfig srdma = device.config.device.srdma;
  srdma.mtu = rdma.mtu;
  srdma.window = rdma.window;
  srdma.timeout = rdma.timeout;
  srdma.retry_cnt = rdma.retry_cnt;
  srdma.ack_every = rdma.ack_every;
  NetworkConfig network = fabric.config.network;
  network.rate_gbps = gbps;
  Time longest{};
  for (const RdmaConnection& one : peers) {
    const auto ideal = [&](const FlowFraming& framing, std::uint64_t bytes) {
      return ideal_between(fabric, device, one.peer, framing, bytes);
    };
    longest = std::max(longest, base_round_trip(srdma, ideal));
  }
  const Time stages = rdma.timing.build + rdma.timing.check + rdma.timing.receive;
  return {srdma, host_rules(network, srdma, longest + stages * 2), fabric.config.run.seed};
}

VerbsDriverConfig verbs_config(const Builder& builder, Fabric& fabric, const FabricDevice& device,
                               const std::vector<RdmaConnections>& connections) {
  const auto seed_of = [&](const FabricDevice& one) {
    const std::string& position = fabric.graph[one.node].position;
    return Random(builder.with_own_seed(one.config, position).run.seed).split("PSN").next();
  };
  const std::size_t own = index_of(fabric, device);
  const WorkloadConfig& workload = device.config.workload;
  const RdmaConfig& rdma = device.config.device.rdma;
  VerbsDriverConfig config;
  config.hca.rdma = rdma;
  if (is_switched(fabric)) {
    config.hca.rdma.port.rate_gbps = network_of(fabric).cable_of(host_of(fabric, own)).gbps;
    config.hca.rate_key = rate_key(fabric);
  }
  config.hca.geometry = {workload.buffer_size,
                         rdma.queue,
                         rdma.cq,
                         rdma.cqe,
                         workload.sizes.empty() ? workload.payload : workload.size_cap,
                         0};
  config.hca.buffer_base = workload.buffer_base;
  config.hca.pairs = workload.domains;
  config.hca.functions = functions_of(device);
  config.hca.geometry.together = rdma.pretranslation.is_on ? config.hca.pairs_of(0) : 0;
  config.hca.doorbell = device.config.device.functions.bar_size / 2;
  config.hca.adapter = adapter_number(fabric, own, connections[own].front().peer);
  config.hca.interrupt_address = interrupt_address(own);
  config.hca.seed = seed_of(device);
  config.hca.peers.clear();
  for (const RdmaConnection& one : connections[own]) {
    const FabricDevice& peer = fabric.devices[one.peer];
    const WorkloadConfig& there = peer.config.workload;
    const RdmaConnections& all = connections[one.peer];
    const auto pairs = there.domains / static_cast<std::uint32_t>(all.size());
    config.hca.peers.push_back(
        {adapter_number(fabric, one.peer, own), there.domains,
         pairs * static_cast<std::uint32_t>(place_of(all, own)), there.buffer_base, seed_of(peer),
         one.is_asked && there.rdma.send > 0, peer.config.device.rdma.max_rd_atomic});
    config.is_attacked = config.is_attacked || peer.config.device.rdma.hostile_frames > 0;
    config.hostile_at_peer =
        std::max(config.hostile_at_peer, builder.at_root_port(peer).host.verbs.hostile);
  }
  if (device.config.device.srdma.is_on) {
    config.hca.sessions =
        session_rules(fabric, device, connections[own], config.hca.rdma.port.rate_gbps);
  }
  config.verbs = builder.at_root_port(device).host.verbs;
  config.hca.hostile_functions = config.verbs.hostile;
  config.posts = !rdma.peer.empty();
  config.is_attacked = config.is_attacked || rdma.hostile_frames > 0;
  config.peer_sends = any_of(config.hca.peers, [](const HcaPeer& peer) { return peer.sends; });
  return config;
}

// All ports that may be chosen, hop by hop.
void pass_network(const Fabric& fabric, const FabricDevice& from, const FabricDevice& to,
                  RequestRoute& route) {
  for (const std::vector<std::string>& hop : fabric.network->ways(
           host_of(fabric, index_of(fabric, from)), host_of(fabric, index_of(fabric, to)))) {
    for (const std::string& port : hop) {
      route.steps.push_back({port, "down", "write", port != hop.front()});
    }
  }
}

// Doorbell, entries and payload that are read, the network, and the memory of the peer.
RequestRoute route_of_requests(const Fabric& fabric, const FabricDevice& device,
                               const FabricDevice& peer, RdmaSender& sender) {
  RequestRoute route{fabric.links[device.link].name, "down", "write", 0, {}};
  for (const auto& driver : sender.drivers()) {
    route.steps.push_back({driver->name(), "down", "write", driver != sender.drivers().front()});
  }
  pass(route, {device.root_port->name()}, "down");
  pass(route, links_above(fabric.graph, device.node), "down");
  pass(route, {sender.hca().name()}, "down");
  const RequestRoute fetched = read_route(fabric.graph, device, sender.hca().name());
  route.steps.insert(route.steps.end(), fetched.steps.begin(), fetched.steps.end());
  if (is_switched(fabric)) {
    pass_network(fabric, device, peer, route);
  }
  pass(route, {peer.name + "_hca"}, "down");
  if (is_switched(fabric)) {  // answers
    pass_network(fabric, peer, device, route);
  }
  pass_to_memory_of(peer, fabric.graph, route);
  pass_to_memory_of(device, fabric.graph, route);  // completions
  return route;
}

NicPort& rdma_nic_of(FabricDevice& device) {
  if (device.nic == nullptr) {
    device.nic = std::make_unique<NicPort>((device.name + "_nic").c_str(),
                                           device.config.device.rdma.port.propagation);
  }
  return *device.nic;
}

// The port at the other end of its cable. The way back of a cable between two devices is bound
// where that port's device is joined.
NicPort& far_end(Fabric& fabric, FabricDevice& device, FabricDevice& peer) {
  if (is_switched(fabric)) {
    return fabric.network->port_at(host_of(fabric, index_of(fabric, device)));
  }
  NicPort& far = rdma_nic_of(peer);
  rdma_nic_of(device).to_wire.bind(far.from_wire);
  return far;
}

// The pages that a driver has for them lie one behind the other.
std::uint64_t buffers_of(const FabricDevice& device, const HostNode& host) {
  const std::uint64_t base = device.config.workload.buffer_base;
  return host.driver ? host.driver->physical_of(device.endpoint->identity_of(DomainId{0}), base)
                     : base;
}

// Peers that ask nobody: it asks them.
std::vector<std::size_t> served_by(const Fabric& fabric, const RdmaConnections& own) {
  std::vector<std::size_t> all;
  for (const RdmaConnection& one : own) {
    if (fabric.devices[one.peer].config.device.rdma.peer.empty()) {
      all.push_back(one.peer);
    }
  }
  return all;
}

RdmaSender& sender_of(const Fabric& fabric, std::size_t device) {
  return static_cast<RdmaSender&>(*fabric.devices[device].sender);
}

FlowWatch& flows_of(Fabric& fabric) {
  if (fabric.flows == nullptr) {
    const NodeId hosts = host_of(fabric, fabric.devices.size());
    const SrdmaConfig& srdma = fabric.config.device.srdma;
    const FlowFraming framing =
        flow_framing(fabric.config.device.rdma.mtu, srdma.is_on && srdma.is_secured,
                     srdma.is_on && srdma.receive == ReceiveMode::kDirect);
    FlowWatch::Hooks hooks;
    hooks.ideal = [&fabric, framing](const Flow& flow) {
      return fabric.network->ideal(flow.source, flow.destination, framing, flow.bytes);
    };
    hooks.begin = [&fabric](NodeId host) {
      return sender_of(fabric, device_at(fabric, host)).drivers().front()->begin();
    };
    hooks.post = [&fabric, connections = connections_in(fabric)](const Flow& flow) {
      const std::size_t from = device_at(fabric, flow.source),
                        to = device_at(fabric, flow.destination);
      sender_of(fabric, from)
          .drivers()
          .front()
          ->post(static_cast<std::uint32_t>(place_of(connections[from], to)), flow);
    };
    fabric.flows = std::make_unique<FlowWatch>(adapter_flows(fabric.config, hosts), hooks);
  }
  return *fabric.flows;
}

// Payload that its queue pairs receive, by the peers that they lead to.
void watch_flows(Fabric& fabric, const FabricDevice& device, RdmaSender& sender,
                 const RdmaConnections& own) {
  const NodeId here = host_of(fabric, index_of(fabric, device));
  const auto from =
      mapped<NodeId>(own, [&](const RdmaConnection& one) { return host_of(fabric, one.peer); });
  sender.hca().on_placed(
      [&flows = flows_of(fabric), here, from](std::uint32_t pair, std::uint32_t bytes) {
        flows.placed(from[pair], here, bytes, now());  // one queue pair for each peer
      });
}

void add_rdma(Builder& builder, FabricDevice& device) {
  Fabric& fabric = builder.fabric();
  const Fabric::Surroundings& around = fabric.surroundings;
  const std::vector<RdmaConnections> connections = connections_in(fabric);
  const RdmaConnections& own = connections[index_of(fabric, device)];
  FLITWISE_CHECK(!own.empty(), "an RDMA adapter without a peer");
  FabricDevice& first_peer = fabric.devices[own.front().peer];
  const Config& config = device.config;
  const RunConfig run = builder.with_own_seed(config, fabric.graph[device.node].position).run;
  HostNode& host = *around.hosts[device.host];
  RdmaSender::Site site = {device.name,
                           *device.endpoint,
                           *device.root_port,
                           host.bridge,
                           host.memory,
                           index_of(fabric, device),
                           served_by(fabric, own),
                           around.bar,
                           around.counting_starts,
                           around.work_ended,
                           [&device, &host] { return buffers_of(device, host); },
                           {}};
  for (const RdmaConnection& one : own) {
    const FabricDevice& peer = fabric.devices[one.peer];
    HostNode& its_host = *around.hosts[peer.host];
    site.peers.push_back(
        {its_host.memory, [&peer, &its_host] { return buffers_of(peer, its_host); }});
  }
  const VerbsDriverConfig verbs = verbs_config(builder, fabric, device, connections);
  WorkloadConfig asked = config.workload;
  asked.domains = verbs.hca.pairs_of_each();  // those of the peer that it asks
  auto made = std::make_unique<RdmaSender>(site, verbs, asked, config.device, run);
  RdmaSender& sender = *made;
  device.sender = std::move(made);
  sender.hca().set_route(route_of_requests(fabric, device, first_peer, sender));
  std::vector<Component*> parts;
  for (const auto& driver : sender.drivers()) {
    parts.push_back(driver.get());
  }
  for (const auto& guest : sender.guests()) {
    parts.push_back(guest.get());
  }
  if (sender.control() != nullptr) {
    parts.push_back(sender.control());
  }
  parts.push_back(&sender.hca());
  device.components.insert(
      std::find(device.components.begin(), device.components.end(), device.endpoint), parts.begin(),
      parts.end());
  if (sender.guard() != nullptr) {
    device.components.push_back(sender.guard());
  }
  if (sender.eps() != nullptr) {
    device.components.push_back(sender.eps());
  }
  builder.join_later([&fabric, &device, &first_peer, &sender, own, seed = run.seed] {
    NicPort& port = rdma_nic_of(device);
    if (const CableConfig& cable = device.config.device.rdma.cable; cable.is_bad()) {
      port.set_faults({cable, Random(seed).split("cable"), fabric.frames});
    }
    sender.hca().connect(port, fabric.frames, far_end(fabric, device, first_peer));
    if (device.config.workload.kind == WorkloadKind::kFlows) {
      watch_flows(fabric, device, sender, own);
    }
    for (const RdmaConnection& one : own) {
      sender.compare_with(sender_of(fabric, one.peer));
    }
  });
}

}  // namespace

EngineKind rdma_engines() {
  return {WorkloadVia::kRdma, add_rdma, {hca_table, hca_stage_table, verbs_table, eps_table}};
}

}  // namespace flitwise
