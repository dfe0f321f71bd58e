// SPDX-License-Identifier: Apache-2.0
// What stays in the caches of the translation agent, and what each invalidation removes.
#include "iommu/translation_caches.h"

#include <gtest/gtest.h>

#include "common/random.h"
#include "unit/iommu/table_memory.h"

namespace flitwise::test::translation_caches_test {
namespace {

constexpr std::uint64_t kAddress = 0x12'3456'7000;
constexpr std::uint64_t kPage = 0x77'7000;

TranslationCacheShapes shapes() {
  const CacheShape shape{64, 8, CachePolicy::kLru};
  return {shape, shape, shape, shape, shape};
}

/// An agent that asks its caches before it walks.
class Agent {
 public:
  WalkResult access(const WalkRequest& request) {
    Walk walk(request, tables.root, tables.offers);
    if (const ContextEntry* context = caches.find_context(request.source)) {
      walk.use_context(*context);
    }
    const Pasid pasid = request.pasid.value_or(Pasid{0});
    if (const PasidEntry* entry = caches.find_pasid(request.source, pasid)) {
      walk.use_pasid_entry(*entry);
      hit_or_table(walk, DomainTag::of(*entry, pasid), request);
      if (hit) {
        return *hit;
      }
    }
    while (!walk.is_done()) {
      const auto guest = walk.second_stage_input();
      const SecondStageLeaf* leaf =
          guest ? caches.find_second_stage(walk.pasid_entry().domain(), *guest) : nullptr;
      if (leaf != nullptr) {
        walk.use_second_stage(*leaf);
      }
      if (!walk.is_done()) {
        tables.memory.serve(walk);
      }
    }
    caches.keep(walk, tables.offers);
    return walk.result();
  }
  WalkResult read(std::uint64_t address, std::uint32_t pasid = 0) {
    return access(tables.request_with_pasid(pasid, address, false));
  }
  WalkResult write(std::uint64_t address, std::uint32_t pasid = 0) {
    return access(tables.request_with_pasid(pasid, address, true));
  }

  Tables tables;
  TranslationCaches caches{shapes()};

