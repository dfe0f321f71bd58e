// SPDX-License-Identifier: Apache-2.0
// The parts of one host.
#include "host/host_node.h"

#include "topology/graph.h"

namespace flitwise {

HostNode::HostNode(unsigned own_number, const Config& own_config, PacketPool& pool,
                   MemoryTarget* memory_target)
    : number(own_number),
      prefix(host_prefix(own_number)),
      config(own_config),
      memory((prefix + "memory_port").c_str(), prefix + "memory"),
      bridge((prefix + "host_bridge").c_str(), config.host, pool, prefix + "host software"),
      agent((prefix + "iommu0").c_str(), config.iommu, config.run.seed, pool, memory) {
  if (memory_target == nullptr) {
    own_memory_ = std::make_unique<HostMemory>((prefix + "memory").c_str(), config.host);
    memory_target = &own_memory_->socket;
  }
  memory.socket.bind(*memory_target);
  bridge.attach(agent);
  if (config.host.iommu_driver.enabled) {
    driver = std::make_unique<IommuDriver>((prefix + "iommu_driver").c_str(), config.host,
                                           config.iommu, config.run.seed, bridge, memory, prefix);
    agent.add_hooks({{},
                     [this](const IommuInterrupt& interrupt) {
                       driver->interrupted(static_cast<IommuEvent>(interrupt.data));
                     },
                     [this] { driver->status_is_coming(); }});
  }
}

// The driver adds to the row of its agent.
void HostNode::list(ComponentList& components) {
  components.add(agent);
  components.add(bridge);
  components.add(memory);
  components.add(own_memory_.get());
  components.add(driver.get());
}

}  // namespace flitwise
