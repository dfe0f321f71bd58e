// SPDX-License-Identifier: Apache-2.0
// Exact decimal reading of numbers with units.
#include "common/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "common/problems.h"
#include "common/ranges.h"

namespace flitwise::config {

const Dimension& size_dimension() {
  static const Dimension dimension{
      "a size",
      "256B",
      {{"B", 1}, {"KiB", 1LL << 10}, {"MiB", 1LL << 20}, {"GiB", 1LL << 30}, {"TiB", 1LL << 40}}};
  return dimension;
}

const Dimension& time_dimension() {
  static const Dimension dimension{"a time",
                                   "100ns",
                                   {{"fs", 1},
                                    {"ps", 1'000},
                                    {"ns", 1'000'000},
                                    {"us", 1'000'000'000},
                                    {"ms", 1'000'000'000'000},
                                    {"s", 1'000'000'000'000'000}}};
  return dimension;
}

const Dimension& bit_rate_dimension() {
  static const Dimension dimension{
      "a bit rate",
      "100Gb/s",
      {{"b/s", 1}, {"Mb/s", 1'000'000}, {"Gb/s", 1'000'000'000}, {"Tb/s", 1'000'000'000'000}}};
  return dimension;
}

const Dimension& request_rate_dimension() {
  static const Dimension dimension{
      "a request rate",
      "10Mreq/s",
      {{"req/s", 1}, {"kreq/s", 1'000}, {"Mreq/s", 1'000'000}, {"Greq/s", 1'000'000'000}}};
  return dimension;
}

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// digits / 10^decimals
struct Decimal {
  __extension__ __int128 digits = 0;
  int decimals = 0;
  std::size_t length = 0;  ///< characters read; 0: no number
};

constexpr int kMaxDigits = 19;  // With a scale of up to 10^15 this stays within 128 bits.

std::optional<Decimal> read_decimal(const std::string& text) {
  Decimal number;
  int significant = 0;
  bool after_point = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !after_point && i > 0) {
      after_point = true;
      continue;
    }
    if (!is_digit(text[i])) {
      break;
    }
    number.digits = number.digits * 10 + (text[i] - '0');
    number.decimals += after_point ? 1 : 0;
    significant += number.digits != 0 ? 1 : 0;
    if (significant > kMaxDigits || number.decimals > kMaxDigits) {
      return std::nullopt;
    }
  }
  const bool ends_in_point = i > 0 && text[i - 1] == '.';
  number.length = ends_in_point ? 0 : i;
  return number;
}

std::vector<std::string> unit_names(const Dimension& dimension) {
  return mapped(dimension.units, &Dimension::Unit::name);
}

}  // namespace

Read<std::int64_t> read_quantity(const std::string& text, const Dimension& dimension) {
  const auto refused = [&](const std::string& seen) -> Read<std::int64_t> {
    return {{},
            fmt::format("'{}' {}; expected {} such as {} (units {})", text, seen, dimension.noun,
                        dimension.example, alternatives(unit_names(dimension)))};
  };
  const auto number = read_decimal(text);
  if (!number) {
    return refused("has too many digits");
  }
  if (number->length == 0) {
    return refused("is no number with a unit");
  }
  const std::size_t start = std::min(text.find_first_not_of(' ', number->length), text.size());
  const std::string unit = text.substr(start);
  if (unit.empty()) {
    return {
        {},
        fmt::format("'{}' has no unit; expected {} with its unit, such as {}{}", text,
                    dimension.noun, text,
                    std::string(dimension.example)
                        .substr(std::string(dimension.example).find_first_not_of("0123456789")))};
  }
  const auto at = std::find_if(dimension.units.begin(), dimension.units.end(),
                               [&](const Dimension::Unit& known) { return unit == known.name; });
  if (at == dimension.units.end()) {
    const bool is_hexadecimal = text.rfind("0x", 0) == 0;
    auto wrong = refused(is_hexadecimal ? "is hexadecimal, but quantities are decimal"
                                        : fmt::format("has the unit '{}'", unit));
    if (is_hexadecimal) {
      return wrong;
    }
    wrong.problem += nearest_hint(unit, unit_names(dimension), "unit");
    return wrong;
  }
  auto value = number->digits * at->scale;
  for (int i = 0; i < number->decimals; ++i) {
    if (value % 10 != 0) {
      return refused(fmt::format("is no whole number of {}", dimension.units.front().name));
    }
    value /= 10;
  }
  if (value > std::numeric_limits<std::int64_t>::max()) {
    return refused("is too large");
  }
  return {static_cast<std::int64_t>(value), ""};
}

std::string write_quantity(std::int64_t value, const Dimension& dimension) {
  const Dimension::Unit* best = &dimension.units.front();
  for (const Dimension::Unit& unit : dimension.units) {
    if (value != 0 && value % unit.scale == 0) {
      best = &unit;
    }
  }
  return fmt::format("{}{}", value / best->scale, best->name);
}

std::string size_text(std::uint64_t bytes) {
  return write_quantity(static_cast<std::int64_t>(bytes), size_dimension());
}

Read<std::uint64_t> read_whole(const std::string& text) {
  const std::string expected = "expected a whole number such as 100";
  const bool is_hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const std::string digits = is_hex ? text.substr(2) : text;
  const bool is_octal =
      !is_hex && text.size() > 1 && text[0] == '0' && (is_digit(text[1]) || text[1] == 'o');
  if (is_octal) {
    return {{}, fmt::format("'{}' looks octal; {}, without leading zeros", text, expected)};
  }
  std::uint64_t value = 0;
  const auto end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, value, is_hex ? 16 : 10);
  if (result.ec == std::errc::result_out_of_range) {
    return {{}, fmt::format("'{}' is too large; {}", text, expected)};
  }
  if (result.ec != std::errc{} || result.ptr != end) {
    return {{}, fmt::format("'{}' is no whole number; {}", text, expected)};
  }
  return {value, ""};
}

Read<double> read_real(const std::string& text) {
  double value = 0;
  const auto end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end || !std::isfinite(value)) {
    return {{}, fmt::format("'{}' is no number; expected a number such as 0.5 or 1e-6", text)};
  }
  return {value, ""};
}

}  // namespace flitwise::config
