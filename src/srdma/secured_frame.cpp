// SPDX-License-Identifier: Apache-2.0
#include "srdma/secured_frame.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>

#include "network/internet_sum.h"
#include "srdma/frame_fields.h"

namespace flitwise {
namespace {

using namespace frame_field;
using namespace roce_field;
using boost::endian::store_big_u32;
using boost::endian::store_big_u64;

constexpr std::size_t kEthernetBytes = 14, kVlanBytes = 4, kIpv4Bytes = 20, kUdpBytes = 8;
constexpr std::uint64_t kIpv4Type = 0x0800, kVlanTag = 0x8100;

// What is authenticated beside the text: addresses, ports and the security header.
using Associated = std::array<std::uint8_t, 12 + kSecurityHeaderBytes>;
Associated associated_of(const std::uint8_t* bytes, const UdpFrame& frame) {
  Associated all{};
  auto* out = std::copy_n(bytes + frame.ip + 12, 8, all.begin());
  out = std::copy_n(bytes + frame.udp, 4, out);
  std::copy_n(bytes + frame.body, kSecurityHeaderBytes, out);
  return all;
}

GcmNonce nonce_of(std::uint32_t key_id, std::uint64_t number) {
  GcmNonce nonce{};
  store_big_u32(nonce.data(), key_id);
  store_big_u64(nonce.data() + 4, number);
  return nonce;
}

// Other bytes of UDP than before: lengths and checksums of the headers in clear. model: without a
// checksum of UDP, as IPv4 allows.
void set_body_bytes(std::uint8_t* bytes, const UdpFrame& frame, std::size_t count) {
  put(bytes + frame.ip, kTotalLength, frame.body + count - frame.ip);
  put(bytes + frame.udp, kUdpLength, kUdpBytes + count);
  put(bytes + frame.udp, kUdpChecksum, 0);
  put(bytes + frame.ip, kIpv4Checksum, 0);
  put(bytes + frame.ip, kIpv4Checksum, kFullSum - internet_sum(bytes + frame.ip, kIpv4Bytes, 0));
}

}  // namespace

UdpError read_udp(const std::uint8_t* bytes, std::size_t count, UdpFrame& frame) {
  frame.ip = kEthernetBytes;
  const bool has_vlan = count >= kEthernetBytes + kVlanBytes && get(bytes, kEtherType) == kVlanTag;
  frame.ip += has_vlan ? kVlanBytes : 0;
  frame.udp = frame.ip + kIpv4Bytes;
  frame.body = frame.udp + kUdpBytes;
  if (count < frame.body) {
    return UdpError::kIp;
  }
  const std::uint8_t* const ip = bytes + frame.ip;
  const std::uint64_t type =
      has_vlan ? get(bytes + kEthernetBytes, kVlanType) : get(bytes, kEtherType);
  const std::uint64_t length = get(ip, kTotalLength);
  if (type != kIpv4Type || get(ip, kVersion) != 4 || get(ip, kIhl) != kIhl.usual ||
      get(ip, kFragment) != 0 || get(ip, kProtocol) != kProtocol.usual ||
      length < kIpv4Bytes + kUdpBytes || length > count - frame.ip ||
      internet_sum(ip, kIpv4Bytes, 0) != kFullSum) {
    return UdpError::kIp;
  }
  const std::uint8_t* const udp = bytes + frame.udp;
  if (get(udp, kUdpLength) != length - kIpv4Bytes) {
    return UdpError::kUdpLength;
  }
  frame.body_bytes = static_cast<std::size_t>(length) - kIpv4Bytes - kUdpBytes;
  frame.tuple = {static_cast<std::uint32_t>(get(ip, kSourceAddress)),
                 static_cast<std::uint32_t>(get(ip, kDestinationAddress)),
                 static_cast<std::uint16_t>(get(udp, kSourcePort)),
                 static_cast<std::uint16_t>(get(udp, kDestinationPort))};
  return UdpError::kNone;
}

void FrameSecurity::seal(ByteVector& bytes, std::uint32_t key_id, std::uint64_t number,
                         const SecretKey& key) {
  UdpFrame frame;
  read_udp(bytes.data(), bytes.size(), frame);
  const std::size_t text = frame.body_bytes;
  bytes.resize(frame.body + text);  // without padding of Ethernet
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(frame.body), kSecurityHeaderBytes, 0);
  bytes.resize(bytes.size() + kGcmTagBytes);
  store_big_u32(&bytes[frame.body], key_id);
  store_big_u32(&bytes[frame.body + 4], static_cast<std::uint32_t>(number));
  set_body_bytes(bytes.data(), frame, text + kSecurityBytes);
  const Associated associated = associated_of(bytes.data(), frame);
  cipher_.seal(
      key, nonce_of(key_id, number),
      {associated.data(), associated.size(), &bytes[frame.body + kSecurityHeaderBytes], text});
}

std::optional<SecurityHeader> FrameSecurity::header_of(const std::uint8_t* bytes,
                                                       const UdpFrame& frame) {
  if (frame.body_bytes <= kSecurityBytes) {
    return std::nullopt;
  }
  return SecurityHeader{dw_at(bytes + frame.body), dw_at(bytes + frame.body + 4)};
}

bool FrameSecurity::open(ByteVector& bytes, const UdpFrame& frame, std::uint64_t number,
                         const SecretKey& key) {
  const std::size_t text = frame.body_bytes - kSecurityBytes;
  const Associated associated = associated_of(bytes.data(), frame);
  if (!cipher_.open(key, nonce_of(dw_at(&bytes[frame.body]), number),
                    {associated.data(), associated.size(),
                     &bytes[frame.body + kSecurityHeaderBytes], text})) {
    return false;
  }
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(frame.body);
  bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(kSecurityHeaderBytes));
  bytes.resize(frame.body + text);
  set_body_bytes(bytes.data(), frame, text);
  return true;
}

}  // namespace flitwise
