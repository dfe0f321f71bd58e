// SPDX-License-Identifier: Apache-2.0
// Plan, run, status and merge of a sweep.
#include "cli/sweep_actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/output_paths.h"
#include "cli/print_warnings.h"
#include "cli/simulate.h"
#include "common/atomic_file.h"
#include "common/interrupt.h"
#include "results/result_json.h"
#include "sweep/local_engine.h"
#include "sweep/merge.h"
#include "sweep/plan.h"
#include "sweep/progress.h"
#include "sweep/sweep_summary.h"

namespace flitwise::cli {
namespace {

std::string manifest_of(const std::string& folder) {
  return folder + "/manifest.jsonl";
}

/// Neither the study nor a base of it is a file that the sweep writes.
void refuse_to_overwrite_inputs(const Study& study, const std::string& folder) {
  std::vector<NamedPath> inputs = {{study.file, "the sweep file"}};
  for (const Block& block : study.blocks) {
    inputs.push_back({block.base, "a base"});
  }
  std::vector<NamedPath> outputs;
  for (const std::string name : {"manifest.jsonl", "study.json", "points.txt", "array.sbatch",
                                 "merge.sbatch", "results.sqlite", "points.csv"}) {
    outputs.push_back({folder + "/" + name, name + " of --out"});
  }
  refuse_to_overwrite(inputs, outputs);
}

std::size_t distinct_points(const Plan& plan) {
  std::set<std::string> ids;
  for (const Point& point : plan) {
    ids.insert(point.id);
  }
  return ids.size();
}

/// Writes both merged files and names them.
MergedSweep merge_into_files(const Plan& plan, const std::string& folder) {
  MergedSweep merged = merge_results(plan, folder);
  write_files_together({{folder + "/results.sqlite", merged_sqlite(merged)},
                        {folder + "/points.csv", merged_csv(merged)}});
  if (merged.missing.empty()) {
    for (const std::string& sentence : figures_of_nothing(merged)) {
      fmt::print(stderr, "flitwise: warning: {}\n", sentence);
    }
  }
  return merged;
}

void name_missing(const std::vector<Point>& missing, const std::string& folder) {
  constexpr std::size_t kMostNamed = 20;
  for (std::size_t i = 0; i < std::min(missing.size(), kMostNamed); ++i) {
    const std::string log = log_path(folder, missing[i]);
    fmt::print(stderr, "point {} ({}, block {}) has no result; log: {}\n", missing[i].index,
               missing[i].id, missing[i].block,
               std::filesystem::exists(log) ? log : "none, it never ran");
  }
  if (missing.size() > kMostNamed) {
    fmt::print(stderr, "... and {} more; see flitwise sweep status {}\n",
               missing.size() - kMostNamed, folder);
  }
}

void print_files(const MergedSweep& merged, const std::string& folder) {
  fmt::print("{} rows in {}/results.sqlite and {}/points.csv\n", merged.rows.size(), folder,
             folder);
}

SweepOutcome run_points(const Plan& plan, const SweepOptions& options, const std::string& folder) {
  LocalOptions local;
  local.program = own_path();
  local.folder = folder;
  local.jobs = options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  local.retries = options.retries;
  ProgressPrinter printer;
  SweepOutcome outcome =
      run_local(plan, local, [&](const SweepProgress& progress) { printer.show(progress); });
  printer.finish();
  end_on_interrupt(kInterrupted);
  return outcome;
}

}  // namespace

int sweep_plan(const SweepOptions& options) {
  const Study study = read_study(options.input);
  refuse_to_overwrite_inputs(study, options.folder);
  const Plan plan = make_plan(study, options.sets);
  print_warnings(plan, options.input);
  const FolderLock lock(options.folder);
  write_plan(plan, study.presentation, options.folder, own_path());
  fmt::print("{} points ({} distinct) in {}\n", plan.size(), distinct_points(plan),
             manifest_of(options.folder));
  return kOk;
}

int sweep_run(const SweepOptions& options) {
  if (options.engine == "slurm") {
    return not_modelled_yet(
        "sweep run --engine slurm; array.sbatch of sweep plan can be submitted");
  }
  std::error_code ignored;
  const bool is_planned = std::filesystem::is_directory(options.input, ignored);
  const std::string folder = options.folder.empty() && is_planned ? options.input : options.folder;
  if (folder.empty()) {
    throw UsageError("sweep run: no folder for the results; expected -o DIR");
  }
  if (is_planned && !options.sets.empty()) {
    throw UsageError("sweep run: --set changes the plan; expected a sweep file, not a folder");
  }
  const Study study = is_planned ? Study{} : read_study(options.input);
  refuse_to_overwrite_inputs(study, folder);
  Plan plan =
      is_planned ? read_manifest(manifest_of(options.input)) : make_plan(study, options.sets);
  const FolderLock lock(folder);
  if (!is_planned || folder != options.input) {
    write_plan(plan, is_planned ? read_presentation(options.input) : study.presentation, folder,
               own_path());
  } else {
    plan = read_manifest(manifest_of(folder));  // as it is now that no other process writes it
  }
  if (!is_planned) {
    print_warnings(plan, options.input);
  }
  if (run_points(plan, options, folder).is_interrupted) {
    fmt::print(stderr, "flitwise: interrupted; finished points are kept in {}/points\n", folder);
    return kInterrupted;
  }
  const MergedSweep merged = merge_into_files(plan, folder);
  fmt::print("{}", sweep_summary(merged, plan, terminal_columns()));
  print_files(merged, folder);
  name_missing(merged.missing, folder);
  return merged.missing.empty() ? kOk : kSweepIncomplete;
}

// One simulation, one result file.
int sweep_point(const SweepOptions& options) {
  const Point point = read_manifest_line(options.input, options.index);
  check_places(options.folder, point);
  if (has_result(options.folder, point)) {
    fmt::print("point {} ({}): cached\n", point.index, point.id);
    return kOk;
  }
  const SimulatedRun run = simulate(config_of(point));
  const RunResult& result = run.result;
  if (run.end != RunEnd::kComplete) {
    return kInterrupted;
  }
  nlohmann::ordered_json json = result_json(result);
  json["point"] = {{"id", point.id}, {"block", point.block}, {"seed", point.seed}};
  write_files_together(
      {{result_path(options.folder, point),
        json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"}});
  fmt::print("point {} ({}): done in {:.2f} s\n", point.index, point.id, result.host_seconds);
  for (const CheckResult& check : result.checks) {
    if (!check.ok) {
      fmt::print(stderr, "check failed: {}: {}\n", check.name, check.detail);
    }
  }
  return kOk;
}

int sweep_status(const SweepOptions& options) {
  const Plan plan = read_manifest(manifest_of(options.input));
  std::vector<Point> missing;
  for (const Point& point : plan) {
    if (!has_result(options.input, point)) {
      missing.push_back(point);
    }
  }
  fmt::print("{} of {} points have a result\n", plan.size() - missing.size(), plan.size());
  name_missing(missing, options.input);
  return missing.empty() ? kOk : kSweepIncomplete;
}

int sweep_merge(const SweepOptions& options) {
  if (!std::filesystem::exists(manifest_of(options.input))) {
    read_manifest(manifest_of(options.input));  // says what is wrong, and makes no folder
  }
  const FolderLock lock(options.input);
  const Plan plan = read_manifest(manifest_of(options.input));
  const MergedSweep merged = merge_into_files(plan, options.input);
  print_files(merged, options.input);
  name_missing(merged.missing, options.input);
  return merged.missing.empty() ? kOk : kSweepIncomplete;
}

int sweep_resume(const SweepOptions& /*options*/) {
  return not_modelled_yet("sweep resume; sweep run on the folder runs what has no result");
}

}  // namespace flitwise::cli
