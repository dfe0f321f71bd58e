// SPDX-License-Identifier: Apache-2.0
// Numbers of faults and of what the machine offers.
#include "iommu/fault.h"

#include <gtest/gtest.h>

#include "iommu/capabilities.h"

namespace flitwise::fault_test {
namespace {

using F = FaultReason;

// [IOM-3.1]
TEST(FaultCodes, LegacyCodesReplaceThoseOfScalableMode) {
  EXPECT_EQ(legacy_code(F::kRootNotPresent, false), 0x01);
  EXPECT_EQ(legacy_code(F::kContextNotPresent, false), 0x02);
  EXPECT_EQ(legacy_code(F::kContextReserved, false), 0x0b);
  EXPECT_EQ(legacy_code(F::kSecondStagePermission, true), 0x05);
  EXPECT_EQ(legacy_code(F::kSecondStagePermission, false), 0x06);
  EXPECT_EQ(legacy_code(F::kSecondStageReserved, false), 0x0c);
  EXPECT_EQ(legacy_code(F::kAddressTooHigh, false), 0x04);
  EXPECT_EQ(legacy_code(F::kSecondStagePointerInvalid, false), 0x03);
  EXPECT_EQ(legacy_code(F::kPasidDirectoryNotPresent, false), 0x51);
  EXPECT_EQ(legacy_code(F::kFirstStageNotPresent, true), 0x71);
  EXPECT_EQ(legacy_code(F::kNoWrite, true), 0x85);
}

// [IOM-1.2, IOM-1.3]: values seen on a running machine, and what it lacks of ours: ZLR; SC, ERS,
// SRS, SSADS, SSTS.
TEST(IommuCapabilities, RegistersOfAKnownMachine) {
  IommuCapabilities c;
  c.first_stage_5_level = c.nested = c.rid_pasid = false;
  constexpr std::uint64_t kOurs = 0x80 | 3ULL << 30 | 3ULL << 45;
  EXPECT_EQ(cap_register(c), 0x81d2'008c'222f'0606U | 1U << 22);
  EXPECT_EQ(ecap_register(c), 0x1'8d9a'2000'0f47U | kOurs);
  c.pasid_bits = 0;
  EXPECT_EQ(ecap_register(c), 0x1'8c02'2000'0f47U | kOurs);
}

}  // namespace
}  // namespace flitwise::fault_test
