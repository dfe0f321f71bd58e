// SPDX-License-Identifier: Apache-2.0
/// How much of a bounded resource was in use: the mean over the window, and the most at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "flitwise/time.h"

namespace flitwise {

class UseClock {
 public:
  /// So many units are in use from now on.
  void set(std::uint64_t in_use, Time now) {
    sum_ += static_cast<double>(in_use_) * static_cast<double>((now - since_).fs);
    since_ = now;
    in_use_ = in_use;
    peak_ = std::max(peak_, in_use);
  }
  void start_window(Time now) {
    since_ = begin_ = now;
    sum_ = 0;
    peak_ = in_use_;
  }
  std::uint64_t peak() const { return peak_; }
  /// Mean of the units in use since the window began; 0 at its very beginning.
  double mean(Time now) const {
    const double span = static_cast<double>((now - begin_).fs);
    const double sum = sum_ + static_cast<double>(in_use_) * static_cast<double>((now - since_).fs);
    return span > 0 ? sum / span : 0;
  }

 private:
  Time begin_{}, since_{};
  std::uint64_t in_use_ = 0, peak_ = 0;
  double sum_ = 0;  // units x femtoseconds
};

}  // namespace flitwise
