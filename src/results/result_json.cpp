// SPDX-License-Identifier: Apache-2.0
// RunResult to JSON, statistic by statistic.
#include "results/result_json.h"

#include "results/statistics.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

/// Puts a value at a dotted key, making the objects on the way.
void put(Json& object, const std::string& key, Json value) {
  const std::size_t dot = key.find('.');
  if (dot == std::string::npos) {
    object[key] = std::move(value);
    return;
  }
  put(object[key.substr(0, dot)], key.substr(dot + 1), std::move(value));
}

template <class Subject>
void put_all(Json& object, const std::vector<Statistic<Subject>>& statistics,
             const Subject& subject) {
  for (const auto& statistic : statistics) {
    put(object, statistic.key, statistic.value(subject));
  }
}

Json direction_json(const LinkResult& link, const DirectionResult& traffic) {
  Json object = Json::object();
  put_all(object, link_statistics(), LinkDirection{link, traffic});
  return object;
}

Json links_json(const RunResult& result) {
  Json list = Json::array();
  for (const LinkResult& link : result.links) {
    list.push_back({{"name", link.name},
                    {"up", direction_json(link, link.up)},
                    {"down", direction_json(link, link.down)}});
  }
  return list;
}

Json latency_json(const RunResult& result) {
  Json list = Json::array();
  for (const LatencyResult& latency : result.latency) {
    Json object = {{"name", latency.name}, {"count", latency.count}, {"unit", "ns"}};
    put_all(object, latency_statistics(), latency);
    list.push_back(std::move(object));
  }
  return list;
}

Json dhi_json(const RunResult& result) {
  Json list = Json::array();
  for (const DhiResult& table : result.dhi) {
    Json object = {{"device", table.device}};
    put_all(object, dhi_statistics(), table);
    object["rejections"] = Json::object();
    for (const auto& [kind, count] : table.rejections) {
      object["rejections"][kind] = count;
    }
    list.push_back(std::move(object));
  }
  return list;
}

Json iommu_json(const RunResult& result) {
  Json list = Json::array();
  for (const IommuResult& agent : result.iommu) {
    Json object = {{"name", agent.name}};
    put_all(object, iommu_statistics(), agent);
    list.push_back(std::move(object));
  }
  return list;
}

Json ats_json(const RunResult& result) {
  Json list = Json::array();
  for (const AtsResult& function : result.ats) {
    Json object = {{"function", function.function}};
    put_all(object, ats_statistics(), function);
    list.push_back(std::move(object));
  }
  return list;
}

Json waits_json(const RunResult& result) {
  Json list = Json::array();
  for (const WaitResult& wait : result.waits) {
    Json object = {{"place", wait.place}, {"resource", wait.resource}};
    put_all(object, wait_statistics(), wait);
    list.push_back(std::move(object));
  }
  return list;
}

Json cxl_caches_json(const RunResult& result) {
  Json list = Json::array();
  for (const CxlCacheResult& cache : result.cxl_caches) {
    list.push_back({{"device", cache.device},
                    {"reads", cache.reads},
                    {"writes", cache.writes},
                    {"hits", cache.hits},
                    {"evictions", cache.evictions},
                    {"snoops", cache.snoops},
                    {"snoops_modified", cache.snoops_modified},
                    {"bogus", cache.bogus}});
  }
  return list;
}

Json cxl_hdm_db_json(const RunResult& result) {
  Json list = Json::array();
  for (const CxlHdmDbResult& one : result.cxl_hdm_db) {
    list.push_back({{"device", one.device},
                    {"host_reads", one.host_reads},
                    {"host_writes", one.host_writes},
                    {"host_hits", one.host_hits},
                    {"host_evictions", one.host_evictions},
                    {"device_reads", one.device_reads},
                    {"device_writes", one.device_writes},
                    {"device_hits", one.device_hits},
                    {"back_invalidations", one.back_invalidations},
                    {"write_backs", one.write_backs},
                    {"conflicts_early", one.conflicts_early},
                    {"conflicts_late", one.conflicts_late}});
  }
  return list;
}

Json attacks_json(const RunResult& result) {
  Json list = Json::array();
  for (const AttackResult& one : result.attacks) {
    list.push_back({{"attack", one.attack}, {"tried", one.tried}, {"through", one.through}});
  }
  return list;
}

Json errors_json(const RunResult& result) {
  Json list = Json::array();
  for (const auto& [kind, count] : result.errors) {
    list.push_back({{"kind", kind}, {"count", count}});
  }
  return list;
}

Json checks_json(const RunResult& result) {
  Json list = Json::array();
  for (const CheckResult& check : result.checks) {
    Json object = {{"name", check.name}, {"ok", check.ok}};
    if (!check.detail.empty()) {
      object["detail"] = check.detail;
    }
    list.push_back(std::move(object));
  }
  return list;
}

Json violations_json(const RunResult& result) {
  Json list = Json::array();
  for (const Violation& one : result.violations) {
    list.push_back({{"rule", one.rule},
                    {"sentence", one.sentence},
                    {"link", one.link},
                    {"direction", one.is_up ? "up" : "down"},
                    {"time_ns", one.time.ns()},
                    {"packet", one.packet},
                    {"other", one.other}});
  }
  return list;
}

}  // namespace

Json result_json(const RunResult& result, RunEnd end) {
  Json json;
  json["flitwise"] = {{"version", FLITWISE_VERSION},
                      {"config_sha256", result.config_sha256},
                      {"seed", result.seed},
                      {"simulated_ns", result.simulated.ns()},
                      {"host_seconds", result.host_seconds}};
  if (end != RunEnd::kComplete) {
    json["flitwise"]["interrupted"] = true;
  }
  if (end == RunEnd::kInterruptedBeforeWindow) {
    json["flitwise"]["window_began"] = false;
  }
  json["config"] = result.config_json.empty() ? Json::object() : Json::parse(result.config_json);
  json["links"] = links_json(result);
  json["latency"] = latency_json(result);
  json["dhi"] = dhi_json(result);
  json["iommu"] = iommu_json(result);
  json["ats"] = ats_json(result);
  json["waits"] = waits_json(result);
  json["cxl_cache"] = cxl_caches_json(result);
  json["cxl_hdm_db"] = cxl_hdm_db_json(result);
  json["attacks"] = attacks_json(result);
  for (const char* not_there : {"pio", "hca", "srdma"}) {
    json[not_there] = Json::array();
  }
  json["network"] = Json::object();
  json["errors"] = errors_json(result);
  json["checks"] = checks_json(result);
  json["violations"] = violations_json(result);
  return json;
}

std::string result_text(const RunResult& result, RunEnd end,
                        const std::vector<std::string>& files) {
  Json json = result_json(result, end);
  if (!files.empty()) {
    json["flitwise"]["files"] = files;
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string interruption_text(RunEnd end) {
  switch (end) {
    case RunEnd::kComplete:
      return "";
    case RunEnd::kInterrupted:
      return "Interrupted: the figures cover the run up to there, and nothing was checked.";
    case RunEnd::kInterruptedBeforeWindow:
      return "Interrupted before the measured window began: nothing was measured, and nothing was "
             "checked.";
  }
  return "";
}

}  // namespace flitwise
