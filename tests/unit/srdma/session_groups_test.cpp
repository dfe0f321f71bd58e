// SPDX-License-Identifier: Apache-2.0
#include "srdma/session_groups.h"

#include <gtest/gtest.h>

namespace flitwise::session_groups_test {
namespace {

using Kind = SessionEvent::Kind;
constexpr std::uint32_t kOwn = 0x0a000001, kPeer = 0x0a000002;

SessionGroups groups_with(const SessionRules& rules) {
  return {rules, PortPairs({}, KeyedStream(1, "port"))};
}

/// A group with sessions that are up.
struct Bench {
  explicit Bench(const SessionRules& rules = {}, unsigned sessions = 2)
      : groups(rules, PortPairs({}, KeyedStream(1, "port"))) {
    slot = *groups.open(kPeer, 4, 77);
    groups.attach(slot, {1, 2});
    for (unsigned i = 0; i < sessions; ++i) {
      add();
    }
    drain_events();
  }
  SessionPlace add(std::unique_ptr<KeyEpochs> keys = nullptr) {
    const SessionTuple tuple = *groups.ports().draw({kOwn, kPeer}, now);
    const SessionId id = groups.next_session_id(slot, false);
    const SessionPlace place{slot, *groups.add(slot, id, tuple, true, std::move(keys), now)};
    groups.activate(place, now);
    return place;
  }
  std::unique_ptr<KeyEpochs> keys(Time not_after, std::uint64_t packets) const {
    KeyEpoch epoch;
    epoch.not_after = not_after;
    epoch.max_packets = packets;
    return std::make_unique<KeyEpochs>(epoch, groups.rules().credentials);
  }
  std::vector<Kind> drain_events() {
    std::vector<Kind> kinds;
    SessionEvent event;
    while (groups.take_event(event)) {
      kinds.push_back(event.kind);
    }
    return kinds;
  }
  SessionState state(unsigned session) {
    return groups.at(slot).session(static_cast<SessionSlot>(session)).state;
  }

