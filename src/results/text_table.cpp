// SPDX-License-Identifier: Apache-2.0
// Layout of plain-text tables.
#include "results/text_table.h"

#include <fmt/format.h>

#include <boost/algorithm/string/replace.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "common/ranges.h"

namespace flitwise {
namespace {

constexpr std::size_t kGap = 2;  // between columns

std::size_t width_of(const std::vector<std::size_t>& columns,
                     const std::vector<std::size_t>& widths) {
  const std::size_t gaps = columns.empty() ? 0 : kGap * (columns.size() - 1);
  return std::accumulate(columns.begin(), columns.end(), gaps,
                         [&](std::size_t sum, std::size_t i) { return sum + widths[i]; });
}

/// Of UTF-8.
std::size_t characters_in(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

struct UnitScale {
  double factor;
  const char* unit;
};

template <std::size_t n>
std::string scaled(double value, const std::array<UnitScale, n>& scales) {
  const UnitScale* best = scales.data();
  for (const UnitScale& scale : scales) {
    if (std::abs(value) >= scale.factor * 0.9995) {
      best = &scale;
    }
  }
  const double shown = value / best->factor;
  if (shown == std::floor(shown) && std::abs(shown) < 10'000) {
    return fmt::format("{:.0f} {}", shown, best->unit);
  }
  const double size = std::abs(shown);
  return fmt::format("{:.{}f} {}", shown, size < 10 ? 2 : size < 100 ? 1 : 0, best->unit);
}

}  // namespace

TextTable::TextTable(std::vector<std::string> header, std::size_t texts)
    : is_text_(header.size(), false) {
  rows_.push_back(std::move(header));
  std::fill_n(is_text_.begin(), texts, true);
}

void TextTable::add_row(std::vector<std::string> cells) {
  cells.resize(is_text_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(std::size_t width) const {
  std::vector<std::size_t> widths(is_text_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], characters_in(row[i]));
    }
  }
  std::vector<std::size_t> names(std::min(names_, widths.size()));
  std::iota(names.begin(), names.end(), 0);
  if (width != kAnyWidth) {
    drop_names(names, widths, width);
  }
  std::string all;
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    columns.push_back(i);
    const bool has_figures = columns.size() > names.size() + 1;  // beside this one
    if (width != kAnyWidth && has_figures && width_of(columns, widths) > width) {
      columns.pop_back();
      all += lines_of(columns, widths);
      columns = names;
      columns.push_back(i);
    }
  }
  all += lines_of(columns, widths);
  return note_.empty() ? all : all + "\n" + note_;
}

std::string TextTable::markdown() const {
  std::string all;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    for (std::size_t i = 0; i < is_text_.size(); ++i) {
      const std::string cell = boost::algorithm::replace_all_copy(
          i < rows_[row].size() ? rows_[row][i] : "", "|", "\\|");
      all += (i == 0 ? "| " : " ") + (i == 0 && row > 0 ? "`" + cell + "`" : cell) + " |";
    }
    all += "\n";
    for (std::size_t i = 0; row == 0 && i < is_text_.size(); ++i) {
      all += std::string(i == 0 ? "|" : "") + (is_text_[i] ? "---|" : "---:|") +
             (i + 1 == is_text_.size() ? "\n" : "");
    }
  }
  return note_.empty() ? all : all + "\n" + note_;
}

// Each figure is to have room beside all names of its row. Where it has none, names go that the
// rows are told apart without, and then the first ones, which say the least.
void TextTable::drop_names(std::vector<std::size_t>& names, const std::vector<std::size_t>& widths,
                           std::size_t width) const {
  const auto first_figure = widths.begin() + static_cast<std::ptrdiff_t>(names.size());
  const std::size_t widest =
      first_figure == widths.end() ? 0 : *std::max_element(first_figure, widths.end());
  while (names.size() > 1 && width_of(names, widths) + kGap + widest > width) {
    const std::size_t told_apart = distinct_rows(names);
    const auto needless = std::find_if(names.begin(), names.end(), [&](std::size_t name) {
      std::vector<std::size_t> others = names;
      others.erase(std::find(others.begin(), others.end(), name));
      return distinct_rows(others) == told_apart;
    });
    names.erase(needless == names.end() ? names.begin() : needless);
  }
}

std::size_t TextTable::distinct_rows(const std::vector<std::size_t>& columns) const {
  std::set<std::vector<std::string>> seen;
  for (const auto& row : rows_) {
    seen.insert(mapped(columns, [&row](std::size_t column) { return row[column]; }));
  }
  return seen.size();
}

std::string TextTable::lines_of(const std::vector<std::size_t>& columns,
                                const std::vector<std::size_t>& widths) const {
  std::string all;
  for (const auto& row : rows_) {
    std::string line;
    for (const std::size_t i : columns) {
      line += i == columns.front() ? "" : std::string(kGap, ' ');
      line += is_text_[i] ? fmt::format("{:<{}}", row[i], widths[i])
                          : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    all += line + "\n";
  }
  return all;
}

std::string with_thousands(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t from_end = 3; from_end < digits.size(); from_end += 4) {
    digits.insert(digits.size() - from_end, ",");
  }
  return digits;
}

std::string bytes_text(double bytes) {
  static constexpr std::array<UnitScale, 4> kScales{
      {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}}};
  return scaled(bytes, kScales);
}

std::string time_text(double ns) {
  static constexpr std::array<UnitScale, 4> kScales{
      {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};
  return scaled(ns, kScales);
}

std::string percent_text(std::optional<double> share) {
  return share ? fmt::format("{:.2f} %", *share * 100) : "-";
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : percent_text(static_cast<double>(part) / static_cast<double>(whole));
}

std::string gbps_text(std::optional<double> gbps) {
  return gbps ? fmt::format("{:.2f} Gb/s", *gbps) : "-";
}

}  // namespace flitwise
