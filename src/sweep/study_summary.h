// SPDX-License-Identifier: Apache-2.0
/// The summary that a study asks for: chosen points, and where something starts to pay.
#pragma once

#include <string>

#include "sweep/merge.h"

namespace flitwise {

/// True when the study names columns and points for a summary of its own.
bool has_study_summary(const MergedSweep& merged);

/// At most 40 rows: a row a chosen point with the study's columns and the verdict, then a row a
/// crossing. What does not fit is counted in a last line.
std::string study_summary(const MergedSweep& merged);

}  // namespace flitwise
