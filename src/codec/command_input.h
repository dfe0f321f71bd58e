// SPDX-License-Identifier: Apache-2.0
/// What the commands encode and decode are given: lines, JSON, and fields from the command line.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "codec/json_value.h"

namespace flitwise {

/// Without their ends; a line that is blank or starts with '#' is empty.
std::vector<std::string> lines_of(std::istream& text);

struct InputPacket {
  Json json;
  int line = 0;  ///< 0: there was no input, the object is empty
};
/// A whole document, or one document a line. Throws ConfigError.
std::vector<InputPacket> packets_in(std::istream& in);

/// key=value of --set, as text: every reader of a field takes text too. Throws ConfigError.
Json overrides_of(const std::vector<std::string>& sets);

}  // namespace flitwise