  SessionGroups groups;
  GroupSlot slot = 0;
  Time now = Time::from_us(1);
};

TEST(SessionGroups, SG_6_APacketIsFoundByTheReverseOfItsSessionsTuple) {
  Bench bench;
  for (SessionSlot i = 0; i < 2; ++i) {
    const SessionTuple& tuple = bench.groups.at(bench.slot).session(i).tuple;
    ASSERT_NE(bench.groups.find(tuple.reverse()), nullptr);
    EXPECT_EQ(*bench.groups.find(tuple.reverse()), (SessionPlace{bench.slot, i}));
    EXPECT_EQ(bench.groups.find(tuple), nullptr);
  }
}

TEST(SessionGroups, SG_4_OnlyActiveAndRefreshingSessionsAreEligible) {
  Bench bench({}, 3);
  EXPECT_EQ(bench.groups.at(bench.slot).eligible(), 0b111U);
  bench.groups.send({bench.slot, 1}, bench.now);
  bench.groups.drain({bench.slot, 1}, false, bench.now);
  EXPECT_EQ(bench.groups.at(bench.slot).eligible(), 0b101U);
  bench.groups.set_refreshing({bench.slot, 2}, false, bench.now);
  EXPECT_EQ(bench.groups.at(bench.slot).eligible(), 0b101U);
  EXPECT_EQ(bench.state(2), SessionState::kRefreshing);
}

TEST(SessionGroups, SG_4_MO_4_OneThatIsNotAliveIsSkippedWhileAnotherOneIs) {
  Bench bench;
  bench.groups.set_alive({bench.slot, 0}, false, bench.now);
  EXPECT_EQ(bench.groups.at(bench.slot).eligible(), 0b10U);
  bench.groups.set_alive({bench.slot, 1}, false, bench.now);
  EXPECT_EQ(bench.groups.at(bench.slot).eligible(), 0b11U);
  EXPECT_TRUE(bench.drain_events().empty());  // the group is never down
}

TEST(SessionGroups, SG_4_DrainingEndsWithTheLastPacketInFlight) {
  Bench bench;
  const SessionPlace place{bench.slot, 0};
  bench.groups.send(place, bench.now);
  bench.groups.send(place, bench.now);
  bench.groups.drain(place, false, bench.now);
  EXPECT_EQ(bench.state(0), SessionState::kDraining);
  bench.groups.settle(place, 1, bench.now);
  EXPECT_EQ(bench.state(0), SessionState::kDraining);
  bench.groups.settle(place, 1, bench.now);
  EXPECT_EQ(bench.state(0), SessionState::kClosed);
  EXPECT_EQ(bench.drain_events(),
            (std::vector<Kind>{Kind::kSessionDraining, Kind::kSessionClosed}));
}

TEST(SessionGroups, SG_4_DrainingEndsAfterDrainTimeout) {
  SessionRules rules;
  rules.drain_timeout = Time::from_us(30);
  Bench bench(rules);
  const SessionPlace place{bench.slot, 0};
  bench.groups.send(place, bench.now);
  bench.groups.drain(place, false, bench.now);
  EXPECT_EQ(bench.groups.next_deadline(), bench.now + Time::from_us(30));
  bench.groups.tick(bench.now + Time::from_us(30) - Time{1});
  EXPECT_EQ(bench.state(0), SessionState::kDraining);
  const SessionTuple received = bench.groups.at(bench.slot).session(0).tuple.reverse();
  EXPECT_NE(bench.groups.find(received), nullptr);  // it still receives
  bench.groups.tick(bench.now + Time::from_us(30));
  EXPECT_EQ(bench.state(0), SessionState::kClosed);
  EXPECT_EQ(bench.groups.find(received), nullptr);
  EXPECT_EQ(bench.groups.next_deadline(), Time::never());
}

TEST(SessionGroups, SG_4_DrainingWaitsForThePeer) {
  Bench bench;
  bench.groups.drain({bench.slot, 0}, true, bench.now);
  EXPECT_EQ(bench.state(0), SessionState::kDraining);  // the peer may still send by it
  bench.groups.end_wait_for_peer({bench.slot, 0}, bench.now);
  EXPECT_EQ(bench.state(0), SessionState::kClosed);
}

TEST(SessionGroups, SG_9_AGroupWithoutEligibleSessionsIsDownAndFailsAfterDownTimeout) {
  SessionRules rules;
  rules.down_timeout = Time::from_us(100);
  Bench bench(rules, 1);
  bench.groups.drain({bench.slot, 0}, false, bench.now);
  EXPECT_TRUE(bench.groups.at(bench.slot).is_down());
  EXPECT_EQ(bench.groups.next_deadline(), bench.now + Time::from_us(100));
  bench.groups.tick(bench.now + Time::from_us(99));
  EXPECT_EQ(bench.drain_events(),
            (std::vector<Kind>{Kind::kSessionDraining, Kind::kGroupDown, Kind::kSessionClosed}));
  bench.groups.tick(bench.now + Time::from_us(100));
  EXPECT_EQ(bench.drain_events(), (std::vector<Kind>{Kind::kGroupFailed}));
  bench.groups.tick(bench.now + Time::from_us(300));
  EXPECT_TRUE(bench.drain_events().empty());
}

TEST(SessionGroups, SG_C7_AnotherSessionInTimeBringsItBack) {
  SessionRules rules;
  rules.down_timeout = Time::from_us(100);
  Bench bench(rules, 1);
  bench.groups.drain({bench.slot, 0}, false, bench.now);
  bench.now += Time::from_us(99);
  bench.groups.tick(bench.now);
  bench.drain_events();
  bench.add();
  EXPECT_EQ(bench.drain_events(), (std::vector<Kind>{Kind::kSessionUp, Kind::kGroupBack}));
  bench.groups.tick(bench.now + Time::from_us(500));
  EXPECT_TRUE(bench.drain_events().empty());
}

TEST(SessionGroups, SG_9_OnDownErrorFailsAtOnce) {
  SessionRules rules;
  rules.fails_at_once = true;
  Bench bench(rules, 1);
  bench.groups.drain({bench.slot, 0}, false, bench.now);
  bench.groups.tick(bench.now);
  const auto kinds = bench.drain_events();
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), Kind::kGroupFailed), 1);
}

