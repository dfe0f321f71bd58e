// SPDX-License-Identifier: Apache-2.0
// Registers by name and by offset.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "iommu/registers.h"
#include "script_line_reading.h"

namespace flitwise::register_ops_test {
namespace {

using test::op_of;
using test::problems_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(RegisterOps, ANameStandsForTheOffset) {
  for (const AgentRegister& one : agent_registers()) {
    const auto op = op_of<IommuOp>(std::string(R"({"op":"iommu_read","reg":")") + one.name + "\"}");
    EXPECT_EQ(op.offset, one.offset) << one.name;
  }
  EXPECT_EQ(op_of<IommuOp>(R"({"op":"iommu_read","reg":"IOTLB"})").offset, iommu_register::kIotlb);
  EXPECT_EQ(op_of<IommuOp>(R"({"op":"iommu_read","offset":"0x88"})").offset, iommu_register::kIqt);
}

TEST(RegisterOps, BitsHaveNamesWhereTheRegisterHasThem) {
  const auto op = op_of<IommuOp>(R"({"op":"iommu_write","reg":"GCMD","value":["TE","QIE"]})");
  EXPECT_EQ(op.value, global_bit::kTranslation | global_bit::kQueue);
  EXPECT_EQ(op_of<IommuOp>(R"({"op":"iommu_write","reg":"GCMD","value":"0x10"})").value, 0x10U);
  EXPECT_THAT(problems_of(R"({"op":"iommu_write","reg":"GCMD","value":["TX"]})"),
              ElementsAre(HasSubstr("value: \"TX\" seen; expected TE, SRTP")));
  EXPECT_THAT(problems_of(R"({"op":"iommu_write","reg":"IQT","value":["TE"]})"),
              ElementsAre(HasSubstr("no bits of it have names")));
  EXPECT_THAT(problems_of(R"({"op":"iommu_write","offset":"0x18","value":["TE"]})"), SizeIs(1));
}

TEST(RegisterOps, EitherANameOrAnOffsetIsGiven) {
  EXPECT_THAT(problems_of(R"({"op":"iommu_read"})"),
              ElementsAre(HasSubstr("expected either reg, the name of a register, or offset")));
  EXPECT_THAT(problems_of(R"({"op":"iommu_read","reg":"FSTS","offset":"0x34"})"), SizeIs(1));
  EXPECT_THAT(problems_of(R"({"op":"iommu_read","reg":"RTADR"})"),
              ElementsAre(HasSubstr("nearest value 'RTADDR'")));
  EXPECT_THAT(problems_of(R"({"op":"cfg_read","bdf":"01:00.0","reg":"ATS_CTRL"})"),
              ElementsAre(HasSubstr("nearest value 'ATS_CONTROL'")));
}

TEST(RegisterOps, ANamedRegisterOfConfigurationSpaceHasItsWidth) {
  const auto op =
      op_of<CfgOp>(R"({"op":"cfg_write","bdf":"01:00.0","reg":"ATS_CONTROL","value":"0x8000"})");
  ASSERT_NE(op.named, nullptr);
  EXPECT_STREQ(op.named->name, "ATS_CONTROL");
  EXPECT_EQ(op.bytes, 2U);
  EXPECT_THAT(
      problems_of(R"({"op":"cfg_write","bdf":"01:00.0","reg":"ATS_CONTROL","value":"0x10000"})"),
      ElementsAre(HasSubstr("value")));
  EXPECT_THAT(problems_of(R"({"op":"cfg_read","bdf":"01:00.0","reg":"ATS_CONTROL","bytes":1})"),
              IsEmpty());
  EXPECT_THAT(problems_of(R"({"op":"cfg_read","bdf":"01:00.0","reg":"ATS_CONTROL","bytes":4})"),
              SizeIs(1));
  for (const ConfigRegister& one : config_registers()) {
    EXPECT_EQ(one.offset % one.bytes, 0U) << one.name;
  }
}

TEST(RegisterOps, TranslationIsOnOrOff) {
  EXPECT_TRUE(op_of<TranslateOp>(R"({"op":"translate","state":"on"})").is_on);
  EXPECT_FALSE(op_of<TranslateOp>(R"({"op":"translate","state":"off"})").is_on);
  EXPECT_THAT(problems_of(R"({"op":"translate","state":"yes"})"), SizeIs(1));
  EXPECT_THAT(problems_of(R"({"op":"translate"})"), SizeIs(1));
}

}  // namespace
}  // namespace flitwise::register_ops_test
