// SPDX-License-Identifier: Apache-2.0
// flitwise sweep: plan, run, resume, status and merge.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <thread>

#include "cli/commands.h"
#include "cli/sweep_parts.h"
#include "common/atomic_file.h"
#include "common/interrupt.h"
#include "common/ranges.h"
#include "common/terminal.h"
#include "sweep/local_engine.h"
#include "sweep/merge.h"
#include "sweep/plan.h"
#include "sweep/point_lock.h"
#include "sweep/scripts.h"
#include "sweep/slurm_engine.h"

namespace flitwise::cli {
namespace {

struct SweepOptions {
  std::string input;  ///< sweep file, manifest or folder, as the subcommand says
  std::string folder;
  std::vector<std::string> sets;
  std::vector<std::string> axes, zips;
  std::string seeds;
  ProgressStyle progress = ProgressStyle::kAuto;
  // Where one is not given: what the folder was planned with, or else the default.
  std::optional<std::string> engine;
  std::optional<unsigned> jobs, retries, points_per_task;
  std::optional<double> timeout_seconds;
};

bool changes_plan(const SweepOptions& options) {
  return !options.sets.empty() || !options.axes.empty() || !options.zips.empty() ||
         !options.seeds.empty();
}

EngineOptions engine_of(const SweepOptions& options, const EngineOptions& before = {}) {
  return {options.engine.value_or(before.engine), options.jobs.value_or(before.jobs),
          options.retries.value_or(before.retries),
          options.timeout_seconds.value_or(before.timeout_seconds),
          options.points_per_task.value_or(before.points_per_task)};
}

Study study_of(const SweepOptions& options) {
  return read_study(options.input, read_command_axes(options.axes, options.zips, options.seeds));
}

/// Neither the study nor a base of it is a file that the sweep writes.
void refuse_to_overwrite_inputs(const Study& study, const std::string& folder) {
  std::vector<NamedPath> inputs = {{study.file, "the sweep file"}};
  for (const Block& block : study.blocks) {
    inputs.push_back({block.base, "a base"});
  }
  std::vector<NamedPath> outputs;
  for (const std::string name :
       {"manifest.jsonl", "study.json", "points.txt", "Snakefile", "array.sbatch", "merge.sbatch",
        "engine.json", "results.sqlite", "points.csv"}) {
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

/// What is to be done with the folder after an interrupt.
void say_how_to_go_on(const std::string& folder) {
  fmt::print(stderr,
             "flitwise: interrupted; finished points are kept in {}/points; to go on: flitwise "
             "sweep resume {}\n",
             folder, shell_word(folder));
}

int run_here(const Plan& plan, const EngineOptions& engine, const std::string& folder,
             ProgressPrinter& printer) {
  LocalOptions local;
  local.program = own_path();
  local.folder = folder;
  local.jobs = engine.jobs != 0 ? engine.jobs : std::max(1U, std::thread::hardware_concurrency());
  local.retries = engine.retries;
  local.timeout_seconds = engine.timeout_seconds;
  const SweepOutcome outcome =
      run_local(plan, local, [&](const SweepProgress& progress) { printer.show(progress); });
  printer.finish();
  if (outcome.is_interrupted) {
    say_how_to_go_on(folder);
    return kInterrupted;
  }
  return kOk;
}

int run_in_slurm(const Plan& plan, const EngineOptions& engine, const std::string& folder,
                 ProgressPrinter& printer) {
  const SlurmOutcome outcome = run_slurm(
      plan, engine, folder, [&](const SweepProgress& progress) { printer.show(progress); },
      [](const std::string& text) { fmt::print(stderr, "flitwise: {}\n", text); });
  printer.finish();
  if (!outcome.is_interrupted) {
    return kOk;
  }
  say_how_to_go_on(folder);
  if (!outcome.jobs.empty()) {
    fmt::print(stderr, "flitwise: its jobs go on in Slurm; to end them: scancel {}\n",
               fmt::join(outcome.jobs, " "));
  }
  return kInterrupted;
}

/// Runs what has no result, and merges. REQUIRES: a lock on the folder, in which the plan is.
int run_and_merge(const Plan& plan, const EngineOptions& engine, const std::string& folder,
                  ProgressStyle style) {
  for (const char* name : {"/results.sqlite", "/points.csv"}) {
    check_place(folder + name);  // made of all points at the end
  }
  ProgressPrinter printer(style);
  const int code = engine.engine == "slurm" ? run_in_slurm(plan, engine, folder, printer)
                                            : run_here(plan, engine, folder, printer);
  end_on_interrupt(kInterrupted);
  return code != kOk ? code : merge(plan, folder, true);
}

int sweep_plan(const SweepOptions& options) {
  const Study study = study_of(options);
  refuse_to_overwrite_inputs(study, options.folder);
  PlanNotes notes;
  const Plan plan = make_plan(study, options.sets, &notes);
  print_without_effect(notes.without_effect);
  print_warnings(notes, plan.size(), options.input);
  const FolderLock lock(options.folder);
  write_plan(plan, study.presentation, options.folder, own_path(), engine_of(options));
  fmt::print("{} points ({} distinct) in {}\n", plan.size(), distinct_points(plan),
             manifest_path(options.folder));
  return kOk;
}

/// Of a folder that is planned.
int sweep_resume(const SweepOptions& options) {
  const std::string& folder = options.input;
  read_manifest_line(manifest_path(folder), 0);  // says what is wrong, and makes no folder
  const FolderLock lock(folder);
  const Plan plan = read_manifest(manifest_path(folder));
  const EngineOptions engine = engine_of(options, read_engine_options(folder));
  write_engine(plan.size(), engine, folder, own_path());
  return run_and_merge(plan, engine, folder, options.progress);
}

int sweep_run(const SweepOptions& options) {
  std::error_code ignored;
  const bool is_planned = std::filesystem::is_directory(options.input, ignored);
  const std::string folder = options.folder.empty() && is_planned ? options.input : options.folder;
  if (folder.empty()) {
    throw UsageError("sweep run: no folder for the results; expected -o DIR");
  }
  if (is_planned && changes_plan(options)) {
    throw UsageError(
        "sweep run: --set, --axis, --zip and --seeds change the plan; expected a sweep file, not a "
        "folder");
  }
  if (folder == options.input) {
    return sweep_resume(options);
  }
  const Study study = is_planned ? Study{} : study_of(options);
  refuse_to_overwrite_inputs(study, folder);
  PlanNotes notes;
  const Plan plan = is_planned ? read_manifest(manifest_path(options.input))
                               : make_plan(study, options.sets, &notes);
  const EngineOptions engine =
      engine_of(options, is_planned ? read_engine_options(options.input) : EngineOptions{});
  const FolderLock lock(folder);
  write_plan(plan, is_planned ? read_presentation(options.input) : study.presentation, folder,
             own_path(), engine);
  if (!is_planned) {
    print_without_effect(notes.without_effect);
    print_warnings(notes, plan.size(), options.input);
  }
  return run_and_merge(plan, engine, folder, options.progress);
}

int sweep_status(const SweepOptions& options) {
  const std::string& folder = options.input;
  const Plan plan = read_manifest(manifest_path(folder));
  const std::vector<Point> missing =
      those(plan, [&](const Point& point) { return !has_result(folder, point); });
  const auto running = those(
      missing, [&](const Point& point) { return PointLock::is_held(log_path(folder, point)); });
  fmt::print("{} of {} points have a result", plan.size() - missing.size(), plan.size());
  if (!running.empty()) {
    fmt::print(", {} are running", running.size());
  }
  fmt::print("\n");
  if (read_engine_options(folder).engine == "slurm") {
    try {
      fmt::print("{} in the queue of Slurm\n", tasks_text(slurm_queue(folder).tasks.size()));
    } catch (const std::runtime_error& error) {  // the results can be looked at without it
      fmt::print(stderr, "flitwise: {}\n", error.what());
    }
  }
  name_missing(missing, folder);
  return missing.empty() ? kOk : kSweepIncomplete;
}

int sweep_merge(const SweepOptions& options) {
  if (!std::filesystem::exists(manifest_path(options.input))) {
    read_manifest(manifest_path(options.input));  // says what is wrong, and makes no folder
  }
  const FolderLock lock(options.input);
  return merge(read_manifest(manifest_path(options.input)), options.input, false);
}

/// A subcommand of sweep, with its own copy of the options, and the input that it takes.
template <int (*perform)(const SweepOptions&)>
Command<SweepOptions> add_part(CLI::App& sweep, Action& action, const char* name,
                               const char* purpose, const char* input, const char* what,
                               const char* type) {
  auto part = add_command<SweepOptions>(sweep, name, purpose, action,
                                        complete_or_not<SweepOptions, perform>);
  part.app.add_option(input, part.options.input, what)->type_name(type)->required();
  return part;
}

/// What a study may be changed by.
void add_study_options(CLI::App& command, SweepOptions& options) {
  add_repeated(command, "--set", options.sets, "Override one key in every point", "KEY=VALUE");
  add_repeated(command, "--axis", options.axes,
               "Vary a key: values, A..B:*K, A..B:+K, linspace(A,B,N), with commas between; the "
               "sweep file may be a config then",
               "KEY=VALUES");
  add_repeated(command, "--zip", options.zips, "Keys that move together, with spaces between",
               "\"KEY=VALUES KEY=VALUES\"");
  command.add_option("--seeds", options.seeds, "Seeds of every point, such as 1..5 or 1,7")
      ->type_name("VALUES");
}

void add_engine_options(CLI::App& command, SweepOptions& options) {
  command
      .add_option("--engine", options.engine,
                  "local (processes on this machine) or slurm (job arrays)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"local", "slurm"}).description(""));
  command
      .add_option("-j,--jobs", options.jobs,
                  "Points at a time, of Slurm tasks; default: one a core, of Slurm any")
      ->type_name("N")
      ->check(CLI::Range(1, 4096).description(""));
  add_attempt_options(command, options.retries, options.timeout_seconds);
  add_points_per_task(command, options.points_per_task);
}

void add_progress(CLI::App& command, SweepOptions& options) {
  const std::map<std::string, ProgressStyle> styles = {{"auto", ProgressStyle::kAuto},
                                                       {"plain", ProgressStyle::kPlain},
                                                       {"none", ProgressStyle::kNone},
                                                       {"json", ProgressStyle::kJson}};
  command
      .add_option("--progress", options.progress,
                  "auto (a bar on a terminal, lines elsewhere), plain, none or json")
      ->type_name("STYLE")
      ->transform(CLI::CheckedTransformer(styles).description(""));
}

void add_plan(CLI::App& sweep, Action& action) {
  const auto [plan, options] = add_part<sweep_plan>(
      sweep, action, "plan", "Write manifest.jsonl, and scripts for Slurm, Snakemake and parallel",
      "input", "Sweep file", "STUDY.yaml");
  add_path(plan, "-o,--out", options.folder, "Folder of the sweep", "DIR")->required();
  add_study_options(plan, options);
  add_engine_options(plan, options);
  plan.footer("Example:\n  flitwise sweep plan configs/studies/dhi_vs_pasid.yaml -o out");
}

void add_run(CLI::App& sweep, Action& action) {
  const auto [run, options] =
      add_part<sweep_run>(sweep, action, "run", "Plan, run what has no result yet, merge", "input",
                          "Sweep file, or a planned folder", "STUDY.yaml|DIR");
  add_path(run, "-o,--out", options.folder, "Folder of the sweep; default: the planned folder",
           "DIR");
  add_study_options(run, options);
  add_engine_options(run, options);
  add_progress(run, options);
  run.footer(
      "Example:\n  flitwise sweep run configs/studies/dhi_vs_pasid.yaml -o out -j 2\n"
      "  flitwise sweep run configs/checks/saturated.yaml --axis link.identity=bdf_pasid,dhi \\\n"
      "    --axis workload.payload=64B..4KiB:*2 -o out");
}

void add_resume(CLI::App& sweep, Action& action) {
  const auto [resume, options] = add_part<sweep_resume>(
      sweep, action, "resume", "Run what is missing or failed, as it was begun, and merge", "input",
      "Folder of the sweep", "DIR");
  add_engine_options(resume, options);
  add_progress(resume, options);
  resume.footer("Example:\n  flitwise sweep resume out");
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
  add_resume(sweep, action);
  add_of_folder<sweep_status>(sweep, action, "status", "Say which points have a result");
  add_of_folder<sweep_merge>(sweep, action, "merge",
                             "Make results.sqlite and points.csv from all points");
  add_point_commands(sweep, action);
  sweep.footer("Example:\n  flitwise sweep run configs/studies/dhi_vs_pasid.yaml -o out");
}

}  // namespace flitwise::cli
