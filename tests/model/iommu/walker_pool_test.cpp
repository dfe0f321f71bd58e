// SPDX-License-Identifier: Apache-2.0
// The walkers between stand-ins: who waits for whom, what an invalidation takes back, what counts.
#include "iommu/walker_pool.h"

#include <gtest/gtest.h>

#include <memory>

#include "agent_fakes.h"
#include "iommu/table_builder.h"

namespace flitwise::walker_pool_test {
namespace {

using namespace test;

constexpr Bdf kFunction = Bdf::of(1, 0, 0);
constexpr std::uint64_t kPage = 0x40'0000, kOtherPage = 0x40'1000, kThirdPage = 0x40'2000;
constexpr std::uint64_t kScalable = 1 << 10;

class WalkerPoolTest : public ::testing::Test {
 protected:
  void make(unsigned walkers, unsigned iotlb = 128) {
    config.walkers = walkers;
    config.iotlb.entries = iotlb;
    TableBuilder tables([this](std::uint64_t address, std::uint64_t value) {
      memory.words[address] = value;
      return true;
    });
    Mapping mapping;
    mapping.function = kFunction;
    mapping.address = kPage;
    mapping.to = 0x1000'0000;
    mapping.bytes = 0x4000;
    registers.write(iommu_register::kRtaddr, 8, tables.map(mapping).root_table | kScalable);
    registers.latch_root_table();
    pool = std::make_unique<WalkerPool>(config, offers, 1, registers, memory, events, counts);
    pool->attach(client);
  }
  void ask(std::uint64_t ticket, std::uint64_t address, bool write = false) {
    WalkRequest request;
    request.source = kFunction;
    request.address = address;
    request.wish.read = !write;
    request.wish.write = write;
    pool->translate(client, ticket, request, 77, Time{}, t);
  }
  /// Lets a little time pass, and ends the oldest read that is open, if there is one.
  void serve(bool is_ok = true) {
    work();
    if (memory.reads.empty()) {
      return;
    }
    const FakeAgentMemory::Access access = memory.reads.front();
    memory.reads.erase(memory.reads.begin());
    const auto bytes = memory.bytes_at(access.address);
    t += Time::from_ns(100);
    pool->memory_done(access.tag, is_ok ? bytes.data() : nullptr, t);
    work();
  }
  void work() {
    t += Time::from_ns(50);
    pool->work(t);
  }
  /// Until no walk is under way.
  void finish() {
    while (!pool->is_quiet()) {
      serve();
    }
  }
  bool is_known(std::uint64_t ticket) const { return client.outcomes.count(ticket) != 0; }
  std::uint64_t address_of(std::uint64_t ticket) { return client.outcomes[ticket].first.address; }

