// SPDX-License-Identifier: Apache-2.0
/// result.sqlite: the data of result.json as tables (src/results/schema.sql).
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace flitwise {

/// The bytes of the file. `result` is what result_json gives.
std::string result_sqlite(const nlohmann::ordered_json& result);

}  // namespace flitwise
