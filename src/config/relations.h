// SPDX-License-Identifier: Apache-2.0
/// What has to hold between several keys.
#pragma once

#include <string>
#include <vector>

#include "flitwise/config.h"

namespace flitwise::config {

struct BrokenRelation {
  std::vector<std::string> paths;  ///< the keys concerned; the one written last is to blame
  std::string message;             ///< what was seen; what was expected
};

/// What of the topology matters to them.
struct TopologyFacts {
  bool has_switch = false;  ///< above the devices concerned
  unsigned devices = 1;     ///< of the host that has most
};

/// All relations that do not hold.
std::vector<BrokenRelation> broken_relations(const Config& config, const TopologyFacts& topology);

}  // namespace flitwise::config
