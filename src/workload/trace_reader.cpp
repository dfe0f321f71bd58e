// SPDX-License-Identifier: Apache-2.0
// Parses the fields of a trace line and checks the file before it is replayed.
#include "workload/trace_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <limits>

#include "flitwise/error.h"

namespace flitwise {

namespace {

constexpr Time kNotRead{-1};  // no line has a time below 0
constexpr std::string_view kHeader = "time_ns,domain,op,address,bytes";
constexpr const char* kFieldNames[] = {"time_ns", "domain", "op", "address", "bytes"};
constexpr std::int64_t kFsPerNs = 1'000'000;
constexpr std::uint64_t kMostNs = 9'000'000'000'000;  ///< 9,000 s; below the range of Time

/// Nanoseconds with up to six decimals, exact to the femtosecond.
std::optional<Time> parse_time(std::string_view field) {
  const std::size_t point = field.find('.');
  std::uint64_t whole = 0;
  const std::string_view front = field.substr(0, point);
  const auto read = std::from_chars(front.data(), front.data() + front.size(), whole);
  if (read.ec != std::errc{} || read.ptr != front.data() + front.size() || whole > kMostNs) {
    return std::nullopt;
  }
  std::int64_t fs = static_cast<std::int64_t>(whole) * kFsPerNs;
  if (point != std::string_view::npos) {
    const std::string_view decimals = field.substr(point + 1);
    if (decimals.empty() || decimals.size() > 6) {
      return std::nullopt;
    }
    std::int64_t weight = kFsPerNs;
    for (const char digit : decimals) {
      if (digit < '0' || digit > '9') {
        return std::nullopt;
      }
      weight /= 10;
      fs += (digit - '0') * weight;
    }
  }
  return Time{fs};
}

/// Takes the fields of a line one after the other and notes the first thing wrong.
class RecordParser {
 public:
  RecordParser(std::string_view line, std::uint64_t number, CsvProblems& problems)
      : fields_(line), number_(number), problems_(problems) {}

  bool take() {
    if (fields_.next(field_)) {
      ++taken_;
      return true;
    }
    return refuse(
        fmt::format("the line ends before {}; expected '{}'", kFieldNames[taken_], kHeader));
  }
  bool take_last() {
    if (!fields_.next(field_)) {
      return true;
    }
    return refuse(fmt::format("a sixth field '{}'; expected '{}'", field_, kHeader));
  }
  bool refuse_field(const std::string& expected) {
    return refuse(
        fmt::format("{} is '{}'; expected {}", kFieldNames[taken_ - 1], field_, expected));
  }
  std::string_view field() const { return field_; }

 private:
  bool refuse(std::string message) {
    problems_.add(number_, fields_.column(), std::move(message));
    return false;
  }

  FieldCursor fields_;
  std::string_view field_;
  std::uint64_t number_;
  unsigned taken_ = 0;
  CsvProblems& problems_;
};

bool parse_op(RecordParser& parser, TraceRecord& record) {
  record.is_read = parser.field() == "read";
  return record.is_read || parser.field() == "write" || parser.refuse_field("read or write");
}

bool parse_address(RecordParser& parser, TraceRecord& record) {
  const auto address = parse_unsigned(parser.field());
  record.address = address.value_or(0);
  return address || parser.refuse_field("a byte address, decimal or 0x hexadecimal");
}

bool parse_bytes(RecordParser& parser, TraceRecord& record) {
  const auto bytes = parse_unsigned(parser.field());
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (!bytes || *bytes == 0 || *bytes > kMost) {
    return parser.refuse_field(fmt::format("1 to {} bytes", kMost));
  }
  if (*bytes - 1 > std::numeric_limits<std::uint64_t>::max() - record.address) {
    return parser.refuse_field("an end within the 64-bit address space");
  }
  record.bytes = static_cast<std::uint32_t>(*bytes);
  return true;
}

}  // namespace

TraceReader::TraceReader(const std::string& path, std::uint32_t domains)
    : path_(path), domains_(domains), late_problems_(path) {
  if (path.empty()) {
    throw ConfigError({{"config", 0, 0, "workload.trace", "is empty; expected a CSV file"}});
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw ConfigError({{path, 0, 0, "",
                        std::filesystem::exists(path, error)
                            ? "is no regular file; expected one, for it is read twice"
                            : "does not exist; expected a CSV file"}});
  }
  records_ = check();
  left_ = records_;
  rewind();
}

void TraceReader::rewind() {
  lines_.reset();
  file_.close();
  file_.clear();
  file_.open(path_, std::ios::binary);
  if (!file_) {
    throw ConfigError({{path_, 0, 0, "", "cannot be read; expected a readable CSV file"}});
  }
  lines_.emplace(file_);
  if (!expect_header(*lines_, kHeader, late_problems_)) {
    late_problems_.throw_if_any();
  }
}

std::uint64_t TraceReader::check() {
  rewind();
  CsvProblems problems(path_);
  TraceRecord record;
  Time before{};
  std::string_view line;
  std::uint64_t count = 0;
  LineReader::Status status = lines_->next(line);
  for (; status == LineReader::Status::kLine && !problems.is_full(); status = lines_->next(line)) {
    ++count;
    if (!lines_->line_was_ended()) {
      problems.add(lines_->line_number(), static_cast<int>(line.size()) + 1,
                   "the file ends in the middle of a line; expected a line end (is it cut off?)");
      continue;
    }
    record.at = kNotRead;
    parse(line, record, problems);
    if (record.at == kNotRead) {
      continue;
    }
    if (record.at < before) {  // told even where another field of the line is wrong
      problems.add(lines_->line_number(), 1,
                   fmt::format("time_ns is {}; expected at least {}, the time of the line before",
                               record.at.ns(), before.ns()));
    }
    before = record.at;
  }
  if (status == LineReader::Status::kTooLong) {
    problems.add(lines_->line_number(), 1,
                 fmt::format("the line is longer than {} characters; expected '{}'",
                             LineReader::kLongestLine, kHeader));
  } else if (!note_if_broken(*lines_, problems) && count == 0) {
    problems.add(2, 1, "the trace has no line after its header; expected at least one");
  }
  problems.throw_if_any();
  return count;
}

bool TraceReader::parse(std::string_view line, TraceRecord& record, CsvProblems& problems) const {
  RecordParser parser(line, lines_->line_number(), problems);
  if (!parser.take()) {
    return false;
  }
  const auto at = parse_time(parser.field());
  if (!at) {
    return parser.refuse_field(fmt::format("nanoseconds, 0 to {}, with up to 6 decimals", kMostNs));
  }
  record.at = *at;
  if (!parser.take()) {
    return false;
  }
  const auto domain = parse_unsigned(parser.field());
  if (!domain || *domain >= domains_) {
    return parser.refuse_field(
        fmt::format("0 to {} (workload.domains is {})", domains_ - 1, domains_));
  }
  record.domain = DomainId{static_cast<std::uint32_t>(*domain)};
  return parser.take() && parse_op(parser, record) && parser.take() &&
         parse_address(parser, record) && parser.take() && parse_bytes(parser, record) &&
         parser.take_last();
}

bool TraceReader::next(TraceRecord& record) {
  if (left_ == 0) {
    return false;
  }
  std::string_view line;
  if (lines_->next(line) != LineReader::Status::kLine || !lines_->line_was_ended() ||
      !parse(line, record, late_problems_) || record.at < last_) {
    late_problems_.add(lines_->line_number(), 1,
                       "the file changed after it was checked; expected it to stay as it was");
    late_problems_.throw_if_any();
  }
  last_ = record.at;
  --left_;
  return true;
}

}  // namespace flitwise
