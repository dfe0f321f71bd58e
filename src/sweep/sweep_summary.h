// SPDX-License-Identifier: Apache-2.0
/// A merged sweep as a short table for people.
#pragma once

#include <cstddef>
#include <string>

#include "sweep/merge.h"

namespace flitwise {

/// At most 40 rows: those that the study asks for, if it does. Otherwise: a sweep of up to 40
/// points has a row each: its axes, link efficiency, goodput and median and 99th percentile latency
/// upstream. A larger one has a row per block and value of the block's first axis, with the range
/// over its points. `width`: columns of the terminal.
std::string sweep_summary(const MergedSweep& merged, const Plan& plan, std::size_t width = 0);

}  // namespace flitwise
