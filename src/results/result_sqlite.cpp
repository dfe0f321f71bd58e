// SPDX-License-Identifier: Apache-2.0
// The lists of result.json to rows.
#include "results/result_sqlite.h"

#include "common/embedded.h"
#include "results/flatten.h"
#include "results/sqlite_database.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

void insert_run(SqliteDatabase& database, const Json& result) {
  Json row = result.at("flitwise");
  row["config"] = result.at("config").dump();
  database.insert("run", row);
}

void insert_links(SqliteDatabase& database, const Json& result) {
  for (const Json& link : result.at("links")) {
    for (const char* direction : {"up", "down"}) {
      Json row = {{"link", link.at("name")}, {"direction", direction}};
      flatten(link.at(direction), "", row);
      database.insert("link_direction", row);
    }
  }
}

void insert_dhi(SqliteDatabase& database, const Json& result) {
  for (Json table : result.at("dhi")) {
    const Json rejections = table.at("rejections");
    table.erase("rejections");
    database.insert("dhi", table);
    for (const auto& [kind, count] : rejections.items()) {
      database.insert("dhi_rejection",
                      {{"device", table.at("device")}, {"kind", kind}, {"count", count}});
    }
  }
}

void insert_checks(SqliteDatabase& database, const Json& result) {
  for (const Json& check : result.at("checks")) {
    database.insert("check_result", {{"name", check.at("name")},
                                     {"ok", check.at("ok")},
                                     {"detail", check.value("detail", "")}});
  }
}

void insert_violations(SqliteDatabase& database, const Json& result) {
  for (const Json& violation : result.at("violations")) {
    database.insert("violation", violation);
  }
}

}  // namespace

std::string result_sqlite(const Json& result) {
  SqliteDatabase database(SqliteDatabase::kInMemory, SqliteDatabase::Mode::kCreate);
  database.execute("BEGIN");
  database.execute(embedded::result_schema_sql());
  insert_run(database, result);
  insert_links(database, result);
  for (const Json& latency : result.at("latency")) {
    database.insert("latency", latency);
  }
  insert_dhi(database, result);
  for (const Json& agent : result.at("iommu")) {
    database.insert("iommu", agent);
  }
  for (const Json& function : result.at("ats")) {
    database.insert("ats", function);
  }
  for (const Json& wait : result.at("waits")) {
    database.insert("wait", wait);
  }
  for (const Json& cache : result.at("cxl_cache")) {
    database.insert("cxl_cache", cache);
  }
  for (const Json& memory : result.at("cxl_hdm_db")) {
    database.insert("cxl_hdm_db", memory);
  }
  for (const Json& attack : result.at("attacks")) {
    database.insert("attack", attack);
  }
  for (const Json& error : result.at("errors")) {
    database.insert("error", error);
  }
  insert_checks(database, result);
  insert_violations(database, result);
  database.execute("COMMIT");
  return database.bytes();
}

}  // namespace flitwise
