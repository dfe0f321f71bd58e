// SPDX-License-Identifier: Apache-2.0
// Waits, limits and latencies; device handles and attacks; caches of CXL devices.
#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/ranges.h"
#include "results/summary_table.h"
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

using Part = Limit ExplainResult::*;
constexpr Part kLimit = &ExplainResult::limit, kNext = &ExplainResult::next;

/// Nothing where nothing limits.
template <class Value>
struct OfLimit {
  Part part;
  Value Limit::*member;
  std::optional<Value> operator()(const ExplainResult& row) const {
    const Limit& limit = row.*part;
    return limit.is_empty() ? std::nullopt : std::optional(limit.*member);
  }
  void write(ExplainResult& row, const FigureValue& value) const {
    read_figure(value, row.*part.*member);
  }
};
template <class Value>
OfLimit<Value> of(Part part, Value Limit::*member) {
  return {part, member};
}

// TLPs that are requests, one each, have the same latencies.
bool says_the_same(const LatencyResult& latency, const std::vector<LatencyResult>& rows) {
  return latency.name == "dma_write_tlp" && any_of(rows, [&](const LatencyResult& one) {
           return one.name == "dma_write" && one.count == latency.count;
         });
}

TextTable converged_view(const std::vector<ConvergedResult>& rows, const RunResult& /*result*/) {
  TextTable table({"Waited for", "mean", "half width", "batches", "reached"});
  for (const ConvergedResult& row : rows) {
    table.add(row.figure, fmt::format("{:.6g}", row.mean),
              row.half_width ? fmt::format("{:.3g}", *row.half_width) : "-", row.batches,
              std::string(row.reached ? "yes" : "no"));
  }
  return table;
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

TextTable handle_view(const std::vector<DhiResult>& rows, const RunResult& /*result*/) {
  std::vector<std::string> header = {"Device handles", "lookups",      "hit rate",      "ALLOC",
                                     "DEALLOC",        "evictions",    "bypasses",      "waited",
                                     "rejected",       "wrong domain", "TLPs/residency"};
  const bool has_kept = any_of(rows, [](const DhiResult& dhi) { return dhi.handles_kept != 0; });
  if (has_kept) {
    header.emplace_back("kept");
  }
  TextTable table(header);
  for (const DhiResult& dhi : rows) {
    if (dhi.lookups == 0 && dhi.rejected == 0) {
      continue;
    }
    table.add(dhi.device, dhi.lookups, share_text(dhi.hits, dhi.lookups), dhi.allocs, dhi.deallocs,
              dhi.evictions, dhi.bypasses, dhi.stall, dhi.rejected, dhi.wrong_domain,
              fmt::format("{:.1f}", dhi.tlps_per_residency),
              dhi.handles_kept);  // the last one goes where no column is for it
  }
  return table;
}

TextTable refusals_view(const std::vector<DhiResult>& rows, const RunResult& /*result*/) {
  TextTable table({"Handle messages and look-ups refused", "device", "count"}, 2);
  for (const DhiResult& dhi : rows) {
    for (const auto& [kind, count] : dhi.rejections) {
      table.add(kind, dhi.device, count);
    }
  }
  return table;
}

TextTable attack_view(const std::vector<AttackResult>& rows, const RunResult& /*result*/) {
  TextTable table({"Attacks", "tried", "through"});
  for (const AttackResult& one : rows) {
    if (one.tried != 0) {
      table.add(one.attack, one.tried, one.through);
    }
  }
  return table;
}

TextTable cxl_cache_view(const std::vector<CxlCacheResult>& rows, const RunResult& /*result*/) {
  TextTable table({"CXL caches", "reads", "writes", "hit rate", "evictions", "snoops",
                   "of modified lines", "overtaken evictions"});
  for (const CxlCacheResult& cache : rows) {
    table.add(cache.device, cache.reads, cache.writes,
              share_text(cache.hits, cache.reads + cache.writes), cache.evictions, cache.snoops,
              cache.snoops_modified, cache.bogus);
  }
  return table;
}

TextTable cxl_hdm_db_view(const std::vector<CxlHdmDbResult>& rows, const RunResult& /*result*/) {
  TextTable table({"Memory by HDM-DB", "host lines", "hits", "evictions", "device lines", "hits",
                   "BISnp", "written back", "early conflicts", "late"});
  for (const CxlHdmDbResult& one : rows) {
    table.add(one.device, one.host_reads + one.host_writes, one.host_hits, one.host_evictions,
              one.device_reads + one.device_writes, one.device_hits, one.back_invalidations,
              one.write_backs, one.conflicts_early, one.conflicts_late);
  }
  return table;
}

}  // namespace

