// SPDX-License-Identifier: Apache-2.0
/// A block of a sweep as its study asks for it: findings, plots, table.
#pragma once

#include <string>

#include "report/report.h"

namespace flitwise {

/// True when the study names plots or findings for the block.
bool has_own_look(const BlockPresentation& block);

/// Title, what it is about, findings reckoned from the rows, plots, and the table of all points.
std::string study_block_section(const MergedSweep& merged, const BlockPresentation& block,
                                const ReportOptions& options);

}  // namespace flitwise
