// SPDX-License-Identifier: Apache-2.0
// flitwise script: the assembled machine, driven line by line.
#include "script/script.h"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <system_error>

#include "cli/commands.h"
#include "common/embedded.h"
#include "common/input_file.h"
#include "common/interrupt.h"
#include "flitwise/error.h"
#include "system/kernel.h"

namespace flitwise::cli {
namespace {

struct ScriptOptions {
  std::string script;
  std::string config;
  LoadOptions load;
};

ConfigError unreadable(const ScriptOptions& options, const std::string& problem) {
  return ConfigError({{options.script, 0, 0, "", problem + "; expected a script"}});
}

int script(const ScriptOptions& options) {
  end_on_interrupt(kInterrupted);
  const Config config = options.config.empty() ? config_from_text(embedded::script_config(),
                                                                  "script.yaml", "", options.load)
                                               : load_config(options.config, options.load);
  std::ifstream file;
  if (options.script != "-") {
    const std::string flaw = flaw_of_regular_file(options.script);
    if (!flaw.empty() && what_stands_at(options.script) != Standing::kSpecial) {
      throw unreadable(options, flaw);
    }
    errno = 0;
    file.open(options.script);
    if (!file) {
      throw unreadable(options, "cannot be read: " + std::generic_category().message(errno));
    }
  }
  std::istream& in = options.script == "-" ? std::cin : file;
  const int code = run_in_kernel([&] { return script_command(in, std::cout, config); });
  if (in.bad() || std::ferror(stdin) != 0) {  // not at its end, but stopped on the way there
    throw unreadable(options, "cannot be read");
  }
  return code;
}

}  // namespace

void add_script_command(CLI::App& app, Action& action) {
  const auto [command, options] = add_command<ScriptOptions>(
      app, "script", "Drive the machine with JSON lines, for tests in any language", action,
      script);
  command.add_option("script", options.script, "JSON lines; - reads stdin")
      ->type_name("FILE.jsonl|-")
      ->required();
  add_path(command, "--config", options.config, "The machine; default: the script machine",
           "CONFIG.yaml");
  add_set_option(command, options.load);
  add_seed_option(command, options.load);
  command.footer("Example:\n  echo '{\"op\":\"run\",\"for\":\"1us\"}' | flitwise script -");
}

}  // namespace flitwise::cli
