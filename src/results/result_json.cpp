// SPDX-License-Identifier: Apache-2.0
// RunResult to JSON, statistic by statistic, and that to columns of merged sweeps.
#include "results/result_json.h"

#include <algorithm>
#include <any>
#include <boost/algorithm/string/split.hpp>

#include "common/ranges.h"
#include "results/tables.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

Json name_of(const StatisticsTable& table, const std::any& rows, std::size_t row, std::size_t i) {
  const std::string name = table.name(rows, row, i);
  return table.info().names[i].is_number ? Json(std::stoull(name)) : Json(name);
}

// A row each, in the list of the object that has all names but the last one.
Json groups_of(const StatisticsTable& table, const std::any& rows) {
  Json list = Json::array();
  const TableInfo& info = table.info();
  for (std::size_t row = 0; row < table.size(rows); ++row) {
    Json group = Json::object();
    for (std::size_t i = 0; i + 1 < info.names.size(); ++i) {
      group[info.names[i].key] = name_of(table, rows, row, i);
    }
    const auto is_of_group = [&group](const Json& other) {
      for (const auto& [key, value] : group.items()) {
        if (other.at(key) != value) {
          return false;
        }
      }
      return true;
    };
    if (list.empty() || !is_of_group(list.back())) {
      group[info.inner] = Json::array();
      list.push_back(std::move(group));
    }
    Json& object = list.back()[info.inner].emplace_back(Json::object());
    object[info.names.back().key] = name_of(table, rows, row, info.names.size() - 1);
    for (std::size_t i = 0; i < info.figures.size(); ++i) {
      object[pointer_of(info.figures[i].key)] = table.figure(rows, row, i);
    }
  }
  return list;
}

// A row each, or an object in its row for each that has the same first name.
Json list_of(const StatisticsTable& table, const std::any& rows) {
  const TableInfo& info = table.info();
  if (!info.inner.empty()) {
    return groups_of(table, rows);
  }
  Json list = Json::array();
  const bool is_nested = !info.nested.empty();
  for (std::size_t row = 0; row < table.size(rows); ++row) {
    const std::string first = table.name(rows, row, 0);
    const bool is_next =
        !is_nested || list.empty() || list.back().at(info.names[0].key) != Json(first);
    if (is_next) {
      list.push_back({{info.names[0].key, name_of(table, rows, row, 0)}});
    }
    Json& object = is_nested ? list.back()[table.name(rows, row, 1)] : list.back();
    for (std::size_t i = 1; i < info.names.size() && !is_nested; ++i) {
      object[info.names[i].key] = name_of(table, rows, row, i);
    }
    for (std::size_t i = 0; i < info.figures.size(); ++i) {
      object[pointer_of(info.figures[i].key)] = table.figure(rows, row, i);
    }
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

std::string joined(const std::string& prefix, const std::string& key) {
  return prefix.empty() || key.empty() ? prefix + key : prefix + "_" + key;
}

bool is_in(const std::vector<std::string>& keys, const std::string& key) {
  return keys.empty() || std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// Name of the row's columns, in front of those of the figures.
std::string prefix_of(const TableInfo& table, const std::string& name, bool is_first) {
  if (table.flat == FlatRows::kEach) {
    return is_first ? table.flat_prefix : joined(name, table.flat_prefix);
  }
  const bool is_named = table.flat == FlatRows::kNamed || table.flat == FlatRows::kSumByName;
  return is_named ? joined(table.flat_prefix, name) : table.flat_prefix;
}

/// What columns carry of the names of a row; kNamed: all of them.
std::string name_of(const TableInfo& table, const Json& one) {
  if (!table.flat_by.empty() || table.flat != FlatRows::kNamed) {
    return one.value(table.flat_by.empty() ? table.names.back().key : table.flat_by, "");
  }
  std::string all;
  for (const NameInfo& name : table.names) {
    all = joined(all, one.value(name.key, ""));
  }
  return all;
}

/// Adds numbers of the same column, of either kind.
void add_up(Json& row, const std::string& column, const Json& value) {
  const auto found = row.find(column);
  if (found == row.end()) {
    row[column] = value;
  } else if (value.is_number_unsigned() && found->is_number_unsigned()) {
    *found = found->get<std::uint64_t>() + value.get<std::uint64_t>();
  } else {
    *found = found->get<double>() + value.get<double>();
  }
}

/// Adds one row; a figure that a result of another version lacks is left out.
void add_row(const TableInfo& table, const Json& object, const std::string& prefix, Json& row) {
  const bool is_sum = table.flat == FlatRows::kSum || table.flat == FlatRows::kSumByName;
  Json flat = Json::object();
  flatten(object, "", flat);
  for (const FigureInfo& figure : table.figures) {
    const std::string column = joined(prefix, figure.column());
    if (figure.type == FigureType::kByKind) {
      flatten(object.value(figure.key, Json::object()), column, row);
      continue;
    }
    const auto value = flat.find(figure.column());
    if (value == flat.end() || figure.type == FigureType::kText ||
        !is_in(table.flat_figures, figure.key)) {
      continue;
    }
    if (is_sum) {
      add_up(row, column, *value);
    } else {
      row[joined(column, table.has_flat_units ? figure.unit : "")] = *value;
    }
  }
}

void add_rows(const TableInfo& table, const Json& result, Json& row) {
  bool is_first = true;
  for (const Json& one : table_rows(table.list, result)) {
    const std::string first = one.value(table.names.front().key, "");
    if (table.nested.empty()) {
      add_row(table, one, prefix_of(table, name_of(table, one), is_first), row);
    } else {
      for (const auto& [second, object] : one.items()) {
        if (object.is_object()) {
          add_row(table, object, joined(prefix_of(table, first, is_first), second), row);
        }
      }
    }
    is_first = false;
  }
}

/// As add_row names them.
void add_owners(const TableInfo& table, const std::string& second, const std::string& column,
                std::vector<std::string>& owners) {
  for (const FigureInfo& figure : table.figures) {
    const bool has_kind = figure.type == FigureType::kByKind;
    if (table.flat == FlatRows::kNone || figure.type == FigureType::kText ||
        (!has_kind && !is_in(table.flat_figures, figure.key))) {
      continue;
    }
    const std::string own = joined(joined(second, figure.column()),
                                   table.has_flat_units && !has_kind ? figure.unit : "");
    const bool is_named = table.flat == FlatRows::kNamed || table.flat == FlatRows::kSumByName;
    const std::string tail = "_" + (is_named ? own : joined(table.flat_prefix, own)) + "_";
    const std::string text = "_" + column + "_";
    const std::size_t at = has_kind ? text.find(tail) : text.rfind(tail);
    // Behind a tail of counts there is a kind.
    if (at == std::string::npos || (at + tail.size() == text.size()) == has_kind) {
      continue;
    }
    const std::string front = at == 0 ? "" : text.substr(1, at - 1);
    const bool is_kind = is_named && !table.flat_prefix.empty();
    if (is_kind ? front.rfind(table.flat_prefix + "_", 0) == 0
                : table.flat == FlatRows::kEach || front.empty() != is_named) {
      owners.push_back(is_kind ? "" : front);
    }
  }
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
  Json in_objects = {{"network", Json::object()}};
  for (const StatisticsTable* const table : all_tables()) {
    const std::any* const rows = result.find(table->row_type());
    const std::string& list = table->info().list;
    if (list.find('.') == std::string::npos) {
      json[list] = rows == nullptr ? Json::array() : list_of(*table, *rows);
    } else if (rows != nullptr) {
      in_objects[pointer_of(list)] = list_of(*table, *rows);
    }
  }
  for (const char* not_there : {"pio", "hca", "srdma"}) {
    json.emplace(not_there, Json::array());
  }
  json.update(in_objects);
  Json& errors = json["errors"] = Json::array();
  for (const auto& [kind, count] : result.errors) {
    errors.push_back({{"kind", kind}, {"count", count}});
  }
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

void flatten(const Json& object, const std::string& prefix, Json& row) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      flatten(value, joined(prefix, key), row);
    } else {
      row[joined(prefix, key)] = value;
    }
  }
}

Json::json_pointer pointer_of(const std::string& path) {
  Json::json_pointer pointer;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t dot = std::min(path.find('.', at), path.size());
    pointer /= path.substr(at, dot - at);
    at = dot + 1;
  }
  return pointer;
}

