// SPDX-License-Identifier: Apache-2.0
/// Relations between the two kinds of credits of flit mode.
#pragma once

#include <vector>

#include "config/relations.h"

namespace flitwise::config {

/// Dedicated credits keep each class going, shared ones come on top. [LNK-11.23] [LNK-11.26]
void add_broken_shared_credits(const Config& config, std::vector<BrokenRelation>& broken);

}  // namespace flitwise::config
