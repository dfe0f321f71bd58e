// SPDX-License-Identifier: Apache-2.0
/// Reads a user's DMA trace in constant memory, after checking it whole. Format: docs/workloads.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flitwise/time.h"
#include "workload/trace_lines.h"
#include "workload/workload.h"

namespace flitwise {

/// Where the requests of a trace may go: memory, and BARs of peers. Without limits at first.
struct TraceReach {
  /// Bytes of memory that the host keeps from them.
  struct Kept {
    std::uint64_t first = 0, last = 0;
    bool takes_interrupts = false;  ///< aligned writes of 4 bytes are interrupts there [LNK-9.22]
    std::string words = {};         ///< what that is, with its key
    bool is_touched_by(std::uint64_t address, std::uint64_t bytes) const {
      return address <= last && (address >= first || bytes > first - address);
    }
  };
  std::uint64_t first = 0, last = ~std::uint64_t{0};  ///< bytes of memory
  bool has_peers = false;                             ///< there are BARs from kFirstBar on
  std::string words = {};                             ///< what that is, with its key
  std::vector<Kept> kept = {};

  /// Of one device's configuration; `host`: that of its root port. has_peers: it is below a switch.
  static TraceReach of(const Config& device, const HostConfig& host, bool has_peers);
  bool contains(std::uint64_t address, std::uint64_t bytes = 1) const;
  /// What keeps bytes of the request from it; null where nothing does.
  const Kept* keeper_of(Op op, std::uint64_t address, std::uint64_t bytes) const;
};

/// CSV with the header `time_ns,domain,op,address,bytes`. The file is read twice: once here, once
/// while it is replayed; its size does not matter. `flitwise run` has had it checked with the reach
/// before (config/traces.h).
class TraceReader final : public Workload {
 public:
  /// Reads the whole file once. Throws ConfigError with the problems of the file, each with line
  /// and column: a wrong header or field, falling times, a domain at or above `domains`, bytes out
  /// of reach, a last line without its end (a file that was cut off), no line at all.
  TraceReader(const std::string& path, std::uint32_t domains, TraceReach reach = {});

  std::uint64_t records() const { return records_; }

  /// The next line; false at the end. Throws ConfigError if the file has changed since it was
  /// checked.
  bool next(WorkItem& item) override {
    item = WorkItem{};
    return lines_.next(item);
  }
  std::uint64_t left() const override { return lines_.left(); }

 private:
  TraceLines<WorkItem> lines_;
  std::uint64_t records_;
};

}  // namespace flitwise
