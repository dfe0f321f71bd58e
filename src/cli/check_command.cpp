// SPDX-License-Identifier: Apache-2.0
// flitwise check: validation only, of configs and of sweeps.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "cli/commands.h"
#include "common/input_file.h"
#include "sweep/plan.h"

namespace flitwise::cli {
namespace {

/// A sweep is told from a config by its own top-level keys.
bool is_sweep(const std::string& text) {
  constexpr const char* kSweepKeys[] = {"axes:", "blocks:", "seeds:", "zip:"};
  std::istringstream in(text);
  std::string line;
  while (std::getline(in, line)) {
    if (std::any_of(std::begin(kSweepKeys), std::end(kSweepKeys),
                    [&](const char* key) { return line.rfind(key, 0) == 0; })) {
      return true;
    }
  }
  return false;
}

std::string checked(const std::string& file) {
  const std::string text = input_text(file, "a config or a sweep in YAML");
  if (is_sweep(text)) {
    const Plan plan = make_plan(study_from_text(text, file));
    print_warnings(plan, file);
    return fmt::format("{}: ok, a sweep of {} points\n", file, plan.size());
  }
  const std::string folder = std::filesystem::path(file).parent_path().string();
  print_warnings(config_from_text(text, file, folder), file);
  return fmt::format("{}: ok\n", file);
}

int check(const std::vector<std::string>& files) {
  std::string good;
  std::vector<Problem> problems;
  for (const std::string& file : files) {
    try {
      good += checked(file);
    } catch (const ConfigError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  if (!problems.empty()) {
    throw ConfigError(problems);
  }
  fmt::print("{}", good);
  return kOk;
}

}  // namespace

void add_check_command(CLI::App& app, Action& action) {
  const auto [command, files] = add_command<std::vector<std::string>>(
      app, "check", "Validate configs and sweeps; every problem as file:line:col", action, check);
  command.add_option("config", files, "Files to check")->type_name("CONFIG.yaml")->required();
  command.footer("Example:\n  flitwise check configs/checks/*.yaml");
}

}  // namespace flitwise::cli
