// SPDX-License-Identifier: Apache-2.0
// flitwise check, encode, decode and script: what takes files or stdin, and runs no experiment.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>

#include "cli/commands.h"
#include "codec/encode_command.h"
#include "common/embedded.h"
#include "common/input_file.h"
#include "common/interrupt.h"
#include "common/ranges.h"
#include "config/load.h"
#include "config/traces.h"
#include "flitwise/error.h"
#include "script/script.h"
#include "sweep/plan.h"
#include "system/kernel.h"

namespace flitwise::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  LoadOptions load;
};

/// What is wrong with `--set` may go for one of several files alone.
std::vector<Problem> with_file(std::vector<Problem> problems, const CheckOptions& options,
                               const std::string& file) {
  for (Problem& problem : problems) {
    if (options.files.size() > 1 && problem.file.rfind("--set ", 0) == 0) {
      problem.file = file + ": " + problem.file;
    }
  }
  return problems;
}

std::string checked(const std::string& file, const CheckOptions& options) {
  const std::string text = input_text(file, "a config or a sweep in YAML");
  if (is_study(text)) {
    PlanNotes notes;
    const Plan plan = make_plan(study_from_text(text, file), options.load.sets, &notes);
    print_without_effect(with_file(notes.without_effect, options, file));
    print_warnings(notes, plan.size(), file);
    return fmt::format("{}: ok, a sweep of {} points\n", file, plan.size());
  }
  const std::string folder = std::filesystem::path(file).parent_path().string();
  LoadNotes notes;
  const Config config = config_from_text(text, file, folder, options.load, &notes);
  check_traces(config);
  const std::vector<Problem> given = with_file(notes.given, options, file);
  print_without_effect(given);
  print_warnings(config, given, file);
  return fmt::format("{}: ok\n", file);
}

int check(const CheckOptions& options) {
  std::string good;
  std::vector<Problem> problems;
  for (const std::string& file : options.files) {
    try {
      good += checked(file, options);
    } catch (const ConfigError& error) {
      const std::vector<Problem> own = with_file(error.problems(), options, file);
      problems.insert(problems.end(), own.begin(), own.end());
    }
  }
  if (!problems.empty()) {
    throw ConfigError(problems);
  }
  fmt::print("{}", good);
  return kOk;
}

struct CodecOptions {
  std::string kind;
  std::vector<std::string> sets;
  std::vector<std::string> words;  ///< decode: hex digits; encode: JSON
};

/// Standard input, or nothing where that would mean waiting for somebody to type.
std::istream& input(std::istringstream& nothing) {
  return isatty(STDIN_FILENO) != 0 ? static_cast<std::istream&>(nothing) : std::cin;
}

int encode(const CodecOptions& options) {
  // A packet that names its type on the command line needs no input, nor does a flit with its TLPs.
  const bool is_complete = any_of(options.sets, [](const std::string& set) {
    return any_of(std::array{"type=", "tlps=", "bth.opcode="},
                  [&](const char* key) { return set.rfind(key, 0) == 0; });
  });
  std::istringstream text(fmt::format("{}", fmt::join(options.words, " ")));
  std::istream& in = is_complete || !options.words.empty() ? text : input(text);
  return encode_command(options.kind, options.sets, in, std::cout, std::cerr);
}

int decode(const CodecOptions& options) {
  std::istringstream nothing;
  return decode_command(options.kind, options.sets, options.words, input(nothing), std::cout,
                        std::cerr);
}

void add_codec(CLI::App& app, const char* name, const char* purpose, const char* words,
               const char* example, Action& action, int (*perform)(const CodecOptions&)) {
  const auto [command, options] = add_command<CodecOptions>(app, name, purpose, action, perform);
  command.add_option("kind", options.kind, "What the packet is")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>{"tlp", "dllp", "flit", "cxl", "roce"}));
  add_repeated(command, "--set", options.sets, "One field; may be given repeatedly", "FIELD=VALUE");
  command.add_option("packet", options.words, "The packet; without it, stdin is read")
      ->type_name(words);
  command.footer(example);
}

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
  refuse_packets(config, options.config, "a script");
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

void add_check_command(CLI::App& app, Action& action) {
  const auto [command, options] = add_command<CheckOptions>(
      app, "check", "Validate configs and sweeps; every problem as file:line:col", action, check);
  command.add_option("config", options.files, "Files to check")
      ->type_name("CONFIG.yaml")
      ->required();
  add_set_option(command, options.load);
  command.footer(
      "Example:\n  flitwise check configs/checks/*.yaml\n"
      "  flitwise check configs/checks/pio.yaml --set host.cores.count=16");
}

void add_codec_commands(CLI::App& app, Action& action) {
  add_codec(app, "encode", "Turn packets from JSON into wire bytes", "JSON",
            "Example:\n  flitwise encode tlp --set type=MRd --set address=0x1000 --set length_dw=1",
            action, encode);
  add_codec(app, "decode", "Turn wire bytes into JSON", "HEX",
            "Example:\n  flitwise decode tlp 00000001010000ff00001000", action, decode);
}

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
