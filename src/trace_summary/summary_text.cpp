// SPDX-License-Identifier: Apache-2.0
// The summary for people.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "common/printable.h"
#include "common/ranges.h"
#include "results/text_table.h"
#include "trace_summary/trace_summary.h"

namespace flitwise {
namespace {

double ns_of(std::int64_t ps) {
  return static_cast<double>(ps) / 1000;
}
std::string time_of(std::int64_t ps) {
  return time_text(ns_of(ps));
}
std::string share_of(std::int64_t part, std::int64_t whole) {
  return share_text(static_cast<std::uint64_t>(part), static_cast<std::uint64_t>(whole));
}

std::string name_of(const Transaction& one) {
  std::string name = fmt::format("#{} {}", one.uid, one.type);
  if (one.length_dw > 0) {
    name += fmt::format(" tag {} from {}{}", one.tag.value_or(0), one.has_handle ? "handle " : "",
                        one.requester);
  }
  name += fmt::format(" at {:#x}", static_cast<std::uint64_t>(one.address));
  if (one.length_dw > 0) {
    name += fmt::format(", {} DW", one.length_dw);
  }
  return name + fmt::format(", domain {}", one.domain);
}

/// "rp0-ep0 up, busy 12.3 ns": of that time with others
std::string awaited(const PathStep& step, const WireBook& wires) {
  const Wire& wire = wires[step.wire];
  const std::int64_t busy = wire.busy.between(step.from, step.until);
  return busy == 0 ? wire.name() : fmt::format("{}, busy {}", wire.name(), time_of(busy));
}

std::string text_of(const PathStep& step, const WireBook& wires) {
  if (step.cause == Cause::kReceiver && step.is_answer) {
    return "flight, receiver, requester";
  }
  if (step.wire == WireBook::kNone) {
    return flitwise::text_of(step.cause);
  }
  const char* const whose = step.is_answer ? "completion " : "";
  switch (step.cause) {
    case Cause::kWire: return fmt::format("{}on {}", whose, wires[step.wire].name());
    case Cause::kAgain: return fmt::format("{}sent again on {}", whose, wires[step.wire].name());
    case Cause::kSwitch:
      return fmt::format("{}through a switch to {}", whose, awaited(step, wires));
    case Cause::kAnswer: return fmt::format("completion made, wait for {}", awaited(step, wires));
    default: return fmt::format("wait for {}", awaited(step, wires));
  }
}

/// From the issue on; its last line ends at the latency.
std::string path_text(const Transaction& one, const WireBook& wires, std::size_t width) {
  const auto latency = one.latency();
  std::string text = fmt::format("{}: {}\n", name_of(one),
                                 latency ? time_of(*latency) : "its end is not in the trace");
  if (!latency) {
    return text;
  }
  const std::int64_t issue = *one.stamped(Hop::kIssue);
  TextTable table({"until ns", "takes ns", "step"}, 0);
  table.left_align(2);
  for (const PathStep& step : steps_of(one)) {
    table.add_row({fmt::format("{:.3f}", ns_of(step.until - issue)),
                   fmt::format("{:.3f}", ns_of(step.took())), text_of(step, wires)});
  }
  return text + table.text(width);
}

TextTable transactions_table(const TraceSummary& summary) {
  TextTable table({"transactions", "over", "measured", "mean", "p50", "p99", "most"});
  for (const TransactionCount& one : summary.transactions) {
    if (one.summed == 0) {
      table.add(one.type, one.over, one.counted, std::string("-"), std::string("-"),
                std::string("-"), std::string("-"));
    } else {
      table.add(one.type, one.over, one.counted, time_text(one.mean / 1000), time_of(one.p50),
                time_of(one.p99), time_of(one.most));
    }
  }
  return table;
}

TextTable stalls_table(const TraceSummary& summary) {
  const auto summed = sum_of<std::uint64_t>(summary.transactions, &TransactionCount::summed);
  TextTable table({"where their time goes", "share", "mean", "waited", "most", "of"});
  for (const Stall& stall : summary.stalls) {
    table.add(std::string(flitwise::text_of(stall.cause)), share_of(stall.total, summary.total),
              time_text(ns_of(stall.total) / static_cast<double>(summed)), stall.transactions,
              time_of(stall.most), fmt::format("#{}", stall.most_uid));
  }
  return table;
}

/// The busiest first.
TextTable wires_table(const TraceSummary& summary) {
  constexpr std::size_t kMostRows = 20;
  TextTable table({"wire", "busy", "TLPs", "again", "bad", "payload", "goodput"});
  const WireBook& wires = summary.wires;
  const std::int64_t span = summary.last - summary.first;
  std::vector<std::size_t> order(wires.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&wires](std::size_t a, std::size_t b) {
    return std::pair(-wires[a].busy.total(), wires[a].name()) <
           std::pair(-wires[b].busy.total(), wires[b].name());
  });
  if (order.size() > kMostRows) {
    table.add_note(
        fmt::format("The busiest {} of {} wires; --json has all.\n", kMostRows, order.size()));
    order.resize(kMostRows);
  }
  for (const std::size_t wire : order) {
    const auto own =
        those(summary.units, [wire](const UnitCount& count) { return count.wire == wire; });
    const auto sum = [&own](auto of) { return sum_of<std::uint64_t>(own, of); };
    const auto payload = static_cast<double>(sum(&UnitCount::payload_bytes));
    table.add(wires[wire].name(), share_of(wires[wire].busy.total(), span),
              sum([](const UnitCount& one) { return one.is_tlp ? one.units - one.again : 0; }),
              sum(&UnitCount::again),
              sum([](const UnitCount& one) { return one.damaged + one.lost; }), bytes_text(payload),
              gbps_text(span > 0 ? payload * 8 / ns_of(span) : 0));
  }
  return table;
}

TextTable kinds_table(const TraceSummary& summary) {
  std::map<std::string, UnitCount> kinds;
  for (const UnitCount& count : summary.units) {
    UnitCount& kind = kinds[count.type];
    kind.units += count.units;
    kind.again += count.again;
    kind.damaged += count.damaged + count.lost;
    kind.payload_bytes += count.payload_bytes;
    kind.identity_bits += count.identity_bits;
  }
  TextTable table({"units", "count", "again", "bad", "payload", "identity"});
  for (const auto& [type, kind] : kinds) {
    table.add(type, kind.units, kind.again, kind.damaged,
              bytes_text(static_cast<double>(kind.payload_bytes)),
              bytes_text(static_cast<double>(kind.identity_bits) / 8));
  }
  return table;
}

std::string fate_of(const Send& send) {
  std::string fate = send.is_again ? "sent again" : "";
  for (const auto& [is_so, word] :
       {std::pair(send.is_damaged, "damaged"), {send.is_lost, "lost"}}) {
    if (is_so) {
      fate += fate.empty() ? word : std::string(", ") + word;
    }
  }
  return fate;
}

}  // namespace