 private:
  void hit_or_table(Walk& walk, const DomainTag& tag, const WalkRequest& request) {
    hit.reset();
    if (walk.is_done() || tag.type == TranslationType::kPassThrough) {
      return;
    }
    const PageTranslation* page = caches.find_page(tag, request.address);
    if (page != nullptr && !(request.wish.write && page->write_needs_walk)) {
      hit = WalkResult();
      hit->outcome =
          page->fault == FaultReason::kNone ? WalkOutcome::kTranslated : WalkOutcome::kFault;
      hit->fault = page->fault != FaultReason::kNone ? page->fault
                                                     : rights_fault(page->rights, request.wish);
      hit->address = page->page | (request.address & 0xfff);
      return;
    }
    if (const TableStart* start = caches.find_table(tag, request.address)) {
      walk.use_table(*start);
    }
  }
  std::optional<WalkResult> hit;
};

class Caches : public ::testing::Test {
 protected:
  Caches() {
    agent.tables.set_pasid(0, 1);
    leaf = agent.tables.map_first(kAddress, kPage | kUserPage);
    agent.tables.set_pasid(1, 2, 2, 0, 0, 0, 8);
    second_leaf = agent.tables.map_second(kAddress, kPage | kReadWrite);
  }
  /// Moves the page in memory; the caches do not know.
  void move(std::uint64_t at) {
    agent.tables.memory.write(at, agent.tables.memory.read(at) + 0x10'0000);
  }
  IotlbInvalidation iotlb(IotlbInvalidation::Granularity granularity, std::uint16_t domain,
                          std::uint64_t address = 0) {
    IotlbInvalidation command;
    command.granularity = granularity;
    command.domain = domain;
    command.address = address;
    return command;
  }
  PasidIotlbInvalidation pasid_iotlb(PasidIotlbInvalidation::Granularity granularity,
                                     std::uint32_t pasid, std::uint64_t address = 0) {
    PasidIotlbInvalidation command;
    command.granularity = granularity;
    command.domain = 9;
    command.pasid = Pasid{pasid};
    command.address = address;
    return command;
  }
  bool is_stale_first() { return agent.read(kAddress).address == kPage; }
  bool is_stale_second() { return agent.read(kAddress, 1).address == kPage; }
  Agent agent;
  std::uint64_t leaf = 0, second_leaf = 0;
};

TEST_F(Caches, PAS_38_ChangedLeafStaysInUseUntilInvalidated) {
  EXPECT_EQ(agent.read(kAddress).total_reads(), 8U);
  EXPECT_EQ(agent.read(kAddress).total_reads(), 0U);
  move(leaf);
  EXPECT_TRUE(is_stale_first());
  agent.caches.invalidate(pasid_iotlb(PasidIotlbInvalidation::Granularity::kPage, 0, kAddress));
  EXPECT_EQ(agent.read(kAddress).address, kPage + 0x10'0000);
}

// [IOM-6.1]
TEST_F(Caches, NeighbouringPageStartsAtTheLastTable) {
  agent.read(kAddress);
  agent.tables.map_first(kAddress + 0x1000, 0x99'9000 | kUserPage);
  EXPECT_EQ(agent.read(kAddress + 0x1000).total_reads(), 1U);
  agent.tables.map_first(kAddress + 0x20'0000, 0x99'a000 | kUserPage);
  EXPECT_EQ(agent.read(kAddress + 0x20'0000).total_reads(), 2U);
}

TEST_F(Caches, PAS_39_AnotherDomainLeavesTheEntry) {
  agent.read(kAddress, 1);
  move(second_leaf);
  using G = IotlbInvalidation::Granularity;
  agent.caches.invalidate(iotlb(G::kPage, 7, kAddress));
  agent.caches.invalidate(iotlb(G::kDomain, 9));
  EXPECT_TRUE(is_stale_second());
  agent.caches.invalidate(iotlb(G::kPage, 8, kAddress + 0x1000));
  EXPECT_TRUE(is_stale_second());
  agent.caches.invalidate(iotlb(G::kPage, 8, kAddress));
  EXPECT_FALSE(is_stale_second());
}

TEST_F(Caches, PAS_40_AnotherPasidLeavesTheEntry) {
  agent.read(kAddress);
  move(leaf);
  using G = PasidIotlbInvalidation::Granularity;
  agent.caches.invalidate(pasid_iotlb(G::kPage, 2, kAddress));
  agent.caches.invalidate(pasid_iotlb(G::kPasid, 2));
  agent.caches.invalidate(pasid_iotlb(G::kPage, 0, kAddress + 0x1000));
  EXPECT_TRUE(is_stale_first());
  agent.caches.invalidate(pasid_iotlb(G::kPasid, 0));
  EXPECT_FALSE(is_stale_first());
}

// [IOM-6.4]
TEST_F(Caches, DomainAndPageSelectiveInvalidationsTakeFirstStageEntriesToo) {
  using G = IotlbInvalidation::Granularity;
  for (const G granularity : {G::kGlobal, G::kDomain, G::kPage}) {
    agent.read(kAddress);
    EXPECT_GT(agent.caches.invalidate(iotlb(granularity, 9, 0x5000)), 0U);
    EXPECT_EQ(agent.read(kAddress).total_reads(), 4U);
  }
}

// [IOM-6.5]
TEST_F(Caches, PasidInvalidationsLeaveTheSecondStage) {
  agent.read(kAddress, 1);
  PasidIotlbInvalidation command = pasid_iotlb(PasidIotlbInvalidation::Granularity::kPasid, 1);
  command.domain = 8;
  EXPECT_EQ(agent.caches.invalidate(command), 0U);
  EXPECT_EQ(agent.read(kAddress, 1).total_reads(), 0U);
}

// [IOM-6.6]
TEST_F(Caches, HintKeepsWhatIsAboveTheLeaf) {
  for (const bool leaf_only : {true, false}) {
    agent.caches.invalidate_all();
    agent.read(kAddress);
    auto command = pasid_iotlb(PasidIotlbInvalidation::Granularity::kPage, 0, kAddress);
    command.leaf_only = leaf_only;
    EXPECT_EQ(agent.caches.invalidate(command), leaf_only ? 1U : 4U);
    EXPECT_EQ(agent.read(kAddress).total_reads(), leaf_only ? 1U : 4U);
  }
}

// [IOM-6.4]; SFE-14: 16 pages by AM=4.
TEST_F(Caches, AddressMaskCoversItsPages) {
  for (std::uint64_t page = 0; page < 32; ++page) {
    agent.tables.map_second((page + 16) << 12, 0x40'0000 | page << 12 | kReadWrite);
    agent.read((page + 16) << 12, 1);
  }
  IotlbInvalidation command = iotlb(IotlbInvalidation::Granularity::kPage, 8, 0x1'0000);
  command.address_mask = 4;
  command.leaf_only = true;
  EXPECT_EQ(agent.caches.invalidate(command), 16U);
  command.address = 0x2'0000;  // what is left
  EXPECT_EQ(agent.caches.invalidate(command), 16U);
}

// [IOM-6.4]
TEST_F(Caches, SuperpageGoesWithAnyOfItsPages) {
  agent.tables.map_second(0x4000'0000, 0x8000'0000 | kReadWrite, 2);
  agent.read(0x4000'5000, 1);
  EXPECT_EQ(agent.read(0x4010'0000, 1).total_reads(), 0U);
  agent.caches.invalidate(iotlb(IotlbInvalidation::Granularity::kPage, 8, 0x401f'f000));
  EXPECT_GT(agent.read(0x4010'0000, 1).total_reads(), 0U);
}

// [IOM-6.8]
TEST_F(Caches, PAS_41_RewrittenEntriesStayInUseUntilTypes1And7) {
  agent.read(kAddress);
  agent.tables.memory.write(agent.tables.entry_at(0), 0);
  agent.tables.memory.write(agent.tables.context_at(), 0);
  EXPECT_EQ(agent.read(kAddress).outcome, WalkOutcome::kTranslated);
  PasidCacheInvalidation other;
  other.granularity = PasidCacheInvalidation::Granularity::kPasid;
  other.domain = 9;
  other.pasid = Pasid{3};
  EXPECT_EQ(agent.caches.invalidate(other), 0U);
  other.pasid = Pasid{0};
  EXPECT_EQ(agent.caches.invalidate(other), 1U);
  EXPECT_EQ(agent.read(kAddress).fault, FaultReason::kPasidEntryNotPresent);
  ContextCacheInvalidation context;
  context.granularity = ContextCacheInvalidation::Granularity::kDevice;
  context.source = Bdf::of(1, 0, 1);
  EXPECT_EQ(agent.caches.invalidate(context), 0U);
  context.function_mask = 3;
  EXPECT_EQ(agent.caches.invalidate(context), 1U);
  EXPECT_EQ(agent.read(kAddress).fault, FaultReason::kContextNotPresent);
}

// [IOM-6.2]
TEST_F(Caches, PAS_42_WithCachingModeAbsenceIsCachedToo) {
  const std::uint64_t hole = kAddress + 0x5000;
  for (const bool caching_mode : {false, true}) {
    agent.tables.offers.caching_mode = caching_mode;
    EXPECT_EQ(agent.read(hole).fault, FaultReason::kFirstStageNotPresent);
    const std::uint64_t at = agent.tables.map_first(hole, 0x55'5000 | kUserPage);
    EXPECT_EQ(agent.read(hole).fault,
              caching_mode ? FaultReason::kFirstStageNotPresent : FaultReason::kNone);
    agent.caches.invalidate(pasid_iotlb(PasidIotlbInvalidation::Granularity::kPage, 0, hole));
    EXPECT_EQ(agent.read(hole).fault, FaultReason::kNone);
    agent.caches.invalidate_all();
    agent.tables.memory.write(at, 0);
  }
}

// [IOM-6.7]
TEST_F(Caches, WriteThroughACleanEntryWalksToSetDirty) {
  agent.read(kAddress);
  EXPECT_EQ(agent.write(kAddress).updates, 1U);
  EXPECT_EQ(agent.tables.memory.read(leaf) & 0x40, 0x40U);
  EXPECT_EQ(agent.write(kAddress).total_reads(), 0U);
}

// [IOM-8.2]
TEST_F(Caches, PageRequestDropsItsPage) {
  agent.read(kAddress);
  EXPECT_EQ(agent.caches.invalidate_page(9, Pasid{1}, kAddress), 0U);
  EXPECT_EQ(agent.caches.invalidate_page(8, Pasid{0}, kAddress), 0U);
  EXPECT_EQ(agent.caches.invalidate_page(9, Pasid{0}, kAddress + 0x123), 1U);
}

// [IOM-6.1]
TEST_F(Caches, NestedWalksUseCachedSecondStagePages) {
  agent.tables.set_pasid(2, 3, 2, 0, 0, 0, 5);
  for (const std::uint64_t page : {kFirstTables, std::uint64_t{0x30'0000}, std::uint64_t{0x30'1000},
                                   std::uint64_t{0x30'2000}, kPage}) {
    agent.tables.map_second(page, page | kReadWrite);
  }
  EXPECT_EQ(agent.read(kAddress, 2).total_reads(), 28U);
  agent.tables.map_first(kAddress + 0x1000, kPage | kUserPage);
  EXPECT_EQ(agent.read(kAddress + 0x1000, 2).total_reads(), 1U);
  agent.caches.invalidate(iotlb(IotlbInvalidation::Granularity::kPage, 5, kPage));
  EXPECT_GT(agent.read(kAddress, 2).total_reads(), 1U);
}

/// Maps, unmaps and accesses at random with the right invalidations: no stale translation.
// [IOM-6.3]
TEST(TranslationCachesAtRandom, NothingStaleAfterTheRightInvalidation) {
  Agent agent;
  Random random(11);
  for (std::uint32_t pasid = 0; pasid < 4; ++pasid) {
    agent.tables.set_pasid(pasid, 1, 2, 0, 0, 0, 20 + pasid % 2);
    agent.tables.memory.write(agent.tables.entry_at(pasid) + 16, 0x1000'0000 + (pasid << 24));
  }
  for (unsigned i = 0; i < 40'000; ++i) {
    const auto pasid = static_cast<std::uint32_t>(random.below(4));
    const std::uint64_t address = (random.below(4) << 30 | random.below(24) << 12);
    const std::uint64_t top = 0x1000'0000 + (std::uint64_t{pasid} << 24);
    if (random.chance(0.1)) {
      const std::uint64_t frame = random.chance(0.3) ? 0 : random.below(1 << 20) << 12 | kUserPage;
      const bool is_present = frame != 0 && !is_interrupt_address(frame & ~0xfffULL);
      agent.tables.map(top, 4, address, is_present ? frame : 0, 1, kUserPage);
      PasidIotlbInvalidation command;
      command.granularity = random.chance(0.2) ? PasidIotlbInvalidation::Granularity::kPasid
                                               : PasidIotlbInvalidation::Granularity::kPage;
      command.domain = static_cast<std::uint16_t>(20 + pasid % 2);
      command.pasid = Pasid{pasid};
      command.address = address;
      command.leaf_only = random.chance(0.5);
      agent.caches.invalidate(command);
    }
    const WalkRequest request = agent.tables.request_with_pasid(pasid, address, random.chance(0.3));
    const WalkResult expected = agent.tables.walk(request);
    const WalkResult result = agent.access(request);
    ASSERT_EQ(result.fault, expected.fault) << i;
    ASSERT_TRUE(expected.fault != FaultReason::kNone || result.address == expected.address) << i;
  }
}

// [IOM-6.9] Its address is a physical one: it leaves structures and no translation.
TEST(TranslationCaches, SEC_03_ATranslatedRequestLeavesNothingInTheIotlb) {
  Agent agent;
  agent.tables.offers.secure_ats = true;
  agent.tables.set_pasid(0, 1);
  agent.tables.memory.write(agent.tables.entry_at(0) + 24, 0x40'0001);
  for (const std::uint64_t word : {0x40'0000, 0x40'1000, 0x40'2000}) {
    agent.tables.memory.write(word, (word + 0x1000) | 1);
  }
  agent.tables.memory.write(0x40'3000 + 8 * (kPage >> 17), ~0ULL);
  WalkRequest request = agent.tables.request(kPage);
  request.kind = WalkKind::kTranslated;
  EXPECT_EQ(agent.access(request).fault, FaultReason::kNone);
  EXPECT_EQ(agent.caches.invalidate_page(kPage), 0U);
  EXPECT_NE(agent.caches.find_pasid(request.source, Pasid{0}), nullptr);
}

}  // namespace
}  // namespace flitwise::test::translation_caches_test
