// SPDX-License-Identifier: Apache-2.0
/// A result as text: docs/formats/results.md describes it.
#pragma once

#include <string>
#include <vector>

#include "flitwise/result.h"

namespace flitwise {

/// How a run came to its end. An interrupted one says so: `flitwise.interrupted`, and
/// `flitwise.window_began` where nothing had been measured yet.
enum class RunEnd { kComplete, kInterrupted, kInterruptedBeforeWindow };

/// result.json: two spaces of indentation, one line break at the end. `files`: what the run wrote
/// into the folder of the result beside it, `flitwise.files`.
std::string result_text(const RunResult& result, RunEnd end = RunEnd::kComplete,
                        const std::vector<std::string>& files = {});

}  // namespace flitwise
