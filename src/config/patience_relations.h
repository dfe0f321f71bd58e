// SPDX-License-Identifier: Apache-2.0
/// Relations between run.deadlock_after and the times that a machine may take for one thing.
#pragma once

#include <vector>

#include "config/relations.h"

namespace flitwise::config {

/// No part of a machine has stopped for good before what is under way has taken the time that it
/// takes, and a timer has run out: of completions [LNK-9.18], of replays [LNK-7.18] [CXL-3.7], of
/// Acks [CXL-3.4].
void add_short_patience(const Config& config, std::vector<BrokenRelation>& broken);

}  // namespace flitwise::config
