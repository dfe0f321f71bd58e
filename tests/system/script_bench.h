// SPDX-License-Identifier: Apache-2.0
/// Plays a script and sorts its answer by operation.
#pragma once

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "codec/json_value.h"
#include "config/load.h"
#include "script/script.h"
#include "tlp/tlp_codec.h"

namespace flitwise::test {

struct ScriptAnswer {
  using Json = nlohmann::ordered_json;

  /// The events of one operation, without their done line.
  std::vector<Json> of(const Json& id) const {
    std::vector<Json> events;
    for (const Json& line : lines) {
      if (line.contains("event") && line.value("id", Json()) == id) {
        events.push_back(line);
      }
    }
    return events;
  }
  std::size_t done() const {
    std::size_t count = 0;
    for (const Json& line : lines) {
      count += line.contains("done") ? 1 : 0;
    }
    return count;
  }

  int code = 0;
  std::vector<Json> lines;
};

/// On the machine of configs/checks/script.yaml with `overrides`, "link.identity=dhi".
inline ScriptAnswer play(const std::string& script,
                         const std::vector<std::string>& overrides = {}) {
  LoadOptions options;
  options.sets = overrides;
  const Config config =
      load_config(std::string(FLITWISE_SOURCE_DIR) + "/configs/checks/script.yaml", options);
  std::istringstream in(script);
  std::ostringstream out;
  ScriptAnswer answer;
  answer.code = script_command(in, out, config);
  std::istringstream written(out.str());
  std::string line;
  while (std::getline(written, line)) {
    answer.lines.push_back(ScriptAnswer::Json::parse(line));
  }
  return answer;
}

inline std::string hex_of(const Tlp& tlp, const std::vector<std::uint8_t>& payload = {}) {
  std::vector<std::uint8_t> bytes;
  encode(tlp, payload.data(), payload.size(), bytes);
  return json_value::hex_bytes(bytes.data(), bytes.size());
}

/// Lines of a script.
inline std::string poke(std::uint64_t address, std::uint64_t value) {
  return fmt::format(R"({{"op":"poke","addr":"{:#x}","u64":"{:#x}"}})"
                     "\n",
                     address, value);
}
inline std::string write_register(unsigned offset, std::uint64_t value) {
  return fmt::format(R"({{"op":"iommu_write","offset":"{:#x}","value":"{:#x}"}})"
                     "\n",
                     offset, value);
}

}  // namespace flitwise::test
