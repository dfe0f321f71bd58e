// SPDX-License-Identifier: Apache-2.0
// Packets from bytes that anybody may have made.

#include <gtest/gtest.h>

#include "common/byte_vector.h"
#include "tlp/tlp_check.h"
#include "tlp/tlp_codec.h"
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

std::array<std::uint32_t, 4> header_of(const ByteVector& bytes) {
  PacketPool pool;
  const PacketRef packet = pool.make(PacketKind::kTlp);
  write_raw(*packet, bytes.data(), bytes.size());
  return received_header(*packet);
}

TEST(RawPacket, LNK_12_14_TheHeaderOfAMalformedTlpIsAsItCame) {
  using Header = std::array<std::uint32_t, 4>;
  struct Row {
    ByteVector bytes;
    Header header;
  };
  const std::initializer_list<Row> rows = {
      // ERR_FATAL on TC 4; the fourth DW as well.
      {{0x30, 0x40, 0, 0, 1, 0, 0, 0x33, 1, 2, 3, 4, 5, 6, 7, 8},
       {0x30400000, 0x01000033, 0x01020304, 0x05060708}},
      // A write of two DWs that has one: the payload is none of its header.
      {{0x40, 0, 0, 2, 1, 0, 0, 0xff, 0, 0, 0x10, 0, 0x11, 0x22, 0x33, 0x44},
       {0x40000002, 0x010000ff, 0x00001000, 0}},
      // A read across 4 KiB, with its Length, tag and byte enables.
      {{0, 0, 0, 4, 1, 0, 0x0a, 0xff, 0, 0, 0x2f, 0xf8}, {0x00000004, 0x01000aff, 0x00002ff8, 0}},
      // Type 1Fh names no kind; its three DWs are there all the same.
      {{0x1f, 0, 0, 1, 1, 0, 7, 0x0f, 0, 0, 0x10, 0}, {0x1f000001, 0x0100070f, 0x00001000, 0}},
      // A prefix stands in front; then the header ends too early.
      {{0x91, 0, 0, 5, 0x20, 0, 0, 1, 1, 0, 0, 0x0f, 0xaa},
       {0x20000001, 0x0100000f, 0xaa000000, 0}},
      {{}, {0, 0, 0, 0}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(header_of(row.bytes), row.header) << row.bytes.size() << " bytes";
  }
}

TEST(RawPacket, LNK_12_14_TheHeaderOfAGoodTlpIsItsOwn) {
  const ByteVector read = {0, 0, 0, 1, 1, 0, 7, 0x0f, 0, 0, 0x10, 0};
  EXPECT_EQ(header_of(read), (std::array<std::uint32_t, 4>{0x00000001, 0x0100070f, 0x00001000, 0}));
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
