// SPDX-License-Identifier: Apache-2.0
/// What has to hold between keys of CXL.cache and CXL.mem.
#pragma once

#include <vector>

#include "config/relations.h"

namespace flitwise::config {

/// Appends what does not hold.
void check_cxl(const Config& config, const TopologyFacts& topology,
               std::vector<BrokenRelation>& broken);

}  // namespace flitwise::config
