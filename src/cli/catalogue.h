// SPDX-License-Identifier: Apache-2.0
/// The catalogue of corner cases that comes with the program.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace flitwise::cli {

/// ./tests/cases if it is there, else what was installed with the program. Throws ConfigError.
std::vector<std::string> default_case_paths();

/// All cases there. Links that lead to no file are told on stderr and passed over.
std::vector<scenario::Case> cases_in(const std::vector<std::string>& paths);

/// Id, tab, title: a line a case.
std::string list_of(const std::vector<scenario::Case>& cases);

}  // namespace flitwise::cli
