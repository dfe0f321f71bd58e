// SPDX-License-Identifier: Apache-2.0
/// Which of the latest packets of a key have come: each is taken once. [KY-6]
#pragma once

#include <array>
#include <cstdint>

namespace flitwise {

/// Packets are numbered from 1 on. O(1), but that a number far ahead clears the words between.
class ReplayWindow {
 public:
  static constexpr std::uint64_t kPackets = 1024;

  /// The number of which only the low half came: the one nearest to the newest. [KY-5]
  std::uint64_t whole(std::uint32_t low) const {
    const auto ahead = static_cast<std::int32_t>(low - static_cast<std::uint32_t>(newest_));
    const std::uint64_t number = newest_ + static_cast<std::uint64_t>(std::int64_t{ahead});
    return ahead < 0 && number > newest_ ? number + (std::uint64_t{1} << 32) : number;
  }
  /// Has it not come yet, and is it not too old to tell?
  bool is_new(std::uint64_t number) const {
    return number > newest_ ||
           (number > 0 && newest_ - number < kPackets && (word(number) & bit(number)) == 0);
  }
  /// REQUIRES: is_new(number). Call it once the packet is known to be genuine.
  void take(std::uint64_t number) {
    if (number > newest_) {
      const std::uint64_t ahead = number / 64 - newest_ / 64;
      for (std::uint64_t i = 1; i <= ahead && i <= kWords; ++i) {
        words_[(newest_ / 64 + i) % kWords] = 0;
      }
      newest_ = number;
    }
    words_[number / 64 % kWords] |= bit(number);
  }
  std::uint64_t newest() const { return newest_; }

 private:
  static constexpr std::uint64_t kWords = kPackets / 64 + 1;  // the oldest one is in part
  std::uint64_t word(std::uint64_t number) const { return words_[number / 64 % kWords]; }
  static std::uint64_t bit(std::uint64_t number) { return std::uint64_t{1} << number % 64; }

  std::uint64_t newest_ = 0;
  std::array<std::uint64_t, kWords> words_{};
};

}  // namespace flitwise