std::string summary_text(const TraceSummary& summary, std::size_t width) {
  const auto units = sum_of<std::uint64_t>(summary.units, &UnitCount::units);
  const auto over = sum_of<std::uint64_t>(summary.transactions, &TransactionCount::over);
  std::string text = fmt::format(
      "{}: {} units on {} wires, {} transactions\nfrom {:.3f} ns to {:.3f} ns{}\n",
      printable(summary.file), with_thousands(units), summary.wires.size(), with_thousands(over),
      ns_of(summary.first), ns_of(summary.last),
      over == 0             ? ""
      : summary.is_measured ? "; times are of measured transactions"
                            : "; times are of all transactions, since none is measured");
  for (const TextTable& table : {transactions_table(summary), stalls_table(summary),
                                 wires_table(summary), kinds_table(summary)}) {
    if (!table.is_empty()) {
      text += "\n" + table.text(width);
    }
  }
  if (!summary.slowest.empty()) {
    text += fmt::format("\nThe slowest {}, from their issue on:\n", summary.slowest.size());
  }
  for (const Transaction& one : summary.slowest) {
    text += "\n" + path_text(one, summary.wires, width);
  }
  return text;
}

std::string transaction_text(const TracedTransaction& one, std::size_t width) {
  const Transaction& own = one.transaction;
  const std::int64_t issue = own.stamped(Hop::kIssue).value_or(0);
  TextTable table({"on the wire", "unit", "first ns", "last ns", "fate"}, 2);
  table.left_align(4);
  for (const auto* const sends : {&own.sends, &own.answers}) {
    for (const Send& send : *sends) {
      table.add_row({one.wires[send.wire].name(), fmt::format("#{} {}", send.uid, send.type),
                     fmt::format("{:.3f}", ns_of(send.first - issue)),
                     fmt::format("{:.3f}", ns_of(send.last - issue)), fate_of(send)});
    }
  }
  std::string text = path_text(own, one.wires, width) +
                     fmt::format("issued at {:.3f} ns{}\n", ns_of(issue),
                                 own.is_counted ? ", measured" : ", not measured");
  return table.is_empty() ? text : text + "\n" + table.text(width);
}

}  // namespace flitwise
