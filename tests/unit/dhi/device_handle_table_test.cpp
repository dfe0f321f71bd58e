// SPDX-License-Identifier: Apache-2.0
// The device's end of the handle table: use, allocation, victims, draining, resets.
#include "dhi/device_handle_table.h"

#include <gtest/gtest.h>

#include <ctime>
#include <vector>

#include "flitwise/error.h"
#include "support/handle_tables.h"

namespace flitwise::device_handle_table_test {
namespace {

DeviceIdentity identity_of(std::uint32_t domain) {
  DeviceIdentity identity;
  identity.bdf = Bdf::of(1, 0, domain % 2);
  identity.pasid = Pasid{100 + domain};
  return identity;
}

/// A device that sends one TLP at a time.
class Device {
 public:
  explicit Device(const DeviceHandleTableConfig& config) : table(config) {}

  Allocation allocate(std::uint32_t domain) {
    return table.allocate(DomainId{domain}, identity_of(domain), false, 0);
  }
  /// Whose handle the domain gets.
  DomainId evict_for(std::uint32_t domain) {
    const DomainId victim = table.resolve(table.choose().victim.value())->domain;
    allocate(domain);
    return victim;
  }
  Dhi handle(std::uint32_t domain) const { return table.find(DomainId{domain}).value(); }
  bool has(std::uint32_t domain) const { return table.find(DomainId{domain}).has_value(); }
  /// A write that is at the host at once.
  void write_and_push(std::uint32_t domain) {
    table.pushed_through(table.sent(table.pin(handle(domain), UseKind::kPosted)));
  }
  HandlePin read(std::uint32_t domain) { return table.pin(handle(domain), UseKind::kNonPosted); }
  HandlePin pin_write(std::uint32_t domain) { return table.pin(handle(domain), UseKind::kPosted); }
  void fill(std::uint32_t domains) {
    for (std::uint32_t domain = 0; domain < domains; ++domain) {
      allocate(domain);
    }
  }

