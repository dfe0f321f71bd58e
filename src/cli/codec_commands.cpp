// SPDX-License-Identifier: Apache-2.0
// flitwise encode and decode: packets between JSON and bytes.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "cli/commands.h"
#include "codec/encode_command.h"

namespace flitwise::cli {
namespace {

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
  const bool is_complete =
      std::any_of(options.sets.begin(), options.sets.end(), [](const std::string& set) {
        return set.rfind("type=", 0) == 0 || set.rfind("tlps=", 0) == 0;
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

}  // namespace

void add_codec_commands(CLI::App& app, Action& action) {
  add_codec(app, "encode", "Turn packets from JSON into wire bytes", "JSON",
            "Example:\n  flitwise encode tlp --set type=MRd --set address=0x1000 --set length_dw=1",
            action, encode);
  add_codec(app, "decode", "Turn wire bytes into JSON", "HEX",
            "Example:\n  flitwise decode tlp 00000001010000ff00001000", action, decode);
}

}  // namespace flitwise::cli
