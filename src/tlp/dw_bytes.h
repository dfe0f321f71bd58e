// SPDX-License-Identifier: Apache-2.0
/// DWs as bytes, the highest byte first, and single bits of them. [LNK-1.1]
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace flitwise {

inline std::uint32_t dw_at(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

constexpr std::array<std::uint8_t, 4> bytes_of(std::uint32_t dw) {
  return {static_cast<std::uint8_t>(dw >> 24), static_cast<std::uint8_t>(dw >> 16),
          static_cast<std::uint8_t>(dw >> 8), static_cast<std::uint8_t>(dw)};
}

inline void put_dw(std::vector<std::uint8_t>& out, std::uint32_t dw) {
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
