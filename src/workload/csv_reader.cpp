// SPDX-License-Identifier: Apache-2.0
// Line splitting in one buffer, field parsing, and the words for what was wrong.
#include "workload/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace flitwise {

namespace {
constexpr std::size_t kBufferBytes = 64 * 1024;

std::string_view without_carriage_return(std::string_view line) {
  if (!line.empty() && line.back() == '\r') {
    line.remove_suffix(1);
  }
  return line;
}
}  // namespace

LineReader::LineReader(std::istream& in) : in_(in), buffer_(kBufferBytes) {}

bool LineReader::refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  in_.read(buffer_.data() + end_, static_cast<std::streamsize>(buffer_.size() - end_));
  const auto got = static_cast<std::size_t>(in_.gcount());
  end_ += got;
  return got > 0;
}

LineReader::Status LineReader::next(std::string_view& line) {
  while (true) {
    const char* start = buffer_.data() + begin_;
    const std::size_t rest = end_ - begin_;
    const void* found = rest > 0 ? std::memchr(start, '\n', rest) : nullptr;
    const std::size_t length =
        found != nullptr ? static_cast<std::size_t>(static_cast<const char*>(found) - start) : rest;
    if (length > kLongestLine) {
      ++line_number_;
      return Status::kTooLong;
    }
    if (found != nullptr) {
      line = without_carriage_return({start, length});
      begin_ += length + 1;
      ++line_number_;
      line_was_ended_ = true;
      return Status::kLine;
    }
    if (refill()) {
      continue;
    }
    if (rest == 0) {
      return Status::kEnd;
    }
    line = {buffer_.data(), rest};  // refill() has moved the rest to the front.
    begin_ = end_;
    ++line_number_;
    line_was_ended_ = false;
    return Status::kLine;
  }
}

bool FieldCursor::next(std::string_view& field) {
  if (is_done_) {
    column_ = line_.size();
    return false;
  }
  std::size_t comma = line_.find(',', position_);
  is_done_ = comma == std::string_view::npos;
  comma = is_done_ ? line_.size() : comma;
  std::size_t first = position_;
  std::size_t last = comma;
  while (first < last && line_[first] == ' ') {
    ++first;
  }
  while (last > first && line_[last - 1] == ' ') {
    --last;
  }
  column_ = first;
  field = line_.substr(first, last - first);
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

std::optional<double> parse_decimal(std::string_view field) {
  double value = 0;
  const char* end = field.data() + field.size();
  const std::from_chars_result result = std::from_chars(field.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end || !std::isfinite(value)) {
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
