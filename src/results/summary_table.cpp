// SPDX-License-Identifier: Apache-2.0
// The summary, one small function per table.
#include "results/summary_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "results/drain_text.h"
#include "results/refusal_text.h"
#include "results/statistics.h"
#include "results/text_table.h"

namespace flitwise {
namespace {

struct NamedDirection {
  std::string name;
  LinkDirection direction;
};

std::vector<NamedDirection> directions(const RunResult& result) {
  std::vector<NamedDirection> list;
  for (const LinkResult& link : result.links) {
    list.push_back({link.name + " up", {link, link.up}});
    list.push_back({link.name + " down", {link, link.down}});
  }
  return list;
}

TextTable links_table(const RunResult& result) {
  TextTable table(
      {"Link", "TLPs", "payload", "goodput", "utilisation", "link efficiency", "replayed TLPs"});
  for (const auto& [name, direction] : directions(result)) {
    const DirectionResult& traffic = direction.traffic;
    table.add_row({name, with_thousands(traffic.tlps),
                   bytes_text(static_cast<double>(traffic.payload_bytes)),
                   gbps_text(goodput_gbps(direction)), percent_text(utilisation(traffic)),
                   percent_text(link_efficiency(traffic)), with_thousands(traffic.replays)});
  }
  return table;
}

struct WirePart {
  const char* name;
  std::uint64_t WireBits::*bits;
};
constexpr WirePart kWireParts[] = {
    {"payload", &WireBits::payload},   {"header", &WireBits::header},
    {"identity", &WireBits::identity}, {"padding", &WireBits::padding},
    {"framing", &WireBits::framing},   {"crc", &WireBits::crc},
    {"dllp", &WireBits::dllp},         {"fec", &WireBits::fec},
    {"phy", &WireBits::phy},           {"replay", &WireBits::replay},
    {"idle", &WireBits::idle},
};

/// Parts that no direction has are left out, so that the table stays narrow.
TextTable wire_table(const RunResult& result) {
  const auto list = directions(result);
  std::vector<std::string> header = {"Bytes on the wire, %"};
  std::vector<WirePart> parts;
  for (const WirePart& part : kWireParts) {
    const auto has = [&part](const NamedDirection& d) {
      return d.direction.traffic.bits.*part.bits != 0;
    };
    if (std::any_of(list.begin(), list.end(), has)) {
      parts.push_back(part);
      header.emplace_back(part.name);
    }
  }
  header.emplace_back("total");
  TextTable table(header);
  for (const auto& [name, direction] : list) {
    const WireBits& bits = direction.traffic.bits;
    if (bits.total() == 0) {
      continue;
    }
    std::vector<std::string> row = {name};
    for (const WirePart& part : parts) {
      row.push_back(fmt::format("{:.2f}", 100.0 * static_cast<double>(bits.*part.bits) /
                                              static_cast<double>(bits.total())));
    }
    row.push_back(bytes_text(static_cast<double>(bits.total()) / 8));
    table.add_row(row);
  }
  return table;
}

struct StallReason {
  const char* name;
  Time StallTimes::*time;
};
constexpr StallReason kStallReasons[] = {
    {"posted credits", &StallTimes::credits_posted},
    {"non-posted credits", &StallTimes::credits_nonposted},
    {"completion credits", &StallTimes::credits_completion},
    {"CXL request credits", &StallTimes::credits_cxl_req},
    {"CXL response credits", &StallTimes::credits_cxl_rsp},
    {"CXL data credits", &StallTimes::credits_cxl_data},
    {"tags", &StallTimes::tags},
    {"replay buffer", &StallTimes::replay_buffer},
    {"device handle", &StallTimes::handle},
};

TextTable stall_table(const RunResult& result) {
  TextTable table({"Waited for", "link", "time", "share of window"});
  table.left_align(1);
  for (const auto& [name, direction] : directions(result)) {
    const DirectionResult& traffic = direction.traffic;
    for (const StallReason& reason : kStallReasons) {
      const Time time = traffic.stalls.*reason.time;
      if (time > Time{}) {
        const std::optional<double> share =
            traffic.window > Time{} ? std::optional(time.ns() / traffic.window.ns()) : std::nullopt;
        table.add_row({reason.name, name, time_text(time.ns()), percent_text(share)});
      }
    }
  }
  return table;
}

// TLPs that are requests, one each, have the same latencies.
bool says_the_same(const LatencyResult& latency, const RunResult& result) {
  return latency.name == "dma_write_tlp" &&
         std::any_of(result.latency.begin(), result.latency.end(), [&](const LatencyResult& one) {
           return one.name == "dma_write" && one.count == latency.count;
         });
}

/// Queues that somebody waited at; by Little's law the time over the window is their mean length.
TextTable waits_table(const RunResult& result) {
  TextTable table({"Queue for", "at", "waits", "time", "mean", "mean length"});
  table.left_align(1);
  for (const WaitResult& wait : result.waits) {
    if (wait.total > Time{} && result.simulated > Time{}) {
      table.add_row({wait.resource, wait.place, with_thousands(wait.count),
                     time_text(wait.total.ns()),
                     time_text(wait.total.ns() / static_cast<double>(wait.count)),
                     fmt::format("{:.2f}", wait.total.ns() / result.simulated.ns())});
    }
  }
  return table;
}

TextTable latency_table(const RunResult& result) {
  TextTable table({"Latency, ns", "count", "mean", "min", "p50", "p90", "p99", "p99.9", "max"});
  for (const LatencyResult& latency : result.latency) {
    if (latency.count == 0 || says_the_same(latency, result)) {
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

TextTable handle_table(const RunResult& result) {
  std::vector<std::string> header = {"Device handles", "lookups",      "hit rate",      "ALLOC",
                                     "DEALLOC",        "evictions",    "bypasses",      "waited",
                                     "rejected",       "wrong domain", "TLPs/residency"};
  const bool has_kept = std::any_of(result.dhi.begin(), result.dhi.end(),
                                    [](const DhiResult& dhi) { return dhi.handles_kept != 0; });
  if (has_kept) {
    header.emplace_back("kept");
  }
  TextTable table(header);
  for (const DhiResult& dhi : result.dhi) {
    if (dhi.lookups == 0 && dhi.rejected == 0) {
      continue;
    }
    const std::optional<double> rate =
        dhi.lookups == 0
            ? std::nullopt
            : std::optional(static_cast<double>(dhi.hits) / static_cast<double>(dhi.lookups));
    std::vector<std::string> row = {dhi.device,
                                    with_thousands(dhi.lookups),
                                    percent_text(rate),
                                    with_thousands(dhi.allocs),
                                    with_thousands(dhi.deallocs),
                                    with_thousands(dhi.evictions),
                                    with_thousands(dhi.bypasses),
                                    time_text(dhi.stall.ns()),
                                    with_thousands(dhi.rejected),
                                    with_thousands(dhi.wrong_domain),
                                    fmt::format("{:.1f}", dhi.tlps_per_residency)};
    if (has_kept) {
      row.push_back(with_thousands(dhi.handles_kept));
    }
    table.add_row(row);
  }
  return table;
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  return percent_text(whole == 0
                          ? std::nullopt
                          : std::optional(static_cast<double>(part) / static_cast<double>(whole)));
}

TextTable translation_table(const RunResult& result) {
  TextTable table({"Translations", "requests", "translated", "look-ups", "hits", "misses",
                   "under a miss", "walks", "reads/walk", "faults", "invalidations"});
  for (const IommuResult& agent : result.iommu) {
    if (agent.requests == 0) {
      continue;
    }
    const std::uint64_t lookups = agent.iotlb_lookups();
    const double reads =
        agent.walks == 0 ? 0
                         : static_cast<double>(agent.walk_reads) / static_cast<double>(agent.walks);
    table.add_row({agent.name, with_thousands(agent.requests),
                   with_thousands(agent.translated_requests), with_thousands(lookups),
                   share_text(agent.iotlb_hits, lookups), share_text(agent.iotlb_misses, lookups),
                   share_text(agent.iotlb_misses_under_miss, lookups), with_thousands(agent.walks),
                   fmt::format("{:.1f}", reads), with_thousands(agent.faults),
                   with_thousands(agent.invalidations)});
  }
  return table;
}

TextTable driver_table(const RunResult& result) {
  TextTable table(
      {"Driver of", "maps", "unmaps", "late accesses", "pages served", "refused", "faults taken"});
  for (const IommuResult& agent : result.iommu) {
    if (agent.maps + agent.unmaps + agent.page_requests_served + agent.page_requests_refused +
            agent.faults_taken ==
        0) {
      continue;
    }
    table.add_row({agent.name, with_thousands(agent.maps), with_thousands(agent.unmaps),
                   with_thousands(agent.late_accesses), with_thousands(agent.page_requests_served),
                   with_thousands(agent.page_requests_refused),
                   with_thousands(agent.faults_taken)});
  }
  return table;
}

TextTable ats_table(const RunResult& result) {
  TextTable table({"Address translation caches", "requests", "look-ups", "hits", "misses",
                   "under a miss", "invalidations", "page requests"});
  for (const AtsResult& function : result.ats) {
    const std::uint64_t lookups = function.lookups();
    if (lookups == 0 && function.invalidations == 0) {
      continue;
    }
    table.add_row({function.function, with_thousands(function.requests), with_thousands(lookups),
                   share_text(function.hits, lookups), share_text(function.misses, lookups),
                   share_text(function.misses_under_miss, lookups),
                   with_thousands(function.invalidations), with_thousands(function.page_requests)});
  }
  return table;
}

TextTable cxl_cache_table(const RunResult& result) {
  TextTable table({"CXL caches", "reads", "writes", "hit rate", "evictions", "snoops",
                   "of modified lines", "overtaken evictions"});
  for (const CxlCacheResult& cache : result.cxl_caches) {
    const std::uint64_t asked = cache.reads + cache.writes;
    const std::optional<double> rate =
        asked == 0 ? std::nullopt
                   : std::optional(static_cast<double>(cache.hits) / static_cast<double>(asked));
    table.add_row({cache.device, with_thousands(cache.reads), with_thousands(cache.writes),
                   percent_text(rate), with_thousands(cache.evictions),
                   with_thousands(cache.snoops), with_thousands(cache.snoops_modified),
                   with_thousands(cache.bogus)});
  }
  return table;
}

TextTable cxl_hdm_db_table(const RunResult& result) {
  TextTable table({"Memory by HDM-DB", "host lines", "hits", "evictions", "device lines", "hits",
                   "BISnp", "written back", "early conflicts", "late"});
  for (const CxlHdmDbResult& one : result.cxl_hdm_db) {
    table.add_row({one.device, with_thousands(one.host_reads + one.host_writes),
                   with_thousands(one.host_hits), with_thousands(one.host_evictions),
                   with_thousands(one.device_reads + one.device_writes),
                   with_thousands(one.device_hits), with_thousands(one.back_invalidations),
                   with_thousands(one.write_backs), with_thousands(one.conflicts_early),
                   with_thousands(one.conflicts_late)});
  }
  return table;
}

TextTable permission_table(const RunResult& result) {
  TextTable table({"Secure ATS", "checks", "denied", "reads/check"});
  for (const IommuResult& agent : result.iommu) {
    if (agent.permission_checks == 0) {
      continue;
    }
    const double reads =
        static_cast<double>(agent.permission_reads) / static_cast<double>(agent.permission_checks);
    table.add_row({agent.name, with_thousands(agent.permission_checks),
                   with_thousands(agent.permission_denied), fmt::format("{:.2f}", reads)});
  }
  return table;
}

TextTable refusals_table(const RunResult& result) {
  TextTable table({"Handle messages and look-ups refused", "device", "count"});
  table.left_align(1);
  for (const DhiResult& dhi : result.dhi) {
    for (const auto& [kind, count] : dhi.rejections) {
      table.add_row({kind, dhi.device, with_thousands(count)});
    }
  }
  return table;
}

TextTable attacks_table(const RunResult& result) {
  TextTable table({"Attacks", "tried", "through"});
  for (const AttackResult& one : result.attacks) {
    if (one.tried != 0) {
      table.add_row({one.attack, with_thousands(one.tried), with_thousands(one.through)});
    }
  }
  return table;
}

TextTable errors_table(const RunResult& result) {
  TextTable table({"Errors and reports", "count"});
  for (const auto& [kind, count] : result.errors) {
    if (count != 0) {
      table.add_row({kind, with_thousands(count)});
    }
  }
  return table;
}

std::string checks_text(const RunResult& result) {
  std::string failed;
  for (const CheckResult& check : result.checks) {
    if (!check.ok) {
      failed += fmt::format("Check FAILED: {}{}{}\n", check.name, check.detail.empty() ? "" : ": ",
                            check.detail);
    }
  }
  if (!failed.empty() || result.checks.empty()) {
    return failed;
  }
  return fmt::format("All {} checks of the run hold.\n", result.checks.size());
}

}  // namespace

std::string summary_text(const RunResult& result, RunEnd end, std::size_t width) {
  std::string text = fmt::format("Simulated {} in {:.2f} s, seed {}, config {}\n",
                                 time_text(result.simulated.ns()), result.host_seconds, result.seed,
                                 result.config_sha256.substr(0, 12));
  if (end != RunEnd::kComplete) {
    text += interruption_text(end) + "\n";
  }
  const auto add = [&](const std::string& part) { text += part.empty() ? "" : "\n" + part; };
  const auto add_table = [&](const TextTable& table) {
    add(table.is_empty() ? "" : table.text(width));
  };
  if (end == RunEnd::kComplete && !refusal_text(result).empty()) {
    add(refusal_text(result) + "\n");
  }
  add_table(links_table(result));
  add(drain_text(result));
  for (const TextTable& table :
       {wire_table(result), stall_table(result), waits_table(result), latency_table(result),
        handle_table(result), refusals_table(result), translation_table(result),
        driver_table(result), ats_table(result), cxl_cache_table(result), cxl_hdm_db_table(result),
        permission_table(result), attacks_table(result), errors_table(result)}) {
    add_table(table);
  }
  add(checks_text(result));
  return text;
}

}  // namespace flitwise
