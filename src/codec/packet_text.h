// SPDX-License-Identifier: Apache-2.0
/// One packet between hex digits and JSON, framed or bare. All functions throw ConfigError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
DecodeOptions decode_options(const json_value::Json& sets);

/// Bytes of hex digits in pairs.
std::vector<std::uint8_t> bytes_in(const std::string& hex, const JsonSource& source);
/// Throws ConfigError: this byte of the packet is wrong.
[[noreturn]] void refuse(const JsonSource& source, std::size_t offset, const std::string& what);

/// Text without its line ends; a line that is blank or starts with '#' is empty.
std::vector<std::string> lines_of(const std::string& text);

/// Beside the fields of the packet, the object may have framing, seq and nullified for framed
/// bytes, flit_mode for the bytes of flit mode, and check=false to let malformed TLPs through.
std::string tlp_hex(json_value::Json object, JsonSource source);
std::string dllp_hex(json_value::Json object, JsonSource source);

json_value::Json tlp_json(const std::string& hex, const DecodeOptions& options,
                          const JsonSource& source);
json_value::Json dllp_json(const std::string& hex, const DecodeOptions& options,
                           const JsonSource& source);

}  // namespace flitwise
