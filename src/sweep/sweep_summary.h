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

/// True when the study names columns and points for a summary of its own.
bool has_study_summary(const MergedSweep& merged);

/// At most 40 rows: a row a chosen point with the study's columns and the verdict, then a row a
/// crossing. What does not fit is counted in a last line. Where no row has a verdict there is no
/// column of them. `width`: columns of the terminal.
std::string study_summary(const MergedSweep& merged, std::size_t width = 0);

}  // namespace flitwise
