// SPDX-License-Identifier: Apache-2.0
// Text of problems and of broken invariants.
#include "flitwise/error.h"

#include <fmt/format.h>

namespace flitwise {

std::string Problem::text() const {
  std::string place = file;
  if (line > 0) {
    place += fmt::format(":{}:{}", line, column);
  }
  return path.empty() ? fmt::format("{}: {}", place, message)
                      : fmt::format("{}: {}: {}", place, path, message);
}

namespace {
std::string joined(const std::vector<Problem>& problems) {
  std::string all;
  for (const Problem& problem : problems) {
    all += all.empty() ? "" : "\n";
    all += problem.text();
  }
  return all;
}
}  // namespace

ConfigError::ConfigError(std::vector<Problem> problems)
    : std::runtime_error(joined(problems)), problems_(std::move(problems)) {}

void check_failed(const char* condition, const char* file, int line, const std::string& detail) {
  throw SimulationError(
      fmt::format("broken invariant {} at {}:{}: {}", condition, file, line, detail));
}

}  // namespace flitwise
