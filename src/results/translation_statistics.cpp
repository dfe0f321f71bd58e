// SPDX-License-Identifier: Apache-2.0
// The table of statistics: translations, and waits at queues.
#include "results/statistics.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;
using Agent = IommuResult;
using Atc = AtsResult;
using Wait = WaitResult;

std::vector<Statistic<Agent>> make_iommu_statistics() {
  return {
      {"requests", "", "Requests of devices that the agent was asked about, of any kind.",
       [](const Agent& a) { return Json(a.requests); }},
      {"translated_requests", "", "Of them, those with AT=10, which are not looked up.",
       [](const Agent& a) { return Json(a.translated_requests); }},
      {"iotlb_hits", "", "Look-ups that the caches answered.",
       [](const Agent& a) { return Json(a.iotlb_hits); }},
      {"iotlb_misses", "", "Look-ups that a walk was due for.",
       [](const Agent& a) { return Json(a.iotlb_misses); }},
      {"iotlb_misses_under_miss", "",
       "Look-ups of a page that a walk was under way or due for already.",
       [](const Agent& a) { return Json(a.iotlb_misses_under_miss); }},
      {"walks", "", "Page walks begun.", [](const Agent& a) { return Json(a.walks); }},
      {"walk_reads", "", "Reads of tables in host memory.",
       [](const Agent& a) { return Json(a.walk_reads); }},
      {"faults", "", "Requests that the tables do not allow.",
       [](const Agent& a) { return Json(a.faults); }},
      {"invalidations", "", "Invalidations carried out.",
       [](const Agent& a) { return Json(a.invalidations); }},
      {"device_invalidations", "", "Invalidate Requests sent to devices.",
       [](const Agent& a) { return Json(a.device_invalidations); }},
      {"held_back", "", "Of them, those that waited for room at their function.",
       [](const Agent& a) { return Json(a.held_back); }},
      {"page_requests", "", "Page Requests received.",
       [](const Agent& a) { return Json(a.page_requests); }},
      {"page_requests_dropped", "", "Of them, those that the queue had no room for.",
       [](const Agent& a) { return Json(a.page_requests_dropped); }},
      {"permission_checks", "", "Translated requests checked by Secure ATS.",
       [](const Agent& a) { return Json(a.permission_checks); }},
      {"permission_denied", "", "Of them, those refused.",
       [](const Agent& a) { return Json(a.permission_denied); }},
      {"permission_reads", "", "Reads of permission tables.",
       [](const Agent& a) { return Json(a.permission_reads); }},
      {"maps", "", "Pages that the driver mapped.", [](const Agent& a) { return Json(a.maps); }},
      {"unmaps", "", "Pages that it unmapped.", [](const Agent& a) { return Json(a.unmaps); }},
      {"late_accesses", "", "Accesses to pages unmapped and not yet invalidated.",
       [](const Agent& a) { return Json(a.late_accesses); }},
      {"page_requests_served", "", "Page Requests that the driver granted.",
       [](const Agent& a) { return Json(a.page_requests_served); }},
      {"page_requests_refused", "", "Page Requests that it refused.",
       [](const Agent& a) { return Json(a.page_requests_refused); }},
      {"faults_taken", "", "Fault records that it took.",
       [](const Agent& a) { return Json(a.faults_taken); }},
      {"teardowns", "", "Contexts that it ended.",
       [](const Agent& a) { return Json(a.teardowns); }},
  };
}

std::vector<Statistic<Atc>> make_ats_statistics() {
  return {
      {"requests", "", "Translation Requests sent for counted requests.",
       [](const Atc& a) { return Json(a.requests); }},
      {"hits", "", "TLPs that found their translation in the ATC.",
       [](const Atc& a) { return Json(a.hits); }},
      {"misses", "", "TLPs that did not, and for which none was due.",
       [](const Atc& a) { return Json(a.misses); }},
      {"misses_under_miss", "", "TLPs that waited for a translation that was due already.",
       [](const Atc& a) { return Json(a.misses_under_miss); }},
      {"invalidations", "", "Invalidate Requests taken.",
       [](const Atc& a) { return Json(a.invalidations); }},
      {"page_requests", "", "Page Requests sent for counted requests.",
       [](const Atc& a) { return Json(a.page_requests); }},
  };
}

std::vector<Statistic<Wait>> make_wait_statistics() {
  return {
      {"count", "", "Waits at this queue that are over.",
       [](const Wait& w) { return Json(w.count); }},
      {"wait_ns", "ns",
       "All of them together; over the window, the mean length of the queue. Of outstanding, "
       "link_queues, cxl_ids and cxl_lines only the foremost waits.",
       [](const Wait& w) { return Json(w.total.ns()); }},
  };
}

}  // namespace

const std::vector<Statistic<IommuResult>>& iommu_statistics() {
  static const auto kStatistics = make_iommu_statistics();
  return kStatistics;
}

const std::vector<Statistic<AtsResult>>& ats_statistics() {
  static const auto kStatistics = make_ats_statistics();
  return kStatistics;
}

const std::vector<Statistic<WaitResult>>& wait_statistics() {
  static const auto kStatistics = make_wait_statistics();
  return kStatistics;
}

}  // namespace flitwise
