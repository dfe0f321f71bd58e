// SPDX-License-Identifier: Apache-2.0
// Waits at queues, what limited requests by them, and latencies.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "results/summary_table.h"
#include "results/tables.h"

namespace flitwise {
namespace {

/// What was waited for; by Little's law the time over the window is the mean length of the queue.
TextTable wait_view(const std::vector<WaitResult>& rows, const RunResult& result) {
  TextTable table({"Waited for", "at", "waits", "time", "mean", "mean length"}, 2);
  for (const WaitResult& wait : rows) {
    if (wait.total > Time{} && result.simulated > Time{}) {
      const Resource& resource = wait.resource;
      table.add(
          resource.name, resource.at + (resource.direction.empty() ? "" : " ") + resource.direction,
          wait.count, wait.total, time_text(wait.total.ns() / static_cast<double>(wait.count)),
          fmt::format("{:.2f}", wait.total.ns() / result.simulated.ns()));
    }
  }
  return table;
}

using Part = Limit ExplainResult::*;
constexpr Part kLimit = &ExplainResult::limit, kNext = &ExplainResult::next;

template <class Value>
auto of(Part part, Value Limit::*member) {
  return [part, member](const ExplainResult& row) {
    const Limit& limit = row.*part;
    return limit.is_empty() ? std::nullopt : std::optional(limit.*member);
  };
}

auto time_of(Part part) {
  return [part](const ExplainResult& row) {
    const Limit& limit = row.*part;
    return limit.is_empty() ? std::nullopt : std::optional(limit.total.ns());
  };
}

// The summary has a line of it, no table.
TextTable explain_view(const std::vector<ExplainResult>& /*rows*/, const RunResult& /*result*/) {
  return TextTable({""});
}

// TLPs that are requests, one each, have the same latencies.
bool says_the_same(const LatencyResult& latency, const std::vector<LatencyResult>& rows) {
  return latency.name == "dma_write_tlp" &&
         std::any_of(rows.begin(), rows.end(), [&](const LatencyResult& one) {
           return one.name == "dma_write" && one.count == latency.count;
         });
}

TextTable latency_view(const std::vector<LatencyResult>& rows, const RunResult& /*result*/) {
  TextTable table({"Latency, ns", "count", "mean", "min", "p50", "p90", "p99", "p99.9", "max"});
  for (const LatencyResult& latency : rows) {
    if (latency.count == 0 || says_the_same(latency, rows)) {
      continue;
    }
    std::vector<std::string> row = {latency.name, with_thousands(latency.count)};
    for (const double ns : {latency.mean, latency.min, latency.p50, latency.p90, latency.p99,
                            latency.p999, latency.max}) {
      row.push_back(fmt::format("{:.1f}", ns));
    }
    table.add_row(row);
  }
  return table;
}

}  // namespace

const StatisticsTable& wait_table() {
  static const auto kTable =
      Table<WaitResult>("waits", "wait",
                        "One row per bounded resource of each instance, and per queue.")
          .name("at", [](const WaitResult& row) { return row.resource.at; })
          .name("resource", [](const WaitResult& row) { return row.resource.name; })
          .name("direction", [](const WaitResult& row) { return row.resource.direction; })
          .name("kind", [](const WaitResult& row) { return row.resource.kind; })
          .text(
              "key", [](const WaitResult& row) { return row.resource.key; },
              "Key of the configuration that sizes the resource; empty: none does.")
          .count(
              "capacity", [](const WaitResult& row) { return row.resource.capacity; },
              "Units of it that there are; 0: without a number.")
          .real_or_none("peak", &WaitResult::peak, "",
                        "Most units in use at a time, where that is counted.")
          .count("waits", &WaitResult::count,
                 "Requests that had to wait for it, and need no longer.")
          .time("wait_ns", &WaitResult::total,
                "All of them together; over the window, the mean length of the queue. For credits, "
                "tags, "
                "handles, outstanding, link_queues, cxl_ids and cxl_lines only the foremost waits.")
          .time("blocked_ns", &WaitResult::blocked, "Time in which at least one waited.")
          .real_or_none("busy", &WaitResult::busy, "1",
                        "Mean share of its units in use, where that is counted.")
          .flat(FlatRows::kSumByName, "wait", {"wait_ns"})
          .flat_by("resource")
          .show(wait_view);
  return kTable;
}

const StatisticsTable& explain_table() {
  static const auto kTable =
      Table<ExplainResult>(
          "explain", "explanation",
          "One row per link of a device, direction and kind of request: what limited them.")
          .name("link", &ExplainResult::link)
          .name("direction", &ExplainResult::direction)
          .name("kind", &ExplainResult::kind)
          .text("limit.at", of(kLimit, &Limit::at),
                "Where the resource is that limits; null: nothing was waited for.")
          .text("limit.resource", of(kLimit, &Limit::resource), "Its name, as in waits[].")
          .text("limit.key", of(kLimit, &Limit::key),
                "Key of the configuration that sizes it; empty: none does.")
          .real_or_none(
              "limit.share", of(kLimit, &Limit::share), "1",
              "Share of the window in which it was in use (the wire, memory, walkers), or in which "
              "requests waited for it.")
          .real_or_none("limit.wait_ns", time_of(kLimit), "ns", "Waits for it, added up.")
          .text("limit.larger", of(kLimit, &Limit::larger),
                "A larger value of the key; empty: there is none.")
          .text("next.at", of(kNext, &Limit::at), "The same of what limits next.")
          .text("next.resource", of(kNext, &Limit::resource), "Its name.")
          .text("next.key", of(kNext, &Limit::key), "Its key.")
          .real_or_none("next.share", of(kNext, &Limit::share), "1", "Its share.")
          .real_or_none("next.wait_ns", time_of(kNext), "ns", "Waits for it.")
          .flat(FlatRows::kNone, "")
          .show(explain_view);
  return kTable;
}

const StatisticsTable& latency_table() {
  static const auto kTable =
      Table<LatencyResult>("latency", "latency", "One row per pair of hops that the run recorded.")
          .name("name", &LatencyResult::name)
          .count("count", &LatencyResult::count, "Latencies recorded.")
          .text(
              "unit", [](const LatencyResult&) { return std::string("ns"); },
              "Unit of the figures behind it.")
          .real("mean", &LatencyResult::mean, "ns", "Exact mean.")
          .real("min", &LatencyResult::min, "ns", "Exact smallest latency.")
          .real("p50", &LatencyResult::p50, "ns", "Median, within 1/64.")
          .real("p90", &LatencyResult::p90, "ns", "90th percentile, within 1/64.")
          .real("p99", &LatencyResult::p99, "ns", "99th percentile, within 1/64.")
          .real("p999", &LatencyResult::p999, "ns", "99.9th percentile, within 1/64.")
          .real("max", &LatencyResult::max, "ns", "Exact largest latency.")
          .flat(FlatRows::kNamed, "")
          .with_flat_units()
          .show(latency_view);
  return kTable;
}

}  // namespace flitwise
