// SPDX-License-Identifier: Apache-2.0
/// What fuzz targets of script lines share: lines that are arrays, one behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "codec/json_value.h"
#include "flitwise/error.h"
#include "fuzz/fuzz_support.h"

namespace flitwise::fuzz {

/// What is told of a line is text that can be printed.
inline void check_text(const Json& answer) {
  FLITWISE_PROPERTY(!answer.dump(-1, ' ', false, Json::error_handler_t::strict).empty());
}

/// The input as lines of a script that are arrays, one behind the other: run(line, number) does
/// each, or refuses it with a message.
template <class Run>
void run_arrays(const std::uint8_t* data, std::size_t size, Run run) {
  std::istringstream lines(text_of_input(data, size));
  std::string text;
  for (int number = 1; std::getline(lines, text); ++number) {
    const Json line = json_value::parse(text);
    if (!line.is_array()) {
      continue;
    }
    try {
      run(line, number);
    } catch (const ConfigError& error) {
      FLITWISE_PROPERTY(!error.problems().empty());
      for (const Problem& problem : error.problems()) {
        check_text(problem.text());
      }
    }
  }
}

}  // namespace flitwise::fuzz