TEST(SessionGroups, SG_8_BeyondTheLimitsNothingChanges) {
  SessionRules rules;
  rules.max_groups = 2;
  rules.max_sessions = 3;
  rules.max_pairs = 2;
  Bench bench(rules, 3);
  EXPECT_FALSE(bench.groups.add(bench.slot, 99, {1, 2, 3, 4}, true, nullptr, bench.now));
  EXPECT_EQ(bench.groups.find({2, 1, 4, 3}), nullptr);
  EXPECT_TRUE(bench.groups.attach(bench.slot, {10, 11}));
  EXPECT_FALSE(bench.groups.attach(bench.slot, {12, 13}));
  EXPECT_EQ(bench.groups.group_of(12), nullptr);
  const auto second = bench.groups.open(kPeer, 6, 77);
  EXPECT_TRUE(second);
  EXPECT_FALSE(bench.groups.open(kPeer, 8, 77));
  EXPECT_FALSE(bench.groups.attach(*second, {10, 14}));  // a queue pair has one group
  bench.groups.close(*second, bench.now);
  EXPECT_TRUE(bench.groups.open(kPeer, 8, 77));
}

TEST(SessionGroups, SG_7_AQueuePairMoreChangesNoSession) {
  Bench bench;
  const std::uint64_t eligible = bench.groups.at(bench.slot).eligible();
  EXPECT_TRUE(bench.groups.attach(bench.slot, {10, 11}));
  EXPECT_EQ(bench.groups.at(bench.slot).eligible(), eligible);
  EXPECT_EQ(bench.groups.at(bench.slot).sessions(), 2U);
  EXPECT_TRUE(bench.drain_events().empty());
}

TEST(SessionGroups, TX_1_AQueuePairSendsToItsOwnPeerAlone) {
  Bench bench;
  EXPECT_TRUE(bench.groups.may_send_to(bench.slot, 1, 2));
  EXPECT_FALSE(bench.groups.may_send_to(bench.slot, 1, 3));
  EXPECT_FALSE(bench.groups.may_send_to(bench.slot, 5, 2));
  bench.groups.detach(bench.slot, 1);
  EXPECT_FALSE(bench.groups.may_send_to(bench.slot, 1, 2));
}

TEST(SessionGroups, SG_7_ClosingAGroupFreesPortsAndQueuePairs) {
  Bench bench({}, 3);
  EXPECT_EQ(bench.groups.ports().in_use(), 3U);
  bench.groups.close(bench.slot, bench.now);
  EXPECT_EQ(bench.groups.ports().in_use(), 0U);
  EXPECT_EQ(bench.groups.group_of(1), nullptr);
  EXPECT_FALSE(bench.groups.is_open(bench.slot));
  EXPECT_EQ(bench.drain_events(),
            (std::vector<Kind>{Kind::kSessionClosed, Kind::kSessionClosed, Kind::kSessionClosed,
                               Kind::kPairDetached, Kind::kGroupClosed}));
}

TEST(SessionGroups, SG_6_EndsNameSessionsApart) {
  SessionGroups groups = groups_with({});
  const GroupSlot slot = *groups.open(kPeer, 4, 77);
  EXPECT_EQ(groups.next_session_id(slot, false), 0);
  EXPECT_EQ(groups.next_session_id(slot, true), 3);
  EXPECT_EQ(groups.next_session_id(slot, false), 4);
}

TEST(SessionGroups, KY_3_NoPacketLeavesFromNotAfterOnAndNoneIsTakenAfterGrace) {
  SessionRules rules;
  rules.credentials.is_secured = true;
  rules.credentials.refresh_margin = Time::from_us(10);
  rules.credentials.grace = Time::from_us(5);
  Bench bench(rules, 0);
  const SessionPlace place = bench.add(bench.keys(Time::from_us(100), 1000));
  EXPECT_EQ(bench.groups.next_deadline(), Time::from_us(90));
  bench.groups.tick(Time::from_us(90));
  SessionGroups::Wish wish;
  ASSERT_TRUE(bench.groups.take_wish(wish));
  EXPECT_FALSE(wish.is_expired);
  EXPECT_FALSE(bench.groups.take_wish(wish));
  bench.groups.tick(Time::from_us(100) - Time{1});
  EXPECT_FALSE(bench.groups.at(bench.slot).is_down());
  bench.drain_events();
  bench.groups.tick(Time::from_us(100));
  EXPECT_EQ(bench.state(0), SessionState::kExpired);
  EXPECT_EQ(bench.drain_events(), (std::vector<Kind>{Kind::kSessionExpired, Kind::kGroupDown}));
  ASSERT_TRUE(bench.groups.take_wish(wish));
  EXPECT_TRUE(wish.is_expired);
  EXPECT_NE(bench.groups.receiving(place, 0, Time::from_us(105) - Time{1}), nullptr);
  EXPECT_EQ(bench.groups.receiving(place, 0, Time::from_us(105)), nullptr);
  bench.groups.tick(Time::from_us(105));
  EXPECT_EQ(bench.state(0), SessionState::kClosed);
}

