// SPDX-License-Identifier: Apache-2.0
/// One simulation from a validated config to its result.
#pragma once

#include <string>

#include "flitwise/config.h"
#include "flitwise/result.h"
#include "results/result_json.h"

namespace flitwise::cli {

struct SimulatedRun {
  RunResult result;
  RunEnd end = RunEnd::kComplete;
};

/// Builds the machine, runs it to its end and completes the result with seed, effective config and
/// host time. config_space: if given, the dump of configuration space after bring-up goes there.
/// May be called once per process. Throws SimulationError.
SimulatedRun simulate(const Config& config, std::string* config_space = nullptr);

/// Exit code of a finished run: a failed check is reported and ends in 3, since only a broken model
/// fails one; an interrupted run ends in 130.
int exit_code_of(const SimulatedRun& run);

}  // namespace flitwise::cli
