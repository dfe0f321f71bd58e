// SPDX-License-Identifier: Apache-2.0
// Memory that host and device both cache.
#include <optional>
#include <string>
#include <vector>

#include "results/tables.h"

namespace flitwise {
namespace {

TextTable cxl_hdm_db_view(const std::vector<CxlHdmDbResult>& rows, const RunResult& /*result*/) {
  TextTable table({"Memory by HDM-DB", "host lines", "hits", "evictions", "device lines", "hits",
                   "BISnp", "written back", "early conflicts", "late"});
  for (const CxlHdmDbResult& one : rows) {
    table.add_row({one.device, with_thousands(one.host_reads + one.host_writes),
                   with_thousands(one.host_hits), with_thousands(one.host_evictions),
                   with_thousands(one.device_reads + one.device_writes),
                   with_thousands(one.device_hits), with_thousands(one.back_invalidations),
                   with_thousands(one.write_backs), with_thousands(one.conflicts_early),
                   with_thousands(one.conflicts_late)});
  }
  return table;
}

Table<CxlHdmDbResult> make_cxl_hdm_db_table() {
  return Table<CxlHdmDbResult>(
             "cxl_hdm_db", "cxl_hdm_db",
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
      .count("conflicts_early", &CxlHdmDbResult::conflicts_early,
             "Requests of the host that the device had not served when it asked for their line.")
      .count("conflicts_late", &CxlHdmDbResult::conflicts_late, "Those that it had served.")
      .flat(FlatRows::kSum, "cxl_hdm_db")
      .show(cxl_hdm_db_view);
}

}  // namespace

const StatisticsTable& cxl_hdm_db_table() {
  static const Table<CxlHdmDbResult> kTable = make_cxl_hdm_db_table();
  return kTable;
}

}  // namespace flitwise
