// SPDX-License-Identifier: Apache-2.0
// Text of problems and of broken invariants, problems in file order, and suggestions by edit
// distance.
#include "common/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_set>

#include "common/printable.h"
#include "common/ranges.h"

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

ConfigError::ConfigError(std::vector<Problem> problems)
    : std::runtime_error([&problems] {
        return fmt::format("{}", fmt::join(mapped(problems, &Problem::text), "\n"));
      }()),
      problems_(std::move(problems)) {}

void check_failed(const char* condition, const char* file, int line, const std::string& detail) {
  throw SimulationError(
      fmt::format("broken invariant {} at {}:{}: {}", condition, file, line, detail));
}

namespace config {

void ProblemList::add(const Place& place, const std::string& path, const std::string& message) {
  // The place of an override names its key already.
  const bool is_named = place.file.rfind("--set " + path + "=", 0) == 0;
  entries_.push_back(
      {place, {place.file, place.line, place.column, is_named ? "" : path, message}});
}

std::vector<Problem> ProblemList::sorted() const {
  std::vector<Entry> ordered = entries_;
  std::stable_sort(ordered.begin(), ordered.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.place.source, a.place.line, a.place.column) <
           std::tie(b.place.source, b.place.line, b.place.column);
  });
  std::unordered_set<std::string> seen;
  return those(mapped<Problem>(ordered, &Entry::problem),
               [&seen](const Problem& one) { return seen.insert(one.text()).second; });
}

std::string summary_of(const ConfigError& error) {
  std::string all;
  for (const Problem& problem : error.problems()) {
    all += (all.empty() ? "" : "; ") +
           (problem.path.empty() ? problem.message : problem.path + ": " + problem.message);
  }
  return all;
}

namespace {
/// Least number of letters to insert, delete or replace to turn a into b.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}
}  // namespace

std::optional<std::string> nearest(const std::string& word,
                                   const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestWord = 200;  // of a key or a name
  std::optional<std::string> best;
  std::size_t best_distance = (word.size() + 1) / 2 + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    const std::size_t shorter = std::min(word.size(), candidate.size());
    if (longer > kLongestWord || longer - shorter > best_distance) {
      continue;  // the letters that one of them lacks are too many already
    }
    const std::size_t distance = edit_distance(word, candidate);
    const bool starts_alike = !word.empty() && candidate[0] == word[0];
    if (distance < best_distance || (best && distance == best_distance && starts_alike)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string alternatives(const std::vector<std::string>& words) {
  const auto last = words.end() - (words.size() > 1 ? 1 : 0);
  const std::string text = fmt::format("{}", fmt::join(words.begin(), last, ", "));
  return last == words.end() ? text : text + " or " + *last;
}

std::string nearest_hint(const std::string& word, const std::vector<std::string>& candidates,
                         const std::string& what) {
  const auto found = nearest(word, candidates);
  return found ? "; nearest " + what + " '" + *found + "'" : "";
}

}  // namespace config
}  // namespace flitwise
