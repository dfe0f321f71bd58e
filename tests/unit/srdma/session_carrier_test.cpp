// SPDX-License-Identifier: Apache-2.0
// Queue pairs whose packets sessions carry, without frames and without a network.
#include "srdma/session_carrier.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <map>
#include <memory>
#include <vector>

namespace flitwise::session_carrier_test {
namespace {

constexpr std::uint32_t kWire = 4096 + 98;

CarrierRules rules_of(RateControl control, unsigned sessions) {
  CarrierRules rules;
  rules.balancer.choice.policy = ChoicePolicy::kRoundRobin;
  rules.balancer.agree();
  rules.control = control;
  rules.sessions = sessions;
  rules.packet_bytes = kWire;
  rules.window.additive = rules.window.least = kWire;
  rules.window.initial = 4 * kWire;
  rules.window.most = 8 * kWire;
  return rules;
}

/// A queue pair in RTS that has much to write, and sessions 10, 11, ...
struct Sender {
  Sender(SessionCarrier& group, std::uint32_t number, Recovery recovery = Recovery::kSelective,
         std::uint32_t window = 128)
      : carrier(group),
        pair(setup(number, recovery, window), keys, completions, completions, buffers, true),
        carried(group, pair) {
    for (const QpState state : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
      pair.modify(state);
    }
    SendWork work;
    work.opcode = WorkOpcode::kWrite;
    work.local = view_of({0, 64 * 4096, *keys.add({0, 0, 1 << 20, kAllRdmaRights})});
    EXPECT_EQ(pair.post_send(work), PostResult::kTaken);
  }
  static QueuePairSetup setup(std::uint32_t number, Recovery recovery, std::uint32_t window) {
    QueuePairSetup setup;
    setup.window = window;
    setup.number = setup.peer = number;
    setup.keeps_sent = true;
    setup.mode = recovery == Recovery::kSelective ? ReceiveMode::kReorder : ReceiveMode::kInOrder;
    setup.recovery = recovery;
    setup.has_echo = true;
    return setup;
  }
  /// By which session the next packet leaves; kNoSession: none may.
  SessionId send(Time now) {
    Time may_go;
    RdmaPacket packet;
    if (!carried.may_request(now, may_go) || !pair.next(packet, now)) {
      return kNoSession;
    }
    carried.begin_request(kWire, now);
    carried.send_request(packet, kWire, now);
    last = packet;
    return packet.session;
  }
  void acknowledge(Psn psn, Time now, std::uint8_t syndrome = kAckSyndrome) {
    RdmaPacket ack;
    ack.opcode = RdmaOpcode::kAck;
    ack.queue_pair = pair.setup().number;
    ack.syndrome = syndrome;
    ack.psn = psn;
    const Psn oldest = pair.requester().oldest();
    pair.receive(ack, now);
    carried.note_progress(oldest, now);
  }

  SessionCarrier& carrier;
  MemoryKeys keys{1};
  CompletionQueue completions{8};
  RdmaBuffers buffers{1};
  QueuePair pair;
  CarriedPair carried;
  RdmaPacket last;
};

struct Group {
  explicit Group(RateControl control = RateControl::kNone, unsigned sessions = 2)
      : rules(rules_of(control, sessions)), carrier(rules, {1, 2}, Random(3), {}) {
    for (unsigned i = 0; i < sessions; ++i) {
      const auto id = static_cast<SessionId>(10 + i);
      carrier.add(id, {1, 2, id, 4}, {});
    }
  }
  CarrierRules rules;
  SessionCarrier carrier;
};

TEST(SessionCarrier, SG_C5_QueuePairsOfAGroupShareItsSessions) {
  Group group;
  Sender one(group.carrier, 7), other(group.carrier, 8);
  std::map<SessionId, int> packets;
  for (int i = 0; i < 8; ++i) {
    ++packets[one.send({})];
    ++packets[other.send({})];
  }
  EXPECT_EQ(packets, (std::map<SessionId, int>{{10, 8}, {11, 8}}));
  EXPECT_EQ(group.carrier.balancer().in_flight(), 16U);
  one.acknowledge(7, Time::from_us(1));
  EXPECT_EQ(group.carrier.balancer().in_flight(), 8U);
  other.carried.forget(Time::from_us(2));
  EXPECT_EQ(group.carrier.balancer().in_flight(), 0U) << "it is reset";
}

// [PS-3] A window of that size would take 400 MB for each queue pair, if it had its memory at once.
TEST(SessionCarrier, PS_3_MemoryIsThatOfWhatIsOutHoweverLargeTheWindow) {
  Group group;
  std::vector<std::unique_ptr<Sender>> senders;
  for (std::uint32_t number = 7; number < 71; ++number) {
    senders.push_back(std::make_unique<Sender>(group.carrier, number, Recovery::kSelective,
                                               (std::uint32_t{1} << 23) - 1));
  }
  Sender& one = *senders.front();
  for (int i = 0; i < 64; ++i) {
    EXPECT_NE(one.send({}), kNoSession) << i;
  }
  EXPECT_EQ(group.carrier.balancer().in_flight(), 64U);
  one.acknowledge(62, Time::from_us(1));
  EXPECT_EQ(group.carrier.balancer().in_flight(), 1U) << "each had a place of its own";
  one.acknowledge(63, Time::from_us(2));
  EXPECT_EQ(group.carrier.balancer().in_flight(), 0U);
  EXPECT_EQ(group.carrier.balancer().stats(0).delivered_packets, 32U);
  struct rusage used {};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &used), 0);
  EXPECT_LT(used.ru_maxrss, 4'000'000) << "KiB";
}

