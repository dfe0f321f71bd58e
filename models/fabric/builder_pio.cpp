// SPDX-License-Identifier: Apache-2.0
// Devices that send by PIO: their senders, the way of a packet from a core to the wire or to the
// memory of a peer, and wires between devices.
#include <boost/range/algorithm_ext/push_back.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/ranges.h"
#include "config/instances.h"
#include "fabric/engine_kinds.h"
#include "fabric/route_steps.h"
#include "pio/pio_result.h"
#include "pio/pio_sender.h"
#include "pio/receive_engine.h"
#include "tlp/message_use.h"

namespace flitwise {
namespace {

std::string receiver_of(const FabricDevice& device) {
  return device.name + "_receive";
}

// What the packets of a device are like.
PacketTraits packets_of(const Config& device, const CoresConfig& cores) {
  return {device.workload.real_payload, device.workload.domains - cores.hostile,
          device.faults.pio_integrity, 0};
}

// index: of the device, whose interrupts have a destination of their own.
PioCoreConfig core_config(const Config& device, const CoresConfig& cores, std::uint64_t seed,
                          std::size_t index) {
  const WorkloadConfig& workload = device.workload;
  PacketTraits packets = packets_of(device, cores);
  packets.seed = Random(seed).split("integrity").next();
  PioCoreConfig config;
  config.cores = cores;
  config.engine = {device.device.pio,
                   workload.domains,
                   workload.buffer_base,
                   workload.buffer_size,
                   packets,
                   cores.sdma_from > 0,
                   workload.sizes.empty() ? workload.payload : workload.size_cap,
                   interrupt_address(index)};
  return config;
}

PioSender::Site site_of(const Fabric& fabric, const FabricDevice& device) {
  const Fabric::Surroundings& around = fabric.surroundings;
  HostNode& host = *around.hosts[device.host];
  return {device.name,       *device.endpoint,
          *device.root_port, host.bridge,
          host.memory,       static_cast<std::size_t>(&device - fabric.devices.data()),
          around.bar,        around.counting_starts,
          around.work_ended};
}

// ---- the way of a packet

// A packet passes one of them.
void pass_cores(RequestRoute& route, const PioSender& sender) {
  for (const auto& core : sender.cores()) {
    route.steps.push_back({core->name(), "down", "write", core != sender.cores().front()});
  }
}

void set_routes(Fabric& fabric, const FabricDevice& device, PioSender& sender) {
  const Config& config = device.config;
  PioEngine& engine = sender.engine();
  RequestRoute stored{fabric.links[device.link].name, "down", "write", 0, {}};
  pass_cores(stored, sender);
  pass(stored, {device.root_port->name()}, "down");
  pass(stored, links_above(fabric.graph, device.node), "down");
  pass(stored, {engine.name()}, "down");
  pass_to_memory_of(device, fabric.graph, stored);  // credits come back
  if (const FabricDevice* const peer = fabric.find(config.device.pio.egress.peer)) {
    pass(stored, {receiver_of(*peer)}, "down");
    pass_to_memory_of(*peer, fabric.graph, stored);
  }
  engine.set_route(std::move(stored));

  RequestRoute fetched = read_route(fabric.graph, device, engine.name());
  RequestRoute described;
  pass_cores(described, sender);
  fetched.steps.insert(fetched.steps.begin(), described.steps.begin(), described.steps.end());
  pass(fetched, {engine.name()}, "down");
  engine.set_sdma_route(std::move(fetched));
}

// ---- wires

NicPort& nic_of(FabricDevice& device) {
  if (device.nic == nullptr) {
    device.nic = std::make_unique<NicPort>((device.name + "_nic").c_str(),
                                           device.config.device.pio.egress.propagation);
  }
  return *device.nic;
}

// The peer has a receive engine from now on.
void connect(Builder& builder, FabricDevice& device, PioEngine& engine) {
  Fabric& fabric = builder.fabric();
  FabricDevice& peer = *fabric.find(device.config.device.pio.egress.peer);
  const WorkloadConfig& workload = peer.config.workload;
  NicPort& from = nic_of(device);
  NicPort& to = nic_of(peer);
  const ReceiveConfig config = {peer.config.device.pio, workload.domains, workload.buffer_base,
                                workload.buffer_size,
                                packets_of(device.config, builder.at_root_port(device).host.cores)};
  const auto are_writes_lost = [&port = *peer.root_port, &link = *fabric.links[peer.link].link] {
    return port.counters().dropped_bytes + link.losses(LinkSide::kDownstream).written_bytes > 0;
  };
  auto& receiver = fabric.make<ReceiveEngine>(
      receiver_of(peer).c_str(), peer.name, config, to,
      ReceiveEngine::hooks_at(*peer.endpoint, fabric.surroundings.hosts[peer.host]->memory, from,
                              are_writes_lost));
  peer.endpoint->attach(receiver);
  peer.receiver = &receiver;
  from.to_wire.bind(to.from_wire);
  engine.connect(from, fabric.frames, {receiver.name(), peer.config.device.pio.receive.buffer});
}

void add_pio(Builder& builder, FabricDevice& device) {
  Fabric& fabric = builder.fabric();
  const Config& config = device.config;
  const RunConfig run = builder.with_own_seed(config, fabric.graph[device.node].position).run;
  auto made = std::make_unique<PioSender>(
      site_of(fabric, device),
      core_config(config, builder.at_root_port(device).host.cores, run.seed,
                  static_cast<std::size_t>(&device - fabric.devices.data())),
      config.workload, config.device, run);
  PioSender& sender = *made;
  device.sender = std::move(made);
  set_routes(fabric, device, sender);
  std::vector<Component*> parts =
      mapped<Component*>(sender.cores(), [](const auto& core) { return core.get(); });
  parts.push_back(&sender.engine());
  device.components.insert(
      std::find(device.components.begin(), device.components.end(), device.endpoint), parts.begin(),
      parts.end());
  if (!config.device.pio.egress.peer.empty()) {
    builder.join_later(
        [&builder, &device, &engine = sender.engine()] { connect(builder, device, engine); });
  }
}

}  // namespace

EngineKind pio_engines() {
  return {WorkloadVia::kPio, add_pio, {pio_table, pio_vl_table, pio_receive_table}};
}

}  // namespace flitwise
