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

FlitLines flits_in(const std::vector<std::string>& lines, const JsonSource& source) {
  FlitLines found;
  FlitBytes flit{};
  std::size_t filled = 0;
  int begun = source.line;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int line = source.line > 0 ? static_cast<int>(i) + 1 : 0;
    for (const std::uint8_t byte : bytes_in(lines[i], {source.file, line, {}})) {
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
    refuse({source.file, begun, {}}, "",
           fmt::format("{} bytes seen; expected {} a flit", filled, flit.size()));
  }
  return found;
}

}  // namespace

std::string flit_hex(const std::vector<FlitPlan>& plans) {
  std::string text;
  for (const WrittenFlit& flit : FlitWriter().write(plans)) {
    text += json_value::hex_bytes(flit.bytes) + '\n';
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
                      const JsonSource& source) {
  const FlitLines given = flits_in(lines, source);
  const FlitsRead read = read_flits(given.flits, options);
  if (read.flaw) {
    refuse({source.file, given.lines[read.flaw_flit], {}},
           fmt::format("flit {}, byte {}", read.flaw_flit + 1, read.flaw->offset),
           fmt::format("{}: {}", read.flaw->kind, read.flaw->sentence));
  }
  std::string text;
  for (const Json& flit : read.flits) {
    text += flit.dump() + '\n';
  }
  return text;
}

CxlText::CxlText(const Json& sets) : given_(cxl_kind_from_json(sets, {"--set", 0, {}})) {}

std::string CxlText::hex(const Json& object, const JsonSource& source) {
  std::string text;
  for (const auto& flit : stream_.bytes_of(object, source)) {
    text += (text.empty() ? "" : "\n") + json_value::hex_bytes(flit);
  }
  return text;
}

Json CxlText::json(const std::string& hex, const JsonSource& source) {
  const std::vector<std::uint8_t> bytes = bytes_in(hex, source);
  if (!given_.direction) {
    refuse({"--set", 0, {}}, "direction", "missing; expected down or up");
  }
  const CxlFlitForm by_size = bytes.size() <= kCxlBytes68 ? CxlFlitForm::k68 : CxlFlitForm::k256;
  const CxlFlitKind kind = {given_.form.value_or(by_size), *given_.direction, given_.identity_bits};
  CxlFlitStream::Read read = stream_.read(kind, bytes);
  if (read.error) {
    refuse(source, read.error_offset,
           fmt::format("{} in {} bytes: {}", name_of(*read.error), bytes.size(),
                       sentence_of(*read.error)));
  }
  return read.json;
}

}  // namespace flitwise
