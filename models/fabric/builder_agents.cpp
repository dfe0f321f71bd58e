// SPDX-License-Identifier: Apache-2.0
// Agents of CXL.cache and CXL.mem; engines, whom they work for, and which places their requests
// pass, with the completions on the way back.
#include <algorithm>
#include <utility>

#include "common/ranges.h"
#include "config/instances.h"
#include "cxl/cxl_agents.h"
#include "fabric/builder.h"
#include "fabric/engine_kinds.h"
#include "faults/broken_rules.h"

namespace flitwise {
namespace {

constexpr std::pair<Op, const char*> kKinds[] = {
    {Op::kRead, "read"}, {Op::kWrite, "write"}, {Op::kMsi, "msi"}};

struct Source {
  std::string place;  // that its waits name
  bool is_of_host;
  bool is_cxl;
};

// Requests of CXL agents pass these alone, those of a device the device itself.
std::vector<std::string> places_at_link(const FabricDevice& device, bool is_cxl) {
  if (!is_cxl) {
    return {device.endpoint->name()};
  }
  std::vector<std::string> names;
  if (device.config.has_cxl_handles()) {
    names.emplace_back(device.endpoint->name());  // which has the handles
  }
  for (const Component* agent : std::initializer_list<const Component*>{
           device.cxl.mem_host, device.cxl.hdm_host, device.cxl.mem_device, device.cxl.hdm_device,
           device.cxl.cache}) {
    if (agent != nullptr) {
      names.emplace_back(agent->name());
    }
  }
  return names;
}

RequestRoute route_of(const Graph& graph, const FabricDevice& device, const Source& source, Op op,
                      const char* kind) {
  const char* const there = source.is_of_host ? "down" : "up";
  const char* const back = source.is_of_host ? "up" : "down";
  const std::vector<std::string> links = links_above(graph, device.node);
  RequestRoute route{links.front(), there, kind, 0, {}};
  const auto pass = [&](std::string place) {
    route.steps.push_back({std::move(place), there, kind});
  };
  const std::string prefix = host_prefix(device.host);
  // An engine has one stream: what waits holds up requests of all kinds behind it.
  route.steps.push_back({source.place, there, ""});
  for (std::string& place : places_at_link(device, source.is_cxl)) {
    route.steps.push_back({std::move(place), there, ""});
  }
  for (const std::string& link : links) {
    pass(link);
  }
  if (!source.is_cxl) {
    pass(device.root_port->name());
    pass(prefix + host_part::kAgent);
    if (device.config.device.pri.enabled) {
      pass(prefix + host_part::kDriver);
    }
  }
  // Answers wait for room at the link as well.
  if (source.is_of_host && device.cxl.mem_device != nullptr) {
    route.steps.push_back({device.cxl.mem_device->name(), back, "completion"});
  }
  if (source.is_cxl && !source.is_of_host && device.cxl.cache != nullptr) {
    const std::string home = device.cxl.home->port(device.cxl.home_port).name();
    pass(home);
    route.steps.push_back({home, back, "completion"});
  }
  pass(prefix + host_part::kMemory);
  if (source.is_cxl || op == Op::kRead) {
    for (auto link = links.rbegin(); link != links.rend(); ++link) {
      route.steps.push_back({*link, back, "completion"});
    }
  }
  return route;
}

}  // namespace

std::vector<std::string> links_above(const Graph& graph, NodeIndex node) {
  std::vector<std::string> names;
  for (; !graph.is(node, NodeKind::kRootPort); node = graph.upper_of(node)) {
    names.push_back(graph[node].link);
  }
  return names;
}

RequestRoute read_route(const Graph& graph, const FabricDevice& device, std::string place) {
  return route_of(graph, device, {std::move(place), false, false}, Op::kRead, "read");
}

std::vector<DmaEngine::Route> dma_routes(const Graph& graph, const FabricDevice& device,
                                         const std::string& place) {
  std::vector<DmaEngine::Route> routes;
  for (const auto& [op, kind] : kKinds) {
    routes.push_back({op, route_of(graph, device, {place, false, false}, op, kind)});
  }
  return routes;
}

// [CXL-3.8]
void Builder::add_memory(FabricDevice& device, Link& link) {
  const std::string host = "host_of_" + device.name;
  const std::string memory = device.name + "_memory";
  if (device.config.device.cxl.coherence == CxlCoherence::kHdmDb) {
    add_shared_memory(device, link, host, memory);
    return;
  }
  const Config above = at_root_port(device);
  const unsigned depth = link.config().cxl.queue_depth;
  device.cxl.mem_host =
      &fabric_.make<CxlMemHost>(host.c_str(), above.host, above.workload.real_payload,
                                surroundings_.pool, surroundings_.tracer, depth);
  device.cxl.mem_device = &fabric_.make<CxlMemDevice>(memory.c_str(), device.config.device.cxl,
                                                      surroundings_.pool, depth);
  bind(device.cxl.mem_host->to_link, device.cxl.mem_host->from_link, link.mem, LinkSide::kUpstream);
  bind(device.cxl.mem_device->to_link, device.cxl.mem_device->from_link, link.mem,
       LinkSide::kDownstream);
  device.components.insert(device.components.end(), {device.cxl.mem_host, device.cxl.mem_device});
}

// Its addresses are its own: so is the monitor. [CXL-8.1]
void Builder::add_shared_memory(FabricDevice& device, Link& link, const std::string& host,
                                const std::string& memory) {
  LineStateListener* of_host = nullptr;
  LineStateListener* of_device = nullptr;
  if (device.config.run.monitors != MonitorMode::kOff) {
    fabric_.cache_watches.push_back(std::make_unique<CacheWatch>(memory));
    of_host = &fabric_.cache_watches.back()->add_cache(host);
    of_device = &fabric_.cache_watches.back()->add_cache(memory);
  }
  CxlHdmHost& upper = fabric_.make<CxlHdmHost>(host.c_str(), at_root_port(device).host,
                                               surroundings_.pool, surroundings_.tracer, of_host);
  CxlHdmDevice& lower = fabric_.make<CxlHdmDevice>(
      memory.c_str(), device.config.device, broken_snoops(device.config.faults), surroundings_.pool,
      surroundings_.tracer, of_device);
  for (CxlOutbox* const outbox : {&upper.to_link, &lower.to_link}) {
    outbox->set_queue_depth(link.config().cxl.queue_depth);
  }
  bind(upper.to_link, upper.from_link, link.mem, LinkSide::kUpstream);
  bind(lower.to_link, lower.from_link, link.mem, LinkSide::kDownstream);
  device.cxl.hdm_host = &upper;
  device.cxl.hdm_device = &lower;
  device.components.insert(device.components.end(),
                           {&upper, &lower, &fabric_.make<HdmPair>(upper, lower, device.name)});
}

// All caches of a host have one home. [CXL-7.1]
void Builder::add_cache(FabricDevice& device, Link& link) {
  CxlHome& home = *fabric_.homes[device.host];
  device.cxl.home = &home;
  device.cxl.home_port = caches_[device.host]++;
  CxlHome::Port& port = home.port(device.cxl.home_port);
  port.place = "home_of_" + device.name;
  const std::string name = device.name + "_cache";
  const bool is_watched = device.config.run.monitors != MonitorMode::kOff;
  CxlCacheDevice& cache = fabric_.make<CxlCacheDevice>(
      name.c_str(), device.config.device, CxlDomainField::of(device.config), device.endpoint->dhi(),
      device.cxl.home_port, surroundings_.pool, surroundings_.tracer,
      is_watched ? &cache_watches_[device.host]->add_cache(name) : nullptr);
  device.cxl.cache = &cache;
  if (device.config.device.atc.enabled) {
    cache.attach(*device.endpoint->line_addresses());  // [CXL-7.12]
  }
  port.on_write_over = [&cache](std::uint64_t line, bool is_written, Time when) {
    cache.write_over(line, is_written, when);
  };
  for (CxlOutbox* const outbox : {&port.to_link, &cache.to_link}) {
    outbox->set_queue_depth(link.config().cxl.queue_depth);
  }
  bind(port.to_link, port.from_link, link.cache, LinkSide::kUpstream);
  bind(cache.to_link, cache.from_link, link.cache, LinkSide::kDownstream);
  device.components.insert(device.components.end(), {&cache, &port});
}

// In front of the home, where it has anything to do. [CXL-7.7]
void Builder::add_gate(FabricDevice& device, const HostConfig& host) {
  if (device.cxl.cache == nullptr) {
    return;
  }
  auto gate = std::make_unique<LineGate>(CxlDomainField::of(device.config), host, *device.handles,
                                         *device.root_port);
  if (gate->has_work() || device.config.iommu.secure_ats) {
    device.cxl.home->port(device.cxl.home_port).gate = std::move(gate);
  }
}

Config Builder::with_own_seed(Config config, const std::string& position) const {
  if (position != graph_[fabric_.devices.front().node].position) {
    config.run.seed = Random(config.run.seed).split(position).next();
  }
  return config;
}

// Beside the engine that makes the workload; its requests do not wait for those of a function that
// may not send, and what it asked for before a reset is not sent behind it.
void Builder::add_ring(FabricDevice& device) {
  const Config& config = device.config;
  if (config.device.ring.memory == 0 || config.workload.via != WorkloadVia::kDma ||
      config.link.carrier != Carrier::kPcie) {
    return;
  }
  Endpoint& endpoint = *device.endpoint;
  device.ring = std::make_unique<RingEngine>(
      device.name, config.device,
      RingEngine::Hooks{[&endpoint] { endpoint.wake(); },
                        [&endpoint] { return msix_control(endpoint.target().space(0)); }});
  RingEngine& ring = *device.ring;
  endpoint.attach(ring);
  endpoint.keep_functions_apart([&ring](unsigned function) {
    if (function == 0) {
      ring.reset();
    }
  });
  device.components.insert(std::find(device.components.begin(), device.components.end(), &endpoint),
                           &ring);
}

void Builder::add_engines(FabricDevice& device) {
  add_ring(device);
  if (add_attached(device) || device.config.workload.kind == WorkloadKind::kHostile) {
    return;
  }
  const WorkloadVia via = device.config.workload.via;
  if (const EngineKind* const kind =
          find_where(engine_kinds(), [via](const EngineKind& one) { return one.via == via; })) {
    kind->add(*this, device);
    return;
  }
  const bool is_of_host = via == WorkloadVia::kCxlMem;
  const Config of_host = at_root_port(device);
  std::function<void()> wake = [agents = device.cxl, via] { agents.wake(via); };
  if (via == WorkloadVia::kDma) {
    wake = [endpoint = device.endpoint] { endpoint->wake(); };
  }
  const std::string& position = graph_[device.node].position;
  device.engine = add_engine(
      device, device.name, with_own_seed(device.config, position), is_of_host,
      is_of_host ? of_host.host.timing.clock : device.config.device.timing.clock, std::move(wake));
  device.engine->ask_losses([link = fabric_.links[device.link].link.get()] {
    return link->losses(LinkSide::kUpstream).writes;
  });
  if (via == WorkloadVia::kCxlBoth) {  // [CXL-8.2]
    device.host_engine =
        add_engine(device, device.name + ".host", with_own_seed(of_host, "host_of_" + position),
                   true, of_host.host.timing.clock, [agents = device.cxl] { agents.wake_host(); });
  }
}

// Engines come before whom they work for.
std::unique_ptr<DmaEngine> Builder::add_engine(FabricDevice& device, const std::string& name,
                                               const Config& config, bool is_of_host, Time clock,
                                               std::function<void()> wake) {
  const auto index = static_cast<std::size_t>(&device - fabric_.devices.data());
  const Fabric::Surroundings& around = surroundings_;  // which outlive the builder
  DmaEngine::Hooks hooks;
  hooks.ring = [&device, &around, index](const WorkItem& item, std::uint32_t token) {
    device.engine->note_ring();
    around.ring(index, item, token);
  };
  hooks.counting_starts = [&around, index] { around.counting_starts(index); };
  hooks.work_appeared = std::move(wake);
  hooks.work_ended = around.work_ended;
  auto engine = std::make_unique<DmaEngine>(name, is_of_host ? "down" : "up", config.workload,
                                            config.device, config.run, clock, std::move(hooks));
  const bool is_cxl = device.config.workload.via != WorkloadVia::kDma;
  for (const auto& [op, kind] : kKinds) {
    engine->add_route({op, route_of(graph_, device, {name, is_of_host, is_cxl}, op, kind)});
  }
  device.components.insert(
      std::find(device.components.begin(), device.components.end(), device.endpoint), engine.get());
  return engine;
}

}  // namespace flitwise
