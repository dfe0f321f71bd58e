// SPDX-License-Identifier: Apache-2.0
/// Packet sequence numbers: 24 bits, compared around the circle. [PS-1]
#pragma once

#include <cstdint>

namespace flitwise {

using Psn = std::uint32_t;  ///< 0..2^24-1

inline constexpr std::uint32_t kPsnMask = 0xff'ffff;
/// PSNs that may be unacknowledged at most. [PS-3]
inline constexpr std::uint32_t kMostOutstandingPsns = (1U << 23) - 1;

constexpr Psn psn_plus(Psn psn, std::uint32_t count) {
  return (psn + count) & kPsnMask;
}
/// How far a is behind b on the circle, below 0: before it. Exactly 2^23 apart is before. [PS-1]
constexpr std::int32_t psn_distance(Psn a, Psn b) {
  return static_cast<std::int32_t>((a - b) << 8) / 256;
}

}  // namespace flitwise
