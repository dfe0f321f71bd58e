// SPDX-License-Identifier: Apache-2.0
// Lines, field parsing, and the words for what was wrong.
#include "workload/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace flitwise {

LineReader::LineReader(std::istream& in) : in_(in), buffer_(kLongestLine + 1) {}

LineReader::Status LineReader::next(std::string_view& line) {
  in_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  auto length = static_cast<std::size_t>(in_.gcount());
  if (in_.fail() && length == 0) {
    return Status::kEnd;
  }
  ++line_number_;
  if (in_.fail()) {
    return Status::kTooLong;
  }
  line_was_ended_ = !in_.eof();
  if (line_was_ended_) {
    --length;  // the line end
    length -= length > 0 && buffer_[length - 1] == '\r' ? 1 : 0;
  }
  line = {buffer_.data(), length};
  return Status::kLine;
}

bool FieldCursor::next(std::string_view& field) {
  if (is_done_) {
    column_ = line_.size();
    return false;
  }
  std::size_t comma = line_.find(',', position_);
  is_done_ = comma == std::string_view::npos;
  comma = is_done_ ? line_.size() : comma;
  field = line_.substr(position_, comma - position_);
  field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
  field.remove_suffix(field.size() - (field.find_last_not_of(' ') + 1));
  column_ = static_cast<std::size_t>(field.data() - line_.data());
  position_ = comma + 1;
  return true;
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

void CsvProblems::add(std::uint64_t line, int column, std::string message) {
  constexpr std::uint64_t kMostLines = std::numeric_limits<int>::max();
  if (!is_full()) {
    problems_.push_back(
        {file_, static_cast<int>(std::min(line, kMostLines)), column, "", std::move(message)});
  }
}

void CsvProblems::throw_if_any() const {
  if (!problems_.empty()) {
    throw ConfigError(problems_);
  }
}

bool note_if_broken(const LineReader& lines, CsvProblems& problems) {
  if (lines.is_broken()) {
    problems.add(lines.line_number() + 1, 1,
                 "cannot be read any further; expected a file that can be read to its end");
  }
  return lines.is_broken();
}

bool expect_header(LineReader& lines, std::string_view header, CsvProblems& problems) {
  std::string_view line;
  const LineReader::Status status = lines.next(line);
  if (status == LineReader::Status::kEnd && note_if_broken(lines, problems)) {
    return false;
  }
  if (status == LineReader::Status::kEnd) {
    problems.add(1, 1, fmt::format("the file is empty; expected the header '{}'", header));
    return false;
  }
  if (status == LineReader::Status::kTooLong || line != header) {
    const std::string_view seen = status == LineReader::Status::kLine ? line.substr(0, 60) : "";
    problems.add(1, 1, fmt::format("the first line is '{}'; expected '{}'", seen, header));
    return false;
  }
  return true;
}

}  // namespace flitwise
