// SPDX-License-Identifier: Apache-2.0
/// How a failing case is made small.
#pragma once

#include <functional>

#include "scenario/scenario.h"

namespace flitwise::scenario {

/// The same case as small as it still fails: fewer requests of a workload, then groups of steps,
/// expectations, final checks and settings left out one after the other as long as fails(rest)
/// holds, at last DMA steps in place of a workload where they fail as well. No candidate has more
/// requests than the case, and the settings `held` stay as they are. What an expectation that is
/// left rests on stays: writes of the bytes it names, reads of them, and leave to go on after
/// resets. `fails` is asked at most `budget` times.
Case shrunk(Case one, const std::function<bool(const Case&)>& fails, unsigned budget,
            const std::vector<std::string>& held = {});

}  // namespace flitwise::scenario
