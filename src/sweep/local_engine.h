// SPDX-License-Identifier: Apache-2.0
/// Runs the points of a sweep on this machine: a pool of child processes, one a point.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sweep/plan.h"
#include "sweep/sweep_progress.h"

namespace flitwise {

struct LocalOptions {
  std::string program;         ///< executable that knows `sweep point`
  std::string folder;          ///< of the manifest; results go to its points/, logs to its logs/
  unsigned jobs = 1;           ///< child processes at a time
  unsigned retries = 1;        ///< further attempts of a point that failed
  double timeout_seconds = 0;  ///< of an attempt; 0: none
};

struct SweepOutcome {
  SweepProgress progress;
  std::vector<Point> failed;
  bool is_interrupted = false;  ///< SIGINT or SIGTERM; children were ended, results are kept
};

/// Runs what has no result yet; points with the same id run once. What they print, and how an
/// attempt ended that failed, is added to their logs. `report` is called at the start and after
/// each point. Throws OutputError where something else than a regular file stands in the place of
/// one to be written, std::system_error when a child cannot be started.
SweepOutcome run_local(const Plan& plan, const LocalOptions& options,
                       const std::function<void(const SweepProgress&)>& report);

}  // namespace flitwise
