// SPDX-License-Identifier: Apache-2.0
#include "network/switch_view.h"

#include <boost/endian/conversion.hpp>

#include "network/ipv4_header.h"

namespace flitwise {
namespace {

constexpr std::uint8_t kUdp = 17;
constexpr std::uint16_t kLaterFragment = 0x1fff, kRocePort = 4791;
constexpr std::size_t kUdpAt = kIpv4At + kIpv4Bytes, kUdpBytes = 8;

bool has_ports(const ByteVector& frame) {
  const std::uint8_t* const ip = &frame[kIpv4At];
  return ip[9] == kUdp && (boost::endian::load_big_u16(ip + 6) & kLaterFragment) == 0 &&
         frame.size() >= kUdpAt + kUdpBytes;
}

}  // namespace

SwitchRead pass_switch(ByteVector& frame, const SwitchViewRules& rules) {
  SwitchRead read;
  if (!has_good_ipv4(frame)) {
    return read;
  }
  std::uint8_t* const ip = &frame[kIpv4At];
  read.tuple.source = boost::endian::load_big_u32(ip + 12);
  read.tuple.destination = boost::endian::load_big_u32(ip + kIpv4DestinationAt);
  if (has_ports(frame)) {
    read.tuple.source_port = boost::endian::load_big_u16(&frame[kUdpAt]);
    read.tuple.destination_port = boost::endian::load_big_u16(&frame[kUdpAt + 2]);
  }
  read.view.tos = ip[kIpv4TosAt];
  read.view.hash = hash_of(read.tuple, rules.hash, rules.is_symmetric);
  const std::size_t bit_at = kUdpAt + kUdpBytes + rules.bth_byte;
  read.view.has_ar_bit = rules.bth_mask != 0 && read.tuple.destination_port == kRocePort &&
                         bit_at < frame.size() && (frame[bit_at] & rules.bth_mask) != 0;
  if (ip[kIpv4TtlAt] <= 1) {
    read.outcome = Forwarding::kTtl;
    return read;
  }
  age_ipv4(ip);
  read.outcome = Forwarding::kGoesOn;
  return read;
}

void set_ect(ByteVector& frame) {
  if (has_good_ipv4(frame) && ecn_of(frame[kIpv4At + kIpv4TosAt]) == Ecn::kNotEct) {
    std::uint8_t* const ip = &frame[kIpv4At];
    set_ipv4_byte(ip, kIpv4TosAt, ip[kIpv4TosAt] | static_cast<std::uint8_t>(Ecn::kEct0));
  }
}

void mark_ce(ByteVector& frame) {
  std::uint8_t* const ip = &frame[kIpv4At];
  set_ipv4_byte(ip, kIpv4TosAt, ip[kIpv4TosAt] | kCeBits);
}

}  // namespace flitwise
