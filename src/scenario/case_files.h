// SPDX-License-Identifier: Apache-2.0
/// Finds case files and reads all of them.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace flitwise::scenario {

/// All cases of the files, and of the *.yaml in folders and below, in the order of their paths.
/// Throws ConfigError with the problems of all files in one go; two cases with one id are one.
/// Links in folders that lead to no file are no case files: they go to `dead_links`.
std::vector<Case> find_cases(const std::vector<std::string>& paths,
                             std::vector<std::string>& dead_links);

/// Is the id meant by the pattern? `*`, `?` and `[a-z]` as in a shell.
bool matches_glob(const std::string& id, const std::string& glob);

}  // namespace flitwise::scenario
