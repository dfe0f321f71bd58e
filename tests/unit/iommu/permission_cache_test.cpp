// SPDX-License-Identifier: Apache-2.0
// What stays of permission tables, and what each revocation removes.
#include "iommu/translation_caches.h"

#include <gtest/gtest.h>

#include <array>

#include "common/random.h"
#include "iommu/table_builder.h"
#include "unit/iommu/table_memory.h"

namespace flitwise::test::permission_cache_test {
namespace {

using Granularity = PermissionInvalidation::Granularity;

constexpr std::uint64_t kPage = 0x77'7000;
constexpr unsigned kPermissionReads = static_cast<unsigned>(TableKind::kPermission);

/// An agent with a permission cache and no other; PASIDs 1 to 3 are domains 1 to 3.
class Agent {
 public:
  explicit Agent(unsigned entries = 64)
      : cache({entries, entries < 8 ? 0U : 8U, CachePolicy::kLru}) {
    offers.secure_ats = true;
    for (unsigned pasid = 1; pasid <= 3; ++pasid) {
      Mapping mapping;
      mapping.function = Bdf::of(1, 0, 0);
      mapping.pasid = Pasid{pasid};
      mapping.bytes = 0x1000;
      mapping.domain = static_cast<std::uint16_t>(pasid);
      builder.map(mapping);
    }
  }
  void permit(unsigned pasid, std::uint64_t address, std::uint64_t bytes, bool read, bool write,
              unsigned unit_bits = kPageBits) {
    PermissionGrant grant;
    grant.function = Bdf::of(1, 0, 0);
    grant.pasid = Pasid{pasid};
    grant.address = address;
    grant.bytes = bytes;
    grant.unit_bits = unit_bits;
    grant.permission = {read, write};
    builder.permit(grant);
  }
  WalkResult access(unsigned pasid, std::uint64_t address, bool read, bool write) {
    WalkRequest request;
    request.source = Bdf::of(1, 0, 0);
    request.pasid = Pasid{pasid};
    request.address = address;
    request.kind = WalkKind::kTranslated;
    request.wish.read = read;
    request.wish.write = write;
    Walk walk(request, {TableBuilder::kDefaultArea, TableMode::kScalable}, offers);
    while (!walk.is_done()) {
      if (!cache.advance(walk)) {
        memory.serve(walk);
      }
    }
    cache.keep(walk);
    return walk.result();
  }
  bool may_write(unsigned pasid, std::uint64_t address) {
    return access(pasid, address, false, true).fault == FaultReason::kNone;
  }
  unsigned reads(unsigned pasid, std::uint64_t address) {
    return access(pasid, address, false, true).reads[kPermissionReads];
  }
  void revoke(Granularity granularity, std::uint16_t domain = 0, std::uint64_t address = 0,
              unsigned address_mask = 0, bool all_domains = false) {
    PermissionInvalidation command;
    command.granularity = granularity;
    command.domain = domain;
    command.address = address;
    command.address_mask = static_cast<std::uint8_t>(address_mask);
    command.all_domains = all_domains;
    cache.invalidate(command);
  }

