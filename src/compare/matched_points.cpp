// SPDX-License-Identifier: Apache-2.0
#include "compare/matched_points.h"

#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "common/input_file.h"
#include "common/ranges.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

/// A point of a sweep with its cells in the axes of both sweeps.
struct PlacedPoint {
  std::string block;
  std::vector<Json> cells;
  ComparedPoint point;
};

/// Axes of both, each once.
std::vector<std::string> axes_of_both(const MergedSweep& a, const MergedSweep& b) {
  std::vector<std::string> axes;
  for (const MergedSweep* const sweep : {&a, &b}) {
    for (const std::string& axis : sweep->axes) {
      if (!contains(axes, axis)) {
        axes.push_back(axis);
      }
    }
  }
  return axes;
}

Json cell_of(const Json& row, const Json& config, const std::string& axis) {
  const auto cell = row.find(axis);
  if (cell != row.end() && !cell->is_null()) {
    return *cell;
  }
  return config.is_null() ? Json() : cell_of_key(config, axis);
}

/// Runs are of the row that agrees with them in block and axes.
std::string place_text(const MergedSweep& sweep, const Json& row) {
  Json place = {row.at("block")};
  for (const std::string& axis : sweep.axes) {
    place.push_back(row.value(axis, Json()));
  }
  return place.dump();
}

std::vector<PlacedPoint> placed_points(const ResultSource& source,
                                       const std::vector<std::string>& axes) {
  const MergedSweep& sweep = *source.sweep;
  std::unordered_map<std::string, Json> configs;
  if (what_stands_at(source.file) == Standing::kFolder) {
    for (Point& point : read_manifest(source.file + "/manifest.jsonl")) {
      configs.emplace(point.id, std::move(point.config));
    }
  }
  std::vector<PlacedPoint> points;
  std::unordered_map<std::string, std::size_t> places;
  for (const Json& row : sweep.rows) {
    PlacedPoint placed;
    placed.block = row.at("block").get<std::string>();
    const auto config = configs.find(row.value("id", ""));
    placed.point = {&row, {}, config == configs.end() ? Json() : config->second};
    placed.cells = mapped<Json>(
        axes, [&](const std::string& axis) { return cell_of(row, placed.point.config, axis); });
    places.emplace(place_text(sweep, row), points.size());
    points.push_back(std::move(placed));
  }
  for (const Json& run : sweep.runs) {
    const auto place = places.find(place_text(sweep, run));
    if (place != places.end()) {
      points[place->second].point.runs.push_back(&run);
    }
  }
  return points;
}

/// A point without a result may be the one that has another value.
bool is_axis_of_missing(const MergedSweep& sweep, const std::string& axis) {
  return any_of(sweep.missing, [&](const Point& point) {
    return any_of(point.axes, [&](const auto& own) { return own.first == axis; });
  });
}

/// Whether it has more than one value in the points.
template <class Of>
bool varies(const std::vector<PlacedPoint>& points, Of value_of) {
  return any_of(points, [&](const PlacedPoint& point) {
    return value_of(point) != value_of(points.front());
  });
}

NamedPoints named(std::vector<PlacedPoint>&& points, const std::vector<std::string>& axes,
                  const std::vector<std::string>& units, const std::vector<bool>& is_told,
                  bool tells_block) {
  NamedPoints all;
  for (PlacedPoint& point : points) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (is_told[i] && !point.cells[i].is_null()) {
        const std::string unit = units[i].empty() ? "" : " " + units[i];
        parts.push_back(axes[i] + "=" + cell_text(point.cells[i]) + unit);
      }
    }
    std::string name = fmt::format("{}", fmt::join(parts, ", "));
    if (tells_block) {
      name = point.block + (name.empty() ? "" : ": " + name);
    }
    name = name.empty() ? "the only point" : name;
    all.emplace_back(std::move(name), std::move(point.point));
  }
  return all;
}

}  // namespace

std::pair<NamedPoints, NamedPoints> named_points(const ResultSource& a, const ResultSource& b) {
  const std::vector<std::string> axes = axes_of_both(*a.sweep, *b.sweep);
  std::vector<PlacedPoint> of_a = placed_points(a, axes), of_b = placed_points(b, axes);
  const auto vary = [&](const auto& value_of) {
    return varies(of_a, value_of) || varies(of_b, value_of);
  };
  std::vector<bool> is_told;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    is_told.push_back(vary([i](const PlacedPoint& point) { return point.cells[i]; }) ||
                      is_axis_of_missing(*a.sweep, axes[i]) ||
                      is_axis_of_missing(*b.sweep, axes[i]));
  }
  const bool tells_block = vary([](const PlacedPoint& point) { return point.block; });
  const auto units = mapped(axes, [&](const std::string& axis) {
    const std::string unit = a.sweep->unit_of(axis);
    return unit.empty() ? b.sweep->unit_of(axis) : unit;
  });
  return {named(std::move(of_a), axes, units, is_told, tells_block),
          named(std::move(of_b), axes, units, is_told, tells_block)};
}

std::vector<std::string> names_of_missing(const MergedSweep& sweep) {
  return mapped(sweep.missing, [](const Point& point) {
    std::string name = point.block + ":";
    for (const auto& [axis, value] : point.axes) {
      name += fmt::format(" {}={},", axis, value);
    }
    return name + fmt::format(" seed {}", point.seed);
  });
}

}  // namespace flitwise
