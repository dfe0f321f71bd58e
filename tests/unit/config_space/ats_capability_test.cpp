// SPDX-License-Identifier: Apache-2.0
// The ATS, Page Request and PASID capabilities in configuration space. Catalogue ids in the names.
#include "config_space/ats_capability.h"

#include <gtest/gtest.h>

#include "config_space/functions.h"
#include "config_space/registers.h"

namespace flitwise::ats_capability_test {
namespace {

constexpr Bdf kFunction = Bdf::of(1, 0, 0);

class AtsRegisters : public testing::Test {
 protected:
  AtsRegisters() {
    AtsOptions of_vf;
    of_vf.is_virtual = true;
    ats = pf.add(ats_capability({8, true, true, false}));
    pri = pf.add(pri_capability(interface));
    pasid = pf.add(pasid_capability({20, true, false}));
    vf_ats = vf.add(ats_capability(of_vf));
  }
  std::uint32_t read(std::uint16_t start, unsigned offset) const {
    return pf.read(static_cast<std::uint16_t>(start + offset));
  }
  WriteEffect write(std::uint16_t start, unsigned offset, std::uint32_t value,
                    std::uint8_t enables = 0xf) {
    return pf.write(static_cast<std::uint16_t>(start + offset), value, enables);
  }
  WriteEffect apply(const std::vector<CfgAccess>& accesses, ConfigSpace& space) {
    WriteEffect last;
    for (const CfgAccess& access : accesses) {
      last = space.write(access.offset, access.value, access.byte_enables);
    }
    return last;
  }

