// SPDX-License-Identifier: Apache-2.0
// RunResult to JSON, statistic by statistic.
#include "results/result_json.h"

#include <any>

#include "results/tables.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

// A row each, or an object in its row for each that has the same first name.
Json list_of(const StatisticsTable& table, const std::any& rows) {
  Json list = Json::array();
  const TableInfo& info = table.info();
  const bool is_nested = !info.nested.empty();
  for (std::size_t row = 0; row < table.size(rows); ++row) {
    const std::string first = table.name(rows, row, 0);
    const bool is_next = !is_nested || list.empty() || list.back().at(info.names[0].key) != first;
    if (is_next) {
      list.push_back({{info.names[0].key, first}});
    }
    Json& object = is_nested ? list.back()[table.name(rows, row, 1)] : list.back();
    for (std::size_t i = 1; i < info.names.size() && !is_nested; ++i) {
      object[info.names[i].key] = table.name(rows, row, i);
    }
    for (std::size_t i = 0; i < info.figures.size(); ++i) {
      object[pointer_of(info.figures[i].key)] = table.figure(rows, row, i);
    }
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
  for (const StatisticsTable* const table : all_tables()) {
    const std::any* const rows = result.find(table->row_type());
    json[table->info().list] = rows == nullptr ? Json::array() : list_of(*table, *rows);
  }
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
  return end == RunEnd::kComplete ? ""
         : end == RunEnd::kInterrupted
             ? "Interrupted: the figures cover the run up to there, and nothing was checked."
             : "Interrupted before the measured window began: nothing was measured, and nothing "
               "was checked.";
}

}  // namespace flitwise
