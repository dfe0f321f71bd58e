// SPDX-License-Identifier: Apache-2.0
// The DHI capability inside configuration space.
#include "config_space/dhi_dvsec.h"

#include <gtest/gtest.h>

#include "config_space/functions.h"

namespace flitwise::dhi_capability_test {
namespace {

class DhiInConfigSpace : public testing::Test {
 protected:
  WriteEffect set_up(const DhiSetUp& wanted) {
    WriteEffect last;
    for (const CfgAccess& access : dhi_accesses(Bdf::of(1, 0, 0), start_, wanted)) {
      last = space_.write(access.offset, access.value, access.byte_enables);
    }
    return last;
  }
  DhiDvsec registers_{DhiCapability{}};
  ConfigSpace space_ = endpoint_space({});
  std::uint16_t start_ = space_.add(dhi_capability(registers_));
};

TEST_F(DhiInConfigSpace, D5_SoftwareFindsItByVendorAndId) {
  const auto vendor = static_cast<std::uint16_t>(space_.read(start_ + 4U));
  EXPECT_EQ(find_dvsec(space_, vendor, dvsec::kDvsecId), start_);
  EXPECT_EQ(space_.read(start_) & 0xffffU, cfg::kExtDvsec);
  EXPECT_EQ(space_.read(start_ + 4U) >> 20, dvsec::kLength);
}

TEST_F(DhiInConfigSpace, D6_RangeAndEnableArriveAtTheDevice) {
  EXPECT_FALSE(registers_.end().is_enabled);
  EXPECT_TRUE(set_up({{Dhi{256}, Dhi{511}}, true, false, 3}).dhi_control_changed);
  EXPECT_TRUE(registers_.end().is_enabled);
  EXPECT_EQ(registers_.end().epoch, 3);
  EXPECT_EQ(registers_.range(), (HandleRange{Dhi{256}, Dhi{511}}));
  EXPECT_FALSE(registers_.is_software_managed());
  EXPECT_FALSE(set_up({{Dhi{256}, Dhi{511}}, true, false, 3}).any());
}

TEST_F(DhiInConfigSpace, D12_SoftwareManagedModeIsABitOfControl) {
  set_up({{Dhi{0}, Dhi{15}}, true, true, 0});
  EXPECT_TRUE(registers_.is_software_managed());
}

TEST_F(DhiInConfigSpace, D4_ResetTakesTheSettingsBack) {
  set_up({{Dhi{0}, Dhi{15}}, true, false, 1});
  space_.reset(ResetKind::kFunctionLevel);
  EXPECT_FALSE(registers_.end().is_enabled);
}

}  // namespace
}  // namespace flitwise::dhi_capability_test
