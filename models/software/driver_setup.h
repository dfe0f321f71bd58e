// SPDX-License-Identifier: Apache-2.0
/// What host software has done before a driver of the translation agent takes over: tables, and
/// pages for it to map and unmap.
#pragma once

#include <cstdint>
#include <functional>

#include "fabric/fabric.h"
#include "flitwise/config.h"
#include "iommu/driver_pages.h"
#include "iommu/translation_agent.h"
#include "memory/memory_port.h"

namespace flitwise {

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
