// SPDX-License-Identifier: Apache-2.0
// The files of a planned sweep.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>

#include "common/atomic_file.h"
#include "common/input_file.h"
#include "common/printable.h"
#include "common/ranges.h"
#include "flitwise/error.h"
#include "results/result_json.h"
#include "sweep/plan.h"
#include "sweep/scripts.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

std::string manifest_line(const Point& point) {
  Json axes = Json::object();
  for (const auto& [key, value] : point.axes) {
    axes[key] = value;
  }
  const Json line = {{"index", point.index}, {"id", point.id}, {"block", point.block},
                     {"seed", point.seed},   {"axes", axes},   {"config", point.config}};
  return line.dump();
}

std::string flaw_of_json(const Json::exception& error) {
  const auto* const broken = dynamic_cast<const Json::parse_error*>(&error);
  return broken != nullptr ? fmt::format("is no JSON at byte {}", broken->byte)
                           : "a key is missing, or has a value of another kind";
}

[[noreturn]] void refuse_line(const std::string& file, std::size_t index, const std::string& path,
                              const std::string& message) {
  throw ConfigError({{file, static_cast<int>(index) + 1, 1, path, message}});
}

/// The id names files, and the index finds the line again.
void check_identity(const Point& point, const std::string& file, std::size_t index) {
  constexpr std::size_t kIdDigits = 16;
  const bool is_id = point.id.size() == kIdDigits &&
                     point.id.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_id) {
    refuse_line(
        file, index, "id",
        fmt::format("'{}'; expected {} digits 0..9 and a..f", shortened(point.id), kIdDigits));
  }
  if (point.index != index) {
    refuse_line(file, index, "index",
                fmt::format("{}; expected {}, the number of the line from 0", point.index, index));
  }
}

Point point_from(const std::string& text, const std::string& file, std::size_t index) {
  try {
    const Json line = Json::parse(text);
    Point point;
    point.index = line.at("index").get<std::size_t>();
    point.id = line.at("id").get<std::string>();
    check_identity(point, file, index);
    point.block = line.at("block").get<std::string>();
    point.seed = line.at("seed").get<std::uint64_t>();
    for (const auto& [key, value] : line.at("axes").items()) {
      point.axes.emplace_back(key, value.get<std::string>());
    }
    point.config = line.at("config");
    return point;
  } catch (const Json::exception& error) {
    refuse_line(file, index, "",
                fmt::format("no line of a manifest: {}; expected one made by sweep plan",
                            flaw_of_json(error)));
  }
}

/// Gives the lines to `use` until it has what it wants. Throws ConfigError where the file cannot be
/// read on.
template <class Use>
void for_lines(const std::string& file, Use use) {
  const std::string flaw = flaw_of_regular_file(file);  // a FIFO is not to be waited for
  std::ifstream in;
  if (flaw.empty()) {
    in.open(file);
  }
  if (!in.is_open()) {
    throw ConfigError({{file, 0, 0, "",
                        fmt::format("{}; expected a manifest of sweep plan",
                                    flaw.empty() ? "cannot be read" : flaw)}});
  }
  std::string line;
  for (std::size_t i = 0;; ++i) {
    const bool has_line = read_line(in, line, file, static_cast<int>(i) + 1);
    if (in.bad()) {
      refuse_line(file, i, "", "cannot be read any further; expected a manifest of sweep plan");
    }
    if (!has_line || !use(line, i)) {
      return;
    }
  }
}

/// The index that a line begins with; nothing where it has none.
std::optional<std::size_t> index_of(const std::string& line) {
  std::size_t index = 0;
  return std::sscanf(line.c_str(), "{\"index\" : %zu", &index) == 1 ? std::optional(index)
                                                                    : std::nullopt;
}

