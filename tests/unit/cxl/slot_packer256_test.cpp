// SPDX-License-Identifier: Apache-2.0
// Packing of 256-byte flits: implicit data, the short header slot, fairness.
#include "cxl/slot_packer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "unit/cxl/packing_support.h"

namespace flitwise::slot_packer256_test {
namespace {

using C = CxlChannel;
using test::text_of;
using test::waiting;

class CxlSlotPacker256Test : public testing::Test {
 protected:
  CxlFlitLayout& pack(const CxlWaiting& waiting) {
    packer_->pack(waiting, flit_);
    return flit_;
  }
  std::string packed(const CxlWaiting& waiting) { return text_of(pack(waiting)); }
  void use(CxlFlitForm form, CxlDirection direction, std::uint32_t identity_bits = 0) {
    packer_.emplace(CxlWidths(form, identity_bits), direction);
  }

  std::optional<CxlSlotPacker> packer_;
  CxlFlitLayout flit_;
};

TEST_F(CxlSlotPacker256Test, CXL_4_1_AFlitHasFifteenSlots) {
  use(CxlFlitForm::k256, CxlDirection::kUpstream);
  EXPECT_EQ(packed({}), "- - - - - - - - - - - - - - -");
  EXPECT_EQ(packed(waiting({{C::kS2mNdr, 6}})), "H7 G7 G6 - - - - - - - - - - - -");
  EXPECT_EQ(test::count_in(flit_, C::kS2mNdr), 6U);
}

TEST_F(CxlSlotPacker256Test, CXL_4_3_DataFillsGenericSlotsAndGoesOnInTheNextFlit) {
  use(CxlFlitForm::k256, CxlDirection::kDownstream);
  EXPECT_EQ(packed(waiting({{C::kM2sRwd, 9}})), "H14 d d d D G14 d d d D G14 d d d D");
  EXPECT_EQ(packed(waiting({{C::kM2sReq, 12}, {C::kM2sRwd, 1}})),
            "H14 d d d D G4 G4 G4 G4 G4 G4 G4 G4 G4 G4");
  CxlWaiting write = waiting({{C::kM2sRwd, 9}});
  write.partial_lines = 0b101;
  EXPECT_EQ(packed(write), "H14 d d d d b G14 d d d D G14 d d d");
  EXPECT_EQ(packer_->owed(), 2U);
  EXPECT_EQ(packed({}), "- d b - - - - - - - - - - - -");
}

TEST_F(CxlSlotPacker256Test, CXL_4_4_TheShortSlotNeverHoldsData) {
  use(CxlFlitForm::k256LatencyOptimised, CxlDirection::kDownstream);
  EXPECT_EQ(packed(waiting({{C::kM2sRwd, 9}})), "H14 d d d D G14 d d - d D G14 d d d");
  use(CxlFlitForm::k256LatencyOptimised, CxlDirection::kUpstream);
  EXPECT_EQ(packed(waiting({{C::kS2mDrs, 4}})), "H15 d d d D d d d G15 D d d d D d");
  EXPECT_EQ(packer_->owed(), 3U);
}

// Header slots could announce four lines a flit; generic slots carry less.
TEST_F(CxlSlotPacker256Test, CXL_4_6_WhatIsOwedIsBounded) {
  for (const CxlFlitForm form : {CxlFlitForm::k256, CxlFlitForm::k256LatencyOptimised}) {
    use(form, CxlDirection::kUpstream);
    CxlWaiting lines = waiting({{C::kD2hData, 999}, {C::kS2mDrs, 999}});
    lines.partial_lines = 0x5555;
    std::uint32_t most = 0;
    for (int i = 0; i < 1000; ++i) {
      pack(lines);
      most = std::max(most, packer_->owed());
    }
    EXPECT_LE(most, CxlPackingRules(form).most_owed_chunks);
    EXPECT_GT(most, 0U);
  }
}

TEST_F(CxlSlotPacker256Test, CXL_2_8_NoChannelStarves) {
  for (const CxlFlitForm form : {CxlFlitForm::k256, CxlFlitForm::k256LatencyOptimised}) {
    for (const std::uint32_t identity : {0U, 36U, 39U, 55U}) {
      for (const CxlDirection direction : {CxlDirection::kDownstream, CxlDirection::kUpstream}) {
        for (const std::uint64_t partial : {0x0ULL, ~0x0ULL}) {
          use(form, direction, identity);
          CxlWaiting all;
          all.count.fill(test::kSaturated);
          all.partial_lines = partial;
          std::array<int, kCxlChannels> idle{};
          for (int i = 0; i < 3000; ++i) {
            pack(all);
            for (std::size_t c = 0; c < kCxlChannels; ++c) {
              const auto channel = static_cast<C>(c);
              if (info_of(channel).direction == direction) {
                idle[c] = test::count_in(flit_, channel) > 0 ? 0 : idle[c] + 1;
                ASSERT_LE(idle[c], 8) << info_of(channel).name << ", identity " << identity;
              }
            }
          }
        }
      }
    }
  }
}

// A Req of 120 bits stands in generic slots only, and those have data while any is owed.
TEST_F(CxlSlotPacker256Test, CXL_2_8_DataMakesWayForAChannelThatOnlyGenericSlotsHold) {
  use(CxlFlitForm::k256, CxlDirection::kUpstream, 51);
  CxlWaiting both = waiting({{C::kD2hData, test::kSaturated}});
  for (int i = 0; i < 7; ++i) {
    pack(both);
    EXPECT_GE(packer_->owed(), 1U);
  }
  both.of(C::kD2hReq) = 1;
  int flits = 0;
  while (test::count_in(pack(both), C::kD2hReq) == 0) {
    ASSERT_LE(++flits, 3);
  }
}

}  // namespace
}  // namespace flitwise::slot_packer256_test
