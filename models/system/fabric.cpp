// SPDX-License-Identifier: Apache-2.0
// Wiring.
#include "system/fabric.h"

#include <algorithm>

#include "config/handle_ranges.h"
#include "config/load.h"
#include "config_space/registers.h"
#include "cxl/widths.h"
#include "dhi/negotiation.h"
#include "system/static_setup.h"

namespace flitwise {
namespace {

constexpr unsigned kFunctionsPerBus = 256;

unsigned buses_of(const Config& device) {
  return (device.device.functions.count + kFunctionsPerBus - 1) / kFunctionsPerBus;
}

std::string numbered(const char* kind, unsigned index) {
  return kind + std::to_string(index);
}

/// Configuration of one component with its link.
Config for_instances(const Config& config, const std::string& component, const std::string& link) {
  return for_instance(for_instance(config, component), link);
}

/// Device caches of a machine without a switch. [CXL-7.1]
std::uint8_t caches_in(const Config& config) {
  unsigned caches = 0;
  for (unsigned i = 0; i < config.system.devices; ++i) {
    const std::string name = numbered("ep", i);
    const Config device = for_instances(config, name, numbered("rp", i) + "-" + name);
    caches += device.device.cxl.cache.size > 0 ? 1U : 0U;
  }
  return static_cast<std::uint8_t>(caches);
}

/// A switch has to pass completions on, so that its room for them has an end: where the
/// configuration leaves them without, as much as for posted requests.
LinkCredits switch_credits(LinkCredits credits) {
  if (credits.completion_headers == kInfiniteCredits) {
    credits.completion_headers = credits.posted_headers;
  }
  if (credits.completion_data == kInfiniteCredits) {
    credits.completion_data = credits.posted_data;
  }
  return credits;
}

/// Software sets one Max_Payload_Size for all that is below a root port: the smallest.
Config with_common_mps(const Config& config) {
  Config common = config;
  const std::string trunk = "rp0-sw0";
  common.link.mps = for_instance(config, trunk).link.mps;
  for (unsigned i = 0; i < config.system.devices; ++i) {
    common.link.mps =
        std::min(common.link.mps, for_instance(config, numbered("sw0-ep", i)).link.mps);
  }
  for (auto& [name, overrides] : common.instances) {
    overrides.erase(std::remove_if(overrides.begin(), overrides.end(),
                                   [](const auto& one) { return one.first == "link.mps"; }),
                    overrides.end());
  }
  return common;
}

template <class Upper, class Lower>
void bind(Upper& to_link, LinkTarget<Lower>& from_link, Link& link, LinkSide side) {
  const auto end = static_cast<std::size_t>(side);
  to_link.bind(*link.from_port[end]);
  link.to_port[end]->bind(from_link);
}

/// Bits that name the domain of a D2H Req. [DHI D24]
std::uint32_t identity_bits(const Config& config) {
  switch (config.link.cxl.identity) {
    case CxlIdentity::kSpec:
      return 0;
    case CxlIdentity::kFullAdded:
      return kFullIdentityBits;
    case CxlIdentity::kDhiAdded:
      return config.cxl_handle_bits();
  }
  return 0;
}

/// What follows from more than the keys of the link. [DHI D24]
LinkConfig with_identity_bits(const Config& config) {
  LinkConfig link = config.link;
  link.cxl.identity_bits = identity_bits(config);
  return link;
}

}  // namespace

Fabric::Fabric(const Config& config, Surroundings surroundings)
    : surroundings_(std::move(surroundings)), random_(config.run.seed) {
  if (config.system.topology == Topology::kSwitch) {
    build_switched(config);
  } else {
    build_direct(config);
  }
  assign_handles(config);
  for (FabricDevice& device : devices) {
    add_engine(device);
  }
}

void Fabric::build_direct(const Config& config) {
  if (const std::uint8_t caches = caches_in(config); caches > 0) {
    home =
        std::make_unique<CxlHome>("home", config, caches, surroundings_.pool, surroundings_.memory);
  }
  for (unsigned i = 0; i < config.system.devices; ++i) {
    const std::string root = numbered("rp", i);
    add_device(config, root + "-" + numbered("ep", i));
    FabricDevice& device = devices.back();
    const Config of_port = for_instance(device.config, root);
    device.handles = &add_handles(of_port);
    RootPort& port = add_root_port(root, of_port, *device.handles);
    device.root_port = &port;
    Link& link = *links[device.link].link;
    bind_root_port(port, link);
  }
}

void Fabric::bind_root_port(RootPort& port, Link& link) {
  bind(port.to_link, port.from_link, link, LinkSide::kUpstream);
  link.on_rollover(LinkSide::kUpstream, [&port] { port.replay_num_rolled_over(); });
}

void Fabric::build_switched(const Config& whole) {
  const Config config = with_common_mps(whole);
  const std::string trunk = "rp0-sw0";
  Link& link = add_link(trunk, for_instance(config, trunk));
  std::vector<LinkPreset> presets;
  for (unsigned i = 0; i < config.system.devices; ++i) {
    add_device(config, numbered("sw0-ep", i));
    presets.push_back(devices.back().config.link.preset);
  }
  const Config of_switch = for_instances(config, "sw0", trunk);
  switches.push_back(std::make_unique<Switch>("sw0", of_switch, presets, surroundings_.pool));
  Switch& sw = *switches.back();
  bind(sw.to_link(kUpstreamPort), sw.from_link(kUpstreamPort), link, LinkSide::kDownstream);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto port = static_cast<std::uint16_t>(i);
    bind(sw.to_link(port), sw.from_link(port), *links[devices[i].link].link, LinkSide::kUpstream);
  }
  source_validation = of_switch.system.source_validation;
  for (FabricDevice& device : devices) {
    device.handles = &add_handles(device.config);
  }
  RootPort& port = add_root_port("rp0", for_instances(config, "rp0", trunk), *devices[0].handles);
  bind_root_port(port, link);
  for (FabricDevice& device : devices) {
    device.root_port = &port;
  }
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

void Fabric::assign_buses() {
  if (!switches.empty()) {
    assign_buses(*switches[0], *root_ports[0]);
    return;
  }
  unsigned next_bus = 1;
  for (FabricDevice& device : devices) {
    const unsigned count = buses_of(device.config);
    device.buses = {static_cast<std::uint8_t>(next_bus),
                    static_cast<std::uint8_t>(next_bus + count - 1)};
    next_bus += count;
    device.root_port->set_buses(device.buses);
  }
}

void Fabric::assign_buses(Switch& sw, RootPort& port) {
  std::vector<BelowSwitch> below;
  for (const FabricDevice& device : devices) {
    below.push_back({buses_of(device.config), device.config.device.functions.bar_size *
                                                  device.config.device.functions.count});
  }
  constexpr std::uint8_t kFirstBus = 1;
  const SwitchSetUp set_up = set_up_switch(sw, kFirstBus, below, source_validation);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i].buses = set_up.buses[i];
  }
  port.set_buses({kFirstBus, devices.back().buses.subordinate});
  tell_root_port();
}

