// SPDX-License-Identifier: Apache-2.0
/// Reads a user's DMA trace in constant memory, after checking it whole. Format: docs/workloads.md.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "flitwise/time.h"
#include "workload/csv_reader.h"
#include "workload/workload.h"

namespace flitwise {

/// CSV with the header `time_ns,domain,op,address,bytes`. The file is read twice: once here, once
/// while it is replayed; its size does not matter.
class TraceReader final : public Workload {
 public:
  /// Reads the whole file once. Throws ConfigError with the problems of the file, each with line
  /// and column: a wrong header or field, falling times, a domain at or above `domains`, a last
  /// line without its end (a file that was cut off), no line at all.
  TraceReader(const std::string& path, std::uint32_t domains);

  std::uint64_t records() const { return records_; }

  /// The next line; false at the end. Throws ConfigError if the file has changed since it was
  /// checked.
  bool next(WorkItem& item) override;

 private:
  void rewind();
  std::uint64_t check();
  bool parse(WorkItem& item);

  std::string path_;
  std::uint32_t domains_;
  std::ifstream file_;
  std::optional<CsvReader> csv_;
  std::uint64_t records_ = 0;
  std::uint64_t left_ = 0;
  Time last_{};
};

}  // namespace flitwise
