// SPDX-License-Identifier: Apache-2.0
#include "network/srdma_result.h"

namespace flitwise {

const StatisticsTable& srdma_table() {
  using Row = SrdmaSessionResult;
  static const Table<Row> kTable =
      Table<Row>("srdma", "srdma_session",
                 "One row per session of each group that has sent, at each of its ends.")
          .name("device", &Row::device)
          .name(
              "group", [](const Row& row) { return std::to_string(row.group); }, "session_group")
          .as_number()
          .name(
              "id", [](const Row& row) { return std::to_string(row.id); }, "session")
          .as_number()
          .group("sessions")
          .count("src_port", &Row::source_port, "UDP port at this end.")
          .count("dst_port", &Row::destination_port, "UDP port at the other end.")
          .real("weight", &Row::weight, "", "At the end: 0 to 1, the higher the more congested.")
          .real("level", &Row::level, "", "At the end: 0 is not congested, 1 is full.")
          .text("state", &Row::state, "active, draining or closed.")
          .count("packets", &Row::packets, "Requests sent by it, those sent again included.")
          .count("bytes", &Row::bytes, "The same in bytes on the wire.", "byte")
          .count("losses", &Row::losses, "Packets of it that were declared lost.")
          .count("echoes", &Row::echoes, "Echoes of its packets.")
          .count("ce_echoes", &Row::ce_echoes, "Of them, those that a switch had marked.")
          .time("rtt_ns", &Row::rtt, "Round trip, moving average; 0: no sample.")
          .time("rtt_base_ns", &Row::rtt_base, "The least round trip of the last while.")
          .flat(FlatRows::kSum, "srdma", {"packets", "losses", "echoes", "ce_echoes"});
  return kTable;
}

}  // namespace flitwise
