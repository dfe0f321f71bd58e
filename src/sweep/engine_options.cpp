// SPDX-License-Identifier: Apache-2.0
// engine.json.
#include "sweep/engine_options.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/input_file.h"
#include "flitwise/error.h"

namespace flitwise {

std::size_t task_count(std::size_t points, unsigned points_per_task) {
  return (points + points_per_task - 1) / points_per_task;
}

std::pair<std::size_t, std::size_t> points_of_task(std::size_t task, std::size_t points,
                                                   unsigned points_per_task) {
  const std::size_t first = std::min(points, task * points_per_task);
  return {first, std::min(points, first + points_per_task)};
}

std::string engine_options_path(const std::string& folder) {
  return folder + "/engine.json";
}

std::string engine_options_text(const EngineOptions& options) {
  const nlohmann::ordered_json json = {{"engine", options.engine},
                                       {"jobs", options.jobs},
                                       {"retries", options.retries},
                                       {"timeout_seconds", options.timeout_seconds},
                                       {"points_per_task", options.points_per_task}};
  return json.dump(2) + "\n";
}

EngineOptions read_engine_options(const std::string& folder) {
  const std::string file = engine_options_path(folder);
  const InputText input = read_own_file(file);
  EngineOptions options;
  if (input.is_missing) {
    return options;
  }
  std::string problem = input.problem;
  try {
    if (problem.empty()) {
      const auto json = nlohmann::json::parse(input.text);
      options.engine = json.at("engine").get<std::string>();
      options.jobs = json.at("jobs").get<unsigned>();
      options.retries = json.at("retries").get<unsigned>();
      options.timeout_seconds = json.at("timeout_seconds").get<double>();
      options.points_per_task = std::max(1U, json.at("points_per_task").get<unsigned>());
      return options;
    }
  } catch (const nlohmann::json::exception&) {
    problem = "is no such JSON";
  }
  throw ConfigError({{file, 0, 0, "", problem + "; expected the file that sweep plan wrote"}});
}

}  // namespace flitwise
