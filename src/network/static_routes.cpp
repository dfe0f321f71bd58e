// SPDX-License-Identifier: Apache-2.0
#include "network/static_routes.h"

#include <boost/endian/conversion.hpp>

#include "network/ipv4_header.h"

namespace flitwise {
namespace {

constexpr std::int32_t kNoPort = -1;

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
  if (!has_good_ipv4(frame)) {
    return {Forwarding::kBadHeader, 0};
  }
  std::uint8_t* const ip = &frame[kIpv4At];
  if (ip[kIpv4TtlAt] <= 1) {
    return {Forwarding::kTtl, 0};
  }
  const std::uint32_t place = boost::endian::load_big_u32(ip + kIpv4DestinationAt) - first_;
  if (place >= ports_.size() || ports_[place] == kNoPort) {
    return {Forwarding::kNoRoute, 0};
  }
  age_ipv4(ip);
  return {Forwarding::kGoesOn, static_cast<std::uint32_t>(ports_[place])};
}

}  // namespace flitwise