const StatisticsTable& wait_table() {
  static const auto kTable =
      Table<WaitResult>("waits", "wait",
                        "One row per bounded resource of each instance, and per queue.")
          .name(
              "at", [](auto& row) -> auto& { return row.resource.at; })
          .name(
              "resource", [](auto& row) -> auto& { return row.resource.name; })
          .name(
              "direction", [](auto& row) -> auto& { return row.resource.direction; })
          .name(
              "kind", [](auto& row) -> auto& { return row.resource.kind; })
          .text(
              "key", [](auto& row) -> auto& { return row.resource.key; },
              "Key of the configuration that sizes the resource; empty: none does.")
          .count(
              "capacity", [](auto& row) -> auto& { return row.resource.capacity; },
              "Units of it that there are; 0: without a number.")
          .real_or_none("peak", &WaitResult::peak, "",
                        "Most units in use at a time, where that is counted.")
          .count("waits", &WaitResult::count,
                 "Requests that had to wait for it, and need no longer.")
          .time("wait_ns", &WaitResult::total,
                "All of them together; over the window, the mean length of the queue. For credits, "
                "tags, "
                "handles, outstanding, link_queues, cxl_ids, cxl_lines and cxl_ways only the "
                "foremost "
                "waits.")
          .time("blocked_ns", &WaitResult::blocked, "Time in which at least one waited.")
          .real_or_none("busy", &WaitResult::busy, "1",
                        "Mean share of its units in use, where that is counted.")
          .flat(FlatRows::kSumByName, "wait", {"wait_ns"})
          .flat_by("resource")
          .show(wait_view);
  return kTable;
}

const StatisticsTable& explain_table() {
  static const auto kTable =
      Table<ExplainResult>(
          "explain", "explanation",
          "One row per link of a device, direction and kind of request: what limited them.")
          .name("link", &ExplainResult::link)
          .name("direction", &ExplainResult::direction)
          .name("kind", &ExplainResult::kind)
          .count("requests", &ExplainResult::requests, "That the engine has issued in the window.")
          .count("to_peers", &ExplainResult::to_peers,
                 "Of them, to BARs of peers: these are not explained.")
          .text("limit.at", of(kLimit, &Limit::at),
                "Where the resource is that limits; null: nothing was waited for, or all requests "
                "went to peers.")
          .text("limit.resource", of(kLimit, &Limit::resource), "Its name, as in waits[].")
          .text("limit.direction", of(kLimit, &Limit::direction),
                "Of what takes it, as in waits[]: one wire of a link; empty: either.")
          .text("limit.key", of(kLimit, &Limit::key),
                "Key of the configuration that sizes it there: system.instances.NAME.KEY where an "
                "instance sets it; empty: none does.")
          .real_or_none(
              "limit.share", of(kLimit, &Limit::share), "1",
              "Share of the window in which it was in use (the wire, memory, walkers), or in which "
              "requests waited for it.")
          .real_or_none("limit.wait_ns", of(kLimit, &Limit::total), "ns", "Waits for it, added up.")
          .text("limit.larger", of(kLimit, &Limit::larger),
                "A larger value of the key; empty: there is none.")
          .text("next.at", of(kNext, &Limit::at), "The same of what limits next.")
          .text("next.resource", of(kNext, &Limit::resource), "Its name.")
          .text("next.direction", of(kNext, &Limit::direction), "Its direction.")
          .text("next.key", of(kNext, &Limit::key), "Its key.")
          .real_or_none("next.share", of(kNext, &Limit::share), "1", "Its share.")
          .real_or_none("next.wait_ns", of(kNext, &Limit::total), "ns", "Waits for it.")
          .flat(FlatRows::kNone, "")
          .show(  // the summary has a line of it, no table
              [](const auto& /*rows*/, const auto& /*result*/) { return TextTable({""}); });
  return kTable;
}

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

const StatisticsTable& hop_table() {
  static const auto kTable =
      Table<HopResult>("hops", "hop",
                       "One row per hop that TLPs, or lines of CXL, reach on their way.")
          .name("request", &HopResult::request)
          .name("hop", &HopResult::hop)
          .count("count", &HopResult::count,
                 "TLPs that it is the mean of: every seventeenth of those that are measured.")
          .time("total_ns", &HopResult::total, "From the hop before to this one, of all of them.")
          .real(
              "mean_ns",
              [](const HopResult& row) {
                return row.count > 0 ? row.total.ns() / static_cast<double>(row.count) : 0.0;
              },
              "ns", "The same of one; the hops of a request add up to what it took.")
          .flat(FlatRows::kNone, "")
          .show([](const auto& /*rows*/, const auto& /*result*/) { return TextTable({""}); });
  return kTable;
}

const StatisticsTable& converged_table() {
  static const auto kTable =
      Table<ConvergedResult>("converged", "converged",
                             "One row per figure that the run has waited for.")
          .name("figure", &ConvergedResult::figure)
          .real("mean", &ConvergedResult::mean, "",
                "Of all that was observed; its unit is that of the figure.")
          .real_or_none(
              "half_width", &ConvergedResult::half_width, "",
              "Of its interval, with run.converged.confidence; null: too few requests to tell.")
          .count("batches", &ConvergedResult::batches, "Batches that the interval rests on.")
          .flag("reached", &ConvergedResult::reached,
                "The interval is as narrow as run.converged.tolerance asks for.")
          .flat(FlatRows::kNamed, "converged")
          .show(converged_view);
  return kTable;
}

