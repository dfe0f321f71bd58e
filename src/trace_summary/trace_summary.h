// SPDX-License-Identifier: Apache-2.0
/// What a SQLite trace says in short: where transactions spent their time, what wires carried, and
/// the way of the slowest. Times are ps.
#pragma once

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace_summary/transaction_path.h"
#include "trace_summary/wire_book.h"

namespace flitwise {

/// Units of a kind on a wire.
struct UnitCount {
  std::string type;
  std::size_t wire = 0;
  bool is_tlp = false;
  std::uint64_t units = 0;                             ///< sent again or not
  std::uint64_t again = 0, damaged = 0, lost = 0;      ///< of them
  std::uint64_t payload_bytes = 0, identity_bits = 0;  ///< of those that are not sent again
};

/// Transactions of a kind. Latencies: of those that are summed up.
struct TransactionCount {
  std::string type;
  std::uint64_t over = 0, counted = 0;
  std::uint64_t summed = 0;  ///< with a latency
  double mean = 0;
  std::int64_t p50 = 0, p99 = 0, most = 0;
};

struct Stall {
  Cause cause;
  std::int64_t total = 0;
  std::uint64_t transactions = 0;  ///< that waited for it
  std::int64_t most = 0;
  std::uint64_t most_uid = 0;  ///< whose that is
};

struct TraceSummary {
  std::string file;
  std::int64_t first = 0, last = 0;  ///< of all units and transactions
  WireBook wires;
  std::vector<UnitCount> units;
  std::vector<TransactionCount> transactions;
  /// Only those of the measured part of the run are summed up: the trace has some.
  bool is_measured = false;
  std::int64_t total = 0;     ///< sum of the latencies
  std::vector<Stall> stalls;  ///< the largest first; they add up to the total
  std::vector<Transaction> slowest;
};

/// Throws ConfigError where the file is no trace that can be read.
TraceSummary summarise_trace(const std::string& path, std::size_t slowest);
/// One transaction alone. Throws ConfigError, also where it has none of this uid.
struct TracedTransaction {
  std::string file;
  WireBook wires;
  Transaction transaction;
};
TracedTransaction read_transaction(const std::string& path, std::uint64_t uid);

std::string summary_text(const TraceSummary& summary, std::size_t width);
nlohmann::ordered_json summary_json(const TraceSummary& summary);
/// With each unit of it and of its completions.
std::string transaction_text(const TracedTransaction& one, std::size_t width);
nlohmann::ordered_json transaction_json(const TracedTransaction& one);

}  // namespace flitwise
