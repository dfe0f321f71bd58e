// SPDX-License-Identifier: Apache-2.0
// ICRC, and the checksums of IPv4 and UDP. [ROCE-4] [ROCE-7]
#include <zlib.h>

#include <algorithm>

#include "network/internet_sum.h"
#include "network/roce_frame.h"

namespace flitwise {
namespace {

// A local route header that is not there counts as ones.
constexpr std::size_t kMaskedLrhBytes = 8;
constexpr std::size_t kMostHeadBytes = 40 + 8 + 12;  // IPv6, UDP, BTH
using Head = std::array<std::uint8_t, kMaskedLrhBytes + kMostHeadBytes>;

// Ones where fields may change on the way, zeros elsewhere.
Head mask_of(RoceHeaderId ip) {
  Head mask{};
  std::fill_n(mask.begin(), kMaskedLrhBytes, std::uint8_t{0xff});
  std::size_t at = kMaskedLrhBytes;
  for (const RoceHeaderId id : {ip, RoceHeaderId::kUdp, RoceHeaderId::kBth}) {
    const RoceHeader& header = header_of(id);
    for (const RoceField& field : header.fields) {
      if (field.varies) {
        put(&mask[at], field, field.most());
      }
    }
    at += header.bytes;
  }
  return mask;
}

}  // namespace

std::uint32_t icrc_of(const std::uint8_t* frame, const RoceParts& parts) {
  static const Head kMasks[] = {mask_of(RoceHeaderId::kIpv4), mask_of(RoceHeaderId::kIpv6)};
  const std::size_t rest = parts.bth + header_of(RoceHeaderId::kBth).bytes;
  Head head = kMasks[parts.is_ipv6 ? 1 : 0];
  for (std::size_t i = parts.ip; i < rest; ++i) {
    head[kMaskedLrhBytes + i - parts.ip] |= frame[i];
  }
  const uLong crc = crc32_z(0, head.data(), kMaskedLrhBytes + rest - parts.ip);
  return static_cast<std::uint32_t>(
      parts.icrc == rest ? crc : crc32_z(crc, frame + rest, parts.icrc - rest));
}

std::uint16_t ipv4_sum(const std::uint8_t* frame, const RoceParts& parts) {
  return internet_sum(frame + parts.ip, parts.udp - parts.ip, 0);
}

std::uint16_t udp_sum(const std::uint8_t* frame, const RoceParts& parts) {
  const std::size_t addresses = parts.is_ipv6 ? 32 : 8;  // the end of either header
  const std::size_t length = parts.end() - parts.udp;
  const std::uint32_t pseudo =
      internet_sum(frame + parts.udp - addresses, addresses,
                   static_cast<std::uint32_t>(length + roce_field::kProtocol.usual));
  return internet_sum(frame + parts.udp, length, pseudo);
}

void seal_roce(std::uint8_t* frame, const RoceParts& parts) {
  const std::uint32_t icrc = icrc_of(frame, parts);
  for (std::size_t i = 0; i < kIcrcBytes; ++i) {  // the lowest byte first
    frame[parts.icrc + i] = static_cast<std::uint8_t>(icrc >> 8 * i);
  }
  put(frame + parts.udp, roce_field::kUdpChecksum, 0);
  if (parts.is_ipv6) {
    const std::uint16_t sum = udp_sum(frame, parts);
    put(frame + parts.udp, roce_field::kUdpChecksum, sum == kFullSum ? sum : kFullSum - sum);
  } else {
    put(frame + parts.ip, roce_field::kIpv4Checksum, 0);
    put(frame + parts.ip, roce_field::kIpv4Checksum, kFullSum - ipv4_sum(frame, parts));
  }
}

}  // namespace flitwise
