// SPDX-License-Identifier: Apache-2.0
/// One machine: host, fabric and devices of one configuration, its start, its end and its results.
/// Nothing else knows the whole.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flitwise/config.h"
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

  /// Lets the engines begin; the measured window opens with the first counted request.
  void start();
  /// Every engine has given out all its work.
  bool is_exhausted() const;
  /// Nothing is under way anywhere, save periodic DLLPs.
  bool is_quiet() const;
  /// Grows whenever something happens to a TLP: the mark of progress.
  std::uint64_t progress() const;
  std::string waiting() const;
  RunResult result() const;

  PacketPool pool;  // before all that holds packets
  const Config config;

 private:
  void open_window();
  std::vector<CheckResult> checks() const;
  LinkResult link_result(std::size_t index) const;
  DhiResult dhi_result(const FabricDevice& device) const;

  LatencyTracer tracer_;
  std::unique_ptr<TraceSink> packet_trace_;  // --trace packets=FILE; all links write into it
  std::unique_ptr<HostMemory> own_memory_;
  MemoryPort memory_port_;
  Fabric fabric_;
  bool window_is_open_ = false;
  Time window_begin_{};

 public:
  MemoryPort& memory() { return memory_port_; }
  Endpoint* endpoint(const std::string& name);
};

}  // namespace flitwise
