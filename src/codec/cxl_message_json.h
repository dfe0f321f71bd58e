// SPDX-License-Identifier: Apache-2.0
/// Messages of CXL.cache and CXL.mem as JSON. docs/formats/cxl_json.md shows every key.
#pragma once

#include "codec/json_value.h"
#include "codec/packet_json.h"
#include "cxl/message_fields.h"
#include "cxl/message_packing.h"

namespace flitwise {

Json json_of(const CxlWireMessage& wire, const CxlWidths& widths);

/// An object, or the name of a channel alone. Throws ConfigError with every problem.
CxlWireMessage wire_message_from_json(const Json& given, const CxlWidths& widths,
                                      const JsonSource& source);
CxlSend send_from_json(const Json& given, const CxlWidths& widths, const JsonSource& source);

/// Does read(); problems of what is nested get the path of where they lie in front.
template <class Read>
auto nested(const std::string& path, Read read) {
  try {
    return read();
  } catch (const ConfigError& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) {
      problem.path = problem.path.empty() ? path : path + "." + problem.path;
    }
    throw ConfigError(std::move(problems));
  }
}

}  // namespace flitwise
