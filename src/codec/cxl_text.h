// SPDX-License-Identifier: Apache-2.0
/// Flits of CXL.cache and CXL.mem between hex digits and JSON, one after the other: which slots
/// hold data depends on the flits before. All functions throw ConfigError.
#pragma once

#include <string>

#include "codec/cxl_flit_json.h"
#include "codec/packet_text.h"

namespace flitwise {

class CxlText {
 public:
  /// sets: flit, direction and identity_bits of flits to decode.
  explicit CxlText(const json_value::Json& sets = json_value::Json::object());

  /// A line a flit: several where the object has messages to pack.
  std::string hex(const json_value::Json& object, const JsonSource& source);
  json_value::Json json(const std::string& hex, const HexSource& source);

 private:
  CxlGivenKind given_;
  CxlFlitStream stream_;
};

}  // namespace flitwise
