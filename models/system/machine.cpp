// SPDX-License-Identifier: Apache-2.0
// Wiring.
#include "system/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/interrupt.h"
#include "flitwise/error.h"
#include "trace/packet_csv.h"

namespace flitwise {
namespace {

// How often the end is looked for: rarely while work is left, often when the last TLPs are under
// way.
constexpr Time kWorkSlice = Time::from_us(1);
constexpr Time kDrainSlice = Time::from_ns(20);

void append(std::vector<CheckResult>& all, std::vector<CheckResult> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

}  // namespace

Machine::Machine(const Config& whole, MemorySocket* memory)
    : config(whole),
      tracer_(whole.trace.latency),
      memory_port_("memory_port"),
      bridge_("host_bridge", whole, pool),
      fabric_(config, {pool, memory_port_, tracer_, [this] { open_window(); },
                       [this](std::size_t device, const WorkItem& item, std::uint32_t token) {
                         ring(device, item, token);
                       }}),
      software_(fabric_.devices.size()) {
  if (memory == nullptr) {
    own_memory_ = std::make_unique<HostMemory>("memory", config.host);
    memory = &own_memory_->socket;
  }
  memory_port_.socket.bind(*memory);
  if (const auto file = config.trace.files.find("packets"); file != config.trace.files.end()) {
    packet_trace_ = std::make_unique<PacketCsv>(file->second);
  }
  for (FabricLink& one : fabric_.links) {
    one.link->hold_faults();
  }
  for (const std::unique_ptr<RootPort>& port : fabric_.root_ports) {
    bridge_.attach(*port, config);
  }
  for (FabricDevice& device : fabric_.devices) {
    bridge_.attach(*device.handles, *device.root_port);
  }
}

void Machine::serve() {
  if (is_serving_) {
    return;
  }
  is_serving_ = true;
  errors_of_boot_ = errors();
  for (FabricLink& one : fabric_.links) {
    one.link->release_faults();
    if (packet_trace_ != nullptr) {
      one.link->watch(packet_trace_.get());
    }
  }
}

void Machine::start() {
  if (!boot_ && !is_set_up_) {
    set_up_at_once();
  }
  serve();
  if (config.run.warmup == 0) {
    open_window();
  }
  is_started_ = true;
  for (FabricDevice& device : fabric_.devices) {
    const Config& c = device.config;
    if (!device.engine) {
      fabric_.add_hostile(device);
      device.endpoint->attach_raw(*device.hostile);
    } else {
      device.endpoint->attach(*device.engine);
      device.engine->start(now());
      if (c.device.dhi.management == HandleManagement::kDevice) {
        device.endpoint->start_contexts(c.workload.domains, window_is_open_);
      }
    }
    device.endpoint->wake();
  }
}

void Machine::open_window() {
  if (window_is_open_) {
    return;
  }
  window_is_open_ = true;
  window_begin_ = now();
  for (FabricLink& one : fabric_.links) {
    one.link->start_window(config.run.warmup > 0);
  }
  for (FabricDevice& device : fabric_.devices) {
    device.endpoint->start_window();
  }
}

bool Machine::is_exhausted() const {
  return !is_started_ ||
         std::all_of(fabric_.devices.begin(), fabric_.devices.end(), [](const FabricDevice& one) {
           return one.hostile ? one.hostile->is_done() : one.engine->is_done();
         });
}

bool Machine::is_quiet() const {
  return is_exhausted() && is_still();
}

bool Machine::is_still() const {
  const auto all = [](const auto& components, auto is_quiet) {
    return std::all_of(components.begin(), components.end(), is_quiet);
  };
  return memory_port_.in_flight() == 0 && bridge_.is_quiet() &&
         all(software_, [](const auto& one) { return !one.driver || one.driver->is_quiet(); }) &&
         all(fabric_.devices, [](const auto& one) { return one.endpoint->is_quiet(); }) &&
         all(fabric_.root_ports, [](const auto& one) { return one->is_quiet(); }) &&
         all(fabric_.switches, [](const auto& one) { return one->is_quiet(); }) &&
         all(fabric_.links, [](const auto& one) { return one.link->is_quiet(); });
}

void Machine::run_until_quiet() {
  const Time patience =
      std::max(config.run.deadlock_after, config.device.timing.completion_timeout * 2);
  std::uint64_t mark = progress();
  Time since = now();
  while (!is_quiet() && !is_interrupted()) {
    sc_core::sc_start(to_sc_time(is_exhausted() ? kDrainSlice : kWorkSlice));
    if (progress() != mark) {
      mark = progress();
      since = now();
    } else if (now() - since > patience) {
      throw SimulationError("no progress for " + std::to_string(patience.fs / 1'000'000'000) +
                            " us of simulated time; what waits:\n" + waiting());
    }
  }
}

std::uint64_t Machine::progress() const {
  std::uint64_t sum = 0;
  for (const FabricLink& one : fabric_.links) {
    sum += one.link->delivered();
  }
  for (const FabricDevice& device : fabric_.devices) {
    sum += device.engine ? device.engine->started() : 0;
  }
  return sum;
}

std::string Machine::waiting() const {
  std::string text = bridge_.waiting();
  for (const FabricDevice& device : fabric_.devices) {
    text += device.endpoint->waiting();
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
  return text;
}

LinkResult Machine::link_result(std::size_t index) const {
  const FabricLink& one = fabric_.links[index];
  LinkResult result = one.link->result(one.name);
  for (const FabricDevice& device : fabric_.devices) {
    if (device.link == index) {
      const StallTimes stalls = device.endpoint->stalls();
      result.up.stalls.tags = stalls.tags;
      result.up.stalls.handle = stalls.handle;
    }
  }
  return result;
}

DhiResult Machine::dhi_result(const FabricDevice& device) const {
  DhiResult dhi = device.endpoint->dhi_result();
  dhi.wrong_domain = device.handles->wrong_domain();
  const HostHandleStatistics& statistics = device.handles->table().statistics();
  dhi.rejected = statistics.rejected();
  for (int status = 1; status < kHandleStatuses; ++status) {
    if (const std::uint64_t count = statistics.rejections[static_cast<std::size_t>(status)]) {
      dhi.rejections[name_of(static_cast<HandleStatus>(status))] = count;
    }
  }
  return dhi;
}

std::map<std::string, std::uint64_t> Machine::errors() const {
  std::map<std::string, std::uint64_t> all = bridge_.errors();
  const auto add = [&](const std::map<std::string, std::uint64_t>& errors) {
    for (const auto& [kind, count] : errors) {
      all[kind] += count;
    }
  };
  for (const FabricDevice& device : fabric_.devices) {
    add(device.endpoint->errors());
    if (device.engine && device.engine->stray_doorbells() > 0) {
      all["stray_doorbell"] += device.engine->stray_doorbells();
    }
  }
  for (const auto& one : fabric_.root_ports) {
    add(one->errors());
  }
  for (const auto& one : fabric_.switches) {
    add(one->errors());
  }
  return all;
}

RunResult Machine::result() const {
  RunResult result;
  result.seed = config.run.seed;
  result.simulated = now() - window_begin_;
  result.latency = tracer_.results();
  for (std::size_t i = 0; i < fabric_.links.size(); ++i) {
    result.links.push_back(link_result(i));
  }
  for (const FabricDevice& device : fabric_.devices) {
    result.dhi.push_back(dhi_result(device));
  }
  for (const auto& [kind, count] : errors()) {
    const auto before = errors_of_boot_.find(kind);
    const std::uint64_t since = count - (before == errors_of_boot_.end() ? 0 : before->second);
    if (since > 0) {
      result.errors[kind] = since;
    }
  }
  result.checks = checks();
  return result;
}

std::vector<CheckResult> Machine::checks() const {
  std::vector<CheckResult> all;
  std::size_t on_wire = 0;
  for (const FabricLink& one : fabric_.links) {
    append(all, one.link->checks());
    on_wire += one.link->on_wire();
  }
  for (const auto& one : fabric_.root_ports) {
    append(all, one->checks());
  }
  for (std::size_t i = 0; i < fabric_.devices.size(); ++i) {
    const FabricDevice& device = fabric_.devices[i];
    append(all, device.endpoint->checks());
    if (device.engine) {
      all.push_back({device.name + ": every doorbell arrived",
                     device.engine->doorbells() == software_[i].doorbells, ""});
    }
  }
  if (fabric_.switches.empty()) {  // a switch may refuse a write, or send it to another device
    all.push_back(posted_bytes_check());
  }
  all.push_back({"no packet is left but on a wire", pool.in_use() == on_wire,
                 fmt::format("{} in use, {} on wires", pool.in_use(), on_wire)});
  return all;
}

// Payload of MWr: what devices sent is in memory, was an interrupt, or was refused and counted.
CheckResult Machine::posted_bytes_check() const {
  std::uint64_t sent = 0;
  std::uint64_t settled = 0;
  for (const FabricDevice& device : fabric_.devices) {
    sent += device.endpoint->counters().posted_bytes;
  }
  for (const auto& one : fabric_.root_ports) {
    const RootPortCounters& arrived = one->counters();
    settled += arrived.written_bytes + arrived.interrupt_bytes + arrived.dropped_bytes;
  }
  return {"posted bytes were written or refused", sent == settled,
          fmt::format("{} sent, {} settled", sent, settled)};
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
