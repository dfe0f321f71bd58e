// SPDX-License-Identifier: Apache-2.0
// Descriptors as software writes them are what the agent reads. docs/rules/iommu.md
#include "iommu/invalidation_descriptor.h"

#include <gtest/gtest.h>

#include <random>

namespace flitwise::descriptor_encoding_test {
namespace {

template <class Command>
Command reread(const Command& command) {
  const DescriptorBytes bytes = encode(command);
  IommuCapabilities offers;
  offers.secure_ats = true;
  const InvalidationDescriptor read = parse_descriptor(bytes.data(), true, offers);
  EXPECT_TRUE(std::holds_alternative<Command>(read)) << "alternative " << read.index();
  return std::holds_alternative<Command>(read) ? std::get<Command>(read) : Command{};
}

class DescriptorEncoding : public ::testing::Test {
 protected:
  static constexpr int kTimes = 500;
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool flag() { return below(2) == 1; }
  std::uint64_t page() { return random_() & ~std::uint64_t{0xfff}; }
  Bdf bdf() { return Bdf{static_cast<std::uint16_t>(below(1U << 16))}; }
  Pasid pasid() { return Pasid{static_cast<std::uint32_t>(below(1U << kPasidBits))}; }

 private:
  std::mt19937_64 random_{20261};
};

// [IOM-5.3]
TEST_F(DescriptorEncoding, IOM_5_3_AnIotlbInvalidationComesBack) {
  for (int i = 0; i < kTimes; ++i) {
    IotlbInvalidation command;
    command.granularity = static_cast<IotlbInvalidation::Granularity>(1 + below(3));
    command.drains_reads = flag();
    command.drains_writes = flag();
    command.domain = static_cast<std::uint16_t>(below(1U << 16));
    command.address_mask = static_cast<std::uint8_t>(below(19));
    command.leaf_only = flag();
    command.address = page();
    const IotlbInvalidation read = reread(command);
    EXPECT_EQ(read.granularity, command.granularity);
    EXPECT_EQ(read.drains_reads, command.drains_reads);
    EXPECT_EQ(read.drains_writes, command.drains_writes);
    EXPECT_EQ(read.domain, command.domain);
    EXPECT_EQ(read.address_mask, command.address_mask);
    EXPECT_EQ(read.leaf_only, command.leaf_only);
    EXPECT_EQ(read.address, command.address);
  }
}

// [IOM-5.6]
TEST_F(DescriptorEncoding, IOM_5_6_APasidIotlbInvalidationComesBack) {
  for (int i = 0; i < kTimes; ++i) {
    PasidIotlbInvalidation command;
    command.granularity = static_cast<PasidIotlbInvalidation::Granularity>(2 + below(2));
    command.domain = static_cast<std::uint16_t>(below(1U << 16));
    command.pasid = pasid();
    command.address_mask = static_cast<std::uint8_t>(below(19));
    command.leaf_only = flag();
    command.address = page();
    const PasidIotlbInvalidation read = reread(command);
    EXPECT_EQ(read.granularity, command.granularity);
    EXPECT_EQ(read.domain, command.domain);
    EXPECT_EQ(read.pasid, command.pasid);
    EXPECT_EQ(read.address_mask, command.address_mask);
    EXPECT_EQ(read.leaf_only, command.leaf_only);
    EXPECT_EQ(read.address, command.address);
  }
}

// [IOM-5.7]
TEST_F(DescriptorEncoding, IOM_5_7_APasidCacheInvalidationComesBack) {
  using Granularity = PasidCacheInvalidation::Granularity;
  for (int i = 0; i < kTimes; ++i) {
    PasidCacheInvalidation command;
    command.granularity = flag()   ? Granularity::kPasid
                          : flag() ? Granularity::kDomain
                                   : Granularity::kGlobal;
    command.domain = static_cast<std::uint16_t>(below(1U << 16));
    command.pasid = pasid();
    const PasidCacheInvalidation read = reread(command);
    EXPECT_EQ(read.granularity, command.granularity);
    EXPECT_EQ(read.domain, command.domain);
    EXPECT_EQ(read.pasid, command.pasid);
  }
}

// [IOM-5.11]
TEST_F(DescriptorEncoding, IOM_5_11_APermissionInvalidationComesBack) {
  using Granularity = PermissionInvalidation::Granularity;
  for (int i = 0; i < kTimes; ++i) {
    PermissionInvalidation command;
    command.granularity = static_cast<Granularity>(1 + below(3));
    command.all_domains = command.granularity == Granularity::kRange && flag();
    command.domain = static_cast<std::uint16_t>(below(1U << 16));
    command.address_mask = static_cast<std::uint8_t>(below(19));
    command.address = page();
    const PermissionInvalidation read = reread(command);
    EXPECT_EQ(read.granularity, command.granularity);
    EXPECT_EQ(read.all_domains, command.all_domains);
    EXPECT_EQ(read.domain, command.domain);
    EXPECT_EQ(read.address_mask, command.address_mask);
    EXPECT_EQ(read.address, command.address);
  }
}

// [IOM-5.4] Both types: with a PASID and without.
TEST_F(DescriptorEncoding, IOM_5_4_ADeviceTlbInvalidationComesBack) {
  for (int i = 0; i < kTimes; ++i) {
    DeviceTlbInvalidation command;
    command.source = bdf();
    command.physical_function = bdf().value;
    command.queue_depth = static_cast<std::uint8_t>(below(32));
    command.is_sized = flag();
    command.address = page();
    if (flag()) {
      command.pasid = pasid();
      command.all_pasids = flag();
    }
    const DeviceTlbInvalidation read = reread(command);
    EXPECT_EQ(read.source, command.source);
    EXPECT_EQ(read.physical_function, command.physical_function);
    EXPECT_EQ(read.queue_depth, command.queue_depth);
    EXPECT_EQ(read.is_sized, command.is_sized);
    EXPECT_EQ(read.address, command.address);
    EXPECT_EQ(read.pasid, command.pasid);
    EXPECT_EQ(read.all_pasids, command.all_pasids);
  }
}

// [IOM-5.5]
TEST_F(DescriptorEncoding, IOM_5_5_AWaitComesBack) {
  for (int i = 0; i < kTimes; ++i) {
    InvalidationWait command;
    command.interrupts = flag();
    command.writes_status = flag();
    command.is_fence = flag();
    command.drains_page_requests = flag();
    command.status = static_cast<std::uint32_t>(below(std::uint64_t{1} << 32));
    command.status_address = page() | 4;
    const InvalidationWait read = reread(command);
    EXPECT_EQ(read.interrupts, command.interrupts);
    EXPECT_EQ(read.writes_status, command.writes_status);
    EXPECT_EQ(read.is_fence, command.is_fence);
    EXPECT_EQ(read.drains_page_requests, command.drains_page_requests);
    EXPECT_EQ(read.status, command.status);
    EXPECT_EQ(read.status_address, command.status_address);
  }
}

// [IOM-5.8]
TEST_F(DescriptorEncoding, IOM_5_8_APageGroupResponseComesBack) {
  for (int i = 0; i < kTimes; ++i) {
    PageGroupResponse command;
    command.source = bdf();
    command.code = static_cast<std::uint8_t>(below(16));
    command.group = static_cast<std::uint16_t>(below(512));
    if (flag()) {
      command.pasid = pasid();
    }
    const PageGroupResponse read = reread(command);
    EXPECT_EQ(read.source, command.source);
    EXPECT_EQ(read.code, command.code);
    EXPECT_EQ(read.group, command.group);
    EXPECT_EQ(read.pasid, command.pasid);
  }
}

}  // namespace
}  // namespace flitwise::descriptor_encoding_test
