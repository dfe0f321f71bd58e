// SPDX-License-Identifier: Apache-2.0
#include "sweep/result_source.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "common/input_file.h"
#include "flitwise/error.h"
#include "results/sqlite_database.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& path, const std::string& seen) {
  throw ConfigError({{path, 0, 0, "",
                      seen + "; expected a result.json, a folder with one, a folder of a sweep or "
                             "its results.sqlite"}});
}

bool has_table(SqliteDatabase& database, const std::string& table) {
  return !database.query("SELECT name FROM sqlite_master WHERE name = '" + table + "'").empty();
}

std::vector<Json> rows_of_table(SqliteDatabase& database, const std::string& table) {
  std::vector<Json> rows = database.query("SELECT * FROM " + table);
  const std::string beside = table + "_value";
  if (has_table(database, beside)) {
    for (const Json& cell :
         database.query(fmt::format("SELECT {}, name, value FROM {}", table, beside))) {
      const auto row = cell.at(table).get<std::size_t>() - 1;
      rows.at(row)[cell.at("name").get<std::string>()] = cell.at("value");
    }
  }
  return rows;
}

MergedSweep read_merged(const std::string& path) {
  if (const std::string flaw = flaw_of_regular_file(path); !flaw.empty()) {
    refuse(path, flaw);
  }
  try {
    SqliteDatabase database(path, SqliteDatabase::Mode::kReadOnly);
    MergedSweep merged;
    for (const Json& axis : database.query("SELECT key, unit FROM axis")) {
      merged.axes.push_back(axis.at("key").get<std::string>());
      merged.axis_units.push_back(axis.at("unit").get<std::string>());
    }
    merged.rows = rows_of_table(database, "point");
    if (has_table(database, "run")) {
      merged.runs = rows_of_table(database, "run");
    }
    for (const Json& study : database.query("SELECT json FROM study")) {
      merged.presentation = presentation_from(Json::parse(study.at("json").get<std::string>()));
    }
    return merged;
  } catch (const std::exception& error) {
    refuse(path, error.what());
  }
}

Json result_in(const std::string& path, const InputText& input) {
  if (!input.problem.empty()) {
    refuse(path, input.problem);
  }
  const Json result = Json::parse(input.text, nullptr, false);
  if (result.is_discarded() || !result.is_object() || !result.contains("flitwise") ||
      !result.contains("links")) {
    refuse(path, "no result of a run");
  }
  return result;
}

/// What the library found wrong, in plain words: its texts are "[...] key 'ok' not found" and
/// "[...] type must be number, but is string".
std::string flaw_in(const Json::exception& error) {
  const std::string text = error.what();
  constexpr int kNoKey = 403, kOtherType = 302;
  const auto behind = [&text](const std::string& words) {
    const std::size_t at = text.find(words);
    return at == std::string::npos ? std::string() : text.substr(at + words.size());
  };
  if (error.id == kNoKey) {
    const std::string key = behind("key '");
    return fmt::format("an entry without the key '{}', which every result has there",
                       key.substr(0, key.rfind('\'')));
  }
  if (error.id == kOtherType) {
    const std::string types = behind("type must be ");
    return fmt::format("a value of another type than a result has there: its type must be {}",
                       types);
  }
  return "a list or an object is missing, or a value stands in its place";
}

}  // namespace

ResultSource read_source(const std::string& path) {
  const std::string manifest = path + "/manifest.jsonl", result = path + "/result.json";
  if (what_stands_at(path) == Standing::kFolder) {
    if (what_stands_at(manifest) != Standing::kNothing) {
      return {path, std::nullopt, merge_results(read_manifest(manifest), path)};
    }
    if (what_stands_at(result) != Standing::kNothing) {
      return {result, result_in(result, read_own_file(result)), std::nullopt};
    }
    refuse(path, "a folder without result.json or manifest.jsonl");
  }
  if (std::filesystem::path(path).extension() == ".sqlite") {
    return {path, std::nullopt, read_merged(path)};
  }
  return {path, result_in(path, read_input(path, kMostOwnBytes)), std::nullopt};
}

void with_results_of(const std::string& path, const std::function<void()>& use) {
  try {
    use();
  } catch (const Json::exception& error) {  // a figure that is missing or of another kind
    refuse(path, flaw_in(error));
  } catch (const std::out_of_range& error) {
    refuse(path, error.what());
  }
}

}  // namespace flitwise
