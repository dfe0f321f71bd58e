// SPDX-License-Identifier: Apache-2.0
// Numbers into sentences.
#include <fmt/format.h>

#include <boost/range/algorithm_ext/erase.hpp>

#include "common/ranges.h"
#include "sweep/merge.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

std::string last_word(const std::string& column) {
  return column.substr(column.rfind('.') + 1);
}

/// "+3.12 ± 0.05 %"
std::string with_interval(const Json& row, double value, const FigureSpec& figure) {
  std::string text = fmt::format("{:+.{}f}", value, figure.decimals);
  if (const auto half_width = number_at(row, interval_column(figure.name))) {
    text += fmt::format(" ± {:.{}f}", *half_width, figure.decimals);
  }
  return text + (figure.unit.empty() ? "" : " ") + figure.unit;
}

/// How many rows of one group win.
struct Tally {
  std::size_t wins = 0, nothing = 0, loses = 0;
  const Json* best = nullptr;
  const Json* worst = nullptr;
  double most = 0, least = 0;
  std::size_t nothing_by_interval = 0;  // the others: within the tolerance of the study
  std::size_t count() const { return wins + nothing + loses; }
};

Tally tally_of(const BlockPresentation& block, const Rows& rows) {
  Tally tally;
  const VerdictSpec& verdict = block.verdict;
  for (const Json* row : rows) {
    const auto value = number_at(*row, verdict.figure);
    if (!value || block.is_own_baseline(*row)) {
      continue;
    }
    if (tally.best == nullptr || *value > tally.most) {
      tally.most = *value;
      tally.best = row;
    }
    if (tally.worst == nullptr || *value < tally.least) {
      tally.least = *value;
      tally.worst = row;
    }
    const double within = doubt_in(*row, verdict);
    ++(*value > within ? tally.wins : *value < -within ? tally.loses : tally.nothing);
    const bool is_nothing = *value <= within && *value >= -within;
    tally.nothing_by_interval += is_nothing && has_interval(*row, verdict.figure) ? 1 : 0;
  }
  return tally;
}

/// Why rows count as nothing.
std::string nothing_text(const Tally& tally, const VerdictSpec& verdict) {
  constexpr const char* kByInterval = "0 lies in the 95 % interval";
  if (tally.nothing_by_interval == tally.nothing) {
    return kByInterval;
  }
  const std::string by_tolerance = fmt::format("within {:g}", verdict.within);
  return tally.nothing_by_interval == 0 ? by_tolerance : by_tolerance + ", or " + kByInterval;
}

std::string tally_sentence(const MergedSweep& merged, const BlockPresentation& block,
                           const std::string& label, const Tally& tally) {
  const FigureSpec& figure = *block.figure(block.verdict.figure);
  std::vector<std::string> columns = telling_columns(merged, block);
  boost::range::remove_erase_if(
      columns, [&](const std::string& column) { return contains(block.verdict.per, column); });
  const auto place = [&](const Json* row) {
    const std::string text = point_text(merged, *row, columns);
    return text.empty() ? "" : " (" + text + ")";
  };
  const std::string name =
      fmt::format("{}, {}", label.empty() ? block.name : label, verdict_title(block));
  if (tally.count() == 1) {
    return fmt::format("{}: {}{}, {}.", name, tally.nothing == 1 ? "saves " : "",
                       verdict_word(tally.most, doubt_in(*tally.best, block.verdict)),
                       with_interval(*tally.best, tally.most, figure));
  }
  std::vector<std::string> parts;
  if (tally.wins > 0) {
    parts.push_back(fmt::format("wins at {}, best {}{}", tally.wins,
                                with_interval(*tally.best, tally.most, figure), place(tally.best)));
  }
  if (tally.nothing > 0) {
    parts.push_back(
        fmt::format("saves nothing at {} ({})", tally.nothing, nothing_text(tally, block.verdict)));
  }
  if (tally.loses > 0) {
    parts.push_back(fmt::format("loses at {}, worst {}{}", tally.loses,
                                with_interval(*tally.worst, tally.least, figure),
                                place(tally.worst)));
  }
  return fmt::format("{}: of {} points, {}.", name, tally.count(), fmt::join(parts, "; "));
}

std::string title_of(const BlockPresentation& block, const std::string& column) {
  const FigureSpec* figure = block.figure(column);
  return figure == nullptr ? column : figure->shown_title();
}

