// SPDX-License-Identifier: Apache-2.0
// Rows of the sweep summary.
#include "sweep/sweep_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "results/text_table.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 40;

struct Figure {
  const char* title;
  std::vector<const char*> columns;  ///< the first one that is there counts
  double factor;
  int decimals;
};

const std::vector<Figure>& figures() {
  static const std::vector<Figure> kFigures = {
      {"link efficiency, %", {"up_link_efficiency"}, 100, 2},
      {"goodput, Gb/s", {"up_goodput_gbps", "down_goodput_gbps"}, 1, 2},
      {"p50, ns", {"dma_write_p50_ns", "dma_read_p50_ns"}, 1, 1},
      {"p99, ns", {"dma_write_p99_ns", "dma_read_p99_ns"}, 1, 1},
      {"ALLOC", {"dhi_allocs"}, 1, 0},
  };
  return kFigures;
}

/// The figure of a row; a latency without samples does not count.
Json figure_of(const Json& row, const Figure& figure) {
  for (const char* column : figure.columns) {
    const auto found = row.find(column);
    if (found != row.end() && found->is_number() &&
        (found->get<double>() != 0 || figure.columns.size() == 1)) {
      return *found;
    }
  }
  return nullptr;
}

std::string number(double value, const Figure& figure) {
  return fmt::format("{:.{}f}", value * figure.factor, figure.decimals);
}

std::string plain_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string point_table(const MergedSweep& merged, std::size_t width) {
  std::vector<std::string> header = {"block"};
  header.insert(header.end(), merged.axes.begin(), merged.axes.end());
  for (const Figure& figure : figures()) {
    header.emplace_back(figure.title);
  }
  TextTable table(header);
  table.name_rows_by(1 + merged.axes.size());
  for (const Json& row : merged.rows) {
    std::vector<std::string> cells = {row.at("block").get<std::string>()};
    for (const std::string& axis : merged.axes) {
      cells.push_back(plain_text(row.at(axis)));
    }
    for (const Figure& figure : figures()) {
      const Json value = figure_of(row, figure);
      cells.push_back(value.is_null() ? "-" : number(value.get<double>(), figure));
    }
    table.add_row(cells);
  }
  return table.text(width);
}

struct Group {
  std::string block;
  std::string label;
  std::vector<const Json*> rows;
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
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& each) {
      return each.block == block && each.label == label;
    });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {block, label, {}});
    }
    group->rows.push_back(&row);
  }
  return groups;
}

std::string group_table(const std::vector<Group>& groups, std::size_t width) {
  std::vector<std::string> header = {"block", "of which", "points"};
  for (const Figure& figure : figures()) {
    header.emplace_back(figure.title);
  }
  TextTable table(header, 2);
  table.name_rows_by(2);
  for (const Group& group : groups) {
    std::vector<std::string> cells = {group.block, group.label, std::to_string(group.rows.size())};
    for (const Figure& figure : figures()) {
      std::vector<double> values;
      for (const Json* row : group.rows) {
        const Json value = figure_of(*row, figure);
        if (!value.is_null()) {
          values.push_back(value.get<double>());
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

}  // namespace

std::string sweep_summary(const MergedSweep& merged, const Plan& plan, std::size_t width) {
  if (has_study_summary(merged)) {
    return study_summary(merged, width);
  }
  if (merged.rows.size() <= kMostRows) {
    return point_table(merged, width);
  }
  std::vector<Group> groups = groups_of(merged, plan, true);
  if (groups.size() > kMostRows) {
    groups = groups_of(merged, plan, false);
  }
  groups.resize(std::min(groups.size(), kMostRows));
  return group_table(groups, width);
}

}  // namespace flitwise
