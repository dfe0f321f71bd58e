// SPDX-License-Identifier: Apache-2.0
/// One machine: host, fabric and devices of one configuration, its start, its end and its results.
/// Nothing else knows the whole.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flitwise/config.h"
#include "flitwise/observer.h"
#include "flitwise/result.h"
#include "flitwise/system.h"
#include "host/host_memory.h"
#include "system/fabric.h"
#include "trace/latency_tracer.h"
#include "trace/trace_sink.h"

namespace flitwise {

class Machine {
 public:
  /// With the memory that comes with the project.
  explicit Machine(const Config& whole) : Machine(whole, nullptr) {}
  /// With another memory in its place, if one is given.
  Machine(const Config& whole, MemorySocket* memory);

  /// Lets the engines of the workload begin; the measured window opens with the first counted
  /// request. A machine that is never started is driven by hand.
  void start();
  /// Every engine has given out all its work, or none was started.
  bool is_exhausted() const;
  /// Nothing is under way anywhere, save periodic DLLPs.
  bool is_quiet() const;
  /// Runs until nothing is under way, or the user interrupts. Throws SimulationError where nothing
  /// moves for run.deadlock_after.
  void run_until_quiet();
  /// Grows whenever something happens to a TLP: the mark of progress.
  std::uint64_t progress() const;
  std::string waiting() const;
  RunResult result() const;

  PacketPool pool;  // before all that holds packets
  const Config config;

 private:
  void open_window();
  const FabricDevice& device(const std::string& name) const;
  CheckResult posted_bytes_check() const;
  std::vector<CheckResult> checks() const;
  LinkResult link_result(std::size_t index) const;
  DhiResult dhi_result(const FabricDevice& device) const;

  LatencyTracer tracer_;
  std::unique_ptr<TraceSink> packet_trace_;  // --trace packets=FILE; all links write into it
  std::unique_ptr<HostMemory> own_memory_;
  MemoryPort memory_port_;
  Fabric fabric_;
  Observer observer_;
  bool is_started_ = false;
  bool window_is_open_ = false;
  Time window_begin_{};

 public:
  MemoryPort& memory() { return memory_port_; }
  /// Null where no device has the name.
  Endpoint* endpoint(const std::string& name);
  /// The root port above a device. REQUIRES: a device has the name.
  const RootPort& root_port(const std::string& device) const;
  std::vector<std::string> device_names() const;
  /// REQUIRES: called before anything runs.
  void observe(Observer observer);
};

}  // namespace flitwise
