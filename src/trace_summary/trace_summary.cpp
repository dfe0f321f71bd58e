// SPDX-License-Identifier: Apache-2.0
// Two passes: units, for what wires did; then transactions, each beside its own units.
#include "trace_summary/trace_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>

#include "common/ranges.h"
#include "flitwise/error.h"
#include "trace_summary/trace_database.h"

namespace flitwise {
namespace {

constexpr const char* kUnitColumns =
    "u.link, u.direction, u.type, u.uid, u.first_ps, u.last_ps, u.is_replay, u.is_damaged, "
    "u.is_lost";

Send send_in(const SqliteRow& row, int column, WireBook& wires) {
  return {wires.number_of(row.text(column), row.text(column + 1)),
          row.text(column + 2),
          static_cast<std::uint64_t>(row.count(column + 3)),
          row.count(column + 4),
          row.count(column + 5),
          row.count(column + 6) != 0,
          row.count(column + 7) != 0,
          row.count(column + 8) != 0};
}

/// What the wires carried, and when.
class UnitReader {
 public:
  explicit UnitReader(WireBook& wires) : wires_(wires) {}

  void read(SqliteDatabase& database) {
    database.for_each(fmt::format("SELECT {}, u.tag, u.payload_bytes, u.identity_bits FROM unit u "
                                  "ORDER BY u.rowid",
                                  kUnitColumns),
                      [this](const SqliteRow& row) { add(row); });
    for (std::size_t i = 0; i < wires_.size(); ++i) {
      wires_[i].busy.close();
    }
  }
  std::vector<UnitCount> counts() const {
    return mapped<UnitCount>(counts_, [](const auto& one) { return one.second; });
  }
  std::optional<std::int64_t> first, last;

 private:
  void add(const SqliteRow& row) {
    constexpr int kTag = 9, kPayload = 10, kIdentity = 11;
    const Send send = send_in(row, 0, wires_);
    wires_[send.wire].busy.add(send.first, send.last);
    first = std::min(first.value_or(send.first), send.first);
    last = std::max(last.value_or(send.last), send.last);
    UnitCount& count = counts_[{send.wire, send.type}];
    count.type = send.type;
    count.wire = send.wire;
    count.is_tlp = row.number(kTag).has_value();
    ++count.units;
    count.again += send.is_again ? 1U : 0U;
    count.damaged += send.is_damaged ? 1U : 0U;
    count.lost += send.is_lost ? 1U : 0U;
    if (!send.is_again) {
      count.payload_bytes += static_cast<std::uint64_t>(row.count(kPayload));
      count.identity_bits += static_cast<std::uint64_t>(row.count(kIdentity));
    }
  }

  WireBook& wires_;
  std::map<std::pair<std::size_t, std::string>, UnitCount> counts_;
};

constexpr int kStampColumn = 10, kDoneColumn = kStampColumn + kHops,
              kHandleColumn = kDoneColumn + 1, kSendColumn = kHandleColumn + 1;

Transaction transaction_in(const SqliteRow& row) {
  Transaction one;
  one.uid = static_cast<std::uint64_t>(row.count(1));
  one.type = row.text(2);
  one.requester = row.text(3);
  one.tag = row.number(4);
  one.address = row.count(5);
  one.length_dw = row.count(6);
  one.payload_bytes = row.count(7);
  one.domain = row.count(8);
  one.is_counted = row.count(9) != 0;
  for (int hop = 0; hop < kHops; ++hop) {
    one.stamps[static_cast<std::size_t>(hop)] = row.number(kStampColumn + hop);
  }
  one.done = row.number(kDoneColumn);
  return one;
}

/// In the order of their ends, each with its sends. condition: of a request r.
void each_transaction(SqliteDatabase& database, WireBook& wires, const std::string& condition,
                      const std::function<void(Transaction&&)>& see) {
  const std::string sql = fmt::format(
      "SELECT r.rowid, r.uid, r.type, r.requester_id, r.tag, r.address, r.length_dw, "
      "r.payload_bytes, r.domain, r.is_counted, r.issue_ps, r.handle_ps, r.queued_ps, r.sent_ps, "
      "r.received_ps, r.resolved_ps, r.memory_ps, r.completed_ps, r.done_ps, u.is_handle, {} "
      "FROM request r LEFT JOIN unit u ON u.uid = r.uid {} ORDER BY r.rowid, u.rowid",
      kUnitColumns, condition);
  std::optional<std::int64_t> row_of_it;
  Transaction one;
  database.for_each(sql, [&](const SqliteRow& row) {
    if (row.number(0) != row_of_it) {
      if (row_of_it) {
        see(std::move(one));
      }
      row_of_it = row.number(0);
      one = transaction_in(row);
    }
    if (row.number(kSendColumn + 3)) {
      one.sends.push_back(send_in(row, kSendColumn, wires));
      one.has_handle = row.count(kHandleColumn) != 0;
    }
  });
  if (row_of_it) {
    see(std::move(one));
  }
}

/// Finds the completions of reads: those with its tag that the requester had between the end of the
/// read at memory and its own end. Functions have tags of their own. [LNK-9.8]
class AnswerFinder {
 public:
  AnswerFinder(WireBook& wires, std::vector<Transaction>& transactions)
      : wires_(wires), transactions_(transactions), found_(transactions.size()) {
    for (std::size_t i = 0; i < transactions.size(); ++i) {
      const Transaction& one = transactions[i];
      if (one.stamped(Hop::kCompleted) && one.done && one.tag && !one.sends.empty()) {
        waiting_[{wires.opposite(one.sends.front().wire), *one.tag}].push_back(i);
      }
    }
  }

