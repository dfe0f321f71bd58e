// SPDX-License-Identifier: Apache-2.0
// flitwise completion: a shell script made from the command line's own tree.
#include <fmt/format.h>

#include <string>

#include "cli/commands.h"
#include "common/ranges.h"

namespace flitwise::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::vector<const CLI::App*> parts_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* /*any*/) { return true; });
}

std::vector<std::string> names_of_parts(const CLI::App& command) {
  return mapped(parts_of(command), [](const CLI::App* part) { return part->get_name(); });
}

/// Subcommands, options and, for `list` and `completion`, the words they take.
std::string words_of(const CLI::App& command) {
  std::vector<std::string> words = names_of_parts(command);
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (!option->get_group().empty()) {
        words.push_back("--" + name);
      }
    }
  }
  if (command.get_name() == "list") {
    const std::vector<std::string> lists = list_names();
    words.insert(words.end(), lists.begin(), lists.end());
  } else if (command.get_name() == "completion") {
    words.insert(words.end(), {"bash", "zsh"});
  }
  return joined(words);
}

/// One branch of the shell's `case` per command path.
void add_branches(const CLI::App& command, const std::string& path, std::string& branches) {
  branches += fmt::format("    '{}') words='{}' ;;\n", path, words_of(command));
  for (const CLI::App* child : parts_of(command)) {
    add_branches(*child, path.empty() ? child->get_name() : path + " " + child->get_name(),
                 branches);
  }
}

constexpr const char* kScript =
    R"(# Completion of flitwise; load it with: source <(flitwise completion {shell})
{head}_flitwise() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" path="" words="" word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in
      -*) break ;;
      {commands}) path="${{path:+$path }}$word" ;;
      *) break ;;
    esac
  done
  if [[ ${{COMP_WORDS[COMP_CWORD-1]}} == --set ]]; then
    compopt -o nospace 2>/dev/null
    COMPREPLY=($(compgen -W '{keys}' -- "$current"))
    return
  fi
  case "$path" in
{branches}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ $current != -* ]]; then
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _flitwise flitwise
)";

int completion(const CLI::App& app, const std::string& shell) {
  std::vector<std::string> commands;
  for (const CLI::App* command : parts_of(app)) {
    commands.push_back(command->get_name());
    const std::vector<std::string> parts = names_of_parts(*command);
    commands.insert(commands.end(), parts.begin(), parts.end());
  }
  const auto keys = mapped(all_keys(), [](const KeyInfo& key) { return key.path + "="; });
  std::string branches;
  add_branches(app, "", branches);
  fmt::print(
      kScript, fmt::arg("shell", shell),
      fmt::arg("head", shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : ""),
      fmt::arg("commands", fmt::join(commands, "|")), fmt::arg("keys", joined(keys)),
      fmt::arg("branches", branches));
  return kOk;
}

}  // namespace

void add_completion_command(CLI::App& app, Action& action) {
  const auto [command, shell] =
      add_command<std::string>(app, "completion", "Print a completion script for a shell", action,
                               [&app](const std::string& name) { return completion(app, name); });
  command.add_option("shell", shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>{"bash", "zsh"}));
  command.footer("Example:\n  source <(flitwise completion bash)");
}

}  // namespace flitwise::cli
