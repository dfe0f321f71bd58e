// SPDX-License-Identifier: Apache-2.0
// Shell, Slurm and Snakemake.
#include "sweep/scripts.h"

#include <fmt/format.h>

#include <boost/algorithm/string/replace.hpp>
#include <filesystem>
#include <system_error>

#include "common/sha256.h"

namespace flitwise {
namespace {

constexpr const char* kArrayScript = R"sh(#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --array=0-{last}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=logs/slurm-%A_%a.log
# By hand, from this folder: A=$(sbatch --parsable array.sbatch); sbatch --dependency=afterany:$A merge.sbatch
# The argument, if any, is added to the number of the task: sbatch --array=0-999 array.sbatch 1000
exec {program} sweep task . --task "$((SLURM_ARRAY_TASK_ID + ${{1:-0}}))" \
  --points-per-task {points_per_task} --retries {retries}{timeout}
)sh";

constexpr const char* kMergeScript = R"(#!/bin/bash
#SBATCH --job-name=flitwise-merge
#SBATCH --ntasks=1
#SBATCH --output=logs/slurm-merge-%j.log
exec {program} sweep merge .
)";

// Snakemake replaces names in braces in its shell commands, so that the program is one of them.
constexpr const char* kSnakefile = R"(# From this folder: snakemake --cores 2 --retries 2
import json

with open("manifest.jsonl") as lines:
    INDEX = {{point["id"]: point["index"] for point in map(json.loads, lines)}}

POINTS = expand("points/{{id}}.json", id=INDEX)

rule all:
    input: "results.sqlite", POINTS

rule merge:
    input: POINTS
    output: "results.sqlite", "points.csv"
    params: program={program}
    shell: "{{params.program}} sweep merge ."

rule point:
    output: "points/{{id}}.json"
    params:
        program={program},
        index=lambda wildcards: INDEX[wildcards.id]
    shell: "{{params.program}} sweep point --manifest manifest.jsonl --index {{params.index}} --out . >>logs/{{wildcards.id}}.log 2>&1"
)";

}  // namespace

std::string shell_word(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=,:@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
    return word;
  }
  return "'" + boost::replace_all_copy(word, "'", "'\\''") + "'";
}

std::string point_commands(const Plan& plan, const ScriptPlace& place) {
  std::string commands;
  for (const Point& point : plan) {
    commands +=
        fmt::format("{} sweep point --manifest {} --index {} --out {} >>{} 2>&1\n",
                    shell_word(place.program), shell_word(manifest_path(place.folder)), point.index,
                    shell_word(place.folder), shell_word(log_path(place.folder, point)));
  }
  return commands;
}

std::string snakefile(const ScriptPlace& place) {
  return fmt::format(kSnakefile,
                     fmt::arg("program", nlohmann::json(shell_word(place.program)).dump()));
}

std::string array_script(std::size_t points, const EngineOptions& options,
                         const ScriptPlace& place) {
  const bool has_limit = options.timeout_seconds > 0;
  return fmt::format(
      kArrayScript, fmt::arg("name", array_name(place.folder, options.points_per_task, 0)),
      fmt::arg("last", task_count(points, options.points_per_task) - 1),
      fmt::arg("program", shell_word(place.program)),
      fmt::arg("points_per_task", options.points_per_task), fmt::arg("retries", options.retries),
      fmt::arg("timeout", has_limit ? fmt::format(" --timeout {}s", options.timeout_seconds) : ""));
}

std::string merge_script(const ScriptPlace& place) {
  return fmt::format(kMergeScript, fmt::arg("program", shell_word(place.program)));
}

std::string array_name_front(const std::string& folder) {
  constexpr std::size_t kDigits = 12;
  std::error_code ignored;
  const std::filesystem::path place =
      std::filesystem::weakly_canonical(std::filesystem::absolute(folder, ignored), ignored);
  return fmt::format("flitwise-{}-", sha256_hex(place.string()).substr(0, kDigits));
}

std::string array_name(const std::string& folder, unsigned points_per_task, std::size_t offset) {
  return fmt::format("{}{}-{}", array_name_front(folder), points_per_task, offset);
}

}  // namespace flitwise
