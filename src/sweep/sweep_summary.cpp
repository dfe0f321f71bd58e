// SPDX-License-Identifier: Apache-2.0
// Rows of the sweep summary, and of a study's own.
#include <fmt/format.h>

#include <boost/range/algorithm_ext/push_back.hpp>
#include <map>

#include "common/ranges.h"
#include "results/text_table.h"
#include "sweep/merge.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 40;

struct Figure {
  const char* title;
  std::vector<const char*> columns;  ///< the first one counts that is there and not 0, or else is 0
  double factor;
  int decimals;
  bool may_be_zero = false;
};
using Figures = std::vector<Figure>;

struct Seen {
  double value = 0;
  std::optional<double> half_width;  ///< of its 95 % interval
};

/// The figure of a row; a latency without samples does not count.
std::optional<Seen> figure_of(const Json& row, const Figure& figure) {
  std::optional<Seen> zero;
  for (const char* column : figure.columns) {
    const auto value = number_at(row, column);
    if (!value || (*value == 0 && (!figure.may_be_zero || zero))) {
      continue;
    }
    const Seen seen{*value, number_at(row, interval_column(column))};
    if (*value != 0) {
      return seen;
    }
    zero = seen;
  }
  return zero;
}

/// Latencies of writes and of reads have columns of their own where a point has both.
Figures figures_of(const std::vector<Json>& rows) {
  const Figure write_p50{"write p50, ns", {"dma_write_p50_ns"}, 1, 1};
  const Figure read_p50{"read p50, ns", {"dma_read_p50_ns"}, 1, 1};
  const Figure write_p99{"write p99, ns", {"dma_write_p99_ns"}, 1, 1};
  const Figure read_p99{"read p99, ns", {"dma_read_p99_ns"}, 1, 1};
  Figures all = {
      {"link efficiency, %", {"up_link_efficiency", "down_link_efficiency"}, 100, 2, true},
      {"goodput, Gb/s", {"up_goodput_gbps", "down_goodput_gbps"}, 1, 2}};
  if (any_of(rows, [&](const Json& row) {
        return figure_of(row, write_p50) && figure_of(row, read_p50);
      })) {
    boost::range::push_back(all, Figures{write_p50, read_p50, write_p99, read_p99});
  } else {
    all.push_back({"p50, ns", {"dma_write_p50_ns", "dma_read_p50_ns"}, 1, 1});
    all.push_back({"p99, ns", {"dma_write_p99_ns", "dma_read_p99_ns"}, 1, 1});
  }
  all.push_back({"ALLOC", {"dhi_allocs"}, 1, 0, true});
  return all;
}

std::string number(double value, const Figure& figure) {
  return fmt::format("{:.{}f}", value * figure.factor, figure.decimals);
}

std::string number(const Seen& seen, const Figure& figure) {
  return number(seen.value, figure) +
         (seen.half_width ? " ± " + number(*seen.half_width, figure) : "");
}

bool has_seeds(const std::vector<Json>& rows) {
  return any_of(rows, [](const Json& row) { return number_at(row, "seeds").value_or(1) > 1; });
}

std::string plain_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string point_table(const MergedSweep& merged, const Figures& figures, std::size_t width) {
  std::vector<std::string> header = {"block"};
  header.insert(header.end(), merged.axes.begin(), merged.axes.end());
  const bool says_seeds = has_seeds(merged.rows);
  if (says_seeds) {
    header.emplace_back("seeds");
  }
  boost::range::push_back(header, mapped(figures, &Figure::title));
  TextTable table(header);
  table.name_rows_by(1 + merged.axes.size());
  for (const Json& row : merged.rows) {
    std::vector<std::string> cells = {row.at("block").get<std::string>()};
    for (const std::string& axis : merged.axes) {
      cells.push_back(plain_text(row.at(axis)));
    }
    if (says_seeds) {
      cells.push_back(plain_text(row.at("seeds")));
    }
    for (const Figure& figure : figures) {
      const auto value = figure_of(row, figure);
      cells.push_back(value ? number(*value, figure) : "-");
    }
    table.add_row(cells);
  }
  return table.text(width);
}

struct Group {
  std::string block;
  std::string label;
  Rows rows;
};

