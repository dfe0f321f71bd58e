// SPDX-License-Identifier: Apache-2.0
// Sessions of RDMA adapters and their reorder buffers: two ends, between which a test carries
// frames by hand.
#include "rdma/hca_sessions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "model/rdma/hca_stand_ins.h"
#include "network/addresses.h"
#include "rdma/hca_receive.h"
#include "srdma/frame_fields.h"

namespace flitwise::hca_sessions_test {
namespace {

using namespace hca_stand_ins;

HcaConfig config_with_sessions(unsigned adapter, const SrdmaConfig& srdma) {
  HcaConfig config = config_of(32, 128);
  config.adapter = adapter;
  config.seed = adapter + 1;
  config.peers[0].adapter = 1 - adapter;
  config.peers[0].pairs = kPairs;
  config.peers[0].seed = 2 - adapter;
  config.rdma.mtu = 256;
  config.geometry.most_bytes = 4096;
  NetworkConfig network;
  config.sessions = HcaSessionRules{srdma, host_rules(network, srdma, Time::from_us(2)), 7};
  return config;
}

SrdmaConfig srdma_of(unsigned sessions) {
  SrdmaConfig srdma;
  srdma.is_on = true;
  srdma.sessions = sessions;
  srdma.policy = ChoicePolicy::kRoundRobin;
  srdma.congestion.kind = RateControl::kNone;
  return srdma;
}

/// An adapter of which there are queue pairs, sessions and the receive stage.
struct End {
  End(unsigned adapter, const SrdmaConfig& srdma) : bench(config_with_sessions(adapter, srdma)) {
    sessions = std::make_unique<HcaSessions>(
        parts, HcaSessions::Hooks{[this](std::uint32_t pair) { connected.insert(pair); },
                                  [this](Time) { ++all_connected; }});
    parts.carriers = sessions.get();
    receive = std::make_unique<HcaReceive>(parts);
  }
  /// The queue pair is to write so many bytes into the memory of its peer.
  void write(std::uint32_t pair, std::uint32_t bytes) {
    SendWork work;
    work.opcode = WorkOpcode::kWrite;
    work.is_signaled = true;
    const RdmaArea area = bench.config.area(pair);
    work.local = view_of({area.base(), bytes, key_of(pair, PairRegion::kOwn)});
    work.remote_address = bench.config.area(pair).exposed(0);
    work.remote_key = key_of(pair, PairRegion::kExposed);
    ASSERT_EQ(bench.pairs[pair].rules.post_send(work), PostResult::kTaken);
  }
  /// The next packet of the queue pair as a frame. Null: none may go.
  FrameRef send(std::uint32_t pair, Time when) {
    const Time now = std::max(when, clock + Time::from_ns(2));
    HcaBuilt built;
    built.pair = pair;
    RdmaPacket packet;
    if (!sessions->next_packet(built, packet, now)) {
      return nullptr;
    }
    built.packet = bench.arrived.make(packet);
    built.frame = pool.make(0);
    const unsigned own = bench.config.adapter;
    built.parts = make_frame(packet, {own, 1 - own}, built.frame->bytes);
    sessions->after_rules(pair, now);
    return sessions->send(built, now) == HcaCarriers::Sent::kYes ? built.frame : nullptr;
  }
  /// What becomes of a frame; empty: it has gone to the rules.
  std::string take(const FrameRef& frame, Time now) {
    HcaArrived arrived;
    arrived.frame = frame;
    arrived.came = now;
    if (const char* const why = sessions->receive(arrived, now)) {
      return why;
    }
    clock = std::max(clock, now) + wait + Time::from_ns(10);
    receive->receive(std::move(arrived), clock);
    receive->run(clock + Time::from_ns(2));
    return "";
  }
  FrameRef control() {
    FrameRef frame = pool.make(0);
    sessions->take_control(frame->bytes);
    return frame;
  }

