// SPDX-License-Identifier: Apache-2.0
/// Script lines as operations, or as what is wrong with them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "codec/json_value.h"
#include "flitwise/error.h"
#include "script/script_line.h"

namespace flitwise::test {

/// REQUIRES: the line is an Op.
template <class Op>
Op op_of(const std::string& line) {
  return std::get<Op>(parse_script_line(json_value::parse(line), 1).op);
}

/// Every problem, as it is told for line 7; none where the line can be read.
inline std::vector<std::string> problems_of(const std::string& line) {
  std::vector<std::string> texts;
  try {
    parse_script_line(json_value::parse(line), 7);
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      texts.push_back(problem.text());
    }
  }
  return texts;
}

}  // namespace flitwise::test
