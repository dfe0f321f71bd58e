// SPDX-License-Identifier: Apache-2.0
// Keys of sessions: changed in time, or not. [KY-1] to [KY-6]
#include <gtest/gtest.h>

#include "unit/srdma/two_ends.h"

namespace flitwise::credentials_test {
namespace {

using two_ends::OnWire;
using two_ends::TwoEnds;
using Kind = SessionEvent::Kind;
using State = SessionState;

// Keys live for a millisecond, and are changed 900 us before.
void make_secured(SrdmaEndSetup& setup, unsigned /*end*/) {
  CredentialRules& rules = setup.sessions.credentials;
  rules.is_secured = true;
  rules.lifetime = Time::from_us(2'000);
  rules.refresh_margin = Time::from_us(900);
  rules.grace = Time::from_us(100);
}

struct Secured : TwoEnds {
  explicit Secured(const Change& change = {}, unsigned sessions = 1)
      : TwoEnds([&](SrdmaEndSetup& setup, unsigned end) {
          make_secured(setup, end);
          if (change) {
            change(setup, end);
          }
        }) {
    connect(0, sessions);
    run_us(100);
  }
  std::uint32_t pair(unsigned end) { return group(end).pairs()[0].own; }
  /// A frame of end 0, which comes at once.
  ReceiveCounter send() {
    ByteVector frame = data(0, {0, 0}, pair(1));
    at(0).groups().settle({0, 0}, 1, now);
    return deliver(1, std::move(frame));
  }
  const GroupSession& session(unsigned end, SessionSlot slot = 0) {
    return group(end).session(slot);
  }
  unsigned epoch(unsigned end) { return groups(end).sending({0, 0}).number; }
};

TEST(Credentials, KY_1_BothEndsHaveTheSameKeysEachTheOtherWayRound) {
  Secured both({}, 3);
  for (SessionSlot i = 0; i < 3; ++i) {
    const KeyEpoch& here = both.groups(0).sending({0, i});
    const KeyEpoch& there = both.groups(1).sending({0, i});
    EXPECT_EQ(here.sends, there.receives);
    EXPECT_EQ(here.receives, there.sends);
    EXPECT_NE(here.sends, here.receives);
    EXPECT_NE(here.sends, both.groups(0).sending({0, static_cast<SessionSlot>((i + 1) % 3)}).sends);
  }
  EXPECT_EQ(both.send(), ReceiveCounter::kData);
}

TEST(Credentials, KY_C1_ARefreshLeavesNoGap) {
  Secured both;
  const Time start = both.now;
  while (both.now < start + Time::from_us(1'600)) {
    ASSERT_EQ(both.group(0).eligible(), 1U);  // at any time
    ASSERT_EQ(both.send(), ReceiveCounter::kData) << both.now.ns();
    both.run_us(3);
  }
  EXPECT_EQ(both.epoch(0), 1U);
  EXPECT_EQ(both.epoch(1), 1U);
  EXPECT_EQ(both.count(0, Kind::kRefreshing), 1U);
  EXPECT_EQ(both.count(0, Kind::kRefreshed), 1U);
  EXPECT_EQ(both.count(1, Kind::kRefreshed), 1U);
  EXPECT_EQ(both.sent_of(CmKind::kRefreshRequest), 1U);
}

TEST(Credentials, KY_C1_FramesOfTheOldKeyAreTakenUntilItsGraceEnds) {
  Secured both;
  const Time end = both.groups(1).sending({0, 0}).not_after;
  std::vector<ByteVector> old;
  for (int i = 0; i < 3; ++i) {
    old.push_back(both.data(0, {0, 0}, both.pair(1)));
  }
  both.run(end + Time::from_us(50));
  EXPECT_EQ(both.epoch(0), 1U);
  EXPECT_EQ(both.deliver(1, old[0]), ReceiveCounter::kData);
  both.run(end + Time::from_us(100) - Time{1});
  EXPECT_EQ(both.deliver(1, old[1]), ReceiveCounter::kData);
  both.run(end + Time::from_us(100));
  EXPECT_EQ(both.deliver(1, old[2]), ReceiveCounter::kBadKey);
  EXPECT_EQ(both.send(), ReceiveCounter::kData);
}

TEST(Credentials, KY_2_DataByTheNewKeyConfirmIt) {
  Secured both;
  both.lose = [](const OnWire& frame) { return frame.kind == CmKind::kReady; };
  both.run_us(1'100);
  EXPECT_EQ(both.epoch(0), 1U);
  EXPECT_EQ(both.epoch(1), 0U);
  EXPECT_EQ(both.send(), ReceiveCounter::kData);
  EXPECT_EQ(both.epoch(1), 1U);
}

TEST(Credentials, KY_C2_ALostRefreshExpiresAtNotAfterAndIsReplaced) {
  Secured both;
  both.lose = [](const OnWire& frame) { return frame.kind == CmKind::kRefreshRequest; };
  const Time end = both.groups(0).sending({0, 0}).not_after;
  both.data(0, {0, 0}, both.pair(1));  // is not acknowledged
  both.run(end - Time{1});
  EXPECT_EQ(both.session(0).state, State::kRefreshing);
  EXPECT_EQ(both.group(0).eligible(), 1U);
  both.run(end);
  EXPECT_EQ(both.session(0).state, State::kExpired);
  EXPECT_EQ(both.session(0).in_flight, 1U);  // its owner sends that again at once [KY-4]
  EXPECT_EQ(both.count(0, Kind::kSessionExpired), 1U);
  EXPECT_EQ(both.group(0).eligible(), 0U);
  both.run(end + Time::from_us(20));  // one round trip
  EXPECT_EQ(both.group(0).eligible(), 0b10U);
  EXPECT_EQ(both.manager(0).counts().replacements, 1U);
  both.run(end + Time::from_us(200));
  EXPECT_EQ(both.session(0).state, State::kClosed);
  EXPECT_EQ(both.session(1).state, State::kClosed);
  EXPECT_EQ(both.group(0).sessions(), 1U);
  EXPECT_EQ(both.group(1).sessions(), 1U);
}

TEST(Credentials, KY_3_EnoughSessionsAreLeftAndNoneIsReplaced) {
  for (const bool replaces : {false, true}) {
    Secured both(
        [replaces](SrdmaEndSetup& setup, unsigned /*end*/) {
          setup.sessions.credentials.replaces_on_expiry = replaces;
        },
        2);
    const SessionId lost = both.session(0).id;
    both.lose = [&](const OnWire& frame) {
      return frame.kind == CmKind::kRefreshRequest && both.sent.back().session == lost;
    };
    both.run_us(2'500);
    EXPECT_EQ(both.manager(0).counts().replacements, replaces ? 1U : 0U);
    EXPECT_EQ(both.group(0).sessions(), replaces ? 2U : 1U);
  }
}

TEST(Credentials, KY_C3_AllKeysEndAtOnceWhileNoControlMessageComesThrough) {
  Secured both([](SrdmaEndSetup& setup,
                  unsigned /*end*/) { setup.sessions.down_timeout = Time::from_us(500); },
               4);
  const Time end = both.groups(0).sending({0, 0}).not_after;
  const ByteVector late = both.data(1, {0, 0}, both.pair(0));
  const ByteVector later = both.data(1, {0, 0}, both.pair(0));
  both.lose = [](const OnWire& /*frame*/) { return true; };
  both.run(end);
  EXPECT_TRUE(both.group(0).is_down());
  EXPECT_EQ(both.count(0, Kind::kSessionExpired), 4U);
  EXPECT_EQ(both.count(0, Kind::kGroupDown), 1U);
  both.run(end + Time::from_us(99));
  EXPECT_EQ(both.deliver(0, late), ReceiveCounter::kData);
  both.run(end + Time::from_us(100));
  EXPECT_EQ(both.deliver(0, later), ReceiveCounter::kUnknownTuple);
  EXPECT_EQ(both.count(0, Kind::kGroupFailed), 0U);
  both.run(end + Time::from_us(500));
  EXPECT_EQ(both.count(0, Kind::kGroupFailed), 1U);
}

TEST(Credentials, KY_C4_APeerWhoseKeysLiveTooShortIsRefused) {
  TwoEnds both([](SrdmaEndSetup& setup, unsigned end) {
    make_secured(setup, end);
    if (end == 0) {
      setup.sessions.credentials.lifetime = Time::from_us(899);
      setup.sessions.credentials.refresh_margin = Time::from_us(10);
    }
  });
  both.connect(0);
  both.run_us(100);
  EXPECT_EQ(both.last(0, Kind::kFailed).reason, CmReason::kAuth);
  both.connect(1);  // whose own lifetime is cut to that of the other one
  both.run_us(100);
  EXPECT_EQ(both.last(1, Kind::kFailed).reason, CmReason::kAuth);
}

TEST(Credentials, KY_1_TheShorterLifetimeCounts) {
  Secured both([](SrdmaEndSetup& setup, unsigned end) {
    setup.sessions.credentials.lifetime = Time::from_us(end == 0 ? 3'000 : 1'000);
  });
  EXPECT_EQ(both.groups(0).sending({0, 0}).not_after, Time::from_us(1'010));
  EXPECT_EQ(both.groups(1).sending({0, 0}).not_after, Time::from_us(1'005));
}

TEST(Credentials, KY_C5_AFrameThatComesAgainIsDropped) {
  Secured both;
  const ByteVector frame = both.data(0, {0, 0}, both.pair(1));
  EXPECT_EQ(both.deliver(1, frame), ReceiveCounter::kData);
  EXPECT_EQ(both.deliver(1, frame), ReceiveCounter::kReplay);
  EXPECT_EQ(both.deliver(0, frame), ReceiveCounter::kUnknownTuple);  // back to its sender
}

TEST(Credentials, KY_C6_ABitThatIsFlippedIsNoticedAndMovesNoWindow) {
  Secured both;
  const ByteVector frame = both.data(0, {0, 0}, both.pair(1));
  for (std::size_t byte = 42; byte < frame.size(); ++byte) {
    ByteVector flipped = frame;
    flipped[byte] ^= 0x80;
    const ReceiveCounter outcome = both.deliver(1, flipped);
    EXPECT_TRUE(outcome == ReceiveCounter::kAuth || outcome == ReceiveCounter::kBadKey) << byte;
  }
  EXPECT_EQ(both.deliver(1, frame), ReceiveCounter::kData);
}

TEST(Credentials, KY_C7_SEL_C11_TheRightTupleWithAnotherKey) {
  Secured both;
  ByteVector forged;
  const RoceParts parts = make_roce({roce_opcode(0x04), false, false, 64}, forged);
  const SessionTuple& tuple = both.session(0).tuple;
  put(&forged[parts.ip], RoceField{"src", 96, 32}, tuple.source);
  put(&forged[parts.ip], RoceField{"dst", 128, 32}, tuple.destination);
  put(&forged[parts.udp], RoceField{"src_port", 0, 16}, tuple.source_port);
  put(&forged[parts.udp], RoceField{"dst_port", 16, 16}, tuple.destination_port);
  seal_roce(forged.data(), parts);
  const ByteVector plain = forged;
  FrameSecurity security;
  security.seal(forged, key_id_of(both.session(0).id, 0), 1000, SecretKey{1, 2, 3});
  EXPECT_EQ(both.deliver(1, forged), ReceiveCounter::kAuth);
  const ReceiveCounter unsecured = both.deliver(1, plain);
  EXPECT_TRUE(unsecured == ReceiveCounter::kAuth || unsecured == ReceiveCounter::kBadKey);
  EXPECT_EQ(both.send(), ReceiveCounter::kData);  // number 1 is not too old
}

TEST(Credentials, KY_C9_TheLastPacketsOfAKey) {
  Secured both(
      [](SrdmaEndSetup& setup, unsigned /*end*/) { setup.sessions.credentials.max_packets = 64; });
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(both.group(0).eligible(), 1U) << i;
    ASSERT_EQ(both.send(), ReceiveCounter::kData) << i;
    ASSERT_LE(both.groups(0).sending({0, 0}).sent, 64U);
    both.run_us(3);
  }
  EXPECT_EQ(both.epoch(0), 3U);
}

TEST(Credentials, KY_6_WithoutAnotherKeyNoPacketLeaves) {
  Secured both(
      [](SrdmaEndSetup& setup, unsigned /*end*/) { setup.sessions.credentials.max_packets = 64; });
  both.lose = [](const OnWire& frame) { return frame.is_control; };
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(both.send(), ReceiveCounter::kData) << i;
  }
  EXPECT_TRUE(both.group(0).is_down());
  both.lose = nullptr;
  both.run_us(300);
  EXPECT_FALSE(both.group(0).is_down());
  EXPECT_EQ(both.send(), ReceiveCounter::kData);
}

TEST(Credentials, KY_2_BothAskAtOnceAndTheHigherAddressWins) {
  Secured both;
  both.manager(0).refresh({0, 0}, both.now);
  both.manager(1).refresh({0, 0}, both.now);
  both.run_us(200);
  EXPECT_EQ(both.epoch(0), 1U);
  EXPECT_EQ(both.epoch(1), 1U);
  EXPECT_EQ(both.session(0).state, State::kActive);
  EXPECT_EQ(both.last(0, Kind::kFailed).reason, CmReason::kBusy);
  EXPECT_EQ(both.count(1, Kind::kFailed), 0U);
  EXPECT_EQ(both.send(), ReceiveCounter::kData);
}

TEST(Credentials, KY_2_SoftwareStopsASessionWhileItChangesItsKey) {
  Secured both(
      [](SrdmaEndSetup& setup, unsigned /*end*/) {
        setup.sessions.credentials.engine = RekeyEngine::kSoftware;
        setup.sessions.credentials.software_delay = Time::from_us(200);
      },
      2);
  both.run_us(910);  // a third of the gap
  EXPECT_EQ(both.session(0).state, State::kActive);
  both.manager(0).refresh({0, 0}, both.now);
  EXPECT_EQ(both.group(0).eligible(), 0b10U);
  const Time stop = both.now;
  both.run(stop + Time::from_us(209));
  EXPECT_EQ(both.group(0).eligible() & 1U, 0U);
  both.run(stop + Time::from_us(230));
  EXPECT_EQ(both.group(0).eligible() & 1U, 1U);
  EXPECT_EQ(both.group(1).eligible() & 1U, 1U);
  EXPECT_EQ(both.send(), ReceiveCounter::kData);
}

// Refreshes under loss: whatever leaves is taken, and nothing twice.
TEST(Credentials, KY_2_RandomRefreshesUnderLoss) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Secured both([](SrdmaEndSetup& setup,
                    unsigned /*end*/) { setup.sessions.credentials.max_packets = 200; },
                 3);
    KeyedStream random(seed, "loss");
    both.lose = [&](const OnWire& /*frame*/) { return random.below(4) == 0; };
    for (int i = 0; i < 1'500; ++i) {
      const auto from = static_cast<unsigned>(random.below(2));
      std::uint64_t eligible = both.group(from).eligible();
      if (eligible != 0) {
        SessionSlot slot = 0;
        for (std::uint64_t skip = random.below(both.group(from).eligible_sessions());
             (eligible >> slot & 1U) == 0 || skip-- > 0;) {
          ++slot;
        }
        const ByteVector frame = both.data(from, {0, slot}, both.pair(1 - from));
        both.groups(from).settle({0, slot}, 1, both.now);
        ASSERT_EQ(both.deliver(1 - from, frame), ReceiveCounter::kData) << seed << " " << i;
        ASSERT_EQ(both.deliver(1 - from, frame), ReceiveCounter::kReplay) << seed << " " << i;
      }
      both.run_us(static_cast<std::int64_t>(random.below(6)));
    }
    EXPECT_GT(both.manager(0).counts().refreshes, 3U) << seed;
  }
}

}  // namespace
}  // namespace flitwise::credentials_test
