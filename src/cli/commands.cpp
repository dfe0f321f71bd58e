// SPDX-License-Identifier: Apache-2.0
// What several commands share.
#include "cli/commands.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <system_error>

#include "common/atomic_file.h"
#include "common/printable.h"
#include "common/ranges.h"

namespace flitwise::cli {
namespace {

namespace fs = std::filesystem;

// Refuses an empty text where a file or folder is to be named.
CLI::Validator is_named() {
  return CLI::Validator(
      [](const std::string& text) {
        return text.empty() ? std::string("no name; expected a path") : std::string();
      },
      "");
}

fs::path final_place(const std::string& path) {
  std::error_code failure;
  return fs::weakly_canonical(fs::absolute(end_of_links(path), failure), failure);
}

// Compares what is there by device and inode, what is to come by the path where it will be.
bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code failure;
  if (fs::equivalent(one, other, failure) && !failure) {
    return fs::is_regular_file(one, failure);
  }
  if (fs::exists(one, failure) || fs::exists(other, failure)) {
    return false;
  }
  const fs::path first = final_place(one), second = final_place(other);
  return !first.empty() && first == second;
}

// "config.yaml:3:5: "
std::string place_of(const Problem& key) {
  return Problem{key.file, key.line, key.column, "", ""}.text();
}

bool is_named_in(const std::string& text, const std::string& path) {
  const auto is_of_key = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                                text[at] == '_' || text[at] == '.');
  };
  for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at + 1)) {
    if (!is_of_key(at - 1) && !is_of_key(at + path.size())) {
      return true;
    }
  }
  return false;
}

// Of the keys that a warning names the one to blame: that in front where it was given, or else the
// one that was given last. Null: all have their defaults, or stand in a base.
const Problem* blamed(const std::string& warning, const std::vector<Problem>& given) {
  const Problem* last = nullptr;
  for (const Problem& key : given) {
    const std::string prefix = "system.instances.";
    const bool is_of_instance = key.path.rfind(prefix, 0) == 0;
    const std::size_t dot = is_of_instance ? key.path.find('.', prefix.size()) : std::string::npos;
    const std::string own = key.path.substr(dot == std::string::npos ? 0 : dot + 1);
    for (const std::string& path : {key.path, own}) {
      if (warning.rfind(path + ":", 0) == 0) {
        return &key;
      }
    }
    last = is_named_in(warning, own) ? &key : last;
  }
  return last;
}

}  // namespace

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

void refuse_packets(const Config& config, const std::string& file, const std::string& what) {
  if (config.network.mode == NetworkMode::kPacket) {
    throw ConfigError({{file, 0, 0, "network.mode",
                        what + " of a network in packets, which has no devices, links or memory; "
                               "expected network.mode full"}});
  }
}

void refuse_to_overwrite(const std::vector<NamedPath>& inputs,
                         const std::vector<NamedPath>& outputs) {
  std::vector<NamedPath> others = inputs;
  for (const NamedPath& output : outputs) {
    for (const NamedPath& other : others) {
      if (is_same_file(output.path, other.path)) {
        throw UsageError(fmt::format("{}: '{}' is {} as well; expected a file of its own",
                                     output.what, shortened(output.path), other.what));
      }
    }
    others.push_back(output);
  }
}

void print_warnings(const Config& config, const std::vector<Problem>& given,
                    const std::string& file) {
  for (const std::string& warning : config_warnings(config)) {
    if (const Problem* const key = blamed(warning, given)) {
      fmt::print(stderr, "{}warning: {}\n", place_of(*key), warning);
    } else {
      fmt::print(stderr, "flitwise: warning: {}{}{}\n", file, file.empty() ? "" : ": ", warning);
    }
  }
}

void print_warnings(const PlanNotes& notes, std::size_t points, const std::string& file) {
  constexpr std::size_t kMostPrinted = 10;
  const auto& found = notes.warnings;
  for (std::size_t i = 0; i < std::min(found.size(), kMostPrinted); ++i) {
    fmt::print(stderr, "flitwise: warning: {}: {} ({} of {} points)\n", file, found[i].first,
               found[i].second, points);
  }
  if (found.size() > kMostPrinted) {
    fmt::print(stderr, "flitwise: warning: {}: and {} more\n", file, found.size() - kMostPrinted);
  }
  if (notes.repeats > 0) {
    fmt::print(stderr,
               "flitwise: warning: {}: {} of {} points are the same as others of their block and "
               "left out ({})\n",
               file, notes.repeats, points + notes.repeats, notes.first_repeat);
  }
}

void print_without_effect(const std::vector<Problem>& given) {
  for (const Problem& key : given) {
    if (!key.message.empty()) {
      fmt::print(stderr, "{}warning: {} has no effect {}\n", place_of(key), key.path, key.message);
    }
  }
}

std::string own_path() {
  return fs::read_symlink("/proc/self/exe").string();
}

}  // namespace flitwise::cli
