// SPDX-License-Identifier: Apache-2.0
#include "rdma/eps_result.h"

namespace flitwise {
namespace {

TextTable eps_view(const std::vector<EpsResult>& rows, const RunResult& /*result*/) {
  TextTable table({"pre-translation", "structures", "translated", "requests", "failures",
                   "discarded", "invalidations hit", "missed"});
  for (const EpsResult& row : rows) {
    table.add_row({row.device, as_cell(row.structures), as_cell(row.translated),
                   as_cell(row.requests), as_cell(row.failures), as_cell(row.discarded),
                   as_cell(row.invalidations_hit), as_cell(row.invalidations_missed)});
  }
  return table;
}

}  // namespace

const StatisticsTable& eps_table() {
  using Row = EpsResult;
  static const Table<Row> kTable =
      Table<Row>("eps", "eps",
                 "One row per RDMA adapter whose firmware translates static structures ahead of "
                 "use.")
          .name("device", &Row::device)
          .count("structures", &Row::structures,
                 "Structures whose address registers software has written.")
          .count("translated", &Row::translated,
                 "Those whose register has a translated address at the end of the run.")
          .count("requests", &Row::requests, "Translation Requests for them that left.")
          .count("failures", &Row::failures,
                 "Structures that got no translation, or one that does not reach their end.")
          .count("discarded", &Row::discarded,
                 "Translations that came for a structure behind an invalidation of it.")
          .count("invalidations_hit", &Row::invalidations_hit,
                 "Invalidate Requests that took a translation, or one that was asked for.")
          .count("invalidations_missed", &Row::invalidations_missed,
                 "Invalidate Requests for other addresses.")
          .count("waits", &Row::waits,
                 "Accesses that found no address, since an invalidation had cleared it.")
          .count("faults", &Row::faults, "Accesses beyond a structure, which were not sent.")
          .show(eps_view);
  return kTable;
}

}  // namespace flitwise
