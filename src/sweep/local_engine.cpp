// SPDX-License-Identifier: Apache-2.0
// Points in a pool of child processes.
#include "sweep/local_engine.h"

#include <set>

#include "common/atomic_file.h"
#include "common/child_process.h"
#include "common/interrupt.h"
#include "common/process_pool.h"

namespace flitwise {
namespace {

/// Runs one point, again where it fails. True where it has a result.
bool run_point(const Point& point, const LocalOptions& options) {
  static const std::string kNothing;
  const std::vector<std::string> words = {options.program,
                                          "sweep",
                                          "point",
                                          "--manifest",
                                          options.folder + "/manifest.jsonl",
                                          "--index",
                                          std::to_string(point.index),
                                          "--out",
                                          options.folder};
  std::string log;
  for (unsigned attempt = 0; attempt <= options.retries; ++attempt) {
    const ChildOutput output = run_child({words, &kNothing, true});
    log += output.text;
    write_files_together({{log_path(options.folder, point), log}});
    if (output.exit_code == 0 && has_result(options.folder, point)) {
      return true;
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
  for (const char* name : {"/results.sqlite", "/points.csv"}) {
    check_place(options.folder + name);  // made of all points at the end
  }
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
