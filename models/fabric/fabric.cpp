// SPDX-License-Identifier: Apache-2.0
// Who is where.
#include "fabric/fabric.h"

#include <algorithm>

#include "config/instances.h"
#include "fabric/builder.h"

namespace flitwise {

Fabric::Fabric(const Config& whole, Surroundings all_around)
    : config(whole),
      surroundings(std::move(all_around)),
      graph(whole.system),
      random_(whole.run.seed) {
  Builder(*this).build();
}

// Software sets one Max_Payload_Size for all that is below a root port: the smallest.
Config Fabric::config_of(NodeIndex node) const {
  Config own = config_of_node(config, graph, node);
  const NodeIndex root = graph.root_of(node);
  for (const NodeIndex other : graph.all()) {
    if (other != root && graph.root_of(other) == root && graph.has_switch_in_tree(root)) {
      own.link.mps = std::min(own.link.mps, config_of_node(config, graph, other).link.mps);
    }
  }
  return own;
}

void Fabric::start_engine(FabricDevice& device) {
  if (device.engine) {
    device.engine->start(now());
    if (device.config.workload.via == WorkloadVia::kDma) {
      device.endpoint->attach(*device.engine);
      return;
    }
    if (device.host_engine) {
      device.host_engine->start(now());
    }
    device.cxl.attach(device.config.workload.via, *device.engine, device.host_engine.get());
    return;
  }
  const Config& own = device.config;
  const std::size_t index = index_of(device);
  const HostileTarget target = {device.endpoint->base(),
                                own.device.functions.count,
                                own.host.memory.size,
                                own.workload.buffer_base,
                                {own.link.identity, own.link.dhi_form, own.device.dhi.bits},
                                device.range};
  device.hostile = std::make_unique<HostileEngine>(
      target, random_.split(device.name), surroundings.pool,
      HostileEngine::Plan{own.run.warmup, own.workload.requests,
                          [this, index] { surroundings.counting_starts(index); },
                          surroundings.work_ended});
  components.own(std::make_unique<HostileComponent>(*device.hostile, device.name), index);
  device.endpoint->attach_raw(*device.hostile);
}

Switch& Fabric::switch_at(NodeIndex node) const {
  const auto place = std::find(graph.switches().begin(), graph.switches().end(), node);
  return *switches[static_cast<std::size_t>(place - graph.switches().begin())];
}

FabricDevice* Fabric::find(const std::string& device) {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const FabricDevice& one) { return one.name == device; });
  return found == devices.end() ? nullptr : &*found;
}

DeviceRange Fabric::devices_of(unsigned host) const {
  const auto is_later = [&](const FabricDevice& device) { return device.host >= host; };
  const auto is_behind = [&](const FabricDevice& device) { return device.host > host; };
  const auto first = std::find_if(devices.begin(), devices.end(), is_later);
  const auto last = std::find_if(first, devices.end(), is_behind);
  return {devices.data() + (first - devices.begin()), devices.data() + (last - devices.begin())};
}

Range<std::unique_ptr<RootPort>> Fabric::root_ports_of(unsigned host) const {
  const auto count_below = [&](unsigned end) {
    return std::count_if(graph.root_ports().begin(), graph.root_ports().end(),
                         [&](NodeIndex port) { return graph[port].host < end; });
  };
  return {root_ports.data() + count_below(host), root_ports.data() + count_below(host + 1)};
}

}  // namespace flitwise