/// Points by block and value of the block's first axis; by block alone where that is too many.
std::vector<Group> groups_of(const MergedSweep& merged, const Plan& plan, bool by_axis) {
  std::map<std::string, std::string> first_axis;
  for (const Point& point : plan) {
    if (!point.axes.empty()) {
      first_axis.emplace(point.block, point.axes.front().first);
    }
  }
  std::vector<Group> groups;
  for (const Json& row : merged.rows) {
    const auto block = row.at("block").get<std::string>();
    const auto axis = first_axis.find(block);
    const std::string label = by_axis && axis != first_axis.end()
                                  ? axis->second + "=" + plain_text(row.at(axis->second))
                                  : "all";
    auto group = find_if(
        groups, [&](const Group& each) { return each.block == block && each.label == label; });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {block, label, {}});
    }
    group->rows.push_back(&row);
  }
  return groups;
}

std::string group_table(const std::vector<Group>& groups, const Figures& figures,
                        std::size_t width) {
  std::vector<std::string> header = {"block", "of which", "points"};
  boost::range::push_back(header, mapped(figures, &Figure::title));
  TextTable table(header, 2);
  table.name_rows_by(2);
  for (const Group& group : groups) {
    std::vector<std::string> cells = {group.block, group.label, std::to_string(group.rows.size())};
    for (const Figure& figure : figures) {
      std::vector<double> values;
      for (const Json* row : group.rows) {
        if (const auto value = figure_of(*row, figure)) {
          values.push_back(value->value);
        }
      }
      if (values.empty()) {
        cells.emplace_back("-");
        continue;
      }
      const auto [least, most] = std::minmax_element(values.begin(), values.end());
      const std::string low = number(*least, figure);
      const std::string high = number(*most, figure);
      cells.push_back(low == high ? low : low + " .. " + high);
    }
    table.add_row(cells);
  }
  return table.text(width);
}

constexpr const char* kNoVerdict = "-";

std::string column_title(const Presentation& presentation, const std::string& name) {
  for (const BlockPresentation& block : presentation.blocks) {
    if (const FigureSpec* figure = block.figure(name)) {
      return figure->label();
    }
  }
  return name;
}

/// The figure that all verdicts are on, if it is one and the same.
std::string common_verdict(const Presentation& presentation) {
  std::string common;
  for (const BlockPresentation& block : presentation.blocks) {
    const std::string title = verdict_title(block);
    if (block.summary.empty() || title.empty()) {
      continue;
    }
    if (!common.empty() && common != title) {
      return "";
    }
    common = title;
  }
  return common;
}

/// With the figure that it is on, where the column does not name it.
std::string verdict_of(const Json& row, const BlockPresentation& block, bool names_figure) {
  const auto value = number_at(row, block.verdict.figure);
  if (block.is_own_baseline(row)) {
    return "baseline";
  }
  if (!value) {
    return kNoVerdict;
  }
  const std::string word = verdict_word(*value, doubt_in(row, block.verdict));
  return names_figure ? word + ", " + verdict_title(block) : word;
}

Rows chosen_rows(const MergedSweep& merged, const BlockPresentation& block) {
  return those(rows_of(merged, block.name), [&](const Json* row) {
    return any_of(block.summary, [row](const Selection& one) { return is_selected(*row, one); });
  });
}

bool has_any_verdict(const MergedSweep& merged) {
  return any_of(merged.presentation.blocks, [&](const BlockPresentation& block) {
    const Rows chosen = chosen_rows(merged, block);
    return any_of(chosen,
                  [&](const Json* row) { return verdict_of(*row, block, false) != kNoVerdict; });
  });
}

/// A line for each basis that verdicts have, with the blocks where they differ in it.
std::string basis_lines(const MergedSweep& merged) {
  std::vector<std::pair<std::string, std::vector<std::string>>> blocks_of;
  for (const BlockPresentation& block : merged.presentation.blocks) {
    const std::string basis = verdict_basis(block, chosen_rows(merged, block));
    if (basis.empty()) {
      continue;
    }
    auto same = find_if(blocks_of, [&](const auto& each) { return each.first == basis; });
    if (same == blocks_of.end()) {
      same = blocks_of.insert(blocks_of.end(), {basis, {}});
    }
    same->second.push_back(block.name);
  }
  return sum_of(blocks_of, [&](const auto& each) {
    return blocks_of.size() == 1
               ? "verdicts: " + each.first + "\n"
               : fmt::format("verdicts of {}: {}\n", fmt::join(each.second, ", "), each.first);
  });
}