/// A curve in the order of its x.
using Curve = std::vector<std::pair<double, double>>;

/// Where it passes from 0 or below to above it.
std::optional<double> rise_through_zero(const Curve& curve) {
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const auto& [x0, y0] = curve[i - 1];
    const auto& [x1, y1] = curve[i];
    if (y0 <= 0 && y1 > 0) {
      return x0 + (x1 - x0) * (0 - y0) / (y1 - y0);
    }
  }
  return std::nullopt;
}

/// The figure of each row, `side` half widths of its interval above (or below) the mean.
Curve curve_of(const Rows& rows, const std::string& along, const std::string& figure, int side) {
  Curve curve;
  for (const Json* row : rows) {
    const auto x = number_at(*row, along), y = number_at(*row, figure);
    if (x && y) {
      curve.emplace_back(*x, *y + side * number_at(*row, interval_column(figure)).value_or(0));
    }
  }
  std::sort(curve.begin(), curve.end());
  return curve;
}

/// " (95 % intervals: 2.1 to 3.4)": where the upper and the lower ends of the intervals cross.
std::string crossing_interval(const Rows& rows, const std::string& along,
                              const std::string& figure) {
  if (none_of(rows, [&](const Json* row) { return has_interval(*row, figure); })) {
    return "";
  }
  const auto first = rise_through_zero(curve_of(rows, along, figure, +1));
  const auto last = rise_through_zero(curve_of(rows, along, figure, -1));
  return fmt::format(" (95 % intervals: {} to {})",
                     first ? fmt::format("{:.1f}", *first) : "the first point",
                     last ? fmt::format("{:.1f}", *last) : "beyond the last point");
}

/// Where a figure passes from below 0 to above it, in the order of another column.
std::string crossing_text(const BlockPresentation& block, const std::string& figure,
                          const Rows& rows) {
  const std::string title = title_of(block, figure);
  const std::string& along = block.crossing.along;
  const Curve means = curve_of(rows, along, figure, 0);
  if (const auto crossing = rise_through_zero(means)) {
    return fmt::format("{} from {:.1f} {} on{}", title, *crossing, title_of(block, along),
                       crossing_interval(rows, along, figure));
  }
  const bool is_above = !means.empty() && means.front().second > 0;
  return title + (is_above ? " at every point" : " at no point");
}

}  // namespace

Rows rows_of(const MergedSweep& merged, const std::string& block) {
  Rows rows;
  for (const Json& row : merged.rows) {
    if (row.at("block") == block) {
      rows.push_back(&row);
    }
  }
  return rows;
}

std::optional<double> number_at(const Json& row, const std::string& column) {
  const auto cell = row.find(column);
  return cell != row.end() && cell->is_number() ? std::optional(cell->get<double>()) : std::nullopt;
}

std::vector<std::pair<double, double>> points_of(const Rows& rows, const std::string& x,
                                                 const std::string& y) {
  std::vector<std::pair<double, double>> points;
  for (const Json* row : rows) {
    const auto px = number_at(*row, x);
    const auto py = number_at(*row, y);
    if (px && py) {
      points.emplace_back(*px, *py);
    }
  }
  return points;
}

