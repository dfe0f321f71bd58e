// SPDX-License-Identifier: Apache-2.0
// Framed packets of both kinds of framing.
#include "link/framing_tokens.h"

#include <gtest/gtest.h>

#include "common/byte_vector.h"
#include "flitwise/error.h"
#include "tlp/dllp_codec.h"
#include "tlp/tlp_codec.h"
#include "unit/tlp/random_tlp.h"

namespace flitwise::framing_tokens_test {
namespace {

using test::from_hex;
using test::RandomTlp;

ByteVector framed(Framing framing, std::uint16_t sequence, const ByteVector& tlp,
                  bool is_nullified = false) {
  ByteVector out;
  frame_tlp(framing, sequence, tlp, is_nullified, out);
  return out;
}

const ByteVector kRead = from_hex("00000010 01135aff 12345678");

TEST(FramingTokens, LNK_5_4_GoldenFrameOfGeneration1) {
  EXPECT_EQ(framed(Framing::kGen1, 0, kRead),
            from_hex("fb 0000 00000010 01135aff 12345678 e280dbeb fd"));
}

TEST(FramingTokens, LNK_5_8_TokenHoldsLengthAndSequenceInTheirPlaces) {
  const ByteVector bytes = framed(Framing::kGen3, 0xabc, kRead);
  ASSERT_EQ(bytes.size(), 20U);
  EXPECT_EQ(bytes[0], 0x5f);
  EXPECT_EQ(bytes[1] & 0x7f, 0);
  EXPECT_EQ(bytes[2] & 0xf, 0xa);
  EXPECT_EQ(bytes[3], 0xbc);
  const Token token = stp_token(0x7ab, 1);
  EXPECT_EQ(token[0], 0xbf);
  EXPECT_EQ(token[1] & 0x7f, 0x7a);
}

TEST(FramingTokens, LNK_5_9_LengthCountsTokenTlpAndLcrcAndIsFiveAtLeast) {
  // The shortest TLP is a header of three DWs.
  EXPECT_EQ(framed(Framing::kGen3, 0, kRead).size(), 5U * 4);
  EXPECT_EQ(framed(Framing::kGen3, 0, kRead)[0] >> 4, 5);
  EXPECT_EQ(read_stp_token(stp_token(5, 0))->length_dw, 5U);
  EXPECT_THROW(stp_token(4, 0), SimulationError);
}

TEST(FramingTokens, LNK_5_7_GoldenSymbolsOfGeneration1) {
  ByteVector bytes;
  frame_dllp(Framing::kGen1, encode(Dllp{}), bytes);
  EXPECT_EQ(bytes.front(), 0x5c);
  EXPECT_EQ(bytes.back(), 0xfd);
  EXPECT_EQ(framed(Framing::kGen1, 5, kRead).front(), 0xfb);
  EXPECT_EQ(framed(Framing::kGen1, 5, kRead, true).back(), 0xfe);
}

TEST(FramingTokens, LNK_5_10_GoldenTokensOfGeneration3) {
  ByteVector dllp;
  frame_dllp(Framing::kGen3, encode(Dllp{}), dllp);
  EXPECT_EQ(ByteVector(dllp.begin(), dllp.begin() + 2), from_hex("f0ac"));
  const ByteVector nullified = framed(Framing::kGen3, 5, kRead, true);
  EXPECT_EQ(ByteVector(nullified.end() - 4, nullified.end()), from_hex("c0c0c0c0"));
}

// One more DW than an MRd32, so that the FCRC is no palindrome.
TEST(FramingTokens, LNK_5_8_GoldenTokensOfReadsWithSequence123) {
  EXPECT_EQ(stp_token(5, 0x123), (Token{0x5f, 0x00, 0x61, 0x23}));
  EXPECT_EQ(stp_token(6, 0x123), (Token{0x6f, 0x80, 0x21, 0x23}));
}

// Each bit of Length by itself: its FCRC as the four formulas of the rule say.
TEST(FramingTokens, LNK_5_8_FcrcOfEachBitOfLength) {
  constexpr std::array<unsigned, 11> kFcrcOfBit = {0x9, 0xd, 0xf, 0xe, 0x7, 0xa,
                                                   0x5, 0xb, 0xc, 0x6, 0x3};
  for (unsigned length = kMinTokenLengthDw; length <= kMaxTokenLengthDw; ++length) {
    unsigned expected = 0;
    for (unsigned bit = 0; bit < kFcrcOfBit.size(); ++bit) {
      expected ^= (length >> bit & 1U) != 0 ? kFcrcOfBit[bit] : 0U;
    }
    ASSERT_EQ(stp_token(length, 0xfff)[2] >> 4, expected) << length;
  }
}

TEST(FramingTokens, LNK_5_22_ParityIsEvenAndEverySingleFlipButOfTheNumberIsCaught) {
  for (unsigned length = kMinTokenLengthDw; length <= kMaxTokenLengthDw; length += 3) {
    const Token token = stp_token(length, static_cast<std::uint16_t>(length * 7 & 0xfffU));
    ASSERT_EQ(read_stp_token(token)->length_dw, length);
    unsigned ones = 0;
    const auto is_of_number = [](unsigned bit) { return bit >= 24 || (bit >= 16 && bit < 20); };
    for (unsigned bit = 4; bit < 24; ++bit) {
      ones += is_of_number(bit) ? 0U : (token[bit / 8] >> (bit % 8)) & 1U;
    }
    ASSERT_EQ(ones % 2, 0U);
    for (unsigned bit = 0; bit < 32; ++bit) {
      Token bad = token;
      bad[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
      ASSERT_EQ(read_stp_token(bad).has_value(), is_of_number(bit)) << length << " bit " << bit;
    }
  }
}

TEST(FramingTokens, LNK_5_3_RandomTlpsCostEightBytesMoreInBothFramings) {
  RandomTlp random(4);
  for (int kind = 0; kind < kTlpTypes; ++kind) {
    const Tlp tlp = random.make(static_cast<TlpType>(kind));
    ByteVector bytes;
    encode(tlp, nullptr, 0, bytes);
    for (const Framing framing : {Framing::kGen1, Framing::kGen3}) {
      const ByteVector frame = framed(framing, 0x123, bytes);
      ASSERT_EQ(frame.size(), bytes.size() + 8);
      const FrameResult result = unframe_tlp(framing, frame.data(), frame.size());
      ASSERT_FALSE(result.error);
      ASSERT_EQ(result.sequence, 0x123);
      ASSERT_EQ(ByteVector(frame.begin() + static_cast<long>(result.offset),
                           frame.begin() + static_cast<long>(result.offset + result.bytes)),
                bytes);
    }
  }
}

TEST(FramingTokens, LNK_5_18_EverySingleFlipInAFrameIsSeen) {
  for (const Framing framing : {Framing::kGen1, Framing::kGen3}) {
    const ByteVector good = framed(framing, 5, kRead);
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      ByteVector bad = good;
      bad[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
      ASSERT_TRUE(unframe_tlp(framing, bad.data(), bad.size()).error) << bit;
    }
  }
}

TEST(FramingTokens, LNK_5_11_NullifiedTlpsAreMarkedAndNoError) {
  for (const Framing framing : {Framing::kGen1, Framing::kGen3}) {
    ByteVector bytes = framed(framing, 5, kRead, true);
    const FrameResult result = unframe_tlp(framing, bytes.data(), bytes.size());
    EXPECT_FALSE(result.error);
    EXPECT_TRUE(result.is_nullified);
    bytes[8] ^= 1;
    EXPECT_EQ(unframe_tlp(framing, bytes.data(), bytes.size()).error, FrameError::kBadLcrc);
  }
}

TEST(FramingTokens, LNK_5_6_DllpsTakeEightBytesInBothFramings) {
  const std::array<std::uint8_t, 6> dllp = encode(Dllp{});
  for (const Framing framing : {Framing::kGen1, Framing::kGen3}) {
    ByteVector bytes;
    frame_dllp(framing, dllp, bytes);
    ASSERT_EQ(bytes.size(), 8U);
    const FrameResult result = unframe_dllp(framing, bytes.data(), bytes.size());
    ASSERT_FALSE(result.error);
    EXPECT_TRUE(
        std::equal(dllp.begin(), dllp.end(), bytes.begin() + static_cast<long>(result.offset)));
    bytes[0] ^= 1;
    EXPECT_EQ(unframe_dllp(framing, bytes.data(), 8).error, FrameError::kBadStart);
    EXPECT_EQ(unframe_dllp(framing, bytes.data(), 7).error, FrameError::kTruncated);
  }
}

TEST(FramingTokens, LNK_5_5_AnyBytesGiveAFrameOrATypedError) {
  RandomTlp random(5);
  for (int i = 0; i < 100'000; ++i) {
    ByteVector bytes(random.below(40));
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(random.below(256));
    }
    if (!bytes.empty() && random.flip()) {
      bytes[0] = symbol::kStp;
      bytes.back() = symbol::kEnd;
    }
    for (const Framing framing : {Framing::kGen1, Framing::kGen3}) {
      const FrameResult result = unframe_tlp(framing, bytes.data(), bytes.size());
      ASSERT_TRUE(result.error || result.offset + result.bytes + 4 <= bytes.size());
      ASSERT_LE(result.error_offset, bytes.size());
    }
  }
}

}  // namespace
}  // namespace flitwise::framing_tokens_test
