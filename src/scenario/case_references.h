// SPDX-License-Identifier: Apache-2.0
/// What the cases of one file say of each other.
#pragma once

#include <vector>

#include "config/document.h"
#include "config/problems.h"
#include "scenario/scenario.h"

namespace flitwise::scenario {

/// `same_as` names a case of the same file, and not the one it stands in.
void check_references(const config::Value& document, const std::vector<Case>& cases,
                      config::ProblemList& problems);

}  // namespace flitwise::scenario
