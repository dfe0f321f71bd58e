// SPDX-License-Identifier: Apache-2.0
// Wiring.
#include "system/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/interrupt.h"
#include "config/instances.h"
#include "flitwise/error.h"
#include "system/driver_setup.h"
#include "system/translation_setup.h"
#include "trace/packet_csv.h"

namespace flitwise {
namespace {

// How often the end is looked for while work is left, and where nothing is measured.
constexpr Time kWorkSlice = Time::from_us(1);
constexpr Time kIdleSlice = Time::from_ns(20);
// How often the user's interrupt is looked for while memory alone is at work.
constexpr Time kMemorySlice = Time::from_us(1000);

Hosts make_hosts(const Config& config, PacketPool& pool, MemorySocket* memory) {
  sc_core::sc_enable_name_checking = false;  // "h1.rp0" is the name of a root port
  Hosts hosts;
  for (unsigned number = 0; number < config.system.hosts; ++number) {
    hosts.push_back(std::make_unique<HostNode>(number, config_of_host(config, number), pool,
                                               number == 0 ? memory : nullptr));
  }
  return hosts;
}

}  // namespace

Machine::Machine(const Config& whole, MemorySocket* memory)
    : config(whole),
      tracer_(whole.trace.latency),
      hosts_(make_hosts(whole, pool, memory)),
      fabric_(config, {pool, hosts_, tracer_,
                       [this](std::size_t device) { measurement_.open(device, true); },
                       [this] { work_ended(); },
                       [this](std::size_t device, const WorkItem& item, std::uint32_t token) {
                         ring(device, item, token);
                       }}),
      monitors_(fabric_, config),
      measurement_(fabric_, hosts_),
      attacks_(config, fabric_),
      software_(fabric_.devices.size()) {
  if (const auto file = config.trace.files.find("packets"); file != config.trace.files.end()) {
    packet_trace_ = std::make_unique<PacketCsv>(file->second);
  }
  for (FabricLink& one : fabric_.links) {
    one.link->hold_faults();
  }
  for (const auto& host : hosts_) {
    isolation_.push_back(std::make_unique<IsolationWatch>(host->config, fabric_, *host));
    host->add_driver();
    measurement_.on_open([node = host.get()] { node->start_window(); });
  }
  attach_root_ports();
  for (FabricDevice& device : fabric_.devices) {
    hosts_[device.host]->bridge.attach(*device.handles, *device.root_port);
  }
  if (is_watched()) {
    observe({});
  }
}

// Some device is hostile.
bool Machine::is_watched() const {
  return std::any_of(isolation_.begin(), isolation_.end(),
                     [](const auto& one) { return one->is_needed(); });
}

void Machine::attach_root_ports() {
  for (std::size_t i = 0; i < fabric_.root_ports.size(); ++i) {
    const Graph& graph = fabric_.graph;
    const NodeIndex node = graph.root_ports()[i];
    HostNode& host = *hosts_[graph[node].host];
    HostBridge::PortFacts facts;
    facts.can_be_disabled = !graph.has_switch_in_tree(node);
    facts.has_siblings = RoutingTable::functions_per_device(
                             RoutingTable::Kind::kRootComplex,
                             static_cast<unsigned>(fabric_.root_ports_of(host.number).size())) > 1;
    RootPort& port = *fabric_.root_ports[i];
    const unsigned index =
        host.bridge.attach(port, config_of_node(config, graph, node).link.preset, facts);
    if (facts.can_be_disabled) {
      serve_resets(host, port, index);
    }
  }
}

void Machine::serve() {
  if (is_serving_) {
    return;
  }
  is_serving_ = true;
  for (const auto& host : hosts_) {
    set_up_translation_tables(*host);
  }
  measurement_.forget_errors();
  for (FabricLink& one : fabric_.links) {
    one.link->release_faults();
    if (packet_trace_ != nullptr) {
      one.link->watch(packet_trace_.get());
    }
  }
}

void Machine::start() {
  if (!hosts_[0]->boot && !is_set_up_) {
    set_up_at_once();
  }
  serve();
  for (const auto& host : hosts_) {
    isolation_[host->number]->begin();
  }
  attacks_.begin();
  for (const auto& host : hosts_) {
    if (host->driver && !host->driver->is_started()) {
      host->driver->start();
    }
  }
  for (std::size_t i = 0; i < fabric_.devices.size(); ++i) {
    if (fabric_.devices[i].config.run.warmup == 0) {
      measurement_.open(i, false);
    }
  }
  is_started_ = true;
  for (FabricDevice& device : fabric_.devices) {
    const Config& c = device.config;
    if (!device.engine) {
      fabric_.add_hostile(device);
      device.endpoint->attach_raw(*device.hostile);
    } else {
      fabric_.start_engine(device);
      if (c.workload.via == WorkloadVia::kDma &&
          c.device.dhi.management == HandleManagement::kDevice) {
        device.endpoint->start_contexts(c.workload.domains, c.run.warmup == 0);
      }
    }
    device.endpoint->wake();
  }
  for (const auto& host : hosts_) {
    if (host->driver) {
      host->driver->begin([this] { return !all_work_is_given_out(); });
    }
  }
}

void Machine::set_up_translation_tables(HostNode& host) {
  const DeviceRange devices = fabric_.devices_of(host.number);
  if (!host.driver) {
    set_up_translation(host.config, devices, host.memory, host.agent);
    return;
  }
  std::vector<RootPort*> ports;
  for (const auto& one : fabric_.root_ports_of(host.number)) {
    ports.push_back(one.get());
  }
  const auto written = [this, &host](std::uint64_t address) {
    isolation_[host.number]->software_wrote(address, 8);
  };
  host.driver->take_over(set_up_driver(host.config, devices, host.memory, host.agent, written),
                         ports);
  for (const FabricDevice& device : devices) {
    device.endpoint->watch_translations(
        [&host](const DeviceIdentity& who, std::uint64_t physical, std::uint64_t untranslated) {
          host.driver->translation_used(who, physical, untranslated);
        });
  }
}

bool Machine::is_exhausted() const {
  return !is_started_ || std::all_of(fabric_.devices.begin(), fabric_.devices.end(),
                                     [](const FabricDevice& one) { return one.is_done(); });
}

bool Machine::is_quiet() const {
  return is_exhausted() && rest_of_last_request() == Time{} && is_still();
}

bool Machine::is_still() const {
  return nothing_is_under_way() &&
         std::all_of(fabric_.links.begin(), fabric_.links.end(),
                     [](const FabricLink& one) { return one.link->is_quiet(); });
}

bool Machine::nothing_is_under_way() const {
  const auto all = [](const auto& components, auto is_quiet) {
    return std::all_of(components.begin(), components.end(), is_quiet);
  };
  return all(hosts_, [](const auto& one) { return one->is_quiet(); }) &&
         all(fabric_.homes, [](const auto& one) { return !one || one->is_quiet(); }) &&
         all(software_, [](const auto& one) { return !one.driver || one.driver->is_quiet(); }) &&
         all(fabric_.devices, [](const auto& one) { return one.is_quiet(); }) &&
         all(fabric_.root_ports, [](const auto& one) { return one->is_quiet(); }) &&
         all(fabric_.switches, [](const auto& one) { return one->is_quiet(); }) &&
         all(fabric_.links, [](const auto& one) { return !one.link->carries_tlps(); });
}

bool Machine::has_given_out_all(const FabricDevice& device) {
  return device.is_exhausted();
}

bool Machine::all_work_is_given_out() const {
  return !is_started_ ||
         std::all_of(fabric_.devices.begin(), fabric_.devices.end(), has_given_out_all);
}

// From here on every event is looked at: the slice ends.
void Machine::work_ended() {
  if (is_in_slice_) {
    sc_core::sc_pause();
  }
}

// Nothing of the device is under way. What is at a root port above a switch may be of others.
bool Machine::is_idle(const FabricDevice& device) const {
  return device.is_quiet() && !fabric_.links[device.link].link->carries_tlps() &&
         (device.is_below_switch || device.root_port->is_quiet());
}

bool Machine::is_over(const FabricDevice& device) const {
  return device.is_done() && is_idle(device);
}

// Ends the windows of devices whose last request is over; returns when to look again, at the
// latest, where some device is on its last requests.
std::optional<Time> Machine::close_devices() {
  std::optional<Time> next;
  for (std::size_t i = 0; i < fabric_.devices.size(); ++i) {
    const FabricDevice& device = fabric_.devices[i];
    if (measurement_.is_closed(i) || !has_given_out_all(device)) {
      continue;
    }
    // Memory and engine may have given an end that lies ahead.
    const Time end = std::max(device.is_below_switch ? Time{} : device.root_port->memory_end(),
                              device.last_completion());
    if (is_over(device) && end <= now()) {
      measurement_.close(i);
    } else {
      const Time then = end > now() ? end : now() + kWorkSlice;
      next = std::min(next.value_or(then), then);
    }
  }
  return next;
}

// Runs in slices as long as work is given out, and from one event to the next while a device is on
// its last requests, so that windows end with them; what remains are Acks and credits.
void Machine::advance() {
  if (!is_started_ || measurement_.is_closed()) {
    const Time alone = nothing_is_under_way() ? rest_of_last_request() : Time{};
    sc_core::sc_start(to_sc_time(std::clamp(alone, kIdleSlice, kMemorySlice)));
    return;
  }
  const std::optional<Time> next = close_devices();
  if (!next && !all_work_is_given_out()) {
    is_in_slice_ = true;
    sc_core::sc_start(to_sc_time(std::max(kWorkSlice, rest_of_own_wait())));
    is_in_slice_ = false;
  } else if (is_exhausted() && nothing_is_under_way()) {
    if (const Time rest = rest_of_last_request(); rest > Time{}) {
      const Time to_next = next ? *next - now() : rest;
      sc_core::sc_start(to_sc_time(std::min({rest, to_next, kMemorySlice})));
    }
    if (rest_of_last_request() == Time{}) {
      measurement_.close();
    }
  } else {
    const sc_core::sc_time longest = to_sc_time(next.value_or(now() + kWorkSlice) - now());
    sc_core::sc_start(std::min(sc_core::sc_time_to_pending_activity(), longest));
  }
}

// Memory, engines and agents may have given an end that lies ahead.
Time Machine::rest_of_last_request() const {
  Time end = now();
  for (const auto& one : fabric_.root_ports) {
    end = std::max(end, one->memory_end());
  }
  for (const FabricDevice& one : fabric_.devices) {
    end = std::max(end, one.last_completion());
  }
  return end - now();
}

std::string Machine::waiting() const {
  std::string text;
  for (const auto& host : hosts_) {
    text += host->waiting();
  }
  for (const FabricDevice& device : fabric_.devices) {
    text += device.endpoint->waiting();
    text += device.mem_host ? device.mem_host->waiting() : "";
    text += device.cache ? device.cache->waiting() : "";
    text += device.hdm_host ? device.hdm_host->waiting() + device.hdm_device->waiting() : "";
  }
  for (const auto& home : fabric_.homes) {
    text += home ? home->waiting() : "";
  }
  for (const FabricLink& one : fabric_.links) {
    text += one.link->waiting();
  }
  for (const auto& one : fabric_.switches) {
    text += one->waiting();
  }
  for (const auto& one : fabric_.root_ports) {
    text += one->waiting();
  }
  for (const auto& host : hosts_) {
    text += host->agents_waiting();
  }
  return text;
}

const FabricDevice& Machine::device(const std::string& name) const {
  const auto found = std::find_if(fabric_.devices.begin(), fabric_.devices.end(),
                                  [&](const FabricDevice& one) { return one.name == name; });
  FLITWISE_CHECK(found != fabric_.devices.end(), "no device is called " + name);
  return *found;
}

const RootPort& Machine::root_port(const std::string& name) const {
  return *device(name).root_port;
}

std::vector<std::string> Machine::device_names() const {
  std::vector<std::string> names;
  for (const FabricDevice& one : fabric_.devices) {
    names.push_back(one.name);
  }
  return names;
}

void Machine::observe(Observer observer) {
  observer_ = std::move(observer);
  if (is_watched()) {
    observer_ = [this, then = std::move(observer_)](const Observation& seen) {
      for (const auto& one : isolation_) {
        one->observe(seen);
      }
      attacks_.observe(seen);
      if (then) {
        then(seen);
      }
    };
  }
  monitors_.observe(observer_);
  for (const auto& one : fabric_.root_ports) {
    one->observe(observer_);
  }
  for (FabricDevice& one : fabric_.devices) {
    one.endpoint->observe(observer_);
  }
}

Endpoint* Machine::endpoint(const std::string& name) {
  for (FabricDevice& device : fabric_.devices) {
    if (device.name == name) {
      return device.endpoint.get();
    }
  }
  return nullptr;
}

}  // namespace flitwise
