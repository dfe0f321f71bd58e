// SPDX-License-Identifier: Apache-2.0
/// Runs the points of a sweep on this machine: a pool of child processes, one a point.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "common/terminal.h"
#include "sweep/plan.h"

namespace flitwise {

struct LocalOptions {
  std::string program;   ///< executable that knows `sweep point`
  std::string folder;    ///< of the manifest; results go to its points/, logs to its logs/
  unsigned jobs = 1;     ///< child processes at a time
  unsigned retries = 1;  ///< further attempts of a point that failed
};

struct SweepProgress {
  std::size_t total = 0;   ///< distinct points
  std::size_t cached = 0;  ///< had a result before
  std::size_t done = 0;    ///< cached ones and those that have ended, failed or not
  std::size_t failed = 0;
};

struct SweepOutcome {
  SweepProgress progress;
  std::vector<Point> failed;
  bool is_interrupted = false;  ///< SIGINT or SIGTERM; children were ended, results are kept
};

/// Runs what has no result yet; points with the same id run once. `report` is called at the start
/// and after each point. Throws OutputError where something else than a regular file stands in the
/// place of one to be written, std::system_error when a child cannot be started.
SweepOutcome run_local(const Plan& plan, const LocalOptions& options,
                       const std::function<void(const SweepProgress&)>& report);

/// The text of the bar or line: "[####      ]  12/30   40 %  2 cached  1 failed  8 s left".
std::string progress_text(const SweepProgress& progress, double elapsed_seconds, bool with_bar);

/// Progress on stderr: a bar on a terminal, a line every tenth elsewhere.
class ProgressPrinter {
 public:
  ProgressPrinter() : line_(stderr, is_drawable(stderr)) {}
  void show(const SweepProgress& progress);
  /// The bar stays.
  void finish() { line_.keep(); }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  ProgressLine line_;
  int last_tenth_ = -1;
};

}  // namespace flitwise
