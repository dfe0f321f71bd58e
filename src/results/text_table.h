// SPDX-License-Identifier: Apache-2.0
/// Aligned plain-text tables and numbers with units, for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flitwise/time.h"

namespace flitwise {

/// What is written to has no width, as a file has none.
inline constexpr std::size_t kAnyWidth = 0;

std::string with_thousands(std::uint64_t value);        ///< 1234567 -> "1,234,567"
std::string bytes_text(double bytes);                   ///< "64 B", "1.28 MB" (decimal)
std::string time_text(double ns);                       ///< "12.3 ns", "4.57 us"
std::string percent_text(std::optional<double> share);  ///< 0.5 -> "50.00 %"; "-" if empty
std::string gbps_text(std::optional<double> gbps);      ///< "403.21 Gb/s"; "-" if empty
/// A part of a whole: "12.34 %"; "-" of nothing.
std::string share_text(std::uint64_t part, std::uint64_t whole);
/// Of a cell of a table.
inline std::string as_cell(const std::string& text) {
  return text;
}
inline std::string as_cell(std::uint64_t count) {
  return with_thousands(count);
}
inline std::string as_cell(Time time) {
  return time_text(time.ns());
}

/// Columns are as wide as their widest cell. The first `texts` columns (and any other said to be
/// text) are left-aligned, numbers are right-aligned.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header, std::size_t texts = 1);

  void add_row(std::vector<std::string> cells);
  /// The same of texts, counts and times.
  template <class... Cells>
  void add(const Cells&... cells) {
    add_row({as_cell(cells)...});
  }
  /// Lines behind the table, each with its end.
  void add_note(const std::string& lines) { note_ += lines; }
  void left_align(std::size_t column) { is_text_.at(column) = true; }
  /// The first so many columns name the rows; 1 unless said otherwise.
  void name_rows_by(std::size_t columns) { names_ = columns; }
  bool is_empty() const { return rows_.size() == 1; }
  /// The header first.
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }
  const std::string& note() const { return note_; }
  /// Header and rows, two spaces between columns, no trailing spaces. Where that is wider than
  /// `width`, columns that have no room follow below, behind those that name the rows. Names go
  /// only where a figure would have no room beside all of them; at least one stays.
  std::string text(std::size_t width = kAnyWidth) const;
  /// As a table of Markdown, words of the first column as code.
  std::string markdown() const;

 private:
  void drop_names(std::vector<std::size_t>& names, const std::vector<std::size_t>& widths,
                  std::size_t width) const;
  std::size_t distinct_rows(const std::vector<std::size_t>& columns) const;
  std::string lines_of(const std::vector<std::size_t>& columns,
                       const std::vector<std::size_t>& widths) const;

  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> is_text_;
  std::size_t names_ = 1;
  std::string note_;
};

}  // namespace flitwise
