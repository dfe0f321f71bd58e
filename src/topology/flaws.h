// SPDX-License-Identifier: Apache-2.0
/// Why nodes and edges of a configuration make no machine.
#pragma once

#include <string>
#include <vector>

#include "flitwise/config.h"

namespace flitwise {

struct TopologyFlaw {
  std::string path;     ///< "system.edges[2].to", "system.nodes[0]", "system.hosts"
  std::string message;  ///< what was seen; what was expected
};

/// Empty: Graph(system) may be made.
std::vector<TopologyFlaw> topology_flaws(const SystemConfig& system);

}  // namespace flitwise
