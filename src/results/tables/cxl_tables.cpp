// SPDX-License-Identifier: Apache-2.0
// Caches of CXL devices, and memory that host and device both cache.
#include <optional>
#include <string>
#include <vector>

#include "results/tables.h"

namespace flitwise {
namespace {

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
