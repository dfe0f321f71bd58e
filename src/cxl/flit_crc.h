// SPDX-License-Identifier: Apache-2.0
/// Checksums of CXL flits. Their sizes are known, their polynomials are not: all constants here are
/// unverified. [CXL-2.13] [CXL-4.8]
#pragma once

#include <cstddef>
#include <cstdint>

namespace flitwise {

/// A checksum of `bits` bits, highest power first; starts with all ones, and bytes go in lowest bit
/// first.
struct CxlCrc {
  std::uint32_t bits;
  std::uint64_t polynomial;  ///< without its highest power
};
/// 68-byte flits: over the 64 bytes of the slots.
inline constexpr CxlCrc kCrc68 = {16, 0xf053};
/// Standard 256-byte flits: over all bytes before it.
inline constexpr CxlCrc kCrc256 = {64, 0x42f0e1eba9ea3693};
/// Each half of a latency-optimised flit: over the bytes of the half before it.
inline constexpr CxlCrc kCrcOfHalf = {48, 0xe1eba9ea3693};

/// Its lowest byte goes first on the wire.
constexpr std::uint64_t crc_of(const CxlCrc& crc, const std::uint8_t* bytes, std::size_t count) {
  const std::uint64_t mask = ~std::uint64_t{0} >> (64U - crc.bits);
  std::uint64_t rest = mask;
  for (std::size_t i = 0; i < count * 8; ++i) {
    const std::uint64_t in = bytes[i / 8] >> (i % 8) & 1U;
    const bool is_set = (rest >> (crc.bits - 1U) ^ in) != 0;
    rest = (rest << 1U & mask) ^ (is_set ? crc.polynomial : 0);
  }
  return rest;
}

}  // namespace flitwise
