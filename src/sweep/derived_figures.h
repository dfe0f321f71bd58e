// SPDX-License-Identifier: Apache-2.0
/// Adds the figures of a study to the rows of its merged sweep.
#pragma once

#include "sweep/merge.h"

namespace flitwise {

/// Evaluates the figures of each row's block and appends them as columns; null where
/// a column or the baseline is missing. Formulas see columns as written by merge_results.
void add_derived_figures(MergedSweep& merged);

/// A sentence for each figure without a value in any row of its block that names a column no result
/// has. REQUIRES: add_derived_figures was called.
std::vector<std::string> figures_of_nothing(const MergedSweep& merged);

/// The row that `row` is compared with; null if there is none.
const nlohmann::ordered_json* baseline_of(const MergedSweep& merged,
                                          const nlohmann::ordered_json& row);

}  // namespace flitwise
