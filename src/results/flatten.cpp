// SPDX-License-Identifier: Apache-2.0
// Columns of merged sweeps.
#include "results/flatten.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

std::string joined(const std::string& prefix, const std::string& key) {
  return prefix.empty() ? key : prefix + "_" + key;
}

void add_links(const Json& result, Json& row) {
  for (std::size_t i = 0; i < result.at("links").size(); ++i) {
    const Json& link = result.at("links")[i];
    const std::string name = i == 0 ? "" : link.at("name").get<std::string>();
    flatten(link.at("up"), joined(name, "up"), row);
    flatten(link.at("down"), joined(name, "down"), row);
  }
}

void add_latency(const Json& result, Json& row) {
  for (const Json& latency : result.at("latency")) {
    const auto name = latency.at("name").get<std::string>();
    for (const auto& [key, value] : latency.items()) {
      if (value.is_number()) {
        row[name + "_" + key + (key == "count" ? "" : "_ns")] = value;
      }
    }
  }
}

void add_dhi(const Json& result, Json& row) {
  for (std::size_t i = 0; i < result.at("dhi").size(); ++i) {
    Json table = result.at("dhi")[i];
    const std::string name = i == 0 ? "" : table.at("device").get<std::string>();
    table.erase("device");
    flatten(table, joined(name, "dhi"), row);
  }
}

void add_iommu(const Json& result, Json& row) {
  for (Json agent : result.value("iommu", Json::array())) {
    agent.erase("name");
    flatten(agent, "iommu", row);  // there is one
  }
}

// All functions, or all devices, together.
void add_sums(const Json& result, const char* part, Json& row) {
  for (const Json& one : result.value(part, Json::array())) {
    for (const auto& [key, value] : one.items()) {
      if (value.is_number()) {
        const std::string column = joined(part, key);
        row[column] = row.value(column, std::uint64_t{0}) + value.get<std::uint64_t>();
      }
    }
  }
}

// All places together.
void add_waits(const Json& result, Json& row) {
  for (const Json& one : result.value("waits", Json::array())) {
    const std::string column = joined("wait", one.at("resource").get<std::string>()) + "_ns";
    row[column] = row.value(column, 0.0) + one.at("wait_ns").get<double>();
  }
}

void add_attacks(const Json& result, Json& row) {
  for (const Json& one : result.value("attacks", Json::array())) {
    const std::string name = joined("attack", one.at("attack").get<std::string>());
    row[joined(name, "tried")] = one.at("tried");
    row[joined(name, "through")] = one.at("through");
  }
}

}  // namespace

void flatten(const Json& object, const std::string& prefix, Json& row) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      flatten(value, joined(prefix, key), row);
    } else {
      row[joined(prefix, key)] = value;
    }
  }
}

Json figures_row(const Json& result) {
  Json row = Json::object();
  row["simulated_ns"] = result.at("flitwise").at("simulated_ns");
  add_links(result, row);
  add_latency(result, row);
  add_dhi(result, row);
  add_iommu(result, row);
  add_sums(result, "ats", row);
  add_waits(result, row);
  add_sums(result, "cxl_cache", row);
  add_sums(result, "cxl_hdm_db", row);
  add_attacks(result, row);
  for (const Json& error : result.at("errors")) {
    row["errors_" + error.at("kind").get<std::string>()] = error.at("count");
  }
  int failed = 0;
  for (const Json& check : result.at("checks")) {
    failed += check.at("ok").get<bool>() ? 0 : 1;
  }
  row["checks_failed"] = failed;
  row["host_seconds"] = result.at("flitwise").at("host_seconds");
  return row;
}

}  // namespace flitwise
