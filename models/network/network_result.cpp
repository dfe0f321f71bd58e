// SPDX-License-Identifier: Apache-2.0
#include "network/network_result.h"

#include <fmt/format.h>

#include <algorithm>

namespace flitwise {
namespace {

constexpr std::size_t kPortsShown = 12;

// Of many ports those with the longest queues.
TextTable port_view(const std::vector<NetworkPortResult>& rows, const RunResult& /*result*/) {
  std::vector<const NetworkPortResult*> shown;
  for (const NetworkPortResult& row : rows) {
    shown.push_back(&row);
  }
  const std::size_t count = std::min(kPortsShown, shown.size());
  if (count < shown.size()) {
    std::stable_sort(shown.begin(), shown.end(),
                     [](const auto* a, const auto* b) { return a->most_queued > b->most_queued; });
  }
  TextTable table(
      {"network port", "to", "bytes", "packets", "drops", "marked", "longest queue", "paused"}, 2);
  for (std::size_t i = 0; i < count; ++i) {
    const NetworkPortResult& row = *shown[i];
    table.add(row.name, row.to, bytes_text(static_cast<double>(row.bytes)), row.packets, row.drops,
              row.ce, bytes_text(static_cast<double>(row.most_queued)), row.paused);
  }
  if (count < shown.size()) {
    table.add_note(fmt::format("Of {} ports, those with the longest queues.\n", shown.size()));
  }
  return table;
}

}  // namespace

const StatisticsTable& network_port_table() {
  using Row = NetworkPortResult;
  static const Table<Row> kTable =
      Table<Row>("network.ports", "network_port",
                 "One row per port of a switch between adapters or hosts.")
          .name("name", &Row::name)
          .text("to", &Row::to, "Host, device or switch at the other end of its link.")
          .count("bytes", &Row::bytes, "What left by it, with all that Ethernet adds.", "byte")
          .count("packets", &Row::packets, "Frames that left by it.")
          .count("drops", &Row::drops,
                 "Frames for it that were dropped: without room, early, by chance, by a dead link.")
          .count("ce", &Row::ce, "Frames that it has marked (ECN).")
          .count("max_queue_bytes", &Row::most_queued,
                 "Most in its queue at a time, with the frame that leaves.", "byte")
          .time("pause_ns", &Row::paused, "Time in which its neighbour kept it from sending (PFC).")
          .flat(FlatRows::kSum, "network", {"bytes", "packets", "drops", "ce"})
          .show(port_view);
  return kTable;
}

// It follows from the ports behind that are full.
WaitResult pause_wait(const std::string& at, StallCount pauses) {
  return {{at, "pause", ResourceRole::kQueue, "down", "write", "network.switch.queue"},
          pauses.count,
          pauses.time,
          pauses.time};
}

}  // namespace flitwise