/// The lines from `first` on, without reading all those before: they are in the order of their
/// index. Empty where they are not, or something else is odd.
Plan found_points(const std::string& file, std::size_t first, std::size_t count) {
  constexpr std::streamoff kFew = 1 << 16;  // bytes that are read line by line
  if (!flaw_of_regular_file(file).empty()) {
    return {};
  }
  std::ifstream in(file);
  std::string line;
  std::streamoff begin = 0;  // of a line not behind the first that is wanted
  std::streamoff end = in.seekg(0, std::ios::end).tellg();
  while (end - begin > kFew) {
    const std::streamoff middle = begin + (end - begin) / 2;
    std::getline(in.seekg(middle), line);  // what is left of a line
    const std::streamoff next = in.tellg();
    const auto seen = std::getline(in, line) ? index_of(line) : std::nullopt;
    if (!seen) {
      return {};
    }
    (*seen <= first ? begin : end) = *seen <= first ? next : middle;
  }
  Plan points;
  in.seekg(begin);
  while (points.size() < count && std::getline(in, line)) {
    const auto seen = index_of(line);
    if (!seen || *seen > first + points.size()) {
      return {};
    }
    if (*seen == first + points.size()) {
      points.push_back(point_from(line, file, *seen));
    }
  }
  return points;
}

std::string name_of(const Presentation& study) {
  const std::string title = study.title.empty() ? "a study without title" : "'" + study.title + "'";
  return study.file.empty() ? title : fmt::format("{} ({})", title, study.file);
}

/// Refuses a folder that another study was planned in. The same study has the same file or, moved
/// or copied, the same title; where one has no title, a point in common. [docs/sweeps.md]
void check_owner(const Plan& plan, const Presentation& study, const std::string& folder) {
  const std::string file = manifest_path(folder);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return;
  }
  // Either file says whose the folder is where the other one is damaged.
  Presentation owner;
  Plan points;
  try {
    owner = read_presentation(folder);
  } catch (const ConfigError&) {  // the manifest may say it
    owner = {};
  }
  try {
    points = read_manifest(file);
  } catch (const ConfigError&) {
    if (owner.title.empty() && owner.file.empty()) {
      return;  // nobody's: both files are written anew
    }
  }
  const bool has_titles = !owner.title.empty() && !study.title.empty();
  const auto ids = mapped(points, &Point::id);
  const std::set<std::string> known(ids.begin(), ids.end());
  const bool is_same =
      (!owner.file.empty() && owner.file == study.file) ||
      (has_titles ? owner.title == study.title
                  : any_of(plan, [&](const Point& point) { return known.count(point.id) != 0; }));
  if (!is_same) {
    throw ConfigError({{file, 0, 0, "",
                        fmt::format("is of another study: {}, not {}; expected another folder as "
                                    "-o, or this one without its manifest.jsonl",
                                    name_of(owner), name_of(study))}});
  }
}

}  // namespace

void make_folders(const std::string& folder) {
  for (const char* part : {"/logs", "/points"}) {
    std::error_code failure;
    std::filesystem::create_directories(folder + part, failure);
    if (failure) {
      throw OutputError(fmt::format("{}{}: {}", folder, part, failure.message()));
    }
  }
}

void write_plan(const Plan& plan, const Presentation& presentation, const std::string& folder,
                const std::string& program, const EngineOptions& engine) {
  check_owner(plan, presentation, folder);
  make_folders(folder);  // Slurm fails tasks whose log folder is missing
  std::string manifest;
  for (const Point& point : plan) {
    manifest += manifest_line(point) + "\n";
  }
  std::vector<std::string> obsolete;
  const InputText old = read_own_file(manifest_path(folder), manifest.size());
  if (!old.problem.empty() || old.text != manifest) {
    obsolete = {folder + "/results.sqlite", folder + "/points.csv"};
  }
  Json shown = to_json_text(presentation);
  shown["file"] = presentation.file;
  const ScriptPlace place{folder, program};
  write_files_together({{manifest_path(folder), manifest},
                        {folder + "/study.json", shown.dump(2) + "\n"},
                        {folder + "/points.txt", point_commands(plan, place)},
                        {folder + "/Snakefile", snakefile(place)},
                        {folder + "/array.sbatch", array_script(plan.size(), engine, place)},
                        {folder + "/merge.sbatch", merge_script(place)},
                        {engine_options_path(folder), engine_options_text(engine)}},
                       obsolete);
}

