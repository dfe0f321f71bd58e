// SPDX-License-Identifier: Apache-2.0
/// Bits of the 64-bit words that registers, tables and queues are made of.
#pragma once

#include <cstdint>

namespace flitwise {

/// The bit at `position` (0..63), or nothing.
constexpr std::uint64_t bit_if(bool is_set, unsigned position) {
  return is_set ? std::uint64_t{1} << position : 0;
}

constexpr bool is_set(std::uint64_t word, unsigned position) {
  return (word >> position & 1) != 0;
}

}  // namespace flitwise
