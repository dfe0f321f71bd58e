// SPDX-License-Identifier: Apache-2.0
// Packing of 68-byte flits: rollover, byte enables, choice, fairness.
#include "cxl/slot_packer.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "unit/cxl/packing_support.h"

namespace flitwise::slot_packer68_test {
namespace {

using C = CxlChannel;
using test::text_of;
using test::waiting;

class CxlSlotPacker68Test : public testing::Test {
 protected:
  CxlFlitLayout& pack(const CxlWaiting& waiting) {
    packer_->pack(waiting, flit_);
    return flit_;
  }
  std::string packed(const CxlWaiting& waiting) { return text_of(pack(waiting)); }
  void use(CxlDirection direction, std::uint32_t identity_bits = 0,
           const CxlPackingRules& rules = CxlPackingRules(CxlFlitForm::k68)) {
    packer_.emplace(CxlWidths(CxlFlitForm::k68, identity_bits), direction, rules);
  }
  void SetUp() override { use(CxlDirection::kUpstream); }

  std::optional<CxlSlotPacker> packer_;
  CxlFlitLayout flit_;
};

TEST_F(CxlSlotPacker68Test, CXL_2_1_AFlitHasFourSlots) {
  EXPECT_EQ(packed({}), "- - - -");
  EXPECT_EQ(packed(waiting({{C::kS2mNdr, 1}})), "H0 - - -");
  EXPECT_EQ(packer_->owed(), 0U);
}

TEST_F(CxlSlotPacker68Test, CXL_2_5_DataFollowsItsHeader) {
  EXPECT_EQ(packed(waiting({{C::kS2mDrs, 1}})), "H3 d d d");
  EXPECT_EQ(packer_->owed(), 1U);
  EXPECT_EQ(packed({}), "- D - -");
  EXPECT_EQ(packer_->owed(), 0U);
}

TEST_F(CxlSlotPacker68Test, CXL_2_5_UpToThreeOwedChunksAreTheFirstSlotsOfTheNextFlit) {
  use(CxlDirection::kDownstream);
  const CxlWaiting write = waiting({{C::kM2sRwd, 1}});
  EXPECT_EQ(packed(write), "H4 d d d");
  EXPECT_EQ(packed(write), "H4 D d d");
  EXPECT_EQ(packer_->owed(), 2U);
  EXPECT_EQ(packed(write), "H4 d D d");
  EXPECT_EQ(packer_->owed(), 3U);
  EXPECT_FALSE(packer_->next_is_all_data());
  EXPECT_EQ(packed({}), "- d d D");
  EXPECT_EQ(packed(write), "H4 d d d");
}

TEST_F(CxlSlotPacker68Test, CXL_2_5_MoreThanThreeOwedChunksMakeAFlitOfData) {
  EXPECT_EQ(packed(waiting({{C::kS2mDrs, 2}})), "H5 d d d");
  EXPECT_EQ(packer_->owed(), 5U);
  EXPECT_TRUE(packer_->next_is_all_data());
  EXPECT_EQ(packed(waiting({{C::kS2mDrs, 2}, {C::kS2mNdr, 2}})), "D d d d");
  EXPECT_TRUE(flit_.is_all_data);
  EXPECT_EQ(packed(waiting({{C::kS2mDrs, 2}})), "H5 D d d");
  EXPECT_FALSE(flit_.is_all_data);
}

TEST_F(CxlSlotPacker68Test, CXL_2_6_ByteEnablesStandBehindTheirLine) {
  use(CxlDirection::kDownstream);
  CxlWaiting write = waiting({{C::kM2sRwd, 1}});
  write.partial_lines = 1;
  EXPECT_EQ(packed(write), "H4 d d d");
  EXPECT_TRUE(flit_.has_byte_enables);
  EXPECT_EQ(packer_->owed(), 2U);
  write.partial_lines = 0;
  EXPECT_EQ(packed(write), "H4 d b d");
  EXPECT_FALSE(flit_.has_byte_enables);
}

TEST_F(CxlSlotPacker68Test, CXL_2_6_AllLinesOfAFlitHaveByteEnablesOrNone) {
  CxlWaiting lines = waiting({{C::kD2hData, 4}});
  lines.partial_lines = 0b0011;
  EXPECT_EQ(packed(lines), "H2 d d d");
  EXPECT_EQ(test::count_in(flit_, C::kD2hData), 2U);
  EXPECT_EQ(packer_->owed(), 7U);
  EXPECT_EQ(packed({}), "d b d d");
  lines = waiting({{C::kD2hData, 2}});
  EXPECT_EQ(packed(lines), "H2 d d b");
  EXPECT_EQ(test::count_in(flit_, C::kD2hData), 2U);
  EXPECT_FALSE(flit_.has_byte_enables);
}

TEST_F(CxlSlotPacker68Test, CXL_2_7_TheFormatThatMovesMostBitsIsTaken) {
  EXPECT_EQ(packed(waiting({{C::kD2hReq, 1}, {C::kD2hRsp, 2}, {C::kS2mNdr, 2}})), "H1 G4 G1 -");
  packer_->reset();
  EXPECT_EQ(packed(waiting({{C::kD2hRsp, 2}, {C::kS2mNdr, 1}})), "H0 - - -");
  EXPECT_EQ(flit_.slot[0].messages.count, 2U);  // no data header waits
  EXPECT_EQ(flit_.slot[0].messages.group[0].channel, C::kD2hRsp);
  EXPECT_EQ(flit_.slot[0].messages.group[1].channel, C::kS2mNdr);
}

// A request and a write have as many bits: the one that was passed over goes.
TEST_F(CxlSlotPacker68Test, CXL_2_7_OfEqualsTheOlderIsTaken) {
  CxlPackingRules rules(CxlFlitForm::k68);
  rules.patience = 100;
  rules.formats[static_cast<std::size_t>(CxlPlace::kG)] = 0;
  use(CxlDirection::kDownstream, 0, rules);
  const CxlWaiting both = waiting({{C::kM2sReq, 9}, {C::kM2sRwd, 9}});
  EXPECT_EQ(packed(both), "H4 d d d");
  EXPECT_EQ(packed(both), "H5 D - -");
  EXPECT_EQ(packed(both), "H4 d d d");
}

TEST_F(CxlSlotPacker68Test, CXL_2_9_NoFlitHasMoreThanSoManyMessagesOfAChannel) {
  constexpr std::pair<C, int> kBounds[] = {
      {C::kD2hReq, 4},  {C::kD2hRsp, 2}, {C::kD2hData, 4}, {C::kH2dReq, 2}, {C::kH2dRsp, 4},
      {C::kH2dData, 4}, {C::kM2sReq, 2}, {C::kM2sRwd, 1},  {C::kS2mNdr, 2}, {C::kS2mDrs, 3}};
  for (const auto& [channel, most] : kBounds) {
    EXPECT_EQ(CxlPackingRules(CxlFlitForm::k68).per_flit[index_of(channel)], most);
  }
  for (const CxlDirection direction : {CxlDirection::kDownstream, CxlDirection::kUpstream}) {
    use(direction);
    CxlWaiting all;
    all.count.fill(test::kSaturated);
    const CxlPackingRules rules(CxlFlitForm::k68);
    for (int i = 0; i < 1000; ++i) {
      pack(all);
      for (std::size_t c = 0; c < kCxlChannels; ++c) {
        EXPECT_LE(test::count_in(flit_, static_cast<C>(c)), rules.per_flit[c]);
      }
    }
  }
}

// Whatever waits in front of a flit goes within a flit with messages for each channel.
TEST_F(CxlSlotPacker68Test, CXL_2_8_NoChannelStarves) {
  for (const std::uint32_t identity : {0U, 36U, 49U, 50U}) {
    for (const CxlDirection direction : {CxlDirection::kDownstream, CxlDirection::kUpstream}) {
      for (std::uint64_t partial : {0x0ULL, ~0x0ULL, 0x77ULL}) {
        use(direction, identity);
        CxlWaiting all;
        all.count.fill(test::kSaturated);
        all.partial_lines = partial;
        std::array<int, kCxlChannels> idle{};
        for (int i = 0; i < 5000; ++i) {
          pack(all);
          if (flit_.is_all_data) {
            continue;
          }
          for (std::size_t c = 0; c < kCxlChannels; ++c) {
            const auto channel = static_cast<C>(c);
            if (info_of(channel).direction == direction && info_of(channel).bits_68 > 0) {
              idle[c] = test::count_in(flit_, channel) > 0 ? 0 : idle[c] + 1;
              ASSERT_LE(idle[c], 8) << info_of(channel).name << ", identity " << identity;
            }
          }
        }
      }
    }
  }
}

// A Req with a full domain field fits generic slots only, which lines with byte enables would fill
// for ever: three of them leave three chunks owed behind three.
TEST_F(CxlSlotPacker68Test, CXL_2_8_DataMakesWayForAChannelThatOnlyGenericSlotsHold) {
  CxlPackingRules rules(CxlFlitForm::k68);
  rules.per_flit[index_of(C::kD2hData)] = 3;
  use(CxlDirection::kUpstream, 36, rules);
  CxlWaiting both = waiting({{C::kD2hData, test::kSaturated}});
  both.partial_lines = ~std::uint64_t{0};
  for (int i = 0; i < 3; ++i) {
    pack(waiting({{C::kD2hData, 1}}));  // one chunk more is owed each time
  }
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(packer_->owed() % 4, 3U);
    pack(both);
  }
  both.of(C::kD2hReq) = 1;
  int flits = 0;
  while (test::count_in(pack(both), C::kD2hReq) == 0) {
    ASSERT_LE(++flits, 10);
  }
  EXPECT_GT(flits, 1);
}

TEST_F(CxlSlotPacker68Test, CXL_2_8_AStreamOfReadsLetsAResponseThrough) {
  const CxlWaiting reads = waiting({{C::kS2mDrs, 9}, {C::kS2mNdr, 1}});
  EXPECT_EQ(packed(reads), "H5 d d d");
  EXPECT_EQ(packed(reads), "D d d d");
  EXPECT_EQ(packed(reads), "H3 D d d");
  EXPECT_EQ(test::count_in(flit_, C::kS2mNdr), 1U);
}

}  // namespace
}  // namespace flitwise::slot_packer68_test
