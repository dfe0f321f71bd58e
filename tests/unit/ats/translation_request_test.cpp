// SPDX-License-Identifier: Apache-2.0
// Translation Requests at both ends. Catalogue ids in the names.
#include "ats/translation_request.h"

#include <gtest/gtest.h>

#include "flitwise/error.h"
#include "tlp/header_layout.h"
#include "tlp/tlp_check.h"

namespace flitwise::translation_request_test {
namespace {

constexpr Bdf kFunction = Bdf::of(1, 0, 0);

TranslationSettings enabled() {
  TranslationSettings settings;
  settings.is_enabled = true;
  return settings;
}

TranslationAsk ask(std::uint64_t address, unsigned translations = 1) {
  TranslationAsk wish;
  wish.address = address;
  wish.translations = translations;
  return wish;
}

TEST(TranslationRequest, ATR_01_IsAReadOfTwoDwPerTranslation) {
  const Tlp tlp = translation_request_tlp(ask(0x1'2345'6000), enabled(), kFunction);
  EXPECT_EQ(tlp.type, TlpType::kMRd);
  EXPECT_EQ(tlp.at, AddressType::kTranslationRequest);
  EXPECT_EQ(tlp.length_dw, 2);
  EXPECT_TRUE(tlp.is_4dw);
  EXPECT_EQ(tlp.address, 0x1'2345'6000U);
  EXPECT_FALSE(check_format(tlp));
  EXPECT_EQ(translations_of(tlp), 1U);
}

TEST(TranslationRequest, ATR_02_AddressesBelow4GTakeTheShortHeader) {
  const Tlp low = translation_request_tlp(ask(0xffff'f000), enabled(), kFunction);
  const Tlp high = translation_request_tlp(ask(0x1'0000'0000), enabled(), kFunction);
  EXPECT_EQ(header_bytes(high) - header_bytes(low), 4U);
}

TEST(TranslationRequest, ATR_31_SaysThatACacheAsks) {
  TranslationAsk wish = ask(0x1'2345'6000);
  wish.is_from_cache = true;
  EXPECT_EQ(translation_request_tlp(wish, enabled(), kFunction).address,
            0x1'2345'6000U | kCacheSource);
}

TEST(TranslationRequest, ATR_06_OddLengthIsMalformed) {
  Tlp tlp = translation_request_tlp(ask(0x1000), enabled(), kFunction);
  tlp.length_dw = 3;
  EXPECT_FALSE(is_legal_translation_request(tlp, 64));
  EXPECT_FALSE(is_legal_translation_request(tlp, 64));
}

TEST(TranslationRequest, ATR_07_LengthAboveRcbIsMalformed) {
  Tlp tlp = translation_request_tlp(ask(0x1000), enabled(), kFunction);
  for (const std::uint16_t length : {std::uint16_t{18}, std::uint16_t{1024}}) {
    tlp.length_dw = length;
    EXPECT_FALSE(is_legal_translation_request(tlp, 64)) << length;
  }
}

TEST(TranslationRequest, ATR_08_LengthOfRcbIsServed) {
  TranslationSettings settings = enabled();
  for (const unsigned rcb : {64U, 128U}) {
    settings.rcb_bytes = rcb;
    EXPECT_EQ(max_translations(settings), rcb / 8);
    const Tlp tlp = translation_request_tlp(ask(0x1000, rcb / 8), settings, kFunction);
    EXPECT_EQ(tlp.length_dw, rcb / 4);
    EXPECT_TRUE(is_legal_translation_request(tlp, rcb));
  }
}

TEST(TranslationRequest, ATR_09_MoreThanRcbOrMrrsIsNotSent) {
  TranslationSettings settings = enabled();
  EXPECT_FALSE(may_ask(ask(0x1000, 9), settings));
  EXPECT_TRUE(may_ask(ask(0x1000, 8), settings));
  EXPECT_FALSE(may_ask(ask(0x1000, 0), settings));
  settings.rcb_bytes = 128;
  settings.mrrs_bytes = 64;
  EXPECT_EQ(max_translations(settings), 8U);
  EXPECT_FALSE(may_ask(ask(0x1000, 9), settings));
  EXPECT_THROW(translation_request_tlp(ask(0x1000, 9), settings, kFunction), SimulationError);
}

TEST(TranslationRequest, ATR_10_PageAlignedFunctionsSendZeros) {
  TranslationSettings settings = enabled();
  EXPECT_FALSE(may_ask(ask(0x1004), settings));
  settings.is_page_aligned = false;
  EXPECT_TRUE(may_ask(ask(0x1004), settings));
}

TEST(TranslationRequest, ATR_11_LowAddressBitsDoNotMatter) {
  TranslationSettings settings = enabled();
  settings.is_page_aligned = false;
  const Tlp tlp = translation_request_tlp(ask(0x1ffc, 2), settings, kFunction);
  EXPECT_FALSE(check_format(tlp));
  EXPECT_TRUE(is_legal_translation_request(tlp, 64));
  const AddressSpan span = implied_span(tlp.address, 2, 0);
  EXPECT_EQ(span.first, 0x1000U);
  EXPECT_EQ(span.last, 0x2fffU);
}

TEST(TranslationRequest, ATR_12_AddressBitsBelowTheStuDoNotMatter) {
  const AddressSpan even = implied_span(0x4000, 2, 1), odd = implied_span(0x5000, 2, 1);
  EXPECT_EQ(even.first, odd.first);
  EXPECT_EQ(even.last, odd.last);
  EXPECT_EQ(even.last - even.first + 1, 0x4000U);
}

TEST(TranslationRequest, ATR_12_TheSpanStopsAtTheEndOfTheAddressSpace) {
  const AddressSpan span = implied_span(~std::uint64_t{0}, 8, 31);
  EXPECT_EQ(span.last, ~std::uint64_t{0});
  EXPECT_EQ(span.first, ~PageRange::mask_of(43));
}

TEST(TranslationRequest, ATR_15_NoWriteIsInTheHeader) {
  TranslationAsk wish = ask(0x1000);
  EXPECT_FALSE(is_no_write(translation_request_tlp(wish, enabled(), kFunction)));
  wish.no_write = true;
  EXPECT_TRUE(is_no_write(translation_request_tlp(wish, enabled(), kFunction)));
}

TEST(TranslationRequest, ATR_22_WithoutBusMasterEnableItIsNotSent) {
  TranslationSettings settings = enabled();
  settings.is_bus_master = false;
  EXPECT_FALSE(may_ask(ask(0x1000), settings));
}

TEST(TranslationRequest, ATR_23_WithoutEnableItIsNotSent) {
  EXPECT_FALSE(may_ask(ask(0x1000), {}));
  EXPECT_THROW(translation_request_tlp(ask(0x1000), {}, kFunction), SimulationError);
}

TEST(TranslationRequest, CFG_11_PasidNeedsItsEnables) {
  TranslationSettings settings = enabled();
  TranslationAsk wish = ask(0x1000);
  wish.pasid = Pasid{3};
  EXPECT_FALSE(may_ask(wish, settings));
  settings.has_pasid = true;
  EXPECT_TRUE(may_ask(wish, settings));
  wish.execute = true;
  EXPECT_FALSE(may_ask(wish, settings));
  settings.has_execute = true;
  wish.privileged = true;
  EXPECT_FALSE(may_ask(wish, settings));
  settings.has_privileged = true;
  const Tlp tlp = translation_request_tlp(wish, settings, kFunction);
  EXPECT_TRUE(tlp.has_pasid && tlp.execute_requested && tlp.privileged_mode_requested);
  EXPECT_EQ(tlp.pasid, Pasid{3});
}

}  // namespace
}  // namespace flitwise::translation_request_test
