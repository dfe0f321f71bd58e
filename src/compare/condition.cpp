// SPDX-License-Identifier: Apache-2.0
// Changes that are too much: --fail-if.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "common/problems.h"
#include "compare/comparison.h"
#include "flitwise/error.h"

namespace flitwise {
namespace {

[[noreturn]] void refuse(const std::string& text, std::size_t at, const std::string& expected) {
  throw ConfigError({{"--fail-if", 1, static_cast<int>(at) + 1, "",
                      fmt::format("'{}'; expected {}, as in 'up_goodput_gbps < -2%' or "
                                  "'dma_read_p99_ns > 50'",
                                  text, expected)}});
}

std::string change_text(const Condition& condition, const FigureDifference& figure) {
  return condition.is_percent ? fmt::format("{:+.3g} %", figure.percent())
                              : fmt::format("{:+.6g}", figure.delta());
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
  const std::size_t digits = at < text.size() && text[at] == '+' ? at + 1 : at;
  const auto [end, error] =
      std::from_chars(text.data() + digits, text.data() + text.size(), condition.limit);
  if (error != std::errc()) {
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
    if (names.count(condition.figure) == 0) {
      const std::vector<std::string> known(names.begin(), names.end());
      throw ConfigError({{"--fail-if", 0, 0, condition.figure,
                          fmt::format("no point of both has a figure '{}'; expected a column of "
                                      "results{}",
                                      condition.figure,
                                      config::nearest_hint(condition.figure, known, "figure"))}});
    }
    for (const FigureDifference& figure : comparison.figures) {
      if (condition.is_met_by(figure)) {
        failed.push_back(fmt::format("{}: {}{}", condition.text, change_text(condition, figure),
                                     figure.point.empty() ? "" : " at " + figure.point));
      }
    }
  }
  return failed;
}

}  // namespace flitwise
