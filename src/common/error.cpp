// SPDX-License-Identifier: Apache-2.0
// Text of problems and of broken invariants.
#include "flitwise/error.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/printable.h"

namespace flitwise {

std::string Problem::text() const {
  // A value of a megabyte tells no more than its ends.
  constexpr std::size_t kMostOfPlace = 400, kMostOfSeen = 400, kMostOfExpected = 2000;
  const auto shown = [](const std::string& part, std::size_t most) {
    return printable(shortened(part, most));
  };
  std::string place = shown(file, kMostOfPlace);
  if (line > 0) {
    place += fmt::format(":{}:{}", line, column);
  }
  const std::size_t seen = std::min(message.find("; expected"), message.size());
  const std::string said =
      shown(message.substr(0, seen), kMostOfSeen) + shown(message.substr(seen), kMostOfExpected);
  return path.empty() ? fmt::format("{}: {}", place, said)
                      : fmt::format("{}: {}: {}", place, shown(path, kMostOfPlace), said);
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
