// SPDX-License-Identifier: Apache-2.0
// Wiring.
#include "system/fabric.h"

#include <algorithm>

#include "config/handle_ranges.h"
#include "config/instances.h"
#include "config/load.h"
#include "cxl/widths.h"

namespace flitwise {
namespace {

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
    : graph(config.system),
      config_(config),
      surroundings_(std::move(surroundings)),
      random_(config.run.seed),
      caches_(graph.hosts(), 0),
      handle_groups_(handle_groups(config, graph)) {
  switches.resize(graph.switches().size());
  for (unsigned host = 0; host < graph.hosts(); ++host) {
    build_host(host);
  }
  assign_handles();
  for (FabricDevice& device : devices) {
    add_engine(device);
  }
}

void Fabric::build_host(unsigned host) {
  const std::uint8_t caches = caches_of(host);
  const HostNode& node = *surroundings_.hosts[host];
  homes.emplace_back();
  cache_watches.emplace_back();
  if (caches > 0) {
    homes.back() = std::make_unique<CxlHome>((node.prefix + "home").c_str(), node.config, caches,
                                             surroundings_.pool, surroundings_.hosts[host]->memory);
    cache_watches.back() = std::make_unique<CacheWatch>(node.prefix + "device caches");
  }
  for (const NodeIndex root_port : graph.root_ports()) {
    if (graph[root_port].host == host) {
      build_below(graph[root_port].lower.front());
      add_root_port(root_port);
    }
  }
}

/// Device caches of a host. [CXL-7.1]
std::uint8_t Fabric::caches_of(unsigned host) const {
  const auto has_cache = [&](NodeIndex device) {
    return graph[device].host == host && config_of(device).device.cxl.cache.size > 0;
  };
  return static_cast<std::uint8_t>(
      std::count_if(graph.devices().begin(), graph.devices().end(), has_cache));
}

// Software sets one Max_Payload_Size for all that is below a root port: the smallest.
Config Fabric::config_of(NodeIndex node) const {
  Config config = config_of_node(config_, graph, node);
  const NodeIndex root = graph.root_of(node);
  for (const NodeIndex other : graph.all()) {
    if (other != root && graph.root_of(other) == root && graph.has_switch_in_tree(root)) {
      config.link.mps = std::min(config.link.mps, config_of_node(config_, graph, other).link.mps);
    }
  }
  return config;
}

// The link above a node, all that is below it, and then the node.
void Fabric::build_below(NodeIndex node) {
  const Config config = config_of(node);
  Link& link = add_link(node, config);
  if (graph.is(node, NodeKind::kSwitch)) {
    add_switch(node, config, link);
  } else {
    add_device(node, config, link);
  }
}

void Fabric::add_switch(NodeIndex node, const Config& config, Link& link) {
  std::vector<Link*> below;
  std::vector<LinkPreset> presets;
  for (const NodeIndex lower : graph[node].lower) {
    const std::size_t own_link = links.size();
    build_below(lower);
    below.push_back(links[own_link].link.get());
    presets.push_back(below.back()->config().preset);
  }
  auto sw = std::make_unique<Switch>(graph[node].name.c_str(), config, presets, surroundings_.pool);
  bind(sw->to_link(kUpstreamPort), sw->from_link(kUpstreamPort), link, LinkSide::kDownstream);
  for (std::size_t i = 0; i < below.size(); ++i) {
    const auto port = static_cast<std::uint16_t>(i);
    bind(sw->to_link(port), sw->from_link(port), *below[i], LinkSide::kUpstream);
  }
  const auto place = std::find(graph.switches().begin(), graph.switches().end(), node);
  switches[static_cast<std::size_t>(place - graph.switches().begin())] = std::move(sw);
}

void Fabric::add_root_port(NodeIndex node) {
  const NodeIndex lower = graph[node].lower.front();
  const std::string& name = graph[node].name;
  FabricDevice* first = nullptr;
  for (FabricDevice& device : devices) {
    if (graph.is_at_or_below(device.node, node)) {
      add_handles(device, at_root_port(device));
      first = first == nullptr ? &device : first;
    }
  }
  HostNode& host = *surroundings_.hosts[graph[node].host];
  root_ports.push_back(std::make_unique<RootPort>(
      name.c_str(), graph.has_switch_in_tree(node) ? config_of(node) : at_root_port(*first),
      surroundings_.pool, host.memory, *first->handles, surroundings_.tracer));
  RootPort& port = *root_ports.back();
  port.attach(host.agent);
  const auto link = std::find_if(links.begin(), links.end(),
                                 [&](const FabricLink& one) { return one.lower == lower; });
  bind(port.to_link, port.from_link, *link->link, LinkSide::kUpstream);
  link->link->on_rollover(LinkSide::kUpstream, [&port] { port.replay_num_rolled_over(); });
  for (FabricDevice& device : devices) {
    if (graph.is_at_or_below(device.node, node)) {
      device.root_port = &port;
    }
  }
}

void Fabric::add_device(NodeIndex node, const Config& config, Link& link) {
  FabricDevice device;
  device.name = graph[node].name;
  device.node = node;
  device.host = graph[node].host;
  device.is_below_switch = graph.has_switch_in_tree(node);
  device.config = config;
  device.link = links.size() - 1;
  EndpointConfig own = EndpointConfig::of(config);
  own.has_switch = device.is_below_switch;
  device.endpoint = std::make_unique<Endpoint>(device.name.c_str(), own, surroundings_.pool,
                                               surroundings_.tracer);
  FunctionShell& shell = device.endpoint->shell();
  bind(shell.to_link, shell.from_link, link, LinkSide::kDownstream);
  link.on_rollover(LinkSide::kDownstream,
                   [endpoint = device.endpoint.get()] { endpoint->replay_num_rolled_over(); });
  if (config.device.cxl.memory > 0) {
    add_memory(device, link);
  }
  if (config.device.cxl.cache.size > 0) {
    add_cache(device, link);
  }
  devices.push_back(std::move(device));
}

// The root port's own overrides come last.
Config Fabric::at_root_port(const FabricDevice& device) const {
  return for_instance(device.config, graph[graph.root_of(device.node)].name);
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

Link& Fabric::add_link(NodeIndex node, const Config& config) {
  const std::string& name = graph[node].link;
  const LinkCredits of_switch = switch_credits(config.link.credits);
  const std::array<LinkCredits, 2> advertised = {
      graph.is(graph.upper_of(node), NodeKind::kSwitch) ? of_switch : config.link.credits,
      graph.is(node, NodeKind::kSwitch) ? of_switch : config.link.credits};
  links.push_back(
      {name,
       std::make_unique<Link>(
           name.c_str(), with_identity_bits(config), config.message, config.faults,
           random_.split(name), surroundings_.pool, advertised,
           Link::Agents{config.device.cxl.cache.size > 0, config.device.cxl.memory > 0}),
       node});
  links.back().link->draw_skp_phases(random_.split(name + " SKP"));
  return *links.back().link;
}

void Fabric::add_handles(FabricDevice& device, const Config& config) {
  const std::size_t first = handle_groups_[index_of(device)];
  if (first == index_of(device)) {
    handles_.push_back(std::make_unique<HostHandles>(config, surroundings_.pool));
  }
  device.handles = first == index_of(device) ? handles_.back().get() : devices[first].handles;
}

// [DHI D2]
void Fabric::assign_handles() {
  std::vector<unsigned> bits;
  for (const FabricDevice& device : devices) {
    bits.push_back(device.config.device.dhi.bits);
  }
  const std::vector<HandleRange> ranges = handle_ranges(config_, graph, bits);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i].range = ranges[i];
  }
}

Switch& Fabric::switch_at(NodeIndex node) const {
  const auto place = std::find(graph.switches().begin(), graph.switches().end(), node);
  return *switches[static_cast<std::size_t>(place - graph.switches().begin())];
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
