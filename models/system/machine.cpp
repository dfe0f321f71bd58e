// SPDX-License-Identifier: Apache-2.0
// Wiring.
#include "system/machine.h"

#include <algorithm>

#include "trace/packet_csv.h"

namespace flitwise {

Machine::Machine(const Config& whole, MemorySocket* memory)
    : config(whole),
      tracer_(whole.trace.latency),
      memory_port_("memory_port"),
      fabric_(config, {pool, memory_port_, tracer_, [this] { open_window(); }}) {
  if (memory == nullptr) {
    own_memory_ = std::make_unique<HostMemory>("memory", config.host);
    memory = &own_memory_->socket;
  }
  memory_port_.socket.bind(*memory);
  if (const auto file = config.trace.files.find("packets"); file != config.trace.files.end()) {
    packet_trace_ = std::make_unique<PacketCsv>(file->second);
  }
  for (FabricLink& one : fabric_.links) {
    one.link->watch(packet_trace_.get());
  }
}

void Machine::start() {
  if (config.run.warmup == 0) {
    open_window();
  }
  for (FabricDevice& device : fabric_.devices) {
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
  for (FabricLink& one : fabric_.links) {
    one.link->start_window(config.run.warmup > 0);
  }
  for (FabricDevice& device : fabric_.devices) {
    device.endpoint->start_window();
  }
}

bool Machine::is_exhausted() const {
  return std::all_of(fabric_.devices.begin(), fabric_.devices.end(),
                     [](const FabricDevice& device) { return device.engine->is_done(); });
}

bool Machine::is_quiet() const {
  const auto all = [](const auto& components, auto is_quiet) {
    return std::all_of(components.begin(), components.end(), is_quiet);
  };
  return is_exhausted() && memory_port_.in_flight() == 0 &&
         all(fabric_.devices, [](const auto& one) { return one.endpoint->is_quiet(); }) &&
         all(fabric_.root_ports, [](const auto& one) { return one->is_quiet(); }) &&
         all(fabric_.switches, [](const auto& one) { return one->is_quiet(); }) &&
         all(fabric_.links, [](const auto& one) { return one.link->is_quiet(); });
}

std::uint64_t Machine::progress() const {
  std::uint64_t sum = 0;
  for (const FabricLink& one : fabric_.links) {
    sum += one.link->delivered();
  }
  for (const FabricDevice& device : fabric_.devices) {
    sum += device.engine->started();
  }
  return sum;
}

std::string Machine::waiting() const {
  std::string text;
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
  dhi.rejected += statistics.rejected();
  for (int status = 1; status < kHandleStatuses; ++status) {
    if (const std::uint64_t count = statistics.rejections[static_cast<std::size_t>(status)]) {
      dhi.rejections[name_of(static_cast<HandleStatus>(status))] = count;
    }
  }
  return dhi;
}

RunResult Machine::result() const {
  RunResult result;
  result.seed = config.run.seed;
  result.simulated = now() - window_begin_;
  result.latency = tracer_.results();
  const auto add_errors = [&](const std::map<std::string, std::uint64_t>& errors) {
    for (const auto& [kind, count] : errors) {
      result.errors[kind] += count;
    }
  };
  for (std::size_t i = 0; i < fabric_.links.size(); ++i) {
    result.links.push_back(link_result(i));
  }
  for (const FabricDevice& device : fabric_.devices) {
    result.dhi.push_back(dhi_result(device));
    add_errors(device.endpoint->errors());
  }
  for (const auto& one : fabric_.root_ports) {
    add_errors(one->errors());
  }
  for (const auto& one : fabric_.switches) {
    add_errors(one->errors());
  }
  result.checks = checks();
  return result;
}

std::vector<CheckResult> Machine::checks() const {
  std::vector<CheckResult> all;
  for (const FabricLink& one : fabric_.links) {
    for (CheckResult& check : one.link->checks()) {
      all.push_back(std::move(check));
    }
  }
  for (const FabricDevice& device : fabric_.devices) {
    all.push_back(
        {device.name + ": every request is answered", device.endpoint->outstanding() == 0, ""});
  }
  return all;
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
