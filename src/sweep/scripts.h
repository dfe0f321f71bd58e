// SPDX-License-Identifier: Apache-2.0
/// A planned sweep as scripts for other engines: all call `sweep point` or `sweep task`.
#pragma once

#include <string>

#include "sweep/engine_options.h"
#include "sweep/plan.h"

namespace flitwise {

/// A word as the shell takes it.
std::string shell_word(const std::string& word);

/// Where and by what the commands are run. REQUIRES: the folder is there.
struct ScriptPlace {
  std::string folder;
  std::string program;
};

/// points.txt: a command a line, for GNU parallel or xargs, from the folder this process is in.
std::string point_commands(const Plan& plan, const ScriptPlace& place);
/// Snakefile, array.sbatch and merge.sbatch: to be used from the folder of the sweep.
std::string snakefile(const ScriptPlace& place);
std::string array_script(std::size_t points, const EngineOptions& options,
                         const ScriptPlace& place);
std::string merge_script(const ScriptPlace& place);

/// The name of arrays of this folder, "flitwise-0123456789ab-": behind it stand the points a task
/// and what is added to the number of a task, "4-1000".
std::string array_name_front(const std::string& folder);
std::string array_name(const std::string& folder, unsigned points_per_task, std::size_t offset);

}  // namespace flitwise