  TableMemory memory;
  IommuCapabilities offers;
  TableBuilder builder{[this](std::uint64_t address, std::uint64_t value) {
    memory.write(address, value);
    return true;
  }};
  PermissionCache cache;
};

TEST(PermissionCache, SEC_03_AMissWalksOnceAndHitsReadNothing) {
  Agent agent;
  agent.permit(1, kPage, 0x2000, true, true);
  EXPECT_EQ(agent.reads(1, kPage), 4U);
  EXPECT_EQ(agent.reads(1, kPage + 0x40), 0U);
  EXPECT_EQ(agent.reads(1, kPage + 0x1000), 0U) << "one word tells of 32 pages";
}

TEST(PermissionCache, SEC_03_UpperTablesShortenTheWalkToANeighbour) {
  Agent agent;
  agent.permit(1, 0x70'0000, 0x20'0000, true, true);
  EXPECT_EQ(agent.reads(1, kPage), 4U);
  EXPECT_EQ(agent.reads(1, kPage + 0x2'0000), 1U);
  agent.permit(1, 0x400'0000, 0x1000, true, true);  // the next leaf table
  EXPECT_EQ(agent.reads(1, 0x400'0000), 2U);
}

TEST(PermissionCache, SEC_03_ALargeWordIsKeptForItsWholeRange) {
  Agent agent;
  agent.permit(1, 0x400'0000, 0x400'0000, true, true, 26);
  EXPECT_EQ(agent.reads(1, 0x400'0000), 3U);
  EXPECT_EQ(agent.reads(1, 0x7ff'f000), 0U);
}

TEST(PermissionCache, SEC_03_WithoutEntriesEveryCheckWalks) {
  Agent agent(0);
  agent.permit(1, kPage, 0x1000, true, true);
  EXPECT_EQ(agent.reads(1, kPage), 4U);
  EXPECT_EQ(agent.reads(1, kPage), 4U);
  EXPECT_FALSE(agent.cache.exists());
}

TEST(PermissionCache, SEC_02_DomainsDoNotShareWords) {
  Agent agent;
  agent.permit(1, kPage, 0x1000, true, true);
  agent.permit(2, kPage, 0x1000, true, false);
  EXPECT_TRUE(agent.may_write(1, kPage));
  EXPECT_FALSE(agent.may_write(2, kPage));
  EXPECT_FALSE(agent.may_write(3, kPage)) << "no table";
}

TEST(PermissionCache, IOM_6_9_ARightThatIsGivenNeedsNoInvalidation) {
  Agent agent;
  agent.permit(1, kPage, 0x1000, true, false);
  EXPECT_FALSE(agent.may_write(1, kPage));
  agent.permit(1, kPage, 0x1000, true, true);
  EXPECT_TRUE(agent.may_write(1, kPage));
  EXPECT_EQ(agent.reads(1, kPage), 0U);
}

TEST(PermissionCache, SEC_05_ARightThatIsTakenLastsUntilItIsInvalidated) {
  for (const auto& [granularity, domain, mask, all, goes] :
       {std::tuple{Granularity::kGlobal, 0, 0U, false, true},
        std::tuple{Granularity::kDomain, 1, 0U, false, true},
        std::tuple{Granularity::kDomain, 2, 0U, false, false},
        std::tuple{Granularity::kRange, 1, 0U, false, true},
        std::tuple{Granularity::kRange, 2, 0U, false, false},
        std::tuple{Granularity::kRange, 2, 0U, true, true}}) {
    Agent agent;
    agent.permit(1, kPage, 0x1000, true, true);
    EXPECT_TRUE(agent.may_write(1, kPage));
    agent.permit(1, kPage, 0x1000, false, false);
    EXPECT_TRUE(agent.may_write(1, kPage));
    agent.revoke(granularity, static_cast<std::uint16_t>(domain), kPage, mask, all);
    EXPECT_EQ(agent.may_write(1, kPage), !goes) << static_cast<int>(granularity) << " " << domain;
  }
}

TEST(PermissionCache, SEC_05_ARangeTakesTheWordsThatOverlapIt) {
  Agent agent;
  agent.permit(1, 0, 0x400'0000, true, true);
  for (const std::uint64_t page : {0x0ULL, 0x2'0000ULL, 0x4'0000ULL, 0x20'0000ULL}) {
    EXPECT_TRUE(agent.may_write(1, page));
  }
  agent.permit(1, 0, 0x400'0000, false, false);
  agent.revoke(Granularity::kRange, 1, 0x3'f000);  // in the second word
  EXPECT_TRUE(agent.may_write(1, 0));
  EXPECT_FALSE(agent.may_write(1, 0x2'0000));
  EXPECT_TRUE(agent.may_write(1, 0x4'0000));
  agent.revoke(Granularity::kRange, 1, 0, 9);  // 2 MiB
  EXPECT_FALSE(agent.may_write(1, 0));
  EXPECT_FALSE(agent.may_write(1, 0x4'0000));
  EXPECT_TRUE(agent.may_write(1, 0x20'0000));
}

TEST(PermissionCache, SEC_05_ATableThatIsTakenAwayLastsUntilItIsInvalidatedToo) {
  Agent agent;
  agent.permit(1, 0, 0x400'0000, true, true);
  PermissionGrant grant;
  grant.function = Bdf::of(1, 0, 0);
  grant.pasid = Pasid{1};
  grant.address = kPage;
  grant.bytes = 0x1000;
  const std::uint64_t table_word = agent.builder.permit(grant).words.at(2);
  EXPECT_TRUE(agent.may_write(1, kPage));
  agent.memory.write(table_word, 0);
  EXPECT_TRUE(agent.may_write(1, 0)) << "another word, of a table that is known";
  agent.revoke(Granularity::kDomain, 1);
  EXPECT_FALSE(agent.may_write(1, 0x2'0000));
}

TEST(PermissionCache, SEC_05_AnotherTableIsAnotherDomainsEvenUnderTheSameNumber) {
  Agent agent;
  agent.permit(1, kPage, 0x1000, true, true);
  EXPECT_TRUE(agent.may_write(1, kPage));
  PermissionGrant grant;
  grant.function = Bdf::of(1, 0, 0);
  grant.pasid = Pasid{1};
  grant.address = kPage;
  grant.bytes = 0x1000;
  const std::uint64_t pointer = agent.builder.permit(grant).pointer;
  agent.memory.write(pointer, 0x900'0001);  // an empty table
  EXPECT_FALSE(agent.may_write(1, kPage));
}

/// Rights of 8 MiB by pages of three domains: as they are, and all that were since the latest
/// invalidation of the page.
struct Expected {
  static constexpr std::size_t kPages = 1U << 11;
  std::array<std::array<std::uint8_t, kPages>, 4> now{}, lately{};
  void set(unsigned domain, std::size_t first, std::size_t count, std::uint8_t rights) {
    for (std::size_t page = first; page < first + count; ++page) {
      now[domain][page] = rights;
      lately[domain][page] |= rights;
    }
  }
  void forget(unsigned domain, std::size_t first, std::size_t count) {
    for (std::size_t page = first; page < first + count; ++page) {
      lately[domain][page] = now[domain][page];
    }
  }
};

// What memory grants is always granted, what neither it nor a word of old grants is never.
TEST(PermissionCache, SEC_05_RandomGrantsAndRevocationsLetNothingElseThrough) {
  Random random(7);
  Agent agent(32);
  const auto expected = std::make_unique<Expected>();
  unsigned stale = 0;
  for (unsigned step = 0; step < 200'000; ++step) {
    const auto domain = static_cast<unsigned>(1 + random.below(3));
    const std::size_t page = random.below(1024);
    const std::uint64_t address = std::uint64_t{page} << kPageBits;
    const std::uint64_t kind = random.below(32);
    const auto rights = static_cast<std::uint8_t>(random.below(4));
    if (kind < 4) {
      const std::size_t count =
          std::min<std::size_t>(1 + random.below(64), Expected::kPages - page);
      agent.permit(domain, address, count << kPageBits, (rights & 1) != 0, (rights & 2) != 0);
      expected->set(domain, page, count, rights);
    } else if (kind == 4) {
      const auto mask = static_cast<unsigned>(random.below(6));
      const std::size_t first = page >> mask << mask;
      agent.revoke(Granularity::kRange, static_cast<std::uint16_t>(domain), address, mask);
      expected->forget(domain, first, std::size_t{1} << mask);
    } else if (kind == 5 && random.below(16) == 0) {
      agent.revoke(Granularity::kDomain, static_cast<std::uint16_t>(domain));
      expected->forget(domain, 0, Expected::kPages);
    } else {
      const auto wish = static_cast<std::uint8_t>(1 + random.below(3));
      const bool passes = agent.access(domain, address, (wish & 1) != 0, (wish & 2) != 0).fault ==
                          FaultReason::kNone;
      const bool must = (wish & ~expected->now[domain][page]) == 0;
      const bool may = (wish & ~expected->lately[domain][page]) == 0;
      ASSERT_TRUE(!must || passes) << step;
      ASSERT_TRUE(!passes || may) << step;
      stale += passes && !must ? 1 : 0;
    }
  }
  EXPECT_GT(stale, 100U) << "the cache held on to what was taken";
}

}  // namespace
}  // namespace flitwise::test::permission_cache_test
