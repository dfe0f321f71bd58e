// SPDX-License-Identifier: Apache-2.0
// The host's end of the handle table: ALLOC checks, resolution, partitions, deallocation, resets.
#include "dhi/host_handle_table.h"

#include <gtest/gtest.h>

#include <utility>

#include "flitwise/error.h"
#include "support/handle_tables.h"

namespace flitwise::host_handle_table_test {
namespace {

constexpr BusRange kPort{1, 2};
constexpr Bdf kA = Bdf::of(1, 0, 0);  // device A, function 0
constexpr Bdf kA1 = Bdf::of(1, 0, 1);
constexpr Bdf kB = Bdf::of(2, 0, 0);  // device B

AllocMessage alloc(std::uint16_t dhi, Bdf bdf, std::uint32_t pasid, bool is_trusted = false,
                   std::uint16_t capabilities = 0) {
  AllocMessage message;
  message.dhi = Dhi{dhi};
  message.identity.bdf = bdf;
  message.identity.pasid = Pasid{pasid};
  message.is_trusted = is_trusted;
  message.capabilities = capabilities;
  return message;
}

DeallocMessage dealloc(DeallocScope scope, std::uint16_t lower = 0, std::uint16_t upper = 0,
                       Bdf function = {}) {
  return {scope, Dhi{lower}, Dhi{upper}, function, 0};
}

/// One table shared by A (handles 0..7) and B (8..15), on an open machine.
class HostHandleTableTest : public testing::Test {
 protected:
  explicit HostHandleTableTest(DeallocMode mode = DeallocMode::kImplicit) : table(mode, grants) {
    a = table.add_partition({{1, 1}, {Dhi{0}, Dhi{7}}, 0});
    b = table.add_partition({{2, 2}, {Dhi{8}, Dhi{15}}, 0});
  }
  HandleStatus allocate(Bdf requester, const AllocMessage& message) {
    return table.allocate(kPort, requester, message);
  }
  /// Entries that became invalid since it was asked last.
  std::uint64_t freed(HandleStatus status) {
    EXPECT_EQ(status, HandleStatus::kOk);
    return table.statistics().deallocs - std::exchange(freed_, table.statistics().deallocs);
  }
  std::uint64_t rejections(HandleStatus status) const {
    return table.statistics().rejections[static_cast<std::size_t>(status)];
  }
  unsigned entries(PartitionId partition) const {
    return test::valid_entries(table, table.range(partition));
  }
  std::optional<std::uint32_t> pasid_of(std::uint16_t dhi) const {
    const auto resolution = table.resolve(Dhi{dhi});
    return resolution ? std::optional(to_int(*resolution->identity.pasid)) : std::nullopt;
  }