  DeviceHandleTable table;
};

DeviceHandleTableConfig config_of(unsigned bits, VictimPolicy victim = VictimPolicy::kLru) {
  DeviceHandleTableConfig config;
  config.range = HandleRange::of_bits(bits);
  config.victim = victim;
  return config;
}

// [DHI D7]
TEST(DeviceHandleTable, D7_HitGivesTheHandleOfTheDomainAndMissGivesNone) {
  Device device(config_of(2));
  EXPECT_FALSE(device.table.find(DomainId{7}));
  const Allocation made = device.allocate(7);
  EXPECT_EQ(device.table.find(DomainId{7}), made.dhi);
  EXPECT_FALSE(device.table.find(DomainId{6}));
  EXPECT_FALSE(device.table.find(DomainId{1'000'000}));
}

// [DHI-11]
TEST(DeviceHandleTable, D8_LocalEntryStandsBeforeTheAllocMessageIsThere) {
  Device device(config_of(2));
  const Allocation made = device.table.allocate(DomainId{3}, identity_of(3), true, 0x5);
  ASSERT_TRUE(device.table.resolve(made.message.dhi));
  EXPECT_EQ(device.table.resolve(made.message.dhi)->identity, made.message.identity);
  EXPECT_EQ(made.message.identity, identity_of(3));
  EXPECT_TRUE(made.message.is_trusted);
  EXPECT_EQ(made.message.capabilities, 0x5);
}

TEST(DeviceHandleTable, D8_AllocationIsAppliedOnlyOnceTheHostIsKnownToHaveIt) {
  Device device(config_of(2));
  const Allocation made = device.allocate(3);
  EXPECT_FALSE(device.table.is_applied(made.dhi));
  device.table.mark_applied(made.dhi, made.residency + 1);
  EXPECT_FALSE(device.table.is_applied(made.dhi)) << "an answer to another residency";
  device.table.mark_applied(made.dhi, made.residency);
  EXPECT_TRUE(device.table.is_applied(made.dhi));
}

// [DHI-16]
TEST(DeviceHandleTable, D6_HandlesStayInTheNegotiatedRange) {
  DeviceHandleTableConfig config = config_of(12);
  config.range = {Dhi{40}, Dhi{42}};
  Device device(config);
  std::vector<Dhi> handles;
  for (std::uint32_t domain = 0; domain < 3; ++domain) {
    handles.push_back(device.allocate(domain).dhi);
  }
  EXPECT_EQ(handles, (std::vector<Dhi>{Dhi{40}, Dhi{41}, Dhi{42}}));
  EXPECT_EQ(device.table.choose().outcome, MissOutcome::kVictimReady);
  EXPECT_FALSE(device.table.resolve(Dhi{39}));
  EXPECT_FALSE(device.table.resolve(Dhi{43}));
}

// [DHI-13] [DHI-16]
TEST(DeviceHandleTable, FullAndOneMoreAtBothWidths) {
  for (const unsigned bits : {2U, 12U}) {
    Device device(config_of(bits));
    const std::uint32_t entries = 1U << bits;
    device.fill(entries - 1);
    EXPECT_EQ(device.table.choose().outcome, MissOutcome::kFreeHandle) << bits;
    device.allocate(entries - 1);
    EXPECT_EQ(test::valid_entries(device.table), entries);
    ASSERT_EQ(device.table.choose().outcome, MissOutcome::kVictimReady) << bits;
    EXPECT_EQ(device.allocate(entries).dhi, Dhi{0});
    EXPECT_FALSE(device.has(0));
    EXPECT_EQ(test::valid_entries(device.table), entries);
    EXPECT_EQ(device.table.statistics().evictions, 1U);
  }
}

// [DHI-14]
TEST(DeviceHandleTable, D9_PoliciesChooseThreeDifferentVictimsOnOneTrace) {
  const auto victim = [](VictimPolicy policy) {
    Device device(config_of(2, policy));
    device.fill(4);
    for (const std::uint32_t domain : {2U, 2U, 2U, 3U, 3U, 0U, 0U, 1U}) {
      device.write_and_push(domain);
    }
    return device.evict_for(4);
  };
  EXPECT_EQ(victim(VictimPolicy::kFifo), DomainId{0});  // first allocated
  EXPECT_EQ(victim(VictimPolicy::kLfu), DomainId{1});   // one use, though the latest
  EXPECT_EQ(victim(VictimPolicy::kLru), DomainId{2});   // three uses, though the oldest
}

// [DHI-04] [DHI D10]
TEST(DeviceHandleTable, D10_ReadHoldsItsHandleUntilTheLastCompletion) {
  DeviceHandleTableConfig config = config_of(2);
  config.range = {Dhi{0}, Dhi{0}};
  Device device(config);
  device.allocate(0);
  const HandlePin first = device.read(0);
  const HandlePin second = device.read(0);
  EXPECT_EQ(device.table.choose().outcome, MissOutcome::kWaitForCompletion);
  EXPECT_THROW(device.allocate(1), SimulationError);
  EXPECT_THROW(device.table.deallocate(Dhi{0}), SimulationError);
  device.table.completed(first);
  EXPECT_EQ(device.table.choose().outcome, MissOutcome::kWaitForCompletion);
  device.table.completed(second);
  EXPECT_EQ(device.table.choose().outcome, MissOutcome::kVictimReady);
  EXPECT_THROW(device.table.completed(second), SimulationError);
}

TEST(DeviceHandleTable, D10_WriteHoldsItsHandleUntilItIsKnownPushed) {
  DeviceHandleTableConfig config = config_of(2);
  config.range = {Dhi{0}, Dhi{0}};
  Device device(config);
  device.allocate(0);
  const HandlePin pin = device.pin_write(0);
  EXPECT_EQ(device.table.choose().outcome, MissOutcome::kWaitForSend);
  EXPECT_EQ(device.table.posted_serial(), 0U);
  const std::uint64_t serial = device.table.sent(pin);
  EXPECT_EQ(device.table.choose().outcome, MissOutcome::kWaitForPush);
  device.table.pushed_through(serial - 1);
  EXPECT_EQ(device.table.choose().outcome, MissOutcome::kWaitForPush);
  device.table.pushed_through(serial);
  EXPECT_EQ(device.table.choose().outcome, MissOutcome::kVictimReady);
}

TEST(DeviceHandleTable, D10_FlushSentBeforeAPinnedWriteLeavesTheQueueDoesNotReleaseIt) {
  Device device(config_of(2));
  device.allocate(0);
  const HandlePin pin = device.pin_write(0);
  const std::uint64_t at_flush = device.table.posted_serial();
  device.table.sent(pin);
  device.table.pushed_through(at_flush);
  EXPECT_FALSE(device.table.is_idle(Dhi{0}));
  EXPECT_THROW(device.table.pushed_through(99), SimulationError);
}

TEST(DeviceHandleTable, D9_BusyVictimIsPassedOverWhenIdleOnesArePreferred) {
  for (const bool prefer_idle : {true, false}) {
    DeviceHandleTableConfig config = config_of(2, VictimPolicy::kFifo);
    config.prefer_idle = prefer_idle;
    Device device(config);
    device.fill(4);
    device.read(0);
    const Choice choice = device.table.choose();
    EXPECT_EQ(choice.victim, Dhi{static_cast<std::uint16_t>(prefer_idle ? 1 : 0)});
    EXPECT_EQ(choice.outcome,
              prefer_idle ? MissOutcome::kVictimReady : MissOutcome::kWaitForCompletion);
  }
}

// [DHI-15]
TEST(DeviceHandleTable, D9_EndedContextKeepsItsHandleUntilPressureAndGoesFirst) {
  for (const bool prefer_ended : {true, false}) {
    DeviceHandleTableConfig config = config_of(2, VictimPolicy::kFifo);
    config.prefer_ended = prefer_ended;
    Device device(config);
    device.fill(4);
    device.table.end_context(DomainId{2});
    EXPECT_EQ(device.table.statistics().deallocs, 0U);
    EXPECT_TRUE(device.has(2)) << "lazy: the handle is still there";
    EXPECT_EQ(device.evict_for(4), DomainId{prefer_ended ? 2U : 0U});
  }
}

TEST(DeviceHandleTable, D9_EndedContextThatIsUsedAgainIsAliveAgain) {
  Device device(config_of(2, VictimPolicy::kFifo));
  device.fill(4);
  device.table.end_context(DomainId{2});
  device.table.end_context(DomainId{2});
  device.write_and_push(2);
  EXPECT_EQ(device.evict_for(4), DomainId{0});
}

TEST(DeviceHandleTable, D9_IdleGoesBeforeEndedThatIsBusy) {
  Device device(config_of(2, VictimPolicy::kFifo));
  device.fill(4);
  device.read(2);
  device.table.end_context(DomainId{2});
  EXPECT_EQ(device.table.choose().victim, Dhi{0});
  for (const std::uint32_t domain : {0U, 1U, 3U}) {
    device.read(domain);
  }
  EXPECT_EQ(device.table.choose().victim, Dhi{2}) << "all busy: the ended one is waited for";
}

TEST(DeviceHandleTable, D9_SearchForAnIdleVictimIsBounded) {
  Device device(config_of(6, VictimPolicy::kFifo));
  device.fill(64);
  for (std::uint32_t domain = 0; domain < DeviceHandleTable::kVictimScan; ++domain) {
    device.read(domain);
  }
  EXPECT_EQ(device.table.choose().outcome, MissOutcome::kWaitForCompletion);
  EXPECT_EQ(device.table.choose().victim, Dhi{0});
}

TEST(DeviceHandleTable, D11_OnlyExplicitModeAsksForADeallocMessage) {
  for (const auto mode : {DeallocMode::kImplicit, DeallocMode::kExplicit}) {
    DeviceHandleTableConfig config = config_of(2);
    config.dealloc = mode;
    Device device(config);
    EXPECT_FALSE(device.allocate(0).needs_dealloc_message) << "a free handle was not taken";
    device.allocate(1);
    device.allocate(2);
    device.allocate(3);
    EXPECT_EQ(device.allocate(4).needs_dealloc_message, mode == DeallocMode::kExplicit);
  }
}

// [DHI-12]
TEST(DeviceHandleTable, D10_DrainingHandleIsNoLongerGivenOutAndGoesWhenIdle) {
  Device device(config_of(2));
  device.allocate(5);
  const HandlePin read = device.read(5);
  device.table.drain(Dhi{0});
  EXPECT_FALSE(device.has(5));
  EXPECT_FALSE(device.table.drained());
  EXPECT_TRUE(device.table.resolve(Dhi{0})) << "messages under way still find it";
  device.table.completed(read);
  ASSERT_EQ(device.table.drained(), Dhi{0});
  EXPECT_TRUE(device.table.deallocate(Dhi{0}));
  EXPECT_FALSE(device.table.resolve(Dhi{0}));
  EXPECT_FALSE(device.table.is_draining());
}

TEST(DeviceHandleTable, D9_DrainingVictimIsWaitedForAndCannotStarve) {
  DeviceHandleTableConfig config = config_of(2, VictimPolicy::kFifo);
  config.prefer_idle = false;
  Device device(config);
  device.fill(4);
  const HandlePin read = device.read(0);
  device.table.drain(*device.table.choose().victim);
  EXPECT_EQ(device.table.choose().victim, Dhi{0});
  EXPECT_EQ(device.table.choose().outcome, MissOutcome::kWaitForCompletion);
  device.table.completed(read);
  EXPECT_EQ(device.table.choose().outcome, MissOutcome::kVictimReady);
  EXPECT_EQ(device.allocate(9).dhi, Dhi{0});
}

TEST(DeviceHandleTable, D10_DomainOfADrainingHandleMayGetAnotherOne) {
  Device device(config_of(2));
  device.allocate(5);
  const HandlePin read = device.read(5);
  device.table.drain(Dhi{0});
  EXPECT_EQ(device.allocate(5).dhi, Dhi{1});
  device.table.completed(read);
  device.table.deallocate(Dhi{0});
  EXPECT_EQ(device.table.find(DomainId{5}), Dhi{1});
}

TEST(DeviceHandleTable, D13_HandleMayGoAtOnceWhenSoftwareEndsItsContext) {
  Device device(config_of(2));
  device.allocate(5);
  device.table.end_context(DomainId{5});
  device.table.drain(device.handle(5));
  ASSERT_TRUE(device.table.drained());
  device.table.deallocate(*device.table.drained());
  EXPECT_EQ(device.table.statistics().deallocs, 1U);
  EXPECT_EQ(device.table.statistics().evictions, 0U);
  EXPECT_EQ(device.allocate(5).dhi, Dhi{1}) << "the handle given up rests longest";
}

TEST(DeviceHandleTable, D15_OneSomeAFunctionOrAllAreDrained) {
  const auto left_after = [](const DeallocMessage& message) {
    Device device(config_of(3));
    device.fill(8);  // even domains: function 0, odd ones: function 1
    device.table.drain(message);
    while (const auto dhi = device.table.drained()) {
      device.table.deallocate(*dhi);
    }
    std::vector<std::uint32_t> left;
    for (std::uint32_t domain = 0; domain < 8; ++domain) {
      if (device.has(domain)) {
        left.push_back(domain);
      }
    }
    return left;
  };
  using Left = std::vector<std::uint32_t>;
  EXPECT_EQ(left_after({DeallocScope::kOne, Dhi{3}, {}, {}, 0}), (Left{0, 1, 2, 4, 5, 6, 7}));
  EXPECT_EQ(left_after({DeallocScope::kRange, Dhi{2}, Dhi{6}, {}, 0}), (Left{0, 1, 7}));
  EXPECT_EQ(left_after({DeallocScope::kFunction, {}, {}, Bdf::of(1, 0, 1), 0}), (Left{0, 2, 4, 6}));
  EXPECT_EQ(left_after({DeallocScope::kAll, {}, {}, {}, 0}), Left{});
  EXPECT_EQ(left_after({DeallocScope::kOne, Dhi{4095}, {}, {}, 0}).size(), 8U);
}

// [DHI-32]
TEST(DeviceHandleTable, D12_SoftwareManagedDeviceNeverAllocatesByItself) {
  DeviceHandleTableConfig config = config_of(2);
  config.management = HandleManagement::kSoftware;
  Device device(config);
  EXPECT_EQ(device.table.choose().outcome, MissOutcome::kNotHere);
  EXPECT_THROW(device.allocate(0), SimulationError);
  EXPECT_EQ(device.table.install(DomainId{0}, {Dhi{2}, identity_of(0), false, 0, 0}),
            HandleStatus::kOk);
  EXPECT_EQ(device.handle(0), Dhi{2});
}

/// Gives the handle of domain 0 up, which nothing uses.
Dhi give_up(Device& device) {
  device.allocate(0);
  const Dhi dhi = device.handle(0);
  device.table.drain(dhi);
  device.table.deallocate(dhi);
  return dhi;
}

// [DHI D11] [DHI D22]
TEST(DeviceHandleTable, D22_WhatTheHostWasNotToldOfStandsForItsDomainUntilItIsGivenOutAnew) {
  Device device(config_of(2));
  const Dhi dhi = give_up(device);
  EXPECT_FALSE(device.table.resolve(dhi));
  ASSERT_TRUE(device.table.resolve_for_host(dhi));
  EXPECT_EQ(device.table.resolve_for_host(dhi)->identity, identity_of(0));
  EXPECT_FALSE(device.table.resolve_for_host(Dhi{3})) << "never given out";
  for (std::uint32_t domain = 1; domain <= 4; ++domain) {
    device.allocate(domain);
  }
  EXPECT_EQ(device.table.resolve_for_host(dhi)->domain, DomainId{4}) << "it has rested longest";
}

// [DHI D11] [DHI D22]
TEST(DeviceHandleTable, D22_WhatTheHostHasNoEntryOfStandsForNobody) {
  DeviceHandleTableConfig config = config_of(2);
  config.dealloc = DeallocMode::kExplicit;
  Device explicit_device(config);
  EXPECT_FALSE(explicit_device.table.resolve_for_host(give_up(explicit_device)));

  Device refused(config_of(2));
  refused.allocate(0);
  const Dhi dhi = refused.handle(0);
  refused.table.refused(dhi);
  refused.table.deallocate(dhi);
  EXPECT_FALSE(refused.table.resolve_for_host(dhi));
}

// [DHI D4] [DHI D15] [DHI D22]
TEST(DeviceHandleTable, D22_ResetsAndOrdersOfTheHostTakeWhatTheHostWasNotToldOf) {
  Device device(config_of(2));
  const Dhi dhi = give_up(device);
  device.table.reset_function(Bdf::of(1, 0, 1));
  EXPECT_TRUE(device.table.resolve_for_host(dhi)) << "another function";
  device.table.reset_function(Bdf::of(1, 0, 0));
  EXPECT_FALSE(device.table.resolve_for_host(dhi));

  Device ordered(config_of(2));
  const Dhi other = give_up(ordered);
  ordered.table.hold(0, {DeallocScope::kFunction, {}, {}, Bdf::of(1, 0, 0), 0});
  ordered.table.release(0);
  EXPECT_FALSE(ordered.table.resolve_for_host(other));
}

// [DHI-36]
TEST(DeviceHandleTable, D22_AnEntryNamesTheContextToo) {
  DeviceHandleTable table(config_of(2));
  const ContextId context(ContextKind::kQueuePair, 5);
  const Allocation made = table.allocate(DomainId{3}, identity_of(3), false, 0, context);
  EXPECT_EQ(made.message.context, context);
  EXPECT_EQ(table.resolve(made.dhi)->context, context);
  EXPECT_EQ(table.resolve(made.dhi)->domain, DomainId{3});
  EXPECT_FALSE(table.allocate(DomainId{4}, identity_of(3), false, 0).message.context);
}

// [DHI-29]
TEST(DeviceHandleTable, D12_SoftwareAllocIsCheckedLikeAnyOther) {
  DeviceHandleTableConfig config = config_of(2);
  EXPECT_EQ(DeviceHandleTable(config).install(DomainId{0}, {}), HandleStatus::kNotSoftwareManaged);
  config.management = HandleManagement::kSoftware;
  config.epoch = 4;
  Device device(config);
  const auto install = [&](std::uint32_t domain, std::uint16_t dhi, std::uint8_t epoch) {
    return device.table.install(DomainId{domain}, {Dhi{dhi}, identity_of(domain), false, 0, epoch});
  };
  EXPECT_EQ(install(0, 0, 3), HandleStatus::kEpochMismatch);
  EXPECT_EQ(install(0, 4, 4), HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(install(0, 3, 4), HandleStatus::kOk);
  EXPECT_EQ(install(0, 3, 4), HandleStatus::kOk) << "the same again changes nothing";
  EXPECT_EQ(install(0, 1, 4), HandleStatus::kDomainHasHandle);
  const HandlePin read = device.read(0);
  EXPECT_EQ(install(1, 3, 4), HandleStatus::kHandleBusy);
  device.table.completed(read);
  EXPECT_EQ(install(1, 3, 4), HandleStatus::kOk) << "implicit mode: taken from the old domain";
  EXPECT_FALSE(device.has(0));
  EXPECT_EQ(device.table.statistics().allocs, 2U);

  config.dealloc = DeallocMode::kExplicit;
  Device strict(config);
  EXPECT_EQ(strict.table.install(DomainId{0}, {Dhi{3}, identity_of(0), false, 0, 4}),
            HandleStatus::kOk);
  EXPECT_EQ(strict.table.install(DomainId{1}, {Dhi{3}, identity_of(1), false, 0, 4}),
            HandleStatus::kHandleInUse);
}

TEST(DeviceHandleTable, D4_FunctionLevelResetClearsItsEntriesAloneEvenPinnedOnes) {
  Device device(config_of(3));
  device.fill(6);
  const HandlePin stale = device.read(1);
  const HandlePin stale_write = device.pin_write(1);
  device.table.reset_function(Bdf::of(1, 0, 1));
  EXPECT_EQ(test::valid_entries(device.table), 3U);
  EXPECT_TRUE(device.has(0));
  EXPECT_FALSE(device.has(1));
  for (std::uint32_t domain = 10; domain < 15; ++domain) {
    device.allocate(domain);
    device.read(domain);
  }
  device.table.completed(stale);
  EXPECT_EQ(device.table.sent(stale_write), 0U);
  for (std::uint32_t domain = 10; domain < 15; ++domain) {
    EXPECT_FALSE(device.table.is_idle(device.handle(domain))) << "a stale pin released " << domain;
  }
}

TEST(DeviceHandleTable, D4_ResetClearsAllAndTakesTheNewRangeAndEpoch) {
  Device device(config_of(2));
  device.fill(4);
  const HandlePin stale = device.read(3);
  device.table.reset({Dhi{8}, Dhi{9}}, 1);
  EXPECT_EQ(test::valid_entries(device.table), 0U);
  device.table.completed(stale);
  const Allocation made = device.allocate(3);
  EXPECT_EQ(made.dhi, Dhi{8});
  EXPECT_EQ(made.message.epoch, 1);
  EXPECT_EQ(device.table.epoch(), 1);
}

TEST(DeviceHandleTable, D4_StalePinFromBeforeAResetNeverReleasesTheNewOwner) {
  Device device(config_of(2));
  device.allocate(0);
  const HandlePin stale = device.read(0);
  device.table.reset(HandleRange::of_bits(2), 1);
  device.allocate(1);
  device.read(1);
  device.table.completed(stale);
  EXPECT_FALSE(device.table.is_idle(device.handle(1)));
}

// A read under way could be looked up after the next owner's ALLOC; a posted use cannot. [DHI D14]
// [DHI S2]
TEST(DeviceHandleTable, S2_RefusedHandleIsFreeWhenItsReadsAreBack) {
  Device device(config_of(2));
  device.allocate(0);
  const HandlePin read = device.read(0);
  device.table.sent(device.table.pin(Dhi{0}, UseKind::kPosted));
  device.table.refused(Dhi{0});
  device.table.refused(Dhi{0});
  EXPECT_FALSE(device.has(0));
  EXPECT_FALSE(device.table.drained());
  device.table.completed(read);
  ASSERT_EQ(device.table.drained(), Dhi{0});
  EXPECT_FALSE(device.table.deallocate(Dhi{0}));
  EXPECT_EQ(test::valid_entries(device.table), 0U);
  EXPECT_EQ(device.table.statistics().deallocs, 0U);
}

// [DHI S2]
TEST(DeviceHandleTable, S2_HandleOfAReadThatWasGivenUpGoesToNobodyElse) {
  Device device(config_of(2));
  device.fill(4);
  const Dhi kept = device.handle(1);
  for (const std::uint32_t domain : {0U, 2U, 3U}) {
    device.write_and_push(domain);
  }
  device.table.given_up(device.read(1));
  device.write_and_push(1);
  for (std::uint32_t domain = 4; domain < 20; ++domain) {
    ASSERT_EQ(device.table.choose().outcome, MissOutcome::kVictimReady);
    EXPECT_NE(device.allocate(domain).dhi, kept);
    device.write_and_push(domain);
  }
  EXPECT_EQ(device.handle(1), kept) << "its domain goes on using it";

  device.table.drain(kept);
  ASSERT_EQ(device.table.drained(), kept);
  device.table.deallocate(kept);
  EXPECT_EQ(device.table.choose().outcome, MissOutcome::kVictimReady) << "and it is not free now";
  device.table.reset(HandleRange::of_bits(2), 1);
  device.fill(4);
  EXPECT_EQ(test::valid_entries(device.table), 4U)
      << "handles that are negotiated anew are all there";
}

// [DHI S2]
TEST(DeviceHandleTable, S2_WhereEveryHandleIsKeptNobodyWaitsForOne) {
  Device device(config_of(2));
  device.fill(4);
  for (std::uint32_t domain = 0; domain < 4; ++domain) {
    device.table.given_up(device.read(domain));
  }
  EXPECT_EQ(device.table.choose().outcome, MissOutcome::kNotHere);
}

// A handle that is kept is no victim in any order, has ended or drains, and its uses count on.
// [DHI S2] [DHI D9]
TEST(DeviceHandleTable, S2_KeptHandlesAreVictimsOfNoPolicyAndInNoState) {
  for (const VictimPolicy policy : {VictimPolicy::kFifo, VictimPolicy::kLru, VictimPolicy::kLfu}) {
    Device device(config_of(2, policy));
    device.fill(4);
    device.table.end_context(DomainId{0});
    device.table.drain(device.handle(1));
    for (const Dhi dhi : {Dhi{0}, Dhi{1}}) {
      EXPECT_TRUE(device.table.given_up(device.table.pin(dhi, UseKind::kNonPosted)));
    }
    EXPECT_TRUE(device.table.given_up(device.read(2)));
    EXPECT_FALSE(device.table.given_up(device.read(2))) << "it is kept already";
    device.table.end_context(DomainId{2});
    EXPECT_EQ(device.allocate(9).dhi, Dhi{3});
    device.write_and_push(2);
    device.table.end_context(DomainId{2});
    device.table.drain(Dhi{2});
    device.write_and_push(9);
    EXPECT_EQ(device.allocate(10).dhi, Dhi{3});
    device.write_and_push(10);

    EXPECT_TRUE(device.table.is_draining());
    for (const Dhi dhi : {Dhi{1}, Dhi{2}}) {
      ASSERT_EQ(device.table.drained(), dhi) << "the host's entry goes";
      device.table.deallocate(dhi);
    }
    EXPECT_FALSE(device.table.is_draining());
    EXPECT_EQ(test::valid_entries(device.table), 2U);
    EXPECT_EQ(device.allocate(11).dhi, Dhi{3}) << "and the handle is not free then";
  }
}

// [DHI S2] [DHI D15]
TEST(DeviceHandleTable, S2_HandleThatIsKeptUnderAnOrderIsNotFreeBehindIt) {
  Device device(config_of(2));
  device.fill(4);
  const HandlePin read = device.read(1);
  device.table.given_up(device.read(2));
  device.table.hold(0, {DeallocScope::kAll, {}, {}, {}, 0});
  EXPECT_TRUE(device.table.given_up(read)) << "while the order waits for it";
  ASSERT_TRUE(device.table.is_drained(0));
  device.table.release(0);
  EXPECT_EQ(test::valid_entries(device.table), 0U);
  for (std::uint32_t domain = 4; domain < 12; ++domain) {
    const Dhi dhi = device.allocate(domain).dhi;
    EXPECT_TRUE(dhi == Dhi{0} || dhi == Dhi{3});
    device.write_and_push(domain);
  }
}

// Processor time of 20,000 choices where each of 16,384 handles has a read under way, or has had
// one that was given up, except for the last.
double seconds_of_choices(VictimPolicy policy, bool are_kept) {
  constexpr unsigned kBits = 14;
  constexpr std::uint32_t kLast = (1U << kBits) - 1;
  Device device(config_of(kBits, policy));
  device.fill(kLast + 1);
  for (std::uint32_t domain = 0; domain < kLast; ++domain) {
    const HandlePin read = device.read(domain);
    if (are_kept) {
      device.table.given_up(read);
    }
    device.table.end_context(DomainId{domain});
  }
  device.read(kLast);
  unsigned waits = 0;
  const std::clock_t start = std::clock();
  for (unsigned i = 0; i < 20'000; ++i) {
    waits += device.table.choose().outcome == MissOutcome::kWaitForCompletion ? 1 : 0;
  }
  const std::clock_t end = std::clock();
  EXPECT_EQ(waits, 20'000U);
  return static_cast<double>(end - start) / CLOCKS_PER_SEC;
}

// Milliseconds; a walk over those that are kept takes 0.3 thousand million steps. [DHI S2]
TEST(DeviceHandleTable, S2_HandlesThatAreKeptAreNotLookedAt) {
  for (const VictimPolicy policy : {VictimPolicy::kFifo, VictimPolicy::kLru, VictimPolicy::kLfu}) {
    const double plain = seconds_of_choices(policy, false);
    EXPECT_LT(seconds_of_choices(policy, true), 10 * plain + 0.05);
  }
}

// [DHI D11] [DHI D14]
TEST(DeviceHandleTable, D11_RefusedHandleNeedsNoDealloc) {
  DeviceHandleTableConfig config = config_of(2);
  config.dealloc = DeallocMode::kExplicit;
  Device device(config);
  device.fill(4);
  device.table.refused(Dhi{2});
  const Allocation next = device.allocate(9);
  EXPECT_EQ(next.dhi, Dhi{2});
  EXPECT_FALSE(next.needs_dealloc_message);
  EXPECT_TRUE(device.allocate(10).needs_dealloc_message);
}

TEST(DeviceHandleTable, D22_HandleComesBackAsItsContextOrNotAtAll) {
  Device device(config_of(2));
  device.allocate(9);
  ASSERT_TRUE(device.table.resolve(Dhi{0}));
  EXPECT_EQ(device.table.resolve(Dhi{0})->domain, DomainId{9});
  EXPECT_EQ(device.table.resolve(Dhi{0})->identity, identity_of(9));
  EXPECT_FALSE(device.table.resolve(Dhi{1}));
  EXPECT_FALSE(device.table.resolve(Dhi{0xffff}));
}

TEST(DeviceHandleTable, StatisticsCountTlpsPerResidency) {
  Device device(config_of(2));
  device.fill(4);
  EXPECT_EQ(device.table.statistics().uses_per_residency(), 0.0);
  for (int i = 0; i < 6; ++i) {
    device.write_and_push(0);
  }
  device.write_and_push(1);
  device.write_and_push(2);
  EXPECT_EQ(device.table.statistics().residencies, 3U) << "handle 3 carried nothing";
  EXPECT_DOUBLE_EQ(device.table.statistics().uses_per_residency(), 8.0 / 3.0);
  device.table.record_lookup(true);
  device.table.record_lookup(false);
  EXPECT_EQ(device.table.statistics().lookups, 2U);
  EXPECT_EQ(device.table.statistics().hits, 1U);
  device.table.reset_statistics();
  device.write_and_push(0);
  EXPECT_EQ(device.table.statistics().residencies, 1U) << "a live residency counts anew";
  EXPECT_EQ(device.table.statistics().lookups, 0U);
}

}  // namespace
}  // namespace flitwise::device_handle_table_test
