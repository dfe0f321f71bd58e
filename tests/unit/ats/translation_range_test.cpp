// SPDX-License-Identifier: Apache-2.0
// The S field. Catalogue ids in the names.
#include "ats/translation_entry.h"

#include <gtest/gtest.h>

#include "common/random.h"
#include "flitwise/error.h"

namespace flitwise::translation_range_test {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t ones(unsigned high, unsigned low) {
  return PageRange::mask_of(high + 1) & ~PageRange::mask_of(low);
}

TEST(TranslationRange, SFE_01_WithoutSBit12IsAddress) {
  const PageRange range = decode_range(0x1000, false).range;
  EXPECT_EQ(range.base, 0x1000U);
  EXPECT_EQ(range.size_bits, 12);
}

TEST(TranslationRange, SFE_02_SAndAZeroAtBit12Is8K) {
  EXPECT_EQ(decode_range(0x4000, true).range, (PageRange{0x4000, 13}));
}

TEST(TranslationRange, SFE_03_OneOneAtBit12Is16K) {
  EXPECT_EQ(decode_range(0x4000 | ones(12, 12), true).range, (PageRange{0x4000, 14}));
}

TEST(TranslationRange, SFE_04_OnesTo19Are2M) {
  EXPECT_EQ(decode_range(0x40000000 | ones(19, 12), true).range, (PageRange{0x40000000, 21}));
}

TEST(TranslationRange, SFE_05_OnesTo28Are1G) {
  EXPECT_EQ(decode_range(ones(28, 12), true).range, (PageRange{0, 30}));
}

TEST(TranslationRange, SFE_06_UpperBitsCarrySizesAbove4G) {
  const std::uint64_t base = std::uint64_t{5} << 33;
  EXPECT_EQ(decode_range(base | ones(31, 12), true).range, (PageRange{base, 33}));
}

TEST(TranslationRange, SFE_07_OnesTo62AreEverything) {
  const DecodedRange decoded = decode_range(ones(62, 12), true);
  EXPECT_EQ(decoded.range, PageRange::everything());
  EXPECT_FALSE(decoded.is_undefined);
  EXPECT_EQ(encode_range(PageRange::everything()).address, ones(62, 12));
}

TEST(TranslationRange, SFE_08_AllOnesIsUndefinedAndTakenAsEverything) {
  const DecodedRange decoded = decode_range(ones(63, 12), true);
  EXPECT_TRUE(decoded.is_undefined);
  EXPECT_EQ(decoded.range, PageRange::everything());
}

TEST(TranslationRange, SFE_10_StuOfOneIs8K) {
  const PageRange range = decode_range(0x6000, true).range;
  EXPECT_EQ(range.size_bits, stu_bits(1));
}

TEST(TranslationRange, SFE_11_StuOfTwoIs16K) {
  const PageRange range = decode_range(0x5000, true).range;
  EXPECT_EQ(range.size_bits, stu_bits(2));
}

TEST(TranslationRange, SFE_12_EverySizeComesBack) {
  Random random(7);
  for (unsigned bits = kSmallestRangeBits; bits <= kWholeSpaceBits; ++bits) {
    for (int i = 0; i < 50; ++i) {
      const PageRange range = PageRange::around(random.next(), bits);
      const SizeField field = encode_range(range);
      EXPECT_EQ(field.s, bits > kSmallestRangeBits);
      const DecodedRange decoded = decode_range(field.address, field.s);
      EXPECT_EQ(decoded.range, range) << "2^" << bits;
      EXPECT_FALSE(decoded.is_undefined);
    }
  }
}

TEST(TranslationRange, SFE_13_EncoderSetsTheOnesBelowTheSizeBit) {
  const SizeField field = encode_range({0x200000, 21});
  EXPECT_EQ(field.address, 0x200000U | ones(19, 12));
  EXPECT_EQ(field.address >> 20 & 1U, 0U);
}

TEST(TranslationRange, SFE_14_AddressMaskAndSizeNameTheSamePages) {
  const PageRange by_mask = PageRange::around(0x123'5000, kSmallestRangeBits + 4);
  EXPECT_EQ(by_mask, (PageRange{0x123'0000, 16}));
  const SizeField field = encode_range(by_mask);
  EXPECT_EQ(decode_range(field.address, field.s).range, by_mask);
}

TEST(TranslationRange, INV_22_InvalidationsAreNaturallyAligned) {
  EXPECT_THROW(encode_range({0x1000, 13}), SimulationError);
}

TEST(TranslationRange, INV_21_RangesGrowToOneStu) {
  EXPECT_EQ(rounded_up_to_stu({0x5000, 12}, 2), (PageRange{0x4000, 14}));
  EXPECT_EQ(rounded_up_to_stu({0x10000, 16}, 2), (PageRange{0x10000, 16}));
}

TEST(TranslationRange, OverlapAndContainment) {
  const PageRange range{0x10000, 16};
  EXPECT_TRUE(range.contains(0x1ffff));
  EXPECT_FALSE(range.contains(0x20000));
  EXPECT_TRUE(range.overlaps({0x1f000, 12}));
  EXPECT_FALSE(range.overlaps({0x20000, 12}));
  EXPECT_TRUE(range.overlaps(PageRange::everything()));
  EXPECT_TRUE(PageRange::everything().contains(~std::uint64_t{0}));
}

TEST(TranslationRange, EnclosingRangeIsTheSmallestOne) {
  EXPECT_EQ(enclosing_range(0x1000, 0x1fff), (PageRange{0x1000, 12}));
  EXPECT_EQ(enclosing_range(0x1fff, 0x2000), (PageRange{0, 14}));
  EXPECT_EQ(enclosing_range(0, ~std::uint64_t{0}), PageRange::everything());
  EXPECT_EQ(enclosing_range(kPage, kPage), (PageRange{kPage, 12}));
}

}  // namespace
}  // namespace flitwise::translation_range_test
