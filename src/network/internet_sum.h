// SPDX-License-Identifier: Apache-2.0
/// Sums of IPv4 and UDP: 16 bits in one's complement. With its checksum in place, a header sums up
/// to kFullSum. [ROCE-7]
#pragma once

#include <cstddef>
#include <cstdint>

#include "network/roce_frame.h"

namespace flitwise {

inline constexpr std::uint16_t kFullSum = 0xffff;

/// Of big-endian words, on top of `sum`; an odd last byte is the high one of a word.
inline std::uint16_t internet_sum(const std::uint8_t* bytes, std::size_t count, std::uint32_t sum) {
  for (; count > 1; count -= 2, bytes += 2) {
    sum += std::uint32_t{bytes[0]} << 8 | bytes[1];
  }
  sum += count > 0 ? std::uint32_t{bytes[0]} << 8 : 0;
  while (sum > kFullSum) {
    sum = (sum & kFullSum) + (sum >> 16);
  }
  return static_cast<std::uint16_t>(sum);
}

/// Of the header of IPv4.
std::uint16_t ipv4_sum(const std::uint8_t* frame, const RoceParts& parts);
/// Of pseudo header, UDP header and all that follows, ICRC included.
std::uint16_t udp_sum(const std::uint8_t* frame, const RoceParts& parts);

}  // namespace flitwise
