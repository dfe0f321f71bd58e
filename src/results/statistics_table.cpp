// SPDX-License-Identifier: Apache-2.0
// What all tables of statistics have in common.
#include "results/statistics_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace flitwise {
namespace {

std::string text_of(const FigureValue& value, const std::string& unit) {
  if (const auto* const count = std::get_if<std::uint64_t>(&value)) {
    return unit == "B" ? bytes_text(static_cast<double>(*count)) : with_thousands(*count);
  }
  if (const auto* const real = std::get_if<double>(&value)) {
    return unit == "ns" ? time_text(*real) : fmt::format("{:.2f}", *real);
  }
  const auto* const text = std::get_if<std::string>(&value);
  return text == nullptr ? "-" : *text;
}

}  // namespace

std::string FigureInfo::column() const {
  std::string name = key;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

TextTable StatisticsTable::plain_view(const std::any& rows) const {
  std::vector<std::string> header;
  for (const NameInfo& name : info_.names) {
    header.push_back(name.column);
  }
  header.front() = info_.list + ": " + header.front();
  for (const FigureInfo& figure : info_.figures) {
    header.push_back(figure.key);
  }
  TextTable table(header, info_.names.size());
  table.name_rows_by(info_.names.size());
  for (std::size_t row = 0; row < size(rows); ++row) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < info_.names.size(); ++i) {
      cells.push_back(name(rows, row, i));
    }
    for (std::size_t i = 0; i < info_.figures.size(); ++i) {
      cells.push_back(text_of(figure(rows, row, i), info_.figures[i].unit));
    }
    table.add_row(cells);
  }
  return table;
}

}  // namespace flitwise
