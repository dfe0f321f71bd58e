// SPDX-License-Identifier: Apache-2.0
// DLLPs and checksums against golden bytes.
#include "tlp/dllp_codec.h"

#include <gtest/gtest.h>

#include "common/byte_vector.h"
#include "tlp/crc.h"
#include "tlp/tlp_codec.h"
#include "unit/tlp/random_tlp.h"

namespace flitwise::dllp_codec_test {
namespace {

using test::from_hex;
using test::RandomTlp;

ByteVector encoded(const Dllp& dllp) {
  const auto bytes = encode(dllp);
  return {bytes.begin(), bytes.end()};
}

Dllp credits(DllpType type, FcClass fc_class) {
  Dllp dllp;
  dllp.type = type;
  dllp.fc_class = fc_class;
  dllp.hdr_fc = 0x40;
  dllp.data_fc = 0x200;
  return dllp;
}

// [LNK-6.3] [LNK-6.4]
TEST(DllpCodec, LNK_5_19_GoldenChecksums) {
  Dllp ack;
  ack.type = DllpType::kAck;
  ack.sequence = 0x123;
  EXPECT_EQ(encoded(ack), from_hex("00000123 e285"));
  Dllp nak;
  nak.type = DllpType::kNak;
  nak.sequence = 0xfff;
  EXPECT_EQ(encoded(nak), from_hex("10000fff cecf"));
  EXPECT_EQ(encoded(credits(DllpType::kInitFc1, FcClass::kPosted)), from_hex("40100200 840d"));
  EXPECT_EQ(encoded(credits(DllpType::kInitFc2, FcClass::kNonPosted)), from_hex("d0100200 1515"));
  EXPECT_EQ(encoded(credits(DllpType::kUpdateFc, FcClass::kCompletion)), from_hex("a0100200 9582"));
}

TEST(DllpCodec, LNK_6_5_ScalesAndVcHaveTheirPlaces) {
  Dllp dllp = credits(DllpType::kUpdateFc, FcClass::kNonPosted);
  dllp.vc = 5;
  dllp.hdr_scale = 2;
  dllp.data_scale = 3;
  const ByteVector bytes = encoded(dllp);
  EXPECT_EQ(ByteVector(bytes.begin(), bytes.begin() + 4), from_hex("95903200"));
}

TEST(DllpCodec, LNK_6_2_EveryTypeByteComesBackOrIsRefused) {
  int known = 0;
  for (unsigned type = 0; type < 256; ++type) {
    ByteVector bytes = {static_cast<std::uint8_t>(type), 0x12, 0x34, 0x56};
    const std::uint16_t crc = dllp_crc16({bytes[0], bytes[1], bytes[2], bytes[3]});
    bytes.push_back(static_cast<std::uint8_t>(crc & 0xffU));
    bytes.push_back(static_cast<std::uint8_t>(crc >> 8));
    const DllpDecodeResult result = decode_dllp(bytes.data(), bytes.size());
    if (result.error) {
      EXPECT_EQ(*result.error, DllpError::kUnknownType);
      continue;
    }
    ++known;
    EXPECT_EQ(encoded(result.dllp), bytes) << type;
  }
  EXPECT_EQ(known, 9 + 9 * 8);
}

TEST(DllpCodec, LNK_6_7_EverySingleBitFlipIsCaught) {
  const ByteVector good = from_hex("40100200 840d");
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    ByteVector bad = good;
    bad[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_EQ(decode_dllp(bad.data(), bad.size()).error, DllpError::kBadCrc) << bit;
  }
}

TEST(DllpCodec, LNK_6_1_OtherSizesAreRefused) {
  const ByteVector bytes(9, 0);
  for (const std::size_t size : {0U, 1U, 5U, 7U, 9U}) {
    EXPECT_EQ(decode_dllp(bytes.data(), size).error, DllpError::kWrongSize);
  }
}

ByteVector lcrc_bytes(std::uint16_t sequence, const ByteVector& tlp) {
  const std::uint32_t crc = lcrc(sequence, tlp.data(), tlp.size());
  return {static_cast<std::uint8_t>(crc), static_cast<std::uint8_t>(crc >> 8),
          static_cast<std::uint8_t>(crc >> 16), static_cast<std::uint8_t>(crc >> 24)};
}

TEST(Crc, LNK_5_18_GoldenLcrc) {
  EXPECT_EQ(lcrc_bytes(0, from_hex("00000010 01135aff 12345678")), from_hex("e280dbeb"));
  EXPECT_EQ(lcrc_bytes(1, from_hex("40000001 01135a0f 00001000 deadbeef")), from_hex("59626590"));
  EXPECT_EQ(lcrc_bytes(0xfff, from_hex("20000810 01135aff 00000001 23456780")),
            from_hex("9e72c56c"));
}

TEST(Crc, LNK_5_18_LcrcCatchesEverySingleBitFlipOfAWriteOf64Bytes) {
  Tlp tlp;
  tlp.type = TlpType::kMWr;
  tlp.is_4dw = true;
  tlp.length_dw = 16;
  tlp.has_pasid = true;
  tlp.has_ecrc = true;
  RandomTlp random(3);
  ByteVector bytes;
  const ByteVector payload = random.payload(tlp);
  encode(tlp, payload.data(), payload.size(), bytes);
  ASSERT_EQ(bytes.size(), 88U);
  const std::uint32_t good = lcrc(7, bytes.data(), bytes.size());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_NE(lcrc(7, bytes.data(), bytes.size()), good) << bit;
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
  }
  for (unsigned bit = 0; bit < 12; ++bit) {
    EXPECT_NE(lcrc(static_cast<std::uint16_t>(7 ^ (1U << bit)), bytes.data(), bytes.size()), good);
  }
}

}  // namespace
}  // namespace flitwise::dllp_codec_test
