// SPDX-License-Identifier: Apache-2.0
// Table by table, as their descriptions say.
#include "results/read_result.h"

#include "results/result_json.h"
#include "results/tables.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

std::string string_in(const Json& object, const char* key) {
  return object.at(key).get<std::string>();
}

}  // namespace

RunResult read_result(const Json& json) {
  RunResult result;
  read_figure(json.at("flitwise").at("simulated_ns"), result.simulated);
  for (const StatisticsTable* const table : all_tables()) {
    table->read(table_rows(table->info().list, json), result);
  }
  for (const Json& error : json.at("errors")) {
    result.errors[string_in(error, "kind")] = error.at("count").get<std::uint64_t>();
  }
  for (const Json& check : json.at("checks")) {
    result.checks.push_back(
        {string_in(check, "name"), check.at("ok").get<bool>(), check.value("detail", "")});
  }
  for (const Json& one : table_rows("violations", json)) {
    Violation& violation = result.violations.emplace_back();
    violation = {string_in(one, "rule"),
                 string_in(one, "sentence"),
                 string_in(one, "link"),
                 string_in(one, "direction") == "up",
                 {},
                 string_in(one, "packet"),
                 string_in(one, "other")};
    read_figure(one.at("time_ns"), violation.time);
  }
  return result;
}

RunEnd end_of(const Json& json) {
  const Json& head = json.at("flitwise");
  return !head.value("interrupted", false)  ? RunEnd::kComplete
         : head.value("window_began", true) ? RunEnd::kInterrupted
                                            : RunEnd::kInterruptedBeforeWindow;
}

}  // namespace flitwise
