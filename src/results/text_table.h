// SPDX-License-Identifier: Apache-2.0
/// Aligned plain-text tables and numbers with units, for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flitwise {

/// Columns are as wide as their widest cell. The first column (and any other said to be text) is
/// left-aligned, numbers are right-aligned.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);

  void add_row(std::vector<std::string> cells);
  void left_align(std::size_t column) { is_text_.at(column) = true; }
  bool is_empty() const { return rows_.size() == 1; }
  /// Header and rows, two spaces between columns, no trailing spaces.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> is_text_;
};

std::string with_thousands(std::uint64_t value);        ///< 1234567 -> "1,234,567"
std::string bytes_text(double bytes);                   ///< "64 B", "1.28 MB" (decimal)
std::string time_text(double ns);                       ///< "12.3 ns", "4.57 us"
std::string percent_text(std::optional<double> share);  ///< 0.5 -> "50.00 %"; "-" if empty
std::string gbps_text(std::optional<double> gbps);      ///< "403.21 Gb/s"; "-" if empty

}  // namespace flitwise
