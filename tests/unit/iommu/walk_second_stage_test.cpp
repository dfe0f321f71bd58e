// SPDX-License-Identifier: Apache-2.0
// Walks through the second stage, alone and below the first.
#include <gtest/gtest.h>

#include <vector>

#include "iommu/walk.h"
#include "unit/iommu/table_memory.h"

namespace flitwise::test::walk_second_stage_test {
namespace {

using F = FaultReason;
constexpr std::uint64_t kAddress = 0x12'3456'7000;
constexpr std::uint64_t kPage = 0x77'7000;

class SecondStage : public ::testing::Test {
 protected:
  SecondStage() {
    tables.set_pasid(0, 2);
    leaf = tables.map_second(kAddress, kPage | kReadWrite);
  }
  std::uint64_t at(unsigned level) { return tables.entry_of(kSecondTables, 4, kAddress, level); }
  std::uint64_t entry(unsigned level) { return tables.memory.read(at(level)); }
  void change(unsigned level, std::uint64_t value) { tables.memory.write(at(level), value); }
  void expect(F reason, bool write = false) {
    EXPECT_EQ(tables.fault(tables.request(kAddress, write)), reason);
  }
  Tables tables;
  std::uint64_t leaf = 0;
};

TEST_F(SecondStage, PAS_17_InputBeyondTheAddressWidth) {
  tables = Tables();
  tables.set_pasid(0, 2, 1);
  const std::uint64_t high = (1ULL << 39) - 0x1000;
  tables.map_second(high, kPage | kReadWrite, 1, 3);
  EXPECT_EQ(tables.write(high).address, kPage);
  EXPECT_EQ(tables.write(high).total_reads(), 7U);
  EXPECT_EQ(tables.read(1ULL << 39).fault, F::kAddressTooHigh);
}

// [IOM-2.1]
TEST_F(SecondStage, FiveLevels) {
  tables = Tables();
  tables.offers.second_stage_5_level = true;
  tables.set_pasid(0, 2, 3);
  const std::uint64_t address = 0x00ab'1234'5678'9000;
  tables.map_second(address, kPage | kReadWrite, 1, 5);
  EXPECT_EQ(tables.read(address).address, kPage);
  EXPECT_EQ(tables.read(address).total_reads(), 9U);
  EXPECT_EQ(tables.read(1ULL << 57).fault, F::kAddressTooHigh);
}

TEST_F(SecondStage, PAS_26_WriteOnlyMappingTakesWrites) {
  for (unsigned level = 1; level <= 4; ++level) {
    change(level, entry(level) & ~1ULL);
  }
  expect(F::kNone, true);
  expect(F::kSecondStagePermission);
  WalkRequest request = tables.request(kAddress);
  request.wish.zero_length = true;
  EXPECT_EQ(tables.fault(request), F::kNone);
}

TEST_F(SecondStage, PAS_27_EntryWithoutRightsIsAPermissionFault) {
  for (unsigned level = 1; level <= 4; ++level) {
    const std::uint64_t before = entry(level);
    change(level, 0);
    expect(F::kSecondStagePermission);
    expect(F::kSecondStagePermission, true);
    change(level, before & ~2ULL);
    expect(F::kSecondStagePermission, true);
    expect(F::kNone);
    change(level, before);
  }
}

// [PAS-28]
TEST_F(SecondStage, SnoopOfTheLeafCounts) {
  change(1, entry(1) | 0x800);
  EXPECT_TRUE(tables.read(kAddress).is_snooped);
}

TEST_F(SecondStage, IOM_2_17_WhatTheLeafSaysStandsInTheAnswer) {
  const auto answer = [&](bool has_pasid = true) {
    return translation_entry_of(tables.walk(tables.translation_request(kAddress)), has_pasid, 0);
  };
  EXPECT_FALSE(answer().clears_no_snoop || answer().untranslated_only || answer().global);
  const std::uint64_t plain = entry(1);
  change(1, plain | 0x800);
  EXPECT_TRUE(answer().clears_no_snoop);
  change(1, plain | std::uint64_t{1} << 62);
  EXPECT_TRUE(answer().untranslated_only);
  EXPECT_EQ(answer().translated, 0U) << "an address that nobody may use";
}

TEST_F(SecondStage, PAS_29_SnoopAboveTheLeafIsReserved) {
  for (unsigned level = 2; level <= 4; ++level) {
    const std::uint64_t before = entry(level);
    change(level, before | 0x800);
    expect(F::kSecondStageReserved);
    change(level, before);
  }
}

// [PAS-30]
TEST_F(SecondStage, TransientIsIgnoredInALeaf) {
  change(1, entry(1) | 1ULL << 62);
  expect(F::kNone);
}

// [IOM-2.9]
TEST_F(SecondStage, OtherReservedBits) {
  const std::uint64_t top = entry(4);
  change(4, top | 0x80);
  expect(F::kSecondStageReserved);
  change(4, top | 1ULL << 51);
  expect(F::kSecondStageReserved);
  change(4, top | 0x3ffULL << 52);
  expect(F::kNone);
  change(2, 0x4000'0000 | kReadWrite | 0x80);
  EXPECT_EQ(tables.read(kAddress).page_bits, 21U);
  for (const unsigned bit : {12U, 20U}) {
    change(2, 0x4000'0000 | kReadWrite | 0x80 | 1ULL << bit);
    expect(F::kSecondStageReserved);
  }
}

// [IOM-2.13]
TEST_F(SecondStage, AccessedAndDirtyWithSsadeOnly) {
  EXPECT_EQ(tables.write(kAddress).updates, 0U);
  EXPECT_FALSE(tables.write(kAddress).write_needs_walk);
  tables.set_pasid(0, 2, 2, 0, 1 << 9);
  EXPECT_EQ(tables.read(kAddress).updates, 4U);
  EXPECT_EQ(entry(1) & 0x300, 0x100U);
  EXPECT_TRUE(tables.read(kAddress).write_needs_walk);
  EXPECT_EQ(tables.write(kAddress).updates, 1U);
  EXPECT_EQ(entry(1) & 0x300, 0x300U);
}

TEST_F(SecondStage, IOM_4_2_PointerThatReachesNoMemoryIsFault7b) {
  tables.memory.break_at(at(4));
  expect(F::kSecondStagePointerInvalid);
  tables = Tables();
  tables.set_pasid(0, 2);
  leaf = tables.map_second(kAddress, kPage | kReadWrite);
  tables.memory.break_at(at(3));
  expect(F::kSecondStageAccess);
}

// [IOM-6.1]
TEST_F(SecondStage, StartsAtACachedTable) {
  change(4, entry(4) & ~2ULL);
  Walk cold(tables.request(kAddress), tables.root, tables.offers);
  tables.memory.finish(cold);
  ASSERT_EQ(cold.table_count(), 4U);
  Walk warm(tables.request(kAddress, true), tables.root, tables.offers);
  warm.use_context(cold.context());
  warm.use_pasid_entry(cold.pasid_entry());
  warm.use_table(cold.table(2));
  EXPECT_EQ(tables.memory.finish(warm).fault, F::kSecondStagePermission);
  EXPECT_EQ(warm.result().total_reads(), 1U);
}

/// First-stage tables lie at guest addresses that the second stage maps 1:1.
class Nested : public ::testing::Test {
 protected:
  Nested() {
    tables.set_pasid(0, 3);
    tables.map_first(kAddress, kPage | kUserPage);
    for (std::uint64_t page : {kFirstTables, std::uint64_t{0x300000}, std::uint64_t{0x301000},
                               std::uint64_t{0x302000}}) {
      tables.map_second(page, page | kReadWrite);
    }
    leaf = tables.map_second(kPage, 0x99'9000 | kReadWrite);
  }
  std::uint64_t second(std::uint64_t guest, unsigned level = 1) {
    return tables.entry_of(kSecondTables, 4, guest, level);
  }
  std::uint64_t first(unsigned level) { return tables.entry_of(kFirstTables, 4, kAddress, level); }
  Tables tables;
  std::uint64_t leaf = 0;
};

// [IOM-2.1]
TEST_F(Nested, FourOnFourLevelsReadTwentyEightEntries) {
  const WalkResult result = tables.read(kAddress | 0x123);
  EXPECT_EQ(result.address, 0x99'9123U);
  EXPECT_EQ(result.total_reads(), 28U);
  EXPECT_EQ(result.reads[static_cast<unsigned>(TableKind::kSecondStage)], 20U);
  EXPECT_EQ(result.page_bits, 12U);
}

// [IOM-2.14]
TEST_F(Nested, PageIsTheSmallerOfBothStages) {
  tables.memory.write(first(2), 0x4000'0000 | kUserPage | 0x80);
  tables.map_second(0x4000'0000 | (kAddress & 0x1f'f000), 0x88'8000 | kReadWrite);
  EXPECT_EQ(tables.read(kAddress).page_bits, 12U);
  EXPECT_EQ(tables.read(kAddress).address, 0x88'8000U);
  tables.memory.write(second(0x4000'0000, 3), 0xc000'0000 | kReadWrite | 0x80);
  EXPECT_EQ(tables.read(kAddress).page_bits, 21U);
  EXPECT_EQ(tables.read(kAddress).address, 0xc000'0000U | (kAddress & 0x1f'f000));
}

TEST_F(Nested, PAS_33_FirstStageDeniesWhileSecondAllows) {
  tables.memory.write(first(3), tables.memory.read(first(3)) & ~2ULL);
  EXPECT_EQ(tables.write(kAddress).fault, F::kNoWrite);
  EXPECT_EQ(tables.read(kAddress).fault, F::kNone);
}

TEST_F(Nested, PAS_34_SecondStageDeniesATableOfTheFirst) {
  tables.memory.write(second(0x301000), 0x301000);
  EXPECT_EQ(tables.read(kAddress).fault, F::kSecondStagePermission);
}

// [PAS-34]: setting A is a write to the table.
TEST_F(Nested, PAS_34_SecondStageDeniesTheUpdateOfATable) {
  tables.memory.write(second(0x301000), 0x301000 | 1);
  EXPECT_EQ(tables.read(kAddress).fault, F::kSecondStagePermission);
  tables.memory.write(first(2), tables.memory.read(first(2)) | 0x20);
  EXPECT_EQ(tables.read(kAddress).fault, F::kNone);
}

// [PAS-34]: D is a write to the table, so that W is what the answer lacks.
TEST_F(Nested, IOM_7_2_TranslationRequestIsAnsweredWithoutWWhereDCannotBeSet) {
  tables.set_pasid(0, 3, 2, 0, 1 << 9);
  const std::uint64_t table = first(1) & ~std::uint64_t{0xfff};
  tables.memory.write(second(table), table | 1);
  EXPECT_EQ(tables.walk(tables.translation_request(kAddress)).fault, F::kSecondStagePermission);
  tables.memory.write(first(1), tables.memory.read(first(1)) | 0x20);  // A
  const WalkResult result = tables.walk(tables.translation_request(kAddress));
  EXPECT_EQ(result.fault, F::kNone);
  EXPECT_TRUE(result.read);
  EXPECT_FALSE(result.write);
  EXPECT_TRUE(result.write_needs_walk);
  EXPECT_EQ(result.address, 0x99'9000U);
  EXPECT_EQ(tables.memory.read(first(1)) & 0x60, 0x20U);
  EXPECT_EQ(tables.memory.read(leaf) & 0x300, 0x100U);  // no write, no D
  EXPECT_EQ(tables.write(kAddress).fault, F::kSecondStagePermission);
  tables.memory.write(first(1), tables.memory.read(first(1)) | 0x60);
  EXPECT_TRUE(tables.walk(tables.translation_request(kAddress)).write);
}

// [IOM-4.2]
TEST_F(Nested, PageThatTheSecondStageDenies) {
  tables.memory.write(leaf, 0x99'9000 | 1);
  EXPECT_EQ(tables.write(kAddress).fault, F::kSecondStagePermission);
  EXPECT_EQ(tables.read(kAddress).fault, F::kNone);
}

TEST_F(Nested, IOM_4_2_PointerThatReachesNoMemoryIsFault7b) {
  tables.memory.break_at(second(kPage, 4));
  EXPECT_EQ(tables.read(kAddress).fault, F::kSecondStagePointerInvalid);
}

// [IOM-4.2]
TEST_F(Nested, GuestAddressesBeyondTheSecondStage) {
  tables.offers.host_address_bits = 52;
  tables.memory.write(first(1), 1ULL << 49 | kUserPage);
  EXPECT_EQ(tables.read(kAddress).fault, F::kSecondStageAddressTooHigh);
  tables.memory.write(first(3), 1ULL << 49 | kUserPage);
  EXPECT_EQ(tables.read(kAddress).fault, F::kNestedTableTooHigh);
}

// [IOM-2.13]
TEST_F(Nested, UpdatingATableMarksItsPageDirty) {
  tables.set_pasid(0, 3, 2, 0, 1 << 9);
  tables.read(kAddress);
  EXPECT_EQ(tables.memory.read(second(0x301000)) & 0x300, 0x300U);
  EXPECT_EQ(tables.memory.read(leaf) & 0x300, 0x100U);
  tables.write(kAddress);
  EXPECT_EQ(tables.memory.read(leaf) & 0x300, 0x300U);
}

// [IOM-6.1]
TEST_F(Nested, SecondStageCanComeFromACache) {
  tables.write(kAddress);
  Walk walk(tables.request(kAddress, true), tables.root, tables.offers);
  unsigned asked = 0;
  while (!walk.is_done()) {
    const auto guest = walk.second_stage_input();
    if (guest && *guest < 0x400000) {
      SecondStageLeaf known;
      known.page = *guest & ~0xfffULL;
      known.read = known.write = true;
      walk.use_second_stage(known);
      ++asked;
    }
    tables.memory.serve(walk);
  }
  EXPECT_EQ(asked, 4U);
  EXPECT_EQ(walk.result().address, 0x99'9000U);
  EXPECT_EQ(walk.result().total_reads(), 4U + 4U + 4U);
}

}  // namespace
}  // namespace flitwise::test::walk_second_stage_test
