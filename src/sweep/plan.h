// SPDX-License-Identifier: Apache-2.0
/// A study: which keys take which values together, block by block (docs/sweeps.md); as a list of
/// points; and the manifest file that every engine works from.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "flitwise/config.h"
#include "flitwise/error.h"
#include "sweep/engine_options.h"
#include "sweep/presentation.h"

namespace flitwise {

/// One key and the values it takes, as they would follow `--set KEY=`.
struct Axis {
  std::string key;
  std::vector<std::string> values;
  int line = 0;  ///< where the key stands in the study file, 1-based; 0: on the command line
  int column = 0;
};

/// Axes that move together: all have the same number of values. A single axis is a group of one.
/// The key `label.NAME` is no config key: its values name the combinations, in a column NAME.
using AxisGroup = std::vector<Axis>;

/// No axis: runs that differ in the seed alone are one row.
inline constexpr const char* kSeedKey = "run.seed";

/// NAME of `label.NAME`; empty for a config key.
std::string label_name(const std::string& key);

/// One group of axes: every combination of its groups and seeds is a point.
struct Block {
  std::string name;
  std::string base;                  ///< config file
  std::vector<Axis> sets;            ///< fixed overrides, one value each
  std::vector<AxisGroup> groups;     ///< the last one varies fastest
  std::vector<std::uint64_t> seeds;  ///< empty: the seed of the config

  /// An axis has this key, or `seeds` have it.
  bool varies(const std::string& key) const;
};

struct Study {
  std::string file;
  std::vector<Block> blocks;
  Presentation presentation;
};

/// What the command line adds to every block: groups behind those of the study, of which those with
/// the same key go; seeds, if there are any, instead of its own.
struct CommandAxes {
  std::vector<AxisGroup> groups;
  std::vector<std::uint64_t> seeds;
};
inline constexpr const char* kCommandLine = "command line";  ///< stands for a file in problems
/// `axes`: "KEY=VALUES" each; `zips`: several of them each, with spaces between; `seeds`: VALUES.
/// VALUES are values, ranges and linspace(first,last,count) with commas between. Throws
/// ConfigError.
CommandAxes read_command_axes(const std::vector<std::string>& axes,
                              const std::vector<std::string>& zips, const std::string& seeds);

/// A sweep is told from a config by its own top-level keys.
bool is_study(const std::string& yaml);

/// Reads a sweep file. Throws ConfigError with every problem found. A file without `blocks` is one
/// block named "main". Where `added` has something the file may be a config, the base of it all.
Study read_study(const std::string& file, const CommandAxes& added = {});
/// The same for a text; `name` stands for the file, its folder is where bases are looked for.
Study study_from_text(const std::string& yaml, const std::string& name,
                      const CommandAxes& added = {});

/// The values, or what is wrong with the short form ("...; expected ...").
struct ExpandedValues {
  std::vector<std::string> values;
  std::string problem;
};

/// `A..B:*K` multiplies, `A..B:+K` adds, `A..B` adds one; both ends belong to the range (B if it is
/// hit). A and B may carry a unit of one dimension (8B..4KiB:*2, 100ns..2us:+100ns); an addend then
/// needs one too. At most 100,000 values.
ExpandedValues expand_range(const std::string& text);

/// n numbers from `first` to `last`, both included. REQUIRES of the texts: plain numbers, n >= 2.
ExpandedValues expand_linspace(const std::vector<std::string>& first_last_n);

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

/// What is allowed in a study and yet hardly meant.
struct PlanNotes {
  /// Each key of the study and of overrides that no point reads, once, with why as in
  /// LoadNotes::given.
  std::vector<Problem> without_effect;
  /// Each of config_warnings, in the order of points, and how many of them it is about.
  std::vector<std::pair<std::string, std::size_t>> warnings;
  /// Points that are the same as an earlier one of their block, and left out; the first of them.
  std::size_t repeats = 0;
  std::string first_repeat;
};

/// All points in order: blocks, then groups with the last one fastest, then seeds; one that is the
/// same as an earlier one of its block is left out, since no run counts twice. `sets` are overrides
/// for every point and win over what the study sets. Throws ConfigError, at once where there are
/// more than 100,000 points; a bad value of an axis, an override of one, whose rows would say what
/// did not run, and a figure or label with the name of a column of results, is reported once, at
/// its place. `notes`, if they are asked for, are of all points.
Plan make_plan(const Study& study, const std::vector<std::string>& sets = {},
               PlanNotes* notes = nullptr);

/// Writes manifest.jsonl, study.json (what summary and report show), points.txt (a command a line),
/// Snakefile, array.sbatch, merge.sbatch and engine.json into the folder, all or none; it is made
/// if need be. `program` is how the commands call this program. Merged files of another manifest
/// go.
void write_plan(const Plan& plan, const Presentation& presentation, const std::string& folder,
                const std::string& program, const EngineOptions& engine = {});

/// Of these files, those that say how the points are run. REQUIRES: the folder is planned.
void write_engine(std::size_t points, const EngineOptions& engine, const std::string& folder,
                  const std::string& program);

/// Of study.json. Empty where there is none. Throws ConfigError if the file is damaged.
Presentation read_presentation(const std::string& folder);

/// Reads manifest.jsonl. Throws ConfigError with the line of what is wrong.
Plan read_manifest(const std::string& file);
/// Line `index` of the manifest alone, and up to `count` lines from `first` on, at least one.
Point read_manifest_line(const std::string& file, std::size_t index);
Plan read_manifest_part(const std::string& file, std::size_t first, std::size_t count);

/// The configuration of a point.
Config config_of(const Point& point);

/// Makes logs/ and points/ in the folder. Throws OutputError.
void make_folders(const std::string& folder);
/// folder/manifest.jsonl
std::string manifest_path(const std::string& folder);
/// folder/points/ID.json
std::string result_path(const std::string& folder, const Point& point);
/// folder/logs/ID.log
std::string log_path(const std::string& folder, const Point& point);
/// Throws OutputError where a folder, pipe or device stands in the place of one of the two: the
/// point would run in vain.
void check_places(const std::string& folder, const Point& point);
/// A result file of a point.
struct PointFile {
  bool is_there = false;
  nlohmann::ordered_json result;   ///< null: none, or broken
  nlohmann::ordered_json figures;  ///< its row of figures
};
/// Reads it. Broken is what is no result of this very id, or lacks figures.
PointFile read_point_file(const std::string& folder, const Point& point);
/// True when the result file of the point is there and whole. Warns on stderr of a broken one.
bool has_result(const std::string& folder, const Point& point);

}  // namespace flitwise