void Fabric::tell_root_port() {
  if (switches.empty()) {
    return;
  }
  std::vector<RootPort::DeviceBelow> below;
  for (const FabricDevice& device : devices) {
    const DeviceConfig& c = device.config.device;
    below.push_back(
        {device.buses, device.handles, c.dhi.alloc_order == AllocOrder::kAck, c.atc.stu});
  }
  root_ports[0]->set_devices(std::move(below));
}

void Fabric::add_device(const Config& config, const std::string& link_name) {
  FabricDevice device;
  device.name = link_name.substr(link_name.find('-') + 1);
  device.config = for_instances(config, device.name, link_name);
  const Config& c = device.config;
  device.link = links.size();
  Link& link = add_link(link_name, c);
  device.endpoint =
      std::make_unique<Endpoint>(device.name.c_str(), c, surroundings_.pool, surroundings_.tracer);
  bind(device.endpoint->to_link, device.endpoint->from_link, link, LinkSide::kDownstream);
  link.on_rollover(LinkSide::kDownstream,
                   [endpoint = device.endpoint.get()] { endpoint->replay_num_rolled_over(); });
  if (c.device.cxl.memory > 0) {
    add_memory(device, link);
  }
  if (c.device.cxl.cache.size > 0) {
    add_cache(device, link);
  }
  devices.push_back(std::move(device));
}

