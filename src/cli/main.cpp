// SPDX-License-Identifier: Apache-2.0
// The program: wires the commands and turns failures into exit codes.
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <system_error>

#include "cli/commands.h"
#include "common/atomic_file.h"
#include "common/embedded.h"
#include "common/interrupt.h"
#include "common/printable.h"
#include "common/problems.h"
#include "common/ranges.h"
#include "fabric/builder.h"
#include "flitwise/error.h"

namespace flitwise::cli {
namespace {

constexpr const char* kPurpose =
    "flitwise: a cycle-level simulator of a PCIe root complex and its endpoints";
constexpr const char* kExamples =
    "Exit codes: 0 ok, 1 a check failed, 2 bad config or input file, or output that cannot be\n"
    "  written, 3 simulation error, 4 sweep incomplete, 64 usage, 130 interrupted\n\n"
    "Example:\n"
    "  flitwise run configs/checks/saturated.yaml --set link.identity=dhi -o out\n"
    "  flitwise COMMAND --help";

void add_commands(CLI::App& app, Action& action) {
  for (const auto add :
       {add_run_command, add_check_command, add_schema_command, add_list_command,
        add_codec_commands, add_script_command, add_conform_command, add_sweep_command,
        add_compare_command, add_trace_command, add_report_command, add_bench_command,
        add_linux_command, add_completion_command}) {
    add(app, action);
  }
}

/// What went wrong, on stderr; texts of users cannot command the terminal. Returns the code.
int complain(const char* introduction, const std::exception& error, int code) {
  constexpr std::size_t kMost = 100'000;  // of a deadlock, say
  fmt::print(stderr, "flitwise: {}{}\n", introduction,
             printable(shortened(error.what(), kMost), true));
  return code;
}

int perform(const Action& action) {
  try {
    const int code = action();
    errno = 0;
    std::cout.flush();
    const bool is_told = code == kSweepIncomplete;
    if (!is_told && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout)) {
      throw std::system_error(errno != 0 ? errno : EIO, std::generic_category(), "stdout");
    }
    return code;
  } catch (const UsageError& error) {
    return complain("", error, kUsage);
  } catch (const ConfigError& error) {
    fmt::print(stderr, "{}\n", error.what());  // escaped already, problem by problem
    return kBadInput;
  } catch (const SimulationError& error) {
    return complain("simulation error: ", error, kSimulationError);
  } catch (const Interrupted& error) {
    return complain("", error, kInterrupted);
  } catch (const OutputError& error) {
    return complain("", error, kBadInput);
  } catch (const std::system_error& error) {
    return complain("", error, kBadInput);
  } catch (const std::exception& error) {
    return complain("", error, kSimulationError);
  }
}

/// Throws UsageError where a word stands for a command, or for a part of one, and names none.
void check_command(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* above = &app;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    const std::string word = argv[i];
    const auto parts = above->get_subcommands([](const CLI::App*) { return true; });
    if (parts.empty()) {
      return;
    }
    const auto named =
        find_if(parts, [&](const CLI::App* part) { return part->get_name() == word; });
    if (named == parts.end()) {
      const auto names = mapped(parts, [](const CLI::App* part) { return part->get_name(); });
      const auto near = config::nearest(word, names);
      throw UsageError(fmt::format("unknown command '{}'; {}expected {}; see {} --help", word,
                                   near ? fmt::format("did you mean {}? ", *near) : "",
                                   config::alternatives(names),
                                   above == &app ? "flitwise" : "flitwise " + above->get_name()));
    }
    above = *named;
  }
}

/// For the first option that the command does not have: one spelt alike.
std::string hint_of_option(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
  }
  std::vector<std::string> known;
  for (const CLI::Option* const option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) {
      known.push_back("--" + name);
    }
  }
  for (const std::string& word : app.remaining(true)) {
    const auto near = config::nearest(word.substr(0, word.find('=')), known);
    if (word.rfind("--", 0) == 0 && near) {
      return fmt::format("Did you mean {}?\n", *near);
    }
  }
  return "";
}

int run_program(int argc, char** argv) {
  end_on_interrupt(kInterrupted);  // until a command has something to keep
  std::signal(SIGXFSZ, SIG_IGN);   // a file that may not grow is output that cannot be written
  Builder::add_tables();           // before any command speaks of results
  CLI::App app{kPurpose, "flitwise"};
  app.footer(kExamples);
  app.set_version_flag("--version",
                       fmt::format("flitwise " FLITWISE_VERSION "\n{}", embedded::build()));
  app.require_subcommand(1);
  Action action;
  add_commands(app, action);
  try {
    check_command(app, argc, argv);
    app.parse(argc, argv);
  } catch (const UsageError& error) {
    return complain("", error, kUsage);
  } catch (const CLI::ParseError& error) {
    std::ostringstream complaint;
    const int code = app.exit(error, std::cout, complaint);
    std::cerr << printable(complaint.str(), true) << hint_of_option(app);
    return code == 0 ? kOk : kUsage;
  }
  return perform(action);
}

}  // namespace
}  // namespace flitwise::cli

int main(int argc, char** argv) {
  return flitwise::cli::run_program(argc, argv);
}
