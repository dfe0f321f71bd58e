// SPDX-License-Identifier: Apache-2.0
// Devices that send by PIO: their engine, the cores of the host that write packets, and the way of
// a packet from one to the other.
#include <boost/endian/conversion.hpp>
#include <boost/range/algorithm_ext/push_back.hpp>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/instances.h"
#include "fabric/builder.h"

namespace flitwise {
namespace {

/// All cores of a device, as its engine sees them.
PioEngine::Sent sent_by(const FabricDevice& device) {
  PioEngine::Sent sum;
  for (const auto& core : device.cores) {
    sum.packets += core->sent().packets;
    sum.bytes += core->sent().bytes;
  }
  return sum;
}

std::string receiver_of(const FabricDevice& device) {
  return device.name + "_receive";
}

// The way of a received packet.
void pass_to_memory_of(const FabricDevice& device, const Graph& graph, RequestRoute& route) {
  route.steps.push_back({receiver_of(device), "down", "write"});
  std::vector<std::string> places = {device.name};
  boost::range::push_back(places, links_above(graph, device.node));
  const std::string prefix = host_prefix(device.host);
  places.insert(places.end(), {device.root_port->name(), prefix + host_part::kAgent,
                               prefix + host_part::kMemory});
  for (std::string& place : places) {
    route.steps.push_back({std::move(place), "up", "write"});
  }
}

// What the packets of a device are like.
EgressOptions packets_of(const Config& device, const CoresConfig& cores) {
  return {device.workload.real_payload, device.workload.domains - cores.hostile,
          device.faults.pio_integrity, 0};
}

}  // namespace

void Builder::add_pio(FabricDevice& device) {
  const auto index = static_cast<std::size_t>(&device - fabric_.devices.data());
  const Config host = at_root_port(device);
  const WorkloadConfig& workload = device.config.workload;
  PioCoreConfig config;
  config.cores = host.host.cores;
  const RunConfig run = with_own_seed(device.config, graph_[device.node].position).run;
  EgressOptions egress = packets_of(device.config, config.cores);
  egress.seed = Random(run.seed).split("integrity").next();
  config.engine = {device.config.device.pio,
                   workload.domains,
                   workload.buffer_base,
                   workload.buffer_size,
                   egress,
                   config.cores.sdma_from > 0,
                   workload.sizes.empty() ? workload.payload : workload.size_cap};
  device.pio =
      std::make_unique<PioEngine>((device.name + "_pio").c_str(), device.name, config.engine,
                                  [endpoint = device.endpoint] { endpoint->wake(); });
  device.pio->claim(
      device.endpoint->target().map());  // software may write to its window at any time
  device.endpoint->attach(device.pio->returns());
  if (config.engine.uses_sdma) {
    device.endpoint->attach(device.pio->sdma());
  }
  device.pio->compare_with([&device] { return sent_by(device); });

  HostNode& node = *surroundings_.hosts[device.host];
  RootPort& port = *device.root_port;
  const Fabric::Surroundings& around = surroundings_;  // which outlive the builder
  const std::size_t room = config.cores.write_queue;
  PioCore::Hooks hooks;
  hooks.has_room = [&port, room] { return port.posted_waiting() < room; };
  hooks.write = [&node, &around, index, pio = device.pio.get()](
                    std::uint64_t offset, const std::uint8_t* bytes, std::size_t size) {
    node.bridge.write(around.bar(index) + offset, bytes, size, pio->is_counted());
  };
  hooks.look = [&memory = node.memory](std::uint64_t address) {
    std::array<std::uint8_t, 8> bytes{};
    memory.peek(address, bytes.data(), bytes.size());
    return boost::endian::load_little_u64(bytes.data());
  };
  hooks.returned = [pio = device.pio.get()](unsigned context) {
    return pio->rules().context(context).returned();
  };
  hooks.recovery.host = &node.bridge;
  hooks.recovery.registers = [&around, index] { return around.bar(index) + kPioRegisters; };
  hooks.recovery.set_to_0 = [&memory = node.memory](std::uint64_t address) {
    constexpr std::array<std::uint8_t, kQwBytes> kZeros{};
    memory.poke(address, kZeros.data(), kZeros.size());
  };
  hooks.recovery.poll = config.cores.timing.credit_poll;
  hooks.are_returns_lost = [&port] { return port.counters().dropped_bytes > 0; };
  const auto count = [&around, index, warmup = device.config.run.warmup,
                      begun = std::make_shared<std::uint64_t>(0)] {
    if ((*begun)++ == warmup) {
      around.counting_starts(index);
    }
  };
  hooks.begins = [count, pio = device.pio.get()](unsigned context, unsigned slot, Time when) {
    pio->begins(context, slot, when);
    count();
  };
  if (config.engine.uses_sdma) {
    const auto store = [&memory = node.memory](std::uint64_t address, const std::uint8_t* bytes,
                                               std::size_t size) {
      memory.poke(address, bytes, size);
    };
    device.sdma_driver = std::make_unique<SdmaDriver>(
        config.engine, SdmaDriver::Hooks{hooks.look, store, hooks.write});
    hooks.send_by_sdma = [count, driver = device.sdma_driver.get(), pio = device.pio.get()](
                             unsigned domain, std::uint32_t payload, unsigned vl, Time when) {
      const bool is_sent = driver->send(domain, payload, vl);
      if (is_sent) {
        pio->sdma_begins(driver->engine_of(domain), SdmaDriver::blocks_of(payload), when);
        count();
      }
      return is_sent;
    };
  }
  hooks.work_ended = around.work_ended;

  RequestRoute route{fabric_.links[device.link].name, "down", "write", 0, {}};
  std::vector<Component*> parts;
  for (unsigned i = 0; i < config.cores.count; ++i) {
    config.first_thread = i * config.cores.threads;
    device.cores.push_back(
        std::make_unique<PioCore>((device.name + "_core" + std::to_string(i)).c_str(), config,
                                  workload, device.config.device, run, hooks));
    parts.push_back(device.cores.back().get());
    route.steps.push_back({device.cores.back()->name(), "down", "write"});
  }
  // The next core in turn that waits for it.
  port.watch_posted([&device, turn = std::size_t{0}]() mutable {
    for (std::size_t i = 0; i < device.cores.size(); ++i) {
      turn = (turn + 1) % device.cores.size();
      if (device.cores[turn]->waits_for_room()) {
        device.cores[turn]->wake();
        return;
      }
    }
  });
  parts.push_back(device.pio.get());
  route.steps.push_back({port.name(), "down", "write"});
  for (const std::string& link : links_above(graph_, device.node)) {
    route.steps.push_back({link, "down", "write"});
  }
  route.steps.push_back({device.pio->name(), "down", "write"});
  if (config.engine.uses_sdma) {
    RequestRoute fetched = read_route(graph_, device, device.pio->name());
    std::vector<Step> cores;
    for (const auto& core : device.cores) {
      cores.push_back({core->name(), "down", "write"});
    }
    fetched.steps.insert(fetched.steps.begin(), cores.begin(), cores.end());
    fetched.steps.push_back({device.pio->name(), "down", "write"});
    device.pio->set_sdma_route(std::move(fetched));
  }
  if (const FabricDevice* const peer = fabric_.find(config.engine.pio.egress.peer)) {
    pass_to_memory_of(*peer, graph_, route);
  }
  device.pio->set_route(std::move(route));
  device.components.insert(
      std::find(device.components.begin(), device.components.end(), device.endpoint), parts.begin(),
      parts.end());
}

// A wire for each device that has a peer, which has a receive engine then.
void Builder::connect_pio() {
  for (FabricDevice& device : fabric_.devices) {
    const std::string& name = device.config.device.pio.egress.peer;
    if (device.pio == nullptr || name.empty()) {
      continue;
    }
    FabricDevice& peer = *fabric_.find(name);
    NicPort& from = nic_of(device);
    add_receiver(peer, from, packets_of(device.config, at_root_port(device).host.cores));
    from.to_wire.bind(nic_of(peer).from_wire);
    device.pio->connect(from, fabric_.frames,
                        {peer.receiver->name(), peer.config.device.pio.receive.buffer});
  }
}

NicPort& Builder::nic_of(FabricDevice& device) const {
  if (device.nic == nullptr) {
    device.nic = std::make_unique<NicPort>((device.name + "_nic").c_str(),
                                           device.config.device.pio.egress.propagation);
  }
  return *device.nic;
}

void Builder::add_receiver(FabricDevice& device, const NicPort& sender,
                           const EgressOptions& packets) {
  const WorkloadConfig& workload = device.config.workload;
  ReceiveEngine::Hooks hooks;
  hooks.work_appeared = [endpoint = device.endpoint] { endpoint->wake(); };
  hooks.peer_sent = [&sender] { return sender.sent(); };
  hooks.peek = [&memory = surroundings_.hosts[device.host]->memory](
                   std::uint64_t address, std::uint8_t* bytes, std::size_t size) {
    return memory.peek(address, bytes, size);
  };
  hooks.are_writes_lost = [port = device.root_port, link = fabric_.links[device.link].link.get()] {
    return port->counters().dropped_bytes + link->losses(LinkSide::kDownstream).written_bytes > 0;
  };
  device.receiver = std::make_unique<ReceiveEngine>(
      receiver_of(device).c_str(), device.name,
      ReceiveConfig{device.config.device.pio, workload.domains, workload.buffer_base,
                    workload.buffer_size, packets},
      nic_of(device), std::move(hooks));
  device.endpoint->attach(*device.receiver);
}

}  // namespace flitwise
