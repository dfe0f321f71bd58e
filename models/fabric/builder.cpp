// SPDX-License-Identifier: Apache-2.0
// Wiring.
#include "fabric/builder.h"

#include "common/ranges.h"
#include "config/instances.h"
#include "config/load.h"
#include "config_space/registers.h"
#include "cxl/domain_field.h"
#include "faults/broken_rules.h"

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

/// With the bits that name the domain of a D2H Req, which follow from more than the keys of the
/// link. [DHI D24]
LinkConfig with_identity_bits(const Config& config) {
  LinkConfig link = config.link;
  link.cxl.identity_bits = CxlDomainField::of(config).bits();
  return link;
}

}  // namespace

Builder::Builder(Fabric& fabric)
    : fabric_(fabric),
      graph_(fabric.graph),
      surroundings_(fabric.surroundings),
      random_(fabric.config.run.seed),
      caches_(graph_.hosts(), 0),
      handle_groups_(handle_groups(fabric.config, graph_)),
      buffer_bases_(buffer_bases(fabric.config, graph_)) {}

void Builder::build() {
  check_attachments();
  fabric_.switches.resize(graph_.switches().size());
  for (unsigned host = 0; host < graph_.hosts(); ++host) {
    build_host(host);
  }
  assign_handles();
  for (FabricDevice& device : fabric_.devices) {
    surroundings_.hosts[device.host]->bridge.attach(*device.handles, *device.root_port);
    add_engines(device);
  }
  for (const auto& join : joins_) {
    join();
  }
  add_tables();
  for (const Kind& kind : kinds()) {
    kind.list(fabric_);
  }
}

void Builder::build_host(unsigned host) {
  const auto caches = static_cast<std::uint8_t>(std::count_if(
      graph_.devices().begin(), graph_.devices().end(), [&](NodeIndex device) {  // [CXL-7.1]
        return graph_[device].host == host && fabric_.config_of(device).device.cxl.cache.size > 0;
      }));
  HostNode& node = *surroundings_.hosts[host];
  fabric_.homes.emplace_back();
  cache_watches_.push_back(nullptr);
  if (caches > 0) {
    fabric_.homes.back() = std::make_unique<CxlHome>(
        (node.prefix + host_part::kHome).c_str(), node.config.host,
        broken_snoops(node.config.faults), caches, surroundings_.pool, node.memory);
    fabric_.cache_watches.push_back(std::make_unique<CacheWatch>(node.prefix + "device caches"));
    cache_watches_.back() = fabric_.cache_watches.back().get();
    if (node.config.iommu.secure_ats) {
      fabric_.homes.back()->attach(node.agent);  // [CXL-7.10]
      fabric_.homes.back()->set_hook(broken_recalls(node.config.faults));
      if (node.config.run.monitors != MonitorMode::kOff) {
        fabric_.homes.back()->watch(*cache_watches_.back());
      }
    }
  }
  for (const NodeIndex root_port : graph_.root_ports()) {
    if (graph_[root_port].host == host) {
      build_below(graph_[root_port].lower.front());
      add_root_port(root_port);
    }
  }
}

// The link above a node, all that is below it, and then the node.
void Builder::build_below(NodeIndex node) {
  const Config config = fabric_.config_of(node);
  add_link(node, config);
  Link& link = *fabric_.links.back().link;
  if (graph_.is(node, NodeKind::kSwitch)) {
    add_switch(node, config, link);
  } else {
    add_device(node, config, link);
  }
}

