// SPDX-License-Identifier: Apache-2.0
// flitwise schema: every parameter with unit, range, default and meaning.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "results/text_table.h"

namespace flitwise::cli {
namespace {

std::string schema_table() {
  TextTable table({"key", "default", "unit", "range", "meaning"});
  for (std::size_t column = 1; column < 5; ++column) {
    table.left_align(column);
  }
  for (const KeyInfo& key : all_keys()) {
    table.add_row({key.path, key.default_value, key.unit, key.range, key.sentence});
  }
  return table.text();
}

}  // namespace

void add_schema_command(CLI::App& app, Action& action) {
  struct Options {
    bool as_json = false;
    bool as_markdown = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("schema", "Print every parameter: unit, range, default, one sentence");
  auto* json = command->add_flag("--json", options->as_json, "As a JSON Schema, for editors");
  command->add_flag("--markdown", options->as_markdown, "As a page of Markdown")->excludes(json);
  command->footer("Example:\n  flitwise schema --json > config.schema.json");
  command->callback([options, &action] {
    action = [options] {
      if (options->as_json) {
        fmt::print("{}\n", json_schema().dump(2));
      } else {
        fmt::print("{}", options->as_markdown ? schema_markdown() : schema_table());
      }
      return kOk;
    };
  });
}

}  // namespace flitwise::cli
