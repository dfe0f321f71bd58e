// SPDX-License-Identifier: Apache-2.0
/// A SQLite file as far as results need it: run statements, insert JSON objects as rows, read rows
/// back.
#pragma once

#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace flitwise {

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
