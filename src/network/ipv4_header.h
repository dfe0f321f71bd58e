// SPDX-License-Identifier: Apache-2.0
/// What routers and switches read and change of the IPv4 header of a frame. [NW-6]
#pragma once

#include <boost/endian/conversion.hpp>

#include <cstddef>
#include <cstdint>

#include "common/byte_vector.h"
#include "network/internet_sum.h"

namespace flitwise {

/// Places in a frame, and in its IPv4 header.
inline constexpr std::size_t kIpv4At = 14, kIpv4Bytes = 20;
inline constexpr std::size_t kIpv4TosAt = 1, kIpv4TtlAt = 8, kIpv4SourceAt = 12,
                             kIpv4DestinationAt = 16;

/// IPv4 without options, with the checksum of its header.
inline bool has_good_ipv4(const ByteVector& frame) {
  constexpr std::size_t kTypeAt = 12;
  constexpr std::uint16_t kTypeOfIpv4 = 0x0800;
  constexpr std::uint8_t kVersionAndLength = 0x45;
  return frame.size() >= kIpv4At + kIpv4Bytes &&
         boost::endian::load_big_u16(&frame[kTypeAt]) == kTypeOfIpv4 &&
         frame[kIpv4At] == kVersionAndLength &&
         internet_sum(&frame[kIpv4At], kIpv4Bytes, 0) == kFullSum;
}

/// The checksum of a header in which a word, 16 bits, is another one now. (RFC 1624)
inline void mend_ipv4(std::uint8_t* ip, std::uint16_t before, std::uint16_t after) {
  constexpr std::size_t kChecksumAt = 10;
  std::uint32_t sum = static_cast<std::uint16_t>(~boost::endian::load_big_u16(ip + kChecksumAt));
  sum += static_cast<std::uint16_t>(~before);
  sum += after;
  sum = (sum & kFullSum) + (sum >> 16);
  sum = (sum & kFullSum) + (sum >> 16);
  boost::endian::store_big_u16(ip + kChecksumAt, static_cast<std::uint16_t>(~sum));
}

/// A byte of the header, and the checksum.
inline void set_ipv4_byte(std::uint8_t* ip, std::size_t at, std::uint8_t value) {
  std::uint8_t* const word = ip + at / 2 * 2;
  const std::uint16_t before = boost::endian::load_big_u16(word);
  ip[at] = value;
  mend_ipv4(ip, before, boost::endian::load_big_u16(word));
}

/// One hop less is left.
inline void age_ipv4(std::uint8_t* ip) {
  set_ipv4_byte(ip, kIpv4TtlAt, static_cast<std::uint8_t>(ip[kIpv4TtlAt] - 1));
}

}  // namespace flitwise
