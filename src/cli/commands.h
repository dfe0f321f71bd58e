// SPDX-License-Identifier: Apache-2.0
/// The commands of the program. Each adds itself to the command line and leaves in `action` what is
/// to be done if the user asked for it; the action returns the exit code.
#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>

#include "config/load.h"

namespace flitwise::cli {

using Action = std::function<int()>;

void add_run_command(CLI::App& app, Action& action);
void add_check_command(CLI::App& app, Action& action);
void add_schema_command(CLI::App& app, Action& action);
void add_list_command(CLI::App& app, Action& action);
void add_codec_commands(CLI::App& app, Action& action);
void add_script_command(CLI::App& app, Action& action);
void add_conform_command(CLI::App& app, Action& action);
void add_sweep_command(CLI::App& app, Action& action);
void add_report_command(CLI::App& app, Action& action);
void add_bench_command(CLI::App& app, Action& action);
void add_completion_command(CLI::App& app, Action& action);

/// A mistake on the command line that CLI11 cannot see. Ends in exit code 64.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A part of the contract that is not built yet: says so on stderr, exit code 2.
int not_modelled_yet(const std::string& what);

/// What `flitwise list` takes.
std::vector<std::string> list_names();
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

/// Columns of the terminal that stdout is; 0 where it is none.
std::size_t terminal_columns();

/// Path of the running program, for child processes.
std::string own_path();

}  // namespace flitwise::cli
