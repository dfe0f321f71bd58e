// SPDX-License-Identifier: Apache-2.0
// Waits at queues.
#include <fmt/format.h>

#include <string>
#include <vector>

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

}  // namespace flitwise
