// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_result.h"

#include <fmt/format.h>

namespace flitwise {
namespace {

TextTable hca_view(const std::vector<HcaResult>& rows, const RunResult& /*result*/) {
  TextTable table({"HCA", "WQEs", "CQEs", "frames sent", "received", "QPSC hits", "misses",
                   "retransmits", "drops"});
  for (const HcaResult& row : rows) {
    std::uint64_t drops = 0;
    for (const auto& [kind, count] : row.drops) {
      drops += count;
    }
    table.add_row({row.device, as_cell(row.wqes), as_cell(row.cqes), as_cell(row.sent_frames),
                   as_cell(row.received_frames), as_cell(row.qpsc_hits), as_cell(row.qpsc_misses),
                   as_cell(row.retransmits), as_cell(drops)});
  }
  return table;
}

// Those where something has waited.
TextTable stages_view(const std::vector<HcaStageResult>& rows, const RunResult& /*result*/) {
  TextTable table({"HCA", "stage", "entries", "waits", "mean, ns"}, 2);
  for (const HcaStageResult& row : rows) {
    if (row.waits > 0) {
      table.add_row({row.device, row.stage, as_cell(row.entries), as_cell(row.waits),
                     fmt::format("{:.1f}", row.time_mean)});
    }
  }
  return table;
}

TextTable verbs_view(const std::vector<VerbsResult>& rows, const RunResult& /*result*/) {
  TextTable table(
      {"verbs", "operations", "bytes", "received", "goodput, Gb/s", "mean, ns", "p99, ns"});
  for (const VerbsResult& row : rows) {
    table.add_row({row.device, as_cell(row.operations), as_cell(row.bytes), as_cell(row.received),
                   fmt::format("{:.2f}", row.goodput_gbps), fmt::format("{:.1f}", row.latency_mean),
                   fmt::format("{:.1f}", row.latency_p99)});
  }
  return table;
}

}  // namespace

const StatisticsTable& hca_table() {
  using Row = HcaResult;
  static const Table<Row> kTable =
      Table<Row>("hca", "hca", "One row per RDMA adapter.")
          .name("device", &Row::device)
          .count("port", &Row::port, "Number of its network port.")
          .count("wqes", &Row::wqes, "Work requests that it has taken.")
          .count("pushed", &Row::pushed,
                 "Those among them that software had stored into it, with their payload where they "
                 "have any.")
          .count("cqes", &Row::cqes, "Completions that it has written, of sends and of receives.")
          .count("interrupts", &Row::interrupts,
                 "Messages that told of completions, once each time that software had armed a "
                 "completion queue.")
          .count("qpsc_hits", &Row::qpsc_hits,
                 "Doorbells and packets whose queue pair had its state in the cache.")
          .count("qpsc_misses", &Row::qpsc_misses,
                 "Those that waited for a read of that state, their own or one under way.")
          .count("qpsc_stalls", &Row::qpsc_stalls,
                 "Times that all entries of the cache were pinned.")
          .count("pretranslated", &Row::pretranslated,
                 "Accesses to static structures with an address that was translated before.")
          .count("untranslated", &Row::untranslated,
                 "Other accesses to static structures: rings, states, completion queues.")
          .real("pretranslated_read", &Row::pretranslated_read, "ns",
                "Reads of static structures with an address that was translated before, from when "
                "they could leave to their data: mean.")
          .real("untranslated_read", &Row::untranslated_read, "ns",
                "The same of other reads of static structures.")
          .count("retransmits", &Row::retransmits, "Packets that were sent again.")
          .count("sent_frames", &Row::sent_frames, "Frames that have left by the network port.")
          .count("sent_bytes", &Row::sent_bytes,
                 "Bytes of these on the wire, with preamble, FCS and gap.", "byte")
          .count("received_frames", &Row::received_frames, "Frames that have come.")
          .count("placed_bytes", &Row::placed_bytes,
                 "Payload that came and was written to host memory.", "byte")
          .count("lost_packets", &Row::lost_packets,
                 "Packets that were not sent, since their payload could not be read.")
          .count("rq_misses", &Row::rq_misses,
                 "Packets that waited for an entry of a receive queue to be read.")
          .by_kind("drops", &Row::drops, "hca_drop",
                   "Frames and packets that were dropped since the start of the run, by cause.")
          .show(hca_view);
  return kTable;
}

const StatisticsTable& hca_stage_table() {
  using Row = HcaStageResult;
  static const Table<Row> kTable =
      Table<Row>("hca_stages", "hca_stage", "One row per stage of an RDMA adapter.")
          .name("device", &Row::device)
          .name("stage", &Row::stage)
          .count("entries", &Row::entries,
                 "Doorbells, queue pairs, packets or pieces of payload that have come to it; of "
                 "those that have no queue, reads and writes of host memory.")
          .real("busy", &Row::busy_ns, "ns", "Time in which it could take no other one.")
          .count("waits", &Row::waits, "Times that an entry waited for others, or for room behind.")
          .real("time.mean", &Row::time_mean, "ns",
                "From when an entry comes to when it goes on: mean. Of those that have no queue, "
                "from "
                "when an access might leave to its end. [HP-6]")
          .count("accesses", &Row::accesses, "Reads and writes of host memory for it.")
          .count("bytes", &Row::bytes, "Bytes of these.", "byte")
          .flat(FlatRows::kNamed, "hca_stage")
          .show(stages_view);
  return kTable;
}

const StatisticsTable& verbs_table() {
  using Row = VerbsResult;
  static const Table<Row> kTable =
      Table<Row>(
          "verbs", "verbs",
          "One row per device with an RDMA adapter, or per function of it where several carry "
          "the workload: its software.")
          .name("device", &Row::device)
          .count("operations", &Row::operations, "Work requests that are complete.")
          .count("bytes", &Row::bytes, "Payload of these.", "byte")
          .count("writes", &Row::writes, "WRITEs among them.")
          .count("reads", &Row::reads, "READs among them.")
          .count("sends", &Row::sends, "SENDs among them.")
          .count("atomics", &Row::atomics, "FETCH_ADDs and CMP_SWPs among them.")
          .count("received", &Row::received, "Messages of the peer that came by SEND.")
          .real(
              "goodput", &Row::goodput_gbps, "Gb/s",
              "Payload of complete work requests over the time up to the last completion, from the "
              "begin of the window, or from when the function may post its first one.")
          .real("latency.mean", &Row::latency_mean, "ns",
                "From when a work request arrives, or software comes to it, to the look that finds "
                "its completion: mean.")
          .real("latency.p50", &Row::latency_p50, "ns", "Median of that, within 1/64.")
          .real("latency.p99", &Row::latency_p99, "ns", "99th percentile, within 1/64.")
          .real("latency.max", &Row::latency_max, "ns", "The longest.")
          .show(verbs_view);
  return kTable;
}

}  // namespace flitwise
