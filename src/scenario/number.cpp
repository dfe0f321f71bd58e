// SPDX-License-Identifier: Apache-2.0
// Reading and comparing numbers.
#include "scenario/number.h"

#include <algorithm>
#include <cstdlib>

namespace flitwise::scenario {
namespace {

constexpr std::size_t kMostDigits = 18;  // of a text that is a number; also 0x and 16 digits

bool is_hex(const std::string& text) {
  return text.rfind("0x", 0) == 0 && text.size() > 2 && text.size() <= kMostDigits &&
         text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos;
}

bool is_decimal(const std::string& text) {
  const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const std::size_t digits =
      std::min(text.find_first_not_of("0123456789", sign), text.size()) - sign;
  const bool has_leading_zero = digits > 1 && text[sign] == '0';
  return digits > 0 && !has_leading_zero && text.size() <= kMostDigits &&
         text.find_first_not_of("0123456789.eE+-", sign) == std::string::npos;
}

}  // namespace

Number Number::whole(std::uint64_t magnitude, bool is_negative) {
  Number number;
  number.magnitude_ = magnitude;
  number.is_negative_ = is_negative && magnitude != 0;
  number.real_ = (is_negative ? -1.0 : 1.0) * static_cast<double>(magnitude);
  return number;
}

Number Number::real(double value) {
  Number number;
  number.is_whole_ = false;
  number.real_ = value;
  return number;
}

std::optional<Number> Number::of(const std::string& text) {
  if (is_hex(text)) {
    return whole(std::strtoull(text.c_str() + 2, nullptr, 16));
  }
  if (!is_decimal(text)) {
    return std::nullopt;
  }
  const bool has_sign = text[0] == '-' || text[0] == '+';
  if (text.find_first_of(".eE+-", has_sign ? 1 : 0) == std::string::npos) {
    return whole(std::strtoull(text.c_str() + (has_sign ? 1 : 0), nullptr, 10), text[0] == '-');
  }
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return *end == '\0' ? std::optional(real(value)) : std::nullopt;
}

std::optional<Number> Number::of(const nlohmann::ordered_json& value) {
  if (value.is_string()) {
    return of(value.get_ref<const std::string&>());
  }
  if (value.is_number_unsigned()) {
    return whole(value.get<std::uint64_t>());
  }
  if (value.is_number_integer()) {
    const auto integer = value.get<std::int64_t>();
    const auto bits = static_cast<std::uint64_t>(integer);
    return whole(integer < 0 ? ~bits + 1 : bits, integer < 0);
  }
  return value.is_number() ? std::optional(real(value.get<double>())) : std::nullopt;
}

bool operator<(const Number& a, const Number& b) {
  if (!a.is_whole_ || !b.is_whole_) {
    return a.real_ < b.real_;
  }
  if (a.is_negative_ != b.is_negative_) {
    return a.is_negative_;
  }
  return a.is_negative_ ? b.magnitude_ < a.magnitude_ : a.magnitude_ < b.magnitude_;
}

}  // namespace flitwise::scenario
