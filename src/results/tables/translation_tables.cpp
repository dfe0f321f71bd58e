// SPDX-License-Identifier: Apache-2.0
// Translation agents, their drivers, and address translation caches.
#include <fmt/format.h>

#include <vector>

#include "results/tables.h"

namespace flitwise {
namespace {

TextTable translation_view(const std::vector<IommuResult>& rows, const RunResult& /*result*/) {
  TextTable table({"Translations", "requests", "translated", "look-ups", "hits", "misses",
                   "under a miss", "walks", "reads/walk", "faults", "invalidations"});
  for (const IommuResult& agent : rows) {
    if (agent.requests == 0) {
      continue;
    }
    const std::uint64_t lookups = agent.iotlb_lookups();
    const double reads =
        agent.walks == 0 ? 0
                         : static_cast<double>(agent.walk_reads) / static_cast<double>(agent.walks);
    table.add(agent.name, agent.requests, agent.translated_requests, lookups,
              share_text(agent.iotlb_hits, lookups), share_text(agent.iotlb_misses, lookups),
              share_text(agent.iotlb_misses_under_miss, lookups), agent.walks,
              fmt::format("{:.1f}", reads), agent.faults, agent.invalidations);
  }
  return table;
}

TextTable driver_view(const std::vector<IommuResult>& rows, const RunResult& /*result*/) {
  TextTable table(
      {"Driver of", "maps", "unmaps", "late accesses", "pages served", "refused", "faults taken"});
  for (const IommuResult& agent : rows) {
    if (agent.maps + agent.unmaps + agent.page_requests_served + agent.page_requests_refused +
            agent.faults_taken ==
        0) {
      continue;
    }
    table.add(agent.name, agent.maps, agent.unmaps, agent.late_accesses, agent.page_requests_served,
              agent.page_requests_refused, agent.faults_taken);
  }
  return table;
}

TextTable permission_view(const std::vector<IommuResult>& rows, const RunResult& /*result*/) {
  TextTable table({"Secure ATS", "checks", "denied", "reads/check"});
  for (const IommuResult& agent : rows) {
    if (agent.permission_checks == 0) {
      continue;
    }
    const double reads =
        static_cast<double>(agent.permission_reads) / static_cast<double>(agent.permission_checks);
    table.add(agent.name, agent.permission_checks, agent.permission_denied,
              fmt::format("{:.2f}", reads));
  }
  return table;
}

TextTable ats_view(const std::vector<AtsResult>& rows, const RunResult& /*result*/) {
  TextTable table({"Address translation caches", "requests", "look-ups", "hits", "misses",
                   "under a miss", "invalidations", "page requests"});
  for (const AtsResult& function : rows) {
    const std::uint64_t lookups = function.lookups();
    if (lookups == 0 && function.invalidations == 0) {
      continue;
    }
    table.add(function.function, function.requests, lookups, share_text(function.hits, lookups),
              share_text(function.misses, lookups), share_text(function.misses_under_miss, lookups),
              function.invalidations, function.page_requests);
  }
  return table;
}

}  // namespace

const StatisticsTable& iommu_table() {
  static const auto kTable =
      Table<IommuResult>("iommu", "iommu", "One row per translation agent.")
          .name("name", &IommuResult::name)
          .count("requests", &IommuResult::requests,
                 "Requests of devices that the agent was asked about, of any kind.")
          .count("translated_requests", &IommuResult::translated_requests,
                 "Of them, those with AT=10, which are not looked up.")
          .count("iotlb_hits", &IommuResult::iotlb_hits, "Look-ups that the caches answered.")
          .count("iotlb_misses", &IommuResult::iotlb_misses, "Look-ups that a walk was due for.")
          .count("iotlb_misses_under_miss", &IommuResult::iotlb_misses_under_miss,
                 "Look-ups of a page that a walk was under way or due for already.")
          .count("walks", &IommuResult::walks, "Page walks begun.")
          .count("walk_reads", &IommuResult::walk_reads, "Reads of tables in host memory.")
          .count("faults", &IommuResult::faults, "Requests that the tables do not allow.")
          .count("invalidations", &IommuResult::invalidations, "Invalidations carried out.")
          .count("device_invalidations", &IommuResult::device_invalidations,
                 "Invalidate Requests sent to devices.")
          .count("held_back", &IommuResult::held_back,
                 "Of them, those that waited for room at their function.")
          .count("page_requests", &IommuResult::page_requests, "Page Requests received.")
          .count("page_requests_dropped", &IommuResult::page_requests_dropped,
                 "Of them, those that the queue had no room for.")
          .count("permission_checks", &IommuResult::permission_checks,
                 "Translated requests checked by Secure ATS.")
          .count("permission_denied", &IommuResult::permission_denied, "Of them, those refused.")
          .count("permission_reads", &IommuResult::permission_reads, "Reads of permission tables.")
          .count("maps", &IommuResult::maps, "Pages that the driver mapped.")
          .count("unmaps", &IommuResult::unmaps, "Pages that it unmapped.")
          .count("late_accesses", &IommuResult::late_accesses,
                 "Accesses to pages unmapped and not yet invalidated.")
          .count("page_requests_served", &IommuResult::page_requests_served,
                 "Page Requests that the driver granted.")
          .count("page_requests_refused", &IommuResult::page_requests_refused,
                 "Page Requests that it refused.")
          .count("faults_taken", &IommuResult::faults_taken, "Fault records that it took.")
          .count("teardowns", &IommuResult::teardowns, "Contexts that it ended.")
          .flat(FlatRows::kEach, "iommu")
          .show(translation_view)
          .show(driver_view)
          .show(permission_view);
  return kTable;
}

const StatisticsTable& ats_table() {
  static const auto kTable =
      Table<AtsResult>("ats", "ats",
                       "One row per function whose ATC was ever enabled or invalidated.")
          .name("function", &AtsResult::function)
          .count("requests", &AtsResult::requests,
                 "Translation Requests sent for counted requests.")
          .count("hits", &AtsResult::hits, "TLPs that found their translation in the ATC.")
          .count("misses", &AtsResult::misses, "TLPs that did not, and for which none was due.")
          .count("misses_under_miss", &AtsResult::misses_under_miss,
                 "TLPs that waited for a translation that was due already.")
          .count("invalidations", &AtsResult::invalidations, "Invalidate Requests taken.")
          .count("page_requests", &AtsResult::page_requests,
                 "Page Requests sent for counted requests.")
          .flat(FlatRows::kSum, "ats")
          .show(ats_view);
  return kTable;
}

}  // namespace flitwise
