// SPDX-License-Identifier: Apache-2.0
// Runs that differ in the seed alone as one row.
#include <algorithm>
#include <unordered_map>

#include "common/ranges.h"
#include "stats/confidence.h"
#include "sweep/merge.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

/// Runs with the same text are of one row.
std::string place_text(const MergedSweep& merged, const Json& run) {
  Json place = {run.at("block")};
  for (const std::string& axis : merged.axes) {
    place.push_back(run.at(axis));
  }
  return place.dump();
}

/// The one value that all have; null where they differ.
Json common_value(const Rows& runs, const std::string& column) {
  const Json first = runs.front()->value(column, Json());
  const bool is_common =
      all_of(runs, [&](const Json* run) { return run->value(column, Json()) == first; });
  return is_common ? first : Json();
}

/// The figure of the runs that have it. Of errors a result has the kinds that occurred: where one
/// run has a kind, it is 0 in the others.
std::vector<double> samples_of(const Rows& runs, const std::string& figure) {
  std::vector<double> samples;
  for (const Json* run : runs) {
    if (const auto value = number_at(*run, figure)) {
      samples.push_back(*value);
    }
  }
  if (!samples.empty() && figure.rfind("errors_", 0) == 0) {
    samples.resize(runs.size(), 0);
  }
  return samples;
}

/// Adds a figure's mean and interval.
void add_figure(Json& row, const Rows& runs, const std::string& figure) {
  const std::vector<double> samples = samples_of(runs, figure);
  if (samples.empty()) {
    row[figure] = common_value(runs, figure);
    return;
  }
  const Json common = common_value(runs, figure);
  const MeanInterval interval = interval_of_mean(samples);
  row[figure] = common.is_number() ? common : Json(interval.mean);  // a count stays one
  if (interval.half_width) {
    row[interval_column(figure)] = *interval.half_width;
  }
}

}  // namespace

std::string interval_column(const std::string& figure) {
  return figure + "_ci95";
}

void merge_seeds(MergedSweep& merged) {
  std::vector<Rows> groups;
  std::unordered_map<std::string, std::size_t> known;
  for (const Json& run : merged.runs) {
    const auto [place, is_new] = known.emplace(place_text(merged, run), groups.size());
    if (is_new) {
      groups.emplace_back();
    }
    groups[place->second].push_back(&run);
  }
  std::vector<std::string> named(merged.axes);  // columns that are no figures
  for (const char* const column : kPointColumns) {
    named.emplace_back(column);
  }
  const std::vector<std::string> figures =
      those(merged.run_columns, [&](const std::string& each) { return !contains(named, each); });
  merged.rows.clear();
  bool has_intervals = false;
  for (const Rows& runs : groups) {
    if (runs.size() == 1) {
      merged.rows.push_back(*runs.front());
      merged.rows.back()["seeds"] = 1;
      continue;
    }
    Json row = {{"block", runs.front()->at("block")},
                {"id", runs.front()->value("id", Json())},
                {"seed", common_value(runs, "seed")},
                {"seeds", runs.size()}};
    for (const std::string& axis : merged.axes) {
      row[axis] = common_value(runs, axis);
    }
    for (const std::string& figure : figures) {
      add_figure(row, runs, figure);
    }
    has_intervals = true;
    merged.rows.push_back(std::move(row));
  }
  merged.columns.assign(kPointColumns.begin(), kPointColumns.end());
  merged.columns.insert(merged.columns.end(), merged.axes.begin(), merged.axes.end());
  for (const std::string& figure : figures) {
    merged.columns.push_back(figure);
    if (has_intervals && any_of(merged.rows, [&](const Json& row) {
          return row.contains(interval_column(figure));
        })) {
      merged.columns.push_back(interval_column(figure));
    }
  }
}

}  // namespace flitwise
