// SPDX-License-Identifier: Apache-2.0
// Devices with RDMA adapters: their senders, cables between them, and the way of a work request.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/ranges.h"
#include "fabric/engine_kinds.h"
#include "fabric/route_steps.h"
#include "rdma/hca_result.h"
#include "rdma/rdma_sender.h"

namespace flitwise {
namespace {

// The device at the other end of the cable, whichever of the two names it.
FabricDevice& cable_end(Fabric& fabric, const FabricDevice& device) {
  const std::string& named = device.config.device.rdma.peer;
  FabricDevice* const peer = !named.empty()
                                 ? fabric.find(named)
                                 : find_where(fabric.devices, [&](const FabricDevice& one) {
                                     return one.config.workload.via == WorkloadVia::kRdma &&
                                            one.config.device.rdma.peer == device.name;
                                   });
  FLITWISE_CHECK(peer != nullptr, "an RDMA adapter without a cable");
  return *peer;
}

VerbsDriverConfig verbs_config(const Builder& builder, const Fabric& fabric,
                               const FabricDevice& device, const FabricDevice& peer) {
  const auto seed_of = [&](const FabricDevice& one) {
    const std::string& position = fabric.graph[one.node].position;
    return Random(builder.with_own_seed(one.config, position).run.seed).split("PSN").next();
  };
  const WorkloadConfig& workload = device.config.workload;
  const RdmaConfig& rdma = device.config.device.rdma;
  VerbsDriverConfig config;
  config.hca.rdma = rdma;
  config.hca.geometry = {workload.buffer_size, rdma.queue, rdma.cq, rdma.cqe,
                         workload.sizes.empty() ? workload.payload : workload.size_cap};
  config.hca.buffer_base = workload.buffer_base;
  config.hca.pairs = workload.domains;
  config.hca.doorbell = device.config.device.functions.bar_size / 2;
  config.hca.end = &device < &peer ? 0 : 1;
  config.hca.seed = seed_of(device);
  config.hca.peer_seed = seed_of(peer);
  config.verbs = builder.at_root_port(device).host.verbs;
  config.posts = !rdma.peer.empty();
  config.peer_sends = !peer.config.device.rdma.peer.empty() && peer.config.workload.rdma.send > 0;
  config.peer_base = peer.config.workload.buffer_base;
  return config;
}

// Doorbell, entries and payload that are read, the cable, and the memory of the peer.
RequestRoute route_of_requests(const Fabric& fabric, const FabricDevice& device,
                               const FabricDevice& peer, RdmaSender& sender) {
  RequestRoute route{fabric.links[device.link].name, "down", "write", 0, {}};
  pass(route, {sender.driver().name(), device.root_port->name()}, "down");
  pass(route, links_above(fabric.graph, device.node), "down");
  pass(route, {sender.hca().name()}, "down");
  const RequestRoute fetched = read_route(fabric.graph, device, sender.hca().name());
  route.steps.insert(route.steps.end(), fetched.steps.begin(), fetched.steps.end());
  pass(route, {peer.name + "_hca"}, "down");
  pass_to_memory_of(peer, fabric.graph, route);
  pass_to_memory_of(device, fabric.graph, route);  // completions
  return route;
}

NicPort& cable_port_of(FabricDevice& device) {
  if (device.nic == nullptr) {
    device.nic = std::make_unique<NicPort>((device.name + "_nic").c_str(),
                                           device.config.device.rdma.port.propagation);
  }
  return *device.nic;
}

void add_rdma(Builder& builder, FabricDevice& device) {
  Fabric& fabric = builder.fabric();
  const Fabric::Surroundings& around = fabric.surroundings;
  FabricDevice& peer = cable_end(fabric, device);
  const Config& config = device.config;
  const RunConfig run = builder.with_own_seed(config, fabric.graph[device.node].position).run;
  HostNode& host = *around.hosts[device.host];
  const RdmaSender::Site site = {device.name,
                                 *device.endpoint,
                                 host.bridge,
                                 host.memory,
                                 around.hosts[peer.host]->memory,
                                 static_cast<std::size_t>(&device - fabric.devices.data()),
                                 around.bar,
                                 around.counting_starts,
                                 around.work_ended};
  auto made = std::make_unique<RdmaSender>(site, verbs_config(builder, fabric, device, peer),
                                           config.workload, config.device, run);
  RdmaSender& sender = *made;
  device.sender = std::move(made);
  sender.hca().set_route(route_of_requests(fabric, device, peer, sender));
  device.components.insert(
      std::find(device.components.begin(), device.components.end(), device.endpoint),
      {&sender.driver(), &sender.hca()});
  builder.join_later([&fabric, &device, &peer, &sender, seed = run.seed] {
    NicPort& port = cable_port_of(device);
    if (const CableConfig& cable = device.config.device.rdma.cable; cable.is_bad()) {
      port.set_faults({cable, Random(seed).split("cable"), fabric.frames});
    }
    port.to_wire.bind(cable_port_of(peer).from_wire);
    sender.connect(port, fabric.frames, static_cast<RdmaSender&>(*peer.sender));
  });
}

}  // namespace

EngineKind rdma_engines() {
  return {WorkloadVia::kRdma, add_rdma, {hca_table, hca_stage_table, verbs_table}};
}

}  // namespace flitwise