  void read(SqliteDatabase& database) {
    if (waiting_.empty()) {
      return;
    }
    database.for_each(fmt::format("SELECT {}, u.tag, u.requester_id FROM unit u WHERE u.type IN "
                                  "('Cpl', 'CplD', 'CplLk', 'CplDLk') ORDER BY u.rowid",
                                  kUnitColumns),
                      [this](const SqliteRow& row) { offer(row); });
    for (std::size_t i = 0; i < found_.size(); ++i) {
      for (const std::string& uid : uids_of(i)) {
        database.for_each(fmt::format("SELECT {} FROM unit u WHERE u.uid = {} ORDER BY u.rowid",
                                      kUnitColumns, uid),
                          [this, i](const SqliteRow& row) {
                            transactions_[i].answers.push_back(send_in(row, 0, wires_));
                          });
      }
    }
  }

 private:
  struct Offer {
    std::uint64_t uid;
    std::int64_t last;
    std::string requester;
  };

  void offer(const SqliteRow& row) {
    constexpr int kTag = 9, kRequester = 10;
    const Send send = send_in(row, 0, wires_);
    const auto waiting = waiting_.find({send.wire, row.count(kTag)});
    if (waiting == waiting_.end()) {
      return;
    }
    for (const std::size_t i : waiting->second) {
      const Transaction& one = transactions_[i];
      const auto sent =
          one.stamped(Hop::kMemory) ? one.stamped(Hop::kMemory) : one.stamped(Hop::kReceived);
      if (send.first >= sent.value_or(send.first) && send.last <= *one.done &&
          (one.has_handle || row.text(kRequester) == one.requester)) {
        found_[i].push_back({send.uid, send.last, row.text(kRequester)});
      }
    }
  }
  /// With a handle the read names no function: it is that of the completion that ends it.
  std::vector<std::string> uids_of(std::size_t i) const {
    const auto& offers = found_[i];
    const auto last = std::max_element(
        offers.begin(), offers.end(), [](const auto& a, const auto& b) { return a.last < b.last; });
    std::vector<std::string> uids;
    for (const Offer& offer : offers) {
      const std::string uid = std::to_string(offer.uid);
      if (offer.requester == last->requester && !contains(uids, uid)) {
        uids.push_back(uid);
      }
    }
    return uids;
  }

  WireBook& wires_;
  std::vector<Transaction>& transactions_;
  std::vector<std::vector<Offer>> found_;  // by transaction
  std::map<std::pair<std::size_t, std::int64_t>, std::vector<std::size_t>> waiting_;
};

/// What transactions add up to.
class TransactionSums {
 public:
  TransactionSums(TraceSummary& summary, std::size_t slowest)
      : summary_(summary), slowest_(slowest) {
    for (std::size_t i = 0; i < kCauses; ++i) {
      stalls_[i].cause = static_cast<Cause>(i);
    }
  }

  void add(Transaction&& one) {
    Kind& kind = kinds_[one.type];
    ++kind.over;
    kind.counted += one.is_counted ? 1U : 0U;
    const auto latency = one.latency();
    if (!latency || (summary_.is_measured && !one.is_counted)) {
      return;
    }
    kind.latencies.push_back(*latency);
    summary_.total += *latency;
    add_steps(one);
    keep_if_slow(std::move(one), *latency);
  }
  void finish() {
    for (auto& [type, kind] : kinds_) {
      summary_.transactions.push_back(count_of(type, kind));
    }
    for (const Stall& stall : stalls_) {
      if (stall.total > 0) {
        summary_.stalls.push_back(stall);
      }
    }
    std::stable_sort(summary_.stalls.begin(), summary_.stalls.end(),
                     [](const Stall& a, const Stall& b) { return a.total > b.total; });
  }

 private:
  struct Kind {
    std::uint64_t over = 0, counted = 0;
    std::vector<std::int64_t> latencies;
  };