  IommuConfig config;
  IommuCapabilities offers;
  IommuRegisters registers{offers};
  FakeAgentMemory memory;
  FakeAgentEvents events;
  FakeWalkClient client;
  IommuResult counts;
  Time t = Time::from_us(1);
  std::unique_ptr<WalkerPool> pool;
};

// [IOM-6.1]
TEST_F(WalkerPoolTest, IOM_6_1_FirstRequestWalksAndTheNextOneHits) {
  make(1);
  ask(1, kPage + 8);
  EXPECT_FALSE(is_known(1));
  finish();
  EXPECT_EQ(address_of(1), 0x1000'0008U);
  EXPECT_EQ(counts.walks, 1U);
  EXPECT_EQ(counts.iotlb_misses, 1U);
  ask(2, kPage + 16);
  EXPECT_EQ(address_of(2), 0x1000'0010U);
  EXPECT_GT(client.outcomes[2].second, t);
  EXPECT_EQ(counts.iotlb_hits, 1U);
  EXPECT_EQ(counts.walks, 1U);
  EXPECT_TRUE(pool->is_quiet());
}

// [IOM-6.10]
TEST_F(WalkerPoolTest, IOM_6_10_OneWalkServesAllThatWaitForItsPage) {
  make(4, 0);  // no cache keeps the page
  ask(1, kPage);
  ask(2, kPage + 64);
  EXPECT_EQ(counts.iotlb_misses_under_miss, 1U);
  finish();
  EXPECT_EQ(address_of(2), 0x1000'0040U);
  EXPECT_EQ(counts.walks, 1U);
}

// [IOM-6.10]
TEST_F(WalkerPoolTest, IOM_6_10_AfterAnInvalidationEachWalksForItself) {
  make(4, 0);
  ask(1, kPage);
  ask(2, kPage + 64);
  work();
  pool->invalidate(IotlbInvalidation{});
  EXPECT_EQ(client.times_invalidated, 1U);
  EXPECT_FALSE(pool->is_drained());
  finish();
  EXPECT_TRUE(is_known(2));
  EXPECT_EQ(counts.walks, 2U);
  EXPECT_TRUE(pool->is_drained());
  EXPECT_GT(events.settled, 0U);
}

// [CXL-7.11]
TEST_F(WalkerPoolTest, CXL_7_11_ClientsHearOfThePagesWhosePermissionsGo) {
  make(1);
  pool->invalidate(IotlbInvalidation{});
  EXPECT_EQ(client.last_pages.bytes, 0U);
  PermissionInvalidation range;
  range.granularity = PermissionInvalidation::Granularity::kRange;
  range.address = 0x7000;
  range.address_mask = 1;
  pool->invalidate(range);
  EXPECT_EQ(client.last_pages.from, 0x6000U);
  EXPECT_EQ(client.last_pages.bytes, 0x2000U);
  pool->invalidate(PermissionInvalidation{});
  EXPECT_EQ(client.last_pages.bytes, PhysicalPages::all().bytes);
  pool->invalidate(PasidCacheInvalidation{});
  EXPECT_EQ(client.last_pages.bytes, PhysicalPages::all().bytes);
}

TEST_F(WalkerPoolTest, IQU_06_IsNotDrainedWhileAClientIsNot) {
  make(1);
  client.drained = false;
  EXPECT_FALSE(pool->is_drained());
}

// Another page waits for the walker, and gets it before a third that came later.
TEST_F(WalkerPoolTest, RequestsWaitForAWalkerInTheirOrder) {
  make(1);
  ask(1, kPage);
  ask(2, kOtherPage);
  ask(3, kThirdPage);
  EXPECT_NE(pool->waiting("iommu0"), "");
  while (!is_known(2)) {
    EXPECT_FALSE(is_known(3));
    serve();
  }
  finish();
  EXPECT_TRUE(is_known(3));
  EXPECT_EQ(pool->waits("iommu0", t).front().count, 2U);
  EXPECT_EQ(pool->waits("iommu0", t).front().peak, 1U);
  EXPECT_EQ(pool->waiting("iommu0"), "");
}

TEST_F(WalkerPoolTest, TwoWalkersReadAtTheSameTime) {
  make(2);
  ask(1, kPage);
  ask(2, kOtherPage);
  work();
  ASSERT_EQ(memory.reads.size(), 2U);
  EXPECT_NE(memory.reads[0].tag, memory.reads[1].tag);
}

// [IOM-9.1]
TEST_F(WalkerPoolTest, IOM_9_1_MemoryThatRefusesARootEntryIsAFault) {
  make(1);
  ask(1, kPage);
  work();
  serve(false);
  EXPECT_EQ(client.outcomes[1].first.outcome, WalkOutcome::kFault);
  ASSERT_EQ(events.faults.size(), 1U);
  EXPECT_EQ(events.faults[0].second, 77U);
  EXPECT_EQ(counts.faults, 1U);
}

// [IOM-8.2]
TEST_F(WalkerPoolTest, IOM_8_2_PageThatIsAskedForLeavesTheIotlb) {
  make(1);
  ask(1, kPage);
  finish();
  pool->forget_page(kFunction, Pasid{0}, kPage);
  ask(2, kPage);
  EXPECT_FALSE(is_known(2));
  finish();
  EXPECT_EQ(address_of(2), 0x1000'0000U);
}

}  // namespace
}  // namespace flitwise::walker_pool_test