/// Columns that tell the chosen rows apart; all that the block has where there is one row alone, or
/// nothing that tells them apart.
std::string row_label(const MergedSweep& merged, const BlockPresentation& block, const Rows& chosen,
                      const Json& row) {
  const std::vector<std::string> all = telling_columns(merged, block);
  std::vector<std::string> columns = those(all, [&](const std::string& column) {
    return groups_by(chosen, {column}).size() > 1 || column.find('.') == std::string::npos;
  });
  if (chosen.size() == 1 || columns.empty()) {
    columns = all;
  }
  return point_text(merged, row, columns);
}

bool has_study_summary(const MergedSweep& merged) {
  return !merged.presentation.summary_columns.empty() &&
         any_of(merged.presentation.blocks,
                [](const BlockPresentation& block) { return !block.summary.empty(); });
}

}  // namespace

std::string sweep_summary(const MergedSweep& merged, const Plan& plan, std::size_t width) {
  if (has_study_summary(merged)) {
    return study_summary(merged, width);
  }
  const Figures figures = figures_of(merged.rows);
  if (merged.rows.size() <= kMostRows) {
    return point_table(merged, figures, width);
  }
  std::vector<Group> groups = groups_of(merged, plan, true);
  if (groups.size() > kMostRows) {
    groups = groups_of(merged, plan, false);
  }
  groups.resize(std::min(groups.size(), kMostRows));
  return group_table(groups, figures, width);
}

std::string figure_text(const Json& row, const FigureSpec& figure) {
  const auto value = number_at(row, figure.name);
  if (!value) {
    return "-";
  }
  std::string text = fmt::format("{:.{}f}", *value, figure.decimals);
  if (text.find_first_not_of("-0.") == std::string::npos && text[0] == '-') {
    text.erase(0, 1);
  }
  const auto half_width = number_at(row, interval_column(figure.name));
  return half_width ? fmt::format("{} ± {:.{}f}", text, *half_width, figure.decimals) : text;
}

std::string study_summary(const MergedSweep& merged, std::size_t width) {
  const Presentation& presentation = merged.presentation;
  std::vector<std::string> header = {"block", "point"};
  for (const std::string& name : presentation.summary_columns) {
    header.push_back(column_title(presentation, name));
  }
  const std::string common = common_verdict(presentation);
  const bool has_verdicts = has_any_verdict(merged);
  if (has_verdicts) {
    header.push_back(common.empty() ? "verdict" : "verdict on " + common);
  }
  std::vector<std::string> lines;
  for (const BlockPresentation& block : presentation.blocks) {
    for (const std::string& sentence : crossing_sentences(merged, block)) {
      lines.push_back(block.name + "  " + sentence);
    }
  }
  TextTable table(header, 2);
  table.name_rows_by(2);
  if (has_verdicts) {
    table.left_align(header.size() - 1);
  }
  const std::size_t room = kMostRows - std::min(lines.size(), kMostRows);
  std::size_t rows = 0;
  for (const BlockPresentation& block : presentation.blocks) {
    const Rows chosen = chosen_rows(merged, block);
    for (const Json* row : chosen) {
      if (++rows > room) {
        continue;
      }
      std::vector<std::string> cells = {block.name, row_label(merged, block, chosen, *row)};
      for (const std::string& name : presentation.summary_columns) {
        cells.push_back(figure_text(*row, *block.figure(name)));
      }
      if (has_verdicts) {
        cells.push_back(verdict_of(*row, block, common.empty()));
      }
      table.add_row(cells);
    }
  }
  std::string text =
      table.text(width) + sum_of(lines, [](const std::string& line) { return line + "\n"; });
  if (rows > room) {
    text += fmt::format("and {} more points\n", rows - room);
  }
  return text + basis_lines(merged);
}

}  // namespace flitwise
