// SPDX-License-Identifier: Apache-2.0
// Packets from bytes that anybody may have made.
#include "tlp/raw_packet.h"

#include <gtest/gtest.h>

#include "common/byte_vector.h"
#include "tlp/tlp_check.h"
#include "tlp/tlp_encoder.h"
#include "unit/tlp/random_tlp.h"

namespace flitwise::test::raw_packet_test {
namespace {

constexpr std::uint32_t kLinkBits = 64;  // STP token and LCRC

TEST(RawPacket, BytesThatDecodeAreThePacket) {
  PacketPool pool;
  RandomTlp random(1);
  for (int i = 0; i < kTlpTypes; ++i) {
    const Tlp tlp = random.make(static_cast<TlpType>(i));
    const ByteVector payload = random.payload(tlp);
    ByteVector bytes;
    encode(tlp, payload.data(), payload.size(), bytes);
    const PacketRef packet = pool.make(PacketKind::kTlp);
    write_raw(*packet, bytes.data(), bytes.size());
    ASSERT_FALSE(packet->malformed) << name_of(tlp.type);
    EXPECT_EQ(packet->tlp.type, tlp.type);
    EXPECT_EQ(packet->payload, payload);
    EXPECT_EQ(packet->size.total(), bytes.size() * 8 + kLinkBits) << name_of(tlp.type);
  }
}

TEST(RawPacket, PayloadCountsEnabledBytesOnly) {
  Tlp tlp;
  tlp.type = TlpType::kMWr;
  tlp.length_dw = 3;
  tlp.first_be = 0x8;
  tlp.last_be = 0x3;
  ByteVector bytes;
  encode(tlp, nullptr, 0, bytes);
  PacketPool pool;
  const PacketRef packet = pool.make(PacketKind::kTlp);
  write_raw(*packet, bytes.data(), bytes.size());
  EXPECT_EQ(packet->payload_bytes, 7U);
  EXPECT_EQ(packet->size.padding, 5U * 8U);
}

// [LNK-1.3]
TEST(RawPacket, BytesThatNameNoKindAreChargedAsPostedWithoutData) {
  PacketPool pool;
  const PacketRef packet = pool.make(PacketKind::kTlp);
  const ByteVector noise(17, 0xff);
  write_raw(*packet, noise.data(), noise.size());
  ASSERT_TRUE(packet->malformed);
  EXPECT_EQ(fc_class(packet->tlp.type), FcClass::kPosted);
  EXPECT_EQ(data_credits(packet->tlp), 0U);
  EXPECT_EQ(packet->size.total(), 20U * 8U + kLinkBits);  // padded to whole DWs
}

// [LNK-1.4]
TEST(RawPacket, TooLongALengthIsChargedByWhatIsThere) {
  Tlp tlp;
  tlp.type = TlpType::kMWr;
  tlp.length_dw = 1024;
  tlp.first_be = tlp.last_be = 0xf;
  ByteVector bytes;
  encode(tlp, nullptr, 0, bytes);
  bytes.resize(12 + 20);
  PacketPool pool;
  const PacketRef packet = pool.make(PacketKind::kTlp);
  write_raw(*packet, bytes.data(), bytes.size());
  ASSERT_EQ(packet->malformed, TlpViolation::kLengthMismatch);
  EXPECT_EQ(packet->tlp.type, TlpType::kMWr);
  EXPECT_EQ(data_credits(packet->tlp), 2U);
}

TEST(RawPacket, LNK_12_6_AWrongEcrcIsForTheReceiverToJudge) {
  for (const bool is_malformed_too : {false, true}) {
    Tlp tlp;
    tlp.type = TlpType::kMWr;
    tlp.length_dw = 1;
    tlp.first_be = 0xf;
    tlp.last_be = is_malformed_too ? 1 : 0;
    tlp.has_ecrc = true;
    ByteVector bytes;
    encode(tlp, nullptr, 0, bytes);
    PacketPool pool;
    const PacketRef good = pool.make(PacketKind::kTlp);
    write_raw(*good, bytes.data(), bytes.size());
    EXPECT_FALSE(good->has_bad_ecrc);
    bytes.back() ^= 1U;
    const PacketRef bad = pool.make(PacketKind::kTlp);
    write_raw(*bad, bytes.data(), bytes.size());
    EXPECT_TRUE(bad->has_bad_ecrc);
    EXPECT_EQ(bad->size.total(), good->size.total());
    EXPECT_EQ(bad->malformed, good->malformed);
    EXPECT_EQ(bad->malformed.has_value(), is_malformed_too);
  }
}

TEST(RawPacket, NothingAtAllIsAPacketToo) {
  PacketPool pool;
  const PacketRef packet = pool.make(PacketKind::kTlp);
  write_raw(*packet, nullptr, 0);
  EXPECT_EQ(packet->malformed, TlpViolation::kTruncated);
}

}  // namespace
}  // namespace flitwise::test::raw_packet_test
