// SPDX-License-Identifier: Apache-2.0
/// Runs the points of a sweep as job arrays of Slurm. Result files are what counts; Slurm is asked
/// for nothing but what is still in its queue, so that no accounting is needed, and nothing of its
/// jobs is kept: they are known again by their names.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sweep/engine_options.h"
#include "sweep/local_engine.h"
#include "sweep/plan.h"

namespace flitwise {

/// What of a sweep is in the queue, waiting or running.
struct SlurmQueue {
  /// First and last + 1 point of each task.
  std::set<std::pair<std::size_t, std::size_t>> tasks;
  std::set<std::string> jobs;  ///< ids, as scancel takes them
  bool has(std::size_t point) const;
};

/// From the lines of squeue, "name|number in the array|job". `front`: of names of this sweep.
/// Lines of other jobs are passed over.
SlurmQueue queue_from(const std::string& squeue, const std::string& front);
/// Of `scontrol show config`: numbers of tasks are below it. 1001, as Slurm's default, where it is
/// not there.
std::size_t max_array_size(const std::string& scontrol);
/// "0-6,9" of rising numbers, as sbatch --array takes them.
std::string task_list(const std::vector<std::size_t>& tasks);
/// "1 task", "7 tasks"
std::string tasks_text(std::size_t tasks);
/// Tasks by what is to be added to their number: below `max_size` each.
std::map<std::size_t, std::vector<std::size_t>> split_into_arrays(
    const std::vector<std::size_t>& tasks, std::size_t max_size);

/// What of the sweep in this folder is in the queue. Throws ConfigError where there is no Slurm,
/// OutputError where it does not answer.
SlurmQueue slurm_queue(const std::string& folder);

struct SlurmOutcome {
  SweepProgress progress;
  std::set<std::string> jobs;  ///< submitted, or found in the queue
  bool is_interrupted = false;
};

/// Submits array.sbatch for tasks that have a point without a result which is not in the queue, and
/// waits until none of this sweep is. `say`: what was submitted. An interrupt ends the waiting, the
/// jobs go on. Throws as slurm_queue. REQUIRES: write_plan was called for the folder with the same
/// options.
SlurmOutcome run_slurm(const Plan& plan, const EngineOptions& options, const std::string& folder,
                       const std::function<void(const SweepProgress&)>& report,
                       const std::function<void(const std::string&)>& say);

}  // namespace flitwise