TEST(SessionCarrier, SG_4_ADrainingSessionClosesOnceNothingOfItIsOnItsWay) {
  Group group;
  Sender sender(group.carrier, 7);
  const SessionId first = sender.send({});
  group.carrier.drain(first);
  EXPECT_NE(sender.send({}), first);
  EXPECT_FALSE(group.carrier.close_if_empty(first));
  sender.acknowledge(0, Time::from_us(1));
  EXPECT_TRUE(group.carrier.close_if_empty(first));
  EXPECT_TRUE(group.carrier.close_if_empty(first)) << "the other end may ask later";
}

TEST(SessionCarrier, CC_4_AClosedSessionHasNoPartOfTheWindow) {
  Group group(RateControl::kWindow, 2);  // two packets each
  Sender sender(group.carrier, 7);
  group.carrier.close(11);
  group.carrier.close(11);
  EXPECT_EQ(sender.send({}), 10);
  EXPECT_EQ(sender.send({}), 10);
  EXPECT_EQ(sender.send({}), kNoSession);
  group.carrier.add(12, {1, 2, 12, 4}, {});
  EXPECT_EQ(sender.send({}), 12);
  EXPECT_EQ(sender.send({}), 12);
  EXPECT_EQ(sender.send({}), kNoSession) << "another one in its place has its own part";
}

TEST(SessionCarrier, MO_3_NoProbeLeavesByASessionThatHasBegunToDrain) {
  Group group;
  Sender sender(group.carrier, 7);
  sender.send({});
  const Time now = Time::from_us(1'500);  // nothing has come by either since 0 [MO-4]
  group.carrier.tick(now, true);
  ASSERT_TRUE(group.carrier.has_probe());
  group.carrier.drain(10);
  const SessionIndex other = group.carrier.balancer().find(11);
  EXPECT_EQ(group.carrier.take_probe(), other);
  EXPECT_EQ(group.carrier.take_probe(), kNoSessionIndex);
  group.carrier.tick(now + Time::from_us(10), true);
  group.carrier.tick(now + Time::from_us(20), true);
  EXPECT_EQ(group.carrier.take_probe(), other) << "it has not left";
  EXPECT_EQ(group.carrier.take_probe(), kNoSessionIndex) << "once is enough";
}

TEST(SessionCarrier, RX_3_TheGapTimerFollowsTheLargestRoundTripOnceAControlInterval) {
  Group group;
  Sender sender(group.carrier, 7);
  const auto echo = [&](Psn psn, SessionId session, Time now) {
    RdmaPacket ack;
    ack.has_echo = true;
    ack.echo.session = session;
    ack.echo.psn = psn;
    sender.carried.take_echo(ack, now);
  };
  group.carrier.tick({}, true);
  EXPECT_FALSE(group.carrier.take_gap_timer()) << "nothing has been sent";
  const SessionId first = sender.send({}), second = sender.send({});
  group.carrier.tick(Time::from_us(50), true);
  EXPECT_FALSE(group.carrier.take_gap_timer()) << "no round trip is known";
  sender.send(Time::from_us(51));
  echo(0, first, Time::from_us(60));
  echo(1, second, Time::from_us(80));
  group.carrier.tick(Time::from_us(99), true);
  EXPECT_FALSE(group.carrier.take_gap_timer());
  group.carrier.tick(Time::from_us(100), true);
  EXPECT_EQ(group.carrier.take_gap_timer(), Time::from_us(120));
  EXPECT_FALSE(group.carrier.take_gap_timer());
  group.carrier.tick(Time::from_us(150), true);
  EXPECT_FALSE(group.carrier.take_gap_timer()) << "nothing has been sent since";
}

// model
TEST(SessionCarrier, CT_6_AnEndThatHasSentNothingDecidesNothing) {
  CarrierRules rules = rules_of(RateControl::kNone, 4);
  rules.balancer.control.most_cost = 1;
  SessionCarrier carrier(rules, {1, 2}, Random(3), {});
  for (unsigned i = 0; i < 4; ++i) {
    const auto id = static_cast<SessionId>(10 + i);
    carrier.add(id, {1, 2, id, 4}, {});
  }
  Sender sender(carrier, 7);
  using Action = ControlDecision::Action;
  EXPECT_EQ(carrier.tick(Time::from_us(60), false).action, Action::kNone);
  sender.send(Time::from_us(70));
  EXPECT_EQ(carrier.tick(Time::from_us(120), false).action, Action::kRemove);
}

TEST(SessionCarrier, CC_4_AWindowCountsPacketsThatHaveBegunAndNotLeft) {
  Group group(RateControl::kWindow, 2);
  Sender sender(group.carrier, 7);
  Time may_go;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(sender.carried.may_request({}, may_go)) << i;
    sender.carried.begin_request(kWire, {});
  }
  EXPECT_FALSE(sender.carried.may_request({}, may_go)) << "four packets of both sessions";
  EXPECT_EQ(may_go, Time::never());
  sender.carried.drop_request();
  EXPECT_TRUE(sender.carried.may_request({}, may_go));
}

