// SPDX-License-Identifier: Apache-2.0
/// The tree of root ports, switches, links and devices of one configuration: who is made, and who
/// is bound to whom. A new kind of component is made and bound here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cxl/cache_device.h"
#include "cxl/hdm_device.h"
#include "cxl/hdm_host.h"
#include "cxl/home.h"
#include "cxl/mem_device.h"
#include "cxl/mem_host.h"
#include "endpoint/dma_engine.h"
#include "endpoint/endpoint.h"
#include "endpoint/hostile_engine.h"
#include "flitwise/config.h"
#include "link/link.h"
#include "root_complex/root_port.h"
#include "switch/switch.h"
#include "system/cache_watch.h"
#include "trace/latency_tracer.h"
#include "workload/random.h"

namespace flitwise {

struct FabricLink {
  std::string name;  ///< "rp0-ep0", "rp0-sw0", "sw0-ep1": also that of the module
  std::unique_ptr<Link> link;
};

struct FabricDevice {
  std::string name;
  Config config;  ///< with the overrides of the device and of its link
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<DmaEngine> engine;         ///< one of these two
  std::unique_ptr<HostileEngine> hostile;    ///< from the start on
  std::unique_ptr<DmaEngine> host_engine;    ///< of the host's cores, where they have their own
  std::unique_ptr<CxlMemHost> mem_host;      ///< where the device has memory on CXL.mem
  std::unique_ptr<CxlMemDevice> mem_device;  ///< likewise
  std::unique_ptr<CxlHdmHost> hdm_host;      ///< in their place where the device caches it as well
  std::unique_ptr<CxlHdmDevice> hdm_device;  ///< likewise
  std::unique_ptr<CxlCacheDevice> cache;     ///< where the device has one for lines of the host
  std::uint8_t home_port = 0;                ///< of that cache
  std::size_t link = 0;                      ///< index of its own link
  RootPort* root_port = nullptr;             ///< that it is below of
  HostHandles* handles = nullptr;            ///< the host's end of its handles
  BusRange buses;
  HandleRange range;  ///< of its handles, should it use any

  /// Nothing of the device is under way, nor of what the host does in its memory.
  bool is_quiet() const {
    return endpoint->is_quiet() && (!cache || cache->is_quiet()) &&
           (!mem_host || (mem_host->is_quiet() && mem_device->is_quiet())) &&
           (!hdm_host || (hdm_host->is_quiet() && hdm_device->is_quiet()));
  }
  /// Its engines have given out all their work.
  bool is_exhausted() const {
    return hostile ? hostile->is_done()
                   : engine->is_exhausted() && (!host_engine || host_engine->is_exhausted());
  }
  /// And all of it is over.
  bool is_done() const {
    return hostile ? hostile->is_done()
                   : engine->is_done() && (!host_engine || host_engine->is_done());
  }
  /// When its engines have set themselves to go on; never where only others make them.
  Time next_own_work() const {
    return std::min(engine ? engine->next_at() : Time::never(),
                    host_engine ? host_engine->next_at() : Time::never());
  }
  /// Requests of its engines that are over, as the device sees it: TLPs, lines, transfers.
  std::uint64_t settled() const {
    return endpoint->counters().settled + (engine ? engine->ended() : 0) +
           (host_engine ? host_engine->ended() : 0) + (mem_host ? mem_host->lines_over() : 0) +
           (hdm_host ? hdm_host->lines_over() + hdm_device->lines_over() : 0) +
           (cache ? cache->lines_over() : 0);
  }
  /// The cores that use its memory by CXL.mem, if there are any.
  void wake_host() const {
    if (hdm_host) {
      hdm_host->wake();
    } else if (mem_host) {
      mem_host->wake();
    }
  }
  /// When the last read so far was over at who made it.
  Time last_completion() const {
    return std::max({endpoint->last_completion(), mem_host ? mem_host->last_completion() : Time{},
                     cache ? cache->last_completion() : Time{},
                     hdm_host ? hdm_host->last_completion() : Time{},
                     hdm_device ? hdm_device->last_completion() : Time{}});
  }
};

class Fabric {
 public:
  /// What the fabric is attached to.
  struct Surroundings {
    PacketPool& pool;
    MemoryPort& memory;
    TranslationAgent& agent;
    LatencyTracer& tracer;
    std::function<void(std::size_t device)>
        counting_starts;               ///< it is about to issue its first counted request
    std::function<void()> work_ended;  ///< an engine has given out the last of its work
    std::function<void(std::size_t device, const WorkItem&, std::uint32_t token)> ring;
  };

  Fabric(const Config& config, Surroundings surroundings);

  /// What host software would set in bridges and devices, at once and without a TLP.
  void set_up_untimed();
  /// Every switch on the way to a device passes handles of the form in use. [DHI D5]
  bool is_handle_aware(const FabricDevice& device) const;
  /// The buses of the devices are known: the root port tells their handles apart by them.
  void tell_root_port();
  /// The engine of a hostile device: it has to know its place, which the device has by now.
  void add_hostile(FabricDevice& device);
  /// Whoever has the channel of this message on the link of the device sends it, as any of its own.
  /// False: nobody has.
  bool send_message(const FabricDevice& device, PacketRef message);
  /// Its agent gets the engine's work from now on; REQUIRES: it is not hostile.
  void start_engine(FabricDevice& device);
  /// What a device may use, so that the switch above it can check. [DHI D23]
  void tell_switch(const FabricDevice& device);

  std::vector<FabricDevice> devices;
  std::vector<FabricLink> links;
  std::vector<std::unique_ptr<RootPort>> root_ports;
  std::vector<std::unique_ptr<Switch>> switches;
  std::unique_ptr<CxlHome> home;  ///< of lines in device caches, where there are any
  CacheWatch cache_watch{"device caches"};
  std::vector<std::unique_ptr<CacheWatch>> memory_watches;  ///< of memories that devices cache
  bool source_validation = true;                            ///< at downstream ports of switches

 private:
  std::size_t index_of(const FabricDevice& device) const {
    return static_cast<std::size_t>(&device - devices.data());
  }
  void build_direct(const Config& config);
  void bind_root_port(RootPort& port, Link& link);
  void build_switched(const Config& config);
  void assign_buses();
  void assign_buses(Switch& sw, RootPort& port);
  void assign_handles(const Config& config);
  void add_device(const Config& config, const std::string& link_name);
  void add_memory(FabricDevice& device, Link& link);
  void add_shared_memory(FabricDevice& device, Link& link, const std::string& host,
                         const std::string& memory);
  void add_cache(FabricDevice& device, Link& link);
  void add_engine(FabricDevice& device);
  Config with_own_seed(Config config, const std::string& stream) const;
  std::unique_ptr<DmaEngine> make_engine(const FabricDevice& device, const Config& config,
                                         Time clock, std::function<void()> wake);
  RootPort& add_root_port(const std::string& name, const Config& config, HostHandles& handles);
  Link& add_link(const std::string& name, const Config& config);
  HostHandles& add_handles(const Config& config);
  void negotiate_handles(FabricDevice& device);

  Surroundings surroundings_;
  Random random_;
  std::uint8_t caches_ = 0;                            // made so far
  std::vector<std::unique_ptr<HostHandles>> handles_;  // one per device, or one for all [DHI D2]
};

}  // namespace flitwise
