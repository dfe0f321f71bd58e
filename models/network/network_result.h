// SPDX-License-Identifier: Apache-2.0
/// What the ports of switches between network ports have counted.
#pragma once

#include <cstdint>
#include <string>

#include "results/tables.h"

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

}  // namespace flitwise