TEST(SessionGroups, KY_6_AKeyAsksForAnotherBeforeItsPacketsEndAndSendsNoMore) {
  SessionRules rules;
  rules.credentials.is_secured = true;
  Bench bench(rules, 0);
  const SessionPlace place = bench.add(bench.keys(Time::from_us(1'000'000), 16));
  SessionGroups::Wish wish;
  for (std::uint64_t number = 1; number <= 16; ++number) {
    EXPECT_FALSE(bench.groups.at(bench.slot).is_down());
    EXPECT_EQ(bench.groups.take_wish(wish), number == 15);  // once, behind seven eighths
    EXPECT_EQ(bench.groups.send(place, bench.now), number);
  }
  EXPECT_TRUE(bench.groups.at(bench.slot).is_down());
  KeyEpoch next;
  next.number = 1;
  next.not_after = Time::from_us(2'000'000);
  next.max_packets = 16;
  bench.groups.set_refreshing(place, false, bench.now);
  bench.groups.offer(place, next);
  bench.groups.refresh(place, bench.now);
  EXPECT_FALSE(bench.groups.at(bench.slot).is_down());
  EXPECT_EQ(bench.groups.send(place, bench.now), 1U);
}

TEST(SessionGroups, SG_7_AGroupInItsPlaceHasNoWishesOfOneThatHasGone) {
  SessionRules rules;
  rules.credentials.is_secured = true;
  Bench bench(rules, 0);
  const SessionPlace place = bench.add(bench.keys(Time::from_us(1'000'000), 8));
  for (int number = 0; number < 7; ++number) {
    bench.groups.send(place, bench.now);
  }
  bench.groups.close(bench.slot, bench.now);
  ASSERT_EQ(bench.groups.open(kPeer, 6, 77), bench.slot);
  SessionGroups::Wish wish;
  EXPECT_FALSE(bench.groups.take_wish(wish));
}

TEST(SessionGroups, KY_2_OldAndNewKeyAreTakenUntilTheOldOneEnds) {
  SessionRules rules;
  rules.credentials.is_secured = true;
  rules.credentials.grace = Time::from_us(5);
  Bench bench(rules, 0);
  const SessionPlace place = bench.add(bench.keys(Time::from_us(100), 1000));
  KeyEpoch next;
  next.number = 1;
  next.not_after = Time::from_us(500);
  next.max_packets = 1000;
  EXPECT_EQ(bench.groups.receiving(place, 1, Time::from_us(50)), nullptr);
  bench.groups.offer(place, next);
  EXPECT_NE(bench.groups.receiving(place, 1, Time::from_us(50)), nullptr);
  EXPECT_EQ(bench.groups.sending(place).number, 0);
  bench.groups.refresh(place, Time::from_us(60));
  EXPECT_EQ(bench.groups.sending(place).number, 1);
  EXPECT_NE(bench.groups.receiving(place, 0, Time::from_us(105) - Time{1}), nullptr);
  EXPECT_EQ(bench.groups.receiving(place, 0, Time::from_us(105)), nullptr);
  EXPECT_NE(bench.groups.receiving(place, 1, Time::from_us(105)), nullptr);
}

TEST(CredentialRules, KY_C4_ALifetimeBelowTheMarginIsAnError) {
  CredentialRules rules;
  rules.lifetime = Time::from_us(5);
  rules.refresh_margin = Time::from_us(6);
  EXPECT_EQ(flaw_of(rules), "");  // not secured
  rules.is_secured = true;
  EXPECT_EQ(flaw_of(rules),
            "lifetime 5000 ns seen; expected at least refresh_margin, 6000 ns, so that a key can "
            "be changed before it ends");
  rules.lifetime = rules.refresh_margin;
  EXPECT_EQ(flaw_of(rules), "");
  rules.max_packets = 7;
  EXPECT_EQ(flaw_of(rules), "max_packets 7 seen; expected 8 or more");
}

}  // namespace
}  // namespace flitwise::session_groups_test
