// SPDX-License-Identifier: Apache-2.0
// What several commands share.
#include "cli/commands.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "cli/exit_codes.h"

namespace flitwise::cli {

namespace {

// Refuses an empty text where a file or folder is to be named.
CLI::Validator is_named() {
  return CLI::Validator(
      [](const std::string& text) {
        return text.empty() ? std::string("no name; expected a path") : std::string();
      },
      "");
}

}  // namespace

int not_modelled_yet(const std::string& what) {
  fmt::print(stderr, "flitwise: {} is not modelled yet\n", what);
  return kBadInput;
}

void add_set_option(CLI::App& command, LoadOptions& options) {
  add_repeated(command, "--set", options.sets,
               "Override one key of the config; may be given repeatedly", "KEY=VALUE");
}

CLI::Validator is_seed() {
  return CLI::Validator(
      [](const std::string& text) {
        std::uint64_t seed = 0;
        const char* const end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, seed);
        return error == std::errc() && rest == end
                   ? std::string()
                   : fmt::format("'{}'; expected a whole number from 0 to {}", text,
                                 std::numeric_limits<std::uint64_t>::max());
      },
      "");
}

CLI::Option* add_path(CLI::App& command, const char* names, std::string& path, const char* meaning,
                      const char* type) {
  return command.add_option(names, path, meaning)->type_name(type)->check(is_named());
}

CLI::Option* add_repeated(CLI::App& command, const char* names, std::vector<std::string>& texts,
                          const char* meaning, const char* type) {
  return command.add_option(names, texts, meaning)->type_name(type)->allow_extra_args(false);
}

void add_seed_option(CLI::App& command, LoadOptions& options) {
  command.add_option("--seed", options.seed, "Seed of all random choices; wins over run.seed")
      ->type_name("N")
      ->check(is_seed());
}

std::size_t terminal_columns() {
  winsize size{};
  const bool is_terminal = ::isatty(STDOUT_FILENO) != 0;
  return is_terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string own_path() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

}  // namespace flitwise::cli
