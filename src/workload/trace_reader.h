// SPDX-License-Identifier: Apache-2.0
/// Reads a user's DMA trace in constant memory, after checking it whole. Format: docs/workloads.md.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "flitwise/ids.h"
#include "flitwise/time.h"
#include "workload/csv_reader.h"

namespace flitwise {

/// One line of a trace.
struct TraceRecord {
  Time at{};
  DomainId domain{};
  bool is_read = false;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
};

/// CSV with the header `time_ns,domain,op,address,bytes`. The file is read twice: once here, once
/// while it is replayed; its size does not matter.
class TraceReader {
 public:
  /// Reads the whole file once. Throws ConfigError with the problems of the file, each with line
  /// and column: a wrong header or field, falling times, a domain at or above `domains`, a last
  /// line without its end (a file that was cut off), no line at all.
  TraceReader(const std::string& path, std::uint32_t domains);

  std::uint64_t records() const { return records_; }

  /// The next line; false at the end. Throws ConfigError if the file has changed since it was
  /// checked.
  bool next(TraceRecord& record);

 private:
  void rewind();
  std::uint64_t check();
  bool parse(std::string_view line, TraceRecord& record, CsvProblems& problems) const;

  std::string path_;
  std::uint32_t domains_;
  std::ifstream file_;
  std::optional<LineReader> lines_;
  std::uint64_t records_ = 0;
  std::uint64_t left_ = 0;
  Time last_{};
  CsvProblems late_problems_;
};

}  // namespace flitwise