TEST(SessionCarrier, CC_4_OneWindowOfTheGroupLeavesTheChoiceOfSessionsFree) {
  Group group(RateControl::kWindowGroup, 4);
  Sender one(group.carrier, 7), other(group.carrier, 8);
  group.carrier.drain(11);
  group.carrier.drain(12);
  group.carrier.drain(13);
  EXPECT_EQ(one.send({}), 10);
  EXPECT_EQ(other.send({}), 10);
  EXPECT_EQ(one.send({}), 10);
  EXPECT_EQ(other.send({}), 10) << "four packets, though four sessions share the window";
  EXPECT_EQ(one.send({}), kNoSession);
  EXPECT_EQ(other.send({}), kNoSession) << "the window is that of all queue pairs";
  one.acknowledge(0, Time::from_us(1));
  EXPECT_EQ(other.send(Time::from_us(1)), 10);
}

// What the receiver dropped behind a gap is on its way no more: else a window that has become
// smaller would never open again.
TEST(SessionCarrier, LR_1_GoBackNTakesAllThatItSendsAgainOffTheWay) {
  for (const bool is_time_out : {false, true}) {
    Group group(RateControl::kWindowGroup, 2);
    Sender sender(group.carrier, 7, Recovery::kGoBackN);
    for (int i = 0; i < 4; ++i) {
      EXPECT_NE(sender.send({}), kNoSession) << i;
    }
    EXPECT_EQ(sender.send({}), kNoSession);
    if (is_time_out) {
      const Psn oldest = sender.pair.requester().oldest();
      sender.pair.time_out(Time::from_us(9), {});
      sender.carried.note_progress(oldest, Time::from_us(9));
    } else {
      sender.acknowledge(0, Time::from_us(9), 0x60);
    }
    const SessionBalancer& balancer = group.carrier.balancer();
    EXPECT_EQ(balancer.in_flight(), 0U);
    EXPECT_EQ(balancer.stats(0).losses + balancer.stats(1).losses, 1U) << "that of the gap alone";
    EXPECT_EQ(balancer.stats(0).is_timed_out, is_time_out);
    EXPECT_NE(sender.send(Time::from_us(9)), kNoSession);
    EXPECT_EQ(sender.last.psn, 0U);
  }
}

TEST(SessionCarrier, CC_3_ACnpSlowsDownItsSessionAlone) {
  Group group(RateControl::kDcqcnSession, 2);
  Sender sender(group.carrier, 7);
  RdmaPacket cnp;
  cnp.opcode = RdmaOpcode::kCnp;
  cnp.session = 10;
  sender.carried.take_cnp(cnp, {});
  EXPECT_EQ(group.carrier.balancer().stats(0).cnps, 1U);
  // A packet of each; then the one without a CNP may go first, in twice the time of the line rate.
  EXPECT_NE(sender.send({}), sender.send({}));
  Time may_go;
  EXPECT_FALSE(sender.carried.may_request({}, may_go));
  EXPECT_EQ(may_go, (Time{std::int64_t{2} * kWire * 80'000}));
  EXPECT_EQ(sender.send(may_go), 11);
}

TEST(SessionCarrier, SG_9_WithoutASessionNoRequestLeaves) {
  Group group;
  Sender sender(group.carrier, 7);
  group.carrier.drain(10);
  group.carrier.drain(11);
  EXPECT_EQ(sender.send({}), kNoSession);
}

}  // namespace
}  // namespace flitwise::session_carrier_test
