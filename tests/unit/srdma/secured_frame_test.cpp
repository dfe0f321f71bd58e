// SPDX-License-Identifier: Apache-2.0
#include "srdma/secured_frame.h"

#include <gtest/gtest.h>

#include "network/roce_frame.h"

namespace flitwise::secured_frame_test {
namespace {

ByteVector plain_frame(std::size_t payload) {
  ByteVector bytes;
  const RoceParts parts = make_roce({roce_opcode(0x04), false, false, payload}, bytes);
  for (std::size_t i = 0; i < payload; ++i) {
    bytes[parts.payload + i] = static_cast<std::uint8_t>(i);
  }
  seal_roce(bytes.data(), parts);
  return bytes;
}

TEST(SecuredFrame, KY_5_HeaderTextAndTagAre24BytesMore) {
  const ByteVector plain = plain_frame(100);
  ByteVector bytes = plain;
  FrameSecurity security;
  security.seal(bytes, 0x00050001, 0x1'0000'0007, SecretKey{9});
  EXPECT_EQ(bytes.size(), plain.size() + 24);
  UdpFrame frame;
  ASSERT_EQ(read_udp(bytes.data(), bytes.size(), frame), UdpError::kNone);
  EXPECT_EQ(frame.tuple, (SessionTuple{0x0a000001, 0x0a000002, 0xc000, 4791}));
  const auto header = FrameSecurity::header_of(bytes.data(), frame);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->key, 0x00050001U);
  EXPECT_EQ(header->number, 7U);
  EXPECT_FALSE(std::equal(plain.begin() + 42, plain.end(), bytes.begin() + 50));

  EXPECT_TRUE(security.open(bytes, frame, 0x1'0000'0007, SecretKey{9}));
  EXPECT_EQ(bytes, plain);
  EXPECT_TRUE(read_roce(bytes.data(), bytes.size()).is_icrc_good);
}

TEST(SecuredFrame, KY_C6_AnyBitOfPortsAddressesHeaderTextOrTagIsNoticed) {
  ByteVector sealed = plain_frame(16);
  FrameSecurity security;
  security.seal(sealed, 1, 1, SecretKey{9});
  UdpFrame frame;
  read_udp(sealed.data(), sealed.size(), frame);
  for (std::size_t byte = frame.ip + 12; byte < sealed.size(); ++byte) {
    if (byte >= frame.udp + 4 && byte < frame.udp + 8) {
      continue;  // length, which is checked before, and checksum
    }
    ByteVector bytes = sealed;
    bytes[byte] ^= 0x10;
    EXPECT_FALSE(security.open(bytes, frame, 1, SecretKey{9})) << byte;
  }
  ByteVector bytes = sealed;
  EXPECT_FALSE(security.open(bytes, frame, 2, SecretKey{9}));  // another number
  bytes = sealed;
  EXPECT_FALSE(security.open(bytes, frame, 1, SecretKey{8}));  // [KY-C7]
  bytes = sealed;
  bytes[frame.ip + 1] ^= 0x03;  // ECN
  EXPECT_TRUE(security.open(bytes, frame, 1, SecretKey{9}));
}

TEST(SecuredFrame, RX_1_LengthsAndChecksumOfIpAndUdp) {
  const ByteVector plain = plain_frame(3);
  UdpFrame frame;
  for (std::size_t count = 0; count < plain.size(); ++count) {
    EXPECT_EQ(read_udp(plain.data(), count, frame), UdpError::kIp) << count;
  }
  ByteVector bytes = plain;
  bytes[22] ^= 1;  // TTL, without a new checksum
  EXPECT_EQ(read_udp(bytes.data(), bytes.size(), frame), UdpError::kIp);
  bytes = plain;
  bytes[39] ^= 1;
  EXPECT_EQ(read_udp(bytes.data(), bytes.size(), frame), UdpError::kUdpLength);
  bytes = plain;
  bytes.resize(bytes.size() + 9);  // padding of Ethernet
  ASSERT_EQ(read_udp(bytes.data(), bytes.size(), frame), UdpError::kNone);
  EXPECT_EQ(frame.body_bytes, plain.size() - 42);
}

}  // namespace
}  // namespace flitwise::secured_frame_test
