// SPDX-License-Identifier: Apache-2.0
/// Division by a number that is fixed at run time, as one multiplication: for what is divided on
/// every packet.
#pragma once

#include <cstdint>

namespace flitwise {

class Quotient {
 public:
  /// REQUIRES: divisor > 0.
  explicit Quotient(std::uint32_t divisor)
      : reciprocal_(((std::uint64_t{1} << 32) + divisor - 1) / divisor), divisor_(divisor) {}

  /// number / divisor, rounded down. REQUIRES: number * divisor < 2^32, which makes it exact.
  std::uint32_t of(std::uint32_t number) const {
    return static_cast<std::uint32_t>((number * reciprocal_) >> 32);
  }
  /// The same, rounded up.
  std::uint32_t up(std::uint32_t number) const { return of(number + divisor_ - 1); }

 private:
  std::uint64_t reciprocal_;
  std::uint32_t divisor_;
};

}  // namespace flitwise
