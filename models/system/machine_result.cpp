// SPDX-License-Identifier: Apache-2.0
// The machine: what a run leaves behind, and where that begins for what devices share.
#include "system/machine.h"

namespace flitwise {

// Of what the devices share beside links and ports.
void Machine::start_shared_windows() {
  agent_.start_window();
  bridge_.tag_waits().start_window(now());
  memory_port_.waits().start_window(now());
  if (own_memory_) {
    own_memory_->bus_waits().start_window(now());
  }
  if (iommu_driver_) {
    iommu_driver_->start_window();
  }
}

void Machine::fill_host(RunResult& result) const {
  result.iommu.push_back(agent_.result());
  for (WaitResult& one : agent_.waits()) {
    result.waits.push_back(std::move(one));
  }
  result.waits.push_back(bridge_.tag_waits().result(bridge_.basename(), "tags"));
  result.waits.push_back(memory_port_.waits().result("memory", "requests"));
  if (own_memory_) {
    result.waits.push_back(own_memory_->bus_waits().result("memory", "bandwidth"));
  }
  if (!iommu_driver_) {
    return;
  }
  iommu_driver_->fill(result.iommu.back());
  for (LatencyResult& latency : iommu_driver_->latencies()) {
    result.latency.push_back(std::move(latency));
  }
  for (const auto& [kind, count] : iommu_driver_->errors()) {
    result.errors["iommu_driver_" + kind] += count;
  }
}

RunResult Machine::result() const {
  if (packet_trace_) {
    packet_trace_->flush();
  }
  RunResult result;
  result.seed = config.run.seed;
  result.latency = tracer_.results();
  measurement_.fill(result);
  result.memory_asked = memory_port_.asked();
  result.memory_done = memory_port_.done();
  fill_host(result);
  for (const auto& [rule, count] : monitors_.warnings()) {
    result.errors["warning_" + rule] += count;
  }
  result.attacks = attacks_.results();
  if (!is_cut_short_) {
    result.checks = checks();
  }
  result.violations = monitors_.violations();
  return result;
}

}  // namespace flitwise
