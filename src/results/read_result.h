// SPDX-License-Identifier: Apache-2.0
/// A result.json back as the numbers of its run, for whoever shows them.
#pragma once

#include <nlohmann/json.hpp>

#include "flitwise/result.h"
#include "results/result_json.h"

namespace flitwise {

/// The rows of all tables, errors, checks and violations, and the figures of the run itself. What
/// an older version did not write is empty or 0. Moments are in no result.json: when windows ended
/// and host memory was last at work stays 0, so that drain_text() has nothing to say. Throws
/// Json::exception, or std::out_of_range of a time, where `json` is no result.
RunResult read_result(const nlohmann::ordered_json& json);

/// How the run of that result ended.
RunEnd end_of(const nlohmann::ordered_json& json);

}  // namespace flitwise
