// SPDX-License-Identifier: Apache-2.0
// Changes that are too much: --fail-if.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>

#include "common/problems.h"
#include "compare/comparison.h"
#include "flitwise/error.h"
#include "scenario/event_words.h"

namespace flitwise {
namespace {

[[noreturn]] void refuse(const std::string& text, std::size_t at, const std::string& expected) {
  throw ConfigError({{"--fail-if", 1, static_cast<int>(at) + 1, "",
                      fmt::format("'{}'; expected {}, as in 'up_goodput_gbps < -2%' or "
                                  "'dma_read_p99_ns > 50'",
                                  text, expected)}});
}

/// The change in the unit of the condition.
std::string change_in(const Condition& condition, const FigureDifference& figure) {
  return condition.is_percent ? relative_text(figure) : change_text(figure);
}

/// Of a kind that need not have occurred.
bool is_error_that_counts(const std::string& figure) {
  constexpr std::string_view kErrors = "errors_";
  return figure.rfind(kErrors, 0) == 0 && scenario::is_counted_error(figure.substr(kErrors.size()));
}

}  // namespace

Condition read_condition(const std::string& text) {
  Condition condition;
  condition.text = text;
  const std::size_t op = text.find_first_of("<>");
  if (op == std::string::npos) {
    refuse(text, text.size(), "a figure, < or >, and a number");
  }
  const std::size_t first = text.find_first_not_of(' ');
  const std::size_t last = op == 0 ? std::string::npos : text.find_last_not_of(' ', op - 1);
  if (first == op || last == std::string::npos) {
    refuse(text, first, "the name of a figure");
  }
  condition.figure = text.substr(first, last - first + 1);
  condition.is_above = text[op] == '>';
  std::size_t at = text.find_first_not_of(' ', op + 1);
  at = at == std::string::npos ? text.size() : at;
  const bool has_plus = text.compare(at, 1, "+") == 0 && text.compare(at, 2, "+-") != 0;
  const auto [end, error] = std::from_chars(text.data() + at + (has_plus ? 1 : 0),
                                            text.data() + text.size(), condition.limit);
  if (error != std::errc() || !std::isfinite(condition.limit)) {
    refuse(text, at, "a number");
  }
  const std::size_t behind =
      text.find_first_not_of(' ', static_cast<std::size_t>(end - text.data()));
  if (behind == std::string::npos) {
    return condition;
  }
  if (text[behind] != '%' || text.find_first_not_of(' ', behind + 1) != std::string::npos) {
    refuse(text, behind, "nothing or % behind the number");
  }
  condition.is_percent = true;
  return condition;
}

bool Condition::is_met_by(const FigureDifference& difference) const {
  const double change = is_percent ? difference.percent() : difference.delta();
  return difference.name == figure && (is_above ? change > limit : change < limit);
}

std::vector<std::string> failures_of(const Comparison& comparison,
                                     const std::vector<Condition>& conditions) {
  std::vector<std::string> failed;
  std::set<std::string> names;
  for (const FigureDifference& figure : comparison.figures) {
    names.insert(figure.name);
  }
  for (const Condition& condition : conditions) {
    if (names.count(condition.figure) == 0 && !is_error_that_counts(condition.figure)) {
      const std::vector<std::string> known(names.begin(), names.end());
      throw ConfigError({{"--fail-if", 0, 0, condition.text,
                          fmt::format("no point of both has a figure '{}'; expected a column of "
                                      "results{}",
                                      condition.figure,
                                      config::nearest_hint(condition.figure, known, "figure"))}});
    }
    for (const FigureDifference& figure : comparison.figures) {
      if (condition.is_met_by(figure)) {
        failed.push_back(fmt::format("{}: {}{}", condition.text, change_in(condition, figure),
                                     figure.point.empty() ? "" : " at " + figure.point));
      }
    }
  }
  return failed;
}

}  // namespace flitwise
