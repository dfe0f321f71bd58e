// SPDX-License-Identifier: Apache-2.0
/// What the descriptor ring of a device has counted.
#pragma once

#include <cstdint>
#include <string>

#include "results/tables.h"

namespace flitwise {

/// Units, where nothing else is said: descriptors, bytes, TLPs.
struct RingResult {
  std::string device;
  std::uint64_t doorbells = 0;    ///< writes of software to the tail
  std::uint64_t fetches = 0;      ///< reads of descriptors
  std::uint64_t descriptors = 0;  ///< that were written back
  std::uint64_t failed = 0;       ///< of these
  std::uint64_t failed_fetches = 0;
  std::uint64_t bytes_to_device = 0, bytes_from_device = 0;
  std::uint64_t interrupts = 0;

  RingResult operator-(const RingResult& before) const;
};

const StatisticsTable& ring_table();

}  // namespace flitwise
