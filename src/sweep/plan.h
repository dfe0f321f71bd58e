// SPDX-License-Identifier: Apache-2.0
/// A study as a list of points, and the manifest file that every engine works from.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "flitwise/config.h"
#include "sweep/study.h"

namespace flitwise {

/// One run of a sweep. Two points with the same id are the same run and share one result.
struct Point {
  std::size_t index = 0;  ///< line of the manifest, from 0
  std::string id;         ///< 16 hexadecimal digits over effective config, version and seed
  std::string block;
  std::uint64_t seed = 0;
  std::vector<std::pair<std::string, std::string>> axes;  ///< key, value as in the study
  nlohmann::ordered_json config;                          ///< effective
};

using Plan = std::vector<Point>;

/// All points in order: blocks, then groups with the last one fastest, then seeds. `sets` are
/// overrides for every point and win over the study. Throws ConfigError; a bad value of an axis is
/// reported once, at its place in the study.
Plan make_plan(const Study& study, const std::vector<std::string>& sets = {});

/// Writes manifest.jsonl, points.txt (a command a line), array.sbatch and merge.sbatch into the
/// folder, which is made if need be. `program` is how the commands call this program.
void write_plan(const Plan& plan, const std::string& folder, const std::string& program);

/// study.json: what summary and report show.
void write_presentation(const Presentation& presentation, const std::string& folder);
/// Empty where there is none. Throws ConfigError if the file is damaged.
Presentation read_presentation(const std::string& folder);

/// Reads manifest.jsonl. Throws ConfigError with the line of what is wrong.
Plan read_manifest(const std::string& file);
/// Line `index` of the manifest alone.
Point read_manifest_line(const std::string& file, std::size_t index);

/// The configuration of a point.
Config config_of(const Point& point);

/// folder/points/ID.json
std::string result_path(const std::string& folder, const Point& point);
/// folder/logs/ID.log
std::string log_path(const std::string& folder, const Point& point);
/// True when the result file of the point is there and holds the result of this very id.
bool has_result(const std::string& folder, const Point& point);

}  // namespace flitwise
