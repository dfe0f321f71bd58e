// SPDX-License-Identifier: Apache-2.0
/// Root ports, switches, links and devices of one configuration, along its graph: who is made, and
/// who is bound to whom. A new kind of component is made and bound here.
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
#include "host/host_node.h"
#include "link/link.h"
#include "root_complex/root_port.h"
#include "switch/switch.h"
#include "system/cache_watch.h"
#include "system/static_setup.h"
#include "topology/graph.h"
#include "trace/latency_tracer.h"
#include "workload/random.h"

namespace flitwise {

struct FabricLink {
  std::string name;  ///< "rp0-ep0", "rp0-sw0", "sw0-ep1": also that of the module
  std::unique_ptr<Link> link;
  NodeIndex lower = 0;  ///< the node at its lower end
};

struct FabricDevice {
  std::string name;
  NodeIndex node = 0;
  unsigned host = 0;
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
  CxlHome* home = nullptr;                   ///< of that cache
  std::uint8_t home_port = 0;                ///< at its home
  std::size_t link = 0;                      ///< index of its own link
  RootPort* root_port = nullptr;             ///< that it is below of
  bool is_below_switch = false;              ///< which others may use as well
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

/// Neighbours in a list.
template <class T>
struct Range {
  const T* first = nullptr;
  const T* last = nullptr;
  const T* begin() const { return first; }
  const T* end() const { return last; }
  std::size_t size() const { return static_cast<std::size_t>(last - first); }
};
using DeviceRange = Range<FabricDevice>;

class Fabric {
 public:
  /// What the fabric is attached to.
  struct Surroundings {
    PacketPool& pool;
    Hosts& hosts;
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
  /// The buses of the devices are known: root ports above switches tell their handles apart by
  /// them.
  void tell_root_ports();
  /// The engine of a hostile device: it has to know its place, which the device has by now.
  void add_hostile(FabricDevice& device);
  /// Whoever has the channel of this message on the link of the device sends it, as any of its own.
  /// False: nobody has.
  bool send_message(const FabricDevice& device, PacketRef message);
  /// Its agent gets the engine's work from now on; REQUIRES: it is not hostile.
  void start_engine(FabricDevice& device);
  /// What a device may use, so that the switches above it can check. [DHI D23]
  void tell_switches(const FabricDevice& device);

  DeviceRange devices_of(unsigned host) const;
  Range<std::unique_ptr<RootPort>> root_ports_of(unsigned host) const;
  /// ACS controls of what is above each link of a host, depth first: as software finds the ports.
  std::vector<AccessControl> acs_of(unsigned host) const;
  /// The switch right above the device checks buses; true where there is none.
  bool validates_source(const FabricDevice& device) const;

  const Graph graph;
  std::vector<FabricDevice> devices;  ///< in the order of graph.devices()
  std::vector<FabricLink> links;      ///< of each node but root ports, in the order of graph.all()
  std::vector<std::unique_ptr<RootPort>> root_ports;  ///< in the order of graph.root_ports()
  std::vector<std::unique_ptr<Switch>> switches;      ///< in the order of graph.switches()
  std::vector<std::unique_ptr<CxlHome>> homes;  ///< by host: of lines in device caches, or null
  std::vector<std::unique_ptr<CacheWatch>> cache_watches;   ///< by host: of those caches, or null
  std::vector<std::unique_ptr<CacheWatch>> memory_watches;  ///< of memories that devices cache

 private:
  std::size_t index_of(const FabricDevice& device) const {
    return static_cast<std::size_t>(&device - devices.data());
  }
  void build_host(unsigned host);
  void build_tree(NodeIndex root_port);
  void build_below(NodeIndex node);
  Config config_of(NodeIndex node) const;
  void add_device(NodeIndex node, const Config& config, Link& link);
  void add_switch(NodeIndex node, const Config& config, Link& link);
  void add_root_port(NodeIndex node);
  void add_handles(FabricDevice& device, const Config& config);
  void assign_buses();
  void assign_buses_below(NodeIndex sw, BusRange buses, std::uint64_t window);
  BelowSwitch needs_of(NodeIndex node) const;
  void assign_handles();
  Config at_root_port(const FabricDevice& device) const;
  AcsConfig acs_of_switch(NodeIndex node) const;
  AccessControl access_control_of(NodeIndex sw) const;
  Switch& switch_at(NodeIndex node) const;
  std::uint8_t caches_of(unsigned host) const;
  void add_memory(FabricDevice& device, Link& link);
  void add_shared_memory(FabricDevice& device, Link& link, const std::string& host,
                         const std::string& memory);
  void add_cache(FabricDevice& device, Link& link);
  void add_engine(FabricDevice& device);
  Config with_own_seed(Config config, const std::string& stream) const;
  std::unique_ptr<DmaEngine> make_engine(const FabricDevice& device, const Config& config,
                                         Time clock, std::function<void()> wake);
  Link& add_link(NodeIndex node, const Config& config);
  void negotiate_handles(FabricDevice& device);

  const Config config_;
  Surroundings surroundings_;
  Random random_;
  std::vector<std::uint8_t> caches_;        // by host, made so far
  std::vector<std::size_t> handle_groups_;  // by device: the first of its group
  std::vector<std::unique_ptr<HostHandles>>
      handles_;  // one per device, or one for a group [DHI D2]
};

}  // namespace flitwise
