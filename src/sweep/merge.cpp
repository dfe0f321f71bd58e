// SPDX-License-Identifier: Apache-2.0
// Rows, columns and the two files of a merged sweep; formulas over rows and their baselines.
#include "sweep/merge.h"

#include <fmt/format.h>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/range/algorithm_ext/push_back.hpp>
#include <functional>
#include <map>
#include <set>
#include <unordered_set>

#include "common/problems.h"
#include "common/ranges.h"
#include "results/expression.h"
#include "results/result_json.h"
#include "results/sqlite_database.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

/// The value of an axis at a point; null for a label that its block does not have.
Json axis_value(const Point& point, const std::string& axis) {
  if (axis.find('.') != std::string::npos) {
    return figure_of(point.config, axis).value_or(nullptr);
  }
  const auto own = find_if(point.axes, [&](const auto& each) { return each.first == axis; });
  return own == point.axes.end() ? Json() : Json(own->second);
}

/// A quantity as a plain number with its unit beside it, a size as a whole one; a list as a text;
/// anything else stays as it is.
std::pair<Json, std::string> plain(const Json& value) {
  if (value.is_structured()) {
    return {value.dump(), ""};
  }
  const auto quantity = value.is_string() ? plain_quantity(value.get<std::string>()) : std::nullopt;
  if (!quantity) {
    return {value, ""};
  }
  const std::string unit = quantity->unit;
  return {unit == "B" ? Json(static_cast<std::int64_t>(quantity->value)) : Json(quantity->value),
          unit};
}

void add_unique(std::vector<std::string>& list, const std::string& name) {
  if (!contains(list, name)) {
    list.push_back(name);
  }
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) {
    return "";
  }
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\n") != std::string::npos) {
    text = "\"" + boost::replace_all_copy(text, "\"", "\"\"") + "\"";
  }
  return text;
}

/// Names that nobody could tell before the runs, such as those of a component's rows.
[[noreturn]] void refuse_column(const std::string& file, const std::string& path,
                                const std::string& name) {
  throw ConfigError(
      {{file, 0, 0, path,
        fmt::format("results have a column '{}' already; expected a plan of the study with another "
                    "name in this folder: finished points stay",
                    name)}});
}

bool has_same(const Json& a, const Json& b, const std::string& column) {
  const auto left = a.find(column);
  const auto right = b.find(column);
  return left != a.end() && right != b.end() && *left == *right;
}

}  // namespace

std::string MergedSweep::unit_of(const std::string& column) const {
  const auto axis = std::find(axes.begin(), axes.end(), column);
  return axis == axes.end() ? "" : axis_units[static_cast<std::size_t>(axis - axes.begin())];
}

Json cell_of_key(const Json& config, const std::string& key) {
  return plain(figure_of(config, key).value_or(nullptr)).first;
}

MergedSweep merge_results(const Plan& plan, const std::string& folder) {
  MergedSweep merged;
  for (const Point& point : plan) {
    for (const auto& axis : point.axes) {
      add_unique(merged.axes, axis.first);
    }
  }
  merged.axis_units.resize(merged.axes.size());
  merged.run_columns = {"block", "id", "seed"};
  merged.run_columns.insert(merged.run_columns.end(), merged.axes.begin(), merged.axes.end());
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
    for (const auto& [key, value] : file.figures.items()) {
      if (row.contains(key)) {
        refuse_column(folder + "/manifest.jsonl", "axes." + key, key);
      }
      row[key] = value;
      add_unique(merged.run_columns, key);
    }
    merged.runs.push_back(std::move(row));
  }
  merged.presentation = read_presentation(folder);
  for (const BlockPresentation& block : merged.presentation.blocks) {
    for (const FigureSpec& figure : block.figures) {
      if (contains(merged.run_columns, figure.name)) {
        refuse_column(folder + "/study.json", "figures." + figure.name, figure.name);
      }
    }
  }
  add_derived_figures(merged);
  merge_seeds(merged);
  return merged;
}

