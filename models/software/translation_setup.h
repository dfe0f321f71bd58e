// SPDX-License-Identifier: Apache-2.0
/// What host software has done for a workload whose requests are translated: tables for its
/// domains, and an agent that uses them.
#pragma once

#include "fabric/fabric.h"
#include "flitwise/config.h"
#include "iommu/translation_agent.h"
#include "memory/memory_port.h"

namespace flitwise {

/// Maps the buffers of every domain of every one of these devices, each page to itself and for its
/// domain alone, and switches the agent on; untimed. Does nothing with iommu.translation off.
/// Throws SimulationError where host memory has no room for the tables.
void set_up_translation(const Config& config, DeviceRange devices, MemoryPort& memory,
                        TranslationAgent& agent);

}  // namespace flitwise
