// SPDX-License-Identifier: Apache-2.0
/// Flits between hex digits and JSON. docs/formats/tlp_json.md shows every key. All functions throw
/// ConfigError.
#pragma once

#include <string>
#include <vector>

#include "codec/flit_json.h"
#include "codec/packet_text.h"

namespace flitwise {

/// One line of hex digits a flit.
std::string flit_hex(const std::vector<FlitPlan>& plans);

FlitReadOptions flit_read_options(const json_value::Json& sets);

/// One line of JSON a flit. lines: hex digits of flits one behind the other, however they are cut
/// into lines; `source` gets the number of a line where it has one.
std::string flit_json(const std::vector<std::string>& lines, const FlitReadOptions& options,
                      const HexSource& source);

}  // namespace flitwise
