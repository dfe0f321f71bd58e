// SPDX-License-Identifier: Apache-2.0
// Points in a pool of child processes.
#include "sweep/local_engine.h"

#include <fmt/format.h>

#include <fstream>
#include <set>

#include "common/atomic_file.h"
#include "common/child_process.h"
#include "common/input_file.h"
#include "common/interrupt.h"
#include "sweep/point_lock.h"

namespace flitwise {
namespace {

/// Why an attempt has failed; empty: it has not.
std::string failure_of(const ChildOutput& output, const LocalOptions& options) {
  if (output.exit_code == 0) {
    return "";
  }
  if (output.is_late) {
    return fmt::format("flitwise: ended at its time limit of {} s\n", options.timeout_seconds);
  }
  return output.exit_code > 128
             ? fmt::format("flitwise: ended by signal {}\n", output.exit_code - 128)
             : fmt::format("flitwise: ended with exit code {}\n", output.exit_code);
}

/// Runs one point, again where it fails. True where it has a result.
bool run_point(const Point& point, const LocalOptions& options) {
  static const std::string kNothing;
  ChildProgram program;
  program.words = {options.program,
                   "sweep",
                   "point",
                   "--manifest",
                   manifest_path(options.folder),
                   "--index",
                   std::to_string(point.index),
                   "--out",
                   options.folder};
  program.input = &kNothing;
  program.log = log_path(options.folder, point);
  remove_link(program.log);
  program.limit_seconds = options.timeout_seconds;
  for (unsigned attempt = 0; attempt <= options.retries; ++attempt) {
    const std::string failure = failure_of(run_child(program), options);
    // The result is put in place whole, and read when points are merged.
    if (failure.empty() &&
        what_stands_at(result_path(options.folder, point)) == Standing::kRegularFile) {
      return true;
    }
    if (!failure.empty()) {
      std::ofstream(program.log, std::ios::app) << failure;
    }
    if (is_interrupted()) {
      break;
    }
  }
  return false;
}

}  // namespace

SweepOutcome run_local(const Plan& plan, const LocalOptions& options,
                       const std::function<void(const SweepProgress&)>& report) {
  watch_for_interrupt();
  make_folders(options.folder);
  remove_left_over_files(options.folder + "/points");
  SweepOutcome outcome;
  std::vector<const Point*> waiting;
  std::set<std::string> seen;
  for (const Point& point : plan) {
    if (!seen.insert(point.id).second) {
      continue;
    }
    check_places(options.folder, point);
    if (!has_result(options.folder, point)) {
      waiting.push_back(&point);
    }
  }
  outcome.progress.total = seen.size();
  outcome.progress.cached = outcome.progress.done = seen.size() - waiting.size();
  report(outcome.progress);
  std::vector<char> is_good(waiting.size());  // not bool: threads write side by side
  ProcessPool(waiting.size(), options.jobs)
      .run(
          [&](std::uint64_t i) {
            is_good[i] = run_point(*waiting[i], options) ? 1 : 0;
            return is_good[i] != 0 || !is_interrupted();
          },
          ProcessPool::Order::kAsTheyEnd,
          [&](std::uint64_t i) {
            ++outcome.progress.done;
            if (is_good[i] == 0) {
              ++outcome.progress.failed;
              outcome.failed.push_back(*waiting[i]);
            }
            report(outcome.progress);
          });
  outcome.is_interrupted = is_interrupted();
  return outcome;
}

}  // namespace flitwise