Presentation read_presentation(const std::string& folder) {
  const std::string file = folder + "/study.json";
  const InputText input = read_own_file(file);
  if (input.is_missing) {
    return {};
  }
  std::string seen = input.problem;
  try {
    if (seen.empty()) {
      const Json json = Json::parse(input.text);
      Presentation presentation = presentation_from(json);
      presentation.file = json.value("file", "");  // no older version wrote it
      return presentation;
    }
  } catch (const Json::exception& error) {
    seen = flaw_of_json(error);
  }
  throw ConfigError({{file, 0, 0, "", seen + "; expected the file that sweep plan wrote"}});
}

Plan read_manifest(const std::string& file) {
  Plan plan;
  for_lines(file, [&](const std::string& line, std::size_t i) {
    plan.push_back(point_from(line, file, i));
    return true;
  });
  if (plan.empty()) {
    throw ConfigError({{file, 0, 0, "", "has no point; expected a manifest of sweep plan"}});
  }
  return plan;
}

Plan read_manifest_part(const std::string& file, std::size_t first, std::size_t count) {
  Plan plan = found_points(file, first, count);
  if (!plan.empty()) {
    return plan;
  }
  for_lines(file, [&](const std::string& line, std::size_t i) {
    if (i >= first) {
      plan.push_back(point_from(line, file, i));
    }
    return plan.size() < count;
  });
  if (plan.empty()) {
    throw ConfigError({{file, 0, 0, "", fmt::format("has no point {}", first)}});
  }
  return plan;
}

Point read_manifest_line(const std::string& file, std::size_t index) {
  return read_manifest_part(file, index, 1).front();
}

void write_engine(std::size_t points, const EngineOptions& engine, const std::string& folder,
                  const std::string& program) {
  const ScriptPlace place{folder, program};
  write_files_together({{folder + "/array.sbatch", array_script(points, engine, place)},
                        {folder + "/merge.sbatch", merge_script(place)},
                        {engine_options_path(folder), engine_options_text(engine)}});
}

std::string manifest_path(const std::string& folder) {
  return folder + "/manifest.jsonl";
}

std::string result_path(const std::string& folder, const Point& point) {
  return fmt::format("{}/points/{}.json", folder, point.id);
}

std::string log_path(const std::string& folder, const Point& point) {
  return fmt::format("{}/logs/{}.log", folder, point.id);
}

void check_places(const std::string& folder, const Point& point) {
  check_place(result_path(folder, point));
  check_place(log_path(folder, point));
}

PointFile read_point_file(const std::string& folder, const Point& point) {
  PointFile file;
  const InputText input = read_own_file(result_path(folder, point));
  file.is_there = !input.is_missing;
  if (!input.problem.empty()) {
    return file;
  }
  try {
    Json result = Json::parse(input.text);
    const bool has_figures =
        !result.at("links").empty() || !result.value("network", Json::object()).empty();
    if (result.at("point").at("id") == point.id && has_figures) {
      file.figures = figures_row(result);
      file.result = std::move(result);
    }
  } catch (const Json::exception&) {  // cut off, or of some other making
    file.figures = nullptr;
  }
  return file;
}

bool has_result(const std::string& folder, const Point& point) {
  const PointFile file = read_point_file(folder, point);
  if (file.is_there && file.result.is_null()) {
    fmt::print(stderr,
               "flitwise: warning: {} is no result of point {}; the point has to run again\n",
               result_path(folder, point), point.index);
  }
  return !file.result.is_null();
}

}  // namespace flitwise
