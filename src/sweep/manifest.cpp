// SPDX-License-Identifier: Apache-2.0
// The files of a planned sweep.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "common/atomic_file.h"
#include "flitwise/error.h"
#include "sweep/plan.h"

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

Point point_from(const std::string& text, const std::string& file, std::size_t index) {
  try {
    const Json line = Json::parse(text);
    Point point;
    point.index = line.at("index").get<std::size_t>();
    point.id = line.at("id").get<std::string>();
    point.block = line.at("block").get<std::string>();
    point.seed = line.at("seed").get<std::uint64_t>();
    for (const auto& [key, value] : line.at("axes").items()) {
      point.axes.emplace_back(key, value.get<std::string>());
    }
    point.config = line.at("config");
    return point;
  } catch (const Json::exception& error) {
    throw ConfigError({{file, static_cast<int>(index) + 1, 1, "",
                        fmt::format("no line of a manifest: {}; expected one made by sweep plan",
                                    error.what())}});
  }
}

std::ifstream open(const std::string& file) {
  std::ifstream in(file);
  if (!in || std::filesystem::is_directory(file)) {
    throw ConfigError({{file, 0, 0, "", "cannot be read; expected a manifest of sweep plan"}});
  }
  return in;
}

/// A word as the shell takes it.
std::string quoted(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=,:@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
    return word;
  }
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return text + "'";
}

constexpr const char* kArrayScript = R"(#!/bin/bash
#SBATCH --job-name=flitwise
#SBATCH --array=0-{last}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --output=logs/slurm-%A_%a.log
# Submit from this folder: A=$(sbatch --parsable array.sbatch); sbatch --dependency=afterany:$A merge.sbatch
for try in 1 2 3; do
  {program} sweep point --manifest manifest.jsonl --index "$SLURM_ARRAY_TASK_ID" --out . && exit 0
  rc=$?
  echo "attempt $try ended with exit code $rc" >&2
done
exit "$rc"
)";

constexpr const char* kMergeScript = R"(#!/bin/bash
#SBATCH --job-name=flitwise-merge
#SBATCH --ntasks=1
#SBATCH --output=logs/slurm-merge-%j.log
exec {program} sweep merge .
)";

}  // namespace

void write_plan(const Plan& plan, const std::string& folder, const std::string& program) {
  // Slurm fails tasks whose log folder is missing, so it is made here.
  std::filesystem::create_directories(folder + "/logs");
  std::filesystem::create_directories(folder + "/points");
  std::string manifest;
  std::string commands;
  for (const Point& point : plan) {
    manifest += manifest_line(point) + "\n";
    commands += fmt::format("{} sweep point --manifest {} --index {} --out {}\n", quoted(program),
                            quoted(folder + "/manifest.jsonl"), point.index, quoted(folder));
  }
  write_file_atomically(folder + "/manifest.jsonl", manifest);
  write_file_atomically(folder + "/points.txt", commands);
  write_file_atomically(folder + "/array.sbatch",
                        fmt::format(kArrayScript, fmt::arg("last", plan.size() - 1),
                                    fmt::arg("program", quoted(program))));
  write_file_atomically(folder + "/merge.sbatch",
                        fmt::format(kMergeScript, fmt::arg("program", quoted(program))));
}

void write_presentation(const Presentation& presentation, const std::string& folder) {
  write_file_atomically(folder + "/study.json", to_json_text(presentation).dump(2) + "\n");
}

Presentation read_presentation(const std::string& folder) {
  const std::string file = folder + "/study.json";
  std::ifstream in(file);
  if (!in) {
    return {};
  }
  try {
    return presentation_from(Json::parse(in));
  } catch (const Json::exception& error) {
    throw ConfigError({{file, 0, 0, "",
                        fmt::format("{}; expected the file that sweep plan wrote", error.what())}});
  }
}

Plan read_manifest(const std::string& file) {
  std::ifstream in = open(file);
  Plan plan;
  std::string line;
  while (std::getline(in, line)) {
    plan.push_back(point_from(line, file, plan.size()));
  }
  return plan;
}

Point read_manifest_line(const std::string& file, std::size_t index) {
  std::ifstream in = open(file);
  std::string line;
  for (std::size_t i = 0; std::getline(in, line); ++i) {
    if (i == index) {
      return point_from(line, file, i);
    }
  }
  throw ConfigError({{file, 0, 0, "", fmt::format("has no point {}", index)}});
}

std::string result_path(const std::string& folder, const Point& point) {
  return fmt::format("{}/points/{}.json", folder, point.id);
}

std::string log_path(const std::string& folder, const Point& point) {
  return fmt::format("{}/logs/{}.log", folder, point.id);
}

bool has_result(const std::string& folder, const Point& point) {
  std::ifstream in(result_path(folder, point));
  if (!in) {
    return false;
  }
  const Json result = Json::parse(in, nullptr, false);
  return !result.is_discarded() && result.is_object() && result.contains("point") &&
         result["point"].is_object() && result["point"].value("id", "") == point.id;
}

}  // namespace flitwise
