// SPDX-License-Identifier: Apache-2.0
// What encode and decode are given: lines, JSON, --set.
#include "codec/command_input.h"

#include <fmt/format.h>

#include <istream>
#include <iterator>
#include <sstream>

namespace flitwise {

std::vector<std::string> lines_of(std::istream& text) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    const bool is_empty = first == std::string::npos || line[first] == '#';
    lines.push_back(is_empty ? "" : line.substr(first));
  }
  return lines;
}

std::vector<InputPacket> packets_in(std::istream& in) {
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return {{Json::object(), 0}};
  }
  if (json_value::is_too_deep(text)) {
    refuse({"stdin", 0, {}}, "",
           fmt::format("more than {} levels of JSON; expected a packet", json_value::kDeepestJson));
  }
  const Json whole = Json::parse(text, nullptr, false);
  std::vector<InputPacket> inputs;
  if (!whole.is_discarded()) {
    for (const Json& item : whole.is_array() ? whole : Json::array({whole})) {
      inputs.push_back({item, 1});
    }
    if (inputs.empty()) {
      refuse({"stdin", 1, {}}, "", "no packet in the list; expected an object with its fields");
    }
    return inputs;
  }
  int line = 0;
  std::istringstream parts(text);
  for (const std::string& part : lines_of(parts)) {
    ++line;
    if (part.empty()) {
      continue;
    }
    try {
      inputs.push_back({Json::parse(part), line});
    } catch (const Json::parse_error& error) {
      throw ConfigError({{"stdin", line, static_cast<int>(error.byte), "",
                          "not JSON here; expected an object with the fields of a packet"}});
    }
  }
  return inputs;
}

Json overrides_of(const std::vector<std::string>& sets) {
  Json overrides = Json::object();
  for (const std::string& set : sets) {
    const std::size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0) {
      refuse({"--set " + set, 0, {}}, "", "no '=' seen; expected key=value");
    }
    overrides[set.substr(0, equals)] = set.substr(equals + 1);
  }
  return overrides;
}

}  // namespace flitwise
