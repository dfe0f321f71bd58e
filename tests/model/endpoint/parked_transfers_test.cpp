// SPDX-License-Identifier: Apache-2.0
// Who of those that wait for translations may go. [LNK-9.1] to [LNK-9.4]
#include "endpoint/parked_transfers.h"

#include <gtest/gtest.h>

#include <systemc>

namespace flitwise::parked_transfers_test {
namespace {

ParkedTransfer one(TlpType type, ParkedState state = ParkedState::kAwaitsReply,
                   unsigned function = 0) {
  ParkedTransfer transfer;
  transfer.shape.type = type;
  transfer.shape.requester_id = Bdf::of(1, 0, function);
  transfer.state = state;
  return transfer;
}
std::optional<Slot> next_of(const ParkedTransfers& parked, Time now = {}, bool has_room = false) {
  return parked.first_to_go(now, [has_room](const ParkedTransfer&) { return has_room; });
}

TEST(ParkedTransfers, LNK_9_3_AReadInTheWayOfNobody) {
  ParkedTransfers parked(4);
  parked.add(one(TlpType::kMRd));
  EXPECT_TRUE(parked.may_pass_all(one(TlpType::kMRd).shape));
  EXPECT_TRUE(parked.may_pass_all(one(TlpType::kMWr).shape));
}

TEST(ParkedTransfers, LNK_9_1_AWriteInTheWayOfAllButRelaxedOnes) {
  ParkedTransfers parked(4);
  parked.add(one(TlpType::kMWr));
  EXPECT_FALSE(parked.may_pass_all(one(TlpType::kMRd).shape));
  EXPECT_FALSE(parked.may_pass_all(one(TlpType::kMWr).shape));
  Tlp relaxed = one(TlpType::kMWr).shape;
  relaxed.relaxed_ordering = true;
  EXPECT_TRUE(parked.may_pass_all(relaxed));
  Tlp of_other = one(TlpType::kMRd, ParkedState::kReady, 1).shape;
  EXPECT_FALSE(parked.may_pass_all(of_other));
  of_other.id_based_ordering = true;
  EXPECT_TRUE(parked.may_pass_all(of_other));
}

TEST(ParkedTransfers, WhoIsReadyWaitsForWritesBeforeIt) {
  ParkedTransfers parked(4);
  const Slot write = parked.add(one(TlpType::kMWr));
  const Slot read = parked.add(one(TlpType::kMRd, ParkedState::kReady));
  EXPECT_EQ(next_of(parked), std::nullopt);
  parked.set_state(write, ParkedState::kReady);
  EXPECT_EQ(next_of(parked), write);
  parked.remove(write);
  EXPECT_EQ(next_of(parked), read);
}

TEST(ParkedTransfers, NobodyGoesBeforeItsTime) {
  ParkedTransfers parked(4);
  const Slot slot = parked.add(one(TlpType::kMRd, ParkedState::kReady));
  parked.at(slot).when = Time::from_ns(20);
  EXPECT_EQ(next_of(parked, Time::from_ns(19)), std::nullopt);
  EXPECT_EQ(next_of(parked, Time::from_ns(20)), slot);
  EXPECT_EQ(parked.next_time(Time::from_ns(19)), Time::from_ns(20));
  EXPECT_EQ(parked.next_time(Time::from_ns(20)), Time::never());
}

// [ATR-14]
TEST(ParkedTransfers, ATR_14_WhoWantsToAskPassesAll) {
  ParkedTransfers parked(4);
  parked.add(one(TlpType::kMWr));
  const Slot slot = parked.add(one(TlpType::kMWr, ParkedState::kWantsRequest));
  EXPECT_EQ(next_of(parked), std::nullopt);
  EXPECT_EQ(next_of(parked, {}, true), slot);
}

Time waited(const ParkedTransfers& parked, const std::string& resource) {
  for (const WaitResult& wait : parked.waits("ep0", 8, {})) {
    if (wait.resource.name == resource) {
      return wait.total;
    }
  }
  return Time::never();
}

// A reply is at the ATC behind the pipeline of the device; from then on a transfer waits for its
// turn, until it is the one that is being sent.
TEST(ParkedTransfers, AWaitForATranslationLastsUntilTheReplyIsThere) {
  ParkedTransfers parked(4);
  const Slot slot = parked.add(one(TlpType::kMWr));
  parked.set_state(slot, ParkedState::kReady, Time::from_ns(20));
  EXPECT_EQ(waited(parked, "translations"), Time::from_ns(20));
  sc_core::sc_start(sc_core::sc_time(50, sc_core::SC_NS));
  parked.set_state(slot, ParkedState::kGoing);
  EXPECT_EQ(waited(parked, "order"), Time::from_ns(30));
  sc_core::sc_start(sc_core::sc_time(50, sc_core::SC_NS));
  parked.remove(slot);
  EXPECT_EQ(waited(parked, "translations"), Time::from_ns(20));
  EXPECT_EQ(waited(parked, "order"), Time::from_ns(30));
}

TEST(ParkedTransfers, PRI_26_TheSmallerOfAllocationAndCapacityBoundsPageRequests) {
  const ParkedTransfers parked(4);
  PriConfig pages;
  const auto bound = [&](std::uint32_t allocation, std::uint32_t capacity) {
    pages.allocation = allocation;
    pages.capacity = capacity;
    for (const WaitResult& wait : parked.waits("ep0", 8, pages)) {
      if (wait.resource.name == "page_request_credits") {
        return wait.resource;
      }
    }
    return Resource{};
  };
  EXPECT_EQ(bound(32, 64).key, "device.pri.allocation");
  EXPECT_EQ(bound(32, 64).capacity, 32U);
  EXPECT_EQ(bound(128, 64).key, "device.pri.capacity");
  EXPECT_EQ(bound(128, 64).capacity, 64U);
}

TEST(ParkedTransfers, SayHowMuchRoomThereIs) {
  for (const WaitResult& wait : ParkedTransfers(4).waits("ep0", 8, {})) {
    if (wait.resource.name == "parked" || wait.resource.name == "atc_requests") {
      EXPECT_EQ(wait.resource.capacity, wait.resource.name == "parked" ? 4U : 8U);
    }
  }
}

TEST(ParkedTransfers, PlacesAreUsedAgain) {
  ParkedTransfers parked(2);
  for (int i = 0; i < 10; ++i) {
    const Slot first = parked.add(one(TlpType::kMWr));
    const Slot second = parked.add(one(TlpType::kMRd));
    EXPECT_FALSE(parked.has_room());
    parked.remove(first);
    EXPECT_TRUE(parked.may_pass_all(one(TlpType::kMRd).shape));
    parked.remove(second);
    EXPECT_TRUE(parked.empty());
  }
}

}  // namespace
}  // namespace flitwise::parked_transfers_test
