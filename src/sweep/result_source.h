// SPDX-License-Identifier: Apache-2.0
/// What a path of results names: one run or a sweep.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>

#include "sweep/merge.h"

namespace flitwise {

/// One of both.
struct ResultSource {
  std::string file;                           ///< of a run its result.json, of a sweep the path
  std::optional<nlohmann::ordered_json> run;  ///< result.json
  std::optional<MergedSweep> sweep;
};

/// Reads a result.json, a folder with one, a folder of a sweep, or the results.sqlite of one.
/// Throws ConfigError, which says what is there and what was expected.
ResultSource read_source(const std::string& path);

/// Calls `use`, which reads results. Throws ConfigError with the path where what they have is no
/// result: a key that is missing, a value of another type, a time that has no room.
void with_results_of(const std::string& path, const std::function<void()>& use);

}  // namespace flitwise
