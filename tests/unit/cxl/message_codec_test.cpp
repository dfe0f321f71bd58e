// SPDX-License-Identifier: Apache-2.0
// Messages as bits and back.
#include "cxl/message_fields.h"

#include <gtest/gtest.h>

#include "unit/cxl/random_messages.h"

namespace flitwise::message_codec_test {
namespace {

constexpr std::array kForms = {CxlFlitForm::k68, CxlFlitForm::k256};
constexpr std::size_t kBytes = 64, kAt = 37;

using Bits = std::array<std::uint8_t, kBytes>;

std::uint32_t ones_in(const Bits& bits, std::size_t from, std::size_t to) {
  std::uint32_t ones = 0;
  for (std::size_t i = from; i < to; ++i) {
    ones += static_cast<std::uint32_t>(bits_at(bits.data(), i, 1));
  }
  return ones;
}

TEST(CxlMessageCodec, CXL_1_3_FieldsAddUpToTheWidthOfTheMessage) {
  for (const CxlFlitForm form : kForms) {
    for (std::size_t i = 0; i < kCxlChannels; ++i) {
      const auto channel = static_cast<CxlChannel>(i);
      std::uint32_t bits = 0, reserved = 0;
      for (const CxlFieldSpec& spec : fields_of(form, channel)) {
        bits += spec.bits;
        reserved += spec.field == CxlField::kReserved ? spec.bits : 0;
      }
      EXPECT_EQ(bits, CxlWidths(form, 0).of(channel)) << info_of(channel).name;
      if (channel == CxlChannel::kD2hReq) {
        EXPECT_EQ(reserved, reserved_identity_bits(form));
      }
    }
  }
}

TEST(CxlMessageCodec, CXL_1_4_OnlyLargeFlitsHaveBackInvalidation) {
  EXPECT_EQ(fields_of(CxlFlitForm::k68, CxlChannel::kM2sBiRsp).count, 0U);
  EXPECT_EQ(fields_of(CxlFlitForm::k68, CxlChannel::kS2mBiSnp).count, 0U);
  EXPECT_GT(fields_of(CxlFlitForm::k256, CxlChannel::kS2mBiSnp).count, 0U);
}

// A golden one: V, MemRd, no snoop, no meta, tag 0x1234, the line at 0x40, TC 0, LD-ID 5.
TEST(CxlMessageCodec, CXL_1_7_FieldsStandInTheOrderOfTheTableLowestBitFirst) {
  CxlWireMessage wire;
  wire.message.channel = CxlChannel::kM2sReq;
  wire.message.opcode = 1;
  wire.message.meta_field = 3;
  wire.message.id = 0x1234;
  wire.message.address = 0x40;
  wire.message.ld_id = 5;
  Bits bits{};
  put_message(wire, CxlWidths(CxlFlitForm::k68, 0), bits.data(), 0);
  EXPECT_EQ(bits_at(bits.data(), 0, 12), 1U | 1U << 1 | 3U << 8);
  EXPECT_EQ(bits_at(bits.data(), 12, 16), 0x1234U);
  EXPECT_EQ(bits_at(bits.data(), 28, 47), 2U);  // from bit 5 on
  EXPECT_EQ(bits_at(bits.data(), 75, 12), 5U << 2);
}

TEST(CxlMessageCodec, CXL_1_7_EveryMessageComesBackFromItsBits) {
  test::RandomCxl random(1);
  for (const CxlFlitForm form : kForms) {
    for (const std::uint32_t identity : {0U, 5U, 7U, 8U, 14U, 15U, 36U, 50U}) {
      const CxlWidths widths(form, identity);
      for (std::size_t i = 0; i < kCxlChannels; ++i) {
        const auto channel = static_cast<CxlChannel>(i);
        for (int n = 0; n < 50 && widths.of(channel) > 0; ++n) {
          CxlWireMessage wire;
          wire.message = random.message(channel, widths);
          wire.is_valid = random.bits(1) != 0;
          for (const CxlFieldSpec& spec : fields_of(form, channel)) {
            wire.has_byte_enables |= spec.field == CxlField::kByteEnables && random.bits(1) != 0;
            wire.has_trailer |= spec.field == CxlField::kTrailer && random.bits(1) != 0;
          }
          Bits bits{};
          put_message(wire, widths, bits.data(), kAt);
          EXPECT_EQ(ones_in(bits, 0, kAt), 0U);
          EXPECT_EQ(ones_in(bits, kAt + widths.of(channel), kBytes * 8), 0U);
          const CxlWireMessage read = message_at(channel, widths, bits.data(), kAt);
          EXPECT_TRUE(test::same_fields(read.message, wire.message, widths))
              << info_of(channel).name << ", identity " << identity;
          EXPECT_EQ(read.is_valid, wire.is_valid);
          EXPECT_EQ(read.has_byte_enables, wire.has_byte_enables);
          EXPECT_EQ(read.has_trailer, wire.has_trailer);
        }
      }
    }
  }
}

// Each bit is a field's or reserved; reserved ones of a Req are the identity's. [CXL-1.5]
TEST(CxlMessageCodec, CXL_1_5_ReservedBitsCarryTheIdentityAndNothingElse) {
  for (const CxlFlitForm form : kForms) {
    for (const std::uint32_t identity : {0U, reserved_identity_bits(form), 36U}) {
      const CxlWidths widths(form, identity);
      for (std::size_t i = 0; i < kCxlChannels; ++i) {
        const auto channel = static_cast<CxlChannel>(i);
        std::uint32_t reserved = 0, ignored = 0;
        for (const CxlFieldSpec& spec : fields_of(form, channel)) {
          reserved += spec.field == CxlField::kReserved ? spec.bits : 0;
        }
        if (channel == CxlChannel::kD2hReq) {
          reserved -= std::min(reserved, identity);
        }
        for (std::uint32_t bit = 0; bit < widths.of(channel); ++bit) {
          Bits bits{}, again{};
          put_bits(bits.data(), bit, 1, 1);
          put_message(message_at(channel, widths, bits.data(), 0), widths, again.data(), 0);
          ignored += again != bits ? 1 : 0;
        }
        EXPECT_EQ(ignored, reserved) << info_of(channel).name << ", identity " << identity;
      }
    }
  }
}

}  // namespace
}  // namespace flitwise::message_codec_test
