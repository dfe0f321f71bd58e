// SPDX-License-Identifier: Apache-2.0
// flitwise sweep: plan, run, point, status and merge.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>
#include <thread>

#include "cli/commands.h"
#include "cli/run_files.h"
#include "common/atomic_file.h"
#include "common/interrupt.h"
#include "common/printable.h"
#include "common/ranges.h"
#include "common/terminal.h"
#include "results/result_json.h"
#include "sweep/local_engine.h"
#include "sweep/merge.h"
#include "sweep/plan.h"

namespace flitwise::cli {
namespace {

struct SweepOptions {
  std::string input;  ///< sweep file, manifest or folder, as the subcommand says
  std::string folder;
  std::vector<std::string> sets;
  std::string engine = "local";
  unsigned jobs = 0;  ///< 0: one a core
  unsigned retries = 1;
  std::size_t index = 0;
};

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
  const auto ids = mapped(plan, &Point::id);
  return std::set<std::string>(ids.begin(), ids.end()).size();
}

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

/// Writes both merged files and names them; first a table of the points where that is wanted.
int merge(const Plan& plan, const std::string& folder, bool with_summary) {
  const MergedSweep merged = merge_into_files(plan, folder);
  if (with_summary) {
    fmt::print("{}", sweep_summary(merged, plan, terminal_columns(STDOUT_FILENO)));
  }
  const std::string runs = merged.runs.size() == merged.rows.size()
                               ? ""
                               : fmt::format(" of {} runs", merged.runs.size());
  fmt::print("{} rows{} in {}/results.sqlite and {}/points.csv\n", merged.rows.size(), runs, folder,
             folder);
  if (const std::size_t beside = columns_beside(merged).size(); beside != 0) {
    fmt::print("{} of {} columns are in the table point_value of results.sqlite\n", beside,
               merged.columns.size());
  }
  name_missing(merged.missing, folder);
  const auto failed = std::count_if(merged.runs.begin(), merged.runs.end(), [](const auto& run) {
    return run.value("checks_failed", 0) > 0;
  });
  if (failed > 0) {
    fmt::print(stderr, "flitwise: checks failed in {} of {} points, see column checks_failed\n",
               failed, merged.runs.size());
  }
  return merged.missing.empty() ? kOk : kSweepIncomplete;
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

int sweep_plan(const SweepOptions& options) {
  const Study study = read_study(options.input);
  refuse_to_overwrite_inputs(study, options.folder);
  std::vector<Problem> given;
  const Plan plan = make_plan(study, options.sets, &given);
  print_without_effect(given);
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
  std::vector<Problem> given;
  Plan plan = is_planned ? read_manifest(manifest_of(options.input))
                         : make_plan(study, options.sets, &given);
  const FolderLock lock(folder);
  if (!is_planned || folder != options.input) {
    write_plan(plan, is_planned ? read_presentation(options.input) : study.presentation, folder,
               own_path());
  } else {
    plan = read_manifest(manifest_of(folder));  // as it is now that no other process writes it
  }
  if (!is_planned) {
    print_without_effect(given);
    print_warnings(plan, options.input);
  }
  if (run_points(plan, options, folder).is_interrupted) {
    fmt::print(stderr, "flitwise: interrupted; finished points are kept in {}/points\n", folder);
    return kInterrupted;
  }
  return merge(plan, folder, true);
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
  const std::vector<Point> missing =
      those(plan, [&](const Point& point) { return !has_result(options.input, point); });
  fmt::print("{} of {} points have a result\n", plan.size() - missing.size(), plan.size());
  name_missing(missing, options.input);
  return missing.empty() ? kOk : kSweepIncomplete;
}

int sweep_merge(const SweepOptions& options) {
  if (!std::filesystem::exists(manifest_of(options.input))) {
    read_manifest(manifest_of(options.input));  // says what is wrong, and makes no folder
  }
  const FolderLock lock(options.input);
  return merge(read_manifest(manifest_of(options.input)), options.input, false);
}

int sweep_resume(const SweepOptions& /*options*/) {
  fmt::print(
      stderr,
      "flitwise: sweep resume is not modelled yet; expected sweep run DIR, which runs what has "
      "no result\n");
  return kBadInput;
}

// What a sweep cannot write it lacks afterwards.
template <int (*perform)(const SweepOptions&)>
int complete_or_not(const SweepOptions& options) {
  try {
    const int code = perform(options);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw OutputError("stdout cannot be written");
    }
    return code;
  } catch (const OutputError& error) {
    fmt::print(stderr, "flitwise: {}\n", printable(error.what()));
  } catch (const std::system_error& error) {
    fmt::print(stderr, "flitwise: {}\n", printable(error.what()));
  }
  return kSweepIncomplete;
}

/// A subcommand of sweep, with its own copy of the options, and the input that it takes.
template <int (*perform)(const SweepOptions&)>
Command<SweepOptions> add_part(CLI::App& sweep, Action& action, const char* name,
                               const char* purpose, const char* input, const char* what,
                               const char* type) {
  auto part = add_command<SweepOptions>(sweep, name, purpose, action, complete_or_not<perform>);
  part.app.add_option(input, part.options.input, what)->type_name(type)->required();
  return part;
}

void add_plan(CLI::App& sweep, Action& action) {
  const auto [plan, options] = add_part<sweep_plan>(
      sweep, action, "plan", "Write manifest.jsonl, points.txt and Slurm scripts", "input",
      "Sweep file", "STUDY.yaml");
  add_path(plan, "-o,--out", options.folder, "Folder of the sweep", "DIR")->required();
  add_repeated(plan, "--set", options.sets, "Override one key in every point", "KEY=VALUE");
  plan.footer("Example:\n  flitwise sweep plan configs/studies/dhi_vs_pasid.yaml -o out");
}

void add_run(CLI::App& sweep, Action& action) {
  const auto [run, options] =
      add_part<sweep_run>(sweep, action, "run", "Plan, run what has no result yet, merge", "input",
                          "Sweep file, or a planned folder", "STUDY.yaml|DIR");
  add_path(run, "-o,--out", options.folder, "Folder of the sweep; default: the planned folder",
           "DIR");
  add_repeated(run, "--set", options.sets, "Override one key in every point", "KEY=VALUE");
  run.add_option("--engine", options.engine, "local or slurm")
      ->type_name("NAME")
      ->check(CLI::IsMember({"local", "slurm"}));
  run.add_option("-j,--jobs", options.jobs, "Points at a time; default: one a core")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  run.add_option("--retries", options.retries, "Further attempts of a failed point; default: 1")
      ->type_name("K")
      ->check(CLI::Range(0, 100));
  run.footer("Example:\n  flitwise sweep run configs/studies/dhi_vs_pasid.yaml -o out -j 2");
}

void add_point(CLI::App& sweep, Action& action) {
  const auto [point, options] = add_part<sweep_point>(
      sweep, action, "point", "Run one point of a manifest: what engines call", "--manifest",
      "manifest.jsonl", "M");
  point.add_option("--index", options.index, "Line of the manifest, from 0")
      ->type_name("I")
      ->required();
  add_path(point, "--out", options.folder, "Folder of the sweep", "DIR")->required();
  point.footer(
      "Example:\n  flitwise sweep point --manifest out/manifest.jsonl --index 3 --out out");
}

// One that needs the folder of the sweep alone.
template <int (*perform)(const SweepOptions&)>
void add_of_folder(CLI::App& sweep, Action& action, const char* name, const char* purpose) {
  add_part<perform>(sweep, action, name, purpose, "input", "Folder of the sweep", "DIR")
      .app.footer(fmt::format("Example:\n  flitwise sweep {} out", name));
}

}  // namespace

void add_sweep_command(CLI::App& app, Action& action) {
  CLI::App& sweep = *app.add_subcommand("sweep", "Run many configurations and gather the results");
  sweep.require_subcommand(1);
  add_plan(sweep, action);
  add_run(sweep, action);
  add_point(sweep, action);
  add_of_folder<sweep_status>(sweep, action, "status", "Say which points have a result");
  add_of_folder<sweep_merge>(sweep, action, "merge",
                             "Make results.sqlite and points.csv from all points");
  add_of_folder<sweep_resume>(sweep, action, "resume",
                              "Run what is missing or failed (not modelled yet)");
  sweep.footer("Example:\n  flitwise sweep run configs/studies/dhi_vs_pasid.yaml -o out");
}

}  // namespace flitwise::cli
