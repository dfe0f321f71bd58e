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
#include "topology/graph.h"

namespace flitwise {

class HostNode {
 public:
  using MemoryTarget =
      tlm::tlm_base_target_socket_b<32, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>>;
  /// config: with the overrides of the host. memory: in place of the project's own; may be null.
  HostNode(unsigned own_number, const Config& own_config, PacketPool& pool,
           MemoryTarget* memory_target)
      : number(own_number),
        prefix(host_prefix(own_number)),
        config(own_config),
        memory((prefix + host_part::kMemoryPort).c_str(), prefix + host_part::kMemory),
        bridge((prefix + host_part::kBridge).c_str(), config.host, pool, prefix + "host software"),
        agent((prefix + host_part::kAgent).c_str(), config.iommu, config.run.seed, pool, memory) {
    if (memory_target == nullptr) {
      own_memory_ =
          std::make_unique<HostMemory>((prefix + host_part::kMemory).c_str(), config.host);
      memory_target = &own_memory_->socket;
    }
    memory.socket.bind(*memory_target);
    bridge.attach(agent);
    if (config.host.iommu_driver.enabled) {
      driver = std::make_unique<IommuDriver>((prefix + host_part::kDriver).c_str(), config.host,
                                             config.iommu, config.run.seed, bridge, memory, prefix);
      agent.add_hooks({{},
                       [this](const IommuInterrupt& interrupt) {
                         driver->interrupted(static_cast<IommuEvent>(interrupt.data));
                       },
                       [this] { driver->status_is_coming(); }});
    }
  }
  /// Its components, in the order of results: the driver adds to the row of its agent.
  void list(ComponentList& components) {
    components.add(agent);
    components.add(bridge);
    components.add(memory);
    components.add(own_memory_.get());
    components.add(driver.get());
  }
  /// Null where the memory is a user's.
  HostMemory* own_memory() { return own_memory_.get(); }

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
