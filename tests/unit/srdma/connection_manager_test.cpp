// SPDX-License-Identifier: Apache-2.0
// Two ends back to back. [HS-1] to [HS-7]
#include "srdma/connection_manager.h"

#include <gtest/gtest.h>

#include <set>

#include "unit/srdma/two_ends.h"

namespace flitwise::connection_manager_test {
namespace {

using two_ends::kHigh;
using two_ends::kLow;
using two_ends::kService;
using two_ends::OnWire;
using two_ends::TwoEnds;
using Kind = SessionEvent::Kind;
using State = SessionState;

void expect_same_sessions(TwoEnds& both) {
  const SessionGroup& a = both.group(0);
  const SessionGroup& b = both.group(1);
  ASSERT_EQ(a.sessions(), b.sessions());
  EXPECT_EQ(a.id(), b.id());
  for (SessionSlot i = 0; i < a.slots(); ++i) {
    if (a.session(i).state == State::kClosed) {
      continue;
    }
    const unsigned there = b.slot_of(a.session(i).id);
    ASSERT_LT(there, b.slots());
    EXPECT_EQ(a.session(i).tuple.reverse(), b.session(static_cast<SessionSlot>(there)).tuple);
  }
}

TEST(ConnectionManager, HS_1_RequestReplyAndReadyMakeAGroupAtBothEnds) {
  TwoEnds both;
  const CmTicket ticket = both.connect(0, 4, 2);
  both.run_us(100);
  EXPECT_EQ(both.sent_of(CmKind::kConnectRequest), 1U);
  EXPECT_EQ(both.sent_of(CmKind::kConnectReply), 1U);
  EXPECT_EQ(both.sent_of(CmKind::kReady), 1U);
  EXPECT_EQ(both.last(0, Kind::kDone).ticket, ticket.id);
  for (unsigned end = 0; end < 2; ++end) {
    EXPECT_EQ(both.count(end, Kind::kGroupUp), 1U);
    EXPECT_EQ(both.count(end, Kind::kSessionUp), 4U);
    EXPECT_EQ(both.group(end).eligible(), 0b1111U);
    EXPECT_EQ(both.group(end).pairs().size(), 2U);
  }
  expect_same_sessions(both);
  EXPECT_EQ(both.group(0).pairs()[1].peer, both.group(1).pairs()[1].own);
  EXPECT_EQ(both.last(0, Kind::kPairReady).peer_psn, 1000U);
  EXPECT_EQ(both.last(1, Kind::kPairReady).peer_psn, 500U);
  EXPECT_EQ(both.manager(1).agreement(0).gap_timer, Time::from_us(50));
}

TEST(ConnectionManager, HS_2_TheGroupIsPendingUntilReady) {
  TwoEnds both;
  both.connect(0);
  both.run_us(5);  // the reply leaves
  EXPECT_EQ(both.group(1).state(), SessionGroup::State::kPending);
  EXPECT_EQ(both.group(1).session(0).state, State::kHandshake);
  EXPECT_EQ(both.group(1).eligible(), 0U);
  EXPECT_EQ(both.count(1, Kind::kPairReady), 1U);  // its queue pair receives
  EXPECT_EQ(both.group(0).state(), SessionGroup::State::kReserved);
  both.run_us(5);
  EXPECT_EQ(both.group(0).state(), SessionGroup::State::kUp);
  both.run_us(5);
  EXPECT_EQ(both.group(1).state(), SessionGroup::State::kUp);
}

TEST(ConnectionManager, HS_C1_ALostReplyIsSentAgainAndThereIsOneGroup) {
  TwoEnds both;
  int replies = 0;
  both.lose = [&](const OnWire& frame) {
    return frame.kind == CmKind::kConnectReply && replies++ == 0;
  };
  both.connect(0);
  both.run_us(300);
  EXPECT_EQ(both.open_groups(0), 1U);
  EXPECT_EQ(both.open_groups(1), 1U);
  EXPECT_EQ(both.manager(1).counts().repeated, 1U);
  EXPECT_EQ(both.group(1).state(), SessionGroup::State::kUp);
  expect_same_sessions(both);
}

TEST(ConnectionManager, HS_C2_DataIsAsGoodAsReady) {
  TwoEnds both;
  both.lose = [](const OnWire& frame) { return frame.kind == CmKind::kReady; };
  both.connect(0);
  both.run_us(20);
  EXPECT_EQ(both.group(1).state(), SessionGroup::State::kPending);
  const ByteVector frame = both.data(0, {0, 0}, both.group(0).pairs()[0].peer);
  EXPECT_EQ(both.deliver(1, frame), ReceiveCounter::kData);
  EXPECT_EQ(both.group(1).state(), SessionGroup::State::kUp);
  EXPECT_EQ(both.group(1).eligible(), 0b11U);
  both.run_us(2'000);
  EXPECT_EQ(both.sent_of(CmKind::kConnectReply), 1U);  // none is sent again
}

TEST(ConnectionManager, HS_C2_WithoutDataTheReplyIsSentAgainAndAnsweredByReady) {
  TwoEnds both;
  int readies = 0;
  both.lose = [&](const OnWire& frame) { return frame.kind == CmKind::kReady && readies++ < 2; };
  both.connect(0);
  both.run_us(1'000);
  EXPECT_EQ(both.sent_of(CmKind::kConnectReply), 3U);
  EXPECT_EQ(both.group(1).state(), SessionGroup::State::kUp);
}

TEST(ConnectionManager, HS_C3_RefusedPairsAreClosedAtBothEnds) {
  TwoEnds both(
      [](SrdmaEndSetup& setup, unsigned end) { setup.sessions.max_sessions = end == 0 ? 8 : 3; });
  both.connect(0, 8);
  EXPECT_EQ(both.groups(0).ports().in_use(), 8U);
  both.run_us(100);
  EXPECT_EQ(both.groups(0).ports().in_use(), 3U);
  EXPECT_EQ(both.group(0).sessions(), 3U);
  expect_same_sessions(both);
}

TEST(ConnectionManager, HS_5_APortThatAnApplicationHasIsLeftOut) {
  TwoEnds both([](SrdmaEndSetup& setup, unsigned end) {
    setup.ports.source = {100, 100};
    setup.ports.destination = {200, 201};
    static_cast<void>(end);
  });
  EXPECT_TRUE(both.groups(1).ports().bind(200));
  both.connect(0, 2);
  both.run_us(100);
  ASSERT_EQ(both.group(0).sessions(), 1U);
  EXPECT_EQ(both.group(0).session(0).tuple.destination_port, 201);
  EXPECT_EQ(both.groups(0).ports().in_use(), 1U);
}

TEST(ConnectionManager, HS_5_NoneLeftIsARefusal) {
  TwoEnds both([](SrdmaEndSetup& setup, unsigned /*end*/) {
    setup.ports.source = {100, 100};
    setup.ports.destination = {200, 200};
  });
  both.groups(1).ports().bind(200);
  both.connect(0, 1);
  both.run_us(100);
  EXPECT_EQ(both.last(0, Kind::kFailed).reason, CmReason::kPortInUse);
  EXPECT_EQ(both.open_groups(0) + both.open_groups(1), 0U);
}

TEST(ConnectionManager, SG_C1_OnePairOfPortsMakesOneSession) {
  for (const std::uint16_t last : {std::uint16_t{200}, std::uint16_t{201}}) {
    TwoEnds both([last](SrdmaEndSetup& setup, unsigned /*end*/) {
      setup.ports.source = {100, 100};
      setup.ports.destination = {200, last};
    });
    both.connect(0, 2);
    both.run_us(100);
    EXPECT_EQ(both.group(0).eligible_sessions(), last - 199U);
    EXPECT_EQ(both.manager(0).counts().no_port, 201U - last);
  }
}

TEST(ConnectionManager, HS_C4_ARequestThatComesAgainIsAnsweredFromMemory) {
  TwoEnds both;
  both.repeat = [](const OnWire& frame) { return frame.kind == CmKind::kConnectRequest; };
  both.connect(0);
  both.run_us(1'000);
  EXPECT_EQ(both.open_groups(1), 1U);
  // The copy is dropped by its number, as a replay, where messages are secured.
  EXPECT_EQ(both.at(1).channel().counts().replayed, 1U);

  TwoEnds plain([](SrdmaEndSetup& setup, unsigned /*end*/) { setup.channel.is_plain = true; });
  plain.repeat = [](const OnWire& frame) { return frame.kind == CmKind::kConnectRequest; };
  plain.connect(0);
  plain.run_us(1'000);
  EXPECT_EQ(plain.open_groups(1), 1U);
  EXPECT_EQ(plain.manager(1).counts().repeated, 1U);
  EXPECT_EQ(plain.groups(1).ports().in_use(), 2U);
}

TEST(ConnectionManager, HS_4_AfterTheLastRetryTheOperationFailsAndNothingIsLeft) {
  TwoEnds both;
  both.lose = [](const OnWire& frame) { return frame.to == 1; };
  const CmTicket ticket = both.connect(0);
  both.run_us(799);
  EXPECT_EQ(both.sent_of(CmKind::kConnectRequest), 8U);
  EXPECT_EQ(both.count(0, Kind::kFailed), 0U);
  both.run_us(1);
  EXPECT_EQ(both.last(0, Kind::kFailed).ticket, ticket.id);
  EXPECT_EQ(both.last(0, Kind::kFailed).reason, CmReason::kTimeOut);
  EXPECT_EQ(both.open_groups(0), 0U);
  EXPECT_EQ(both.groups(0).ports().in_use(), 0U);
  EXPECT_EQ(both.groups(0).group_of(0x100), nullptr);
}

TEST(ConnectionManager, HS_4_APendingGroupIsDroppedWithoutReady) {
  TwoEnds both;
  both.lose = [](const OnWire& frame) { return frame.to == 0; };
  both.connect(0);
  both.run_us(5'000);
  EXPECT_EQ(both.open_groups(0) + both.open_groups(1), 0U);
  EXPECT_EQ(both.last(1, Kind::kGroupClosed).reason, CmReason::kTimeOut);
  EXPECT_EQ(both.groups(1).ports().in_use(), 0U);
}

TEST(ConnectionManager, HS_C5_BothAskAtOnceAndThereIsOneGroupOfTheHigherAddress) {
  TwoEnds both;
  const CmTicket low = both.connect(0, 3);
  const CmTicket high = both.connect(1, 2);
  both.run_us(3'000);
  EXPECT_EQ(both.open_groups(0), 1U);
  EXPECT_EQ(both.open_groups(1), 1U);
  EXPECT_EQ(both.group(0).sessions(), 2U);  // those of the higher one
  EXPECT_EQ(both.group(0).id() & 1U, 1U);
  EXPECT_EQ(both.last(0, Kind::kDone).ticket, low.id);
  EXPECT_EQ(both.last(1, Kind::kDone).ticket, high.id);
  EXPECT_EQ(both.groups(0).ports().in_use(), 2U);
  EXPECT_EQ(both.group(0).pairs()[0].own, 0x100U);  // what each has asked for
  EXPECT_EQ(both.group(0).pairs()[0].peer, 0x200U);
  expect_same_sessions(both);
}

TEST(ConnectionManager, HS_C5_AnotherServiceIsAnotherGroup) {
  TwoEnds both;
  both.manager(1).listen(78, [](std::uint32_t, const auto& asked, std::vector<CmPair>& own) {
    own.assign(asked.size(), {0x900, 1});
    return CmReason::kNone;
  });
  both.connect(0, 2, 1, 78);
  both.connect(1, 2, 1);
  both.run_us(3'000);
  EXPECT_EQ(both.open_groups(0), 2U);
  EXPECT_EQ(both.open_groups(1), 2U);
}

// Whatever is lost, there is one group at the end, or none.
TEST(ConnectionManager, HS_6_SimultaneousRequestsUnderLoss) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    TwoEnds both;
    KeyedStream random(seed, "loss");
    both.lose = [&](const OnWire& /*frame*/) { return random.below(10) == 0; };
    both.connect(0);
    both.run_us(static_cast<std::int64_t>(random.below(12)));
    both.connect(1);
    both.run_us(20'000);
    std::array<unsigned, 2> up{};
    for (unsigned end = 0; end < 2; ++end) {
      for (GroupSlot slot = 0; slot < both.groups(end).slots(); ++slot) {
        up[end] += both.groups(end).is_open(slot) &&
                           both.group(end, slot).state() == SessionGroup::State::kUp
                       ? 1
                       : 0;
      }
      EXPECT_EQ(both.open_groups(end), up[end]) << seed;
    }
    EXPECT_EQ(up[0], up[1]) << seed;
    EXPECT_LE(up[0], 2U) << seed;  // two where one was up before the other one asked
  }
}

TEST(ConnectionManager, HS_C6_CapabilitiesThatDoNotFitAreRefused) {
  TwoEnds secured(
      [](SrdmaEndSetup& setup, unsigned end) { setup.sessions.credentials.is_secured = end == 0; });
  secured.connect(0);
  secured.run_us(100);
  EXPECT_EQ(secured.last(0, Kind::kFailed).reason, CmReason::kCapabilities);
  EXPECT_EQ(secured.count(0, Kind::kPairReady), 0U);
  EXPECT_EQ(secured.groups(0).ports().in_use(), 0U);
  EXPECT_EQ(secured.open_groups(0) + secured.open_groups(1), 0U);

  TwoEnds echo([](SrdmaEndSetup& setup, unsigned end) {
    setup.manager.capabilities.needs_echo = end == 0;
    setup.manager.capabilities.has_echo = end == 0;
  });
  echo.connect(0);
  echo.connect(1, 2, 1, 5);
  echo.run_us(100);
  EXPECT_EQ(echo.last(0, Kind::kFailed).reason, CmReason::kCapabilities);
  EXPECT_EQ(echo.last(1, Kind::kFailed).reason, CmReason::kCapabilities);
}

TEST(ConnectionManager, HS_1_BothGetTheLesserOfTheirCapabilities) {
  TwoEnds both([](SrdmaEndSetup& setup, unsigned end) {
    CmCapabilities& own = setup.manager.capabilities;
    own.mtu = end == 0 ? 1024 : 4096;
    own.reorder_depth = end == 0 ? 256 : 64;
    own.has_sack = end == 0;
    own.has_echo = end == 0;
  });
  both.connect(0);
  both.run_us(100);
  for (unsigned end = 0; end < 2; ++end) {
    const CmCapabilities& both_can = both.manager(end).agreement(0).capabilities;
    EXPECT_EQ(both_can.mtu, 1024);
    EXPECT_EQ(both_can.reorder_depth, 64);
    EXPECT_FALSE(both_can.has_sack);
    EXPECT_FALSE(both_can.has_echo);
  }
}

TEST(ConnectionManager, HS_4_ReasonsOfARefusal) {
  TwoEnds both(
      [](SrdmaEndSetup& setup, unsigned end) { setup.sessions.max_groups = end == 0 ? 8 : 1; });
  EXPECT_EQ(both.connect(0, 0).reason, CmReason::kNoPort);
  EXPECT_EQ(both.connect(0, 2, 0).reason, CmReason::kBadQp);
  EXPECT_EQ(both.connect(0, 2, 257).reason, CmReason::kNoResource);
  both.connect(0, 2, 1, 5);  // nobody listens
  both.run_us(100);
  EXPECT_EQ(both.last(0, Kind::kFailed).reason, CmReason::kBadQp);
  both.connect(0);
  both.run_us(100);
  both.connect(0);  // there is no other place
  both.run_us(100);
  EXPECT_EQ(both.last(0, Kind::kFailed).reason, CmReason::kNoResource);
  EXPECT_EQ(both.groups(1).ports().in_use(), 2U);
}

TEST(ConnectionManager, HS_4_AQueuePairOfNumber0IsRefused) {
  TwoEnds both;
  CmMessage request;
  request.kind = CmKind::kConnectRequest;
  request.transaction = 1;
  request.service = kService;
  request.sessions = {{{kLow, kHigh, 100, 200}, 0}};
  request.pairs = {{0, 0}};
  both.manager(1).receive(request, kLow, both.now);
  ConnectionManager::Outgoing out;
  ASSERT_TRUE(both.manager(1).take_message(out));
  EXPECT_EQ(out.message.reason, CmReason::kBadQp);
}

TEST(ConnectionManager, HS_C8_APeerThatHasStartedAgainKnowsNoGroup) {
  TwoEnds both;
  both.connect(0);
  both.run_us(100);
  both.setups[1].channel.start = both.setups[1].manager.start = 101;
  both.restart(1);
  both.manager(0).delete_session({0, 0}, both.now);
  both.run_us(100);
  EXPECT_EQ(both.last(0, Kind::kGroupClosed).reason, CmReason::kNoGroup);
  EXPECT_EQ(both.last(0, Kind::kFailed).reason, CmReason::kNoGroup);
  EXPECT_EQ(both.groups(0).ports().in_use(), 0U);
  both.connect(1);  // a group of the same number is another one
  both.run_us(100);
  EXPECT_EQ(both.open_groups(0), 1U);
}

TEST(ConnectionManager, HS_1_AnIdThatIsTakenIsAnsweredByAnother) {
  TwoEnds both;
  both.connect(0);
  both.run_us(100);
  both.setups[0].channel.start = both.setups[0].manager.start = 101;
  both.setups[0].seed = 2;
  both.restart(0);
  both.connect(0);  // it begins to count again
  both.run_us(100);
  ASSERT_EQ(both.open_groups(1), 2U);
  EXPECT_EQ(both.group(0).id(), both.group(1, 1).id());
  EXPECT_NE(both.group(1, 0).id(), both.group(1, 1).id());
}

TEST(ConnectionManager, HS_3_SessionsAreAddedAndDeletedAtBothEnds) {
  TwoEnds both;
  both.connect(0);
  both.run_us(100);
  both.manager(0).add_session(0, both.now);
  EXPECT_EQ(both.manager(0).pending_sessions(0), 1U);  // [CT-5]
  both.run_us(100);
  EXPECT_EQ(both.manager(0).pending_sessions(0), 0U);
  EXPECT_EQ(both.group(0).eligible(), 0b111U);
  EXPECT_EQ(both.group(1).eligible(), 0b111U);
  expect_same_sessions(both);
  both.manager(1).delete_session({0, 1}, both.now);
  both.run_us(100);
  EXPECT_EQ(both.group(0).eligible(), 0b101U);
  EXPECT_EQ(both.group(1).eligible(), 0b101U);
  both.run_us(2'000);
  EXPECT_EQ(both.group(0).session(1).state, State::kClosed);
  EXPECT_EQ(both.group(1).session(1).state, State::kClosed);
  expect_same_sessions(both);
}

TEST(ConnectionManager, CT_6_ADeletedSessionDrainsAtBothEnds) {
  TwoEnds both;
  both.connect(0);
  both.run_us(100);
  both.groups(0).send({0, 0}, both.now);
  both.groups(1).send({0, 0}, both.now);
  both.manager(0).delete_session({0, 0}, both.now);
  both.run_us(50);
  EXPECT_EQ(both.group(0).session(0).state, State::kDraining);
  EXPECT_EQ(both.group(1).session(0).state, State::kDraining);
  both.groups(0).settle({0, 0}, 1, both.now);
  both.groups(1).settle({0, 0}, 1, both.now);
  EXPECT_EQ(both.group(0).session(0).state, State::kClosed);
  EXPECT_EQ(both.group(1).session(0).state, State::kDraining) << "what may still come by it?";
}

TEST(ConnectionManager, SG_C8_TheEndThatIsAskedTakesWhatIsOnItsWayByADrainingSession) {
  TwoEnds both;
  both.connect(0);
  both.run_us(100);
  const ByteVector late = both.data(0, {0, 0}, 0x200);
  both.manager(0).delete_session({0, 0}, both.now);
  both.run_us(50);
  EXPECT_EQ(both.group(1).eligible(), 0b10U);
  EXPECT_EQ(both.deliver(1, late), ReceiveCounter::kData);
  both.run_us(2'000);
  EXPECT_EQ(both.group(1).session(0).state, State::kClosed);
  EXPECT_EQ(both.deliver(1, late), ReceiveCounter::kUnknownTuple);
}

TEST(ConnectionManager, CT_C8_AnAddThatNobodyAnswersFreesItsPort) {
  TwoEnds both;
  both.connect(0);
  both.run_us(100);
  both.lose = [](const OnWire& frame) { return frame.kind == CmKind::kAddRequest; };
  both.manager(0).add_session(0, both.now);
  EXPECT_EQ(both.groups(0).ports().in_use(), 3U);
  both.run_us(1'000);
  EXPECT_EQ(both.last(0, Kind::kFailed).reason, CmReason::kTimeOut);
  EXPECT_EQ(both.groups(0).ports().in_use(), 2U);
  EXPECT_EQ(both.group(0).eligible(), 0b11U);
}

TEST(ConnectionManager, HS_4_ASessionAddedWithoutReadyIsDropped) {
  TwoEnds both;
  both.connect(0);
  both.run_us(100);
  both.lose = [](const OnWire& frame) { return frame.to == 0; };
  both.manager(0).add_session(0, both.now);
  both.run_us(2'000);
  EXPECT_EQ(both.group(1).sessions(), 2U);
  EXPECT_EQ(both.groups(1).ports().in_use(), 2U);
  EXPECT_EQ(both.groups(0).ports().in_use(), 2U);
}

TEST(ConnectionManager, CT_C10_BothAddAtOnce) {
  TwoEnds roomy;
  roomy.connect(0);
  roomy.run_us(100);
  roomy.manager(0).add_session(0, roomy.now);
  roomy.manager(1).add_session(0, roomy.now);
  roomy.run_us(1'000);
  EXPECT_EQ(roomy.group(0).sessions(), 4U);
  expect_same_sessions(roomy);

  TwoEnds full([](SrdmaEndSetup& setup, unsigned /*end*/) { setup.sessions.max_sessions = 3; });
  full.connect(0);
  full.run_us(100);
  full.manager(0).add_session(0, full.now);
  const CmTicket high = full.manager(1).add_session(0, full.now);
  full.run_us(1'000);
  EXPECT_EQ(full.group(0).sessions(), 3U);
  EXPECT_EQ(full.last(1, Kind::kDone).ticket, high.id);  // the higher address wins
  EXPECT_EQ(full.last(0, Kind::kFailed).reason, CmReason::kBusy);
  expect_same_sessions(full);
}

TEST(ConnectionManager, CT_C10_BothDrawTheSamePorts) {
  TwoEnds both([](SrdmaEndSetup& setup, unsigned /*end*/) {
    setup.ports.source = setup.ports.destination = {100, 101};
  });
  both.connect(0, 3);
  both.run_us(100);  // one pair is left
  both.manager(0).add_session(0, both.now);
  both.manager(1).add_session(0, both.now);
  both.run_us(1'000);
  EXPECT_EQ(both.group(0).sessions(), 4U);
  EXPECT_EQ(both.groups(0).ports().in_use(), 4U);
  EXPECT_EQ(both.groups(1).ports().in_use(), 4U);
  expect_same_sessions(both);
}

TEST(ConnectionManager, SG_7_QueuePairsAreAttachedAndTheLastOneClosesTheGroup) {
  TwoEnds both;
  both.connect(0);
  both.run_us(100);
  both.manager(0).attach(0, {0x150, 9}, both.now);
  both.run_us(100);
  ASSERT_EQ(both.group(0).pairs().size(), 2U);
  ASSERT_EQ(both.group(1).pairs().size(), 2U);
  EXPECT_EQ(both.last(1, Kind::kPairReady).peer_psn, 9U);
  EXPECT_EQ(both.last(0, Kind::kPairReady).peer_psn, 1000U);
  EXPECT_EQ(both.group(0).pairs()[1].peer, both.group(1).pairs()[1].own);
  both.manager(0).detach(0, 0x100, both.now);
  both.run_us(100);
  EXPECT_EQ(both.group(1).pairs().size(), 1U);
  EXPECT_EQ(both.group(0).sessions(), 2U);
  both.manager(1).detach(0, both.group(1).pairs()[0].own, both.now);
  both.run_us(100);
  EXPECT_EQ(both.open_groups(0) + both.open_groups(1), 0U);
  EXPECT_EQ(both.groups(0).ports().in_use() + both.groups(1).ports().in_use(), 0U);
}

TEST(ConnectionManager, HS_3_AnAttachWithoutReadyComesToNothing) {
  TwoEnds both;
  both.connect(0);
  both.run_us(100);
  both.lose = [](const OnWire& frame) { return frame.to == 0; };
  both.manager(0).attach(0, {0x150, 9}, both.now);
  both.run_us(3'000);
  EXPECT_EQ(both.group(0).pairs().size(), 1U);
  EXPECT_EQ(both.group(1).pairs().size(), 1U);
}

TEST(ConnectionManager, HS_3_DisconnectClosesBothEnds) {
  TwoEnds both;
  both.connect(0, 4);
  both.run_us(100);
  both.manager(0).disconnect(0, both.now);
  both.manager(1).disconnect(0, both.now);  // at once
  both.run_us(100);
  for (unsigned end = 0; end < 2; ++end) {
    EXPECT_EQ(both.open_groups(end), 0U);
    EXPECT_EQ(both.count(end, Kind::kSessionClosed), 4U);
    EXPECT_EQ(both.count(end, Kind::kFailed), 0U);
  }
}

TEST(ConnectionManager, HS_3_RX_3_TheNewestGapTimerCounts) {
  TwoEnds both;
  both.connect(0);
  both.run_us(100);
  both.manager(0).advertise(0, Time::from_us(70));
  both.flush();
  std::vector<OnWire> older = std::exchange(both.wire, {});
  both.manager(0).advertise(0, Time::from_us(80));
  both.run_us(10);
  EXPECT_EQ(both.manager(1).agreement(0).gap_timer, Time::from_us(80));
  both.wire = std::move(older);
  both.run_us(10);
  EXPECT_EQ(both.manager(1).agreement(0).gap_timer, Time::from_us(80));
  EXPECT_EQ(both.count(1, Kind::kGapTimer), 1U);
}

TEST(ConnectionManager, HS_7_AsManySessionsAsAreAskedForAndBothEndsHold) {
  for (const unsigned asked : {1U, 3U, 5U}) {
    TwoEnds both(
        [](SrdmaEndSetup& setup, unsigned end) { setup.sessions.max_sessions = end == 0 ? 8 : 4; });
    both.connect(0, asked);
    both.run_us(100);
    EXPECT_EQ(both.group(0).sessions(), std::min(asked, 4U));
    expect_same_sessions(both);
  }
}

TEST(ConnectionManager, SG_1_SessionsUsePathsInTurn) {
  TwoEnds both;
  ConnectRequest request;
  request.remote = kHigh;
  request.service = kService;
  request.pairs = {{0x100, 0}};
  request.paths = {{kLow, kHigh}, {kLow + 256, kHigh + 256}};
  request.sessions = 4;
  both.manager(0).connect(request, both.now);
  both.run_us(100);
  ASSERT_EQ(both.group(0).sessions(), 4U);
  for (SessionSlot i = 0; i < 4; ++i) {
    EXPECT_EQ(both.group(0).session(i).tuple.source, kLow + (i % 2) * 256);
    EXPECT_EQ(both.group(0).session(i).tuple.destination, kHigh + (i % 2) * 256);
  }
}

// The group that a key was made for has gone, and another one has its place, without a session yet.
TEST(ConnectionManager, KY_2_SoftwareInstallsNoKeyOfAGroupThatHasGone) {
  TwoEnds both([](SrdmaEndSetup& setup, unsigned /*end*/) {
    setup.sessions.credentials.is_secured = true;
    setup.sessions.credentials.engine = RekeyEngine::kSoftware;
  });
  both.connect(0, 1);
  both.run_us(100);
  both.manager(0).refresh({0, 0}, both.now);
  both.run_us(20);
  both.manager(0).disconnect(0, both.now);
  both.run_us(20);
  ASSERT_EQ(both.open_groups(0), 0U);
  both.lose = [](const OnWire& /*frame*/) { return true; };
  both.connect(0, 1);
  both.run_us(600);
  EXPECT_EQ(both.open_groups(0), 1U);
  EXPECT_EQ(both.count(0, Kind::kRefreshed), 0U);
}

// READY of a session is lost for good; the session is closed, and another one has its place.
TEST(ConnectionManager, HS_2_AnswerThatIsGivenUpClosesNoLaterSession) {
  TwoEnds both;
  both.connect(0, 1);
  both.run_us(100);
  const std::uint64_t lost = both.manager(0).add_session(0, both.now).id;
  both.lose = [&](const OnWire& frame) {
    return frame.is_control && frame.kind == CmKind::kReady && both.sent.back().transaction == lost;
  };
  both.run_us(20);
  both.manager(0).delete_session({0, 1}, both.now);
  both.run_us(20);
  both.manager(0).add_session(0, both.now);
  both.run_us(5'000);
  EXPECT_EQ(both.group(1).eligible_sessions(), 2U);
  expect_same_sessions(both);
}

TEST(ConnectionManager, HS_6_BothAskAtOnceForTheOnlyPairOfPorts) {
  TwoEnds both([](SrdmaEndSetup& setup, unsigned /*end*/) {
    setup.ports.source = setup.ports.destination = {200, 200};
  });
  both.connect(0, 1);
  both.connect(1, 1);
  both.run_us(1'000);
  EXPECT_EQ(both.group(0).eligible_sessions(), 1U);
  EXPECT_EQ(both.groups(0).ports().in_use(), 1U);
  EXPECT_EQ(both.groups(1).ports().in_use(), 1U);
  EXPECT_EQ(both.count(0, Kind::kFailed) + both.count(1, Kind::kFailed), 0U);
  expect_same_sessions(both);
}

// A peer that refuses a session in the place of one whose key has ended is not asked without pause.
TEST(ConnectionManager, KY_3_RefusedReplacementIsAskedForLater) {
  TwoEnds both([](SrdmaEndSetup& setup, unsigned end) {
    setup.ports.destination = {200, 200};
    setup.sessions.credentials.is_secured = true;
    setup.sessions.credentials.lifetime = Time::from_us(2'000);
    setup.sessions.credentials.refresh_margin = Time::from_us(500);
    setup.sessions.credentials.grace = Time::from_us(0);
    setup.manager.retries = end == 0 ? 1 : 7;
  });
  both.lose = [](const OnWire& frame) {
    return frame.kind == CmKind::kRefreshRequest || frame.kind == CmKind::kAddRequest;
  };
  both.connect(0, 1);
  both.run_us(2'100);
  ASSERT_EQ(both.group(1).sessions(), 0U);
  ASSERT_TRUE(both.groups(1).ports().bind(200));
  both.lose = nullptr;
  const unsigned before = both.sent_of(CmKind::kAddRequest);
  both.run_us(2'000);
  EXPECT_GE(both.sent_of(CmKind::kAddRequest), before + 5);
  EXPECT_LE(both.sent_of(CmKind::kAddRequest), before + 12);
}

// Loss and repetition of control messages, with all operations: both ends agree at the end.
TEST(ConnectionManager, HS_3_RandomOperationsUnderLossAndRepetition) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    TwoEnds both([](SrdmaEndSetup& setup, unsigned /*end*/) { setup.channel.is_plain = true; });
    both.connect(0, 4, 2);
    both.run_us(100);
    KeyedStream random(seed, "ops");
    both.lose = [&](const OnWire& /*frame*/) { return random.below(10) == 0; };
    both.repeat = [&](const OnWire& /*frame*/) { return random.below(5) == 0; };
    for (int i = 0; i < 40 && both.open_groups(0) + both.open_groups(1) == 2; ++i) {
      const auto end = static_cast<unsigned>(random.below(2));
      const SessionGroup& group = both.group(end);
      switch (random.below(4)) {
        case 0: both.manager(end).add_session(0, both.now); break;
        case 1:
          if (group.sessions() > 2) {
            both.manager(end).delete_session(
                {0, static_cast<SessionSlot>(random.below(group.slots()))}, both.now);
          }
          break;
        case 2: both.manager(end).attach(0, {both.next_pair[end]++, 1}, both.now); break;
        default:
          if (group.pairs().size() > 2) {
            both.manager(end).detach(0, group.pairs().back().own, both.now);
          }
          break;
      }
      both.run_us(static_cast<std::int64_t>(random.below(150)));
    }
    both.lose = both.repeat = nullptr;
    both.run_us(20'000);
    ASSERT_EQ(both.open_groups(0), 1U) << seed;
    ASSERT_EQ(both.open_groups(1), 1U) << seed;
    expect_same_sessions(both);
    EXPECT_EQ(both.groups(0).ports().in_use(), both.group(0).sessions()) << seed;
    EXPECT_EQ(both.groups(1).ports().in_use(), both.group(1).sessions()) << seed;
    std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const GroupPair& pair : both.group(0).pairs()) {
      pairs.insert({pair.own, pair.peer});
    }
    for (const GroupPair& pair : both.group(1).pairs()) {
      EXPECT_EQ(pairs.count({pair.peer, pair.own}), 1U) << seed;
    }
    EXPECT_EQ(pairs.size(), both.group(1).pairs().size()) << seed;
    if (testing::Test::HasFailure()) {
      FAIL() << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace flitwise::connection_manager_test
