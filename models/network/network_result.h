// SPDX-License-Identifier: Apache-2.0
/// What the ports of switches between network ports have counted.
#pragma once

#include <cstdint>
#include <string>

#include "flitwise/result.h"
#include "results/tables.h"
#include "stats/wait_book.h"

namespace flitwise {

struct NetworkPortCounters {
  using Counters = NetworkPortCounters;
  std::uint64_t bytes = 0, packets = 0;  ///< that have left by it
  std::uint64_t drops = 0;               ///< of those that were to, for whatever reason
  std::uint64_t ce = 0;                  ///< marked
};
struct NetworkPortResult : NetworkPortCounters {
  std::string name;
  std::string to;                 ///< the node at the other end of its link
  std::uint64_t most_queued = 0;  ///< bytes
  Time paused{};                  ///< by its neighbour
};

const StatisticsTable& network_port_table();

/// What its switch has kept a host or adapter from sending, `at` that one. [CC-6]
WaitResult pause_wait(const std::string& at, StallCount pauses);

}  // namespace flitwise
