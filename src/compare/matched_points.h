// SPDX-License-Identifier: Apache-2.0
/// The points of two sweeps under names that match: block and axes.
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sweep/result_source.h"

namespace flitwise {

/// A point of a sweep, or a run.
struct ComparedPoint {
  const nlohmann::ordered_json* figures = nullptr;  ///< of several seeds the means
  std::vector<const nlohmann::ordered_json*> runs;  ///< of a sweep: a seed each
  nlohmann::ordered_json config;                    ///< of the first seed; null: not known
};

/// In the order of the sweep.
using NamedPoints = std::vector<std::pair<std::string, ComparedPoint>>;

/// The points of both. A name has the axes that vary in one of them ("link.identity=dhi,
/// workload.payload=64 B"), and the block where there are several: what all points of a sweep have
/// alike is no part of it, so that two sweeps of which each sets a key otherwise are matched. Where
/// a sweep has no such axis its configuration counts. The sources have to stay as long as these.
std::pair<NamedPoints, NamedPoints> named_points(const ResultSource& a, const ResultSource& b);

/// "forms: workload.payload=64B, seed 3" of points that have no result.
std::vector<std::string> names_of_missing(const MergedSweep& sweep);

}  // namespace flitwise
