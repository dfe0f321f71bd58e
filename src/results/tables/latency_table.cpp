// SPDX-License-Identifier: Apache-2.0
// Latencies.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "results/tables.h"

namespace flitwise {
namespace {

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
