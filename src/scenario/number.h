// SPDX-License-Identifier: Apache-2.0
/// A number in a case or in an event: exact where it is whole, so that 64-bit registers and
/// addresses are told apart to the last bit.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace flitwise::scenario {

class Number {
 public:
  /// `3`, `0x10`, `0.5`, `1e6`. Long rows of digits, and such with leading zeros, are no numbers
  /// but bytes.
  static std::optional<Number> of(const std::string& text);
  /// A number, or a text that is one; true and false are none.
  static std::optional<Number> of(const nlohmann::ordered_json& value);
  static Number whole(std::uint64_t magnitude, bool is_negative = false);

  static Number real(double value);
  friend bool operator==(const Number& a, const Number& b) { return !(a < b) && !(b < a); }
  friend bool operator<(const Number& a, const Number& b);
  friend bool operator<=(const Number& a, const Number& b) { return !(b < a); }

 private:
  bool is_whole_ = true;
  bool is_negative_ = false;  // of a whole number
  std::uint64_t magnitude_ = 0;
  double real_ = 0;  // also of a whole number, as near as may be
};

}  // namespace flitwise::scenario
