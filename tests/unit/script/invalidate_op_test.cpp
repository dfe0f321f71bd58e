// SPDX-License-Identifier: Apache-2.0
// Commands of the invalidation queue by their fields.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "script_line_reading.h"

namespace flitwise::invalidate_op_test {
namespace {

using test::op_of;
using test::problems_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// What a line asks for, by way of the bytes in the queue.
template <class Command>
Command command_of(const std::string& fields) {
  const auto op = op_of<InvalidateOp>("{\"op\":\"invalidate\"," + fields + "}");
  const DescriptorBytes bytes = encode(op.command);
  return std::get<Command>(parse_descriptor(bytes.data(), true, IommuCapabilities{}));
}

TEST(InvalidateOp, IOM_5_3_PagesOfTheIotlb) {
  const auto command = command_of<IotlbInvalidation>(
      R"("type":"iotlb","granularity":"page","domain":5,"addr":"0x40000000","address_mask":2)");
  EXPECT_EQ(command.granularity, IotlbInvalidation::Granularity::kPage);
  EXPECT_EQ(command.domain, 5);
  EXPECT_EQ(command.address, 0x40000000U);
  EXPECT_EQ(command.address_mask, 2);
}

TEST(InvalidateOp, IOM_5_2_AContextOfADevice) {
  const auto command = command_of<ContextCacheInvalidation>(
      R"("type":"context","granularity":"device","domain":3,"rid":"01:00.2")");
  EXPECT_EQ(command.granularity, ContextCacheInvalidation::Granularity::kDevice);
  EXPECT_EQ(command.source, Bdf::of(1, 0, 2));
}

TEST(InvalidateOp, IOM_5_4_ADeviceTlbWithAndWithoutAPasid) {
  EXPECT_FALSE(
      command_of<DeviceTlbInvalidation>(R"("type":"device_tlb","rid":"01:00.0","addr":"0x1000")")
          .pasid.has_value());
  const auto command = command_of<DeviceTlbInvalidation>(
      R"("type":"device_tlb","rid":"01:00.0","pasid":7,"addr":"0x7000","sized":true)");
  EXPECT_EQ(command.pasid, OptionalId<Pasid>(Pasid{7}));
  EXPECT_TRUE(command.is_sized);
}

TEST(InvalidateOp, IOM_5_5_AWaitThatWritesItsStatus) {
  const auto command = command_of<InvalidationWait>(
      R"("type":"wait","status":"0x1234","status_addr":"0x7000000","fence":true)");
  EXPECT_TRUE(command.writes_status);
  EXPECT_TRUE(command.is_fence);
  EXPECT_EQ(command.status, 0x1234U);
  EXPECT_EQ(command.status_address, 0x7000000U);
  EXPECT_FALSE(command_of<InvalidationWait>(R"("type":"wait")").writes_status);
}

TEST(InvalidateOp, IOM_5_6_IOM_5_7_TranslationsOfAPasid) {
  EXPECT_EQ(command_of<PasidIotlbInvalidation>(
                R"("type":"pasid_iotlb","granularity":"pasid","domain":1,"pasid":9)")
                .pasid,
            Pasid{9});
  EXPECT_EQ(command_of<PasidCacheInvalidation>(R"("type":"pasid_cache","granularity":"global")")
                .granularity,
            PasidCacheInvalidation::Granularity::kGlobal);
}

TEST(InvalidateOp, IOM_5_8_IOM_5_9_ResponsesAndHandles) {
  EXPECT_EQ(
      command_of<PageGroupResponse>(R"("type":"page_response","rid":"01:00.0","code":1,"group":17)")
          .group,
      17);
  const auto command = command_of<HandleInvalidation>(
      R"("type":"handles","rid":"01:00.0","scope":"range","dhi":2,"upper":6)");
  EXPECT_EQ(command.scope, DeallocScope::kRange);
  EXPECT_EQ(command.upper, Dhi{6});
}

TEST(InvalidateOp, FieldsOfOtherTypesAreRefused) {
  EXPECT_THAT(problems_of(R"({"op":"invalidate","type":"iotbl"})"),
              ElementsAre(HasSubstr("nearest value 'iotlb'")));
  EXPECT_THAT(problems_of(R"({"op":"invalidate","domain":1})"),
              testing::Contains(HasSubstr("type: missing")));
  EXPECT_THAT(problems_of(R"({"op":"invalidate","type":"wait","domain":1})"),
              ElementsAre(HasSubstr("domain: unknown key")));
  EXPECT_THAT(problems_of(R"({"op":"invalidate","type":"wait","status":1})"), SizeIs(1));
  EXPECT_THAT(problems_of(R"({"op":"invalidate","type":"iotlb","addr":"0x1001"})"), SizeIs(1));
  EXPECT_THAT(problems_of(R"({"op":"invalidate","type":"device_tlb"})"), SizeIs(1));
}

}  // namespace
}  // namespace flitwise::invalidate_op_test
