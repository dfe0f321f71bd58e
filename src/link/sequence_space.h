// SPDX-License-Identifier: Apache-2.0
/// Sequence numbers of TLPs and of flits: which there are, and how far one is behind another.
#pragma once

#include <cstdint>

namespace flitwise {

/// Numbers in a ring; at most half of them are open at a time.
class SequenceSpace {
 public:
  constexpr SequenceSpace(std::uint16_t first, std::uint16_t last) : first_(first), last_(last) {}
  /// 0 to 4095. [LNK-7.1]
  static constexpr SequenceSpace of_tlps() { return SequenceSpace(0, 4095); }
  /// 1 to 1023: 0 is reserved, and IDLE flits have it. [LNK-11.6]
  static constexpr SequenceSpace of_flits() { return SequenceSpace(1, 1023); }

  constexpr std::uint16_t first() const { return first_; }
  constexpr std::uint16_t last() const { return last_; }
  constexpr std::uint32_t count() const { return last_ - first_ + 1U; }
  /// So many numbers may be open, less one: 2048 of TLPs, 512 of flits. [LNK-7.2] [LNK-11.6]
  constexpr std::uint32_t window() const { return (count() + 1) / 2; }
  constexpr bool contains(std::uint32_t number) const {
    return number >= first_ && number <= last_;
  }

  constexpr std::uint16_t next(std::uint16_t number) const {
    return number == last_ ? first_ : static_cast<std::uint16_t>(number + 1U);
  }
  constexpr std::uint16_t before(std::uint16_t number) const {
    return number == first_ ? last_ : static_cast<std::uint16_t>(number - 1U);
  }
  /// REQUIRES: steps < count().
  constexpr std::uint16_t plus(std::uint16_t number, std::uint32_t steps) const {
    const std::uint32_t sum = number + steps;
    return static_cast<std::uint16_t>(sum > last_ ? sum - count() : sum);
  }
  /// Steps from one number on to another. REQUIRES: contains() both.
  constexpr std::uint32_t distance(std::uint16_t from, std::uint16_t to) const {
    return to >= from ? static_cast<std::uint32_t>(to - from) : to + count() - from;
  }

 private:
  std::uint16_t first_, last_;
};

}  // namespace flitwise
