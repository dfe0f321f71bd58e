// SPDX-License-Identifier: Apache-2.0
/// Values in packet JSON: each reader takes the JSON form and the same as text (for --set), and
/// returns what is wrong, or nothing.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "flitwise/error.h"
#include "flitwise/ids.h"

namespace flitwise {

using Json = nlohmann::ordered_json;
/// What is wrong with a value, as "seen; expected ..."; empty: nothing.
using Complaint = std::string;

/// Where JSON came from, and keys beside the packet's own that the caller has taken out already.
struct JsonSource {
  std::string file = "stdin";
  int line = 0;
  std::vector<std::string> other_keys;

  /// What is wrong there.
  Problem problem(const std::string& path, const std::string& message) const {
    return {file, line, line > 0 ? 1 : 0, path, message};
  }
};
/// Throws ConfigError with one problem.
[[noreturn]] inline void refuse(const JsonSource& source, const std::string& path,
                                const std::string& message) {
  throw ConfigError({source.problem(path, message)});
}

}  // namespace flitwise

namespace flitwise::json_value {

/// Levels of arrays and objects in a text that is taken; readers and writers call themselves once a
/// level.
inline constexpr std::size_t kDeepestJson = 100;
/// Do brackets outside of its strings open more levels than that?
bool is_too_deep(const std::string& text);
/// The JSON of a text; discarded where it is none or too deep.
Json parse(const std::string& text);
/// Why it is discarded: "not JSON from byte 9 on". REQUIRES: it is.
std::string flaw_of(const std::string& text);

/// A whole number from lowest to highest: 90, "90" or "0x5a".
Complaint read_number(const Json& value, std::uint64_t lowest, std::uint64_t highest,
                      std::uint64_t& out);
/// true, false, 1, 0 or the same as text.
Complaint read_bool(const Json& value, bool& out);
/// "01:02.3", or a 16-bit number.
Complaint read_bdf(const Json& value, Bdf& out);
/// Hex digits in pairs; blanks and a leading 0x are skipped.
Complaint read_bytes(const Json& value, std::vector<std::uint8_t>& out);
/// A list of 32-bit numbers, or one text with commas.
Complaint read_dws(const Json& value, std::size_t most, std::vector<std::uint32_t>& out);
/// A word of a list; out is its place there.
Complaint read_word(const Json& value, const std::vector<std::string>& words, std::size_t& out);

/// Moves these keys out of an object, for a reader of their own; `source` knows of them afterwards.
Json take_keys(Json& object, const std::vector<std::string>& keys, JsonSource& source);
/// A value as a message shows it: at most 40 characters, whatever it holds.
std::string shown(const Json& value);

std::string bdf_text(Bdf bdf);                                        ///< "01:02.3"
std::string hex_number(std::uint64_t value);                          ///< "0x1000"
std::string hex_dw(std::uint32_t value);                              ///< "0x00001000"
std::string hex_bytes(const std::uint8_t* bytes, std::size_t count);  ///< "00ff"
template <class Bytes>
std::string hex_bytes(const Bytes& bytes) {
  return hex_bytes(bytes.data(), bytes.size());
}

}  // namespace flitwise::json_value
