// SPDX-License-Identifier: Apache-2.0
/// Where the driver of the translation agent has its queues in host memory, and how much memory it
/// needs beside its pages.
#pragma once

#include <cstdint>

#include "flitwise/config.h"

namespace flitwise {

// model: below the area of the tables.
inline constexpr std::uint64_t kInvalidationQueue = std::uint64_t{48} << 20;
inline constexpr std::uint64_t kPageRequestQueue = kInvalidationQueue + (std::uint64_t{64} << 10);
inline constexpr std::uint64_t kWaitStatus = kPageRequestQueue + (std::uint64_t{64} << 10);
inline constexpr std::uint64_t kTeardownStatus = kWaitStatus + 64;  ///< of waits for contexts

/// Unmaps that wait for the driver, in batches, before whoever calls for more has to wait.
inline constexpr unsigned kBatchesAhead = 3;

/// Pages of memory that unmaps may keep from their next use, so that there is always one to map.
inline std::uint64_t spare_frames(const IommuDriverConfig& config) {
  constexpr std::uint64_t kResting = 16;
  return std::uint64_t{config.batch} * config.unmap_pages * kBatchesAhead + kResting;
}

}  // namespace flitwise
