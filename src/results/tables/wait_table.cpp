// SPDX-License-Identifier: Apache-2.0
// Waits at queues.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "results/tables.h"

namespace flitwise {
namespace {

/// Queues that somebody waited at; by Little's law the time over the window is their mean length.
TextTable wait_view(const std::vector<WaitResult>& rows, const RunResult& result) {
  TextTable table({"Queue for", "at", "waits", "time", "mean", "mean length"});
  table.left_align(1);
  for (const WaitResult& wait : rows) {
    if (wait.total > Time{} && result.simulated > Time{}) {
      table.add_row({wait.resource, wait.place, with_thousands(wait.count),
                     time_text(wait.total.ns()),
                     time_text(wait.total.ns() / static_cast<double>(wait.count)),
                     fmt::format("{:.2f}", wait.total.ns() / result.simulated.ns())});
    }
  }
  return table;
}

Table<WaitResult> make_wait_table() {
  return Table<WaitResult>("waits", "wait", "One row per queue: waits that are over.")
      .name("place", &WaitResult::place)
      .name("resource", &WaitResult::resource)
      .count("count", &WaitResult::count, "Waits at this queue that are over.")
      .time("wait_ns", &WaitResult::total,
            "All of them together; over the window, the mean length of the queue. Of outstanding, "
            "link_queues, cxl_ids and cxl_lines only the foremost waits.")
      .flat(FlatRows::kSumByLastName, "wait", {"wait_ns"})
      .show(wait_view);
}

}  // namespace

const StatisticsTable& wait_table() {
  static const Table<WaitResult> kTable = make_wait_table();
  return kTable;
}

}  // namespace flitwise
