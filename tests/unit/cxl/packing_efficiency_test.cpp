// SPDX-License-Identifier: Apache-2.0
// How much of the wire is data with saturated queues, beside the published rows 52 to 60.
#include <gtest/gtest.h>

#include "unit/cxl/packing_support.h"

namespace flitwise::packing_efficiency_test {
namespace {

using C = CxlChannel;
constexpr double kTolerance = 0.05;  // percent

const CxlWaiting kReads = test::waiting({{C::kS2mDrs, test::kSaturated}});
const CxlWaiting kWrites = test::waiting({{C::kM2sRwd, test::kSaturated}});

double in_68(CxlDirection direction, const CxlWaiting& waiting,
             const CxlPackingRules& rules = CxlPackingRules(CxlFlitForm::k68)) {
  CxlSlotPacker packer(CxlWidths(CxlFlitForm::k68, 0), direction, rules);
  return test::efficiency(packer, waiting, kCxlBytes68);
}
double in_256(CxlFlitForm form, CxlDirection direction, const CxlWaiting& waiting) {
  CxlSlotPacker packer(CxlWidths(form, 0), direction);
  return test::efficiency(packer, waiting, kCxlBytes256);
}

// Row 52: no flit has more than its four slots of data.
TEST(CxlEfficiency, CXL_2_12_AnAllDataFlitIsTheLimit) {
  CxlSlotPacker packer(CxlWidths(CxlFlitForm::k68, 0), CxlDirection::kUpstream);
  CxlFlitLayout flit;
  packer.pack(kReads, flit);
  packer.pack(kReads, flit);
  ASSERT_TRUE(flit.is_all_data);
  const double data = test::count_in(flit, CxlSlot::Kind::kData) * kCxlChunkBytes;
  EXPECT_NEAR(100 * data / kCxlBytes68, 94.12, kTolerance);
}

// Row 53: 128 / (2.25 * 68).
TEST(CxlEfficiency, CXL_2_12_ReadsIn68ByteFlits) {
  EXPECT_NEAR(in_68(CxlDirection::kUpstream, kReads), 83.66, kTolerance);
}

// Row 54: 64 / (1.25 * 68).
TEST(CxlEfficiency, CXL_2_12_ReadsOneAFlit) {
  CxlPackingRules rules(CxlFlitForm::k68);
  rules.per_flit[index_of(C::kS2mDrs)] = 1;
  EXPECT_NEAR(in_68(CxlDirection::kUpstream, kReads, rules), 75.29, kTolerance);
}

// Row 55: 192 / (3.5 * 68), a sender that announces reads in generic slots only.
TEST(CxlEfficiency, CXL_2_12_ReadsThreeToAGenericSlot) {
  CxlPackingRules rules(CxlFlitForm::k68);
  rules.formats[static_cast<std::size_t>(CxlPlace::kH)] = 0b111;
  EXPECT_NEAR(in_68(CxlDirection::kUpstream, kReads, rules), 80.67, kTolerance);
}

// Row 56: 64 / (1.25 * 68).
TEST(CxlEfficiency, CXL_2_12_WritesIn68ByteFlits) {
  EXPECT_NEAR(in_68(CxlDirection::kDownstream, kWrites), 75.29, kTolerance);
}

// Row 57: three lines a flit.
TEST(CxlEfficiency, CXL_4_7_WritesIn256ByteFlits) {
  EXPECT_NEAR(in_256(CxlFlitForm::k256, CxlDirection::kDownstream, kWrites), 75.00, kTolerance);
}

// Row 58: 44/13 lines a flit.
TEST(CxlEfficiency, CXL_4_7_ReadsIn256ByteFlits) {
  EXPECT_NEAR(in_256(CxlFlitForm::k256, CxlDirection::kUpstream, kReads), 84.62, kTolerance);
}

// Row 59: 2.8 lines a flit.
TEST(CxlEfficiency, CXL_4_7_WritesInLatencyOptimisedFlits) {
  EXPECT_NEAR(in_256(CxlFlitForm::k256LatencyOptimised, CxlDirection::kDownstream, kWrites), 70.00,
              kTolerance);
}

// Row 60: 13/4 lines a flit.
TEST(CxlEfficiency, CXL_4_7_ReadsInLatencyOptimisedFlits) {
  EXPECT_NEAR(in_256(CxlFlitForm::k256LatencyOptimised, CxlDirection::kUpstream, kReads), 81.25,
              kTolerance);
}

}  // namespace
}  // namespace flitwise::packing_efficiency_test
