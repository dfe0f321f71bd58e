// SPDX-License-Identifier: Apache-2.0
#include "network/session_log.h"

#include <fmt/format.h>

#include <map>

namespace flitwise {
namespace {

// How often each thing has happened.
TextTable event_view(const std::vector<SessionEventRow>& rows, const RunResult& /*result*/) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
  for (const SessionEventRow& row : rows) {
    ++counts[{row.what, row.cause}];
  }
  TextTable table({"event of sessions", "cause", "times"}, 2);
  for (const auto& [event, count] : counts) {
    table.add(event.first, event.second, count);
  }
  return table;
}

}  // namespace

const StatisticsTable& session_event_table() {
  using Row = SessionEventRow;
  static const Table<Row> kTable =
      Table<Row>("srdma_events", "srdma_event",
                 "One row per event of a session group whose handshake takes time, at each of its "
                 "ends, the first 4,096.")
          .name("number", [](const Row& row) { return std::to_string(row.number); })
          .as_number()
          .time("t_ns", &Row::at, "When.")
          .text("device", &Row::device, "The end, by its host.")
          .count("group", &Row::group, "The group, as in `srdma`.")
          .text("session", &Row::session, "Its id; nothing: the group.")
          .text("event", &Row::what,
                "add and remove are decisions of control; connect and failed are of an exchange; "
                "the others are what has become of the group or session.")
          .text("cause", &Row::cause, "Why; nothing: as it was asked for.")
          .flat(FlatRows::kNone, "srdma_event")
          .show(event_view);
  return kTable;
}

}  // namespace flitwise
