// SPDX-License-Identifier: Apache-2.0
// Columns of merged sweeps.
#include "results/result_json.h"

#include <algorithm>
#include <string>
#include <vector>

#include "results/tables.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

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
  for (const Json& one : result.value(table.list, Json::array())) {
    const std::string first = one.value(table.names.front().key, "");
    if (table.nested.empty()) {
      const std::string key = table.flat_by.empty() ? table.names.back().key : table.flat_by;
      add_row(table, one, prefix_of(table, one.value(key, ""), is_first), row);
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

Json::json_pointer pointer_of(const std::string& path) {
  Json::json_pointer pointer;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t dot = std::min(path.find('.', at), path.size());
    pointer /= path.substr(at, dot - at);
    at = dot + 1;
  }
  return pointer;
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
  int failed = 0;
  for (const Json& check : result.at("checks")) {
    failed += check.at("ok").get<bool>() ? 0 : 1;
  }
  row["checks_failed"] = failed;
  row["host_seconds"] = result.at("flitwise").at("host_seconds");
  return row;
}

}  // namespace flitwise
