// SPDX-License-Identifier: Apache-2.0
/// A SQLite file as far as results need it: run statements, insert JSON objects as rows, read rows
/// back.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace flitwise {

/// A row of a query, as long as it is the one that is read. Columns count from 0.
class SqliteRow {
 public:
  explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}
  std::optional<std::int64_t> number(int column) const;  ///< none: NULL
  std::int64_t count(int column) const { return number(column).value_or(0); }
  std::string text(int column) const;  ///< "" of NULL

 private:
  sqlite3_stmt* statement_;
};

/// Throws std::runtime_error with SQLite's own words on every failure.
class SqliteDatabase {
 public:
  enum class Mode { kCreate, kReadOnly };
  static constexpr const char* kInMemory = ":memory:";  ///< a path: no file, see bytes()

  SqliteDatabase(const std::string& path, Mode mode);
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  void execute(const std::string& sql);
  /// One row: each member of `row` goes to the column of its name; null, booleans (0, 1), numbers
  /// and strings; anything else as JSON text.
  void insert(const std::string& table, const nlohmann::ordered_json& row);
  /// Each row of a query in turn: of tables that are too large to be held at once.
  void for_each(const std::string& sql, const std::function<void(const SqliteRow&)>& see);
  /// All rows of a query, each an object with a member a column.
  std::vector<nlohmann::ordered_json> query(const std::string& sql);
  /// The database as the bytes of a file.
  std::string bytes() const;

 private:
  using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;
  [[noreturn]] void fail(const std::string& what) const;
  Statement prepared(const std::string& sql, const std::string& what) const;

  sqlite3* database_ = nullptr;
};

/// A name as an SQL identifier, quoted.
std::string sql_name(const std::string& name);

}  // namespace flitwise
