// SPDX-License-Identifier: Apache-2.0
// Flits as text.
#include "codec/flit_text.h"

#include <fmt/format.h>

#include "codec/json_reader.h"

namespace flitwise {
namespace {

using json_value::Json;

/// Flits and the lines on which each begins.
struct FlitLines {
  std::vector<FlitBytes> flits;
  std::vector<int> lines;
};

[[noreturn]] void refuse_line(const std::string& file, int line, const std::string& path,
                              const std::string& message) {
  throw ConfigError({{file, line, line > 0 ? 1 : 0, path, message}});
}

FlitLines flits_in(const std::vector<std::string>& lines, const HexSource& source) {
  FlitLines found;
  FlitBytes flit{};
  std::size_t filled = 0;
  int begun = source.line;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int line = source.line > 0 ? static_cast<int>(i) + 1 : 0;
    for (const std::uint8_t byte : bytes_in(lines[i], {source.file, line})) {
      begun = filled == 0 ? line : begun;
      flit[filled++] = byte;
      if (filled == flit.size()) {
        found.flits.push_back(flit);
        found.lines.push_back(begun);
        filled = 0;
      }
    }
  }
  if (filled != 0) {
    refuse_line(source.file, begun, "",
                fmt::format("{} bytes seen; expected {} a flit", filled, flit.size()));
  }
  return found;
}

}  // namespace

std::string flit_hex(const std::vector<FlitPlan>& plans) {
  std::string text;
  for (const WrittenFlit& flit : FlitWriter().write(plans)) {
    text += json_value::hex_bytes(flit.bytes.data(), flit.bytes.size()) + '\n';
  }
  return text;
}

FlitReadOptions flit_read_options(const Json& sets) {
  FlitReadOptions options;
  JsonReader reader(sets, {"--set", 0, {}});
  reader.number("rest_dw", 0, kMostRestDws, options.rest_dw);
  reader.flag("check", options.checks);
  reader.finish();
  return options;
}

std::string flit_json(const std::vector<std::string>& lines, const FlitReadOptions& options,
                      const HexSource& source) {
  const FlitLines given = flits_in(lines, source);
  const FlitsRead read = read_flits(given.flits, options);
  if (read.flaw) {
    refuse_line(source.file, given.lines[read.flaw_flit],
                fmt::format("flit {}, byte {}", read.flaw_flit + 1, read.flaw->offset),
                fmt::format("{}: {}", read.flaw->kind, read.flaw->sentence));
  }
  std::string text;
  for (const Json& flit : read.flits) {
    text += flit.dump() + '\n';
  }
  return text;
}

}  // namespace flitwise
