// SPDX-License-Identifier: Apache-2.0
/// When the next packet may leave, so that a flow keeps a rate.
#pragma once

#include <cstdint>

#include "flitwise/time.h"

namespace flitwise {

/// Packets are spaced by their bytes; time that passes unused is not made up for.
class RateLimiter {
 public:
  /// Any time that is not before it.
  Time next() const { return next_; }
  bool may_send(Time now) const { return now >= next_; }
  /// So many bytes leave now, as the wire carries them, at `rate` bit/s. REQUIRES: rate > 0.
  void sent(std::uint64_t wire_bytes, double rate, Time now) {
    constexpr double kBitFs = 8e15;
    const Time begin = next_ > now ? next_ : now;
    next_ =
        begin + Time{static_cast<std::int64_t>(static_cast<double>(wire_bytes) * kBitFs / rate)};
  }

 private:
  Time next_{};
};

}  // namespace flitwise
