// SPDX-License-Identifier: Apache-2.0
/// Checks that what a study file names is there. docs/sweeps.md
#pragma once

#include "common/problems.h"
#include "sweep/plan.h"

namespace flitwise {

/// Adds a problem, at the place of the word and with the nearest known one, for each column that no
/// result of any machine and no axis, label or figure has; for each figure that the block does not
/// have; for each value of an axis that no point of the block has; and for a baseline of which
/// several rows fit one.
void check_names(const Study& study, config::ProblemList& problems);

}  // namespace flitwise
