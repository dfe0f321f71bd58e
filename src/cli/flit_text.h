// SPDX-License-Identifier: Apache-2.0
/// Flits between hex digits and JSON. docs/formats/tlp_json.md shows every key. All functions throw
/// ConfigError.
#pragma once

#include <string>
#include <vector>

#include "cli/packet_text.h"

namespace flitwise::cli {

struct FlitInput {
  json_value::Json json;
  JsonSource source;
};

/// One line of hex digits a flit. Each input is a flit; what does not fit into it goes on in the
/// next one, and behind the last in flits of its own.
std::string flit_hex(const std::vector<FlitInput>& inputs);

struct FlitDecodeOptions {
  std::uint64_t rest_dw = 0;  ///< DWs at the start that belong to a TLP which began before
  bool checks = true;         ///< malformed TLPs are refused
};
FlitDecodeOptions flit_decode_options(const json_value::Json& sets);

/// One line of JSON a flit. lines: hex digits of flits one behind the other, however they are cut
/// into lines; `source` gets the number of a line where it has one.
std::string flit_json(const std::vector<std::string>& lines, const FlitDecodeOptions& options,
                      const HexSource& source);

}  // namespace flitwise::cli
