// SPDX-License-Identifier: Apache-2.0
/// Flits between hex digits and JSON. docs/formats/tlp_json.md shows every key. All functions throw
/// ConfigError.
#pragma once

#include <string>
#include <vector>

#include "codec/cxl_flit_json.h"
#include "codec/flit_json.h"
#include "codec/packet_text.h"

namespace flitwise {

/// One line of hex digits a flit.
std::string flit_hex(const std::vector<FlitPlan>& plans);

FlitReadOptions flit_read_options(const json_value::Json& sets);

/// One line of JSON a flit. lines: hex digits of flits one behind the other, however they are cut
/// into lines; `source` gets the number of a line where it has one.
std::string flit_json(const std::vector<std::string>& lines, const FlitReadOptions& options,
                      const JsonSource& source);

/// Flits of CXL.cache and CXL.mem, one after the other: which slots hold data depends on the flits
/// before.
class CxlText {
 public:
  /// sets: flit, direction and identity_bits of flits to decode.
  explicit CxlText(const json_value::Json& sets = json_value::Json::object());

  /// A line a flit: several where the object has messages to pack.
  std::string hex(const json_value::Json& object, const JsonSource& source);
  json_value::Json json(const std::string& hex, const JsonSource& source);

 private:
  CxlGivenKind given_;
  CxlFlitStream stream_;
};

}  // namespace flitwise
