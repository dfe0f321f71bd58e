// SPDX-License-Identifier: Apache-2.0
/// When each of many goes on. What is not due is passed over in blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "flitwise/time.h"

namespace flitwise {

class DueTimes {
 public:
  explicit DueTimes(std::size_t count)
      : times_(count, Time::never()), blocks_((count + kBlock - 1) / kBlock, Time::never()) {}

  /// REQUIRES: it has no time.
  void set(std::size_t number, Time when) {
    times_[number] = when;
    blocks_[number / kBlock] = std::min(blocks_[number / kBlock], when);
  }
  /// Never: none.
  Time next() const { return *std::min_element(blocks_.begin(), blocks_.end()); }
  /// step(number), which may set times, for each whose time has come, lowest number first: it has
  /// no time from then on.
  template <class Step>
  void take(Time now, Step step) {
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      if (blocks_[block] > now) {
        continue;
      }
      const std::size_t begin = block * kBlock;
      const std::size_t end = std::min(begin + kBlock, times_.size());
      for (std::size_t number = begin; number < end; ++number) {
        if (times_[number] <= now) {
          times_[number] = Time::never();
          step(number);
        }
      }
      const auto first = times_.begin() + static_cast<std::ptrdiff_t>(begin);
      blocks_[block] = *std::min_element(first, first + static_cast<std::ptrdiff_t>(end - begin));
    }
  }

 private:
  static constexpr std::size_t kBlock = 32;

  std::vector<Time> times_, blocks_;  // of each, and the earliest of each block
};

}  // namespace flitwise
