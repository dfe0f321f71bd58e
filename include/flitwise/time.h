// SPDX-License-Identifier: Apache-2.0
/// Simulated time as a value: femtoseconds in a distinct type, so that rules can reckon with time
/// without owning a clock.
#pragma once

#include <cstdint>
#include <limits>

namespace flitwise {

/// A point or a span of simulated time. Unit: femtosecond (the kernel resolution), range +-9,223 s.
struct Time {
  std::int64_t fs = 0;

  static constexpr Time from_ps(std::int64_t ps) { return {ps * 1'000}; }
  static constexpr Time from_ns(std::int64_t ns) { return {ns * 1'000'000}; }
  static constexpr Time from_us(std::int64_t us) { return {us * 1'000'000'000}; }
  static constexpr Time never() { return {std::numeric_limits<std::int64_t>::max()}; }

  constexpr double ns() const { return static_cast<double>(fs) / 1e6; }

  friend constexpr bool operator==(Time a, Time b) { return a.fs == b.fs; }
  friend constexpr bool operator!=(Time a, Time b) { return a.fs != b.fs; }
  friend constexpr bool operator<(Time a, Time b) { return a.fs < b.fs; }
  friend constexpr bool operator<=(Time a, Time b) { return a.fs <= b.fs; }
  friend constexpr bool operator>(Time a, Time b) { return a.fs > b.fs; }
  friend constexpr bool operator>=(Time a, Time b) { return a.fs >= b.fs; }
  friend constexpr Time operator+(Time a, Time b) { return {a.fs + b.fs}; }
  friend constexpr Time operator-(Time a, Time b) { return {a.fs - b.fs}; }
  friend constexpr Time operator*(Time a, std::int64_t n) { return {a.fs * n}; }
  Time& operator+=(Time b) {
    fs += b.fs;
    return *this;
  }
};

/// The first edge of a clock with the given period at or after t. REQUIRES: period > 0.
constexpr Time next_edge(Time t, Time period) {
  return {(t.fs + period.fs - 1) / period.fs * period.fs};
}

}  // namespace flitwise
