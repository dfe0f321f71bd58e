// SPDX-License-Identifier: Apache-2.0
// Agents of CXL.cache and CXL.mem, and whose work the engines of a device are.
#include "system/fabric.h"

#include "config/load.h"
#include "cxl/channels.h"

namespace flitwise {
namespace {

template <class Agent>
void bind(Agent& agent, Link::AgentSockets& link, LinkSide side) {
  const auto end = static_cast<std::size_t>(side);
  agent.to_link.bind(*link.from[end]);
  link.to[end]->bind(agent.from_link);
}

/// The identity itself: PASID and BDF, or the handle of the domain, which both ends know
/// beforehand: its number. [CXL-7.4]
std::uint64_t identity_value(CxlIdentity form, const DeviceIdentity& identity, DomainId domain) {
  switch (form) {
    case CxlIdentity::kSpec:
      return 0;
    case CxlIdentity::kFullAdded:
      return std::uint64_t{identity.pasid ? to_int(*identity.pasid) : 0} << 16 | identity.bdf.value;
    case CxlIdentity::kDhiAdded:
      return to_int(domain);
  }
  return 0;
}

}  // namespace

// [CXL-3.8]
void Fabric::add_memory(FabricDevice& device, Link& link) {
  const std::string host = "host_of_" + device.name;
  const std::string memory = device.name + "_memory";
  if (device.config.device.cxl.coherence == CxlCoherence::kHdmDb) {
    add_shared_memory(device, link, host, memory);
    return;
  }
  device.mem_host = std::make_unique<CxlMemHost>(host.c_str(), at_root_port(device),
                                                 surroundings_.pool, surroundings_.tracer);
  device.mem_device =
      std::make_unique<CxlMemDevice>(memory.c_str(), device.config.device.cxl, surroundings_.pool);
  bind(*device.mem_host, link.mem, LinkSide::kUpstream);
  bind(*device.mem_device, link.mem, LinkSide::kDownstream);
}

// Its addresses are its own: so is the monitor. [CXL-8.1]
void Fabric::add_shared_memory(FabricDevice& device, Link& link, const std::string& host,
                               const std::string& memory) {
  LineStateListener* of_host = nullptr;
  LineStateListener* of_device = nullptr;
  if (device.config.run.monitors != MonitorMode::kOff) {
    memory_watches.push_back(std::make_unique<CacheWatch>(memory));
    of_host = &memory_watches.back()->add_cache(host);
    of_device = &memory_watches.back()->add_cache(memory);
  }
  device.hdm_host = std::make_unique<CxlHdmHost>(host.c_str(), at_root_port(device),
                                                 surroundings_.pool, surroundings_.tracer, of_host);
  device.hdm_device = std::make_unique<CxlHdmDevice>(
      memory.c_str(), device.config, surroundings_.pool, surroundings_.tracer, of_device);
  bind(*device.hdm_host, link.mem, LinkSide::kUpstream);
  bind(*device.hdm_device, link.mem, LinkSide::kDownstream);
}

// All caches of a host have one home. [CXL-7.1]
void Fabric::add_cache(FabricDevice& device, Link& link) {
  CxlHome& home = *homes[device.host];
  device.home = &home;
  device.home_port = caches_[device.host]++;
  const std::string name = device.name + "_cache";
  const bool is_watched = device.config.run.monitors != MonitorMode::kOff;
  device.cache = std::make_unique<CxlCacheDevice>(
      name.c_str(), device.config, device.home_port, surroundings_.pool, surroundings_.tracer,
      is_watched ? &cache_watches[device.host]->add_cache(name) : nullptr);
  device.cache->name_domains(
      [endpoint = device.endpoint.get(), form = device.config.link.cxl.identity](DomainId domain) {
        return identity_value(form, endpoint->identity_of(domain), domain);
      });
  home.port(device.home_port).on_write_over = [cache = device.cache.get()](
                                                  std::uint64_t line, bool is_written, Time when) {
    cache->write_over(line, is_written, when);
  };
  bind(home.port(device.home_port), link.cache, LinkSide::kUpstream);
  bind(*device.cache, link.cache, LinkSide::kDownstream);
}

bool Fabric::send_message(const FabricDevice& device, PacketRef message) {
  const CxlChannelInfo& info = info_of(message->cxl->channel);
  const bool is_down = info.direction == CxlDirection::kDownstream;
  if (info.protocol == CxlProtocol::kCache && device.cache) {
    is_down ? device.home->port(device.home_port).to_link.send(std::move(message), now())
            : device.cache->send(std::move(message));
  } else if (info.protocol == CxlProtocol::kMem && device.hdm_host) {
    (is_down ? device.hdm_host->to_link : device.hdm_device->to_link)
        .send(std::move(message), now());
  } else if (info.protocol == CxlProtocol::kMem && device.mem_host) {
    is_down ? device.mem_host->send(std::move(message))
            : device.mem_device->send(std::move(message));
  } else {
    return false;
  }
  return true;
}

// Engines do not move in step.
Config Fabric::with_own_seed(Config config, const std::string& stream) const {
  if (stream != devices.front().name) {
    config.run.seed = Random(config.run.seed).split(stream).next();
  }
  return config;
}

void Fabric::add_engine(FabricDevice& device) {
  const Config config = with_own_seed(device.config, device.name);
  if (config.workload.kind == WorkloadKind::kHostile) {
    return;
  }
  Endpoint* const endpoint = device.endpoint.get();
  std::function<void()> wake = [endpoint] { endpoint->wake(); };
  switch (config.workload.via) {
    case WorkloadVia::kDma:
      break;
    case WorkloadVia::kCxlCache:
      wake = [cache = device.cache.get()] { cache->wake(); };
      break;
    case WorkloadVia::kCxlMem:
      wake = [&device] { device.wake_host(); };
      break;
    case WorkloadVia::kCxlOwn:
    case WorkloadVia::kCxlBoth:
      wake = [core = device.hdm_device.get()] { core->wake(); };
      break;
  }
  const bool is_of_host = config.workload.via == WorkloadVia::kCxlMem;
  const Time clock =
      is_of_host ? at_root_port(device).host.timing.clock : config.device.timing.clock;
  device.engine = make_engine(device, config, clock, std::move(wake));
  if (config.workload.via == WorkloadVia::kCxlBoth) {  // [CXL-8.2]
    const Config of_host = with_own_seed(at_root_port(device), "host_of_" + device.name);
    device.host_engine = make_engine(device, of_host, of_host.host.timing.clock,
                                     [host = device.hdm_host.get()] { host->wake(); });
  }
}

std::unique_ptr<DmaEngine> Fabric::make_engine(const FabricDevice& device, const Config& config,
                                               Time clock, std::function<void()> wake) {
  const std::size_t index = index_of(device);
  DmaEngine::Hooks hooks;
  hooks.ring = [this, index](const WorkItem& item, std::uint32_t token) {
    surroundings_.ring(index, item, token);
  };
  hooks.counting_starts = [this, index] { surroundings_.counting_starts(index); };
  hooks.work_appeared = std::move(wake);
  hooks.work_ended = surroundings_.work_ended;
  return std::make_unique<DmaEngine>(config, clock, std::move(hooks));
}

void Fabric::start_engine(FabricDevice& device) {
  DmaEngine& engine = *device.engine;
  engine.start(now());
  switch (device.config.workload.via) {
    case WorkloadVia::kDma:
      device.endpoint->attach(engine);
      break;
    case WorkloadVia::kCxlCache:
      device.cache->attach(engine);
      device.cache->wake();
      break;
    case WorkloadVia::kCxlMem:
      device.hdm_host ? device.hdm_host->attach(engine) : device.mem_host->attach(engine);
      device.wake_host();
      break;
    case WorkloadVia::kCxlBoth:
      device.host_engine->start(now());
      device.hdm_host->attach(*device.host_engine);
      device.wake_host();
      [[fallthrough]];
    case WorkloadVia::kCxlOwn:
      device.hdm_device->attach(engine);
      device.hdm_device->wake();
      break;
  }
}

}  // namespace flitwise
