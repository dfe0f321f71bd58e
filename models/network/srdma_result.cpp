// SPDX-License-Identifier: Apache-2.0
#include "network/srdma_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/ranges.h"

namespace flitwise {
namespace {

constexpr std::size_t kGroupsShown = 8;

/// Sessions of one end of a group.
struct Group {
  const SrdmaSessionResult* first = nullptr;
  std::uint64_t sessions = 0, packets = 0, least = 0, most = 0, losses = 0, echoes = 0, marked = 0;
  double rtt_ns = 0, weight = 0;
};

std::vector<Group> groups_of(const std::vector<SrdmaSessionResult>& rows) {
  std::vector<Group> groups;
  for (const SrdmaSessionResult& row : rows) {
    if (groups.empty() || groups.back().first->group != row.group ||
        groups.back().first->device != row.device) {
      groups.push_back({&row});
      groups.back().least = row.packets;
    }
    Group& group = groups.back();
    ++group.sessions;
    group.packets += row.packets;
    group.least = std::min(group.least, row.packets);
    group.most = std::max(group.most, row.packets);
    group.losses += row.losses;
    group.echoes += row.echoes;
    group.marked += row.ce_echoes;
    group.rtt_ns += row.rtt.ns();
    group.weight += row.weight;
  }
  return groups;
}

// A row a group: how even its sessions are.
TextTable group_view(const std::vector<SrdmaSessionResult>& rows, const RunResult& /*result*/) {
  const std::vector<Group> groups = groups_of(rows);
  TextTable table({"session group of", "sessions", "packets", "least", "most", "lost", "marked",
                   "round trip", "weight"});
  for (std::size_t i = 0; i < std::min(kGroupsShown, groups.size()); ++i) {
    const Group& group = groups[i];
    const auto sessions = static_cast<double>(group.sessions);
    const bool has_samples = group.echoes > 0;  // plain RoCEv2 has none
    table.add(fmt::format("{} {}", group.first->device, group.first->group), group.sessions,
              group.packets, group.least, group.most, group.losses, group.marked,
              has_samples ? time_text(group.rtt_ns / sessions) : "-",
              has_samples ? fmt::format("{:.2f}", group.weight / sessions) : "-");
  }
  table.add_note(fmt::format(
      "{} session groups have sent{}; least and most: packets of one session; round trip and "
      "weight: means of its sessions.\n",
      groups.size(), groups.size() > kGroupsShown ? ", of which these are the first" : ""));
  return table;
}

SrdmaSessionResult row_of(std::string device, std::uint32_t group, const BalancedSession& known,
                          const SessionStats& stats, const SessionScore& score) {
  SrdmaSessionResult row;
  row.device = std::move(device);
  row.group = group;
  row.id = known.id;
  row.source_port = known.tuple.source_port;
  row.destination_port = known.tuple.destination_port;
  row.weight = score.weight;
  row.level = score.level;
  row.state = !stats.is_open ? "closed" : stats.is_eligible ? "active" : "draining";
  row.packets = stats.sent_packets;
  row.bytes = stats.sent_bytes;
  row.losses = stats.losses;
  row.echoes = stats.echoes;
  row.ce_echoes = stats.ce_echoes;
  row.rtt = stats.rtt_ewma;
  row.rtt_base = stats.rtt_base;
  return row;
}

}  // namespace

SrdmaSessionResult session_result(std::string device, std::uint32_t group,
                                  const SessionBalancer& balancer, SessionIndex session) {
  return row_of(std::move(device), group, balancer.session(session), balancer.stats(session),
                balancer.score(session));
}

std::vector<SrdmaSessionResult> past_session_results(const std::string& device, std::uint32_t group,
                                                     const SessionBalancer& balancer) {
  return mapped<SrdmaSessionResult>(balancer.past(), [&](const PastSession& past) {
    return row_of(device, group, past.session, past.stats, past.score);
  });
}

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
          .flat(FlatRows::kSum, "srdma", {"packets", "losses", "echoes", "ce_echoes"})
          .show(group_view);
  return kTable;
}

}  // namespace flitwise
