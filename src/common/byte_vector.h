// SPDX-License-Identifier: Apache-2.0
/// Bytes in the order of the wire, as codecs read and write them, and values among them whose first
/// byte is the lowest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace flitwise {

using ByteVector = std::vector<std::uint8_t>;

inline std::uint64_t little_endian(const std::uint8_t* bytes, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t byte = 0; byte < size; ++byte) {
    value |= std::uint64_t{bytes[byte]} << 8 * byte;
  }
  return value;
}
inline ByteVector little_endian_bytes(std::uint64_t value, std::size_t size) {
  ByteVector bytes(size);
  for (std::size_t byte = 0; byte < size; ++byte) {
    bytes[byte] = static_cast<std::uint8_t>(value >> 8 * byte);
  }
  return bytes;
}

/// DWs as bytes, the highest byte first, and single bits of them. [LNK-1.1]
inline std::uint32_t dw_at(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

constexpr std::array<std::uint8_t, 4> bytes_of(std::uint32_t dw) {
  return {static_cast<std::uint8_t>(dw >> 24), static_cast<std::uint8_t>(dw >> 16),
          static_cast<std::uint8_t>(dw >> 8), static_cast<std::uint8_t>(dw)};
}

inline void put_dw(ByteVector& out, std::uint32_t dw) {
  const std::array<std::uint8_t, 4> bytes = bytes_of(dw);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

constexpr std::uint32_t bit_at(bool value, unsigned position) {
  return value ? 1U << position : 0U;
}
constexpr bool has_bit(std::uint32_t dw, unsigned position) {
  return ((dw >> position) & 1U) != 0;
}

}  // namespace flitwise
