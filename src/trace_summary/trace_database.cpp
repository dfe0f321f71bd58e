// SPDX-License-Identifier: Apache-2.0
#include "trace_summary/trace_database.h"

#include <array>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "common/input_file.h"
#include "flitwise/error.h"

namespace flitwise {
namespace {

constexpr const char* kMagic = "SQLite format 3";

/// What a file is, by how it begins; "": a SQLite database.
std::string kind_by_begin(const std::string& begin) {
  static const std::array<std::pair<std::string, const char*>, 6> kKinds = {
      {{"\n\r\r\n", "a trace of kind pcapng"},
       {"\n", "a trace of kind perfetto"},
       {"first_ns,", "a trace of kind packets"},
       {"from_ns,", "a trace of kind series"},
       {"$timescale", "a trace of kind vcd"},
       {"{", "JSON, as of a result"}}};
  if (begin.rfind(kMagic, 0) == 0) {
    return "";
  }
  for (const auto& [start, kind] : kKinds) {
    if (begin.rfind(start, 0) == 0) {
      return kind;
    }
  }
  return begin.empty() ? "empty" : "no trace";
}

std::string begin_of(const std::string& path) {
  std::array<char, 16> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  return {bytes.data(), static_cast<std::size_t>(file.gcount())};
}

bool has_columns(SqliteDatabase& database, const std::string& columns, const std::string& table) {
  try {
    database.query("SELECT " + columns + " FROM " + table + " LIMIT 0");
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace

void refuse_trace(const std::string& path, const std::string& seen) {
  throw ConfigError({{path, 0, 0, "",
                      seen + "; expected a trace of kind sqlite: flitwise run CONFIG.yaml --trace "
                             "sqlite=FILE writes one"}});
}

std::unique_ptr<SqliteDatabase> open_trace(const std::string& path) {
  if (const std::string flaw = flaw_of_regular_file(path); !flaw.empty()) {
    refuse_trace(path, flaw);
  }
  if (const std::string kind = kind_by_begin(begin_of(path)); !kind.empty()) {
    refuse_trace(path, kind);
  }
  auto database = std::make_unique<SqliteDatabase>(path, SqliteDatabase::Mode::kReadOnly);
  database->query("SELECT count(*) FROM sqlite_master");  // in its own words, where it is damaged
  if (!has_columns(*database,
                   "link, direction, type, uid, first_ps, last_ps, is_replay, is_damaged, is_lost, "
                   "requester_id, tag, is_handle, payload_bytes, identity_bits",
                   "unit") ||
      !has_columns(*database,
                   "uid, type, requester_id, tag, address, length_dw, payload_bytes, domain, "
                   "is_counted, issue_ps, handle_ps, queued_ps, sent_ps, received_ps, "
                   "resolved_ps, memory_ps, completed_ps, done_ps",
                   "request")) {
    refuse_trace(path, "a database of something else");
  }
  return database;
}

}  // namespace flitwise
