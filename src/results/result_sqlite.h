// SPDX-License-Identifier: Apache-2.0
/// result.sqlite: the data of result.json as tables (src/results/schema.sql).
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace flitwise {

/// Writes the file in full or not at all; an older file of the name is replaced. `result` is what
/// result_json gives. Throws std::runtime_error.
void write_result_sqlite(const std::string& path, const nlohmann::ordered_json& result);

}  // namespace flitwise
