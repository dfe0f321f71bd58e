// SPDX-License-Identifier: Apache-2.0
/// What is left of a packet that is cut by the ends of flits, by cause, in the order in which its
/// parts stand on the wire. [LNK-11.2] [CXL-5.1]
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "flitwise/packet.h"

namespace flitwise {

class CutSize {
 public:
  CutSize() = default;
  explicit CutSize(const WireSize& whole) : rest_(whole), bits_(whole.total()) {}

  std::uint32_t bits() const { return bits_; }
  bool empty() const { return bits_ == 0; }

  /// Moves the next bits, at most so many, to `size`; returns how many.
  std::uint32_t take(std::uint32_t most, WireSize& size) {
    const std::uint32_t bits = std::min(bits_, most);
    bits_ -= bits;
    std::uint32_t left = bits;
    for (const auto part : kParts) {
      const std::uint32_t taken = std::min(rest_.*part, left);
      rest_.*part -= taken;
      size.*part += taken;
      left -= taken;
    }
    return bits;
  }

 private:
  static constexpr std::array<std::uint32_t WireSize::*, 8> kParts = {
      &WireSize::framing, &WireSize::header, &WireSize::identity, &WireSize::payload,
      &WireSize::padding, &WireSize::crc,    &WireSize::dllp,     &WireSize::replay};

  WireSize rest_;
  std::uint32_t bits_ = 0;
};

}  // namespace flitwise
