// SPDX-License-Identifier: Apache-2.0
// Rows, columns and the two files of a merged sweep.
#include "sweep/merge.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/sqlite_database.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

/// The value of a dotted key in an effective config; null if it has none.
Json value_at(const Json& config, const std::string& key) {
  const std::size_t dot = key.find('.');
  const auto found = config.find(key.substr(0, dot));
  if (found == config.end()) {
    return nullptr;
  }
  return dot == std::string::npos ? *found : value_at(*found, key.substr(dot + 1));
}

/// The value of an axis at a point; null for a label that its block does not have.
Json axis_value(const Point& point, const std::string& axis) {
  const bool is_label = axis.find('.') == std::string::npos;
  const auto own = std::find_if(point.axes.begin(), point.axes.end(),
                                [&](const auto& each) { return each.first == axis; });
  if (is_label) {
    return own == point.axes.end() ? Json() : Json(own->second);
  }
  return value_at(point.config, axis);
}

/// A quantity as a plain number with its unit beside it, a size as a whole one; anything else stays
/// as it is.
std::pair<Json, std::string> plain(const Json& value) {
  const auto quantity = value.is_string() ? plain_quantity(value.get<std::string>()) : std::nullopt;
  if (!quantity) {
    return {value, ""};
  }
  const std::string unit = quantity->unit;
  return {unit == "B" ? Json(static_cast<std::int64_t>(quantity->value)) : Json(quantity->value),
          unit};
}

void add_unique(std::vector<std::string>& list, const std::string& name) {
  if (std::find(list.begin(), list.end(), name) == list.end()) {
    list.push_back(name);
  }
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) {
    return "";
  }
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\n") != std::string::npos) {
    std::string quoted = "\"";
    for (const char c : text) {
      quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    }
    text = quoted + "\"";
  }
  return text;
}

}  // namespace

std::string MergedSweep::unit_of(const std::string& column) const {
  const auto axis = std::find(axes.begin(), axes.end(), column);
  return axis == axes.end() ? "" : axis_units[static_cast<std::size_t>(axis - axes.begin())];
}

MergedSweep merge_results(const Plan& plan, const std::string& folder) {
  MergedSweep merged;
  for (const Point& point : plan) {
    for (const auto& axis : point.axes) {
      add_unique(merged.axes, axis.first);
    }
  }
  merged.axis_units.resize(merged.axes.size());
  merged.columns = {"block", "id", "seed"};
  merged.columns.insert(merged.columns.end(), merged.axes.begin(), merged.axes.end());
  for (const Point& point : plan) {
    const PointFile file = read_point_file(folder, point);
    if (file.result.is_null()) {
      merged.missing.push_back(point);
      continue;
    }
    Json row = {{"block", point.block}, {"id", point.id}, {"seed", point.seed}};
    for (std::size_t i = 0; i < merged.axes.size(); ++i) {
      const auto [value, unit] = plain(axis_value(point, merged.axes[i]));
      row[merged.axes[i]] = value;
      merged.axis_units[i] = unit.empty() ? merged.axis_units[i] : unit;
    }
    row.update(file.figures);
    for (const auto& [key, value] : row.items()) {
      add_unique(merged.columns, key);
    }
    merged.rows.push_back(std::move(row));
  }
  merged.presentation = read_presentation(folder);
  add_derived_figures(merged);
  return merged;
}

std::string merged_sqlite(const MergedSweep& merged) {
  SqliteDatabase database(SqliteDatabase::kInMemory, SqliteDatabase::Mode::kCreate);
  database.execute("BEGIN");
  database.execute("CREATE TABLE axis (key TEXT PRIMARY KEY, unit TEXT NOT NULL)");
  for (std::size_t i = 0; i < merged.axes.size(); ++i) {
    database.insert("axis", {{"key", merged.axes[i]}, {"unit", merged.axis_units[i]}});
  }
  database.execute("CREATE TABLE study (json TEXT NOT NULL)");
  database.insert("study", {{"json", to_json_text(merged.presentation).dump()}});
  std::string columns;
  for (const std::string& column : merged.columns) {
    columns += (columns.empty() ? "" : ", ") + sql_name(column);
  }
  database.execute(fmt::format("CREATE TABLE point ({})", columns));
  for (const Json& row : merged.rows) {
    database.insert("point", row);
  }
  database.execute("COMMIT");
  return database.bytes();
}

std::string merged_csv(const MergedSweep& merged) {
  std::string text;
  for (const std::string& column : merged.columns) {
    text += (text.empty() ? "" : ",") + csv_cell(column);
  }
  text += "\n";
  for (const Json& row : merged.rows) {
    std::string line;
    for (std::size_t i = 0; i < merged.columns.size(); ++i) {
      const auto cell = row.find(merged.columns[i]);
      line += i == 0 ? "" : ",";
      line += cell == row.end() ? "" : csv_cell(*cell);
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace flitwise
