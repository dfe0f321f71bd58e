// SPDX-License-Identifier: Apache-2.0
// Pages that are there for good.
#include "software/translation_setup.h"

#include "software/workload_tables.h"

namespace flitwise {

void set_up_translation(const Config& config, DeviceRange devices, MemoryPort& memory,
                        TranslationAgent& agent) {
  if (config.iommu.translation == Translation::kOff) {
    return;
  }
  WorkloadTables tables(config.iommu, memory);
  for (const FabricDevice& device : devices) {
    tables.map_device(device);
  }
  for (const FabricDevice& device : devices) {
    const WorkloadConfig& workload = device.config.workload;
    tables.check_apart(workload.buffer_base, end_of_buffers(workload));
  }
  // There are no page requests for pages that are there; one is recorded, in no other's memory.
  agent.write_register(iommu_register::kPqa, 8, tables.spare_page());
  tables.use(agent);
}

}  // namespace flitwise
