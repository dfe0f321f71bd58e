// SPDX-License-Identifier: Apache-2.0
/// Reads CSV files line by line in constant memory and says exactly where a line is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flitwise/error.h"

namespace flitwise {

/// Lines of a stream through one fixed buffer. Both LF and CRLF end a line.
class LineReader {
 public:
  enum class Status { kLine, kEnd, kTooLong };
  static constexpr std::size_t kLongestLine = 1024;  ///< characters; longer is not a line of data

  explicit LineReader(std::istream& in);

  /// The next line without its end; the view holds until the next call.
  Status next(std::string_view& line);
  /// Number of the line last given, from 1.
  std::uint64_t line_number() const { return line_number_; }
  /// True after kEnd where reading failed on the way: that was not the end.
  bool is_broken() const { return in_.bad(); }
  /// False if the line last given was cut off by the end of the file.
  bool line_was_ended() const { return line_was_ended_; }

 private:
  std::istream& in_;
  std::vector<char> buffer_;
  std::uint64_t line_number_ = 0;
  bool line_was_ended_ = true;
};

/// Walks the fields of one line. Columns count from 1.
class FieldCursor {
 public:
  explicit FieldCursor(std::string_view line) : line_(line) {}

  /// The next field, without surrounding blanks; false after the last one.
  bool next(std::string_view& field);
  /// Column of the first character of the field last given; after the last one, the line's end.
  int column() const { return static_cast<int>(column_) + 1; }

 private:
  std::string_view line_;
  std::size_t position_ = 0;  ///< first character not yet read
  std::size_t column_ = 0;
  bool is_done_ = false;
};

/// The whole field as an unsigned number, decimal or with 0x hexadecimal.
std::optional<std::uint64_t> parse_unsigned(std::string_view field);

/// Collects what is wrong with one file. Bounded: a file of rubbish gives kMost problems, not
/// millions.
class CsvProblems {
 public:
  static constexpr std::size_t kMost = 50;

  explicit CsvProblems(std::string file) : file_(std::move(file)) {}

  void add(std::uint64_t line, int column, std::string message);
  bool is_full() const { return problems_.size() >= kMost; }
  bool empty() const { return problems_.empty(); }
  /// Throws ConfigError if anything was added.
  void throw_if_any() const;

 private:
  std::string file_;
  std::vector<Problem> problems_;
};

/// After kEnd: notes a problem, and returns true, where the file could not be read to its end.
bool note_if_broken(const LineReader& lines, CsvProblems& problems);

/// Reads the first line and compares it with `header`. False, with a problem noted, if it is
/// anything else.
bool expect_header(LineReader& lines, std::string_view header, CsvProblems& problems);

}  // namespace flitwise
