// SPDX-License-Identifier: Apache-2.0
// flitwise conform: known to the command line, not built yet.
#include <memory>

#include "cli/commands.h"

namespace flitwise::cli {

void add_conform_command(CLI::App& app, Action& action) {
  struct Options {
    std::vector<std::string> paths;
    std::string glob, junit;
    bool lists = false;
    unsigned jobs = 1;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("conform", "Corner-case regression (not modelled yet)");
  command->add_option("path", options->paths, "Case files or folders");
  command->add_option("--case", options->glob, "Only cases whose id matches")->type_name("GLOB");
  command->add_flag("--list", options->lists, "Print ids and titles");
  command->add_option("--junit", options->junit, "Write JUnit XML")->type_name("FILE");
  command->add_option("-j", options->jobs, "Processes at a time")->type_name("N");
  command->footer("Example:\n  flitwise conform --list");
  command->callback([options, &action] {
    action = [] { return not_modelled_yet("conform: the corner-case regression"); };
  });
}

}  // namespace flitwise::cli
