// SPDX-License-Identifier: Apache-2.0
// Lines, field parsing, and the words for what was wrong.
#include "workload/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace flitwise {

CsvReader::CsvReader(std::istream& in, std::string file, const char* header)
    : in_(in), file_(std::move(file)), header_(header), buffer_(kLongestLine + 1) {
  const bool has_line = next_line();
  if (has_line && line_ == header_) {
    return;
  }
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (is_too_long_) {
    note(1, 1,
         fmt::format("the first line is longer than {} characters; expected '{}'", kLongestLine,
                     header_));
  } else if (has_line && line_.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    note(1, 1,
         fmt::format("the file begins with a byte order mark; expected '{}' at its first byte",
                     header_));
  } else if (has_line) {
    note(1, 1, fmt::format("the first line is '{}'; expected '{}'", line_.substr(0, 60), header_));
  } else if (!note_early_end("")) {
    note(1, 1, fmt::format("the file is empty; expected the header '{}'", header_));
  }
  throw_if_any();
}

bool CsvReader::next_line() {
  in_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  auto length = static_cast<std::size_t>(in_.gcount());
  is_too_long_ = in_.fail() && length != 0;
  line_number_ += in_.fail() && length == 0 ? 0 : 1;
  if (in_.fail()) {
    return false;
  }
  line_was_ended_ = !in_.eof();
  if (line_was_ended_) {
    --length;  // the line end
    length -= length > 0 && buffer_[length - 1] == '\r' ? 1 : 0;
  }
  line_ = {buffer_.data(), length};
  position_ = 0;
  return true;
}

bool CsvReader::next_field() {
  if (position_ > line_.size()) {
    column_ = static_cast<int>(line_.size()) + 1;
    return false;
  }
  const std::size_t comma = std::min(line_.find(',', position_), line_.size());
  field_ = line_.substr(position_, comma - position_);
  field_.remove_prefix(std::min(field_.find_first_not_of(' '), field_.size()));
  field_.remove_suffix(field_.size() - (field_.find_last_not_of(' ') + 1));
  column_ = static_cast<int>(field_.data() - line_.data()) + 1;
  position_ = comma + 1;
  return true;
}

bool CsvReader::take(const char* name, const char* where) {
  field_name_ = name;
  const bool is_there = next_field();
  if (!is_there) {
    note(line_number_, column_, fmt::format("the line ends {}; expected '{}'", where, header_));
  }
  return is_there;
}

bool CsvReader::refuse(const std::string& expected) {
  note(line_number_, column_,
       fmt::format("{} is '{}'; expected {}", field_name_, field_, expected));
  return false;
}

bool CsvReader::expect_end(const char* ordinal) {
  const bool is_end = !next_field();
  if (!is_end) {
    note(line_number_, column_,
         fmt::format("a {} field '{}'; expected '{}'", ordinal, field_, header_));
  }
  return is_end;
}

void CsvReader::note(std::uint64_t line, int column, std::string message) {
  constexpr std::uint64_t kMostLines = std::numeric_limits<int>::max();
  if (problems_.size() < kMostProblems) {
    problems_.push_back(
        {file_, static_cast<int>(std::min(line, kMostLines)), column, "", std::move(message)});
  } else {
    ++more_problems_;
  }
}

bool CsvReader::note_early_end(const char* too_long) {
  if (is_too_long_) {
    note(line_number_, 1, too_long);
  } else if (in_.bad()) {
    note(line_number_ + 1, 1,
         "cannot be read any further; expected a file that can be read to its end");
  }
  return is_too_long_ || in_.bad();
}

void CsvReader::throw_if_any() const {
  if (problems_.empty()) {
    return;
  }
  std::vector<Problem> told = problems_;
  if (more_problems_ > 0) {
    told.push_back({file_, 0, 0, "", fmt::format("and {} more", more_problems_)});
  }
  throw ConfigError(told);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view field) {
  int base = 10;
  if (field.size() > 2 && field[0] == '0' && (field[1] == 'x' || field[1] == 'X')) {
    base = 16;
    field.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const char* end = field.data() + field.size();
  const std::from_chars_result result = std::from_chars(field.data(), end, value, base);
  if (result.ec != std::errc{} || result.ptr != end) {
    return std::nullopt;
  }
  return value;
}

}  // namespace flitwise
