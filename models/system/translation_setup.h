// SPDX-License-Identifier: Apache-2.0
/// What host software has done for a workload whose requests are translated: tables for its
/// domains, and an agent that uses them.
#pragma once

#include <cstdint>
#include <functional>

#include "flitwise/config.h"
#include "iommu/driver_pages.h"
#include "iommu/translation_agent.h"
#include "root_complex/memory_port.h"
#include "system/fabric.h"

namespace flitwise {

/// Maps the buffers of every domain of every device, each page to itself and for its domain alone,
/// and switches the agent on; untimed. Does nothing with iommu.translation off. Throws
/// SimulationError where host memory has no room for the tables.
void set_up_translation(const Config& config, const Fabric& fabric, MemoryPort& memory,
                        TranslationAgent& agent);

/// Software has written a word of a table.
using TableWritten = std::function<void(std::uint64_t address)>;

/// The same for a driver, which gets the pages of the buffers of all devices but hostile ones: each
/// domain has pages of memory of its own, as far as host.iommu_driver.premapped goes, and there are
/// some more. `written` is told of each word that the driver writes.
DriverPages set_up_driver(const Config& config, const Fabric& fabric, MemoryPort& memory,
                          TranslationAgent& agent, TableWritten written);

}  // namespace flitwise
