// SPDX-License-Identifier: Apache-2.0
/// The module tree of one configuration, and who is bound to whom. Nothing else knows the whole.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "endpoint/dma_engine.h"
#include "endpoint/endpoint.h"
#include "flitwise/config.h"
#include "flitwise/result.h"
#include "host/host_memory.h"
#include "link/link.h"
#include "root_complex/root_port.h"
#include "trace/latency_tracer.h"
#include "trace/trace_sink.h"

namespace flitwise {

class Machine {
 public:
  explicit Machine(const Config& config);

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
  struct Device {
    std::string name;
    std::string link_name;
    Config config;
    std::unique_ptr<RootPort> root_port;
    std::unique_ptr<Link> link;
    std::unique_ptr<Endpoint> endpoint;
    std::unique_ptr<DmaEngine> engine;
    Bdf base;
    BusRange buses;
  };

  void add_device(unsigned index, Random& random);
  void negotiate_handles(Device& device, HandleRange range);
  void open_window();
  std::vector<CheckResult> checks() const;

  LatencyTracer tracer_;
  std::unique_ptr<TraceSink> packet_trace_;  // --trace packets=FILE; all links write into it
  HostMemory memory_;
  MemoryPort memory_port_;
  std::vector<std::unique_ptr<HostHandles>> handles_;  // one per device, or one for all [DHI D2]
  std::vector<Device> devices_;
  bool window_is_open_ = false;
  Time window_begin_{};

 public:
  HostMemory& memory() { return memory_; }
  Endpoint* endpoint(const std::string& name);
};

}  // namespace flitwise
