// SPDX-License-Identifier: Apache-2.0
// Walks through root, context, PASID directory and PASID table.
#include <gtest/gtest.h>

#include <vector>

#include "iommu/walk.h"
#include "unit/iommu/table_memory.h"

namespace flitwise::test::walk_structures_test {
namespace {

using F = FaultReason;

class WalkStructures : public ::testing::Test {
 protected:
  WalkStructures() {
    tables.set_pasid(0, 1);
    tables.map_first(0x5000, 0x77000 | kUserPage);
  }
  void expect_fault(F reason, const WalkRequest& request) {
    const WalkResult result = tables.walk(request);
    EXPECT_EQ(result.outcome, WalkOutcome::kFault);
    EXPECT_EQ(result.fault, reason) << static_cast<unsigned>(result.fault);
    EXPECT_TRUE(result.is_recorded);
  }
  void expect_read_fault(F reason) { expect_fault(reason, tables.request(0x5000)); }
  Tables tables;
};

// [IOM-2.1]
TEST_F(WalkStructures, ColdFourLevelWalkReadsEightEntries) {
  const WalkResult result = tables.read(0x5678);
  EXPECT_EQ(result.outcome, WalkOutcome::kTranslated);
  EXPECT_EQ(result.address, 0x77678U);
  EXPECT_EQ(result.total_reads(), 8U);
  EXPECT_EQ(result.domain, 9U);
  EXPECT_EQ(result.type, TranslationType::kFirstStage);
  EXPECT_EQ(result.reads[static_cast<unsigned>(TableKind::kFirstStage)], 4U);
}

// [IOM-2.1]
TEST_F(WalkStructures, AccessesHaveTheSizeOfTheirStructure) {
  Walk walk(tables.request(0x5000), tables.root, tables.offers);
  std::vector<unsigned> bytes;
  while (!walk.is_done()) {
    bytes.push_back(walk.next()->bytes);
    tables.memory.serve(walk);
  }
  ASSERT_GE(bytes.size(), 8U);
  EXPECT_EQ(std::vector<unsigned>(bytes.begin(), bytes.begin() + 5),
            (std::vector<unsigned>{16, 32, 8, 64, 8}));
  EXPECT_FALSE(walk.next());
}

// [IOM-2.2]
TEST_F(WalkStructures, DevfnFrom128UsesTheUpperContextTable) {
  tables.function = Bdf::of(1, 16, 0);  // devfn 128: entry 0 of the upper table
  tables.memory.write(tables.root_at() + 8, 0x19001);
  tables.memory.write(0x19000, tables.context_low);
  EXPECT_EQ(tables.read(0x5000).address, 0x77000U);
  tables.memory.write(0x19000, 0);
  expect_read_fault(F::kContextNotPresent);
}

TEST_F(WalkStructures, PAS_01_RequestWithoutPasidUsesRidPasid) {
  tables.set_pasid(5, 4);
  tables.memory.write(tables.context_at() + 8, 5);
  const WalkResult result = tables.read(0x5123);
  EXPECT_EQ(result.address, 0x5123U);
  EXPECT_EQ(result.pasid, Pasid{5});
  EXPECT_EQ(result.total_reads(), 4U);
}

TEST_F(WalkStructures, PAS_02_WithoutRpsRidPasidIsIgnored) {
  tables.set_pasid(5, 4);
  tables.memory.write(tables.context_at() + 8, 5);
  tables.offers.rid_pasid = false;
  EXPECT_EQ(tables.read(0x5123).address, 0x77123U);
  tables.memory.write(kDirectory, 0);
  expect_read_fault(F::kPasidDirectoryNotPresent);
}

TEST_F(WalkStructures, PAS_03_PasidAboveTheDirectoryFaults) {
  tables.set_pasid(8191, 4);
  EXPECT_EQ(tables.walk(tables.request_with_pasid(8191, 0x9000, false)).address, 0x9000U);
  expect_fault(F::kPasidTooLarge, tables.request_with_pasid(8192, 0x9000, false));
  tables.memory.write(tables.context_at(), tables.context_low | 1 << 9);
  tables.set_pasid(8192, 4);
  EXPECT_EQ(tables.walk(tables.request_with_pasid(8192, 0x9000, false)).address, 0x9000U);
}

// [PAS-03] also by what the machine offers; CFG-10.
TEST_F(WalkStructures, PAS_03_PasidWiderThanOfferedFaults) {
  tables.memory.write(tables.context_at(), tables.context_low | 7 << 9);
  tables.offers.pasid_bits = 16;
  expect_fault(F::kPasidTooLarge, tables.request_with_pasid(1 << 16, 0x9000, false));
}

// [IOM-2.7]
TEST_F(WalkStructures, RidPasidAboveTheDirectoryFaults) {
  tables.memory.write(tables.context_at() + 8, 8192);
  expect_read_fault(F::kRidPasidInvalid);
}

TEST_F(WalkStructures, PAS_04_RootNotPresent) {
  tables.memory.write(tables.root_at(), kContextTable);
  expect_read_fault(F::kRootNotPresent);
}

TEST_F(WalkStructures, PAS_05_RootReservedBits) {
  for (const unsigned bit : {1U, 5U, 11U, 48U, 63U}) {
    tables.memory.write(tables.root_at(), kContextTable | 1 | std::uint64_t{1} << bit);
    expect_read_fault(F::kRootReserved);
  }
}

// [IOM-2.2]
TEST_F(WalkStructures, PAS_05_ReservedBitsOfAHalfThatIsNotPresentDoNotCount) {
  for (const unsigned bit : {1U, 5U, 11U, 63U}) {
    tables.memory.write(tables.root_at() + 8, std::uint64_t{1} << bit);
    EXPECT_EQ(tables.read(0x5678).address, 0x77678U);
    tables.memory.write(tables.root_at() + 8, std::uint64_t{1} << bit | 1);
    expect_read_fault(F::kRootReserved);
  }
}

TEST_F(WalkStructures, PAS_06_ContextNotPresent) {
  tables.memory.write(tables.context_at(), tables.context_low & ~std::uint64_t{1});
  expect_read_fault(F::kContextNotPresent);
}

// [IOM-2.3]
TEST_F(WalkStructures, PAS_07_ContextReservedBits) {
  for (const unsigned bit : {5U, 6U, 7U, 8U, 48U, 63U}) {
    tables.memory.write(tables.context_at(), tables.context_low | std::uint64_t{1} << bit);
    expect_read_fault(F::kContextReserved);
  }
  tables.memory.write(tables.context_at(), tables.context_low);
  for (const unsigned bit : {21U, 63U}) {
    tables.memory.write(tables.context_at() + 8, std::uint64_t{1} << bit);
    expect_read_fault(F::kContextReserved);
  }
}

TEST_F(WalkStructures, PAS_08_DeviceTlbDisabledBlocksTranslatedAndTranslationRequests) {
  tables.memory.write(tables.context_at(), tables.context_low & ~std::uint64_t{4});
  WalkRequest translated = tables.request(0x5000);
  translated.kind = WalkKind::kTranslated;
  expect_fault(F::kDeviceTlbDisabled, translated);
  expect_fault(F::kDeviceTlbDisabled, tables.translation_request(0x5000));
  EXPECT_EQ(tables.walk(tables.translation_request(0x5000)).answer, CplStatus::kUR);
  EXPECT_EQ(tables.read(0x5000).outcome, WalkOutcome::kTranslated);
}

// [PAS-08]: the context is all that a translated request reads.
TEST_F(WalkStructures, PAS_08_TranslatedRequestReadsRootAndContextOnly) {
  WalkRequest translated = tables.request(0x1234'5000);
  translated.kind = WalkKind::kTranslated;
  const WalkResult result = tables.walk(translated);
  EXPECT_EQ(result.outcome, WalkOutcome::kTranslated);
  EXPECT_EQ(result.address, 0x1234'5000U);
  EXPECT_EQ(result.total_reads(), 2U);
}

TEST_F(WalkStructures, PAS_09_PasidDisabled) {
  tables.memory.write(tables.context_at(), tables.context_low & ~std::uint64_t{8});
  expect_fault(F::kPasidDisabled, tables.request_with_pasid(0, 0x5000, false));
  EXPECT_EQ(tables.read(0x5000).outcome, WalkOutcome::kTranslated);
}

TEST_F(WalkStructures, PRI_18_PageRequestWithoutPreFaults) {
  WalkRequest request = tables.request_with_pasid(0, 0x5000, false);
  request.kind = WalkKind::kPageRequest;
  EXPECT_EQ(tables.walk(request).outcome, WalkOutcome::kTranslated);
  tables.memory.write(tables.context_at(), tables.context_low & ~std::uint64_t{0x10});
  expect_fault(F::kPageRequestDisabled, request);
}

TEST_F(WalkStructures, PAS_10_DirectoryEntryNotPresent) {
  tables.memory.write(kDirectory, kPasidTable);
  expect_read_fault(F::kPasidDirectoryNotPresent);
}

// [IOM-2.5]
TEST_F(WalkStructures, PasidEntryReservedBitsAndDomain) {
  tables.set_pasid(0, 1, 2, 0, 0, 0, 0xbeef);
  EXPECT_EQ(tables.read(0x5000).domain, 0xbeefU);
  EXPECT_FALSE(tables.read(0x5000).is_snooped);
  tables.set_pasid(0, 1, 2, 0, 0, 0, 1 << 24);
  EXPECT_TRUE(tables.read(0x5000).is_snooped);
  for (const unsigned bit : {10U, 11U}) {
    tables.set_pasid(0, 1, 2, 0, 1ULL << bit);
    expect_read_fault(F::kPasidEntryReserved);
  }
}

// [IOM-2.4]
TEST_F(WalkStructures, DirectoryEntryReservedBits) {
  for (const unsigned bit : {2U, 11U, 48U}) {
    tables.memory.write(kDirectory, kPasidTable | 1 | std::uint64_t{1} << bit);
    expect_read_fault(F::kPasidDirectoryReserved);
  }
}

TEST_F(WalkStructures, PAS_11_PasidEntryNotPresent) {
  tables.memory.write(tables.entry_at(0), tables.memory.read(tables.entry_at(0)) & ~1ULL);
  expect_read_fault(F::kPasidEntryNotPresent);
}

// [IOM-2.6]
TEST_F(WalkStructures, PAS_12_OtherTranslationTypesAreInvalid) {
  for (const unsigned type : {0U, 5U, 6U, 7U}) {
    tables.set_pasid(0, type);
    expect_read_fault(F::kPasidEntryInvalid);
  }
}

TEST_F(WalkStructures, PAS_13_PagingModeThatIsNotOffered) {
  tables.offers.first_stage_5_level = false;
  for (const unsigned mode : {1U, 2U, 3U}) {
    tables.set_pasid(0, 1, 2, mode);
    expect_read_fault(F::kPasidEntryInvalid);
  }
}

TEST_F(WalkStructures, PAS_14_NestedWithoutNest) {
  tables.offers.nested = false;
  tables.set_pasid(0, 3);
  expect_read_fault(F::kPasidEntryInvalid);
}

TEST_F(WalkStructures, PAS_15_PassThroughIsIdentityBelowItsWidth) {
  for (const unsigned aw : {1U, 2U}) {
    tables.set_pasid(0, 4, aw);
    EXPECT_EQ(tables.write(0x1234'5678).address, 0x1234'5678U);
  }
  tables.set_pasid(0, 4, 1);
  EXPECT_EQ(tables.read((1ULL << 39) - 8).outcome, WalkOutcome::kTranslated);
  expect_fault(F::kAddressTooHigh, tables.request(1ULL << 39));
}

TEST_F(WalkStructures, PAS_36_FpdBlocksTheRecordOnly) {
  const std::uint64_t entry = tables.memory.read(tables.entry_at(0));
  tables.memory.write(tables.context_at(), tables.context_low | 2);
  EXPECT_EQ(tables.read(0x6000).fault, F::kFirstStageNotPresent);
  EXPECT_FALSE(tables.read(0x6000).is_recorded);
  tables.memory.write(tables.context_at(), tables.context_low);
  EXPECT_TRUE(tables.read(0x6000).is_recorded);
  tables.memory.write(kDirectory, kPasidTable | 3);
  EXPECT_FALSE(tables.read(0x6000).is_recorded);
  tables.memory.write(kDirectory, 2);
  EXPECT_FALSE(tables.read(0x6000).is_recorded);
  tables.memory.write(kDirectory, kPasidTable | 1);
  tables.memory.write(tables.entry_at(0), (entry & ~1ULL) | 2);
  EXPECT_EQ(tables.read(0x6000).fault, F::kPasidEntryNotPresent);
  EXPECT_FALSE(tables.read(0x6000).is_recorded);
}

// [IOM-9.2]
TEST_F(WalkStructures, FpdDoesNotHideContextAccessOrReservedFaults) {
  tables.memory.write(tables.context_at(), tables.context_low | 2 | 0x20);
  expect_read_fault(F::kContextReserved);
}

// [IOM-4.1]
TEST_F(WalkStructures, MemoryErrorsHaveTheCodeOfTheStructure) {
  tables.set_pasid(1, 2);
  const std::uint64_t addresses[] = {tables.root_at(), tables.context_at(), kDirectory,
                                     tables.entry_at(0), kFirstTables};
  const F reasons[] = {F::kRootAccess, F::kContextAccess, F::kPasidDirectoryAccess,
                       F::kPasidEntryAccess, F::kFirstStageTopAccess};
  for (unsigned i = 0; i < 5; ++i) {
    Tables broken = tables;
    broken.memory.break_at(addresses[i]);
    EXPECT_EQ(broken.read(0x5000).fault, reasons[i]);
  }
  Tables low = tables;
  low.memory.break_at(tables.entry_of(kFirstTables, 4, 0x5000, 2));
  EXPECT_EQ(low.read(0x5000).fault, F::kFirstStageAccess);
  Tables second = tables;
  second.memory.break_at(kSecondTables);
  EXPECT_EQ(second.fault(tables.request_with_pasid(1, 0x5000, false)),
            F::kSecondStagePointerInvalid);
}

// [IOM-1.6]
TEST_F(WalkStructures, TableModeOtherThanScalableIsRefused) {
  tables.root.mode = TableMode::kLegacy;
  expect_read_fault(F::kRootAddressInvalid);
  expect_fault(F::kPasidInLegacyMode, tables.request_with_pasid(0, 0x5000, false));
  WalkRequest page_request = tables.request(0x5000);
  page_request.kind = WalkKind::kPageRequest;
  expect_fault(F::kPageRequestInLegacyMode, page_request);
  tables.root.mode = TableMode::kAbort;
  expect_read_fault(F::kRootAddressInvalid);
  tables.root = {1ULL << 50, TableMode::kScalable};
  expect_read_fault(F::kRootAddressInvalid);
}

TEST_F(WalkStructures, PAS_35_WriteToTheInterruptWindowIsNotTranslated) {
  const WalkResult result = tables.write(0xfee0'0000);
  EXPECT_EQ(result.outcome, WalkOutcome::kInterrupt);
  EXPECT_EQ(result.total_reads(), 0U);
  EXPECT_EQ(tables.write(0xfeef'fffc).outcome, WalkOutcome::kInterrupt);
  EXPECT_EQ(tables.fault(tables.request(0xfedf'f000, true)), F::kFirstStageNotPresent);
  EXPECT_EQ(tables.fault(tables.request(0xfef0'0000, true)), F::kFirstStageNotPresent);
  EXPECT_EQ(tables.fault(tables.request(0xfee0'0000)), F::kInterruptRange);
}

TEST_F(WalkStructures, ATR_27_TranslationRequestToTheInterruptWindowGetsNothing) {
  const WalkResult result = tables.walk(tables.translation_request(0xfee0'0000));
  EXPECT_EQ(result.outcome, WalkOutcome::kTranslated);
  EXPECT_FALSE(result.read || result.write);
  EXPECT_TRUE(result.is_recorded);
  EXPECT_EQ(result.fault, F::kInterruptRange);
}

// [IOM-3.3]
TEST_F(WalkStructures, RequestsWithPasidAreTranslatedInTheInterruptWindow) {
  tables.map_first(0xfee0'0000, 0x77000 | kUserPage);
  EXPECT_EQ(tables.walk(tables.request_with_pasid(0, 0xfee0'0008, true)).address, 0x77008U);
  EXPECT_EQ(tables.walk(tables.request_with_pasid(0, 0xfee0'0008, false)).address, 0x77008U);
}

// [IOM-3.3]
TEST_F(WalkStructures, OutputInTheInterruptWindowFaults) {
  tables.map_first(0x6000, 0xfee0'1000 | kUserPage);
  EXPECT_EQ(tables.read(0x6000).fault, F::kInterruptRange);
}

// [IOM-6.1]
TEST_F(WalkStructures, StartsFromCachedContextAndPasidEntry) {
  Walk cold(tables.request(0x5000), tables.root, tables.offers);
  tables.memory.finish(cold);
  ASSERT_TRUE(cold.has_context() && cold.has_pasid_entry());
  Walk warm(tables.request(0x5000), tables.root, tables.offers);
  warm.use_context(cold.context());
  warm.use_pasid_entry(cold.pasid_entry());
  EXPECT_EQ(tables.memory.finish(warm).address, 0x77000U);
  EXPECT_EQ(warm.result().total_reads(), 4U);
  EXPECT_EQ(warm.result().domain, 9U);
}

// [IOM-6.1]
TEST_F(WalkStructures, CachedPasidEntryKeepsTheFpdOfItsDirectory) {
  tables.memory.write(kDirectory, kPasidTable | 3);
  Walk cold(tables.request(0x5000), tables.root, tables.offers);
  tables.memory.finish(cold);
  Walk warm(tables.request(0x6000), tables.root, tables.offers);
  warm.use_context(cold.context());
  warm.use_pasid_entry(cold.pasid_entry());
  EXPECT_EQ(tables.memory.finish(warm).fault, F::kFirstStageNotPresent);
  EXPECT_FALSE(warm.result().is_recorded);
}

// [IOM-7.1]
TEST_F(WalkStructures, AnswersToTranslationRequestsByCause) {
  Tables broken = tables;
  broken.memory.write(broken.root_at(), 0);
  EXPECT_EQ(broken.walk(tables.translation_request(0x5000)).answer, CplStatus::kUR);
  broken = tables;
  broken.set_pasid(0, 5);
  EXPECT_EQ(broken.walk(tables.translation_request(0x5000)).answer, CplStatus::kCA);
  EXPECT_TRUE(broken.walk(tables.translation_request(0x5000)).is_recorded);
  broken = tables;
  broken.memory.write(kDirectory, 0);
  const WalkResult hole = broken.walk(tables.translation_request(0x5000));
  EXPECT_EQ(hole.outcome, WalkOutcome::kTranslated);
  EXPECT_FALSE(hole.read || hole.write || hole.is_recorded);
  EXPECT_EQ(hole.fault, F::kPasidDirectoryNotPresent);
}

}  // namespace
}  // namespace flitwise::test::walk_structures_test