  PageRequestInterface interface {
    { 64, true, true }
  };
  ConfigSpace pf = endpoint_space({}), vf = virtual_function_space({});
  std::uint16_t ats = 0, pri = 0, pasid = 0, vf_ats = 0;
};

TEST_F(AtsRegisters, CFG_07_AtsStandsInTheChain) {
  EXPECT_EQ(read(ats, 0) & 0xfffffU, 0x1000fU);
  EXPECT_EQ(read(ats, 0) >> 20, pri);
  EXPECT_EQ(read(pri, 0) & 0xfffffU, 0x10013U);
  EXPECT_EQ(read(pasid, 0) & 0xfffffU, 0x1001bU);
  EXPECT_EQ(pf.find_extended(cfg::kExtAts), ats);
}

TEST_F(AtsRegisters, CFG_07_OnlyStuAndEnableCanBeWritten) {
  EXPECT_EQ(read(ats, 4), 0x68U);
  EXPECT_TRUE(write(ats, 4, 0xffff'ffff).ats_control_changed);
  EXPECT_EQ(read(ats, 4), 0x801f'0068U);
  EXPECT_FALSE(write(ats, 4, 0xffff'ffff).any());
  write(ats, 0, 0xffff'ffff);
  EXPECT_EQ(read(ats, 0) & 0xffffU, 0xfU);
}

TEST_F(AtsRegisters, CFG_07_EachFunctionHasItsOwnEnable) {
  apply(ats_accesses(kFunction, ats, 2, true), pf);
  EXPECT_TRUE(ats_control(pf).is_enabled);
  EXPECT_EQ(ats_control(pf).stu, 2);
  EXPECT_EQ(ats_control(pf).queue_depth, 8U);
  EXPECT_TRUE(ats_control(pf).is_page_aligned);
  EXPECT_FALSE(ats_control(vf, &pf).is_enabled);
}

TEST_F(AtsRegisters, INV_32_ADepthOf32ReadsZero) {
  ConfigSpace space = endpoint_space({});
  const std::uint16_t start = space.add(ats_capability({32, false, false, false}));
  EXPECT_EQ(space.read(static_cast<std::uint16_t>(start + 4)), 0U);
  EXPECT_EQ(ats_control(space).queue_depth, 32U);
}

TEST_F(AtsRegisters, CFG_06_AnStuWrittenWhileEnabledIsSeen) {
  EXPECT_FALSE(apply(ats_accesses(kFunction, ats, 3, true), pf).stu_changed_live);
  EXPECT_TRUE(apply(ats_accesses(kFunction, ats, 4, true), pf).stu_changed_live);
  EXPECT_EQ(ats_control(pf).stu, 4);
  EXPECT_FALSE(apply(ats_accesses(kFunction, ats, 4, false), pf).stu_changed_live);
  EXPECT_FALSE(apply(ats_accesses(kFunction, ats, 5, false), pf).stu_changed_live);
}

// [CFG-04] is the conventional reset.
TEST_F(AtsRegisters, CFG_03_EveryResetDisables) {
  for (const ResetKind kind : {ResetKind::kFunctionLevel, ResetKind::kConventional}) {
    apply(ats_accesses(kFunction, ats, 3, true), pf);
    apply(pri_accesses(kFunction, pri, 10, true), pf);
    apply(pasid_accesses(kFunction, pasid, {true, true, false, 0}), pf);
    pf.reset(kind);
    EXPECT_EQ(read(ats, 4), 0x68U);
    EXPECT_EQ(read(pri, 4), cfg::pri::kStopped | cfg::pri::kResponsePasidRequired);
    EXPECT_EQ(read(pri, 0xc), 0U);
    EXPECT_EQ(read(pasid, 4), 0x1402U);
  }
}

TEST_F(AtsRegisters, CFG_12_AVirtualFunctionTakesTheStuOfItsPhysicalOne) {
  const auto control = static_cast<std::uint16_t>(vf_ats + 4);
  EXPECT_EQ(vf.read(control) & 0x1fU, 0U);
  vf.write(control, 0xffff'ffff);
  EXPECT_EQ(vf.read(control) & 0xffff'0000U, 0x8000'0000U);
  apply(ats_accesses(kFunction, ats, 3, true), pf);
  EXPECT_EQ(ats_control(vf, &pf).stu, 3);
  EXPECT_EQ(ats_control(vf, &pf).queue_depth, 8U);
  EXPECT_TRUE(ats_control(vf, &pf).is_enabled);
}

TEST_F(AtsRegisters, CFG_12_WithoutTheCapabilityAllIsOff) {
  const ConfigSpace plain = endpoint_space({});
  EXPECT_FALSE(ats_control(plain).is_enabled);
  EXPECT_EQ(pasid_control(plain).width, 0U);
}

TEST_F(AtsRegisters, CFG_09_PriIsStoppedAfterReset) {
  EXPECT_EQ(read(pri, 4), cfg::pri::kStopped | cfg::pri::kResponsePasidRequired);
  EXPECT_EQ(read(pri, 8), 64U);
  EXPECT_EQ(read(pri, 0xc), 0U);
}

TEST_F(AtsRegisters, CFG_09_PriEnablesThroughItsRegisters) {
  const WriteEffect effect = apply(pri_accesses(kFunction, pri, 10, true), pf);
  EXPECT_TRUE(effect.pri_control_changed);
  EXPECT_FALSE(effect.pri_misused);
  EXPECT_TRUE(interface.is_enabled());
  EXPECT_EQ(interface.allocation(), 10U);
  EXPECT_EQ(read(pri, 4) & (cfg::pri::kEnable | cfg::pri::kStopped), cfg::pri::kEnable);
  apply(pri_accesses(kFunction, pri, 0, false), pf);
  EXPECT_TRUE(interface.is_stopped());
  EXPECT_EQ(interface.allocation(), 10U);
}

TEST_F(AtsRegisters, PRI_22_ResetBitReadsZero) {
  write(pri, 4, cfg::pri::kReset, 0x1);
  EXPECT_EQ(read(pri, 4) & cfg::pri::kReset, 0U);
}

TEST_F(AtsRegisters, PRI_25_AllocationWhileEnabledIsSeen) {
  apply(pri_accesses(kFunction, pri, 10, true), pf);
  EXPECT_TRUE(write(pri, 0xc, 20).pri_misused);
  EXPECT_EQ(read(pri, 0xc), 10U);
}

TEST_F(AtsRegisters, PRI_26_AllocationAboveTheCapacityIsSeen) {
  EXPECT_TRUE(write(pri, 0xc, 65).pri_misused);
  EXPECT_EQ(read(pri, 0xc), 64U);
  EXPECT_FALSE(write(pri, 0xc, 0x0020, 0x1).pri_misused);
  EXPECT_EQ(read(pri, 0xc), 0x20U);
}

TEST_F(AtsRegisters, PRI_29_StatusBitsAreClearedByOnes) {
  apply(pri_accesses(kFunction, pri, 10, true), pf);
  interface.respond({{}, kFunction, 3, 0, {}});
  EXPECT_NE(read(pri, 4) & cfg::pri::kUnexpectedIndex, 0U);
  write(pri, 4, 0, 0xc);
  EXPECT_NE(read(pri, 4) & cfg::pri::kUnexpectedIndex, 0U);
  write(pri, 4, cfg::pri::kUnexpectedIndex, 0xc);
  EXPECT_EQ(read(pri, 4) & cfg::pri::kUnexpectedIndex, 0U);
  EXPECT_TRUE(interface.is_enabled());  // The control half was not written.
}

TEST_F(AtsRegisters, PRI_11_ResponseFailureShowsAndClears) {
  apply(pri_accesses(kFunction, pri, 10, true), pf);
  interface.respond({{}, kFunction, 3, 0xf, {}});
  EXPECT_NE(read(pri, 4) & cfg::pri::kResponseFailure, 0U);
  write(pri, 4, cfg::pri::kResponseFailure, 0xc);
  EXPECT_EQ(read(pri, 4) & cfg::pri::kResponseFailure, 0U);
}

TEST_F(AtsRegisters, CFG_11_PasidIsOffUntilEnabled) {
  EXPECT_EQ(pasid_control(pf).width, 20U);
  EXPECT_FALSE(pasid_control(pf).is_enabled);
  EXPECT_TRUE(
      apply(pasid_accesses(kFunction, pasid, {true, true, true, 0}), pf).pasid_control_changed);
  EXPECT_TRUE(pasid_control(pf).is_enabled && pasid_control(pf).has_execute);
  EXPECT_FALSE(pasid_control(pf).has_privileged);  // not supported here
}

}  // namespace
}  // namespace flitwise::ats_capability_test