const StatisticsTable& handle_table() {
  static const auto kTable =
      Table<DhiResult>("dhi", "dhi", "One row per device with a handle table.")
          .name("device", &DhiResult::device)
          .count("lookups", &DhiResult::lookups, "Messages that asked for a handle.")
          .count("hits", &DhiResult::hits, "Lookups that found a handle.")
          .count("allocs", &DhiResult::allocs, "ALLOC messages sent.")
          .count("deallocs", &DhiResult::deallocs, "DEALLOC messages sent.")
          .count("evictions", &DhiResult::evictions, "Handles taken from one domain for another.")
          .count("bypasses", &DhiResult::bypasses,
                 "Messages that went with their full identity after a miss.")
          .time(
              "stall_ns", &DhiResult::stall,
              "Time in which a message waited for its handle; the device sends nothing meanwhile, "
              "one stalled message holds all behind it.")
          .count(
              "rejected", &DhiResult::rejected,
              "Messages with a handle, ALLOCs and DEALLOCs of this device that the host refused.")
          .count("wrong_domain", &DhiResult::wrong_domain,
                 "Lookups at the host that gave another domain than the sender meant.")
          .real("tlps_per_residency", &DhiResult::tlps_per_residency, "TLP",
                "Mean TLPs sent with one handle between its ALLOC and its end.")
          .count("flushes", &DhiResult::flushes, "Zero-length reads sent to make sure of an ALLOC.")
          .count("acks", &DhiResult::acks, "Acknowledgements of ALLOCs by the host.")
          .count(
              "handles_kept", &DhiResult::handles_kept,
              "Handles that go to no other domain any more, since a read with one timed out behind "
              "a switch; each counts once.")
          .by_kind("rejections", &DhiResult::rejections, "dhi_rejection",
                   "Refusals by the host, by kind.")
          .flat(FlatRows::kEach, "dhi")
          .show(handle_view)
          .show(refusals_view);
  return kTable;
}

const StatisticsTable& attack_table() {
  static const auto kTable =
      Table<AttackResult>("attacks", "attack",
                          "What hostile devices tried, by kind; none where no device is hostile.")
          .name("attack", &AttackResult::attack)
          .count("tried", &AttackResult::tried,
                 "TLPs that reached a switch or root port above the device.")
          .count("through", &AttackResult::through,
                 "Of them, those that got what is not their device's.")
          .flat(FlatRows::kNamed, "attack")
          .show(attack_view);
  return kTable;
}

const StatisticsTable& cxl_cache_table() {
  static const auto kTable =
      Table<CxlCacheResult>("cxl_cache", "cxl_cache",
                            "One row per device with a cache for lines of the host (CXL.cache).")
          .name("device", &CxlCacheResult::device)
          .count("reads", &CxlCacheResult::reads, "Lines that its core asked to read.")
          .count("writes", &CxlCacheResult::writes, "Lines that its core asked to write.")
          .count("hits", &CxlCacheResult::hits, "Of both, those without a message to the home.")
          .count("evictions", &CxlCacheResult::evictions, "Lines that it gave up for want of room.")
          .count("snoops", &CxlCacheResult::snoops, "Snoops answered.")
          .count("snoops_modified", &CxlCacheResult::snoops_modified,
                 "Of them, with a line that it had modified.")
          .count("bogus", &CxlCacheResult::bogus, "Evictions overtaken by a snoop.")
          .flat(FlatRows::kSum, "cxl_cache")
          .show(cxl_cache_view);
  return kTable;
}

const StatisticsTable& cxl_hdm_db_table() {
  static const auto kTable =
      Table<CxlHdmDbResult>("cxl_hdm_db", "cxl_hdm_db",
                            "One row per device whose memory host and device both cache (HDM-DB).")
          .name("device", &CxlHdmDbResult::device)
          .count("host_reads", &CxlHdmDbResult::host_reads,
                 "Lines that the host's cores asked to read.")
          .count("host_writes", &CxlHdmDbResult::host_writes,
                 "Lines that the host's cores asked to write.")
          .count("host_hits", &CxlHdmDbResult::host_hits,
                 "Of both, those without a message to the device.")
          .count("host_evictions", &CxlHdmDbResult::host_evictions,
                 "Lines that the host gave up for want of room.")
          .count("device_reads", &CxlHdmDbResult::device_reads,
                 "Lines that the device's core asked to read.")
          .count("device_writes", &CxlHdmDbResult::device_writes,
                 "Lines that the device's core asked to write.")
          .count("device_hits", &CxlHdmDbResult::device_hits, "Of both, those in its cache.")
          .count("back_invalidations", &CxlHdmDbResult::back_invalidations,
                 "BISnp that the device sent.")
          .count("write_backs", &CxlHdmDbResult::write_backs, "Lines that the host wrote for one.")
          .count(
              "conflicts_early", &CxlHdmDbResult::conflicts_early,
              "Requests of the host that the device had not served when it asked for their line.")
          .count("conflicts_late", &CxlHdmDbResult::conflicts_late, "Those that it had served.")
          .flat(FlatRows::kSum, "cxl_hdm_db")
          .show(cxl_hdm_db_view);
  return kTable;
}

}  // namespace flitwise
