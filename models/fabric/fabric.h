// SPDX-License-Identifier: Apache-2.0
/// Root ports, switches, links and devices of one configuration, along its graph, as a Builder has
/// made and bound them: what software tells them, and all components of the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/component_list.h"
#include "common/random.h"
#include "config_space/enumeration.h"
#include "cxl/cxl_agents.h"
#include "cxl/home.h"
#include "fabric/fabric_device.h"
#include "flitwise/attachments.h"
#include "flitwise/config.h"
#include "host/host_node.h"
#include "network/adapter_network.h"
#include "network/flow_watch.h"
#include "network/frame.h"
#include "switch/switch.h"
#include "topology/graph.h"
#include "trace/latency_tracer.h"

namespace flitwise {

/// One device below a downstream port, or another switch with all that is below it.
struct BelowSwitch {
  unsigned buses = 1;      ///< for its functions
  std::uint64_t bars = 0;  ///< bytes of all its BARs
};

struct SwitchSetUp {
  std::vector<BusRange> buses;        ///< by downstream port
  std::vector<AddressRange> windows;  ///< by downstream port: whole MiB
};

/// Where windows start. model: far above any host memory, as `EnumeratorOptions::mmio`.
inline constexpr std::uint64_t kWindowBase = kFirstBar;

/// What enumeration would leave in the bridges of a switch, written at once: for machines whose
/// software has nothing to tell about its start.
/// Numbers buses from `bus` (that of the link to the upstream port) on, gives each port a window
/// from `window` on, enables memory and bus mastering, and sets ACS of downstream ports.
/// REQUIRES: one device or switch a downstream port.
SwitchSetUp set_up_switch(Switch& sw, std::uint8_t bus, const std::vector<BelowSwitch>& below,
                          const AccessControl& acs, std::uint64_t window = kWindowBase);

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
    /// BAR 0 of a function, once booted.
    std::function<std::uint64_t(std::size_t device, unsigned function)> bar;
    const Attachments& attached;
  };

  /// By a Builder.
  Fabric(const Config& config, Surroundings surroundings);

  /// What host software would set in bridges and devices, at once and without a TLP.
  void set_up_untimed();
  /// Every switch on the way to a device passes handles of the form in use. [DHI D5]
  bool is_handle_aware(const FabricDevice& device) const;
  /// The buses of the devices are known: root ports above switches tell their handles apart by
  /// them.
  void tell_root_ports();
  /// What a device may use, so that the switches above it can check. [DHI D23]
  void tell_switches(const FabricDevice& device);
  /// Whoever works for the device's engine gets its work from now on. A hostile engine has to know
  /// its place, which the device has by now.
  void start_engine(FabricDevice& device);

  /// Null where no device has the name.
  FabricDevice* find(const std::string& device);
  DeviceRange devices_of(unsigned host) const;
  Range<std::unique_ptr<RootPort>> root_ports_of(unsigned host) const;
  /// ACS controls of what is above each link of a host, depth first: as software finds the ports.
  std::vector<AccessControl> acs_of(unsigned host) const;
  /// The switch right above the device checks buses; true where there is none.
  bool validates_source(const FabricDevice& device) const;
  /// Of the device or switch at a node, and of the link above it.
  Config config_of(NodeIndex node) const;

  const Config config;
  const Surroundings surroundings;
  const Graph graph;
  FramePool frames;                         ///< between the network ports of devices
  std::unique_ptr<FlowWatch> flows;         ///< between RDMA adapters; null: their work is no flows
  std::unique_ptr<AdapterNetwork> network;  ///< between those of RDMA adapters; null: cables are
  std::vector<FabricDevice> devices;        ///< in the order of graph.devices()
  std::vector<FabricLink> links;  ///< of each node but root ports, in the order of graph.all()
  std::vector<std::unique_ptr<RootPort>> root_ports;  ///< in the order of graph.root_ports()
  std::vector<std::unique_ptr<Switch>> switches;      ///< in the order of graph.switches()
  std::vector<std::unique_ptr<CxlHome>> homes;  ///< by host: of lines in device caches, or null
  std::vector<std::unique_ptr<CacheWatch>> cache_watches;  ///< of these, and of shared memories
  std::vector<std::unique_ptr<HostHandles>> handles;       ///< one per device or group [DHI D2]
  /// All of the machine, in the order of results.
  ComponentList components;

  /// Holds a component of a device, of which `components` need not know.
  template <class Part, class... Arguments>
  Part& make(Arguments&&... arguments) {
    auto part = std::make_unique<Part>(std::forward<Arguments>(arguments)...);
    Part& made = *part;
    made_.push_back(std::move(part));
    return made;
  }

 private:
  void assign_buses();
  void assign_buses_below(NodeIndex sw, BusRange buses, std::uint64_t window);
  BelowSwitch needs_of(NodeIndex node) const;
  AcsConfig acs_of_switch(NodeIndex node) const;
  AccessControl access_control_of(NodeIndex sw) const;
  Switch& switch_at(NodeIndex node) const;
  void negotiate_handles(FabricDevice& device);

  Random random_;
  std::vector<std::unique_ptr<Component>> made_;
};

}  // namespace flitwise
