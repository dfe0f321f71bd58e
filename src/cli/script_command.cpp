// SPDX-License-Identifier: Apache-2.0
// flitwise script: known to the command line, not built yet.
#include <memory>

#include "cli/commands.h"

namespace flitwise::cli {

void add_script_command(CLI::App& app, Action& action) {
  struct Options {
    std::string script, config;
    LoadOptions load;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("script", "Drive the machine with JSON lines (not modelled yet)");
  command->add_option("script", options->script, "JSON lines; - reads stdin")
      ->type_name("FILE.jsonl|-")
      ->required();
  command->add_option("--config", options->config, "The machine; default: the script machine")
      ->type_name("CONFIG.yaml");
  add_set_option(*command, options->load);
  add_seed_option(*command, options->load);
  command->footer("Example:\n  echo '{\"op\":\"run\",\"for\":\"1us\"}' | flitwise script -");
  command->callback([options, &action] { action = [] { return not_modelled_yet("script"); }; });
}

}  // namespace flitwise::cli
