// SPDX-License-Identifier: Apache-2.0
#include "network/static_routes.h"

#include <boost/endian/conversion.hpp>

#include "network/internet_sum.h"

namespace flitwise {
namespace {

constexpr std::int32_t kNoPort = -1;
constexpr std::size_t kTypeAt = 12, kIpAt = 14, kTtlAt = 8, kChecksumAt = 10, kDestinationAt = 16,
                      kIpBytes = 20;
constexpr std::uint16_t kTypeOfIpv4 = 0x0800;
constexpr std::uint8_t kVersionAndLength = 0x45;  // without options

bool has_good_header(const ByteVector& frame) {
  return frame.size() >= kIpAt + kIpBytes &&
         boost::endian::load_big_u16(&frame[kTypeAt]) == kTypeOfIpv4 &&
         frame[kIpAt] == kVersionAndLength && internet_sum(&frame[kIpAt], kIpBytes, 0) == kFullSum;
}

// RFC 1141: with one less in the high byte of a word, the checksum is that much more.
void age(std::uint8_t* ip) {
  --ip[kTtlAt];
  std::uint32_t sum = boost::endian::load_big_u16(ip + kChecksumAt) + 0x100U;
  sum += sum >= kFullSum ? 1 : 0;
  boost::endian::store_big_u16(ip + kChecksumAt, static_cast<std::uint16_t>(sum));
}

}  // namespace

void StaticRoutes::add(std::uint32_t address, std::uint32_t port) {
  if (ports_.empty()) {
    first_ = address;
  }
  if (address < first_) {
    ports_.insert(ports_.begin(), first_ - address, kNoPort);
    first_ = address;
  }
  if (address - first_ >= ports_.size()) {
    ports_.resize(address - first_ + 1, kNoPort);
  }
  ports_[address - first_] = static_cast<std::int32_t>(port);
}

StaticRoutes::Way StaticRoutes::forward(ByteVector& frame) const {
  if (!has_good_header(frame)) {
    return {Forwarding::kBadHeader, 0};
  }
  std::uint8_t* const ip = &frame[kIpAt];
  if (ip[kTtlAt] <= 1) {
    return {Forwarding::kTtl, 0};
  }
  const std::uint32_t place = boost::endian::load_big_u32(ip + kDestinationAt) - first_;
  if (place >= ports_.size() || ports_[place] == kNoPort) {
    return {Forwarding::kNoRoute, 0};
  }
  age(ip);
  return {Forwarding::kGoesOn, static_cast<std::uint32_t>(ports_[place])};
}

}  // namespace flitwise
