// SPDX-License-Identifier: Apache-2.0
/// SipHash-2-4 of two words (Aumasson, Bernstein): who does not know the key can neither foresee a
/// value nor choose inputs that collide.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace flitwise {

struct SipKey {
  std::uint64_t low = 0, high = 0;
};

/// Of the 16 bytes of both words, each in little-endian order, the first one first. Costs about
/// 20 ns.
constexpr std::uint64_t sip_hash(SipKey key, std::uint64_t first, std::uint64_t second) {
  std::uint64_t a = key.low ^ 0x736f'6d65'7073'6575U;
  std::uint64_t b = key.high ^ 0x646f'7261'6e64'6f6dU;
  std::uint64_t c = key.low ^ 0x6c79'6765'6e65'7261U;
  std::uint64_t d = key.high ^ 0x7465'6462'7974'6573U;
  const auto rotate = [](std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); };
  const auto mix = [&](int rounds) {
    for (; rounds > 0; --rounds) {
      a += b;
      c += d;
      b = rotate(b, 13) ^ a;
      d = rotate(d, 16) ^ c;
      a = rotate(a, 32);
      c += b;
      a += d;
      b = rotate(b, 17) ^ c;
      d = rotate(d, 21) ^ a;
      c = rotate(c, 32);
    }
  };
  const std::uint64_t length = std::uint64_t{16} << 56;
  for (const std::uint64_t word : {first, second, length}) {
    d ^= word;
    mix(2);
    a ^= word;
  }
  c ^= 0xff;
  mix(4);
  return a ^ b ^ c ^ d;
}

}  // namespace flitwise
