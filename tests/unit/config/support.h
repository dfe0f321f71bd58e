// SPDX-License-Identifier: Apache-2.0
/// A tiny language for configuration tests: the problems of a text, one line each.
#pragma once

#include <string>
#include <vector>

#include "config/load.h"

namespace flitwise {

/// The problems as `line:col path message` (overrides: `--set ... message`); none: the text is
/// good.
inline std::vector<std::string> problems_of(const std::string& yaml,
                                            const std::vector<std::string>& sets = {}) {
  try {
    config_from_text(yaml, "c.yaml", "", {sets, {}});
  } catch (const ConfigError& error) {
    std::vector<std::string> lines;
    for (const Problem& problem : error.problems()) {
      lines.push_back(problem.text());
    }
    return lines;
  }
  return {};
}

inline Config config_of(const std::string& yaml, const std::vector<std::string>& sets = {}) {
  return config_from_text(yaml, "c.yaml", "", {sets, {}});
}

}  // namespace flitwise
