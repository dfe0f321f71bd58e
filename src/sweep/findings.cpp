// SPDX-License-Identifier: Apache-2.0
// Numbers into sentences.
#include "sweep/findings.h"

#include <fmt/format.h>

#include <algorithm>

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

std::string last_word(const std::string& column) {
  return column.substr(column.rfind('.') + 1);
}

std::string with_unit(double value, const FigureSpec& figure) {
  return fmt::format("{:+.{}f}{}{}", value, figure.decimals, figure.unit.empty() ? "" : " ",
                     figure.unit);
}

/// The rows of one group, sorted by whether they win.
struct Tally {
  Rows wins, nothing, loses;
  const Json* best = nullptr;
  const Json* worst = nullptr;
  double most = 0, least = 0;
  std::size_t count() const { return wins.size() + nothing.size() + loses.size(); }
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
    Rows& kind = *value > verdict.within    ? tally.wins
                 : *value < -verdict.within ? tally.loses
                                            : tally.nothing;
    kind.push_back(row);
  }
  return tally;
}

std::string tally_sentence(const MergedSweep& merged, const BlockPresentation& block,
                           const std::string& label, const Tally& tally) {
  const FigureSpec& figure = *block.figure(block.verdict.figure);
  std::vector<std::string> columns = telling_columns(merged, block);
  columns.erase(std::remove_if(columns.begin(), columns.end(),
                               [&](const std::string& column) {
                                 const auto& per = block.verdict.per;
                                 return std::find(per.begin(), per.end(), column) != per.end();
                               }),
                columns.end());
  const auto place = [&](const Json* row) {
    const std::string text = point_text(merged, *row, columns);
    return text.empty() ? "" : " (" + text + ")";
  };
  const std::string name =
      fmt::format("{}, {}", label.empty() ? block.name : label, verdict_title(block));
  if (tally.count() == 1) {
    const std::string verdict = tally.wins.size() == 1    ? "wins"
                                : tally.loses.size() == 1 ? "loses"
                                                          : "saves nothing";
    return fmt::format("{}: {}, {}.", name, verdict, with_unit(tally.most, figure));
  }
  std::vector<std::string> parts;
  if (!tally.wins.empty()) {
    parts.push_back(fmt::format("wins at {}, best {}{}", tally.wins.size(),
                                with_unit(tally.most, figure), place(tally.best)));
  }
  if (!tally.nothing.empty()) {
    parts.push_back(fmt::format("saves nothing at {} (within {:g})", tally.nothing.size(),
                                block.verdict.within));
  }
  if (!tally.loses.empty()) {
    parts.push_back(fmt::format("loses at {}, worst {}{}", tally.loses.size(),
                                with_unit(tally.least, figure), place(tally.worst)));
  }
  return fmt::format("{}: of {} points, {}.", name, tally.count(), fmt::join(parts, "; "));
}

Crossing crossing_of(const CrossingSpec& spec, const std::string& figure, const Rows& rows) {
  Crossing crossing;
  crossing.figure = figure;
  std::vector<std::pair<double, double>> points;
  for (const Json* row : rows) {
    const auto x = number_at(*row, spec.along);
    const auto y = number_at(*row, figure);
    if (x && y) {
      points.emplace_back(*x, *y);
    }
  }
  std::sort(points.begin(), points.end());
  crossing.is_above = !points.empty() && points.front().second > 0;
  for (std::size_t i = 1; i < points.size() && !crossing.at; ++i) {
    const auto& [x0, y0] = points[i - 1];
    const auto& [x1, y1] = points[i];
    if (y0 <= 0 && y1 > 0) {
      crossing.at = x0 + (x1 - x0) * (0 - y0) / (y1 - y0);
    }
  }
  return crossing;
}

std::string title_of(const BlockPresentation& block, const std::string& column) {
  const FigureSpec* figure = block.figure(column);
  return figure == nullptr ? column : figure->shown_title();
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

const char* verdict_word(double value, double within) {
  return value > within ? "wins" : value < -within ? "loses" : "nothing";
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
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const RowGroup& each) { return each.label == label; });
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

std::vector<GroupCrossings> crossings_of(const MergedSweep& merged,
                                         const BlockPresentation& block) {
  std::vector<GroupCrossings> found;
  const CrossingSpec& spec = block.crossing;
  if (spec.figures.empty()) {
    return found;
  }
  for (const RowGroup& group : groups_by(rows_of(merged, block.name), spec.per)) {
    if (block.is_own_baseline(*group.rows.front())) {
      continue;
    }
    GroupCrossings crossings{group.label, {}, mean_of(group.rows, spec.predicted)};
    for (const std::string& figure : spec.figures) {
      crossings.crossings.push_back(crossing_of(spec, figure, group.rows));
    }
    found.push_back(std::move(crossings));
  }
  return found;
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
  return sentences;
}

std::vector<std::string> crossing_sentences(const MergedSweep& merged,
                                            const BlockPresentation& block) {
  std::vector<std::string> sentences;
  for (const GroupCrossings& group : crossings_of(merged, block)) {
    std::vector<std::string> parts;
    for (const Crossing& crossing : group.crossings) {
      parts.push_back(title_of(block, crossing.figure) +
                      (crossing.at
                           ? fmt::format(" from {:.1f} {} on", *crossing.at,
                                         title_of(block, block.crossing.along))
                           : std::string(crossing.is_above ? " at every point" : " at no point")));
    }
    std::string text = fmt::format("{}: {}", group.label, fmt::join(parts, "; "));
    if (group.predicted) {
      text +=
          fmt::format("; {} {:.1f}", title_of(block, block.crossing.predicted), *group.predicted);
    }
    sentences.push_back(text + ".");
  }
  return sentences;
}

}  // namespace flitwise
