// SPDX-License-Identifier: Apache-2.0
/// How far a run is, for whoever waits for it.
#pragma once

#include <cstdint>
#include <functional>

#include "flitwise/time.h"

namespace flitwise {

struct RunProgress {
  std::uint64_t over = 0;      ///< requests of all engines that are over, warm-up included
  std::uint64_t requests = 0;  ///< of the whole run, warm-up included; 0: the machine comes up
  Time simulated{};            ///< since time 0

  bool is_known() const { return requests > 0; }
};

using ProgressReport = std::function<void(const RunProgress&)>;

}  // namespace flitwise
