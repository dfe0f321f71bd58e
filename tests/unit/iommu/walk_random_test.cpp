// SPDX-License-Identifier: Apache-2.0
// Walks over random tables against a second walker: outcome, address, rights, reads and memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "common/random.h"
#include "iommu/walk.h"
#include "unit/iommu/reference_walker.h"
#include "unit/iommu/table_memory.h"

namespace flitwise::test::walk_random_test {
namespace {

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e37'79b9'7f4a'7c15;
  x = (x ^ (x >> 29)) * 0xbf58'476d'1ce4'e5b9;
  return x ^ (x >> 32);
}

/// Every word nobody wrote is a paging entry made from its address: nearly always a good one.
class EndlessTables : public TableMemory {
 public:
  EndlessTables(std::uint64_t seed, unsigned faults_in_1024)
      : seed_(seed), faults_in_1024_(faults_in_1024) {}
  bool is_broken(std::uint64_t address) const override {
    return mix(address * 3 + seed_) % 8192 < faults_in_1024_;
  }

 protected:
  std::uint64_t background(std::uint64_t address) const override {
    std::uint64_t h = mix(address + seed_);
    const auto one_in = [&h](std::uint64_t n) {
      h = mix(h + 0x5555);
      return h % n == 0;
    };
    std::uint64_t entry = (h >> 20 & 0x7f'ffffU) << 12;  // tables and pages below 32 GiB
    entry |= one_in(16) ? 0 : 1;
    entry |= one_in(16) ? 0 : 2;
    entry |= one_in(16) ? 0 : 4;
    entry |= h & 0x760;
    if (one_in(6)) {
      entry = (entry & ~(one_in(8) ? 0ULL : 0x3fff'f000ULL)) | 0x80;
    }
    if (one_in(64)) {
      entry |= 1ULL << (h >> 8) % 64;
    }
    if (one_in(24)) {
      entry |= one_in(2) ? 1ULL << 63 : 1ULL << (36 + (h >> 40) % 16);
    }
    if (one_in(200)) {
      entry = (entry & 0xfff) | 0xfee0'0000;
    }
    return entry;
  }

 private:
  std::uint64_t seed_;
  unsigned faults_in_1024_;
};

class RandomCase {
 public:
  explicit RandomCase(std::uint64_t seed, bool is_checked = false)
      : random_(seed), walked(seed, 4) {
    make_offers();
    make_structures();
    make_request();
    if (is_checked) {
      make_permissions();
    }
    referred = walked;
  }

 private:
  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
  std::uint64_t flipped(std::uint64_t value, std::uint64_t n) {
    return one_in(n) ? value ^ 1ULL << random_.below(64) : value;
  }
  void make_offers() {
    for (bool* flag : {&offers.first_stage_5_level, &offers.second_stage_5_level, &offers.nested,
                       &offers.rid_pasid}) {
      *flag = !one_in(5);
    }
    offers.host_address_bits = static_cast<std::uint8_t>(36 + random_.below(17));
    offers.pasid_bits = static_cast<std::uint8_t>(one_in(4) ? 7 : 20);
  }
  void make_structures() {
    request.source = Bdf{static_cast<std::uint16_t>(random_.below(65536))};
    const bool is_upper = (request.source.value & 0x80) != 0;
    const std::uint64_t root_at = root.address + 16 * request.source.bus();
    walked.write(root_at + (is_upper ? 8 : 0), flipped(0x50'0001, 60));
    walked.write(root_at + (is_upper ? 0 : 8), flipped(0x60'0001, 200));
    const std::uint64_t at = 0x50'0000 + 32 * (request.source.value & 0x7f);
    const std::uint64_t enables = one_in(20) ? 0xd : one_in(40) ? 0x19 : 0x1d;  // no PRE, no DTE
    const std::uint64_t flags = enables | (one_in(8) ? 2 : 0) | random_.below(3) << 9;
    const std::uint64_t rid = one_in(3) ? random_.below(40000) : 0;
    walked.write(at, flipped(0x700'0000 | flags, 40));
    walked.write(at + 8, flipped(rid | (one_in(6) ? 1 << 20 : 0), 100));
    if (one_in(2)) {
      request.pasid = Pasid{static_cast<std::uint32_t>(random_.below(one_in(4) ? 40000 : 300))};
    }
    const std::uint32_t pasid = request.pasid.has_value() ? to_int(*request.pasid)
                                : offers.rid_pasid        ? static_cast<std::uint32_t>(rid)
                                                          : 0;
    walked.write(0x700'0000 + pasid / 64 * 8, flipped(0x800'0001 | (one_in(8) ? 2 : 0), 40));
    make_pasid_entry(0x800'0000 + pasid % 64 * 64);
  }
  void make_pasid_entry(std::uint64_t at) {
    pasid_entry_ = at;
    const std::uint64_t type = one_in(20) ? random_.below(8) : 1 + random_.below(4);
    const std::uint64_t aw = one_in(20) ? random_.below(8) : 1 + random_.below(3);
    const std::uint64_t mode = one_in(20) ? random_.below(4) : random_.below(2);
    const std::uint64_t ssade = random_.below(2) << 9;
    walked.write(at, flipped(0x900'0001 | aw << 2 | type << 6 | ssade | (one_in(8) ? 2 : 0), 40));
    walked.write(at + 8, random_.below(65536) | random_.below(4) << 23);
    const std::uint64_t flags = random_.next() & 0x93;
    walked.write(at + 16, flipped(0xa00'0000 | mode << 2 | flags, 40));
  }
  void make_request() {
    const std::uint64_t widths[] = {39, 47, 48, 56, 57, 64};
    const std::uint64_t width = one_in(4) ? widths[random_.below(6)] : 38;
    request.address = width == 64 ? random_.next() : random_.below(1ULL << width);
    if (one_in(10)) {
      request.address |= 0xffff'8000'0000'0000;
    }
    if (one_in(100)) {
      request.address = 0xfee0'0000 + random_.below(0x10'0000);
    }
    const std::uint64_t kind = random_.below(12);
    request.kind = kind < 6    ? WalkKind::kUntranslated
                   : kind < 10 ? WalkKind::kTranslationRequest
                   : kind < 11 ? WalkKind::kTranslated
                               : WalkKind::kPageRequest;
    request.wish.write = one_in(2);
    request.wish.read = request.kind == WalkKind::kTranslationRequest || !request.wish.write ||
                        one_in(8);  // else an atomic operation
    request.wish.execute = one_in(6);
    request.wish.privileged = one_in(4);
    request.wish.zero_length = !request.wish.write && one_in(10);
  }

  // A translated request, and a word at each level on the way to its page.
  void make_permissions() {
    offers.secure_ats = !one_in(20);
    request.kind = WalkKind::kTranslated;
    request.wish.read = !request.wish.write || one_in(8);
    request.is_trusted = one_in(2);
    request.address = random_.below(std::uint64_t{1} << (one_in(8) ? 52 : 36));
    const std::uint64_t trust = (request.is_trusted != one_in(8)) ? 2 : 0;
    walked.write(pasid_entry_ + 24, flipped(0xb00'0000 | trust | (one_in(16) ? 0 : 1), 16));
    std::uint64_t table = 0xb00'0000;
    for (unsigned low = offers.host_address_bits > 44 ? 44 : 35; low > 17; low -= 9) {
      const std::uint64_t next = table + 0x10'0000;
      const std::uint64_t large = 0x81 | random_.below(4) << 1;
      const std::uint64_t word = one_in(8) ? large : next | (one_in(16) ? 0 : 1);
      walked.write(table + (request.address >> low & 0x1ff) * 8, flipped(word, 12));
      table = next;
    }
    walked.write(table + (request.address >> 17 & 0x1ff) * 8, random_.next() | random_.next());
  }

  Random random_;
  std::uint64_t pasid_entry_ = 0;

 public:
  IommuCapabilities offers;
  RootTable root{0x40'0000, TableMode::kScalable};
  WalkRequest request;
  EndlessTables walked, referred{0, 0};
};

void expect_same(const WalkResult& result, const ReferenceWalker::Answer& expected) {
  using What = ReferenceWalker::Answer::What;
  const WalkOutcome outcome = expected.what == What::kOk          ? WalkOutcome::kTranslated
                              : expected.what == What::kInterrupt ? WalkOutcome::kInterrupt
                                                                  : WalkOutcome::kFault;
  const CplStatus answer = expected.status == 'U'   ? CplStatus::kUR
                           : expected.status == 'C' ? CplStatus::kCA
                                                    : CplStatus::kSC;
  EXPECT_EQ(result.outcome, outcome);
  EXPECT_EQ(static_cast<unsigned>(result.fault), expected.code);
  EXPECT_EQ(result.is_recorded, expected.recorded);
  EXPECT_EQ(result.answer, answer);
  EXPECT_EQ(result.total_reads(), expected.reads);
  EXPECT_EQ(result.updates, expected.updates);
  if (outcome != WalkOutcome::kTranslated) {
    return;
  }
  EXPECT_EQ(result.page_bits, expected.bits);
  EXPECT_EQ(result.read, expected.r);
  EXPECT_EQ(result.write, expected.w);
  EXPECT_EQ(result.execute, expected.x);
  if (expected.code == 0) {
    EXPECT_EQ(result.address, expected.pa);
    EXPECT_EQ(result.is_snooped, expected.snoop);
    EXPECT_EQ(result.write_needs_walk, expected.unclean);
  }
}

// [IOM-2.1, IOM-3.2, IOM-4.1, IOM-7.1]
TEST(WalkOverRandomTables, AgreesWithASecondWalker) {
  std::map<unsigned, unsigned> reasons;
  unsigned translated = 0, deepest = 0;
  for (std::uint64_t seed = 1; seed <= 100'000; ++seed) {
    RandomCase random(seed);
    ReferenceWalker reference(random.referred, random.offers);
    const ReferenceWalker::Answer expected = reference.walk(random.request, random.root);
    Walk walk(random.request, random.root, random.offers);
    const WalkResult result = random.walked.finish(walk);
    expect_same(result, expected);
    EXPECT_EQ(random.walked.words(), random.referred.words());
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
    ++reasons[expected.code];
    translated += expected.code == 0 && expected.reads > 4 ? 1 : 0;
    deepest = std::max(deepest, expected.reads);
  }
  EXPECT_GT(translated, 5'000U);
  EXPECT_EQ(deepest, 4U + 5U * 6U + 5U);
  for (const unsigned code :
       {0x38U, 0x39U, 0x3aU, 0x40U, 0x41U, 0x42U, 0x44U, 0x45U, 0x46U, 0x47U, 0x48U, 0x50U,
        0x51U, 0x52U, 0x58U, 0x59U, 0x5aU, 0x5bU, 0x5cU, 0x5dU, 0x70U, 0x71U, 0x72U, 0x73U,
        0x74U, 0x78U, 0x79U, 0x7aU, 0x7bU, 0x80U, 0x81U, 0x82U, 0x83U, 0x84U, 0x85U, 0x87U}) {
    EXPECT_GT(reasons[code], 0U) << std::hex << code;
  }
}

// [SEC-01, IOM-2.15, IOM-2.16, IOM-4.3]
TEST(WalkOverRandomTables, SEC_01_PermissionsAgreeWithASecondWalker) {
  std::map<unsigned, unsigned> reasons;
  for (std::uint64_t seed = 1; seed <= 30'000; ++seed) {
    RandomCase random(seed, true);
    ReferenceWalker reference(random.referred, random.offers);
    const ReferenceWalker::Answer expected = reference.walk(random.request, random.root);
    Walk walk(random.request, random.root, random.offers);
    expect_same(random.walked.finish(walk), expected);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
    ++reasons[expected.code];
  }
  EXPECT_GT(reasons[0], 5'000U);
  for (const unsigned code : {0x44U, 0x48U, 0x59U, 0x5aU, 0xf0U, 0xf1U, 0xf2U, 0xf3U}) {
    EXPECT_GT(reasons[code], 5U) << std::hex << code;
  }
}

/// Walks again from what the first walk left in caches: the same answer with fewer reads.
// [IOM-6.1]
TEST(WalkOverRandomTables, StartFromCachesAgreesWithAColdWalk) {
  unsigned compared = 0;
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    RandomCase random(seed);
    Walk cold(random.request, random.root, random.offers);
    const WalkResult first = random.walked.finish(cold);
    if (!cold.has_pasid_entry() || cold.table_count() == 0) {
      continue;
    }
    for (unsigned i = 0; i < cold.table_count(); ++i) {
      Walk warm(random.request, random.root, random.offers);
      warm.use_context(cold.context());
      warm.use_pasid_entry(cold.pasid_entry());
      warm.use_table(cold.table(i));
      const WalkResult again = random.walked.finish(warm);
      EXPECT_EQ(again.outcome, first.outcome);
      EXPECT_EQ(again.fault, first.fault);
      EXPECT_EQ(again.address, first.address);
      EXPECT_EQ(again.write, first.write);
      EXPECT_EQ(again.read, first.read);
      EXPECT_EQ(again.is_recorded, first.is_recorded);
      EXPECT_EQ(again.domain, first.domain);
      EXPECT_LT(again.total_reads(), first.total_reads());
      ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed;
      ++compared;
    }
  }
  EXPECT_GT(compared, 10'000U);
}

}  // namespace
}  // namespace flitwise::test::walk_random_test
