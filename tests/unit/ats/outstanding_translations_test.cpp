// SPDX-License-Identifier: Apache-2.0
// Invalidations against Translation Requests that are out. Catalogue ids in the names.
#include "ats/outstanding_translations.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "ats/translation_completion.h"

namespace flitwise::outstanding_translations_test {
namespace {

constexpr InvalidationScope kNoPasid{};

TranslationAsk ask(std::uint64_t address, unsigned translations = 1) {
  TranslationAsk wish;
  wish.address = address;
  wish.translations = translations;
  return wish;
}

TranslationEntry mapped(std::uint64_t translated, unsigned size_bits) {
  TranslationEntry entry;
  entry.translated = translated;
  entry.size_bits = static_cast<std::uint8_t>(size_bits);
  entry.read = true;
  return entry;
}

/// A receiver that has the reply already.
TranslationReceiver answered(const TranslationAsk& wish, unsigned stu,
                             const std::vector<TranslationEntry>& entries) {
  TranslationSettings settings;
  settings.is_enabled = true;
  settings.stu = static_cast<std::uint8_t>(stu);
  const Tlp request = translation_request_tlp(wish, settings, Bdf::of(1, 0, 0));
  TranslationReceiver receiver(request, request.has_pasid, 64, stu);
  std::array<std::uint8_t, 64> payload{};
  const auto count = static_cast<unsigned>(entries.size());
  store_reply(payload.data(), entries.data(), count);
  TranslationReply reply(count, 64);
  CompletionPiece piece;
  reply.next(piece);
  const Tlp completion = translation_cpld(request, piece);
  EXPECT_EQ(receiver.check(completion, payload.data()), TranslationVerdict::kLast);
  receiver.accept(completion, payload.data());
  return receiver;
}

TEST(OutstandingTranslations, TCP_16_WithoutInvalidationTheWholeSizeIsCacheable) {
  OutstandingTranslations out(4, AtcDiscard::kOverlapping);
  const TranslationAsk wish = ask(0x20'1000);
  const Slot slot = out.open(wish, 0);
  const CacheablePieces pieces = out.cacheable(slot, answered(wish, 0, {mapped(0x80'0000, 21)}));
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].range, (PageRange{0x20'0000, 21}));
}

TEST(OutstandingTranslations, INV_05_OverlapDiscardsTheReply) {
  OutstandingTranslations out(4, AtcDiscard::kOverlapping);
  const TranslationAsk wish = ask(0x1000);
  const Slot slot = out.open(wish, 0);
  EXPECT_EQ(out.invalidate({0x2000, 12}, kNoPasid), 0U);
  EXPECT_EQ(out.cacheable(slot, answered(wish, 0, {mapped(0x9000, 12)})).size(), 1U);
  EXPECT_EQ(out.invalidate({0x0000, 14}, kNoPasid), 1U);
  EXPECT_EQ(out.cacheable(slot, answered(wish, 0, {mapped(0x9000, 12)})).size(), 0U);
}

TEST(OutstandingTranslations, TCP_19_SaysNothingOfTheUnitThatIsStruck) {
  OutstandingTranslations out(4, AtcDiscard::kOverlapping);
  const Slot slot = out.open(ask(0x1000, 2), 0);
  EXPECT_FALSE(out.is_discarded(slot, 0x1ff8));
  EXPECT_FALSE(out.is_discarded(slot, 0x8000)) << "it may bring a larger page";
  out.invalidate({0x2000, 12}, kNoPasid);
  EXPECT_FALSE(out.is_discarded(slot, 0x1ff8));
  EXPECT_TRUE(out.is_discarded(slot, 0x2000));
  EXPECT_TRUE(out.is_discarded(slot, 0x2ff8));
  EXPECT_TRUE(out.is_discarded(slot, 0x8000)) << "nobody looked whether it was struck";
  EXPECT_TRUE(out.is_discarded(slot, 0xff8)) << "likewise";
  EXPECT_FALSE(out.is_discarded(slot)) << "the rest counts";
}

TEST(OutstandingTranslations, INV_05_OtherPasidsAreLeftAlone) {
  OutstandingTranslations out(4, AtcDiscard::kAll);
  TranslationAsk wish = ask(0x1000);
  wish.pasid = Pasid{5};
  const Slot slot = out.open(wish, 0);
  EXPECT_EQ(out.invalidate(PageRange::everything(), kNoPasid), 0U);
  EXPECT_EQ(out.invalidate(PageRange::everything(), {Pasid{6}, false}), 0U);
  EXPECT_FALSE(out.is_discarded(slot));
  EXPECT_EQ(out.invalidate(PageRange::everything(), {{}, true}), 1U);
  EXPECT_TRUE(out.is_discarded(slot));
}

// STU 16 KiB, two translations from 0000_0FFF_FFFF_C000 on, 16 KiB invalidated behind the 16 TiB
// boundary.
class WorkedExample : public testing::TestWithParam<AtcDiscard> {};

TEST_P(WorkedExample, INV_06_OverlapIsSeenAcrossTheBoundary) {
  OutstandingTranslations out(4, GetParam());
  const TranslationAsk wish = ask(0x0fff'ffff'c000, 2);
  const Slot slot = out.open(wish, 2);
  const PageRange invalidated = decode_range(0x1000'0000'1000, true).range;
  EXPECT_EQ(invalidated, (PageRange{0x1000'0000'0000, 14}));
  EXPECT_EQ(out.invalidate(invalidated, kNoPasid), 1U);
  const CacheablePieces pieces =
      out.cacheable(slot, answered(wish, 2, {mapped(0x8000, 14), mapped(0xc000, 14)}));
  if (GetParam() == AtcDiscard::kAll) {
    EXPECT_EQ(pieces.size(), 0U);
  } else {
    ASSERT_EQ(pieces.size(), 1U);
    EXPECT_EQ(pieces[0].range, (PageRange{0x0fff'ffff'c000, 14}));
    EXPECT_EQ(pieces[0].translation, mapped(0x8000, 14));
  }
}
INSTANTIATE_TEST_SUITE_P(Policies, WorkedExample,
                         testing::Values(AtcDiscard::kOverlapping, AtcDiscard::kAll));

TEST(OutstandingTranslations, INV_27_AnInvalidationThatOvertakesTheReplyLeavesNothingStale) {
  OutstandingTranslations out(4, AtcDiscard::kOverlapping);
  const TranslationAsk wish = ask(0x20'1000, 2);
  const Slot slot = out.open(wish, 0);
  // Outside the implied range, but inside the large page that the old reply still speaks of.
  EXPECT_EQ(out.invalidate({0x30'0000, 12}, kNoPasid), 0U);
  const CacheablePieces pieces = out.cacheable(slot, answered(wish, 0, {mapped(0x80'0000, 21)}));
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].range, (PageRange{0x20'1000, 12}));
  EXPECT_EQ(pieces[0].translation, mapped(0x80'1000, 12));
  EXPECT_EQ(pieces[1].range, (PageRange{0x20'2000, 12}));
}

TEST(OutstandingTranslations, TCP_18_ChangesOfTheEnableDiscardWhatIsOut) {
  OutstandingTranslations out(4, AtcDiscard::kOverlapping);
  const TranslationAsk wish = ask(0x1000);
  const Slot before = out.open(wish, 0);
  out.void_all();
  const Slot after = out.open(wish, 0);
  EXPECT_TRUE(out.is_void(before));
  EXPECT_FALSE(out.is_void(after));
  const TranslationReceiver reply = answered(wish, 0, {mapped(0x9000, 12)});
  EXPECT_EQ(out.cacheable(before, reply).size(), 0U);
  EXPECT_EQ(out.cacheable(after, reply).size(), 1U);
}

TEST(OutstandingTranslations, ATR_18_HolesAreNotCacheable) {
  OutstandingTranslations out(4, AtcDiscard::kOverlapping);
  const TranslationAsk wish = ask(0x1000, 3);
  const Slot slot = out.open(wish, 0);
  const CacheablePieces pieces = out.cacheable(
      slot, answered(wish, 0, {mapped(0x9000, 12), no_access_entry(0), mapped(0xb000, 12)}));
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[1].range, (PageRange{0x3000, 12}));
}

TEST(OutstandingTranslations, ATR_25_AClosedRequestGivesItsPlaceBack) {
  OutstandingTranslations out(1, AtcDiscard::kOverlapping);
  const Slot slot = out.open(ask(0x1000), 0);
  EXPECT_FALSE(out.has_room());
  out.invalidate({0x1000, 12}, kNoPasid);
  out.close(slot);
  EXPECT_TRUE(out.has_room());
  EXPECT_FALSE(out.is_discarded(out.open(ask(0x1000), 0)));
}

TEST(OutstandingTranslations, ATR_26_SixtyFourEndInAnyOrder) {
  OutstandingTranslations out(64, AtcDiscard::kOverlapping);
  std::vector<Slot> slots;
  for (unsigned i = 0; i < 64; ++i) {
    slots.push_back(out.open(ask(0x1000 * i), 0));
  }
  EXPECT_FALSE(out.has_room());
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned which = i * 37 % 64;
    const TranslationReceiver reply = answered(ask(0x1000 * which), 0, {mapped(0x9000, 12)});
    EXPECT_EQ(out.cacheable(slots[which], reply)[0].range.base, 0x1000U * which);
    out.close(slots[which]);
  }
  EXPECT_EQ(out.size(), 0U);
}

TEST(OutstandingTranslations, TCP_19_AReplyBehindItsInvalidationBringsNothing) {
  for (const AtcDiscard policy : {AtcDiscard::kOverlapping, AtcDiscard::kAll}) {
    OutstandingTranslations out(1, policy);
    const TranslationAsk wish = ask(0x1000);
    const Slot slot = out.open(wish, 0);
    out.invalidate({0x1000, 12}, kNoPasid);
    EXPECT_EQ(out.cacheable(slot, answered(wish, 0, {mapped(0x20'0000, 21)})).size(), 0U);
  }
}

}  // namespace
}  // namespace flitwise::outstanding_translations_test