  FramePool pool;
  Time clock{};  // of the receive stage
  Time wait{};   // of packets in front of it
  Bench bench;
  HcaParts parts = bench.parts();
  std::set<std::uint32_t> connected;
  int all_connected = 0;
  std::unique_ptr<HcaSessions> sessions;
  std::unique_ptr<HcaReceive> receive;
};

struct Two {
  explicit Two(const SrdmaConfig& srdma = srdma_of(2)) : low(0, srdma), high(1, srdma) {
    low.sessions->connect(now);
    high.sessions->connect(now);
    exchange();
  }
  void exchange() {
    while (low.sessions->has_control() || high.sessions->has_control()) {
      End& from = low.sessions->has_control() ? low : high;
      End& to = &from == &low ? high : low;
      EXPECT_EQ(to.take(from.control(), now), "rx_control");
      now += Time::from_us(1);
    }
  }
  Time now = Time::from_us(1);
  End low, high;
};

SessionTuple tuple_of(const Frame& frame) {
  UdpFrame udp;
  EXPECT_EQ(read_udp(frame.bytes.data(), frame.bytes.size(), udp), UdpError::kNone);
  return udp.tuple;
}

std::uint16_t port_of(const Frame& frame) {
  return tuple_of(frame).source_port;
}

TEST(HcaSessions, VB_3_QueuePairsAreInRtsWhenTheirGroupHasASession) {
  End low(0, srdma_of(2)), high(1, srdma_of(2));
  low.sessions->connect({});
  high.sessions->connect({});
  EXPECT_EQ(low.bench.pairs[0].rules.state(), QpState::kReset);
  high.take(low.control(), {});
  EXPECT_EQ(high.bench.pairs[0].rules.state(), QpState::kRtr) << "it has answered";
  low.take(high.control(), {});
  EXPECT_EQ(low.bench.pairs[0].rules.state(), QpState::kRts);
  EXPECT_EQ(low.all_connected, 1);
  EXPECT_EQ(high.all_connected, 0);
  high.take(low.control(), {});
  EXPECT_EQ(high.bench.pairs[3].rules.state(), QpState::kRts);
  EXPECT_EQ(high.connected.size(), kPairs);
  EXPECT_EQ(high.bench.pairs[1].rules.responder().expected(),
            low.bench.pairs[1].rules.setup().first_psn)
      << "the peer has told";
}

TEST(HcaSessions, HS_2_DataConfirmsAHandshakeWhoseReadyIsLost) {
  End low(0, srdma_of(2)), high(1, srdma_of(2));
  low.sessions->connect({});
  high.take(low.control(), {});
  low.take(high.control(), {});
  low.control();  // READY
  low.write(0, 64);
  EXPECT_EQ(high.take(low.send(0, {}), {}), "");
  EXPECT_EQ(high.bench.pairs[0].rules.state(), QpState::kRts);
}

TEST(HcaSessions, SG_5_QueuePairsOfAGroupSendByItsSessionsInTurn) {
  Two two;
  std::map<std::uint16_t, int> packets;
  for (const std::uint32_t pair : {0U, 1U}) {
    two.low.write(pair, 1024);
    for (int i = 0; i < 4; ++i) {
      const FrameRef frame = two.low.send(pair, two.now);
      ASSERT_TRUE(frame);
      ++packets[port_of(*frame)];
      RoceParts parts;
      EXPECT_TRUE(packet_of(frame->bytes, parts)->is_intact) << "the ICRC covers the ports";
      EXPECT_EQ(two.high.take(frame, two.now), "");
    }
  }
  ASSERT_EQ(packets.size(), 2U);
  EXPECT_EQ(packets.begin()->second, 4);
  EXPECT_EQ(packets.count(4791), 0U);
  // An ACK goes back by the session of its cause, with an echo.
  const FrameRef ack = two.high.send(0, two.now);
  ASSERT_TRUE(ack);
  EXPECT_EQ(packets.count(tuple_of(*ack).destination_port), 1U);
  RoceParts parts;
  const AckEcho echo = packet_of(ack->bytes, parts, {true, false, false})->echo;
  const Psn first = two.low.bench.pairs[0].rules.setup().first_psn;
  EXPECT_EQ(echo.psn, psn_plus(first, 2)) << "the last one of the session";
}

TEST(HcaSessions, MO_1_WhatWaitsAtEitherEndIsNoTimeOfTheWay) {
  Two two(srdma_of(1));
  two.low.wait = two.high.wait = Time::from_us(5);
  two.now += Time::from_us(20);
  two.low.write(0, 64);
  const FrameRef frame = two.low.send(0, two.now);
  EXPECT_EQ(two.high.take(frame, two.now + Time::from_us(1)), "");
  const Time leaves = two.high.clock + Time::from_ns(2);
  const FrameRef ack = two.high.send(0, leaves);
  RoceParts parts;
  EXPECT_GE(packet_of(ack->bytes, parts, {true, false, false})->echo.hold_ns, 5'000U);
  EXPECT_EQ(two.low.take(ack, leaves + Time::from_us(1)), "");
  const SrdmaSessionResult session = two.low.sessions->sessions("low").front();
  EXPECT_EQ(session.echoes, 1U);
  EXPECT_NEAR(session.rtt.ns(), 2'000, 10);
}

TEST(HcaSessions, SEL_6_AChoiceTakesClocksByItsPolicy) {
  SrdmaConfig srdma = srdma_of(6);
  const auto clocks = [&](ChoicePolicy policy) {
    srdma.policy = policy;
    return Two(srdma).low.sessions->choice_clocks(0);
  };
  EXPECT_EQ(clocks(ChoicePolicy::kLowestWeight), 3U);
  EXPECT_EQ(clocks(ChoicePolicy::kWeightedHash), 6U);
  EXPECT_EQ(clocks(ChoicePolicy::kRoundRobin), 1U);
}

TEST(HcaSessions, RX_1_WhatHasNoSessionOrAnotherGroupsQueuePairIsDropped) {
  Two two;
  two.low.write(0, 64);
  const FrameRef frame = two.low.send(0, two.now);
  const auto changed = [&](std::size_t at, std::uint8_t by) {
    FrameRef other = two.low.pool.make(0);
    other->bytes = frame->bytes;
    other->bytes[at] = static_cast<std::uint8_t>(other->bytes[at] ^ by);
    return other;
  };
  EXPECT_EQ(two.high.take(changed(35, 1), two.now), "rx_unknown_tuple") << "a port";
  EXPECT_EQ(two.high.take(changed(50, 1), two.now), "rx_bad_icrc") << "DestQP alone";
  FrameRef other = changed(46, 0x40);
  RoceParts parts;
  packet_of(other->bytes, parts);
  seal_roce(other->bytes.data(), parts);
  EXPECT_EQ(two.high.take(other, two.now), "") << "FECN and BECN are no matter of checks";
  other = changed(49, 0x77);
  packet_of(other->bytes, parts);
  seal_roce(other->bytes.data(), parts);
  EXPECT_EQ(two.high.take(other, two.now), "rx_qp_mismatch");
}

TEST(HcaSessions, KY_5_FramesOfSecuredSessionsAreTakenOnceAndWhole) {
  SrdmaConfig srdma = srdma_of(2);
  srdma.is_secured = true;
  Two two(srdma);
  two.low.write(0, 512);
  const FrameRef first = two.low.send(0, two.now), second = two.low.send(0, two.now);
  const FrameRef copy = two.low.pool.make(0);
  copy->bytes = first->bytes;
  EXPECT_EQ(two.high.take(first, two.now), "");
  EXPECT_EQ(two.high.take(copy, two.now), "rx_replay");
  second->bytes.back() = static_cast<std::uint8_t>(second->bytes.back() ^ 1);
  EXPECT_EQ(two.high.take(second, two.now), "rx_auth");
  EXPECT_EQ(two.high.bench.pairs[0].rules.responder().expected(),
            psn_plus(two.low.bench.pairs[0].rules.setup().first_psn, 1));
}

TEST(HcaSessions, KY_2_KeysAreChangedWithoutAGap) {
  SrdmaConfig srdma = srdma_of(2);
  srdma.is_secured = true;
  srdma.keys.lifetime = Time::from_us(100);
  srdma.keys.refresh_margin = Time::from_us(50);
  Two two(srdma);
  two.low.write(0, 4096);
  for (int i = 0; i < 16; ++i, two.now += Time::from_us(30)) {
    two.low.sessions->run(two.now);
    two.high.sessions->run(two.now);
    two.exchange();
    const FrameRef frame = two.low.send(0, two.now);
    ASSERT_TRUE(frame) << i;
    EXPECT_EQ(two.high.take(frame, two.now), "") << i;
  }
}

TEST(HcaSessions, SG_9_WithoutASessionPacketsWaitAndQueuePairsFailInTheEnd) {
  SrdmaConfig srdma = srdma_of(2);
  srdma.is_secured = true;
  srdma.keys.lifetime = Time::from_us(100);
  srdma.keys.refresh_margin = Time::from_us(50);
  srdma.timing.down = Time::from_us(500);
  Two two(srdma);
  two.low.write(0, 512);
  HcaBuilt built;
  built.pair = 0;
  RdmaPacket packet;
  ASSERT_TRUE(two.low.sessions->next_packet(built, packet, two.now));
  built.packet = two.low.bench.arrived.make(packet);
  built.frame = two.low.pool.make(0);
  built.parts = make_frame(packet, {0, 1}, built.frame->bytes);
  // Nobody answers any more, and the keys end.
  two.now += Time::from_us(150);
  EXPECT_EQ(two.low.sessions->send(built, two.now), HcaCarriers::Sent::kLater);
  EXPECT_FALSE(two.low.send(0, two.now));
  EXPECT_EQ(two.low.bench.pairs[0].rules.state(), QpState::kRts);
  two.now += Time::from_us(600);
  two.low.sessions->run(two.now);
  EXPECT_EQ(two.low.bench.pairs[0].rules.state(), QpState::kError);
  EXPECT_EQ(two.low.bench.pairs.function(0).sends.poll()->status, WorkStatus::kRetryExceeded);
  EXPECT_EQ(two.low.sessions->send(built, two.now), HcaCarriers::Sent::kNo);
}

TEST(HcaSessions, SG_9_OnDownErrorQueuePairsFailAtOnce) {
  SrdmaConfig srdma = srdma_of(2);
  srdma.is_secured = true;
  srdma.keys.lifetime = Time::from_us(100);
  srdma.keys.refresh_margin = Time::from_us(50);
  srdma.on_down = DownAction::kError;
  Two two(srdma);
  two.low.write(0, 512);
  two.now += Time::from_us(150);  // nobody answers, and the keys end
  two.low.sessions->run(two.now);
  EXPECT_EQ(two.low.bench.pairs[0].rules.state(), QpState::kError);
}

TEST(HcaSessions, SEL_8_ControlMessagesMayBePlainAndHaveAPortOfTheirOwn) {
  constexpr std::size_t kBth = 14 + 20 + 8;
  constexpr std::uint8_t kUdSendOnly = 0x64;
  for (const bool is_plain : {false, true}) {
    SrdmaConfig srdma = srdma_of(2);
    srdma.cm_port = 5000;
    srdma.cm_plain = is_plain;
    End low(0, srdma), high(1, srdma);
    low.sessions->connect({});
    const FrameRef request = low.control();
    EXPECT_EQ(tuple_of(*request).destination_port, 5000);
    EXPECT_EQ(request->bytes[kBth] == kUdSendOnly, is_plain);
    EXPECT_EQ(high.take(request, {}), "rx_control");
    EXPECT_EQ(high.bench.pairs[0].rules.state(), QpState::kRtr);
  }
}

// Packets of two queue pairs behind a gap: each has room for its own.
TEST(HcaSessions, RO_C10_AReorderBufferOfOneQueuePairTakesNoRoomOfAnothers) {
  SrdmaConfig srdma = srdma_of(2);
  srdma.ooo_window = 4;
  Two two(srdma);
  std::deque<FrameRef> first, second;
  two.low.write(0, 8 * 256);
  two.low.write(1, 3 * 256);
  for (int i = 0; i < 8; ++i) {
    first.push_back(two.low.send(0, two.now));
  }
  for (int i = 0; i < 3; ++i) {
    second.push_back(two.low.send(1, two.now));
  }
  for (int i = 1; i < 8; ++i) {
    EXPECT_EQ(two.high.take(first[i], two.now), "");
  }
  EXPECT_EQ(two.high.receive->held(), 4U);
  EXPECT_EQ(two.high.bench.pairs[0].rules.count(QpCounter::kOverflow), 3U);
  two.high.take(second[2], two.now);
  two.high.take(second[1], two.now);
  EXPECT_EQ(two.high.receive->held(), 6U);
  EXPECT_EQ(two.high.receive->peak_held(), 4U);
  two.high.take(second[0], two.now);
  EXPECT_EQ(two.high.receive->held(), 4U) << "they have gone on, in order";
  EXPECT_EQ(two.high.bench.pairs[1].rules.responder().messages(), 1U);
  two.high.take(first[0], two.now);
  EXPECT_EQ(two.high.receive->held(), 0U);
  EXPECT_EQ(psn_distance(two.high.bench.pairs[0].rules.responder().expected(),
                         two.low.bench.pairs[0].rules.setup().first_psn),
            5);
}

TEST(HcaSessions, RX_3_GapsMayBeAsOldAsTheRoundTripsOfThePeerSay) {
  constexpr Time kUpdate = Time::from_us(110);  // of sessions in turn
  Two two;
  two.low.write(0, 4 * 256);
  EXPECT_EQ(two.high.take(two.low.send(0, two.now), two.now), "");
  const FrameRef ack = two.high.send(0, two.now);
  ASSERT_TRUE(ack);
  EXPECT_EQ(two.low.take(ack, two.now + Time::from_us(10)), "");
  two.now += kUpdate;
  two.low.sessions->run(two.now);
  ASSERT_TRUE(two.low.sessions->has_control()) << "TIMER_IND, once a control interval";
  two.exchange();
  EXPECT_FALSE(two.low.sessions->has_control());
  two.low.send(0, two.now);  // is lost
  EXPECT_EQ(two.high.take(two.low.send(0, two.now), two.now), "");
  const Time age = two.high.bench.pairs[0].rules.due() - two.now;
  EXPECT_GT(age, Time::from_us(13));
  EXPECT_LT(age, Time::from_us(17)) << "1.5 times 10 us, where gap_timer0 is 50 us";
  two.now += kUpdate;
  two.low.sessions->run(two.now);
  two.exchange();
  two.now += kUpdate;
  two.low.sessions->run(two.now);
  EXPECT_FALSE(two.low.sessions->has_control()) << "it has sent nothing since";
}

TEST(HcaSessions, RX_2_DirectPlacementKeepsNoPayload) {
  SrdmaConfig srdma = srdma_of(2);
  srdma.receive = ReceiveMode::kDirect;
  Two two(srdma);
  two.low.write(0, 3 * 256);
  const FrameRef first = two.low.send(0, two.now), second = two.low.send(0, two.now),
                 third = two.low.send(0, two.now);
  two.high.take(third, two.now);
  two.high.take(second, two.now);
  EXPECT_EQ(two.high.receive->held(), 0U);
  EXPECT_EQ(two.high.bench.pairs[0].rules.held().size(), 2U);
  two.high.take(first, two.now);
  EXPECT_EQ(two.high.bench.pairs[0].rules.responder().messages(), 1U);
}

TEST(HcaSessions, SG_C3_QueuePairsOfTwoAdaptersMayHaveSeveralGroups) {
  SrdmaConfig srdma = srdma_of(2);
  srdma.groups = 2;
  Two two(srdma);
  EXPECT_EQ(two.low.connected.size(), kPairs);
  EXPECT_EQ(two.high.all_connected, 1);
  std::map<std::uint32_t, std::set<std::uint16_t>> ports;
  for (const std::uint32_t pair : {0U, 1U, kPairs - 1}) {
    two.low.write(pair, 1024);
    for (int i = 0; i < 4; ++i) {
      const FrameRef frame = two.low.send(pair, two.now);
      ASSERT_TRUE(frame);
      ports[pair].insert(port_of(*frame));
      EXPECT_EQ(two.high.take(frame, two.now), "");
    }
  }
  EXPECT_EQ(ports[0], ports[1]);
  EXPECT_EQ(ports[0].size(), 2U);
  EXPECT_EQ(ports[kPairs - 1].size(), 2U);
  EXPECT_NE(*ports[0].begin(), *ports[kPairs - 1].begin());
  EXPECT_NE(*ports[0].rbegin(), *ports[kPairs - 1].rbegin());
}

TEST(HcaSessions, HP_4_AResetLeavesNothingInFlight) {
  Two two;
  two.low.write(0, 512);
  two.low.send(0, two.now);
  two.low.bench.pairs.reset(0);
  two.low.sessions->reset(0, two.now);
  two.low.bench.pairs.set_up(0, 1);
  two.low.sessions->reset(0, two.now);
  two.low.write(0, 64);
  const FrameRef frame = two.low.send(0, two.now);
  ASSERT_TRUE(frame);
  EXPECT_EQ(two.high.take(frame, two.now), "") << "it is of the group still";
  EXPECT_TRUE(two.low.sessions->are_scores_sound());
}

}  // namespace
}  // namespace flitwise::hca_sessions_test
