// SPDX-License-Identifier: Apache-2.0
#include "network/network_result.h"

namespace flitwise {

const StatisticsTable& network_port_table() {
  using Row = NetworkPortResult;
  static const Table<Row> kTable =
      Table<Row>("network.ports", "network_port", "One row per port of a switch between adapters.")
          .name("name", &Row::name)
          .count("bytes", &Row::bytes, "What left by it, with all that Ethernet adds.", "byte")
          .count("packets", &Row::packets, "Frames that left by it.")
          .count("drops", &Row::drops, "Frames for it that its queue had no room for.")
          .count("ce", &Row::ce, "Frames that it has marked; switches do not mark yet: 0.")
          .count("max_queue_bytes", &Row::most_queued,
                 "Most in its queue at a time, with the frame that leaves.", "byte")
          .time("pause_ns", &Row::paused,
                "Time in which its neighbour kept it from sending; none does yet: 0.")
          .flat(FlatRows::kSum, "network", {"bytes", "packets", "drops"});
  return kTable;
}

}  // namespace flitwise
