// SPDX-License-Identifier: Apache-2.0
// The parts of one host, and what it reports of them.
#include "host/host_node.h"

#include <algorithm>
#include <iterator>

#include "topology/graph.h"

namespace flitwise {

HostNode::HostNode(unsigned own_number, const Config& own_config, PacketPool& pool,
                   MemoryTarget* memory_target)
    : number(own_number),
      prefix(host_prefix(own_number)),
      config(own_config),
      memory((prefix + "memory_port").c_str()),
      bridge((prefix + "host_bridge").c_str(), config.host, pool),
      agent((prefix + "iommu0").c_str(), config.iommu, config.run.seed, pool, memory),
      name_(prefix + "host") {
  if (memory_target == nullptr) {
    own_memory_ = std::make_unique<HostMemory>((prefix + "memory").c_str(), config.host);
    memory_target = &own_memory_->socket;
  }
  memory.socket.bind(*memory_target);
  bridge.attach(agent);
}

void HostNode::add_driver() {
  if (config.host.iommu_driver.enabled) {
    driver = std::make_unique<IommuDriver>((prefix + "iommu_driver").c_str(), config.host,
                                           config.iommu, config.run.seed, bridge, memory);
    agent.add_hooks({{},
                     [this](const IommuInterrupt& interrupt) {
                       driver->interrupted(static_cast<IommuEvent>(interrupt.data));
                     },
                     [this] { driver->status_is_coming(); }});
  }
}

void HostNode::start_window() {
  agent.start_window();
  bridge.tag_waits().start_window(now());
  memory.waits().start_window(now());
  if (own_memory_) {
    own_memory_->start_window();
  }
  if (driver) {
    driver->start_window();
  }
}

// Whoever waits with a timer has not stopped for good until it has given up. [IQU-07]
Time HostNode::waits_until() const {
  const Time of_agent = agent.next_timeout();
  return std::max(of_agent == Time::never() ? Time{} : of_agent,
                  driver ? driver->waits_until() : Time{});
}

void HostNode::add_progress(Progress& sum) const {
  sum.steps += agent.progress() + (driver ? driver->progress() : 0);
  sum.tended += agent.orders_done() + (driver ? driver->settled() : 0);
  sum.walk_steps += agent.walk_progress();
  sum.memory_done = std::max(sum.memory_done, memory.done());
}

std::string HostNode::waiting() const {
  return bridge.waiting() + agent.waiting() + (driver ? driver->waiting() : "");
}

void HostNode::count_repeats(Counts& counts) const {
  const std::string software = prefix + "host software: ";
  for (const auto& [kind, count] : bridge.errors()) {
    counts[software + kind] = count;
  }
  counts[software + "accesses to devices"] = bridge.accesses();
  counts[agent.name() + std::string(": orders of software carried out")] = agent.orders_done();
}

std::vector<WaitResult> HostNode::waits() const {
  std::vector<WaitResult> all = agent.waits();
  all.push_back(bridge.tag_waits().result(
      {bridge.name(), "tags", ResourceRole::kSlots, "down", "", "", 256}));
  all.push_back(memory.waits().result({prefix + "memory", "requests", ResourceRole::kQueue}));
  if (own_memory_) {
    all.push_back(own_memory_->bus_waits(prefix + "memory"));
  }
  return all;
}

void HostNode::report(RunResult& result) const {
  result.memory_asked = std::max(result.memory_asked, memory.asked());
  result.memory_done = std::max(result.memory_done, memory.done());
  result.rows<IommuResult>().push_back(agent.result());
  if (!driver) {
    return;
  }
  driver->fill(result.rows<IommuResult>().back());
  for (LatencyResult& latency : driver->latencies()) {
    latency.name = prefix + latency.name;
    result.rows<LatencyResult>().push_back(std::move(latency));
  }
  for (const auto& [kind, count] : driver->errors()) {
    result.errors["iommu_driver_" + kind] += count;
  }
}

std::vector<CheckResult> HostNode::checks() const {
  std::vector<CheckResult> all = agent.checks();
  if (driver) {
    std::vector<CheckResult> more = driver->checks();
    std::move(more.begin(), more.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace flitwise