namespace {

// What the study asks for comes before what results have.
std::vector<std::string> columns_beside(const MergedSweep& merged,
                                        const std::vector<std::string>& columns) {
  constexpr std::size_t kMostColumns = 2000;  // SQLite's own limit
  std::vector<std::string> names(kPointColumns.begin(), kPointColumns.end());
  names.insert(names.end(), merged.axes.begin(), merged.axes.end());
  for (const BlockPresentation& block : merged.presentation.blocks) {
    for (const FigureSpec& figure : block.figures) {
      names.push_back(figure.name);
      names.push_back(interval_column(figure.name));
    }
  }
  names.insert(names.end(), columns.begin(), columns.end());
  std::unordered_set<std::string> seen;
  std::unordered_set<std::string> seen_in_lower_case;
  std::vector<std::string> beside;
  for (const std::string& name : names) {
    if (!contains(columns, name) || !seen.insert(name).second) {
      continue;
    }
    const bool is_full = seen_in_lower_case.size() == kMostColumns;
    if (is_full || !seen_in_lower_case.insert(boost::to_lower_copy(name)).second) {
      beside.push_back(name);
    }
  }
  return beside;
}

/// Rows as a table, and beside it a table TABLE_value for what has no column there.
void insert_rows(SqliteDatabase& database, const std::string& table, const std::vector<Json>& rows,
                 const std::vector<std::string>& columns, const std::vector<std::string>& beside) {
  const std::unordered_set<std::string> is_beside(beside.begin(), beside.end());
  std::string names;
  for (const std::string& column : columns) {
    if (is_beside.count(column) == 0) {
      names += (names.empty() ? "" : ", ") + sql_name(column);
    }
  }
  database.execute(fmt::format("CREATE TABLE {} ({})", table, names));
  if (!beside.empty()) {
    database.execute(fmt::format(
        "CREATE TABLE {0}_value ({0} INTEGER NOT NULL, name TEXT NOT NULL, value)", table));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (beside.empty()) {
      database.insert(table, rows[i]);
      continue;
    }
    Json own = Json::object();
    for (const auto& [key, value] : rows[i].items()) {
      if (is_beside.count(key) == 0) {
        own[key] = value;
      } else if (!value.is_null()) {
        database.insert(table + "_value", {{table, i + 1}, {"name", key}, {"value", value}});
      }
    }
    database.insert(table, own);
  }
}

}  // namespace

std::vector<std::string> columns_beside(const MergedSweep& merged) {
  return columns_beside(merged, merged.columns);
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
  insert_rows(database, "point", merged.rows, merged.columns, columns_beside(merged));
  if (!merged.runs.empty()) {
    insert_rows(database, "run", merged.runs, merged.run_columns,
                columns_beside(merged, merged.run_columns));
  }
  database.execute("COMMIT");
  return database.bytes();
}

std::string merged_csv(const MergedSweep& merged) {
  std::string text = fmt::format("{}\n", fmt::join(mapped(merged.columns, csv_cell), ","));
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

const Json* baseline_of(const MergedSweep& merged, const Json& run) {
  const BlockPresentation* block = merged.presentation.block(run.at("block").get<std::string>());
  if (block == nullptr || block->baseline.block.empty()) {
    return nullptr;
  }
  const BaselineSpec& baseline = block->baseline;
  return find_where(merged.runs, [&](const Json& other) {
    return other.at("block") == baseline.block && is_selected(other, baseline.where) &&
           has_same(other, run, "seed") && all_of(baseline.match, [&](const std::string& column) {
             return has_same(other, run, column);
           });
  });
}

void add_derived_figures(MergedSweep& merged) {
  // By block, each behind those that it names.
  std::map<std::string, std::vector<std::pair<std::string, Expression>>> formulas;
  for (const BlockPresentation& block : merged.presentation.blocks) {
    for (const FigureSpec* const figure : order_of_figures(block).figures) {
      formulas[block.name].emplace_back(figure->name, figure->formula);
    }
    for (const FigureSpec& figure : block.figures) {
      add_unique(merged.run_columns, figure.name);
    }
  }
  // Figures of each row behind those of the row that it is compared with.
  std::set<const Json*> done;
  const std::function<void(Json&)> evaluate = [&](Json& row) {
    const auto* const block = merged.presentation.block(row.at("block").get<std::string>());
    if (block == nullptr || !done.insert(&row).second) {
      return;
    }
    const Json* const baseline = baseline_of(merged, row);
    for (const FigureSpec& figure : block->figures) {
      row[figure.name] = nullptr;
    }
    if (baseline != nullptr) {
      evaluate(merged.runs[static_cast<std::size_t>(baseline - merged.runs.data())]);
    }
    const auto lookup = [&](const std::string& column, bool of_baseline) {
      const Json* const from = of_baseline ? baseline : &row;
      return from == nullptr ? std::nullopt : number_at(*from, column);
    };
    for (const auto& [name, formula] : formulas[block->name]) {
      if (const auto value = formula.value(lookup)) {
        row[name] = *value;
      }
    }
  };
  std::for_each(merged.runs.begin(), merged.runs.end(), evaluate);
}

std::vector<std::string> figures_of_nothing(const MergedSweep& merged) {
  std::vector<std::string> found;
  const auto& known = merged.run_columns;
  for (const BlockPresentation& block : merged.presentation.blocks) {
    for (const FigureSpec& figure : block.figures) {
      const std::vector<std::string> named = Expression(figure.formula).columns();
      const auto* const unknown =
          find_where(named, [&](const std::string& column) { return !contains(known, column); });
      const bool has_value = any_of(merged.runs, [&](const Json& row) {
        return row.at("block") == block.name && !row.at(figure.name).is_null();
      });
      if (unknown != nullptr && !has_value) {
        const bool has_dash = figure.formula.find(*unknown + "-") != std::string::npos;
        found.push_back(fmt::format(
            "block {}: figure {} has no value: no result has a column '{}'{}{}", block.name,
            figure.name, *unknown, config::nearest_hint(*unknown, known, "column"),
            has_dash ? "; a column with a dash stands in double quotes" : ""));
      }
    }
  }
  return found;
}

}  // namespace flitwise
