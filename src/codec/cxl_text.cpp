// SPDX-License-Identifier: Apache-2.0
// Flits of CXL.cache and CXL.mem as text.
#include "codec/cxl_text.h"

#include <fmt/format.h>

namespace flitwise {

using json_value::Json;

CxlText::CxlText(const Json& sets) : given_(cxl_kind_from_json(sets, {"--set", 0, {}})) {}

std::string CxlText::hex(const Json& object, const JsonSource& source) {
  std::string text;
  for (const auto& flit : stream_.bytes_of(object, source)) {
    text += (text.empty() ? "" : "\n") + json_value::hex_bytes(flit.data(), flit.size());
  }
  return text;
}

Json CxlText::json(const std::string& hex, const HexSource& source) {
  const std::vector<std::uint8_t> bytes = bytes_in(hex, source);
  if (!given_.direction) {
    throw ConfigError({{"--set", 0, 0, "direction", "missing; expected down or up"}});
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
