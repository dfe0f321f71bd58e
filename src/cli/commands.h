// SPDX-License-Identifier: Apache-2.0
/// The commands of the program. Each adds itself to the command line and leaves in `action` what is
/// to be done if the user asked for it; the action returns the exit code.
#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "config/load.h"
#include "results/text_table.h"
#include "sweep/plan.h"

namespace flitwise::cli {

/// How the program ends.
inline constexpr int kOk = 0;
inline constexpr int kCheckFailed = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kSimulationError = 3;
inline constexpr int kSweepIncomplete = 4;
inline constexpr int kUsage = 64;
inline constexpr int kInterrupted = 130;

using Action = std::function<int()>;

void add_run_command(CLI::App& app, Action& action);
void add_check_command(CLI::App& app, Action& action);
void add_schema_command(CLI::App& app, Action& action);
void add_list_command(CLI::App& app, Action& action);
void add_codec_commands(CLI::App& app, Action& action);
void add_script_command(CLI::App& app, Action& action);
void add_conform_command(CLI::App& app, Action& action);
void add_sweep_command(CLI::App& app, Action& action);
void add_compare_command(CLI::App& app, Action& action);
void add_trace_command(CLI::App& app, Action& action);
void add_report_command(CLI::App& app, Action& action);
void add_bench_command(CLI::App& app, Action& action);
void add_linux_command(CLI::App& app, Action& action);
void add_completion_command(CLI::App& app, Action& action);

/// A command, and the options that it is performed with.
template <class Options>
struct Command {
  CLI::App& app;
  Options& options;
};
template <class Options>
Command<Options> add_command(CLI::App& app, const char* name, const char* purpose, Action& action,
                             std::function<int(const Options&)> perform) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand(name, purpose);
  command.callback([options, perform = std::move(perform), &action] {
    action = [options, perform] { return perform(*options); };
  });
  return {command, *options};
}

/// A mistake on the command line that CLI11 cannot see. Ends in exit code 64.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What `flitwise list` takes.
std::vector<std::string> list_names();
/// What `flitwise list cases` prints of the catalogue that comes with the program.
std::string list_of_cases();
TextTable table_of_cases();

/// Adds --set and, where the command takes one, --seed.
void add_set_option(CLI::App& command, LoadOptions& options);
void add_seed_option(CLI::App& command, LoadOptions& options);
/// Takes a seed only as it is: CLI11 would make the nearest number that fits of any other.
CLI::Validator is_seed();
/// Adds an option that names a file or folder; `type` stands for it in the help.
CLI::Option* add_path(CLI::App& command, const char* names, std::string& path, const char* meaning,
                      const char* type);
/// Adds one of a text that may be given repeatedly.
CLI::Option* add_repeated(CLI::App& command, const char* names, std::vector<std::string>& texts,
                          const char* meaning, const char* type);

struct NamedPath {
  std::string path;
  std::string what;  ///< "the config", "--trace packets": for the message
};
/// Throws UsageError where an output would overwrite an input or another output, by whatever name.
/// Throws ConfigError where the machine is a network in packets: it has no devices, links or memory
/// that `what` needs.
void refuse_packets(const Config& config, const std::string& file, const std::string& what);

/// Devices and pipes may be shared.
void refuse_to_overwrite(const std::vector<NamedPath>& inputs,
                         const std::vector<NamedPath>& outputs);

/// What of a configuration is allowed and yet hardly meant, on stderr. The exit code stays 0.
/// given: keys of LoadNotes, for the place of the one to blame. file: stands before what has no
/// such place; empty: the only one there is.
void print_warnings(const Config& config, const std::vector<Problem>& given = {},
                    const std::string& file = "");
/// Of a sweep of so many points: each warning once, with the number of points it is about. file:
/// the study.
void print_warnings(const PlanNotes& notes, std::size_t points, const std::string& file);
/// Keys that were given and have no effect, each at its place. The others are passed over.
void print_without_effect(const std::vector<Problem>& given);

/// Path of the running program, for child processes.
std::string own_path();

}  // namespace flitwise::cli
