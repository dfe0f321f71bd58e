// SPDX-License-Identifier: Apache-2.0
// The domain of a D2H Req in its field. [CXL-7.4] [DHI D24]
#include <gtest/gtest.h>

#include "cxl/domain_field.h"

namespace flitwise::test::domain_field_test {
namespace {

constexpr Bdf kFunction = Bdf::of(1, 2, 3);

CxlDomainField field_of(CxlIdentity form, OnMiss on_miss = OnMiss::kStall, bool has_pasid = true) {
  Config config;
  config.link.cxl.identity = form;
  config.device.dhi.bits = 8;
  config.device.dhi.on_miss = on_miss;
  config.device.functions.has_pasid = has_pasid;
  return CxlDomainField::of(config);
}

TEST(CxlDomainField, CXL_7_4_EachFormTakesItsBits) {
  EXPECT_EQ(field_of(CxlIdentity::kSpec).bits(), 0U);
  EXPECT_EQ(field_of(CxlIdentity::kFullAdded).bits(), 36U);
  EXPECT_EQ(field_of(CxlIdentity::kDhiAdded).bits(), 8U);
  EXPECT_EQ(field_of(CxlIdentity::kDhiAdded, OnMiss::kBypass).bits(), 37U);
  EXPECT_FALSE(field_of(CxlIdentity::kDhiAdded).takes_identities());
}

TEST(CxlDomainField, CXL_7_4_WithoutIdentityAFieldNamesNobody) {
  const CxlDomainField::Named named = field_of(CxlIdentity::kSpec).named_by(0x12345);
  EXPECT_FALSE(named.handle || named.full);
}

TEST(CxlDomainField, CXL_7_4_AHandleComesBack) {
  for (const OnMiss on_miss : {OnMiss::kStall, OnMiss::kBypass}) {
    const CxlDomainField field = field_of(CxlIdentity::kDhiAdded, on_miss);
    for (const std::uint16_t handle : std::initializer_list<std::uint16_t>{0, 1, 77, 255}) {
      const CxlDomainField::Named named = field.named_by(field.of(Dhi{handle}));
      EXPECT_EQ(named.handle, std::optional<std::uint64_t>(handle));
      EXPECT_FALSE(named.full);
    }
  }
}

TEST(CxlDomainField, CXL_7_4_AnIdentityComesBackAsBdfAndPasid) {
  for (const CxlDomainField& field :
       {field_of(CxlIdentity::kFullAdded), field_of(CxlIdentity::kDhiAdded, OnMiss::kBypass)}) {
    const DeviceIdentity domain(kFunction, Pasid{0xabcde});
    const CxlDomainField::Named named = field.named_by(field.of(domain));
    EXPECT_FALSE(named.handle);
    EXPECT_EQ(named.full, std::optional<DeviceIdentity>(domain));
  }
}

TEST(CxlDomainField, CXL_7_4_WithoutPasidsTheFunctionAloneIsNamed) {
  const CxlDomainField field = field_of(CxlIdentity::kFullAdded, OnMiss::kStall, false);
  EXPECT_EQ(field.named_by(field.of(DeviceIdentity(kFunction))).full,
            std::optional<DeviceIdentity>(DeviceIdentity(kFunction)));
}

TEST(CxlDomainField, CXL_7_4_AForgedHandleMayBeWiderThanAnyThatExists) {
  EXPECT_EQ(field_of(CxlIdentity::kDhiAdded).named_by(0xffff'ffff).handle,
            std::optional<std::uint64_t>(0xffff'ffff));
  // All 36 bits are looked at: this is not handle 3.
  EXPECT_EQ(field_of(CxlIdentity::kDhiAdded, OnMiss::kBypass).named_by(0x1'0000'0003 << 1).handle,
            std::optional<std::uint64_t>(0x1'0000'0003));
}

// A snoop is of a line, and an answer of a CQID.
TEST(CxlDomainField, CXL_7_9_NoOtherMessageIsLonger) {
  for (const CxlFlitForm form : {CxlFlitForm::k68, CxlFlitForm::k256}) {
    const CxlWidths plain(form, 0), named(form, 37);
    for (std::size_t i = 0; i < kCxlChannels; ++i) {
      const auto channel = static_cast<CxlChannel>(i);
      EXPECT_EQ(named.of(channel) > plain.of(channel), channel == CxlChannel::kD2hReq) << i;
    }
  }
}

}  // namespace
}  // namespace flitwise::test::domain_field_test
