// SPDX-License-Identifier: Apache-2.0
// flitwise sweep point and task: one point in this process, and some in child processes.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/run_files.h"
#include "cli/sweep_parts.h"
#include "results/result_json.h"
#include "sweep/local_engine.h"
#include "sweep/plan.h"
#include "sweep/point_lock.h"

namespace flitwise::cli {
namespace {

struct PointOptions {
  std::string manifest;
  std::string folder;
  std::size_t index = 0;
};

struct TaskOptions {
  std::string folder;
  std::size_t task = 0;
  EngineOptions engine;
};

// One simulation, one result file.
int sweep_point(const PointOptions& options) {
  const Point point = read_manifest_line(options.manifest, options.index);
  check_places(options.folder, point);
  make_folders(options.folder);
  fmt::print("point {} ({}): process {}\n", point.index, point.id, ::getpid());
  std::fflush(stdout);  // the log of a process that is killed says that it was there
  const PointLock lock(log_path(options.folder, point));
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

int sweep_task(const TaskOptions& options) {
  const unsigned size = options.engine.points_per_task;
  const Plan points = read_manifest_part(manifest_path(options.folder), options.task * size, size);
  LocalOptions local;
  local.program = own_path();
  local.folder = options.folder;
  local.retries = options.engine.retries;
  local.timeout_seconds = options.engine.timeout_seconds;
  ProgressPrinter printer(ProgressStyle::kPlain);
  const SweepOutcome outcome =
      run_local(points, local, [&](const SweepProgress& progress) { printer.show(progress); });
  for (const Point& point : outcome.failed) {
    fmt::print(stderr, "point {} ({}) has no result; log: {}\n", point.index, point.id,
               log_path(options.folder, point));
  }
  if (outcome.is_interrupted) {
    return kInterrupted;
  }
  return outcome.failed.empty() ? kOk : kSweepIncomplete;
}

}  // namespace

void add_point_commands(CLI::App& sweep, Action& action) {
  const auto [point, options] =
      add_command<PointOptions>(sweep, "point", "Run one point of a manifest: what engines call",
                                action, complete_or_not<PointOptions, sweep_point>);
  point.add_option("--manifest", options.manifest, "manifest.jsonl")->type_name("M")->required();
  point.add_option("--index", options.index, "Line of the manifest, from 0")
      ->type_name("I")
      ->required();
  add_path(point, "--out", options.folder, "Folder of the sweep", "DIR")->required();
  point.footer(
      "Example:\n  flitwise sweep point --manifest out/manifest.jsonl --index 3 --out out");

  const auto [task, of_task] = add_command<TaskOptions>(
      sweep, "task", "Run some points one by one, each in a process: what array.sbatch calls",
      action, complete_or_not<TaskOptions, sweep_task>);
  task.add_option("input", of_task.folder, "Folder of the sweep")->type_name("DIR")->required();
  task.add_option("--task", of_task.task, "Number of the task, from 0")->type_name("T")->required();
  add_points_per_task(task, of_task.engine.points_per_task);
  add_attempt_options(task, of_task.engine.retries, of_task.engine.timeout_seconds);
  task.footer("Example:\n  flitwise sweep task out --task 3 --points-per-task 10");
}

}  // namespace flitwise::cli
