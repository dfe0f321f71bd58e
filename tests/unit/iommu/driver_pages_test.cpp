// SPDX-License-Identifier: Apache-2.0
// Pages that a driver maps and unmaps, and who may reach them. docs/rules/ats.md
#include "iommu/driver_pages.h"

#include <gtest/gtest.h>

#include <map>

namespace flitwise::driver_pages_test {
namespace {

constexpr std::uint64_t kPage = 4096, kMemory = 0x10'0000, kFlags = 7;
constexpr DeviceIdentity kOne(Bdf{0x100}, Pasid{1}), kTwo(Bdf{0x101}, Pasid{1});

class DriverPagesTest : public ::testing::Test {
 protected:
  DriverPagesTest() {
    pages.set_flags(kFlags);
    add(kOne, 0x4000, 2);
    add(kTwo, 0x8000, 2);
  }
  void add(const DeviceIdentity& who, std::uint64_t address, unsigned count) {
    DriverDomain domain;
    domain.identity = who;
    domain.address = address;
    pages.add_domain(domain);
    for (unsigned i = 0; i < count; ++i) {
      pages.add_page(address + i * 8, false);
    }
  }
  /// By the address that the device named, or by a translation of its own.
  void access(const DeviceIdentity& who, std::uint64_t physical, std::uint64_t address = 0) {
    pages.frames().access(who, physical, address == 0 ? nullptr : &address);
  }
  std::uint64_t physical(DriverPages::Index page) {
    return pages.frames().physical(*pages.page(page).frame);
  }
  /// What was page 0 of the first domain belongs to the second one now.
  std::uint64_t give_away() {
    pages.map(0);
    const std::uint64_t where = physical(0);
    pages.frames().take_back(pages.unmap(0));
    pages.map(1);
    pages.map(2);
    pages.map(3);
    EXPECT_EQ(physical(3), where);
    return where;
  }

