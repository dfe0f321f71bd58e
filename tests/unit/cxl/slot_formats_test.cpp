// SPDX-License-Identifier: Apache-2.0
// Which messages the formats of slots hold.
#include "cxl/flit_layout.h"

#include <gtest/gtest.h>

#include <string>

namespace flitwise::slot_formats_test {
namespace {

constexpr auto kDown = CxlDirection::kDownstream;
constexpr auto kUp = CxlDirection::kUpstream;

// "0: H2D Req + H2D Rsp; 1: H2D Data + 2 H2D Rsp"
std::string formats_of(CxlFlitForm form, CxlDirection direction, CxlPlace place,
                       std::uint32_t identity_bits = 0) {
  const CxlSlotFormats formats(CxlWidths(form, identity_bits), direction);
  std::string text;
  for (const CxlFormat& format : formats.in(place)) {
    text += (text.empty() ? "" : "; ") + std::to_string(format.code) + ":";
    std::string between = " ";
    for (const CxlGroup& group : format.groups) {
      text += between + (group.count > 1 ? std::to_string(group.count) + " " : "");
      text += info_of(group.channel).name;
      between = " + ";
    }
  }
  return text;
}

TEST(CxlSlotFormats, CXL_1_3_AFullSlotHas128BitsAndAHeaderSlotOf68Bytes96) {
  EXPECT_EQ(slot_bits(CxlFlitForm::k68, CxlPlace::kG), 128U);
  EXPECT_EQ(slot_bits(CxlFlitForm::k68, CxlPlace::kH), 96U);
  EXPECT_EQ(slot_bits(CxlFlitForm::k68, CxlPlace::kHs), 0U);
}

TEST(CxlSlotFormats, CXL_4_2_SlotsOf256ByteFlitsSpendFourBitsOnTheFormat) {
  EXPECT_EQ(slot_bits(CxlFlitForm::k256, CxlPlace::kH), 108U);
  EXPECT_EQ(slot_bits(CxlFlitForm::k256, CxlPlace::kG), 124U);
  EXPECT_EQ(slot_bits(CxlFlitForm::k256, CxlPlace::kHs), 0U);
  EXPECT_EQ(slot_bits(CxlFlitForm::k256LatencyOptimised, CxlPlace::kHs), 92U);
}

TEST(CxlSlotFormats, CXL_2_3_Downstream68) {
  EXPECT_EQ(formats_of(CxlFlitForm::k68, kDown, CxlPlace::kH),
            "0: H2D Req + H2D Rsp; 1: H2D Data + 2 H2D Rsp; 2: H2D Req + H2D Data; 3: 4 H2D Data; "
            "4: M2S RwD; 5: M2S Req");
  EXPECT_EQ(formats_of(CxlFlitForm::k68, kDown, CxlPlace::kG),
            "1: 4 H2D Rsp; 2: H2D Req + H2D Data + H2D Rsp; 3: 4 H2D Data + H2D Rsp; "
            "4: M2S Req + H2D Data; 5: M2S RwD + H2D Rsp");
  EXPECT_EQ(formats_of(CxlFlitForm::k68, kDown, CxlPlace::kHs), "");
}

TEST(CxlSlotFormats, CXL_2_4_Upstream68) {
  EXPECT_EQ(formats_of(CxlFlitForm::k68, kUp, CxlPlace::kH),
            "0: D2H Data + 2 D2H Rsp + S2M NDR; 1: D2H Req + D2H Data; 2: 4 D2H Data + D2H Rsp; "
            "3: S2M DRS + S2M NDR; 4: 2 S2M NDR; 5: 2 S2M DRS");
  EXPECT_EQ(formats_of(CxlFlitForm::k68, kUp, CxlPlace::kG),
            "1: D2H Req + 2 D2H Rsp; 2: D2H Req + D2H Data + D2H Rsp; 3: 4 D2H Data; "
            "4: S2M DRS + 2 S2M NDR; 5: 2 S2M NDR; 6: 3 S2M DRS");
}

TEST(CxlSlotFormats, CXL_4_2_Downstream256) {
  EXPECT_EQ(formats_of(CxlFlitForm::k256, kDown, CxlPlace::kH),
            "0: H2D Req; 1: 2 H2D Rsp; 4: M2S Req; 5: 2 M2S BIRsp; 12: 3 H2D Data; 14: M2S RwD");
  EXPECT_EQ(formats_of(CxlFlitForm::k256, kDown, CxlPlace::kG),
            "0: H2D Req + H2D Rsp; 1: 3 H2D Rsp; 4: M2S Req; 5: 3 M2S BIRsp; 12: 4 H2D Data; "
            "14: M2S RwD");
}

TEST(CxlSlotFormats, CXL_4_2_Upstream256) {
  EXPECT_EQ(formats_of(CxlFlitForm::k256, kUp, CxlPlace::kH),
            "2: D2H Req + D2H Rsp; 3: 4 D2H Rsp; 6: S2M BISnp; 7: 2 S2M NDR; 13: 4 D2H Data; "
            "15: 2 S2M DRS");
  EXPECT_EQ(formats_of(CxlFlitForm::k256, kUp, CxlPlace::kG),
            "2: D2H Req + 2 D2H Rsp; 3: 4 D2H Rsp; 6: S2M BISnp + S2M NDR; 7: 3 S2M NDR; "
            "13: 4 D2H Data; 15: 3 S2M DRS");
  EXPECT_EQ(formats_of(CxlFlitForm::k256, kUp, CxlPlace::kHs), "");
}

// The short slot drops what does not fit in its 92 bits; M2S requests fit not at all.
TEST(CxlSlotFormats, CXL_4_4_TheShortHeaderSlotHoldsLess) {
  EXPECT_EQ(formats_of(CxlFlitForm::k256LatencyOptimised, kDown, CxlPlace::kHs),
            "0: H2D Req; 1: 2 H2D Rsp; 5: 2 M2S BIRsp; 12: 3 H2D Data");
  EXPECT_EQ(formats_of(CxlFlitForm::k256LatencyOptimised, kUp, CxlPlace::kHs),
            "2: D2H Req; 3: 3 D2H Rsp; 6: S2M BISnp; 7: 2 S2M NDR; 13: 3 D2H Data; 15: 2 S2M DRS");
}

TEST(CxlSlotFormats, CXL_1_5_AnIdentityIsFreeWhileItFitsReservedBits) {
  for (const auto& [form, free_bits] :
       {std::pair{CxlFlitForm::k68, 14U}, std::pair{CxlFlitForm::k256, 7U},
        std::pair{CxlFlitForm::k256LatencyOptimised, 7U}}) {
    const std::uint32_t plain = CxlWidths(form, 0).of(CxlChannel::kD2hReq);
    EXPECT_EQ(CxlWidths(form, free_bits).of(CxlChannel::kD2hReq), plain);
    EXPECT_EQ(CxlWidths(form, free_bits + 1).of(CxlChannel::kD2hReq), plain + 1);
    EXPECT_EQ(CxlWidths(form, 36).of(CxlChannel::kD2hReq), plain + 36 - free_bits);
    EXPECT_EQ(CxlWidths(form, 36).of(CxlChannel::kD2hRsp),
              CxlWidths(form, 0).of(CxlChannel::kD2hRsp));
    for (const CxlPlace place : {CxlPlace::kH, CxlPlace::kHs, CxlPlace::kG}) {
      EXPECT_EQ(formats_of(form, kUp, place, free_bits), formats_of(form, kUp, place));
    }
  }
}

// A Req of 101 bits: no header slot holds it any more, generic slots lose what stands behind it.
TEST(CxlSlotFormats, CXL_1_5_AFullDomainFieldCostsPlacesIn68ByteFlits) {
  EXPECT_EQ(formats_of(CxlFlitForm::k68, kUp, CxlPlace::kH, 36),
            "0: D2H Data + 2 D2H Rsp + S2M NDR; 2: 4 D2H Data + D2H Rsp; 3: S2M DRS + S2M NDR; "
            "4: 2 S2M NDR; 5: 2 S2M DRS");
  EXPECT_EQ(formats_of(CxlFlitForm::k68, kUp, CxlPlace::kG, 36),
            "1: D2H Req + D2H Rsp; 2: D2H Req + D2H Data; 3: 4 D2H Data; 4: S2M DRS + 2 S2M NDR; "
            "5: 2 S2M NDR; 6: 3 S2M DRS");
}

// 105 bits.
TEST(CxlSlotFormats, CXL_1_5_AFullDomainFieldCostsPlacesIn256ByteFlits) {
  EXPECT_EQ(formats_of(CxlFlitForm::k256LatencyOptimised, kUp, CxlPlace::kH, 36).substr(0, 17),
            "2: D2H Req; 3: 4 ");
  EXPECT_EQ(formats_of(CxlFlitForm::k256LatencyOptimised, kUp, CxlPlace::kHs, 36).substr(0, 2),
            "3:");
  EXPECT_EQ(formats_of(CxlFlitForm::k256LatencyOptimised, kUp, CxlPlace::kG, 36).substr(0, 17),
            "2: D2H Req; 3: 4 ");
}

TEST(CxlSlotFormats, CXL_1_5_AnIdentityMayBeTooWideForAnySlot) {
  EXPECT_TRUE(
      CxlSlotFormats(CxlWidths(CxlFlitForm::k68, 63), kUp).has_place_for(CxlChannel::kD2hReq));
  EXPECT_FALSE(
      CxlSlotFormats(CxlWidths(CxlFlitForm::k68, 64), kUp).has_place_for(CxlChannel::kD2hReq));
  EXPECT_TRUE(
      CxlSlotFormats(CxlWidths(CxlFlitForm::k256, 55), kUp).has_place_for(CxlChannel::kD2hReq));
  EXPECT_FALSE(
      CxlSlotFormats(CxlWidths(CxlFlitForm::k256, 56), kUp).has_place_for(CxlChannel::kD2hReq));
}

// What packers and codecs count on.
TEST(CxlSlotFormats, CXL_2_3_NoFormatIsTooLongOrNamesAChannelTwice) {
  for (const CxlFlitForm form :
       {CxlFlitForm::k68, CxlFlitForm::k256, CxlFlitForm::k256LatencyOptimised}) {
    for (const CxlDirection direction : {kDown, kUp}) {
      for (std::uint32_t identity = 0; identity <= 70; ++identity) {
        const CxlSlotFormats formats(CxlWidths(form, identity), direction);
        for (const CxlPlace place : {CxlPlace::kH, CxlPlace::kHs, CxlPlace::kG}) {
          for (const CxlFormat& format : formats.in(place)) {
            std::uint32_t bits = 0, channels = 0, with_data = 0;
            for (const CxlGroup& group : format.groups) {
              bits += group.count * formats.widths().of(group.channel);
              EXPECT_EQ(channels & 1U << index_of(group.channel), 0U);
              channels |= 1U << index_of(group.channel);
              with_data += info_of(group.channel).has_data ? 1 : 0;
              EXPECT_EQ(info_of(group.channel).direction, direction);
            }
            EXPECT_LE(bits, slot_bits(form, place));
            EXPECT_LE(with_data, 1U);
            EXPECT_EQ(formats.find(place, format.code), &format);
          }
          EXPECT_EQ(formats.find(place, 8), nullptr);
        }
      }
    }
  }
}

TEST(CxlSlotFormats, CXL_4_4_SlotEightIsShortInTheLatencyOptimisedForm) {
  EXPECT_EQ(place_of(CxlFlitForm::k256, 8), CxlPlace::kG);
  EXPECT_EQ(place_of(CxlFlitForm::k256LatencyOptimised, 8), CxlPlace::kHs);
  EXPECT_EQ(place_of(CxlFlitForm::k256LatencyOptimised, 9), CxlPlace::kG);
  EXPECT_EQ(place_of(CxlFlitForm::k256LatencyOptimised, 0), CxlPlace::kH);
}

}  // namespace
}  // namespace flitwise::slot_formats_test
