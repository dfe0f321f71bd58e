// SPDX-License-Identifier: Apache-2.0
/// How the points of a sweep are run: kept in engine.json beside its plan, so that it goes on as it
/// began (`sweep resume`).
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace flitwise {

struct EngineOptions {
  std::string engine = "local";  ///< or "slurm"
  unsigned jobs = 0;     ///< points (local) or tasks (slurm) at a time; 0: one a core, no limit
  unsigned retries = 1;  ///< further attempts of a point that failed
  double timeout_seconds = 0;    ///< of an attempt; 0: none
  unsigned points_per_task = 1;  ///< slurm: how many points a task of the array runs, one by one
};

/// The number of tasks of so many points, and the first and last + 1 point of one.
std::size_t task_count(std::size_t points, unsigned points_per_task);
std::pair<std::size_t, std::size_t> points_of_task(std::size_t task, std::size_t points,
                                                   unsigned points_per_task);

/// folder/engine.json
std::string engine_options_path(const std::string& folder);
std::string engine_options_text(const EngineOptions& options);
/// The defaults where there is no such file. Throws ConfigError where it is damaged.
EngineOptions read_engine_options(const std::string& folder);

}  // namespace flitwise
