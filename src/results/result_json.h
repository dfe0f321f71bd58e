// SPDX-License-Identifier: Apache-2.0
/// result.json: the numbers of a run as docs/formats/results.md describes them.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "flitwise/result.h"

namespace flitwise {

/// Every key of the format, in its order. REQUIRES: result.config_json is JSON or empty.
nlohmann::ordered_json result_json(const RunResult& result);

/// The same as text: two spaces of indentation, one line break at the end.
std::string result_text(const RunResult& result);

}  // namespace flitwise
