// SPDX-License-Identifier: Apache-2.0
// Walks through the first stage: levels, rights, reserved bits, accessed and dirty bits.
#include <gtest/gtest.h>

#include <vector>

#include "iommu/walk.h"
#include "unit/iommu/table_memory.h"

namespace flitwise::test::walk_first_stage_test {
namespace {

using F = FaultReason;
constexpr std::uint64_t kAddress = 0x12'3456'7000;
constexpr std::uint64_t kPage = 0x77'7000;

class FirstStage : public ::testing::Test {
 protected:
  FirstStage() {
    tables.set_pasid(0, 1);
    leaf = tables.map_first(kAddress, kPage | kUserPage);
  }
  std::uint64_t at(unsigned level) { return tables.entry_of(kFirstTables, 4, kAddress, level); }
  std::uint64_t entry(unsigned level) { return tables.memory.read(at(level)); }
  void change(unsigned level, std::uint64_t value) { tables.memory.write(at(level), value); }
  void expect(F reason, bool write = false) {
    EXPECT_EQ(tables.fault(tables.request(kAddress, write)), reason)
        << static_cast<unsigned>(tables.fault(tables.request(kAddress, write)));
  }
  Tables tables;
  std::uint64_t leaf = 0;
};

TEST_F(FirstStage, IOM_2_17_WhatTheLeafSaysStandsInTheAnswer) {
  const auto answer = [&](bool has_pasid, bool is_from_cache) {
    return translation_entry_of(tables.walk(tables.translation_request(kAddress)), has_pasid, 0,
                                is_from_cache);
  };
  EXPECT_FALSE(answer(true, true).global || answer(true, true).forbids_cache);
  change(1, entry(1) | 0x110);  // G and PCD
  EXPECT_TRUE(answer(true, false).global);
  EXPECT_FALSE(answer(false, false).global) << "it speaks of PASIDs";
  EXPECT_TRUE(answer(false, true).forbids_cache);
  EXPECT_FALSE(answer(false, false).forbids_cache);
}

TEST_F(FirstStage, PAS_16_FiveLevelsReadFiveEntries) {
  tables = Tables();
  tables.set_pasid(0, 1, 2, 1);
  const std::uint64_t address = 0x00ab'1234'5678'9000;
  tables.map_first(address, kPage | kUserPage, 1, 5);
  const WalkResult result = tables.write(address | 0x10);
  EXPECT_EQ(result.address, kPage | 0x10);
  EXPECT_EQ(result.reads[static_cast<unsigned>(TableKind::kFirstStage)], 5U);
  EXPECT_EQ(tables.read(0x0100'0000'0000'0000).fault, F::kNotCanonical);
  EXPECT_EQ(tables.read(0xff00'0000'0000'0000).fault, F::kFirstStageNotPresent);
}

TEST_F(FirstStage, PAS_18_CanonicalByTheNumberOfLevels) {
  tables.map_first(0xffff'8000'0000'0000, 0x55'5000 | kUserPage);
  EXPECT_EQ(tables.read(0xffff'8000'0000'0123).address, 0x55'5123U);
  EXPECT_EQ(tables.read(0x0000'8000'0000'0000).fault, F::kNotCanonical);
  EXPECT_EQ(tables.read(0xffff'7fff'ffff'f000).fault, F::kNotCanonical);
  EXPECT_EQ(tables.read(0x0000'7fff'ffff'f000).fault, F::kFirstStageNotPresent);
}

TEST_F(FirstStage, PAS_19_PAS_20_UserSupervisorAtEachLevel) {
  for (unsigned level = 1; level <= 4; ++level) {
    const std::uint64_t before = entry(level);
    change(level, before & ~4ULL);
    expect(F::kUserSupervisor);
    change(level, before);
  }
}

// [PAS-19, IOM-2.11]
TEST_F(FirstStage, PrivilegedRequestsReachSupervisorPagesIfSreAllows) {
  change(1, entry(1) & ~4ULL);
  WalkRequest request = tables.request_with_pasid(0, kAddress, false);
  request.wish.privileged = true;
  EXPECT_EQ(tables.fault(request), F::kSupervisorDisabled);
  tables.set_pasid(0, 1, 2, 0, 0, 1);
  EXPECT_EQ(tables.walk(request).address, kPage);
  EXPECT_TRUE(tables.walk(request).is_privileged);
}

// [IOM-2.11]
TEST_F(FirstStage, WriteProtectBindsPrivilegedWritesOnly) {
  change(2, entry(2) & ~2ULL);
  WalkRequest request = tables.request_with_pasid(0, kAddress, true);
  request.wish.privileged = true;
  tables.set_pasid(0, 1, 2, 0, 0, 1);
  EXPECT_EQ(tables.walk(request).outcome, WalkOutcome::kTranslated);
  tables.set_pasid(0, 1, 2, 0, 0, 1 | 1 << 4);
  EXPECT_EQ(tables.fault(request), F::kNoWrite);
  request.wish.privileged = false;
  tables.set_pasid(0, 1);
  EXPECT_EQ(tables.fault(request), F::kNoWrite);
}

// [IOM-2.12]
TEST_F(FirstStage, ExecuteNeedsEreAndNoXd) {
  WalkRequest request = tables.request_with_pasid(0, kAddress, false);
  request.wish.execute = true;
  EXPECT_EQ(tables.fault(request), F::kExecuteDisabled);
  tables.set_pasid(0, 1, 2, 0, 0, 2);
  EXPECT_TRUE(tables.walk(request).execute);
  change(3, entry(3) | 1ULL << 63);
  EXPECT_EQ(tables.fault(request), F::kNoExecute);
}

TEST_F(FirstStage, PAS_21_WriteNeedsRwAtEachLevel) {
  for (unsigned level = 1; level <= 4; ++level) {
    const std::uint64_t before = entry(level);
    change(level, before & ~2ULL);
    expect(F::kNoWrite, true);
    expect(F::kNone);
    EXPECT_FALSE(tables.read(kAddress).write);
    change(level, before);
  }
  expect(F::kNone, true);
}

// [IOM-4.1]
TEST_F(FirstStage, NotPresentAtEachLevel) {
  for (unsigned level = 1; level <= 4; ++level) {
    const std::uint64_t before = entry(level);
    change(level, before & ~1ULL);
    expect(F::kFirstStageNotPresent);
    change(level, before);
  }
}

// [IOM-2.8]
TEST_F(FirstStage, PAS_22_SuperpagesTranslateAndMustBeAligned) {
  change(2, 0x4000'0000 | kUserPage | 0x80);
  const WalkResult result = tables.read(kAddress | 0xcb0);
  EXPECT_EQ(result.address, 0x4000'0000U | ((kAddress | 0xcb0) & 0x1f'ffff));
  EXPECT_EQ(result.page_bits, 21U);
  EXPECT_EQ(result.total_reads(), 7U);
  change(2, entry(2) | 1ULL << 12);  // PAT
  expect(F::kNone);
  change(2, entry(2) | 1ULL << 13);
  expect(F::kFirstStageReserved);
  change(3, 0x8000'0000 | kUserPage | 0x80);
  EXPECT_EQ(tables.read(kAddress).page_bits, 30U);
  EXPECT_EQ(tables.read(kAddress).address, 0x8000'0000U | (kAddress & 0x3fff'ffff));
  change(3, entry(3) | 1ULL << 29);
  expect(F::kFirstStageReserved);
}

TEST_F(FirstStage, PAS_23_PageSizeBitAtTheTopIsReserved) {
  change(4, entry(4) | 0x80);
  expect(F::kFirstStageReserved);
}

TEST_F(FirstStage, PAS_24_BitsBeyondTheHostWidthAreReservedAtEachLevel) {
  for (unsigned level = 1; level <= 4; ++level) {
    const std::uint64_t before = entry(level);
    for (const unsigned bit : {48U, 51U}) {
      change(level, before | 1ULL << bit);
      expect(F::kFirstStageReserved);
    }
    change(level, before);
  }
  tables.offers.host_address_bits = 52;
  change(1, entry(1) | 1ULL << 51);
  expect(F::kNone);
}

TEST_F(FirstStage, PAS_25_XdAndIgnoredBitsDoNotMatterToData) {
  for (unsigned level = 1; level <= 4; ++level) {
    change(level, entry(level) | 1ULL << 63 | 0x7ffULL << 52);
  }
  change(1, entry(1) | 0x80 | 0x100);  // PAT, G
  expect(F::kNone);
  expect(F::kNone, true);
  EXPECT_TRUE(tables.read(kAddress).is_global);
}

TEST_F(FirstStage, PAS_31_AccessedEverywhereAndDirtyInTheLeafOfAWrite) {
  const WalkResult read = tables.read(kAddress);
  EXPECT_EQ(read.updates, 4U);
  EXPECT_TRUE(read.write_needs_walk);
  for (unsigned level = 1; level <= 4; ++level) {
    EXPECT_EQ(entry(level) & 0x60, 0x20U);
  }
  const WalkResult write = tables.write(kAddress);
  EXPECT_EQ(write.updates, 1U);
  EXPECT_FALSE(write.write_needs_walk);
  EXPECT_EQ(entry(1), kPage | 0x67);
  EXPECT_EQ(entry(2) & 0x60, 0x20U);
  EXPECT_EQ(tables.write(kAddress).updates, 0U);
}

// [IOM-2.10]
TEST_F(FirstStage, ExtendedAccessedBitIsNotOffered) {
  tables.set_pasid(0, 1, 2, 0, 0, 1 << 7);
  tables.read(kAddress);
  EXPECT_EQ(entry(1) & 0x420, 0x20U);
}

TEST_F(FirstStage, PAS_32_PAS_44_TranslationRequestThatSetsDirtyAnswersWritable) {
  const WalkResult result = tables.walk(tables.translation_request(kAddress));
  EXPECT_TRUE(result.read && result.write);
  EXPECT_FALSE(result.write_needs_walk);
  EXPECT_EQ(entry(1) & 0x60, 0x60U);
}

// PAS-43 where there is no hit: the second walk answers as the first.
TEST_F(FirstStage, PAS_43_SecondTranslationRequestAnswersTheSame) {
  const WalkResult first = tables.walk(tables.translation_request(kAddress));
  const WalkResult second = tables.walk(tables.translation_request(kAddress));
  EXPECT_EQ(first.read, second.read);
  EXPECT_EQ(first.write, second.write);
  EXPECT_EQ(second.updates, 0U);
}

TEST_F(FirstStage, ATR_15_ATR_16_NoWriteIsAnsweredReadOnlyAndLeavesThePageClean) {
  const WalkResult result = tables.walk(tables.translation_request(kAddress, true));
  EXPECT_TRUE(result.read);
  EXPECT_FALSE(result.write);
  EXPECT_EQ(entry(1) & 0x60, 0x20U);
}

TEST_F(FirstStage, ATR_24_TranslationRequestForAHoleTellsItsSizeAndLeavesNoRecord) {
  const unsigned bits[] = {12, 21, 30, 39};
  for (unsigned level = 4; level >= 1; --level) {
    Tables holed = tables;
    holed.memory.write(at(level), 0);
    const WalkResult result = holed.walk(tables.translation_request(kAddress));
    EXPECT_EQ(result.outcome, WalkOutcome::kTranslated);
    EXPECT_EQ(result.answer, CplStatus::kSC);
    EXPECT_FALSE(result.read || result.write || result.is_recorded);
    EXPECT_EQ(result.page_bits, bits[level - 1]);
  }
}

// [IOM-7.2]
TEST_F(FirstStage, TranslationRequestForAReadOnlyPageLacksTheWriteBit) {
  change(2, entry(2) & ~2ULL);
  const WalkResult result = tables.walk(tables.translation_request(kAddress));
  EXPECT_TRUE(result.read);
  EXPECT_FALSE(result.write);
  EXPECT_EQ(result.fault, F::kNone);
  EXPECT_EQ(entry(1) & 0x40, 0U);
}

// [PAS-44]: software changes the entry between the read of it and its update.
TEST_F(FirstStage, EntryChangedBeforeItsUpdateIsJudgedAnew) {
  Walk walk(tables.request(kAddress), tables.root, tables.offers);
  while (!(walk.next()->address == leaf && walk.next()->kind == MemoryAccess::Kind::kSetBits)) {
    tables.memory.serve(walk);
  }
  tables.memory.write(leaf, 0);
  EXPECT_EQ(tables.memory.finish(walk).fault, F::kFirstStageNotPresent);
  EXPECT_EQ(tables.memory.read(leaf), 0U);
}

// [IOM-6.1]
TEST_F(FirstStage, StartsAtACachedTable) {
  Walk cold(tables.request(kAddress), tables.root, tables.offers);
  tables.memory.finish(cold);
  ASSERT_EQ(cold.table_count(), 4U);
  for (unsigned i = 0; i < 4; ++i) {
    Walk warm(tables.request(kAddress), tables.root, tables.offers);
    warm.use_context(cold.context());
    warm.use_pasid_entry(cold.pasid_entry());
    warm.use_table(cold.table(i));
    EXPECT_EQ(tables.memory.finish(warm).address, kPage);
    EXPECT_EQ(warm.result().total_reads(), 4U - i);
  }
}

// [IOM-6.1]
TEST_F(FirstStage, RightsOnTheWayToACachedTableStillCount) {
  change(4, entry(4) & ~2ULL);
  Walk cold(tables.request(kAddress), tables.root, tables.offers);
  tables.memory.finish(cold);
  Walk warm(tables.request(kAddress, true), tables.root, tables.offers);
  warm.use_context(cold.context());
  warm.use_pasid_entry(cold.pasid_entry());
  warm.use_table(cold.table(3));
  EXPECT_EQ(tables.memory.finish(warm).fault, F::kNoWrite);
}

}  // namespace
}  // namespace flitwise::test::walk_first_stage_test
