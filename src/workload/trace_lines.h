// SPDX-License-Identifier: Apache-2.0
/// Lines of a CSV file that begin with a time which does not fall, in constant memory: the file is
/// read once to check it whole, and once while it is replayed.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "flitwise/error.h"
#include "flitwise/time.h"
#include "workload/csv_reader.h"

namespace flitwise {

inline constexpr Time kNoTraceTime{-1};  ///< no line has a time below 0

/// Throws ConfigError where it is no file that can be read twice.
void check_trace_file(const std::string& path);

template <class Item>
class TraceLines {
 public:
  /// Reads the fields of a line, and notes what is wrong with them: false. `at`: its time, or
  /// kNoTraceTime.
  using Parse = std::function<bool(CsvReader& csv, Item& item, Time& at)>;

  /// Throws ConfigError with the problems of the file, each with line and column: those of parse, a
  /// wrong header, falling times, a last line without its end (a file that was cut off), no line.
  TraceLines(std::string path, const char* header, Parse parse)
      : path_(std::move(path)), header_(header), parse_(std::move(parse)), left_(check()) {
    rewind();
  }

  /// Of the whole file, if asked before the first next().
  std::uint64_t left() const { return left_; }
  /// The next line; false at the end. Throws ConfigError if the file has changed since it was
  /// checked.
  bool next(Item& item) {
    if (left_ == 0) {
      return false;
    }
    Time at = kNoTraceTime;
    if (!csv_->next_line() || !csv_->line_was_ended() || !parse_(*csv_, item, at) || at < last_) {
      csv_->note(csv_->line_number(), 1,
                 "the file changed after it was checked; expected it to stay as it was");
      csv_->throw_if_any();
    }
    last_ = at;
    --left_;
    return true;
  }

 private:
  void rewind() {
    file_ = std::ifstream(path_, std::ios::binary);
    if (!file_) {
      throw ConfigError({{path_, 0, 0, "", "cannot be read; expected a readable CSV file"}});
    }
    csv_.emplace(file_, path_, header_);
  }
  std::uint64_t check();

  std::string path_;
  const char* header_;
  Parse parse_;
  std::ifstream file_;
  std::optional<CsvReader> csv_;
  Time last_{};
  std::uint64_t left_;
};

template <class Item>
std::uint64_t TraceLines<Item>::check() {
  check_trace_file(path_);
  rewind();
  Time before{};
  std::uint64_t count = 0;
  while (csv_->next_line()) {
    ++count;
    if (!csv_->line_was_ended()) {
      csv_->note(csv_->line_number(), static_cast<int>(csv_->line().size()) + 1,
                 "the file ends in the middle of a line; expected a line end (is it cut off?)");
      continue;
    }
    Item item{};
    Time at = kNoTraceTime;
    parse_(*csv_, item, at);
    if (at == kNoTraceTime) {
      continue;
    }
    if (at < before) {  // told even where another field of the line is wrong
      csv_->note(csv_->line_number(), 1,
                 fmt::format("time_ns is {}; expected at least {}, the time of the line before",
                             at.ns(), before.ns()));
    }
    before = at;
  }
  const std::string too_long = fmt::format("the line is longer than {} characters; expected '{}'",
                                           CsvReader::kLongestLine, header_);
  if (!csv_->note_early_end(too_long.c_str()) && count == 0) {
    csv_->note(2, 1, "the trace has no line after its header; expected at least one");
  }
  csv_->throw_if_any();
  return count;
}

/// The fields of a line, one behind the other: a wrong one does not hide those behind it, but a
/// line of one wrong word is no list of fields.
class TraceFields {
 public:
  explicit TraceFields(CsvReader& csv) : csv_(csv) {}

  /// The first field, nanoseconds with up to six decimals.
  bool time(Time& at);
  /// The next one. parse() says whether it is right, and notes what is not.
  template <class Parse>
  bool take(const char* name, const char* where, const Parse& parse) {
    const bool is_there = csv_.take(name, where);
    is_right_ = is_there && parse() && is_right_;
    return is_there;
  }
  bool end(const char* ordinal) { return csv_.expect_end(ordinal) && is_right_; }

 private:
  CsvReader& csv_;
  bool is_right_ = true;
};

}  // namespace flitwise
