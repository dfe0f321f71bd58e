// SPDX-License-Identifier: Apache-2.0
// Wiring.
#include "system/machine.h"

#include <algorithm>

#include "config/load.h"
#include "dhi/negotiation.h"
#include "trace/packet_csv.h"

namespace flitwise {
namespace {

constexpr unsigned kFunctionsPerBus = 256;

}  // namespace

Machine::Machine(const Config& whole)
    : config(whole),
      tracer_(whole.trace.latency),
      memory_("memory", whole.host),
      memory_port_("memory_port") {
  memory_port_.socket.bind(memory_.socket);
  if (const auto file = config.trace.files.find("packets"); file != config.trace.files.end()) {
    packet_trace_ = std::make_unique<PacketCsv>(file->second);
  }
  Random random(config.run.seed);
  const std::vector<HandleRange> ranges =
      config.host.dhi.table == HostDhiTable::kShared
          ? partition_handles(config.host.dhi.entries, config.device.dhi.bits,
                              config.system.devices)
          : std::vector<HandleRange>();
  for (unsigned i = 0; i < config.system.devices; ++i) {
    add_device(i, random);
    Device& device = devices_.back();
    negotiate_handles(
        device, ranges.empty() ? HandleRange::of_bits(device.config.device.dhi.bits) : ranges[i]);
  }
}

void Machine::add_device(unsigned index, Random& random) {
  Device device;
  device.name = "ep" + std::to_string(index);
  device.link_name = "rp" + std::to_string(index) + "-" + device.name;
  device.config = for_instance(for_instance(config, device.name), device.link_name);
  const unsigned first_bus = devices_.empty() ? 1U : devices_.back().buses.subordinate + 1U;
  const unsigned buses =
      (device.config.device.functions.count + kFunctionsPerBus - 1) / kFunctionsPerBus;
  device.base = Bdf::of(first_bus, 0, 0);
  device.buses = {static_cast<std::uint8_t>(first_bus),
                  static_cast<std::uint8_t>(first_bus + buses - 1)};
  if (handles_.empty() || config.host.dhi.table == HostDhiTable::kPerDevice) {
    handles_.push_back(std::make_unique<HostHandles>(device.config, pool));
  }
  const Config& c = device.config;
  device.root_port = std::make_unique<RootPort>(("rp" + std::to_string(index)).c_str(), c, pool,
                                                memory_port_, *handles_.back(), tracer_);
  device.link = std::make_unique<Link>(("link" + std::to_string(index)).c_str(), c.link, c.message,
                                       c.faults, random.split(device.link_name), pool);
  device.link->watch(packet_trace_.get());
  device.endpoint = std::make_unique<Endpoint>(device.name.c_str(), c, pool, tracer_);
  constexpr auto kUp = static_cast<std::size_t>(LinkSide::kUpstream);
  constexpr auto kDown = static_cast<std::size_t>(LinkSide::kDownstream);
  device.root_port->to_link.bind(*device.link->from_port[kUp]);
  device.link->to_port[kUp]->bind(device.root_port->from_link);
  device.endpoint->to_link.bind(*device.link->from_port[kDown]);
  device.link->to_port[kDown]->bind(device.endpoint->from_link);
  Endpoint* const endpoint = device.endpoint.get();
  device.engine = std::make_unique<DmaEngine>(
      c, DmaEngine::Hooks{[](const WorkItem&, std::uint32_t) {}, [this] { open_window(); },
                          [endpoint] { endpoint->wake(); }});
  device.endpoint->attach(*device.engine);
  device.endpoint->set_base(device.base);
  device.root_port->set_buses(device.buses);
  devices_.push_back(std::move(device));
}

// [DHI D5, D6]
void Machine::negotiate_handles(Device& device, HandleRange range) {
  const Config& c = device.config;
  if (c.link.identity != Identity::kDhi) {
    return;
  }
  HandleEnd end{c.device.dhi.supported, c.device.dhi.enabled, c.device.dhi.bits, 0};
  const HandleEnd host{true, true, kMaxHandleBits, 0};
  device.endpoint->dhi().negotiated(negotiate(host, end, range, true));
  handles_.back()->table().add_partition({device.buses, range, 0});
}

void Machine::start() {
  if (config.run.warmup == 0) {
    open_window();
  }
  for (Device& device : devices_) {
    device.engine->start(now());
    device.endpoint->wake();
  }
}

void Machine::open_window() {
  if (window_is_open_) {
    return;
  }
  window_is_open_ = true;
  window_begin_ = now();
  for (Device& device : devices_) {
    device.link->start_window(config.run.warmup > 0);
    device.endpoint->start_window();
  }
}

bool Machine::is_exhausted() const {
  return std::all_of(devices_.begin(), devices_.end(),
                     [](const Device& device) { return device.engine->is_done(); });
}

bool Machine::is_quiet() const {
  return is_exhausted() && memory_port_.in_flight() == 0 &&
         std::all_of(devices_.begin(), devices_.end(), [](const Device& device) {
           return device.endpoint->is_quiet() && device.root_port->is_quiet() &&
                  device.link->is_quiet();
         });
}

std::uint64_t Machine::progress() const {
  std::uint64_t sum = 0;
  for (const Device& device : devices_) {
    sum += device.link->delivered() + device.engine->started();
  }
  return sum;
}

std::string Machine::waiting() const {
  std::string text;
  for (const Device& device : devices_) {
    text += device.endpoint->waiting() + device.link->waiting() + device.root_port->waiting();
  }
  return text;
}

RunResult Machine::result() const {
  RunResult result;
  result.seed = config.run.seed;
  result.simulated = now() - window_begin_;
  result.latency = tracer_.results();
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const Device& device = devices_[i];
    LinkResult link = device.link->result(device.link_name);
    const StallTimes stalls = device.endpoint->stalls();
    link.up.stalls.tags = stalls.tags;
    link.up.stalls.handle = stalls.handle;
    result.links.push_back(std::move(link));
    DhiResult dhi = device.endpoint->dhi_result();
    const HostHandles& host = *handles_[std::min(i, handles_.size() - 1)];
    dhi.wrong_domain = host.wrong_domain();
    const HostHandleStatistics& statistics = host.table().statistics();
    dhi.rejected += statistics.rejected();
    for (int status = 1; status < kHandleStatuses; ++status) {
      if (const std::uint64_t count = statistics.rejections[static_cast<std::size_t>(status)]) {
        dhi.rejections[name_of(static_cast<HandleStatus>(status))] = count;
      }
    }
    result.dhi.push_back(std::move(dhi));
    for (const auto& [kind, count] : device.endpoint->errors()) {
      result.errors[kind] += count;
    }
    for (const auto& [kind, count] : device.root_port->errors()) {
      result.errors[kind] += count;
    }
  }
  result.checks = checks();
  return result;
}

std::vector<CheckResult> Machine::checks() const {
  std::vector<CheckResult> all;
  for (const Device& device : devices_) {
    for (CheckResult& check : device.link->checks()) {
      all.push_back(std::move(check));
    }
    all.push_back(
        {device.name + ": every request is answered", device.endpoint->outstanding() == 0, ""});
  }
  return all;
}

Endpoint* Machine::endpoint(const std::string& name) {
  for (Device& device : devices_) {
    if (device.name == name) {
      return device.endpoint.get();
    }
  }
  return nullptr;
}

}  // namespace flitwise
