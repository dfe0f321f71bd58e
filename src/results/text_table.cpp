// SPDX-License-Identifier: Apache-2.0
// Layout of plain-text tables.
#include "results/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace flitwise {
namespace {

struct Scale {
  double factor;
  const char* unit;
};

template <std::size_t n>
std::string scaled(double value, const std::array<Scale, n>& scales) {
  const Scale* best = scales.data();
  for (const Scale& scale : scales) {
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

TextTable::TextTable(std::vector<std::string> header) : is_text_(header.size(), false) {
  rows_.push_back(std::move(header));
  is_text_[0] = true;
}

void TextTable::add_row(std::vector<std::string> cells) {
  cells.resize(is_text_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(is_text_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string all;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i == 0 ? "" : "  ";
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
  static constexpr std::array<Scale, 4> kScales{{{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}}};
  return scaled(bytes, kScales);
}

std::string time_text(double ns) {
  static constexpr std::array<Scale, 4> kScales{{{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};
  return scaled(ns, kScales);
}

std::string percent_text(std::optional<double> share) {
  return share ? fmt::format("{:.2f} %", *share * 100) : "-";
}

std::string gbps_text(std::optional<double> gbps) {
  return gbps ? fmt::format("{:.2f} Gb/s", *gbps) : "-";
}

}  // namespace flitwise
