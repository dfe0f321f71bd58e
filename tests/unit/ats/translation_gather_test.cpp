// SPDX-License-Identifier: Apache-2.0
// Replies of several translations, as they are found.
#include "ats/translation_completion.h"

#include <gtest/gtest.h>

namespace flitwise::translation_gather_test {
namespace {

Tlp request_for(std::uint64_t address, unsigned translations) {
  Tlp tlp;
  tlp.type = TlpType::kMRd;
  tlp.at = AddressType::kTranslationRequest;
  tlp.address = address;
  tlp.length_dw = static_cast<std::uint16_t>(2 * translations);
  return tlp;
}
TranslationEntry page(std::uint64_t translated, unsigned bits = 12) {
  TranslationEntry entry;
  entry.translated = translated;
  entry.size_bits = static_cast<std::uint8_t>(bits);
  entry.read = entry.write = true;
  return entry;
}
TranslationEntry hole(unsigned bits = 12) {
  TranslationEntry entry;
  entry.size_bits = static_cast<std::uint8_t>(bits);
  return entry;
}

TEST(TranslationGather, ATR_21_AsksForOnePageBehindTheOther) {
  TranslationGather gather(request_for(0x4000'0008, 3));
  EXPECT_EQ(gather.next(), 0x4000'0008U);
  gather.add(page(0x1000));
  EXPECT_EQ(gather.next(), 0x4000'1000U);
  gather.add(page(0x9000));
  EXPECT_EQ(gather.next(), 0x4000'2000U);
  gather.add(page(0x5000));
  EXPECT_FALSE(gather.next());
  EXPECT_EQ(gather.length(), 3U);
}

TEST(TranslationGather, ATR_18_GoesOnBehindAHole) {
  TranslationGather gather(request_for(0x4000'0000, 3));
  gather.add(page(0x1000));
  gather.add(hole());
  EXPECT_EQ(gather.next(), 0x4000'2000U);
  gather.add(page(0x5000));
  EXPECT_EQ(gather.length(), 3U);
}

TEST(TranslationGather, ATR_19_HolesAtTheEndAreNotTold) {
  TranslationGather gather(request_for(0x4000'0000, 3));
  gather.add(page(0x1000));
  gather.add(hole());
  gather.add(hole(21));
  EXPECT_FALSE(gather.next());
  EXPECT_EQ(gather.length(), 1U);
}

TEST(TranslationGather, ATR_20_EndsBeforeAnotherSize) {
  TranslationGather gather(request_for(0x4000'0000, 4));
  gather.add(page(0x1000));
  gather.add(page(0x20'0000, 21));
  EXPECT_FALSE(gather.next());
  EXPECT_EQ(gather.length(), 1U);
}

TEST(TranslationGather, ATR_21_ALargePageThatCoversAllIsAll) {
  TranslationGather gather(request_for(0x4010'0000, 4));
  gather.add(page(0x20'0000, 21));
  EXPECT_FALSE(gather.next());
  EXPECT_EQ(gather.length(), 1U);
}

TEST(TranslationGather, ATR_21_TheSecondLargePageCountsIfTheRangeTouchesIt) {
  TranslationGather gather(request_for(0x401f'f000, 2));
  gather.add(page(0x20'0000, 21));
  EXPECT_EQ(gather.next(), 0x4020'0000U);
}

TEST(TranslationGather, ATR_24_AHoleInTheFirstPlaceIsTheReply) {
  TranslationGather gather(request_for(0x4000'0000, 4));
  gather.add(hole());
  EXPECT_FALSE(gather.next());
  EXPECT_EQ(gather.length(), 1U);
}

TEST(TranslationGather, ATR_12_NothingLiesBehindTheEndOfTheAddressSpace) {
  TranslationGather gather(request_for(0xffff'ffff'ffff'f000, 4));
  gather.add(page(0x1000));
  EXPECT_FALSE(gather.next());
}

}  // namespace
}  // namespace flitwise::translation_gather_test
