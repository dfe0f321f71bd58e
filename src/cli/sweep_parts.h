// SPDX-License-Identifier: Apache-2.0
/// What the parts of `flitwise sweep` share.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <system_error>

#include "cli/commands.h"
#include "common/atomic_file.h"
#include "common/printable.h"

namespace flitwise::cli {

/// `sweep point` and `sweep task`: what engines call.
void add_point_commands(CLI::App& sweep, Action& action);

/// --retries and --timeout; the variables keep what they have where an option is not given.
template <class Retries, class Seconds>
void add_attempt_options(CLI::App& command, Retries& retries, Seconds& timeout_seconds) {
  command.add_option("--retries", retries, "Further attempts of a failed point; default: 1")
      ->type_name("K")
      ->check(CLI::Range(0, 100).description(""));
  command
      .add_option("--timeout", timeout_seconds,
                  "Time that an attempt may take, such as 90s, 10m or 2h; default, and 0: any")
      ->type_name("TIME")
      ->transform(
          CLI::AsNumberWithUnit(
              std::map<std::string, double>{{"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}},
              CLI::AsNumberWithUnit::UNIT_OPTIONAL, "TIME")
              .description(""))
      ->check(CLI::Range(0.0, 1e9).description(""));
}
template <class Count>
void add_points_per_task(CLI::App& command, Count& count) {
  command
      .add_option("--points-per-task", count,
                  "Slurm: points that a task runs one by one; default: 1")
      ->type_name("K")
      ->check(CLI::Range(1, 100'000).description(""));
}

/// What a sweep cannot write it lacks afterwards.
template <class Options, int (*perform)(const Options&)>
int complete_or_not(const Options& options) {
  try {
    const int code = perform(options);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw OutputError("stdout cannot be written");
    }
    return code;
  } catch (const OutputError& error) {
    fmt::print(stderr, "flitwise: {}\n", printable(error.what()));
  } catch (const std::system_error& error) {
    fmt::print(stderr, "flitwise: {}\n", printable(error.what()));
  }
  return kSweepIncomplete;
}

}  // namespace flitwise::cli
