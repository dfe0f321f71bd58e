// SPDX-License-Identifier: Apache-2.0
// A comparison for people.
#include <fmt/format.h>

#include <cmath>

#include "common/ranges.h"
#include "compare/comparison.h"
#include "results/text_table.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

std::string value_text(const Json& value) {
  return value.is_null()     ? "(not there)"
         : value.is_string() ? value.get<std::string>()
                             : value.dump();
}

std::string percent_change(const FigureDifference& figure) {
  const double percent = figure.percent();
  return std::isfinite(percent) ? fmt::format("{:+.2f} %", percent) : "from 0";
}

std::string config_table(const Comparison& comparison, std::size_t width) {
  if (!comparison.has_configs) {
    return "How the points were configured is not in a results.sqlite: name the folders of the "
           "sweeps to see what differs.\n";
  }
  if (comparison.config.empty()) {
    return "Both have the same configuration.\n";
  }
  std::vector<std::string> header = {"key", "A", "B"};
  if (comparison.of_sweeps) {
    header.emplace_back("points");
  }
  TextTable table(header, 3);
  for (const ConfigDifference& one : comparison.config) {
    std::vector<std::string> cells = {one.key, value_text(one.a), value_text(one.b)};
    if (comparison.of_sweeps) {
      cells.push_back(std::to_string(one.points));
    }
    table.add_row(cells);
  }
  return "Configured otherwise:\n" + table.text(width);
}

std::string figure_table(const Comparison& comparison, std::size_t most, std::size_t width) {
  const std::vector<const FigureDifference*> changed = comparison.changed();
  if (changed.empty()) {
    return fmt::format("All {} figures are the same.\n", comparison.figures.size());
  }
  std::vector<std::string> header = {"figure", "A", "B", "change", "relative"};
  if (comparison.of_sweeps) {
    header.insert(header.begin(), "point");
  }
  TextTable table(header, comparison.of_sweeps ? 2 : 1);
  table.name_rows_by(comparison.of_sweeps ? 2 : 1);
  for (std::size_t i = 0; i < std::min(most, changed.size()); ++i) {
    const FigureDifference& one = *changed[i];
    const std::string doubt = one.ci95 ? fmt::format(" ± {:.3g}", *one.ci95) : "";
    std::vector<std::string> cells = {
        one.name, fmt::format("{:.6g}", one.a), fmt::format("{:.6g}", one.b),
        fmt::format("{:+.4g}{}{}", one.delta(), doubt, one.is_sure() ? "" : " ?"),
        percent_change(one)};
    if (comparison.of_sweeps) {
      cells.insert(cells.begin(), one.point);
    }
    table.add_row(cells);
  }
  std::string text = table.text(width);
  if (changed.size() > most) {
    text += fmt::format("and {} more figures that changed less; --all or --json has them\n",
                        changed.size() - most);
  }
  if (any_of(changed, [](const FigureDifference* one) { return !one->is_sure(); })) {
    text +=
        "?: 0 lies in the 95 % interval of the change, so that the seeds alone may explain it\n";
  }
  return text;
}

std::string named(const std::vector<std::string>& points, const char* where) {
  if (points.empty()) {
    return "";
  }
  return fmt::format("{} points are in {} alone, such as {}\n", points.size(), where,
                     points.front());
}

}  // namespace

std::string comparison_text(const Comparison& comparison, std::size_t most, std::size_t width) {
  std::string text = config_table(comparison, width) + "\n" + figure_table(comparison, most, width);
  if (comparison.of_sweeps) {
    text += fmt::format("{} points are in both\n", comparison.points);
  }
  text += named(comparison.only_in_a, "A") + named(comparison.only_in_b, "B");
  const auto missing = [](std::size_t count, const char* where) {
    return count == 0 ? "" : fmt::format("{} points of {} have no result\n", count, where);
  };
  return text + missing(comparison.missing_in_a, "A") + missing(comparison.missing_in_b, "B");
}

}  // namespace flitwise
