// SPDX-License-Identifier: Apache-2.0
/// Engines that stand in place of the DMA engine of a device, by workload.via: what the builder and
/// the results know of them. A new one is a folder, and a row here. docs/add_a_component.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/builder.h"
#include "tlp/message_use.h"

namespace flitwise {

struct EngineKind {
  WorkloadVia via;  ///< of its workloads
  /// Makes the sender of a device, and puts its components before the endpoint. The hosts, the root
  /// port above and the endpoint are there; other engines may not be: Builder::join_later().
  void (*add)(Builder& builder, FabricDevice& device);
  std::vector<const StatisticsTable& (*)()> tables;  ///< in the order of results
};

const std::vector<EngineKind>& engine_kinds();

/// Of the interrupts of an engine: each device of a fabric has a destination in bits 19:12.
constexpr std::uint64_t interrupt_address(std::size_t device) {
  constexpr std::uint64_t kDestination = 4096;
  return kInterruptWindow + device * kDestination % kInterruptWindowBytes;
}

EngineKind pio_engines();   ///< builder_pio.cpp
EngineKind rdma_engines();  ///< builder_rdma.cpp

}  // namespace flitwise
