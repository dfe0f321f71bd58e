// SPDX-License-Identifier: Apache-2.0
/// The lines that a script gets back.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "flitwise/observer.h"

namespace flitwise {

/// Writes events under the id of the operation that caused them.
class ScriptOutput {
 public:
  explicit ScriptOutput(std::ostream& out) : out_(out) {}

  /// Time counts from here on.
  void start();
  /// A new operation; its events carry the token this returns.
  std::uint32_t begin(const nlohmann::ordered_json& id);
  void done(std::uint32_t token);

  void memory(std::uint32_t token, std::uint64_t address, const std::vector<std::uint8_t>& bytes);
  void data(std::uint32_t token, const std::vector<std::uint8_t>& bytes);
  /// A completion with the bytes it brought; without a tag where the host had asked.
  void completion(std::uint32_t token, std::optional<std::uint16_t> tag, CplStatus status,
                  const std::vector<std::uint8_t>& bytes);
  void error(std::uint32_t token, const std::string& kind, const std::string& detail);
  /// A line that could not be understood: its number, and what is wrong.
  void bad_line(std::uint32_t token, int line, const std::string& message);
  /// A message, an interrupt or an error on its way through the machine; others are left out.
  void observed(const Observation& observation);

 private:
  nlohmann::ordered_json event(std::uint32_t token, const char* name) const;
  void write(const nlohmann::ordered_json& line);

  std::ostream& out_;
  Time start_{};
  std::vector<nlohmann::ordered_json> ids_;  // by token - 1
};

}  // namespace flitwise
