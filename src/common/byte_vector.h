// SPDX-License-Identifier: Apache-2.0
/// Bytes in the order of the wire, as codecs read and write them, and values among them whose first
/// byte is the lowest.
#pragma once

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

}  // namespace flitwise
