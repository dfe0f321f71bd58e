// SPDX-License-Identifier: Apache-2.0
/// Packets and flits between hex digits and JSON, as encode and decode take them. All functions
/// throw ConfigError. docs/formats/tlp_json.md shows every key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codec/cxl_flit_json.h"
#include "codec/flit_json.h"
#include "codec/json_value.h"
#include "codec/packet_json.h"
#include "link/framing_tokens.h"

namespace flitwise {

/// How the bytes given to decode are to be read.
struct DecodeOptions {
  std::optional<Framing> framing;  ///< absent: bare packets
  bool is_flit_mode = false;       ///< TLPs in the form of flit mode
  bool checks = true;              ///< malformed TLPs are refused
};
DecodeOptions decode_options(const Json& sets);

/// Text without its line ends; a line that is blank or starts with '#' is empty.
std::vector<std::string> lines_of(const std::string& text);

/// Beside the fields of the packet, the object may have framing, seq and nullified for framed
/// bytes, flit_mode for the bytes of flit mode, and check=false to let malformed TLPs through.
std::string tlp_hex(Json object, JsonSource source);
std::string dllp_hex(Json object, JsonSource source);

Json tlp_json(const std::string& hex, const DecodeOptions& options, const JsonSource& source);
Json dllp_json(const std::string& hex, const DecodeOptions& options, const JsonSource& source);

/// One line of hex digits a flit.
std::string flit_hex(const std::vector<FlitPlan>& plans);

FlitReadOptions flit_read_options(const Json& sets);

/// One line of JSON a flit. lines: hex digits of flits one behind the other, however they are cut
/// into lines; `source` gets the number of a line where it has one.
std::string flit_json(const std::vector<std::string>& lines, const FlitReadOptions& options,
                      const JsonSource& source);

/// Flits of CXL.cache and CXL.mem: a line a flit, several where the object has messages to pack.
/// Which slots hold data depends on the flits before, which the stream knows.
std::string cxl_hex(CxlFlitStream& stream, const Json& object, const JsonSource& source);
/// given: flit, direction and identity_bits of the flit as far as they are known.
Json cxl_json(CxlFlitStream& stream, const CxlGivenKind& given, const std::string& hex,
              const JsonSource& source);

}  // namespace flitwise
