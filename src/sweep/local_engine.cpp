// SPDX-License-Identifier: Apache-2.0
// Points in a pool of child processes, and how far they are.
#include "sweep/local_engine.h"

#include <fmt/format.h>

#include <set>

#include "common/atomic_file.h"
#include "common/child_process.h"
#include "common/interrupt.h"

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
    if (output.exit_code != 0) {
      log += output.exit_code > 128
                 ? fmt::format("flitwise: ended by signal {}\n", output.exit_code - 128)
                 : fmt::format("flitwise: ended with exit code {}\n", output.exit_code);
    }
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

std::string progress_text(const SweepProgress& progress, double elapsed_seconds, bool with_bar) {
  constexpr std::size_t kWidth = 30;
  const std::size_t total = progress.total == 0 ? 1 : progress.total;
  std::string text;
  if (with_bar) {
    const std::size_t full = progress.done * kWidth / total;
    text = "[" + std::string(full, '#') + std::string(kWidth - full, ' ') + "] ";
  }
  text +=
      fmt::format("{}/{} points, {} %", progress.done, progress.total, progress.done * 100 / total);
  if (progress.cached != 0) {
    text += fmt::format(", {} had a result", progress.cached);
  }
  if (progress.failed != 0) {
    text += fmt::format(", {} failed", progress.failed);
  }
  const std::size_t ran = progress.done - progress.cached;
  const std::size_t left = progress.total - progress.done;
  if (ran != 0 && left != 0) {
    text +=
        ", " + time_left_text(elapsed_seconds, static_cast<double>(ran), static_cast<double>(left));
  }
  return text;
}

void ProgressPrinter::show(const SweepProgress& progress) {
  const double elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (line_.is_drawn_again()) {
    line_.show(progress_text(progress, elapsed, true));
    return;
  }
  const int tenth =
      progress.total == 0 ? 10 : static_cast<int>(progress.done * 10 / progress.total);
  if (tenth > last_tenth_) {
    last_tenth_ = tenth;
    line_.show(progress_text(progress, elapsed, false));
  }
}

}  // namespace flitwise
