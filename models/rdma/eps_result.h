// SPDX-License-Identifier: Apache-2.0
/// What firmware that translates ahead of use has counted.
#pragma once

#include <cstdint>
#include <string>

#include "results/tables.h"

namespace flitwise {

struct EpsCounters {
  using Counters = EpsCounters;
  std::uint64_t requests = 0;
  std::uint64_t failures = 0, discarded = 0;  ///< of single structures in answers
  std::uint64_t invalidations_hit = 0, invalidations_missed = 0;
  std::uint64_t waits = 0, faults = 0;  ///< accesses
};

struct EpsResult : EpsCounters {
  std::string device;
  std::uint64_t translated = 0;  ///< structures, now
  std::uint64_t structures = 0;
};

const StatisticsTable& eps_table();

}  // namespace flitwise
