// SPDX-License-Identifier: Apache-2.0
// Caches of CXL devices.
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

Table<CxlCacheResult> make_cxl_cache_table() {
  return Table<CxlCacheResult>("cxl_cache", "cxl_cache",
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
}

}  // namespace

const StatisticsTable& cxl_cache_table() {
  static const Table<CxlCacheResult> kTable = make_cxl_cache_table();
  return kTable;
}

}  // namespace flitwise
