// SPDX-License-Identifier: Apache-2.0
/// Numbers with units: sizes, times, bit rates and request rates, read exactly and written in one
/// canonical spelling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace flitwise::config {

/// A kind of quantity: its units as powers or multiples of the smallest one.
struct Dimension {
  struct Unit {
    const char* name;
    std::int64_t scale;  ///< in units of the stored integer
  };
  const char* noun;         ///< "a size"
  const char* example;      ///< "256B"
  std::vector<Unit> units;  ///< rising
};

const Dimension& size_dimension();          ///< stored: bytes
const Dimension& time_dimension();          ///< stored: femtoseconds
const Dimension& bit_rate_dimension();      ///< stored: bit/s
const Dimension& request_rate_dimension();  ///< stored: request/s

/// What reading gave: a value, or what is wrong with the text ("...; expected ...").
template <class T>
struct Read {
  std::optional<T> value;
  std::string problem;
};

/// "256B", "1.5 us", "10Mreq/s": a decimal number, an optional blank, a unit. Exact: a value that
/// is no whole number of the stored unit is refused, and so is one beyond 63 bits.
Read<std::int64_t> read_quantity(const std::string& text, const Dimension& dimension);

/// The largest unit that leaves a whole number: "64KiB", "2ns", "0B".
std::string write_quantity(std::int64_t value, const Dimension& dimension);
std::string size_text(std::uint64_t bytes);  ///< of a size

/// A whole number in decimal (100, 100000) or hexadecimal (0x64); an octal spelling is refused.
Read<std::uint64_t> read_whole(const std::string& text);

/// A decimal fraction or exponent form: 0.5, 1e-6. No infinities.
Read<double> read_real(const std::string& text);

}  // namespace flitwise::config
