// SPDX-License-Identifier: Apache-2.0
// A thin layer over the SQLite C interface.
#include "results/sqlite_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <stdexcept>

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

void bind(sqlite3_stmt* statement, int index, const Json& value) {
  if (value.is_null()) {
    sqlite3_bind_null(statement, index);
  } else if (value.is_boolean()) {
    sqlite3_bind_int(statement, index, value.get<bool>() ? 1 : 0);
  } else if (value.is_number_integer()) {
    sqlite3_bind_int64(statement, index, value.get<std::int64_t>());
  } else if (value.is_number()) {
    sqlite3_bind_double(statement, index, value.get<double>());
  } else {
    const std::string text = value.is_string()
                                 ? value.get<std::string>()
                                 : value.dump(-1, ' ', false, Json::error_handler_t::replace);
    sqlite3_bind_text(statement, index, text.c_str(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
  }
}

Json column(sqlite3_stmt* statement, int index) {
  switch (sqlite3_column_type(statement, index)) {
    case SQLITE_NULL: return nullptr;
    case SQLITE_INTEGER: return sqlite3_column_int64(statement, index);
    case SQLITE_FLOAT: return sqlite3_column_double(statement, index);
    default: return SqliteRow(statement).text(index);
  }
}

}  // namespace

std::optional<std::int64_t> SqliteRow::number(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) {
    return std::nullopt;
  }
  return sqlite3_column_int64(statement_, column);
}

std::string SqliteRow::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return bytes == nullptr ? std::string() : std::string(bytes, size);
}

std::string sql_name(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + "\"";
}

SqliteDatabase::SqliteDatabase(const std::string& path, Mode mode) {
  const int flags =
      mode == Mode::kCreate ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  if (sqlite3_open_v2(path.c_str(), &database_, flags, nullptr) != SQLITE_OK) {
    const std::string text = sqlite3_errmsg(database_);
    sqlite3_close(database_);
    throw std::runtime_error(fmt::format("{}: {}", path, text));
  }
}

SqliteDatabase::~SqliteDatabase() {
  sqlite3_close(database_);
}

void SqliteDatabase::fail(const std::string& what) const {
  throw std::runtime_error(fmt::format("{}: {}: {}", sqlite3_db_filename(database_, "main"), what,
                                       sqlite3_errmsg(database_)));
}

void SqliteDatabase::execute(const std::string& sql) {
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    fail(sql.substr(0, 80));
  }
}

SqliteDatabase::Statement SqliteDatabase::prepared(const std::string& sql,
                                                   const std::string& what) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    fail(what);
  }
  return {statement, sqlite3_finalize};
}

void SqliteDatabase::insert(const std::string& table, const Json& row) {
  std::string names;
  std::string marks;
  for (const auto& [key, value] : row.items()) {
    names += (names.empty() ? "" : ", ") + sql_name(key);
    marks += marks.empty() ? "?" : ", ?";
  }
  const std::string sql =
      fmt::format("INSERT INTO {} ({}) VALUES ({})", sql_name(table), names, marks);
  const Statement statement = prepared(sql, table);
  int index = 0;
  for (const auto& [key, value] : row.items()) {
    bind(statement.get(), ++index, value);
  }
  if (sqlite3_step(statement.get()) != SQLITE_DONE) {
    fail(table);
  }
}

void SqliteDatabase::for_each(const std::string& sql,
                              const std::function<void(const SqliteRow&)>& see) {
  const Statement statement = prepared(sql, sql);
  int state = sqlite3_step(statement.get());
  for (; state == SQLITE_ROW; state = sqlite3_step(statement.get())) {
    see(SqliteRow(statement.get()));
  }
  if (state != SQLITE_DONE) {
    fail(sql);
  }
}

std::vector<Json> SqliteDatabase::query(const std::string& sql) {
  const Statement statement = prepared(sql, sql);
  sqlite3_stmt* const raw = statement.get();
  std::vector<Json> rows;
  int state = sqlite3_step(raw);
  for (; state == SQLITE_ROW; state = sqlite3_step(raw)) {
    Json row = Json::object();
    for (int i = 0; i < sqlite3_column_count(raw); ++i) {
      row[sqlite3_column_name(raw, i)] = column(raw, i);
    }
    rows.push_back(std::move(row));
  }
  if (state != SQLITE_DONE) {
    fail(sql);
  }
  return rows;
}

std::string SqliteDatabase::bytes() const {
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> copy(
      sqlite3_serialize(database_, "main", &size, 0), sqlite3_free);
  if (!copy) {
    fail("no memory for its bytes");
  }
  return {reinterpret_cast<const char*>(copy.get()), static_cast<std::size_t>(size)};
}

}  // namespace flitwise
