// SPDX-License-Identifier: Apache-2.0
/// Numbers in a string of bits: the lowest bit of the first byte comes first. unverified [CXL-1.7]
#pragma once

#include <cstddef>
#include <cstdint>

namespace flitwise {

/// count: at most 64.
inline std::uint64_t bits_at(const std::uint8_t* bytes, std::size_t at, std::uint32_t count) {
  std::uint64_t value = 0;
  for (std::uint32_t i = 0; i < count; ++i, ++at) {
    value |= static_cast<std::uint64_t>(bytes[at / 8] >> (at % 8) & 1U) << i;
  }
  return value;
}

/// REQUIRES: the bits there are 0.
inline void put_bits(std::uint8_t* bytes, std::size_t at, std::uint32_t count,
                     std::uint64_t value) {
  for (std::uint32_t i = 0; i < count; ++i, ++at) {
    bytes[at / 8] = static_cast<std::uint8_t>(bytes[at / 8] | (value >> i & 1U) << (at % 8));
  }
}

}  // namespace flitwise
