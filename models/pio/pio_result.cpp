// SPDX-License-Identifier: Apache-2.0
#include "pio/pio_result.h"

#include <fmt/format.h>

#include "common/ranges.h"

namespace flitwise {
namespace {

// Packets that are not plain ones, and returns by cause: those that there were.
TextTable pio_view(const std::vector<PioResult>& rows, const RunResult& /*result*/) {
  struct Column {
    const char* name;
    std::uint64_t PioResult::*count;
  };
  constexpr Column kColumns[] = {{"by SDMA", &PioResult::sdma_packets},
                                 {"lost", &PioResult::lost_packets},
                                 {"hostile", &PioResult::hostile_packets},
                                 {"returns by threshold", &PioResult::due_to_threshold},
                                 {"returns by PBC", &PioResult::due_to_pbc},
                                 {"returns forced", &PioResult::due_to_force},
                                 {"returns early", &PioResult::due_to_early},
                                 {"returns by error", &PioResult::due_to_error},
                                 {"coalesced", &PioResult::coalesced_returns},
                                 {"return writes", &PioResult::return_writes},
                                 {"with steering tag", &PioResult::steered_returns},
                                 {"interrupts", &PioResult::interrupts}};
  std::vector<Column> seen;
  std::vector<std::string> header = {"PIO",      "packets", "bytes",    "blocks",
                                     "returned", "pending", "mean, ns", "p99, ns"};
  for (const Column& column : kColumns) {
    if (any_of(rows, [&](const PioResult& row) { return row.*column.count > 0; })) {
      seen.push_back(column);
      header.emplace_back(column.name);
    }
  }
  TextTable table(header);
  for (const PioResult& row : rows) {
    std::vector<std::string> cells = {row.device,
                                      as_cell(row.packets),
                                      as_cell(row.bytes),
                                      as_cell(row.blocks),
                                      as_cell(row.returned),
                                      as_cell(row.pending),
                                      fmt::format("{:.1f}", row.latency_mean),
                                      fmt::format("{:.1f}", row.latency_p99)};
    for (const Column& column : seen) {
      cells.push_back(as_cell(row.*column.count));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

// Of devices that use several lanes: of the others pio_view says as much.
TextTable vl_view(const std::vector<PioVlResult>& rows, const RunResult& /*result*/) {
  TextTable table({"PIO lane", "VL", "packets", "share, %", "contended bytes", "share of these, %",
                   "stalled, ns", "mean, ns", "p99, ns"});
  for (const PioVlResult& row : rows) {
    if (row.packets > 0 && row.share < 1) {
      table.add_row(
          {row.device, row.vl, as_cell(row.packets), fmt::format("{:.2f}", 100 * row.share),
           as_cell(row.contended_bytes), fmt::format("{:.2f}", 100 * row.contended_share),
           fmt::format("{:.1f}", row.stalled.ns()), fmt::format("{:.1f}", row.latency_mean),
           fmt::format("{:.1f}", row.latency_p99)});
    }
  }
  return table;
}

TextTable receive_view(const std::vector<PioReceiveResult>& rows, const RunResult& /*result*/) {
  TextTable table({"PIO receive", "packets", "bytes", "header writes", "payload writes"});
  for (const PioReceiveResult& row : rows) {
    table.add_row({row.device, as_cell(row.packets), as_cell(row.bytes), as_cell(row.header_writes),
                   as_cell(row.payload_writes)});
  }
  return table;
}

}  // namespace

void PacketLatency::take(const LatencyHistogram& histogram) {
  const LatencyResult all = histogram.summary("");
  latency_mean = all.mean;
  latency_p50 = all.p50;
  latency_p99 = all.p99;
  latency_max = all.max;
}

const StatisticsTable& pio_table() {
  static const Table<PioResult> kTable =
      Table<PioResult>("pio", "pio", "One row per device that sends by PIO.")
          .name("device", &PioResult::device)
          .count("packets", &PioResult::packets, "Packets that have left by the network port.")
          .count("bytes", &PioResult::bytes, "Bytes of these on the wire: without PBC, with ICRC.",
                 "byte")
          .count("blocks", &PioResult::blocks,
                 "Blocks of 64 bytes of send contexts that were cleared in order and not returned "
                 "when the window began: returned + pending.")
          .count("sdma_packets", &PioResult::sdma_packets, "Packets of SDMA among them.")
          .count("lost_packets", &PioResult::lost_packets,
                 "Packets whose PBC came and that will not leave: dropped by an error of their "
                 "context, or behind one, or taken by a reset of the device, on its way to it too; "
                 "without those of hostile processes.")
          .count("hostile_packets", &PioResult::hostile_packets,
                 "Packets of hostile processes that were read out of send memory.")
          .count("credit_returns.threshold", &PioResult::due_to_threshold,
                 "Returns by the threshold.")
          .count("credit_returns.pbc", &PioResult::due_to_pbc,
                 "Returns that the PBC of a packet asked for.")
          .count("credit_returns.force", &PioResult::due_to_force, "Returns by ForceReturn.")
          .count("credit_returns.early", &PioResult::due_to_early,
                 "Returns by threshold or PBC when a packet was committed to egress.")
          .count("credit_returns.error", &PioResult::due_to_error, "Returns that an error forced.")
          .count(
              "credit_returns.coalesced", &PioResult::coalesced_returns,
              "Causes of these that made no write of their own: they came with another cause, or "
              "while a return of their group waited.")
          .count("credit_returns.writes", &PioResult::return_writes,
                 "Writes of 64 bytes that return credits: all causes but those that were "
                 "coalesced.")
          .count("credit_returns.steered", &PioResult::steered_returns,
                 "Of these, sent with a steering tag.")
          .count("credit_returns.interrupts", &PioResult::interrupts,
                 "Credit interrupts, sent behind their return.")
          .count("returned", &PioResult::returned, "Blocks that were returned to software.")
          .count("pending", &PioResult::pending,
                 "Blocks that are free and not returned at the end.")
          .count("posted_writes", &PioResult::posted_writes,
                 "Posted writes that came to the PIO window.")
          .count("vls", &PioResult::vls, "Virtual lanes by which packets have left.")
          .real("latency.mean", &PioResult::latency_mean, "ns",
                "From when a packet of a context arrives, or its thread comes to it, to its last "
                "byte on the wire: mean of those that came in the window.")
          .real("latency.p50", &PioResult::latency_p50, "ns", "Median of that, within 1/64.")
          .real("latency.p99", &PioResult::latency_p99, "ns", "99th percentile, within 1/64.")
          .real("latency.max", &PioResult::latency_max, "ns", "The longest.")
          .by_kind("errors", &PioResult::errors, "pio_error",
                   "Errors of contexts, and writes to contexts that are not there, by kind.")
          .show(pio_view);
  return kTable;
}

const StatisticsTable& pio_vl_table() {
  using Row = PioVlResult;
  static const Table<Row> kTable =
      Table<Row>("pio_vls", "pio_vl",
                 "One row per virtual lane by which packets of a device have left.")
          .name("device", &Row::device)
          .name("vl", &Row::vl)
          .count("packets", &Row::packets, "Packets that have left by the lane.")
          .count("bytes", &Row::bytes, "Bytes of these on the wire: without PBC, with ICRC.",
                 "byte")
          .real("share", &Row::share, "", "Of the bytes of all lanes of the device, 0 to 1.")
          .count("contended_bytes", &Row::contended_bytes,
                 "Bytes of packets that started while a packet of another lane might have started "
                 "as well: what turns or weights decide. 0 in all rows: they decide nothing.",
                 "byte")
          .real("contended_share", &Row::contended_share, "",
                "Of the contended bytes of all lanes of the device, 0 to 1: what weights give.")
          .time("stalled_ns", &Row::stalled,
                "Time in which the foremost packet of the lane waited for the end of "
                "device.pio.egress.stall.")
          .real("latency.mean", &Row::latency_mean, "ns",
                "Mean latency of its packets, as that of pio[].")
          .real("latency.p50", &Row::latency_p50, "ns", "Median of that, within 1/64.")
          .real("latency.p99", &Row::latency_p99, "ns", "99th percentile, within 1/64.")
          .real("latency.max", &Row::latency_max, "ns", "The longest.")
          .flat(FlatRows::kNamed, "pio_vl")
          .show(vl_view);
  return kTable;
}

const StatisticsTable& pio_receive_table() {
  using Row = PioReceiveResult;
  static const Table<Row> kTable =
      Table<Row>("pio_receive", "pio_receive",
                 "One row per device whose receive engine is the peer of a device.")
          .name("device", &Row::device)
          .count("packets", &Row::packets, "Packets that have come by the wire.")
          .count("bytes", &Row::bytes, "Bytes of these on the wire: without PBC, with ICRC.",
                 "byte")
          .count("header_writes", &Row::header_writes,
                 "Header entries of 64 bytes that were written to host memory.")
          .count("payload_writes", &Row::payload_writes,
                 "Payloads that were written to host memory; a short packet has none.")
          .count("payload_bytes", &Row::payload_bytes, "Bytes of these.", "byte")
          .show(receive_view);
  return kTable;
}

}  // namespace flitwise
