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

/// Lines of a stream through one fixed buffer, and the fields of each. Both LF and CRLF end a line.
/// Problems are bounded: a file of rubbish gives kMostProblems and how many more there are.
class CsvReader {
 public:
  static constexpr std::size_t kLongestLine = 1024;  ///< characters; longer is not a line of data
  static constexpr std::size_t kMostProblems = 50;

  /// Throws ConfigError where the first line is not `header`. `file`: its name in problems.
  CsvReader(std::istream& in, std::string file, const char* header);

  /// False after the last line, and at one that is too long.
  bool next_line();
  /// Number of the line last given, from 1.
  std::uint64_t line_number() const { return line_number_; }
  /// The line without its end; the view holds until the next one.
  std::string_view line() const { return line_; }
  /// False if the line was cut off by the end of the file.
  bool line_was_ended() const { return line_was_ended_; }

  /// The next field of the line, which is called so. False, with a problem noted, where the line
  /// ends `where` instead: "before bytes".
  bool take(const char* name, const char* where);
  /// Without surrounding blanks.
  std::string_view field() const { return field_; }
  /// Notes what the field should have been. Always false.
  bool refuse(const std::string& expected);
  /// False, with a problem noted, where there is one more field: "sixth".
  bool expect_end(const char* ordinal);

  void note(std::uint64_t line, int column, std::string message);
  /// After the last line: notes one that was too long, or that the file could not be read to its
  /// end. False if all was read.
  bool note_early_end(const char* too_long);
  bool has_problems() const { return !problems_.empty(); }
  /// Throws ConfigError if anything was noted.
  void throw_if_any() const;

 private:
  bool next_field();

  std::istream& in_;
  const std::string file_;
  const char* const header_;
  std::vector<char> buffer_;
  std::uint64_t line_number_ = 0;
  bool line_was_ended_ = true, is_too_long_ = false;
  std::string_view line_, field_;
  const char* field_name_ = "";
  std::size_t position_ = 0;  ///< first character of the line not yet read; beyond it: none is left
  int column_ = 1;            ///< of the field; after the last one, of the line's end
  std::vector<Problem> problems_;
  std::uint64_t more_problems_ = 0;  // that are not told
};

/// The whole field as an unsigned number, decimal or with 0x hexadecimal.
std::optional<std::uint64_t> parse_unsigned(std::string_view field);

}  // namespace flitwise