void Builder::add_switch(NodeIndex node, const Config& config, Link& link) {
  std::vector<Link*> below;
  std::vector<LinkConfig> configs;
  for (const NodeIndex lower : graph_[node].lower) {
    const std::size_t own_link = fabric_.links.size();
    build_below(lower);
    below.push_back(fabric_.links[own_link].link.get());
    configs.push_back(below.back()->config());
  }
  auto sw = std::make_unique<Switch>(graph_[node].name.c_str(), config.system, config.link,
                                     config.device.dhi.bits, configs, surroundings_.pool);
  bind(sw->to_link(kUpstreamPort), sw->from_link(kUpstreamPort), link.port, LinkSide::kDownstream);
  for (std::size_t i = 0; i < below.size(); ++i) {
    const auto port = static_cast<std::uint16_t>(i);
    bind(sw->to_link(port), sw->from_link(port), below[i]->port, LinkSide::kUpstream);
  }
  const auto place = std::find(graph_.switches().begin(), graph_.switches().end(), node);
  fabric_.switches[static_cast<std::size_t>(place - graph_.switches().begin())] = std::move(sw);
}

void Builder::add_root_port(NodeIndex node) {
  const NodeIndex lower = graph_[node].lower.front();
  const std::string& name = graph_[node].name;
  FabricDevice* first = nullptr;
  for (FabricDevice& device : fabric_.devices) {
    if (graph_.is_at_or_below(device.node, node)) {
      add_handles(device, at_root_port(device));
      first = first == nullptr ? &device : first;
    }
  }
  HostNode& host = *surroundings_.hosts[graph_[node].host];
  const auto link =
      find_if(fabric_.links, [&](const FabricLink& one) { return one.lower == lower; });
  RootPortConfig own = RootPortConfig::of(graph_.has_switch_in_tree(node) ? fabric_.config_of(node)
                                                                          : at_root_port(*first));
  own.link.queue_depth = link->link->config().queue_depth;
  fabric_.root_ports.push_back(std::make_unique<RootPort>(
      name.c_str(), own, surroundings_.pool, host.memory, *first->handles, surroundings_.tracer));
  RootPort& port = *fabric_.root_ports.back();
  port.attach(host.agent);
  bind(port.to_link, port.from_link, link->link->port, LinkSide::kUpstream);
  link->link->on_rollover(LinkSide::kUpstream, [&port] { port.replay_num_rolled_over(); });
  for (FabricDevice& device : fabric_.devices) {
    if (graph_.is_at_or_below(device.node, node)) {
      device.root_port = &port;
      add_gate(device, own.host);
    }
  }
  HostPort::Facts facts;
  facts.can_be_disabled = !graph_.has_switch_in_tree(node);
  const auto ports =
      std::count_if(graph_.root_ports().begin(), graph_.root_ports().end(),
                    [&](NodeIndex other) { return graph_[other].host == host.number; });
  facts.has_siblings = RoutingTable::functions_per_device(RoutingTable::Kind::kRootComplex,
                                                          static_cast<unsigned>(ports)) > 1;
  facts.completes = (own.host.atomics ? cfg::pcie::kCap2Atomics : 0U) |
                    (own.host.deferrable_writes ? cfg::pcie::kCap2DeferrableWrites : 0U);
  HostPort& seen =
      host.bridge.attach(port, config_of_node(fabric_.config, graph_, node).link.preset, facts);
  if (facts.can_be_disabled) {
    seen.below = link_below(*first);
  }
}

void Builder::add_device(NodeIndex node, const Config& config, Link& link) {
  FabricDevice device;
  device.name = graph_[node].name;
  device.node = node;
  device.host = graph_[node].host;
  device.is_below_switch = graph_.has_switch_in_tree(node);
  device.config = config;
  device.config.workload.buffer_base = buffer_bases_[fabric_.devices.size()];
  device.link = fabric_.links.size() - 1;
  EndpointConfig own = EndpointConfig::of(device.config);
  own.has_switch = device.is_below_switch;
  Endpoint& endpoint =
      fabric_.make<Endpoint>(device.name.c_str(), own, surroundings_.pool, surroundings_.tracer);
  device.endpoint = &endpoint;
  device.components = {&endpoint};
  FunctionShell& shell = endpoint.shell();
  if (const auto outer = surroundings_.attached.devices.find(device.name);
      outer != surroundings_.attached.devices.end()) {
    device.outer = outer->second;
    bind(device.outer->to_link, device.outer->from_link, link.port, LinkSide::kDownstream);
    shell.to_link.bind(device.outer->from_functions);
    device.outer->to_functions.bind(shell.from_link);
  } else {
    bind(shell.to_link, shell.from_link, link.port, LinkSide::kDownstream);
  }
  link.on_rollover(LinkSide::kDownstream, [&endpoint] { endpoint.replay_num_rolled_over(); });
  link.ask_sender([&endpoint] { return endpoint.stalls(); });
  if (config.device.cxl.memory > 0) {
    add_memory(device, link);
  }
  if (config.device.cxl.cache.size > 0) {
    add_cache(device, link);
  }
  fabric_.devices.push_back(std::move(device));
}