std::optional<double> mean_of(const Rows& rows, const std::string& column) {
  double sum = 0;
  int count = 0;
  for (const Json* row : rows) {
    if (const auto value = number_at(*row, column)) {
      sum += *value;
      ++count;
    }
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

bool has_interval(const Json& row, const std::string& figure) {
  return number_at(row, interval_column(figure)).has_value();
}

double doubt_in(const Json& row, const VerdictSpec& verdict) {
  constexpr double kRounding = 1e-9;  // what reckoning leaves of figures that are equal
  const auto half_width = number_at(row, interval_column(verdict.figure));
  return half_width ? std::max(*half_width, kRounding) : verdict.within;
}

const char* verdict_word(double value, double within) {
  return value > within ? "wins" : value < -within ? "loses" : "nothing";
}

std::string verdict_basis(const BlockPresentation& block, const Rows& rows) {
  const std::string& figure = block.verdict.figure;
  const Rows judged = those(rows, [&](const Json* row) {
    return number_at(*row, figure) && !block.is_own_baseline(*row);
  });
  if (judged.empty()) {
    return "";
  }
  const auto without = static_cast<std::size_t>(std::count_if(
      judged.begin(), judged.end(), [&](const Json* row) { return !has_interval(*row, figure); }));
  if (without == 0) {
    return "by the 95 % intervals over the seeds of each point.";
  }
  const std::string& unit = block.figure(figure)->unit;
  const std::string tolerance =
      block.verdict.within > 0 ? fmt::format("what lies within {:g}{} of 0 counts as nothing",
                                             block.verdict.within, unit.empty() ? "" : " " + unit)
                               : "any difference counts";
  return without == judged.size()
             ? fmt::format("one seed a point, so there is no interval: {}.", tolerance)
             : fmt::format(
                   "by the 95 % intervals over the seeds; {} of {} points have one seed "
                   "and no interval: {}.",
                   without, judged.size(), tolerance);
}

std::string verdict_title(const BlockPresentation& block) {
  return block.verdict.figure.empty() ? "" : title_of(block, block.verdict.figure);
}

std::vector<RowGroup> groups_by(const Rows& rows, const std::vector<std::string>& per) {
  std::vector<RowGroup> groups;
  for (const Json* row : rows) {
    std::string label;
    for (const std::string& column : per) {
      const auto cell = row->find(column);
      label += (label.empty() ? "" : ", ") + (cell == row->end() ? "-" : cell_text(*cell));
    }
    auto group = find_if(groups, [&](const RowGroup& each) { return each.label == label; });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {label, {}});
    }
    group->rows.push_back(row);
  }
  return groups;
}

// A label stands for the keys that move with it; of those that move together without one, the first
// is enough. Columns with one value tell nothing.
std::vector<std::string> telling_columns(const MergedSweep& merged,
                                         const BlockPresentation& block) {
  const Rows rows = rows_of(merged, block.name);
  std::vector<std::string> columns = block.varied;  // labels first
  std::stable_partition(columns.begin(), columns.end(), [](const std::string& column) {
    return column.find('.') == std::string::npos;
  });
  std::vector<std::string> telling;
  std::size_t told = 1;
  for (const std::string& column : columns) {
    std::vector<std::string> with_it = telling;
    with_it.push_back(column);
    const std::size_t tells = groups_by(rows, with_it).size();
    if (tells > told) {
      telling = with_it;
      told = tells;
    }
  }
  return telling;
}

std::string point_text(const MergedSweep& merged, const Json& row,
                       const std::vector<std::string>& columns) {
  std::string text;
  for (const std::string& column : columns) {
    const auto cell = row.find(column);
    if (cell == row.end() || cell->is_null()) {
      continue;
    }
    const std::string unit = merged.unit_of(column);
    text += text.empty() ? "" : ", ";
    text += cell->is_string()
                ? cell_text(*cell)
                : last_word(column) + " " + cell_text(*cell) + (unit.empty() ? "" : " " + unit);
  }
  return text;
}

std::vector<std::string> verdict_sentences(const MergedSweep& merged,
                                           const BlockPresentation& block) {
  std::vector<std::string> sentences;
  if (block.verdict.figure.empty()) {
    return sentences;
  }
  for (const RowGroup& group : groups_by(rows_of(merged, block.name), block.verdict.per)) {
    const Tally tally = tally_of(block, group.rows);
    if (tally.count() > 0) {
      sentences.push_back(tally_sentence(merged, block, group.label, tally));
    }
  }
  if (const auto basis = verdict_basis(block, rows_of(merged, block.name)); !basis.empty()) {
    sentences.push_back("Verdicts: " + basis);
  }
  return sentences;
}

std::vector<std::string> crossing_sentences(const MergedSweep& merged,
                                            const BlockPresentation& block) {
  std::vector<std::string> sentences;
  const CrossingSpec& spec = block.crossing;
  if (spec.figures.empty()) {
    return sentences;
  }
  for (const RowGroup& group : groups_by(rows_of(merged, block.name), spec.per)) {
    if (block.is_own_baseline(*group.rows.front())) {
      continue;
    }
    const auto parts = mapped(spec.figures, [&](const std::string& figure) {
      return crossing_text(block, figure, group.rows);
    });
    std::string text = fmt::format("{}: {}", group.label, fmt::join(parts, "; "));
    if (const auto predicted = mean_of(group.rows, spec.predicted)) {
      text += fmt::format("; {} {:.1f}", title_of(block, spec.predicted), *predicted);
    }
    sentences.push_back(text + ".");
  }
  return sentences;
}

}  // namespace flitwise
