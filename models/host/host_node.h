// SPDX-License-Identifier: Apache-2.0
/// One host: memory, the way of software to devices, the agent that translates for them, and the
/// software that brings them up. What is below its root ports is the fabric's.
#pragma once

#include <tlm>

#include <memory>
#include <string>
#include <vector>

#include "common/component_list.h"
#include "flitwise/config.h"
#include "host/boot.h"
#include "host/host_bridge.h"
#include "host/host_memory.h"
#include "host/iommu_driver.h"
#include "iommu/translation_agent.h"
#include "memory/memory_port.h"

namespace flitwise {

class HostNode {
 public:
  using MemoryTarget =
      tlm::tlm_base_target_socket_b<32, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>>;
  /// config: with the overrides of the host. memory: in place of the project's own; may be null.
  HostNode(unsigned number, const Config& config, PacketPool& pool, MemoryTarget* memory);
  /// Its components, in the order of results.
  void list(ComponentList& components);

  const unsigned number;
  const std::string prefix;  ///< of all names that belong to it: "", "h1."
  const Config config;
  MemoryPort memory;
  HostBridge bridge;
  TranslationAgent agent;
  std::unique_ptr<IommuDriver> driver;  ///< where the configuration has one
  std::unique_ptr<Boot> boot;           ///< once host software has begun

 private:
  std::unique_ptr<HostMemory> own_memory_;
};

using Hosts = std::vector<std::unique_ptr<HostNode>>;

}  // namespace flitwise