void Fabric::add_hostile(FabricDevice& device) {
  Config config = device.config;
  if (&device != &devices.front()) {
    config.run.seed = Random(config.run.seed).split(device.name).next();
  }
  device.hostile = std::make_unique<HostileEngine>(
      config, device.endpoint->base(), device.range, random_.split(device.name), surroundings_.pool,
      [this, index = index_of(device)] { surroundings_.counting_starts(index); },
      surroundings_.work_ended);
}

RootPort& Fabric::add_root_port(const std::string& name, const Config& config,
                                HostHandles& handles) {
  root_ports.push_back(std::make_unique<RootPort>(name.c_str(), config, surroundings_.pool,
                                                  surroundings_.memory, handles,
                                                  surroundings_.tracer));
  root_ports.back()->attach(surroundings_.agent);
  return *root_ports.back();
}

// The name says which ends are ports of a switch.
Link& Fabric::add_link(const std::string& name, const Config& config) {
  const bool has_switch_above = name.rfind("sw", 0) == 0;
  const bool has_switch_below = name.find("-sw") != std::string::npos;
  const LinkCredits of_switch = switch_credits(config.link.credits);
  const std::array<LinkCredits, 2> advertised = {
      has_switch_above ? of_switch : config.link.credits,
      has_switch_below ? of_switch : config.link.credits};
  links.push_back(
      {name, std::make_unique<Link>(
                 name.c_str(), with_identity_bits(config), config.message, config.faults,
                 random_.split(name), surroundings_.pool, advertised,
                 Link::Agents{config.device.cxl.cache.size > 0, config.device.cxl.memory > 0})});
  links.back().link->draw_skp_phases(random_.split(name + " SKP"));
  return *links.back().link;
}

HostHandles& Fabric::add_handles(const Config& config) {
  if (handles_.empty() || !share_handles(config)) {
    handles_.push_back(std::make_unique<HostHandles>(config, surroundings_.pool));
  }
  return *handles_.back();
}

// [DHI D2]
void Fabric::assign_handles(const Config& config) {
  std::vector<unsigned> bits;
  for (const FabricDevice& device : devices) {
    bits.push_back(device.config.device.dhi.bits);
  }
  const std::vector<HandleRange> ranges = handle_ranges(config, bits);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i].range = ranges[i];
  }
}

bool Fabric::is_handle_aware(const FabricDevice& device) const {
  return device.config.link.dhi_form != DhiForm::kRidFabric ||
         std::all_of(switches.begin(), switches.end(),
                     [](const auto& one) { return one->mode() == SwitchMode::kHandleAware; });
}

// [DHI D5, D6]
void Fabric::negotiate_handles(FabricDevice& device) {
  const Config& c = device.config;
  device.handles->grant(Bdf::of(device.buses.secondary, 0, 0), c.device.functions.count);
  if (c.link.identity != Identity::kDhi || device.range.size() == 0) {
    return;
  }
  const HandleEnd end{c.device.dhi.supported, c.device.dhi.enabled, c.device.dhi.bits, 0};
  const HandleEnd host{true, true, kMaxHandleBits, 0};
  device.endpoint->dhi().negotiated(negotiate(host, end, device.range, is_handle_aware(device)),
                                    c.device.dhi.management == HandleManagement::kSoftware);
  device.handles->table().add_partition({device.buses, device.range, 0});
  tell_switch(device);
}

// [DHI D23]
void Fabric::tell_switch(const FabricDevice& device) {
  if (!switches.empty()) {
    switches[0]->set_handles(static_cast<std::uint16_t>(index_of(device)), device.range);
  }
}

}  // namespace flitwise
