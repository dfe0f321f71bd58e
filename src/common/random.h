// SPDX-License-Identifier: Apache-2.0
/// Seeded random numbers that are the same on every standard library: xoshiro256** with its own
/// mappings to integers, reals, exponential and geometric values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace flitwise {

/// High and low half of a 64 x 64 bit product.
struct WideProduct {
  std::uint64_t high;
  std::uint64_t low;
};

inline WideProduct multiply_wide(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
}

/// One stream of random numbers. Streams made by split() do not disturb each other: drawing more
/// sizes leaves the arrivals as they were. Algorithm: xoshiro256** by Blackman and Vigna, state
/// filled by splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  /// A stream of its own, fixed by this stream's seed and `name`; changes nothing here.
  Random split(std::string_view name) const;

  /// All 64 bits random.
  std::uint64_t next();
  /// Uniform in 0..bound-1 without bias. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Uniform in [0, 1), 53 bits.
  double real();
  /// True with the given probability; at most 0 never, at least 1 always.
  bool chance(double probability) { return real() < probability; }
  /// Exponential with the given mean; at least 0.
  double exponential(double mean);
  /// Failures before the first success, each trial with the given probability of success.
  /// Saturates at the largest integer, which is also the answer for probability <= 0.
  std::uint64_t geometric(double probability);

 private:
  std::uint64_t seed_;
  std::array<std::uint64_t, 4> state_{};
};

inline std::uint64_t Random::next() {
  const auto rotate = [](std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); };
  const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = rotate(state_[3], 45);
  return result;
}

inline std::uint64_t Random::below(std::uint64_t bound) {
  WideProduct product = multiply_wide(next(), bound);
  if (product.low < bound) {
    const std::uint64_t biased = (0 - bound) % bound;
    while (product.low < biased) {
      product = multiply_wide(next(), bound);
    }
  }
  return product.high;
}

inline double Random::real() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

}  // namespace flitwise
