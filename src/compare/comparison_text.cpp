// SPDX-License-Identifier: Apache-2.0
// A comparison for people.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/ranges.h"
#include "compare/comparison.h"
#include "results/text_table.h"

namespace flitwise {
namespace {

/// What is shown of a list, and what of it is not.
struct Cut {
  std::size_t shown = 0, left = 0;
};
Cut cut(std::size_t size, std::optional<std::size_t> most) {
  const std::size_t shown = std::min(size, most.value_or(size));
  return {shown, size - shown};
}

std::string config_table(const Comparison& comparison, std::optional<std::size_t> most,
                         std::size_t width) {
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
  const Cut rows = cut(comparison.config.size(), most);
  for (std::size_t i = 0; i < rows.shown; ++i) {
    const ConfigDifference& one = comparison.config[i];
    std::vector<std::string> cells = {one.key, config_text(one.a), config_text(one.b)};
    if (comparison.of_sweeps) {
      cells.push_back(std::to_string(one.points));
    }
    table.add_row(cells);
  }
  return "Configured otherwise:\n" + table.text(width) +
         (rows.left == 0 ? "" : fmt::format("and {} more differences\n", rows.left));
}

std::vector<std::string> cells_of(const std::string& name, const FigureDifference& one) {
  return {name, value_text(one.a), value_text(one.b), change_text(one), relative_text(one)};
}

/// Of two runs: a row a figure.
std::string figure_table(const std::vector<FigureChanges>& figures, std::optional<std::size_t> most,
                         std::size_t width) {
  TextTable table({"figure", "A", "B", "change", "relative"});
  const Cut rows = cut(figures.size(), most);
  for (std::size_t i = 0; i < rows.shown; ++i) {
    table.add_row(cells_of(figures[i].figure, *figures[i].points.front()));
  }
  return table.text(width) +
         (rows.left == 0 ? "" : fmt::format("and {} more that changed less\n", rows.left));
}

/// Of two sweeps: a table a figure with a row a point.
std::string point_tables(const Comparison& comparison, const std::vector<FigureChanges>& figures,
                         std::optional<std::size_t> most, std::size_t width) {
  std::string text;
  if (most) {
    constexpr std::size_t kLeast = 3;
    most = std::max(kLeast, *most / figures.size());
  }
  for (const FigureChanges& figure : figures) {
    TextTable table({figure.figure, "A", "B", "change", "relative"});
    const Cut rows = cut(figure.points.size(), most);
    for (std::size_t i = 0; i < rows.shown; ++i) {
      table.add_row(cells_of(figure.points[i]->point, *figure.points[i]));
    }
    text += (text.empty() ? "" : "\n") + table.text(width);
    if (rows.left > 0) {
      text += fmt::format("and {} more of {} points, which changed less\n", rows.left,
                          comparison.points);
    }
  }
  return text;
}

/// "+6.21 .. +12.45 %" of a figure at several points, "0 to 7" where the largest change is one.
std::string range_text(const FigureDifferences& points) {
  const FigureDifference& first = *points.front();
  if (!std::isfinite(first.percent())) {
    return "0 to " + value_text(first.b);
  }
  const auto less = [](const auto* one, const auto* other) {
    return one->percent() < other->percent();
  };
  const auto [least, most] = std::minmax_element(points.begin(), points.end(), less);
  const std::string low = relative_text(**least), high = relative_text(**most);
  return low == high ? low : fmt::format("{:+.2f} .. {}", (*least)->percent(), high);
}

/// Of two sweeps: a row a figure with the range over its points.
std::string range_table(const std::vector<FigureChanges>& figures, std::optional<std::size_t> most,
                        std::size_t width) {
  TextTable table({"figure", "points", "relative", "most at"});
  table.left_align(3);
  const Cut rows = cut(figures.size(), most);
  for (std::size_t i = 0; i < rows.shown; ++i) {
    const FigureDifferences& points = figures[i].points;
    table.add_row({figures[i].figure, std::to_string(points.size()), range_text(points),
                   points.front()->point});
  }
  return table.text(width) +
         (rows.left == 0 ? "" : fmt::format("and {} more that changed less\n", rows.left));
}

std::string changes_text(const Comparison& comparison, std::optional<std::size_t> most,
                         std::size_t width) {
  const OrderedChanges changes = ordered_changes(comparison);
  std::string text;
  if (!changes.main.empty()) {
    text += comparison.of_sweeps ? point_tables(comparison, changes.main, most, width)
                                 : figure_table(changes.main, most, width);
  }
  if (!changes.others.empty()) {
    text += text.empty() ? "" : "\nOther figures, the largest relative change first:\n";
    text += comparison.of_sweeps ? range_table(changes.others, most, width)
                                 : figure_table(changes.others, most, width);
  }
  if (changes.unsure > 0) {
    text += fmt::format(
        "{}{} other figures changed by no more than chance explains; --json has "
        "them\n",
        text.empty() ? "" : "\n", changes.unsure);
  }
  const bool has_unsure = any_of(changes.main, [](const FigureChanges& figure) {
    return any_of(figure.points, [](const auto* one) { return !one->is_sure(); });
  });
  return text + (has_unsure
                     ? "?: 0 lies in the 95 % interval of the change: chance may explain it\n"
                     : "");
}

/// "3 points are in A alone, such as forms: ..."
std::string told(const std::vector<std::string>& names, const char* one, const char* several) {
  if (names.empty()) {
    return "";
  }
  return names.size() == 1
             ? fmt::format("1 {}: {}\n", one, names.front())
             : fmt::format("{} {}, such as {}\n", names.size(), several, names.front());
}

}  // namespace

std::string relative_text(const FigureDifference& figure) {
  constexpr double kLeastShown = 0.005;  // less has no digit behind the point
  const double percent = figure.percent();
  return !std::isfinite(percent)                           ? "from 0"
         : std::abs(percent) < kLeastShown && percent != 0 ? fmt::format("{:+.1g} %", percent)
                                                           : fmt::format("{:+.2f} %", percent);
}

std::string value_text(double value, int digits) {
  constexpr double kMostWhole = 1e12;  // counts stay whole
  return value == std::floor(value) && std::abs(value) < kMostWhole
             ? fmt::format("{:.0f}", value)
             : fmt::format("{:.{}g}", value, digits);
}

std::string change_text(const FigureDifference& figure) {
  return fmt::format("{}{}{}{}", figure.delta() < 0 ? "" : "+", value_text(figure.delta(), 4),
                     figure.ci95 ? fmt::format(" ± {:.3g}", *figure.ci95) : "",
                     figure.is_sure() ? "" : " ?");
}

std::string config_text(const nlohmann::ordered_json& value) {
  return value.is_null()     ? "(not there)"
         : value.is_string() ? value.get<std::string>()
                             : value.dump();
}

std::string comparison_text(const Comparison& comparison, std::optional<std::size_t> most,
                            std::size_t width) {
  std::string text = config_table(comparison, most, width) + "\n";
  const std::string changes = changes_text(comparison, most, width);
  const std::string points =
      comparison.of_sweeps ? fmt::format(" at {} points", comparison.points) : "";
  text += changes.empty() ? fmt::format("All figures are the same{}.\n", points) : changes;
  if (comparison.of_sweeps && !changes.empty()) {
    text += fmt::format("{} points are in both\n", comparison.points);
  }
  return text + told(comparison.only_in_a, "point is in A alone", "points are in A alone") +
         told(comparison.only_in_b, "point is in B alone", "points are in B alone") +
         told(comparison.missing_in_a, "run of A has no result", "runs of A have no result") +
         told(comparison.missing_in_b, "run of B has no result", "runs of B have no result") +
         told(comparison.figures_of_a, "figure is in A alone", "figures are in A alone") +
         told(comparison.figures_of_b, "figure is in B alone", "figures are in B alone");
}

}  // namespace flitwise
