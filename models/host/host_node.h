// SPDX-License-Identifier: Apache-2.0
/// One host: memory, the way of software to devices, the agent that translates for them, and the
/// software that brings them up. What is below its root ports is the fabric's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tlm>

#include "common/component.h"
#include "flitwise/config.h"
#include "flitwise/result.h"
#include "host/boot.h"
#include "host/host_bridge.h"
#include "host/host_memory.h"
#include "host/iommu_driver.h"
#include "iommu/translation_agent.h"
#include "memory/memory_port.h"

namespace flitwise {

class HostNode final : public Component {
 public:
  using MemoryTarget =
      tlm::tlm_base_target_socket_b<32, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>>;
  /// config: with the overrides of the host. memory: in place of the project's own; may be null.
  HostNode(unsigned number, const Config& config, PacketPool& pool, MemoryTarget* memory);

  const unsigned number;
  const std::string prefix;  ///< of all names that belong to it: "", "h1."
  const Config config;
  MemoryPort memory;
  HostBridge bridge;
  TranslationAgent agent;
  std::unique_ptr<IommuDriver> driver;  ///< where the configuration has one
  std::unique_ptr<Boot> boot;           ///< once host software has begun

  /// REQUIRES: once, before anything runs.
  void add_driver();
  const char* name() const override { return name_.c_str(); }
  bool is_quiet() const override {
    return memory.in_flight() == 0 && bridge.is_quiet() && agent.is_quiet() &&
           (!driver || driver->is_quiet());
  }
  Time waits_until() const override;
  void add_progress(Progress& sum) const override;
  void begin_doubt() override { agent.begin_doubt(); }
  void end_doubt() override { agent.end_doubt(); }
  std::string waiting() const override;
  void count_repeats(Counts& counts) const override;
  void start_window() override;
  std::vector<WaitResult> waits() const override;
  void report(RunResult& result) const override;
  /// Of host software; those of the driver are in report().
  Counts errors() const override { return bridge.errors(); }
  std::vector<CheckResult> checks() const override;

 private:
  const std::string name_;
  std::unique_ptr<HostMemory> own_memory_;
};

using Hosts = std::vector<std::unique_ptr<HostNode>>;

}  // namespace flitwise