Config Builder::at_root_port(const FabricDevice& device) const {
  return for_instance(device.config, graph_[graph_.root_of(device.node)].name);
}

// Both ends advertise what the configuration says, but for switches.
void Builder::add_link(NodeIndex node, const Config& config) {
  const std::string& name = graph_[node].link;
  const std::string position = graph_[graph_.upper_of(node)].position + "-" + graph_[node].position;
  const LinkCredits of_switch = switch_credits(config.link.credits);
  const std::array<LinkCredits, 2> advertised = {
      graph_.is(graph_.upper_of(node), NodeKind::kSwitch) ? of_switch : config.link.credits,
      graph_.is(node, NodeKind::kSwitch) ? of_switch : config.link.credits};
  fabric_.links.push_back(
      {name,
       std::make_unique<Link>(
           name.c_str(), with_identity_bits(config), config.message, config.faults,
           random_.split(position), surroundings_.pool, advertised,
           Link::Agents{config.device.cxl.cache.size > 0, config.device.cxl.memory > 0}),
       node});
  fabric_.links.back().link->draw_skp_phases(random_.split(position + " SKP"));
}

void Builder::add_handles(FabricDevice& device, const Config& config) {
  const auto index = static_cast<std::size_t>(&device - fabric_.devices.data());
  const std::size_t first = handle_groups_[index];
  if (first == index) {
    fabric_.handles.push_back(std::make_unique<HostHandles>(
        config.host.dhi, config.link.dhi_form, broken_allocs(config.faults), surroundings_.pool));
  }
  device.handles = first == index ? fabric_.handles.back().get() : fabric_.devices[first].handles;
}

// [DHI D2]
void Builder::assign_handles() {
  const auto bits = mapped<unsigned>(
      fabric_.devices, [](const FabricDevice& device) { return device.config.device.dhi.bits; });
  const std::vector<HandleRange> ranges = handle_ranges(fabric_.config, graph_, bits);
  for (std::size_t i = 0; i < fabric_.devices.size(); ++i) {
    fabric_.devices[i].range = ranges[i];
  }
}

// What the registers of a root port do to the link and the device right below it.
LinkBelow Builder::link_below(const FabricDevice& device) const {
  const RootPort* const port = device.root_port;
  Endpoint* const endpoint = device.endpoint;
  Link* const link = fabric_.links[device.link].link.get();
  LinkBelow below;
  below.reset = [endpoint] { endpoint->hot_reset(); };
  below.is_reset_over = [endpoint, link] { return !endpoint->is_in_reset() && link->is_idle(); };
  below.take_down = [endpoint, link, agents = device.cxl] {
    endpoint->link_going_down();
    agents.link_lost();
    link->take_down();
    endpoint->link_lost();
  };
  below.may_come_up = [endpoint, port] {
    return port->is_quiet() && !endpoint->is_in_reset() && endpoint->target().is_quiet();
  };
  below.bring_up = [link, agents = device.cxl] {
    link->bring_up();
    agents.link_up();
  };
  below.is_up = [link] { return link->is_up(); };
  return below;
}

}  // namespace flitwise