  std::map<std::uint64_t, std::uint64_t> memory;
  DriverPages pages{
      PageFrames(kMemory, 12, 3), 12,
      [this](std::uint64_t address, std::uint64_t value) { memory[address] = value; }};
};

TEST(DriverDomain, IOM_5_4_ItsDeviceForgetsUnderTheNamesThatTheDeviceUses) {
  DriverDomain domain;
  domain.identity = kTwo;
  domain.physical_function = kOne.bdf;
  domain.pasid = Pasid{7};
  domain.queue_depth = 5;
  const auto page = device_tlb_invalidation(domain, PageRange{0x3000, 12});
  EXPECT_EQ(page.source, kTwo.bdf);
  EXPECT_EQ(page.physical_function, kOne.bdf.value);
  EXPECT_EQ(page.pasid, Pasid{7});
  EXPECT_EQ(page.queue_depth, 5);
  EXPECT_FALSE(page.is_sized);
  EXPECT_EQ(page.address, 0x3000U);
  const auto two = device_tlb_invalidation(domain, PageRange{0x4000, 13});
  EXPECT_TRUE(two.is_sized);
  EXPECT_EQ(two.address, 0x4000U);
}

TEST_F(DriverPagesTest, APageIsFoundByItsFunctionPasidAndAddress) {
  EXPECT_EQ(pages.find(kTwo.bdf, Pasid{1}, 0x9fff), 3U);
  EXPECT_EQ(pages.find(kTwo.bdf, Pasid{1}, 0xa000), std::nullopt);
  EXPECT_EQ(pages.find(kTwo.bdf, Pasid{1}, 0x7fff), std::nullopt);
  EXPECT_EQ(pages.find(kTwo.bdf, Pasid{2}, 0x8000), std::nullopt);
  EXPECT_EQ(pages.find(Bdf{0x102}, Pasid{1}, 0x8000), std::nullopt);
  EXPECT_EQ(pages.address(3), 0x9000U);
  EXPECT_EQ(pages.find_function(kTwo.bdf)->identity, kTwo);
  EXPECT_EQ(pages.find_function(Bdf{0x102}), nullptr);
}

TEST_F(DriverPagesTest, ALeafLeadsToThePageOfMemoryAndIsClearedFirst) {
  pages.map(0);
  EXPECT_EQ(memory[0x4000], kMemory | kFlags);
  EXPECT_EQ(pages.frames().free(), 2U);
  const PageFrames::Frame frame = pages.unmap(0);
  EXPECT_EQ(memory[0x4000], 0U);
  EXPECT_FALSE(pages.page(0).frame);
  EXPECT_EQ(pages.frames().free(), 2U) << "nobody else gets it before its invalidation is over";
  pages.frames().take_back(frame);
  EXPECT_EQ(pages.frames().free(), 3U);
}

TEST_F(DriverPagesTest, WhoeverHasThePageReachesIt) {
  pages.map(0);
  access(kOne, physical(0) + 64, 0x4040);
  access(kOne, physical(0) + 64);
  EXPECT_EQ(pages.frames().accesses(), 2U);
  EXPECT_EQ(pages.frames().stale() + pages.frames().foreign() + pages.frames().late(), 0U);
}

// [INV-35]
TEST_F(DriverPagesTest, INV_35_BetweenTheEntryAndItsInvalidationAnAccessIsLate) {
  pages.map(0);
  const std::uint64_t where = physical(0);
  const PageFrames::Frame frame = pages.unmap(0);
  access(kOne, where);
  EXPECT_EQ(pages.frames().late(), 1U);
  EXPECT_EQ(pages.frames().stale(), 0U);
  pages.frames().take_back(frame);
  access(kOne, where);
  EXPECT_EQ(pages.frames().late(), 1U);
  EXPECT_EQ(pages.frames().stale(), 1U);
  EXPECT_EQ(pages.frames().first(), "01:00.0 PASID 1 reached 0x100000, which is free");
}

TEST_F(DriverPagesTest, INV_35_AnAccessToWhatIsAnothersNowIsStale) {
  const std::uint64_t where = give_away();
  access(kTwo, where);
  EXPECT_EQ(pages.frames().stale(), 0U);
  access(kOne, where);
  EXPECT_EQ(pages.frames().stale(), 1U);
  EXPECT_EQ(pages.frames().first(), "01:00.0 PASID 1 reached 0x100000, which is another's");
}

// By a translation of the device, and by an address that the agent has translated.
TEST_F(DriverPagesTest, INV_35_AUseOfWhatHasAnotherAddressNowIsStale) {
  pages.map(0);
  const std::uint64_t where = physical(0);
  const std::uint64_t first = pages.address(0);
  pages.frames().use(kOne, where + 8, first + 8);
  const PageFrames::Frame frame = pages.unmap(0);
  pages.frames().use(kOne, where, first);
  EXPECT_EQ(pages.frames().stale(), 0U) << "late, and no worse";
  pages.frames().take_back(frame);
  pages.map(2);
  pages.map(3);
  pages.map(1);
  ASSERT_EQ(physical(1), where);
  pages.frames().use(kOne, where, first);
  EXPECT_EQ(pages.frames().stale(), 1U);
  EXPECT_EQ(pages.frames().first(),
            "01:00.0 PASID 1 reached 0x100000, which has another address now");
  access(kOne, where, first);
  EXPECT_EQ(pages.frames().stale(), 2U);
  pages.frames().use(kTwo, where, first);
  EXPECT_EQ(pages.frames().stale(), 2U) << "whose it is is asked at memory";
}

TEST_F(DriverPagesTest, AnAccessToWhatTheDomainNeverHadIsForeign) {
  pages.map(0);
  access(kTwo, physical(0));
  EXPECT_EQ(pages.frames().foreign(), 1U);
  EXPECT_EQ(pages.frames().stale(), 0U);
}

// The agent has translated by what an address of the domain meant before.
TEST_F(DriverPagesTest, INV_35_AnotherAddressOfTheSameDomainIsStaleToo) {
  pages.map(0);
  const std::uint64_t where = physical(0);
  access(kOne, where, 0x5000);
  EXPECT_EQ(pages.frames().stale(), 1U);
}

TEST_F(DriverPagesTest, OtherMemoryIsNoneOfItsBusiness) {
  access(kOne, kMemory - 1);
  access(kOne, kMemory + 3 * kPage);
  EXPECT_EQ(pages.frames().accesses(), 0U);
}

}  // namespace
}  // namespace flitwise::driver_pages_test
