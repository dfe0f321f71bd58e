// SPDX-License-Identifier: Apache-2.0
// Agents of CXL.cache and CXL.mem.
#include <utility>

#include "cxl/cxl_pairs.h"
#include "fabric/builder.h"

namespace flitwise {
namespace {

template <class Agent>
void bind(Agent& agent, Link::Sockets& link, LinkSide side) {
  const auto end = static_cast<std::size_t>(side);
  agent.to_link.bind(*link.from[end]);
  link.to[end]->bind(agent.from_link);
}

/// The identity itself: PASID and BDF, or the handle of the domain, which both ends know
/// beforehand: its number. [CXL-7.4]
std::uint64_t identity_value(CxlIdentity form, const DeviceIdentity& identity, DomainId domain) {
  if (form == CxlIdentity::kFullAdded) {
    return std::uint64_t{identity.pasid ? to_int(*identity.pasid) : 0} << 16 | identity.bdf.value;
  }
  return form == CxlIdentity::kDhiAdded ? to_int(domain) : 0;
}

}  // namespace

// [CXL-3.8]
void Builder::add_memory(FabricDevice& device, Link& link) {
  const std::string host = "host_of_" + device.name;
  const std::string memory = device.name + "_memory";
  if (device.config.device.cxl.coherence == CxlCoherence::kHdmDb) {
    add_shared_memory(device, link, host, memory);
    return;
  }
  const Config above = at_root_port(device);
  device.cxl.mem_host =
      &fabric_.make<CxlMemHost>(host.c_str(), above.host, above.workload.real_payload,
                                surroundings_.pool, surroundings_.tracer);
  device.cxl.mem_device =
      &fabric_.make<CxlMemDevice>(memory.c_str(), device.config.device.cxl, surroundings_.pool);
  bind(*device.cxl.mem_host, link.mem, LinkSide::kUpstream);
  bind(*device.cxl.mem_device, link.mem, LinkSide::kDownstream);
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
      memory.c_str(), device.config.device, device.config.faults.breaks(BrokenRule::kSingleWriter),
      surroundings_.pool, surroundings_.tracer, of_device);
  bind(upper, link.mem, LinkSide::kUpstream);
  bind(lower, link.mem, LinkSide::kDownstream);
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
      name.c_str(), device.config.device, device.cxl.home_port, surroundings_.pool,
      surroundings_.tracer, is_watched ? &cache_watches_[device.host]->add_cache(name) : nullptr);
  device.cxl.cache = &cache;
  cache.name_domains(
      [endpoint = device.endpoint, form = device.config.link.cxl.identity](DomainId domain) {
        return identity_value(form, endpoint->identity_of(domain), domain);
      });
  port.on_write_over = [&cache](std::uint64_t line, bool is_written, Time when) {
    cache.write_over(line, is_written, when);
  };
  bind(port, link.cache, LinkSide::kUpstream);
  bind(cache, link.cache, LinkSide::kDownstream);
  device.components.insert(device.components.end(), {&cache, &port});
}

}  // namespace flitwise
