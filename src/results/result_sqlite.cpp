// SPDX-License-Identifier: Apache-2.0
// The lists of result.json to rows.
#include <fmt/format.h>

#include "common/embedded.h"
#include "common/ranges.h"
#include "results/result_json.h"
#include "results/sqlite_database.h"
#include "results/tables.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSqlTypes[] = {"INTEGER NOT NULL", "REAL NOT NULL", "REAL",
                                     "TEXT"};  // by FigureType, but for kByKind

/// Columns that name a row.
std::string name_columns(const TableInfo& table) {
  return sum_of(table.names, [](const NameInfo& name) {
    return fmt::format("  {} TEXT NOT NULL,\n", sql_name(name.column));
  });
}

std::string key_of(const TableInfo& table) {
  const auto names =
      mapped(table.names, [](const NameInfo& name) { return sql_name(name.column); });
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string schema_of(const TableInfo& table) {
  std::string columns = name_columns(table);
  std::string more;
  for (const FigureInfo& figure : table.figures) {
    const std::string comment =
        figure.definition + (figure.unit.empty() ? "" : " Unit: " + figure.unit);
    if (figure.type == FigureType::kByKind) {
      more += fmt::format(
          "-- {}\nCREATE TABLE {} (\n{}  kind TEXT NOT NULL,\n  count INTEGER NOT NULL,\n"
          "  PRIMARY KEY ({}, kind)\n) STRICT;\n",
          comment, figure.kind_table, name_columns(table), key_of(table));
    } else {
      columns += fmt::format("  {} {},  -- {}\n", sql_name(figure.column()),
                             kSqlTypes[static_cast<std::size_t>(figure.type)], comment);
    }
  }
  return fmt::format("-- {}\nCREATE TABLE {} (\n{}  PRIMARY KEY ({})\n) STRICT;\n", table.sentence,
                     table.sql_table, columns, key_of(table)) +
         more;
}

/// A row, without its counts by kind: those go into their own table.
void insert_row(SqliteDatabase& database, const TableInfo& table, Json names, Json figures) {
  for (const FigureInfo& figure : table.figures) {
    if (figure.type != FigureType::kByKind) {
      continue;
    }
    for (const auto& [kind, count] : figures.at(figure.key).items()) {
      Json row = names;
      row["kind"] = kind;
      row["count"] = count;
      database.insert(figure.kind_table, row);
    }
    figures.erase(figure.key);
  }
  flatten(figures, "", names);
  database.insert(table.sql_table, names);
}

void insert_table(SqliteDatabase& database, const TableInfo& table, const Json& list) {
  for (const Json& one : ungrouped(table, list)) {
    Json names = Json::object();
    Json figures = one;
    for (std::size_t i = 0; i < (table.nested.empty() ? table.names.size() : 1); ++i) {
      names[table.names[i].column] = one.at(table.names[i].key);
      figures.erase(table.names[i].key);
    }
    if (table.nested.empty()) {
      insert_row(database, table, names, figures);
      continue;
    }
    for (const auto& [second, object] : figures.items()) {
      names[table.names[1].column] = second;
      insert_row(database, table, names, object);
    }
  }
}

}  // namespace

std::string result_schema() {
  return embedded::result_schema_sql() + sum_of(all_tables(), [](const StatisticsTable* table) {
           return "\n" + schema_of(table->info());
         });
}

std::string result_sqlite(const Json& result) {
  SqliteDatabase database(SqliteDatabase::kInMemory, SqliteDatabase::Mode::kCreate);
  database.execute("BEGIN");
  database.execute(result_schema());
  Json run = result.at("flitwise");
  run["config"] = result.at("config").dump();
  database.insert("run", run);
  for (const StatisticsTable* const table : all_tables()) {
    insert_table(database, table->info(), table_rows(table->info().list, result));
  }
  for (const Json& error : result.at("errors")) {
    database.insert("error", error);
  }
  for (const Json& check : result.at("checks")) {
    database.insert("check_result", {{"name", check.at("name")},
                                     {"ok", check.at("ok")},
                                     {"detail", check.value("detail", "")}});
  }
  for (const Json& violation : result.at("violations")) {
    database.insert("violation", violation);
  }
  database.execute("COMMIT");
  return database.bytes();
}

}  // namespace flitwise
