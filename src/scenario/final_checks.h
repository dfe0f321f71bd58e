// SPDX-License-Identifier: Apache-2.0
/// The key `final` of a case file.
#pragma once

#include <vector>

#include "scenario/scenario.h"

namespace flitwise::scenario {

/// Reads `final` of a case, where it has one. Mistakes, and checks that cannot fail, go to
/// `problems`.
std::vector<FinalCheck> read_final_checks(const config::Value& document,
                                          config::ProblemList& problems);

}  // namespace flitwise::scenario