  void add_steps(const Transaction& one) {
    std::array<std::int64_t, kCauses> spent{};
    for (const PathStep& step : steps_of(one)) {
      std::int64_t busy = 0;
      if (step.cause == Cause::kQueue && step.wire != WireBook::kNone) {
        busy = summary_.wires[step.wire].busy.between(step.from, step.until);
      }
      spent[static_cast<std::size_t>(Cause::kBusy)] += busy;
      spent[static_cast<std::size_t>(step.cause)] += step.took() - busy;
    }
    for (std::size_t i = 0; i < kCauses; ++i) {
      Stall& stall = stalls_[i];
      stall.total += spent[i];
      stall.transactions += spent[i] > 0 ? 1U : 0U;
      if (spent[i] > stall.most) {
        stall.most = spent[i];
        stall.most_uid = one.uid;
      }
    }
  }
  void keep_if_slow(Transaction&& one, std::int64_t latency) {
    auto& slowest = summary_.slowest;
    if (slowest_ == 0 || (slowest.size() == slowest_ && *slowest.back().latency() >= latency)) {
      return;
    }
    if (slowest.size() == slowest_) {
      slowest.pop_back();
    }
    const auto place = std::find_if(slowest.begin(), slowest.end(), [&](const Transaction& other) {
      return *other.latency() < latency;
    });
    slowest.insert(place, std::move(one));
  }
  static TransactionCount count_of(const std::string& type, Kind& kind) {
    TransactionCount count;
    count.type = type;
    count.over = kind.over;
    count.counted = kind.counted;
    count.summed = kind.latencies.size();
    if (!kind.latencies.empty()) {
      auto& all = kind.latencies;
      std::sort(all.begin(), all.end());
      const auto rank = [&all](std::size_t percent) {
        return all[(all.size() * percent + 99) / 100 - 1];
      };
      count.mean = sum_of<double>(all, [](std::int64_t one) { return static_cast<double>(one); }) /
                   static_cast<double>(all.size());
      count.p50 = rank(50);
      count.p99 = rank(99);
      count.most = all.back();
    }
    return count;
  }

  TraceSummary& summary_;
  const std::size_t slowest_;
  std::map<std::string, Kind> kinds_;
  std::array<Stall, kCauses> stalls_;
};

/// What SQLite finds wrong is a flaw of the file.
template <class Read>
auto reading(const std::string& path, const Read& read) {
  try {
    return read();
  } catch (const ConfigError&) {
    throw;
  } catch (const std::runtime_error& error) {
    refuse_trace(path, error.what());
  }
}

TraceSummary summarise(const std::string& path, std::size_t slowest) {
  TraceSummary summary;
  summary.file = path;
  const auto database = open_trace(path);
  UnitReader units(summary.wires);
  units.read(*database);
  summary.units = units.counts();
  database->for_each("SELECT max(is_counted), min(issue_ps), max(done_ps) FROM request",
                     [&](const SqliteRow& row) {
                       summary.is_measured = row.count(0) != 0;
                       const auto issue = row.number(1), done = row.number(2);
                       summary.first = std::min(units.first.value_or(issue.value_or(0)),
                                                issue.value_or(units.first.value_or(0)));
                       summary.last = std::max(units.last.value_or(done.value_or(0)),
                                               done.value_or(units.last.value_or(0)));
                     });
  TransactionSums sums(summary, slowest);
  each_transaction(*database, summary.wires, "",
                   [&sums](Transaction&& one) { sums.add(std::move(one)); });
  sums.finish();
  AnswerFinder(summary.wires, summary.slowest).read(*database);
  return summary;
}

/// Why there is no such transaction.
std::string flaw_of_uid(SqliteDatabase& database, std::uint64_t uid) {
  std::string flaw = fmt::format("nothing in the trace has the uid {}", uid);
  database.for_each(fmt::format("SELECT type FROM unit WHERE uid = {} LIMIT 1", uid),
                    [&](const SqliteRow& row) {
                      flaw = fmt::format(
                          "{} is the uid of a unit, a {}, and of no transaction "
                          "that was over while the trace was written",
                          uid, row.text(0));
                    });
  return flaw;
}

}  // namespace

TraceSummary summarise_trace(const std::string& path, std::size_t slowest) {
  return reading(path, [&] { return summarise(path, slowest); });
}

TracedTransaction read_transaction(const std::string& path, std::uint64_t uid) {
  return reading(path, [&] {
    const auto database = open_trace(path);
    TracedTransaction one;
    one.file = path;
    UnitReader(one.wires).read(*database);
    std::vector<Transaction> found;
    each_transaction(*database, one.wires, fmt::format("WHERE r.uid = {}", uid),
                     [&found](Transaction&& read) { found.push_back(std::move(read)); });
    if (found.empty()) {
      throw ConfigError({{path, 0, 0, "",
                          flaw_of_uid(*database, uid) +
                              "; expected one of those that flitwise trace FILE --slowest N shows, "
                              "or of the table request"}});
    }
    AnswerFinder(one.wires, found).read(*database);
    one.transaction = std::move(found.front());
    return one;
  });
}

}  // namespace flitwise