  GrantTable grants{Grant::any()};
  HostHandleTable table;
  PartitionId a{}, b{};
  std::uint64_t freed_ = 0;
};

class ExplicitHostHandleTableTest : public HostHandleTableTest {
 protected:
  ExplicitHostHandleTableTest() : HostHandleTableTest(DeallocMode::kExplicit) {}
};

// [DHI-01] [DHI-02]
TEST_F(HostHandleTableTest, D16_ValidHandleGivesItsIdentityAnyOtherNone) {
  AllocMessage message = alloc(3, kA, 77, false, 0x2);
  message.identity.privileged_mode_requested = true;
  ASSERT_EQ(allocate(kA, message), HandleStatus::kOk);
  ASSERT_TRUE(table.resolve(Dhi{3}));
  EXPECT_EQ(table.resolve(Dhi{3})->identity, message.identity);
  EXPECT_EQ(table.resolve(Dhi{3})->capabilities, 0x2);
  EXPECT_FALSE(table.resolve(Dhi{4}));
  EXPECT_FALSE(table.resolve(Dhi{4095}));
  EXPECT_FALSE(table.resolve(Dhi{4096}));
  EXPECT_FALSE(table.resolve(Dhi{0xffff}));
}

// [DHI-06]
TEST_F(HostHandleTableTest, D14_BusOutsideThePortIsRefusedAndNothingChanges) {
  EXPECT_EQ(allocate(Bdf::of(3, 0, 0), alloc(1, Bdf::of(3, 0, 0), 5)),
            HandleStatus::kBusOutsidePort);
  EXPECT_EQ(allocate(Bdf::of(0, 0, 0), alloc(1, Bdf::of(0, 0, 0), 5)),
            HandleStatus::kBusOutsidePort);
  EXPECT_EQ(entries(a) + entries(b), 0U);
  EXPECT_EQ(rejections(HandleStatus::kBusOutsidePort), 2U);
  EXPECT_EQ(table.statistics().rejected(), 2U);
}

TEST_F(HostHandleTableTest, D14_BdfInTheAllocMustBeItsRequesterId) {
  EXPECT_EQ(allocate(kA, alloc(1, kA1, 5)), HandleStatus::kRequesterMismatch);
  EXPECT_EQ(allocate(kA, alloc(9, kB, 5)), HandleStatus::kRequesterMismatch);
  EXPECT_FALSE(table.resolve(Dhi{1}));
}

// [DHI-07]
TEST_F(HostHandleTableTest, D14_HandleOutsideTheRangeOfThatDeviceIsRefused) {
  ASSERT_EQ(allocate(kB, alloc(8, kB, 5)), HandleStatus::kOk);
  EXPECT_EQ(allocate(kA, alloc(8, kA, 6)), HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(allocate(kB, alloc(7, kB, 6)), HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(allocate(kB, alloc(16, kB, 6)), HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(allocate(kA, alloc(0xfff, kA, 6)), HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(pasid_of(8), 5U) << "the other device's entry is untouched";
}

// [DHI-17]
TEST_F(HostHandleTableTest, D14_HandleOfAThirteenthBitIsOutOfRange) {
  EXPECT_EQ(allocate(kA, alloc(4096, kA, 6)), HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(allocate(kA, alloc(0xffff, kA, 6)), HandleStatus::kHandleOutOfRange);
}

TEST_F(HostHandleTableTest, D14_BusBelowThePortWithoutARangeHasNoHandles) {
  HostHandleTable other(DeallocMode::kImplicit, grants);
  EXPECT_EQ(other.allocate(kPort, kA, alloc(0, kA, 1)), HandleStatus::kHandleOutOfRange);
}

// [DHI-05]
TEST_F(HostHandleTableTest, D11_ImplicitAllocTakesTheHandleFromTheOldDomain) {
  ASSERT_EQ(allocate(kA, alloc(2, kA, 10)), HandleStatus::kOk);
  EXPECT_EQ(allocate(kA1, alloc(2, kA1, 11)), HandleStatus::kOk);
  EXPECT_EQ(table.resolve(Dhi{2})->identity.bdf, kA1);
  EXPECT_EQ(pasid_of(2), 11U);
  EXPECT_EQ(entries(a), 1U);
}

TEST_F(ExplicitHostHandleTableTest, D11_AllocOverAValidHandleIsRefusedAndNoStaleDomainRemains) {
  ASSERT_EQ(allocate(kA, alloc(2, kA, 10)), HandleStatus::kOk);
  EXPECT_EQ(allocate(kA, alloc(2, kA, 11)), HandleStatus::kHandleInUse);
  EXPECT_FALSE(table.resolve(Dhi{2})) << "S2: the device no longer means the old domain";
  EXPECT_EQ(allocate(kA, alloc(2, kA, 11)), HandleStatus::kOk);
}

TEST_F(ExplicitHostHandleTableTest, D11_DeallocThenAllocIsTheGoodOrder) {
  ASSERT_EQ(allocate(kA, alloc(2, kA, 10)), HandleStatus::kOk);
  EXPECT_EQ(freed(table.deallocate(kPort, kA, dealloc(DeallocScope::kOne, 2))), 1U);
  EXPECT_EQ(allocate(kA, alloc(2, kA, 11)), HandleStatus::kOk);
}

// [DHI-30]
TEST_F(ExplicitHostHandleTableTest, RepeatedAllocIsIdempotent) {
  ASSERT_EQ(allocate(kA, alloc(2, kA, 10)), HandleStatus::kOk);
  EXPECT_EQ(allocate(kA, alloc(2, kA, 10)), HandleStatus::kOk);
  EXPECT_EQ(entries(a), 1U);
  EXPECT_EQ(table.find(alloc(2, kA, 10).identity), Dhi{2});
}

// [DHI-08] [DHI D2]
TEST_F(HostHandleTableTest, D2_SameLocalHandleOfTwoDevicesInTablesOfTheirOwn) {
  HostHandleTable table_of_a(DeallocMode::kImplicit, grants);
  HostHandleTable table_of_b(DeallocMode::kImplicit, grants);
  table_of_a.add_partition({{1, 1}, HandleRange::of_bits(4), 0});
  table_of_b.add_partition({{2, 2}, HandleRange::of_bits(4), 0});
  ASSERT_EQ(table_of_a.allocate({1, 1}, kA, alloc(5, kA, 50)), HandleStatus::kOk);
  ASSERT_EQ(table_of_b.allocate({2, 2}, kB, alloc(5, kB, 60)), HandleStatus::kOk);
  EXPECT_EQ(table_of_a.resolve(Dhi{5})->identity.bdf, kA);
  EXPECT_EQ(table_of_b.resolve(Dhi{5})->identity.bdf, kB);
}

TEST_F(HostHandleTableTest, D2_PartitionsMayNotOverlap) {
  EXPECT_THROW(table.add_partition({{3, 3}, {Dhi{15}, Dhi{16}}, 0}), SimulationError);
  EXPECT_THROW(table.add_partition({{2, 2}, {Dhi{16}, Dhi{17}}, 0}), SimulationError);
  EXPECT_THROW(table.add_partition({{3, 3}, {Dhi{16}, Dhi{4096}}, 0}), SimulationError);
  EXPECT_THROW(table.add_partition({{3, 3}, {Dhi{17}, Dhi{16}}, 0}), SimulationError);
  EXPECT_EQ(table.range(table.add_partition({{3, 255}, {Dhi{16}, Dhi{4095}}, 0})).size(), 4080U);
  EXPECT_EQ(table.partition_of(Bdf::of(255, 31, 7)), PartitionId{2});
  EXPECT_FALSE(table.partition_of(Bdf::of(0, 0, 0)));
}

// [DHI D5] [DHI D6]
TEST_F(HostHandleTableTest, D6_OtherHandlesOfADeviceTakeEffectAndItsEntriesGo) {
  ASSERT_EQ(allocate(kA, alloc(3, kA, 50)), HandleStatus::kOk);
  ASSERT_TRUE(table.reset(a, {Dhi{2}, Dhi{5}}, 7));
  EXPECT_FALSE(pasid_of(3));
  AllocMessage message = alloc(5, kA, 51);
  message.epoch = 7;
  EXPECT_EQ(allocate(kA, message), HandleStatus::kOk);
  message.dhi = Dhi{6};
  EXPECT_EQ(allocate(kA, message), HandleStatus::kHandleOutOfRange);
}

// [DHI D5] [DHI S1]
TEST_F(HostHandleTableTest, D5_ADeviceWithoutHandlesTouchesNobodyElse) {
  ASSERT_TRUE(table.reset(b, HandleRange::none(), 0));
  ASSERT_EQ(allocate(kA, alloc(1, kA, 50)), HandleStatus::kOk);
  EXPECT_EQ(allocate(kB, alloc(9, kB, 60)), HandleStatus::kHandleOutOfRange);
  AllocMessage other_epoch = alloc(1, kB, 60);
  other_epoch.epoch = 1;
  EXPECT_EQ(allocate(kB, other_epoch), HandleStatus::kEpochMismatch);
  EXPECT_EQ(pasid_of(1), 50U);
}

// [DHI D2]
TEST_F(HostHandleTableTest, D2_HandlesOfAnotherDeviceAreNotGivenTwice) {
  ASSERT_EQ(allocate(kB, alloc(8, kB, 60)), HandleStatus::kOk);
  EXPECT_FALSE(table.reset(a, {Dhi{0}, Dhi{8}}, 0));
  EXPECT_EQ(table.range(a).size(), 0U);
  EXPECT_FALSE(table.reset(a, {Dhi{5}, Dhi{4}}, 0));
  EXPECT_EQ(pasid_of(8), 60U);
  EXPECT_TRUE(table.reset(a, {Dhi{0}, Dhi{7}}, 0));
}

TEST_F(HostHandleTableTest, S1_FormsThatKeepTheRequesterIdTieTheHandleToIt) {
  ASSERT_EQ(allocate(kA, alloc(2, kA, 10)), HandleStatus::kOk);
  ASSERT_EQ(allocate(kB, alloc(9, kB, 20)), HandleStatus::kOk);
  EXPECT_TRUE(table.resolve(kA, Dhi{2}));
  EXPECT_FALSE(table.resolve(kA, Dhi{9}));
  EXPECT_FALSE(table.resolve(kA1, Dhi{2}));
}

TEST_F(HostHandleTableTest, D15_OneSomeAFunctionOrAllOfTheDevicesHandlesGo) {
  const auto fill = [&] {
    for (std::uint16_t dhi = 0; dhi < 8; ++dhi) {
      const Bdf function = dhi % 2 == 0 ? kA : kA1;
      allocate(function, alloc(dhi, function, dhi));
      allocate(kB, alloc(static_cast<std::uint16_t>(dhi + 8), kB, dhi));
    }
  };
  fill();
  EXPECT_EQ(freed(table.deallocate(kPort, kA, dealloc(DeallocScope::kOne, 3))), 1U);
  EXPECT_FALSE(table.resolve(Dhi{3}));
  fill();
  EXPECT_EQ(freed(table.deallocate(kPort, kA, dealloc(DeallocScope::kRange, 2, 5))), 4U);
  EXPECT_TRUE(table.resolve(Dhi{1}));
  EXPECT_TRUE(table.resolve(Dhi{6}));
  fill();
  EXPECT_EQ(freed(table.deallocate(kPort, kA, dealloc(DeallocScope::kFunction, 0, 0, kA1))), 4U);
  EXPECT_TRUE(table.resolve(Dhi{0}));
  EXPECT_FALSE(table.resolve(Dhi{1}));
  fill();
  EXPECT_EQ(freed(table.deallocate(kPort, kA, dealloc(DeallocScope::kAll))), 8U);
  EXPECT_EQ(entries(a), 0U);
  EXPECT_EQ(entries(b), 8U);
}

TEST_F(HostHandleTableTest, S1_DeallocOfAnotherDevicesHandlesIsRefused) {
  ASSERT_EQ(allocate(kB, alloc(9, kB, 20)), HandleStatus::kOk);
  ASSERT_EQ(allocate(kA, alloc(7, kA, 10)), HandleStatus::kOk);
  const auto status = [&](const DeallocMessage& message) {
    return table.deallocate(kPort, kA, message);
  };
  EXPECT_EQ(status(dealloc(DeallocScope::kOne, 9)), HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(status(dealloc(DeallocScope::kOne, 5000)), HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(status(dealloc(DeallocScope::kRange, 7, 9)), HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(status(dealloc(DeallocScope::kRange, 7, 6)), HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(status(dealloc(DeallocScope::kFunction, 0, 0, kB)), HandleStatus::kRequesterMismatch);
  EXPECT_EQ(table.deallocate({1, 1}, kB, dealloc(DeallocScope::kAll)),
            HandleStatus::kBusOutsidePort);
  EXPECT_EQ(table.deallocate({0, 255}, Bdf::of(77, 0, 0), dealloc(DeallocScope::kAll)),
            HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(pasid_of(9), 20U);
  EXPECT_EQ(pasid_of(7), 10U);
}

TEST_F(HostHandleTableTest, D15_DeallocOfAHandleWithoutEntryIsReported) {
  EXPECT_EQ(table.deallocate(kPort, kA, dealloc(DeallocScope::kOne, 3)),
            HandleStatus::kNoValidEntry);
  EXPECT_EQ(rejections(HandleStatus::kNoValidEntry), 1U);
}

// [DHI-09] [DHI-10]
// [DHI-33]
TEST_F(HostHandleTableTest, D15_WhatADeviceGaveUpOnOrderGoesAndNothingOfAnother) {
  allocate(kA, alloc(1, kA, 10));
  allocate(kA1, alloc(2, kA1, 11));
  allocate(kB, alloc(9, kB, 12));
  using Scope = DeallocScope;
  EXPECT_EQ(table.answered(a, dealloc(Scope::kOne, 1), HandleStatus::kOk), HandleStatus::kOk);
  EXPECT_FALSE(pasid_of(1));
  EXPECT_TRUE(pasid_of(2));
  EXPECT_EQ(table.answered(a, dealloc(Scope::kOne, 1), HandleStatus::kOk), HandleStatus::kOk)
      << "it has gone by itself meanwhile";
  EXPECT_EQ(table.answered(a, dealloc(Scope::kFunction, 0, 0, kA1), HandleStatus::kOk),
            HandleStatus::kOk);
  EXPECT_FALSE(pasid_of(2));
  EXPECT_EQ(table.answered(a, dealloc(Scope::kAll), HandleStatus::kOk), HandleStatus::kOk);
  EXPECT_EQ(table.answered(a, dealloc(Scope::kOne, 9), HandleStatus::kOk),
            HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(table.answered(a, dealloc(Scope::kRange, 7, 9), HandleStatus::kOk),
            HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(table.answered(a, dealloc(Scope::kFunction, 0, 0, kB), HandleStatus::kOk),
            HandleStatus::kRequesterMismatch);
  EXPECT_TRUE(pasid_of(9));
  EXPECT_EQ(table.statistics(a).deallocs, 2U);
  EXPECT_EQ(table.statistics(a).rejected(), 3U);
}

// [DHI-33] [DHI D4]
TEST_F(HostHandleTableTest, D15_ARefusalFreesNothingButAnotherEpochEndsAll) {
  allocate(kA, alloc(1, kA, 10));
  allocate(kA, alloc(2, kA, 11));
  allocate(kB, alloc(9, kB, 12));
  const DeallocMessage one = dealloc(DeallocScope::kOne, 1);
  EXPECT_EQ(table.answered(a, one, HandleStatus::kHandleOutOfRange),
            HandleStatus::kHandleOutOfRange);
  EXPECT_TRUE(pasid_of(1));
  EXPECT_EQ(rejections(HandleStatus::kHandleOutOfRange), 1U);
  DeallocMessage old = one;
  old.epoch = 3;
  EXPECT_EQ(table.answered(a, old, HandleStatus::kOk), HandleStatus::kOk);
  EXPECT_TRUE(pasid_of(1)) << "the order was about entries that a reset has cleared";
  EXPECT_EQ(table.answered(a, one, HandleStatus::kEpochMismatch), HandleStatus::kEpochMismatch);
  EXPECT_FALSE(pasid_of(1));
  EXPECT_FALSE(pasid_of(2));
  EXPECT_TRUE(pasid_of(9));
}

TEST_F(HostHandleTableTest, D15_SoftwareFreesTheNamedDeviceAlone) {
  allocate(kA, alloc(1, kA, 1));
  allocate(kA1, alloc(2, kA1, 2));
  allocate(kB, alloc(9, kB, 3));
  EXPECT_EQ(freed(table.deallocate_by_software(dealloc(DeallocScope::kAll, 0, 0, kA))), 2U);
  EXPECT_TRUE(table.resolve(Dhi{9}));
  EXPECT_EQ(table.deallocate_by_software(dealloc(DeallocScope::kAll, 0, 0, Bdf::of(9, 0, 0))),
            HandleStatus::kRequesterMismatch);
  EXPECT_EQ(table.deallocate_by_software(dealloc(DeallocScope::kRange, 4, 5000)),
            HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(freed(table.deallocate_by_software(dealloc(DeallocScope::kOne, 9))), 1U);
  allocate(kA, alloc(1, kA, 1));
  allocate(kB, alloc(9, kB, 3));
  EXPECT_EQ(freed(table.deallocate_by_software(dealloc(DeallocScope::kFunction, 0, 0, kB))), 1U);
  EXPECT_EQ(freed(table.deallocate_by_software(dealloc(DeallocScope::kRange, 0, 4095))), 1U);
}

// [DHI-26]
TEST_F(HostHandleTableTest, D4_AfterAResetOfTheHostAloneOldHandlesAreInvalid) {
  allocate(kA, alloc(1, kA, 1));
  allocate(kB, alloc(9, kB, 3));
  table.reset(a, table.range(a), 1);
  EXPECT_FALSE(table.resolve(Dhi{1}));
  EXPECT_TRUE(table.resolve(Dhi{9}));
  EXPECT_EQ(allocate(kA, alloc(1, kA, 1)), HandleStatus::kEpochMismatch)
      << "the device's epoch is 0";
  EXPECT_EQ(table.epoch(a), 1);
  EXPECT_EQ(table.epoch(b), 0);
}

TEST_F(HostHandleTableTest, D4_AfterAResetOfTheDeviceAloneItsStaleEntriesGoWithTheFirstAlloc) {
  allocate(kA, alloc(1, kA, 1));
  allocate(kA, alloc(2, kA, 2));
  allocate(kB, alloc(9, kB, 3));
  AllocMessage message = alloc(2, kA, 7);
  message.epoch = 1;
  EXPECT_EQ(allocate(kA, message), HandleStatus::kEpochMismatch);
  EXPECT_EQ(entries(a), 0U);
  EXPECT_EQ(entries(b), 1U);
}

// [DHI D19] [DHI D20]
TEST_F(HostHandleTableTest, D19_D20_TrustAndCapabilitiesAreCutToTheGrantOfToday) {
  grants.set(kA, {{{Pasid{1}, Pasid{9}}}, true, true, 0x3});
  ASSERT_EQ(allocate(kA, alloc(1, kA, 1, true, 0x3)), HandleStatus::kOk);
  ASSERT_EQ(allocate(kA, alloc(2, kA, 2, false, 0x3)), HandleStatus::kOk);
  EXPECT_TRUE(table.resolve(Dhi{1})->is_trusted);
  EXPECT_FALSE(table.resolve(Dhi{2})->is_trusted) << "the entry's own bit is clear";
  grants.set(kA, {{{Pasid{1}, Pasid{9}}}, true, false, 0x1});
  EXPECT_FALSE(table.resolve(Dhi{1})->is_trusted);
  EXPECT_EQ(table.resolve(Dhi{1})->capabilities, 0x1);
}

// [DHI-22]
TEST_F(HostHandleTableTest, S3_AllocBeyondTheGrantIsRefusedByKind) {
  grants.set(kA, {{{Pasid{1}, Pasid{9}}}, false, false, 0x3});
  EXPECT_EQ(allocate(kA, alloc(1, kA, 10)), HandleStatus::kPasidNotGranted);
  EXPECT_EQ(allocate(kA, alloc(1, kA, 1, true)), HandleStatus::kTrustNotGranted);
  EXPECT_EQ(allocate(kA, alloc(1, kA, 1, false, 0x4)), HandleStatus::kCapabilityNotGranted);
  EXPECT_EQ(rejections(HandleStatus::kPasidNotGranted), 1U);
  EXPECT_EQ(rejections(HandleStatus::kTrustNotGranted), 1U);
  EXPECT_EQ(rejections(HandleStatus::kCapabilityNotGranted), 1U);
}

TEST_F(HostHandleTableTest, S2_RefusedAllocLeavesTheDevicesOwnHandleInvalid) {
  grants.set(kA, {{{Pasid{1}, Pasid{9}}}, false, false, 0});
  ASSERT_EQ(allocate(kA, alloc(1, kA, 1)), HandleStatus::kOk);
  ASSERT_EQ(allocate(kA, alloc(1, kA, 10)), HandleStatus::kPasidNotGranted);
  EXPECT_FALSE(table.resolve(Dhi{1})) << "uses that follow must not pass as PASID 1";
}

TEST_F(HostHandleTableTest, D21_DownstreamSearchFindsTheHandleOfADomainOrNone) {
  AllocMessage message = alloc(1, kA, 1);
  ASSERT_EQ(allocate(kA, message), HandleStatus::kOk);
  EXPECT_EQ(table.find(message.identity), Dhi{1});
  message.identity.execute_requested = true;
  EXPECT_FALSE(table.find(message.identity)) << "another combination is another handle's";
  message.identity.execute_requested = false;
  message.identity.pasid.reset();
  EXPECT_FALSE(table.find(message.identity));
  table.deallocate(kPort, kA, dealloc(DeallocScope::kOne, 1));
  EXPECT_FALSE(table.find(alloc(1, kA, 1).identity));
}

// [DHI-36]
TEST_F(HostHandleTableTest, D22_AContextIsPartOfWhatTheEntryNames) {
  AllocMessage message = alloc(1, kA, 1);
  message.context = {ContextKind::kQueuePair, 5};
  ASSERT_EQ(allocate(kA, message), HandleStatus::kOk);
  EXPECT_EQ(table.resolve(Dhi{1})->context, message.context);
  EXPECT_EQ(table.resolve(Dhi{1})->identity, message.identity);
  message.dhi = Dhi{2};
  message.context = {ContextKind::kQueuePair, 6};
  ASSERT_EQ(allocate(kA, message), HandleStatus::kOk) << "another one of the same process";
  EXPECT_EQ(table.resolve(Dhi{1})->context.number(), 5U);
  EXPECT_EQ(table.find(message.identity), Dhi{2}) << "any of them names the process";
  message.context = {};
  ASSERT_EQ(allocate(kA, message), HandleStatus::kOk);
  EXPECT_FALSE(table.resolve(Dhi{2})->context);
}

// [DHI-37]
TEST_F(HostHandleTableTest, S3_AForeignContextIsRefusedAndTheHandleIsInvalid) {
  grants.set(kA, {{{Pasid{1}, Pasid{9}}}, true, false, 0, 8});
  AllocMessage message = alloc(1, kA, 1);
  message.context = {ContextKind::kQueuePair, 8};
  ASSERT_EQ(allocate(kA, message), HandleStatus::kOk);
  message.context = {ContextKind::kQueuePair, 7};
  EXPECT_EQ(allocate(kA, message), HandleStatus::kContextNotGranted);
  EXPECT_EQ(rejections(HandleStatus::kContextNotGranted), 1U);
  EXPECT_FALSE(table.resolve(Dhi{1}));
}

// [DHI-29]
TEST_F(HostHandleTableTest, D21_OfTwoHandlesOfOneDomainTheLatestIsFound) {
  allocate(kA, alloc(1, kA, 1));
  allocate(kA, alloc(2, kA, 1));
  EXPECT_EQ(table.find(alloc(0, kA, 1).identity), Dhi{2});
  EXPECT_EQ(table.resolve(Dhi{1})->identity, table.resolve(Dhi{2})->identity);
  table.deallocate(kPort, kA, dealloc(DeallocScope::kOne, 2));
  EXPECT_EQ(table.find(alloc(0, kA, 1).identity), Dhi{1});
}

// [DHI-18]
TEST_F(HostHandleTableTest, EntryWithoutPasidSaysSo) {
  AllocMessage message = alloc(1, kA, 1);
  message.identity.pasid.reset();
  ASSERT_EQ(allocate(kA, message), HandleStatus::kOk);
  EXPECT_FALSE(table.resolve(Dhi{1})->identity.pasid);
}

TEST_F(HostHandleTableTest, D2_EachDeviceOfASharedTableHasBooksOfItsOwn) {
  allocate(kA, alloc(1, kA, 1));
  allocate(kB, alloc(9, kB, 1));
  allocate(kB, alloc(9, kB, 2));
  allocate(kB, alloc(3, kB, 1));  // a handle of A
  table.deallocate(kPort, kA, dealloc(DeallocScope::kOne, 1));
  table.record_wrong_domain(table.partition_of(kA1));
  EXPECT_EQ(table.statistics(a).allocs, 1U);
  EXPECT_EQ(table.statistics(a).deallocs, 1U);
  EXPECT_EQ(table.statistics(a).rejected(), 0U);
  EXPECT_EQ(table.statistics(a).wrong_domain, 1U);
  EXPECT_EQ(table.statistics(b).allocs, 2U);
  EXPECT_EQ(table.statistics(b).rejected(), 1U);
  EXPECT_EQ(table.statistics(b).deallocs + table.statistics(b).wrong_domain, 0U);
  EXPECT_EQ(table.statistics().allocs, 3U);
}

TEST_F(HostHandleTableTest, D15_SoftwareDeallocationIsBookedToThoseWhoLoseHandles) {
  allocate(kA, alloc(1, kA, 1));
  allocate(kB, alloc(9, kB, 1));
  allocate(kB, alloc(10, kB, 2));
  EXPECT_EQ(freed(table.deallocate_by_software(dealloc(DeallocScope::kRange, 0, 15))), 3U);
  EXPECT_EQ(table.statistics(a).deallocs, 1U);
  EXPECT_EQ(table.statistics(b).deallocs, 2U);
}

// A device that gives itself out for another cannot spoil the other's figures.
TEST_F(HostHandleTableTest, D14_RefusalIsBookedToTheDeviceBelowThePort) {
  constexpr BusRange kPortOfB{2, 2};
  EXPECT_EQ(table.sender(kPortOfB, kB), b);
  EXPECT_EQ(table.sender(kPortOfB, kA), b);
  EXPECT_EQ(table.sender(kPortOfB, Dhi{9}), b);
  EXPECT_EQ(table.sender(kPortOfB, Dhi{1}), b) << "a handle of A";
  EXPECT_EQ(table.sender(kPort, Dhi{1}), a);
  EXPECT_FALSE(table.sender({7, 7}, kA)) << "nobody of this table is below that port";
  EXPECT_EQ(table.allocate(kPortOfB, kA, alloc(1, kA, 1)), HandleStatus::kBusOutsidePort);
  EXPECT_EQ(table.statistics(a).rejected(), 0U);
  EXPECT_EQ(table.statistics(b).rejected(), 1U);
  table.allocate({7, 7}, Bdf::of(7, 0, 0), alloc(1, Bdf::of(7, 0, 0), 1));
  EXPECT_EQ(table.statistics_of_others().rejected(), 1U);
  EXPECT_EQ(table.statistics().rejected(), 2U);
}

TEST_F(HostHandleTableTest, StatisticsOfOneDeviceStartAgainAtZero) {
  allocate(kA, alloc(1, kA, 1));
  table.record_rejection(HandleStatus::kMalformed, a);
  table.record_rejection(HandleStatus::kMalformed, b);
  table.reset_statistics(a);
  EXPECT_EQ(table.statistics(a).allocs, 0U);
  EXPECT_EQ(table.statistics(a).rejected(), 0U);
  EXPECT_EQ(table.statistics(b).rejected(), 1U);
  EXPECT_STREQ(name_of(HandleStatus::kMalformed), "malformed");
}

}  // namespace
}  // namespace flitwise::host_handle_table_test
