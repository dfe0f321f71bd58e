// SPDX-License-Identifier: Apache-2.0
/// The summary that a study asks for: chosen points, and where something starts to pay.
#pragma once

#include <cstddef>
#include <string>

#include "sweep/merge.h"

namespace flitwise {

/// True when the study names columns and points for a summary of its own.
bool has_study_summary(const MergedSweep& merged);

/// At most 40 rows: a row a chosen point with the study's columns and the verdict, then a row a
/// crossing. What does not fit is counted in a last line. Where no row has a verdict there is no
/// column of them. `width`: columns of the terminal.
std::string study_summary(const MergedSweep& merged, std::size_t width = 0);

}  // namespace flitwise
