// SPDX-License-Identifier: Apache-2.0
// Address translation caches.
#include <string>
#include <vector>

#include "results/share.h"
#include "results/tables.h"

namespace flitwise {
namespace {

TextTable ats_view(const std::vector<AtsResult>& rows, const RunResult& /*result*/) {
  TextTable table({"Address translation caches", "requests", "look-ups", "hits", "misses",
                   "under a miss", "invalidations", "page requests"});
  for (const AtsResult& function : rows) {
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

Table<AtsResult> make_ats_table() {
  return Table<AtsResult>("ats", "ats",
                          "One row per function whose ATC was ever enabled or invalidated.")
      .name("function", &AtsResult::function)
      .count("requests", &AtsResult::requests, "Translation Requests sent for counted requests.")
      .count("hits", &AtsResult::hits, "TLPs that found their translation in the ATC.")
      .count("misses", &AtsResult::misses, "TLPs that did not, and for which none was due.")
      .count("misses_under_miss", &AtsResult::misses_under_miss,
             "TLPs that waited for a translation that was due already.")
      .count("invalidations", &AtsResult::invalidations, "Invalidate Requests taken.")
      .count("page_requests", &AtsResult::page_requests, "Page Requests sent for counted requests.")
      .flat(FlatRows::kSum, "ats")
      .show(ats_view);
}

}  // namespace

const StatisticsTable& ats_table() {
  static const Table<AtsResult> kTable = make_ats_table();
  return kTable;
}

}  // namespace flitwise
