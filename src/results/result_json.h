// SPDX-License-Identifier: Apache-2.0
/// result.json: the numbers of a run as docs/formats/results.md describes them.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "flitwise/result.h"

namespace flitwise {

/// How a run came to its end. An interrupted one says so: `flitwise.interrupted`, and
/// `flitwise.window_began` where nothing had been measured yet.
enum class RunEnd { kComplete, kInterrupted, kInterruptedBeforeWindow };

/// What is said of an interrupted run to people; empty of one that is complete.
std::string interruption_text(RunEnd end);

/// Every key of the format, in its order. REQUIRES: result.config_json is JSON or empty.
nlohmann::ordered_json result_json(const RunResult& result, RunEnd end = RunEnd::kComplete);

/// The same as text: two spaces of indentation, one line break at the end. `files`: what the run
/// wrote into the folder of the result beside it, `flitwise.files`.
std::string result_text(const RunResult& result, RunEnd end = RunEnd::kComplete,
                        const std::vector<std::string>& files = {});

/// Schema of result.sqlite: src/results/schema.sql, and a table for each table of statistics.
std::string result_schema();

/// The bytes of that file: the same data as tables. `result` is what result_json gives.
std::string result_sqlite(const nlohmann::ordered_json& result);

}  // namespace flitwise
