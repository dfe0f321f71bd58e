// SPDX-License-Identifier: Apache-2.0
// The program: wires the commands and turns failures into exit codes.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <system_error>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "flitwise/error.h"

namespace flitwise::cli {
namespace {

constexpr const char* kPurpose =
    "flitwise: a cycle-level simulator of a PCIe root complex and its endpoints";
constexpr const char* kExamples =
    "Exit codes: 0 ok, 1 a check failed, 2 bad config or input file, 3 simulation error,\n"
    "  4 sweep incomplete, 64 usage, 130 interrupted\n\n"
    "Example:\n"
    "  flitwise run configs/checks/saturated.yaml --set link.identity=dhi -o out\n"
    "  flitwise COMMAND --help";

void add_commands(CLI::App& app, Action& action) {
  add_run_command(app, action);
  add_check_command(app, action);
  add_schema_command(app, action);
  add_list_command(app, action);
  add_codec_commands(app, action);
  add_script_command(app, action);
  add_conform_command(app, action);
  add_sweep_command(app, action);
  add_report_command(app, action);
  add_bench_command(app, action);
  add_completion_command(app, action);
}

int perform(const Action& action) {
  try {
    const int code = action();
    std::cout.flush();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout) {
      throw std::system_error(EIO, std::generic_category(), "stdout");
    }
    return code;
  } catch (const UsageError& error) {
    fmt::print(stderr, "flitwise: {}\n", error.what());
    return kUsage;
  } catch (const ConfigError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return kBadInput;
  } catch (const SimulationError& error) {
    fmt::print(stderr, "flitwise: simulation error: {}\n", error.what());
    return kSimulationError;
  } catch (const std::system_error& error) {
    fmt::print(stderr, "flitwise: {}\n", error.what());
    return kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "flitwise: {}\n", error.what());
    return kSimulationError;
  }
}

int run_program(int argc, char** argv) {
  CLI::App app{kPurpose, "flitwise"};
  app.footer(kExamples);
  app.set_version_flag("--version", "flitwise " FLITWISE_VERSION);
  app.require_subcommand(1);
  Action action;
  add_commands(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? kOk : kUsage;
  }
  return perform(action);
}

}  // namespace
}  // namespace flitwise::cli

int main(int argc, char** argv) {
  return flitwise::cli::run_program(argc, argv);
}