const Json& table_rows(const std::string& list, const Json& result) {
  static const Json kNone = Json::array();
  const Json::json_pointer place = pointer_of(list);
  const Json& rows = result.contains(place) ? result.at(place) : kNone;
  rows.get_ref<const Json::array_t&>();  // throws
  return rows;
}

std::optional<Json> figure_of(const Json& result, const std::string& path) {
  try {
    return result.at(pointer_of(path));
  } catch (const Json::exception&) {  // nothing is there
    return std::nullopt;
  }
}

Json figures_row(const Json& result) {
  Json row = Json::object();
  row["simulated_ns"] = result.at("flitwise").at("simulated_ns");
  for (const StatisticsTable* const table : all_tables()) {
    if (table->info().flat != FlatRows::kNone) {
      add_rows(table->info(), result, row);
    }
  }
  for (const Json& error : result.at("errors")) {
    row["errors_" + error.at("kind").get<std::string>()] = error.at("count");
  }
  row["checks_failed"] = sum_of<int>(
      result.at("checks"), [](const Json& check) { return check.at("ok").get<bool>() ? 0 : 1; });
  row["host_seconds"] = result.at("flitwise").at("host_seconds");
  return row;
}

std::vector<std::string> owners_of_column(const std::string& column, const StatisticsTable* only) {
  std::vector<std::string> owners;
  if (only == nullptr && (column == "simulated_ns" || column == "checks_failed" ||
                          column == "host_seconds" || column.rfind("errors_", 0) == 0)) {
    owners.emplace_back();
  }
  for (const StatisticsTable* const table : all_tables()) {
    if (only != nullptr && table != only) {
      continue;
    }
    const TableInfo& info = table->info();
    std::vector<std::string> seconds;
    boost::split(seconds, info.nested, [](char letter) { return letter == '|'; });
    for (const std::string& second : seconds) {
      add_owners(info, second, column, owners);
    }
  }
  return owners;
}

std::vector<std::string> plain_columns() {
  std::vector<std::string> columns = {"simulated_ns", "checks_failed", "host_seconds"};
  for (const StatisticsTable* const table : all_tables()) {
    const TableInfo& info = table->info();
    if (info.flat != FlatRows::kEach && info.flat != FlatRows::kSum) {
      continue;
    }
    std::vector<std::string> seconds;
    boost::split(seconds, info.nested, [](char letter) { return letter == '|'; });
    for (const std::string& second : seconds) {
      for (const FigureInfo& figure : info.figures) {
        if (figure.type != FigureType::kText && figure.type != FigureType::kByKind &&
            is_in(info.flat_figures, figure.key)) {
          const std::string name = joined(joined(info.flat_prefix, second), figure.column());
          columns.push_back(joined(name, info.has_flat_units ? figure.unit : ""));
        }
      }
    }
  }
  return columns;
}

}  // namespace flitwise
