// SPDX-License-Identifier: Apache-2.0
// Who is where, and what software tells bridges and devices, or would tell them: buses, windows,
// ACS, handles.
#include "fabric/fabric.h"

#include "common/ranges.h"
#include "config/instances.h"
#include "config/load.h"
#include "config_space/registers.h"
#include "dhi/negotiation.h"
#include "endpoint/domain_numbers.h"
#include "fabric/builder.h"
#include "flitwise/error.h"
#include "routing/routing_table.h"
#include "workload/workload.h"

namespace flitwise {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Windows are whole MiB, and at least one.
std::uint64_t in_mib(std::uint64_t bytes) {
  return (std::max<std::uint64_t>(bytes, 1) + kMiB - 1) / kMiB * kMiB;
}

void set_bridge(Switch& sw, std::uint16_t port, std::uint8_t primary, BusRange buses,
                AddressRange window) {
  const std::uint64_t last = window.base + window.size - kMiB;
  sw.configure(port, cfg::kBusNumbers,
               std::uint32_t{primary} | std::uint32_t{buses.secondary} << 8 |
                   std::uint32_t{buses.subordinate} << 16,
               0x7);
  sw.configure(port, cfg::kPrefetchWindow,
               static_cast<std::uint32_t>((window.base >> 16 & 0xfff0U) | (last & 0xfff0'0000U)));
  sw.configure(port, cfg::kPrefetchBaseUpper, static_cast<std::uint32_t>(window.base >> 32));
  sw.configure(port, cfg::kPrefetchLimitUpper, static_cast<std::uint32_t>(last >> 32));
  sw.configure(port, cfg::kMemoryWindow, 0x0000'fff0);  // base above limit: closed
  sw.configure(port, cfg::kCommand, cfg::kCommandMemorySpace | cfg::kCommandBusMaster, 0x3);
}

void set_access_control(Switch& sw, std::uint16_t port, const AccessControl& access) {
  const auto acs = sw.config_space(port).find_extended(cfg::kExtAcs);
  FLITWISE_CHECK(acs.has_value(), "a downstream port without ACS");
  for (std::size_t i = 0; i < access.egress.size(); ++i) {
    sw.configure(port, static_cast<std::uint16_t>(*acs + cfg::acs::kEgressVector + 4 * i),
                 access.egress[i]);
  }
  sw.configure(port, static_cast<std::uint16_t>(*acs + cfg::acs::kControl), access.control << 16);
}

}  // namespace

SwitchSetUp set_up_switch(Switch& sw, std::uint8_t bus, const std::vector<BelowSwitch>& below,
                          const AccessControl& acs, std::uint64_t window) {
  FLITWISE_CHECK(below.size() == sw.downstream_ports(), "one device a downstream port");
  SwitchSetUp set_up;
  const unsigned internal_bus = bus + 1U;
  unsigned next_bus = internal_bus + 1;
  std::uint64_t next_window = window;
  for (const BelowSwitch& device : below) {
    const unsigned last_bus = next_bus + device.buses - 1;
    FLITWISE_CHECK(last_bus <= 0xff, "more functions than bus numbers");
    set_up.buses.push_back(
        {static_cast<std::uint8_t>(next_bus), static_cast<std::uint8_t>(last_bus)});
    const std::uint64_t size = in_mib(device.bars);
    set_up.windows.push_back({next_window, size});
    next_bus = last_bus + 1;
    next_window += size;
  }
  set_bridge(sw, kUpstreamPort, bus,
             {static_cast<std::uint8_t>(internal_bus), set_up.buses.back().subordinate},
             {window, next_window - window});
  for (std::size_t i = 0; i < below.size(); ++i) {
    const auto port = static_cast<std::uint16_t>(i);
    set_bridge(sw, port, static_cast<std::uint8_t>(internal_bus), set_up.buses[i],
               set_up.windows[i]);
    set_access_control(sw, port, acs);
  }
  return set_up;
}

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
    if (device.is_below_switch) {
      NodeIndex top = graph.upper_of(device.node);
      while (!graph.is(graph.upper_of(top), NodeKind::kRootPort)) {
        top = graph.upper_of(top);
      }
      device.engine->set_peers(switch_at(top).routing().upstream().prefetchable);
    }
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
  if (device.sender) {
    device.sender->start(now());
    return;
  }
  const Config& own = device.config;
  const std::size_t index = static_cast<std::size_t>(&device - devices.data());
  const HostileTarget target = {device.endpoint->base(),
                                own.device.functions.count,
                                own.host.memory.size,
                                own.workload.buffer_base,
                                {own.link.identity, own.link.dhi_form, own.device.dhi.bits},
                                device.range};
  device.hostile = std::make_unique<HostileEngine>(
      device.name, target, random_.split(graph[device.node].position), surroundings.pool,
      HostileEngine::Plan{own.run.warmup, own.workload.requests,
                          [this, index] { surroundings.counting_starts(index); },
                          surroundings.work_ended});
  components.add(*device.hostile, index);
  device.endpoint->attach_raw(*device.hostile);
}

Switch& Fabric::switch_at(NodeIndex node) const {
  const auto place = std::find(graph.switches().begin(), graph.switches().end(), node);
  return *switches[static_cast<std::size_t>(place - graph.switches().begin())];
}

FabricDevice* Fabric::find(const std::string& device) {
  return find_where(devices, [&](const FabricDevice& one) { return one.name == device; });
}

DeviceRange Fabric::devices_of(unsigned host) const {
  const auto count_below = [&](unsigned end) {
    return std::count_if(devices.begin(), devices.end(),
                         [&](const FabricDevice& device) { return device.host < end; });
  };
  return {devices.data() + count_below(host), devices.data() + count_below(host + 1)};
}

Range<std::unique_ptr<RootPort>> Fabric::root_ports_of(unsigned host) const {
  const auto count_below = [&](unsigned end) {
    return std::count_if(graph.root_ports().begin(), graph.root_ports().end(),
                         [&](NodeIndex port) { return graph[port].host < end; });
  };
  return {root_ports.data() + count_below(host), root_ports.data() + count_below(host + 1)};
}

DeviceShare DeviceShare::of(const Config& config, const FabricDevice& device) {
  const auto& dhi = for_instance(config, device.root_port->name()).host.dhi;
  const std::uint32_t domains = domain_ids(device.config.workload);
  const std::uint32_t per_pasid = DomainNumbers(device.config.device).per_pasid();
  DeviceShare share;
  share.last_pasid = (domains - 1) / per_pasid;
  if (dhi.grant == GrantPolicy::kConfigured) {
    share.first_pasid = dhi.granted.first_pasid;
    share.last_pasid = dhi.granted.last_pasid;
    share.may_omit_pasid = dhi.granted.without_pasid;
  }
  const auto domain_at = [&](std::uint64_t pasid) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(pasid * per_pasid, domains));
  };
  share.first_domain = domain_at(share.first_pasid);
  share.end_domain = domain_at(std::uint64_t{share.last_pasid} + 1);
  return share;
}

bool owns_function(const FabricDevice& device, Bdf function) {
  const int index = function.value - device.endpoint->base().value;
  return index >= 0 && static_cast<unsigned>(index) < device.config.device.functions.count;
}

void Fabric::set_up_untimed() {
  assign_buses();
  for (FabricDevice& device : devices) {
    const Bdf pf = Bdf::of(device.buses.secondary, 0, 0);
    device.endpoint->set_base(pf);
    device.endpoint->target().configure(0, {true, pf, cfg::kCommand, cfg::kCommandBusMaster, 0x3});
    device.endpoint->enable_vfs();
    device.endpoint->set_up_translation(device.config.iommu.translation != Translation::kOff);
    negotiate_handles(device);
  }
}

// Depth first, as software does.
void Fabric::assign_buses() {
  std::vector<unsigned> next_bus(graph.hosts(), 1);
  std::vector<std::uint64_t> next_window(graph.hosts(), kWindowBase);
  for (std::size_t i = 0; i < root_ports.size(); ++i) {
    const Node& root_port = graph[graph.root_ports()[i]];
    const NodeIndex lower = root_port.lower.front();
    const BelowSwitch needs = needs_of(lower);
    unsigned& bus = next_bus[root_port.host];
    FLITWISE_CHECK(bus + needs.buses <= kMostBuses, "more nodes than bus numbers");
    const BusRange buses{static_cast<std::uint8_t>(bus),
                         static_cast<std::uint8_t>(bus + needs.buses - 1)};
    root_ports[i]->set_buses(buses);
    assign_buses_below(lower, buses, next_window[root_port.host]);
    bus += needs.buses;
    next_window[root_port.host] += needs.bars;
  }
  tell_root_ports();
}

void Fabric::assign_buses_below(NodeIndex node, BusRange buses, std::uint64_t window) {
  if (graph.is(node, NodeKind::kDevice)) {
    for (FabricDevice& device : devices) {
      device.buses = device.node == node ? buses : device.buses;
    }
    return;
  }
  const auto below =
      mapped<BelowSwitch>(graph[node].lower, [this](NodeIndex lower) { return needs_of(lower); });
  const SwitchSetUp set_up =
      set_up_switch(switch_at(node), buses.secondary, below, access_control_of(node), window);
  for (std::size_t i = 0; i < below.size(); ++i) {
    assign_buses_below(graph[node].lower[i], set_up.buses[i], set_up.windows[i].base);
  }
}

// Of a switch: the bus of the link above it, the one inside, and what is below.
BelowSwitch Fabric::needs_of(NodeIndex node) const {
  if (graph.is(node, NodeKind::kDevice)) {
    const Config device = config_of(node);
    return {own_buses(NodeKind::kDevice),
            in_mib(device.device.functions.bar_size * device.device.functions.count)};
  }
  BelowSwitch needs{own_buses(NodeKind::kSwitch), 0};
  for (const NodeIndex lower : graph[node].lower) {
    const BelowSwitch more = needs_of(lower);
    needs.buses += more.buses;
    needs.bars += more.bars;
  }
  return needs;
}

void Fabric::tell_root_ports() {
  for (std::size_t i = 0; i < root_ports.size(); ++i) {
    std::vector<RootPort::DeviceBelow> below;
    for (const FabricDevice& device : devices) {
      const DeviceConfig& c = device.config.device;
      if (device.is_below_switch && device.root_port == root_ports[i].get()) {
        below.push_back(
            {device.buses, device.handles, c.dhi.alloc_order == AllocOrder::kAck, c.atc.stu});
      }
    }
    if (!below.empty()) {
      root_ports[i]->set_devices(std::move(below));
    }
  }
}

bool Fabric::is_handle_aware(const FabricDevice& device) const {
  const std::vector<NodeIndex> above = graph.switches_above(device.node);
  return device.config.link.dhi_form != DhiForm::kRidFabric || all_of(above, [this](NodeIndex sw) {
           return switch_at(sw).mode() == SwitchMode::kHandleAware;
         });
}

AcsConfig Fabric::acs_of_switch(NodeIndex node) const {
  return config_of_node(config, graph, node).system.acs;
}

// A node may be named that stands below a port of the switch, at any depth.
AccessControl Fabric::access_control_of(NodeIndex sw) const {
  const AcsConfig acs = acs_of_switch(sw);
  std::vector<unsigned> ports;
  for (unsigned port = 0; port < graph[sw].lower.size(); ++port) {
    const bool is_named = any_of(acs.egress, [&](const std::string& name) {
      const std::optional<NodeIndex> node = graph.find(name);
      return node && graph.is_at_or_below(*node, graph[sw].lower[port]);
    });
    if (is_named) {
      ports.push_back(port);
    }
  }
  return access_control(acs, ports);
}

// A root port has what the switch below it has, but for what is among peers.
std::vector<AccessControl> Fabric::acs_of(unsigned host) const {
  std::vector<AccessControl> all;
  for (const NodeIndex node : graph.all()) {
    if (graph[node].host == host && graph[node].upper) {
      const NodeIndex upper = graph.upper_of(node);
      if (graph.is(upper, NodeKind::kSwitch)) {
        all.push_back(access_control_of(upper));
      } else {
        all.push_back(
            access_control(graph.is(node, NodeKind::kSwitch) ? acs_of_switch(node) : AcsConfig{}));
      }
    }
  }
  return all;
}

bool Fabric::validates_source(const FabricDevice& device) const {
  const NodeIndex upper = graph.upper_of(device.node);
  return !graph.is(upper, NodeKind::kSwitch) || acs_of_switch(upper).source_validation;
}

// [DHI D5, D6]
void Fabric::negotiate_handles(FabricDevice& device) {
  const Config& c = device.config;
  device.handles->grant(Bdf::of(device.buses.secondary, 0, 0), c.device.functions.count);
  if (!c.uses_handles() || device.range.size() == 0) {
    return;
  }
  const HandleEnd end{c.device.dhi.supported, c.device.dhi.enabled, c.device.dhi.bits, 0};
  const HandleEnd host{true, true, kMaxHandleBits, 0};
  device.endpoint->dhi().negotiated(negotiate(host, end, device.range, is_handle_aware(device)),
                                    c.device.dhi.management == HandleManagement::kSoftware);
  device.handles->table().add_partition({device.buses, device.range, 0});
  tell_switches(device);
}

// [DHI D23]
void Fabric::tell_switches(const FabricDevice& device) {
  NodeIndex below = device.node;
  for (const NodeIndex sw : graph.switches_above(device.node)) {
    const std::vector<NodeIndex>& ports = graph[sw].lower;
    const auto port = std::find(ports.begin(), ports.end(), below) - ports.begin();
    switch_at(sw).add_handles(static_cast<std::uint16_t>(port), device.buses, device.range);
    below = sw;
  }
}

}  // namespace flitwise
