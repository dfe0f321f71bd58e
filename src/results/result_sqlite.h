// SPDX-License-Identifier: Apache-2.0
/// result.sqlite: the data of result.json as tables.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace flitwise {

/// Its schema: src/results/schema.sql, and a table for each table of statistics.
std::string result_schema();

/// The bytes of the file. `result` is what result_json gives.
std::string result_sqlite(const nlohmann::ordered_json& result);

}  // namespace flitwise
