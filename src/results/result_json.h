// SPDX-License-Identifier: Apache-2.0
/// result.json: the numbers of a run as docs/formats/results.md describes them.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "flitwise/result.h"

namespace flitwise {

/// How a run came to its end. An interrupted one says so: `flitwise.interrupted`.
enum class RunEnd { kComplete, kInterrupted };

/// Every key of the format, in its order. REQUIRES: result.config_json is JSON or empty.
nlohmann::ordered_json result_json(const RunResult& result, RunEnd end = RunEnd::kComplete);

/// The same as text: two spaces of indentation, one line break at the end.
std::string result_text(const RunResult& result, RunEnd end = RunEnd::kComplete);

}  // namespace flitwise
