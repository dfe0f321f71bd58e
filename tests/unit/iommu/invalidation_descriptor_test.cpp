// SPDX-License-Identifier: Apache-2.0
// Descriptors of the invalidation queue: fields and errors.
#include "iommu/invalidation_descriptor.h"

#include <gtest/gtest.h>

#include <array>

#include "iommu/entries.h"

namespace flitwise::invalidation_descriptor_test {
namespace {

class Descriptors : public ::testing::Test {
 protected:
  InvalidationDescriptor parse(std::uint64_t low, std::uint64_t high = 0, bool is_wide = true) {
    std::array<std::uint8_t, 32> bytes{};
    store_u64(bytes.data(), low);
    store_u64(bytes.data() + 8, high);
    store_u64(bytes.data() + 16, third);
    return parse_descriptor(bytes.data(), is_wide, offers);
  }
  template <class T>
  T expect(std::uint64_t low, std::uint64_t high = 0) {
    const InvalidationDescriptor result = parse(low, high);
    EXPECT_TRUE(std::holds_alternative<T>(result)) << result.index();
    return std::holds_alternative<T>(result) ? std::get<T>(result) : T{};
  }
  void expect_error(DescriptorError error, std::uint64_t low, std::uint64_t high = 0) {
    const InvalidationDescriptor result = parse(low, high);
    ASSERT_TRUE(std::holds_alternative<DescriptorError>(result)) << std::hex << low << " " << high;
    EXPECT_EQ(std::get<DescriptorError>(result), error);
  }
  /// Each bit of the masks alone must be refused, each other bit must not.
  void expect_reserved(std::uint64_t low, std::uint64_t high, std::uint64_t low_mask,
                       std::uint64_t high_mask, std::uint64_t low_free, std::uint64_t high_free) {
    for (unsigned bit = 0; bit < 64; ++bit) {
      const std::uint64_t one = 1ULL << bit;
      if ((low_mask & one) != 0) {
        expect_error(DescriptorError::kReservedBits, low | one, high);
      }
      if ((high_mask & one) != 0) {
        expect_error(DescriptorError::kReservedBits, low, high | one);
      }
      if ((low_free & one) != 0) {
        EXPECT_NE(parse(low | one, high).index(), 0U) << bit;
      }
      if ((high_free & one) != 0) {
        EXPECT_NE(parse(low, high | one).index(), 0U) << bit;
      }
    }
  }
  IommuCapabilities offers;
  std::uint64_t third = 0;
};

// [IOM-5.2]
TEST_F(Descriptors, ContextCache) {
  const auto d = expect<ContextCacheInvalidation>(0x0002'0108'1234'0031);
  EXPECT_EQ(d.granularity, ContextCacheInvalidation::Granularity::kDevice);
  EXPECT_EQ(d.domain, 0x1234U);
  EXPECT_EQ(d.source.value, 0x0108U);
  EXPECT_EQ(d.function_mask, 2U);
  expect_reserved(0x31, 0, 0xfffc'0000'0000'f1c0, ~0ULL, 0x0003'ffff'ffff'0000, 0);
}

// [IOM-5.3]
TEST_F(Descriptors, Iotlb) {
  const auto d = expect<IotlbInvalidation>(0x0007'00f2ULL, 0xabcd'e049);
  EXPECT_EQ(d.granularity, IotlbInvalidation::Granularity::kPage);
  EXPECT_TRUE(d.drains_reads && d.drains_writes && d.leaf_only);
  EXPECT_EQ(d.domain, 7U);
  EXPECT_EQ(d.address_mask, 9U);
  EXPECT_EQ(d.address, 0xabcd'e000U);
  expect_reserved(0x32, 0, 0xffff'ffff'0000'f100, 0xf80, 0xffff'00c0, ~0ULL << 12 | 0x4f);
  expect_error(DescriptorError::kReservedBits, 0x32, 19);  // beyond MAMV
}

// [IOM-5.4]
TEST_F(Descriptors, DeviceTlb) {
  const auto d = expect<DeviceTlbInvalidation>(0x0120'0123'0005'7003, 0x7001);
  EXPECT_EQ(d.source.value, 0x0123U);
  EXPECT_EQ(d.physical_function, 0x127U);
  EXPECT_EQ(d.queue_depth, 5U);
  EXPECT_TRUE(d.is_sized);
  EXPECT_EQ(d.address, 0x7000U);
  EXPECT_FALSE(d.pasid);
}

TEST_F(Descriptors, IQU_03_ReservedBitsOfDeviceTlb) {
  expect_reserved(3, 0, 0x000f'0000'ffe0'01f0, 0xffe, 0xfff0'ffff'001f'f000, ~0ULL << 12 | 1);
}

TEST_F(Descriptors, IQU_12_QueueDepth0Means32) {
  EXPECT_EQ(expect<DeviceTlbInvalidation>(3).queue_depth, 0U);
  EXPECT_EQ(expect<DeviceTlbInvalidation>(8).queue_depth, 0U);
}

// [IOM-5.5]
TEST_F(Descriptors, Wait) {
  const auto d = expect<InvalidationWait>(0xcafe'f00d'0000'00f5, 0x1'2344);
  EXPECT_TRUE(d.interrupts && d.writes_status && d.is_fence && d.drains_page_requests);
  EXPECT_EQ(d.status, 0xcafe'f00dU);
  EXPECT_EQ(d.status_address, 0x1'2344U);
}

TEST_F(Descriptors, IQU_03_ReservedBitsOfWait) {
  expect_reserved(5, 0, 0xffff'f100, 3, 0xffff'ffff'0000'00f0, ~0ULL << 2);
}

// [IOM-5.6]
TEST_F(Descriptors, PasidIotlb) {
  const auto d = expect<PasidIotlbInvalidation>(0x000a'bcde'0007'0036, 0x5000);
  EXPECT_EQ(d.granularity, PasidIotlbInvalidation::Granularity::kPage);
  EXPECT_EQ(d.pasid, Pasid{0xabcde});
  EXPECT_EQ(d.domain, 7U);
  EXPECT_EQ(d.address, 0x5000U);
  expect_reserved(0x36, 0, 0xfff0'0000'0000'f1c0, 0xf80, 0x000f'ffff'ffff'0000, ~0ULL << 12);
}

// [IOM-5.7]
TEST_F(Descriptors, PasidCache) {
  const auto d = expect<PasidCacheInvalidation>(0x0000'0005'0007'0017);
  EXPECT_EQ(d.granularity, PasidCacheInvalidation::Granularity::kPasid);
  EXPECT_EQ(d.pasid, Pasid{5});
  expect_reserved(0x17, 0, 0xfff0'0000'0000'f1c0, ~0ULL, 0x000f'ffff'ffff'0000, 0);
}

// [IOM-5.4], INV-33
TEST_F(Descriptors, PasidDeviceTlb) {
  const auto d = expect<DeviceTlbInvalidation>(0x0010'0005'0123'2058, 0x7801);
  EXPECT_EQ(d.source.value, 0x0123U);
  EXPECT_EQ(d.pasid, OptionalId<Pasid>(Pasid{5}));
  EXPECT_EQ(d.queue_depth, 5U);
  EXPECT_EQ(d.physical_function, 0x12U);
  EXPECT_TRUE(d.all_pasids && d.is_sized);
  EXPECT_EQ(d.address, 0x7000U);
  expect_reserved(8, 0, 0, 0x7fe, 0xffff'ffff'ffff'f1f0, ~0ULL << 11 | 1);
}

// [IOM-5.8]
TEST_F(Descriptors, PageGroupResponse) {
  const auto d = expect<PageGroupResponse>(0x0000'0005'0123'f019, 0xaa8);
  EXPECT_EQ(d.source.value, 0x0123U);
  EXPECT_EQ(d.pasid, OptionalId<Pasid>(Pasid{5}));
  EXPECT_EQ(d.code, 15U);
  EXPECT_EQ(d.group, 0x155U);
  expect_reserved(0x19, 0, 0xfff0'0000'0000'01e0, 0xffff'ffff'ffff'f003, 0x000f'ffff'ffff'f000,
                  0xffc);
}

TEST_F(Descriptors, IQU_14_PageGroupResponseWithoutPasidIsAccepted) {
  EXPECT_FALSE(expect<PageGroupResponse>(0x0000'0000'0123'0009).pasid);
}

// [IOM-5.1]
TEST_F(Descriptors, IQU_01_UnknownTypes) {
  for (const std::uint64_t low : {0x0ULL, 0xaULL, 0xfULL, 0x0201ULL, 0x0e05ULL}) {
    expect_error(DescriptorError::kUnknownType, low);
  }
}

TEST_F(Descriptors, IQU_02_ReservedGranularities) {
  for (const std::uint64_t low : {0x01ULL, 0x02ULL, 0x06ULL, 0x16ULL, 0x27ULL}) {
    expect_error(DescriptorError::kReservedBits, low);
  }
}

TEST_F(Descriptors, IQU_11_PasidTypesNeedWideDescriptors) {
  for (const std::uint64_t low : {0x26ULL, 0x07ULL, 0x08ULL, 0x19ULL}) {
    const InvalidationDescriptor result = parse(low, 0, false);
    ASSERT_TRUE(std::holds_alternative<DescriptorError>(result));
    EXPECT_EQ(std::get<DescriptorError>(result), DescriptorError::kWidth);
  }
  EXPECT_TRUE(std::holds_alternative<InvalidationWait>(parse(5, 0, false)));
}

TEST_F(Descriptors, IQU_03_UpperHalfOfWideDescriptorsIsReserved) {
  third = 1;
  expect_error(DescriptorError::kReservedBits, 5);
  EXPECT_TRUE(std::holds_alternative<InvalidationWait>(parse(5, 0, false)));
}

// [IOM-5.9]
TEST_F(Descriptors, D15_HandlesAreFreedByAVendorDescriptor) {
  const auto d = expect<HandleInvalidation>(0x0fff'0123'0108'0e1d);
  EXPECT_EQ(d.scope, DeallocScope::kRange);
  EXPECT_EQ(d.source.value, 0x0108U);
  EXPECT_EQ(to_int(d.lower), 0x123U);
  EXPECT_EQ(to_int(d.upper), 0xfffU);
  expect_reserved(0x0e0d, 0, 0xf000'f000'0000'f1c0, ~0ULL, 0x0fff'0fff'ffff'0000, 0);
  expect<HandleInvalidation>(0x0005'0005'0108'0e1d);
  expect_error(DescriptorError::kReservedBits, 0x0004'0005'0108'0e1d);  // the wrong way round
}

// [IOM-5.11]
TEST_F(Descriptors, SEC_05_PermissionsAreRevokedByAVendorDescriptor) {
  using Granularity = PermissionInvalidation::Granularity;
  EXPECT_EQ(parse(0x0e1e).index(), 0U) << "unknown without Secure ATS";
  offers.secure_ats = true;
  const auto range = expect<PermissionInvalidation>(0x1234'0e7e, 0x7'7700'9003);
  EXPECT_EQ(range.granularity, Granularity::kRange);
  EXPECT_TRUE(range.all_domains);
  EXPECT_EQ(range.domain, 0x1234U);
  EXPECT_EQ(range.address_mask, 3U);
  EXPECT_EQ(range.address, 0x7'7700'9000U);
  EXPECT_EQ(expect<PermissionInvalidation>(0x0e1e).granularity, Granularity::kGlobal);
  EXPECT_EQ(expect<PermissionInvalidation>(0x0e2e).granularity, Granularity::kDomain);
  expect_error(DescriptorError::kReservedBits, 0x0e0e);
  expect_error(DescriptorError::kReservedBits, 0x0e5e);  // all domains is for ranges alone
  expect_error(DescriptorError::kReservedBits, 0x0e3e, 19);
  expect_reserved(0x0e3e, 0, 0xffff'ffff'0000'f180, 0xfc0, 0xffff'0040, ~0xfffULL);
}

}  // namespace
}  // namespace flitwise::invalidation_descriptor_test
