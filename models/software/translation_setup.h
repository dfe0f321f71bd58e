// SPDX-License-Identifier: Apache-2.0
/// What host software has done for a workload whose requests are translated: tables for its
/// domains, and an agent that uses them; and, before a driver takes over, pages for it to map and
/// unmap.
#pragma once

#include <cstdint>
#include <functional>

#include "fabric/fabric.h"
#include "flitwise/config.h"
#include "iommu/driver_pages.h"
#include "iommu/translation_agent.h"
#include "memory/memory_port.h"

namespace flitwise {

/// Maps the buffers of every domain of every one of these devices, each page to itself and for its
/// domain alone, and switches the agent on; untimed. Does nothing with iommu.translation off.
/// Throws SimulationError where host memory has no room for the tables.
void set_up_translation(const Config& config, DeviceRange devices, MemoryPort& memory,
                        TranslationAgent& agent);

/// Software has written a word of a table.
using TableWritten = std::function<void(std::uint64_t address)>;

/// Makes tables for every domain and switches the agent on; untimed. The driver gets the pages of
/// all buffers but those of hostile devices, which map_device() maps: each domain has pages of
/// memory of its own, as far as host.iommu_driver.premapped goes, and there are some more.
/// `written` is told of each word of a table that is written from now on. Throws SimulationError
/// where host memory has no room.
DriverPages set_up_driver(const Config& config, DeviceRange devices, MemoryPort& memory,
                          TranslationAgent& agent, TableWritten written);

}  // namespace flitwise
