// SPDX-License-Identifier: Apache-2.0
// What the two ends tell of sessions: echoes, losses, probes, notifications of congestion.
#include <gtest/gtest.h>

#include <initializer_list>

#include "unit/rdma/rdma_bench.h"

namespace flitwise::echo_test {
namespace {

using test::RdmaBench;

constexpr Psn kFirst = 0xff'fffe;  // that end 0 sends

/// End 0 sends WRITEs of one packet each, by sessions that a test names.
struct Echoing : RdmaBench {
  explicit Echoing(const Change& change = nullptr)
      : RdmaBench([&](RdmaEndSetup& setup) {
          setup.pair.mode = ReceiveMode::kReorder;
          setup.pair.recovery = Recovery::kSelective;
          setup.pair.has_echo = true;
          if (change) {
            change(setup);
          }
        }) {
    connect();
  }
  // A packet without AckReq, unless it is the last.
  void write(std::uint32_t packets) { post(WorkOpcode::kWrite, packets * 256); }
  RdmaPacket leave(std::uint16_t session) {
    RdmaWirePacket packet;
    EXPECT_TRUE(ends[0].next(packet, now));
    packet.fields.session = session;
    asker().leaves(packet.fields, now);
    wire[1].push_back(packet);
    return packet.fields;
  }
  bool next_answer(RdmaPacket& answer) {
    RdmaWirePacket packet;
    const bool is_there = ends[1].next(packet, now);
    answer = packet.fields;
    return is_there;
  }
  void take(const RdmaPacket& answer) { ends[0].receive({answer, {}}, now); }
  QueuePair& asker() { return ends[0].pair(); }
  QueuePair& answerer() { return ends[1].pair(); }
};

// [MO-1] [SEL-7]
TEST(Echo, MO_1_NamesThePacketItsHoldTimeAndItsSession) {
  Echoing bench;
  bench.write(3);
  bench.now = Time::from_us(1);
  bench.leave(7);
  bench.leave(9);
  bench.now = Time::from_us(6);
  bench.wire[1][1].fields.is_marked = true;
  bench.deliver_at(1, 1);
  bench.deliver(1);
  bench.now += Time::from_ns(250);
  RdmaPacket ack;
  ASSERT_TRUE(bench.next_answer(ack));
  EXPECT_TRUE(ack.has_echo);
  EXPECT_EQ(ack.session, 9);
  EXPECT_EQ(ack.echo.session, 9);
  EXPECT_EQ(ack.echo.psn, psn_plus(kFirst, 1));
  EXPECT_EQ(ack.echo.hold_ns, 250U);
  EXPECT_TRUE(ack.echo.is_marked);
  EXPECT_EQ(ack.psn, psn_plus(kFirst, 1));  // the newest in order, whatever the echo names
  const SentPacket* const sent = bench.asker().sent_packet(ack.echo.psn);
  ASSERT_NE(sent, nullptr);
  EXPECT_EQ(sent->at, Time::from_us(1));
  EXPECT_EQ(sent->session, 9);
  EXPECT_EQ(sent->times, 1);
  ASSERT_TRUE(bench.next_answer(ack));
  EXPECT_EQ(ack.echo.session, 7);
  EXPECT_EQ(ack.echo.psn, kFirst);
  EXPECT_FALSE(ack.echo.is_marked);
  EXPECT_FALSE(bench.next_answer(ack));
}

// [MO-1]: below the window its echo is still good; a PSN that was acknowledged is still known.
TEST(Echo, MO_1_AnAckBelowTheWindowGivesItsEcho) {
  Echoing bench;
  bench.write(2);
  bench.leave(1);
  bench.leave(2);
  RdmaPacket first, second;
  bench.deliver(1);
  ASSERT_TRUE(bench.next_answer(first));
  bench.deliver(1);
  ASSERT_TRUE(bench.next_answer(second));
  bench.take(second);
  EXPECT_EQ(bench.polled(0), "1 SUCCESS");
  ASSERT_NE(bench.asker().sent_packet(first.echo.psn), nullptr);
  EXPECT_EQ(bench.asker().sent_packet(first.echo.psn)->session, 1);
  bench.take(first);
  EXPECT_EQ(bench.count(0, QpCounter::kStaleAck), 0U);
}

// [RX-5]: an ACK behind so many packets of one session, of the queue pair, or a time.
TEST(Echo, RX_5_AcksBySessionByNumberAndByTime) {
  Echoing bench([](RdmaEndSetup& setup) {
    setup.pair.ack_every_session = 3;
    setup.pair.ack_every = 6;
    setup.pair.ack_delay = Time::from_us(1);
  });
  bench.write(40);
  RdmaPacket ack;
  for (const std::uint16_t session : std::initializer_list<std::uint16_t>{1, 1, 2, 1}) {
    EXPECT_FALSE(bench.next_answer(ack));
    bench.leave(session);
    bench.deliver(1);
  }
  ASSERT_TRUE(bench.next_answer(ack));
  EXPECT_EQ(ack.echo.session, 1);
  EXPECT_EQ(ack.psn, psn_plus(kFirst, 3));  // which is all
  EXPECT_FALSE(bench.next_answer(ack));
  for (const std::uint16_t session : std::initializer_list<std::uint16_t>{3, 4, 5, 6, 7}) {
    bench.leave(session);
    bench.deliver(1);
    EXPECT_FALSE(bench.next_answer(ack));
  }
  bench.leave(8);
  bench.deliver(1);  // the sixth without an ACK
  ASSERT_TRUE(bench.next_answer(ack));
  EXPECT_EQ(ack.echo.session, 8);
  EXPECT_EQ(bench.answerer().due(), Time::from_us(1));
  bench.now = Time::from_us(1);
  bench.answerer().expire(bench.now);
  unsigned acks = 0;
  while (bench.next_answer(ack)) {
    ++acks;
  }
  EXPECT_EQ(acks, 6U);  // sessions 2 to 7
  EXPECT_EQ(bench.answerer().due(), Time::never());
}

// [RX-5]: without echoes.
TEST(Echo, RX_5_AnAckThatWasPutOff) {
  RdmaBench bench([](RdmaEndSetup& setup) { setup.pair.ack_delay = Time::from_us(1); });
  bench.connect();
  bench.post(WorkOpcode::kWrite, 4 * 256);
  bench.send(0);
  bench.now = Time::from_us(3);
  bench.deliver(1);
  bench.now = Time::from_ns(3500);
  bench.deliver(1);
  EXPECT_EQ(bench.ends[1].pair().due(), Time::from_us(4));
  bench.now = Time::from_us(4);
  bench.ends[1].pair().expire(bench.now);
  RdmaWirePacket ack;
  ASSERT_TRUE(bench.ends[1].next(ack, bench.now));
  EXPECT_EQ(ack.fields.psn, psn_plus(kFirst, 1));
  EXPECT_FALSE(ack.fields.has_echo);
  EXPECT_EQ(bench.ends[1].pair().due(), Time::never());
}

// [MO-1] [CC-5] [CC-C1, CC-C2]: the mark of a session waits for its echo, and is told once.
TEST(Echo, CC_5_AMarkIsOfItsSessionAlone) {
  Echoing bench([](RdmaEndSetup& setup) { setup.pair.ack_every_session = 2; });
  bench.write(20);
  RdmaPacket ack;
  for (unsigned i = 0; i < 4; ++i) {
    bench.leave(static_cast<std::uint16_t>(i % 2));
    bench.wire[1].back().fields.is_marked = i == 0;
    bench.deliver(1);
  }
  ASSERT_TRUE(bench.next_answer(ack));
  EXPECT_TRUE(ack.echo.session == 0 && ack.echo.is_marked);
  ASSERT_TRUE(bench.next_answer(ack));
  EXPECT_TRUE(ack.echo.session == 1 && !ack.echo.is_marked);
  for (unsigned i = 0; i < 4; ++i) {
    bench.leave(0);
    bench.deliver(1);
  }
  ASSERT_TRUE(bench.next_answer(ack));
  EXPECT_FALSE(ack.echo.is_marked);
}

// [MO-1]: NAKs and RNR NAKs too; an ACK and not the packets of a READ.
TEST(Echo, MO_1_NaksHaveAnEcho) {
  Echoing bench;
  bench.post(WorkOpcode::kSend, 8);
  bench.leave(5);
  bench.deliver(1);
  RdmaPacket answer;
  ASSERT_TRUE(bench.next_answer(answer));
  EXPECT_EQ(answer.syndrome & kSyndromeType, kRnrSyndrome);
  EXPECT_TRUE(answer.has_echo && answer.echo.session == 5 && answer.echo.psn == kFirst);
  EXPECT_FALSE(bench.next_answer(answer));
  bench.receive(64);
  bench.take(answer);
  bench.asker().end_rnr_wait();

  Echoing other;
  other.post(WorkOpcode::kRead, 300);
  other.leave(6);
  other.deliver(1);
  ASSERT_TRUE(other.next_answer(answer));
  EXPECT_EQ(answer.opcode, RdmaOpcode::kAck);
  EXPECT_EQ(answer.echo.session, 6);
  ASSERT_TRUE(other.next_answer(answer));
  EXPECT_EQ(answer.opcode, RdmaOpcode::kReadFirst);
  EXPECT_FALSE(answer.has_echo);
}

// [RX-5]: in order, an ACK that goes before the answer of a READ does not tell of it.
TEST(Echo, RX_5_InOrderAnEchoOvertakesNoAnswer) {
  Echoing bench([](RdmaEndSetup& setup) {
    setup.pair.mode = ReceiveMode::kInOrder;
    setup.pair.recovery = Recovery::kGoBackN;
  });
  bench.write(1);
  bench.post(WorkOpcode::kRead, 300);
  bench.write(1);
  for (unsigned i = 0; i < 3; ++i) {
    bench.leave(static_cast<std::uint16_t>(i));
  }
  bench.deliver_all(1);
  RdmaPacket answer;
  for (unsigned i = 0; i < 3; ++i) {
    ASSERT_TRUE(bench.next_answer(answer));
    EXPECT_EQ(answer.echo.session, i);
    EXPECT_EQ(answer.psn, kFirst);
    bench.take(answer);
  }
  bench.run();
  EXPECT_EQ(bench.count(0, QpCounter::kLostAnswer), 0U);
  EXPECT_EQ(bench.asker().requester().waiting(), 0U);
}

// [RX-2] [MO-1]: what is dropped in order has no echo but that of the NAK that it causes.
TEST(Echo, MO_1_WhatIsDroppedIsNotEchoed) {
  Echoing bench([](RdmaEndSetup& setup) {
    setup.pair.mode = ReceiveMode::kInOrder;
    setup.pair.recovery = Recovery::kGoBackN;
    setup.pair.keeps_sent = true;
  });
  bench.write(4);
  for (unsigned i = 0; i < 4; ++i) {
    bench.leave(static_cast<std::uint16_t>(i));
  }
  bench.drop(1);
  bench.deliver_all(1);
  RdmaPacket answer;
  ASSERT_TRUE(bench.next_answer(answer));
  EXPECT_EQ(answer.syndrome, kSequenceNak);
  EXPECT_EQ(answer.echo.session, 1);
  RdmaPacket none;
  EXPECT_FALSE(bench.next_answer(none));
  bench.take(answer);
  LostPacket lost;
  ASSERT_TRUE(bench.asker().next_loss(lost));
  EXPECT_TRUE(lost.psn == kFirst && lost.session == 0 && lost.cause == LossCause::kNak);
  EXPECT_FALSE(bench.asker().next_loss(lost));  // the others were sent again, but not lost
}

// [LR-4, 5] [MO-2] [WT-C8]
TEST(Echo, LR_5_ALossIsChargedToTheSessionOfThePacket) {
  Echoing bench;
  bench.write(3);
  EXPECT_EQ(bench.leave(4).tries, 0);
  bench.leave(5);
  bench.leave(6);
  bench.drop(1);
  bench.deliver_all(1);
  bench.now = Time::from_us(50);
  bench.answerer().expire(bench.now);
  RdmaPacket answer;
  while (bench.next_answer(answer)) {
    bench.take(answer);
  }
  LostPacket lost;
  ASSERT_TRUE(bench.asker().next_loss(lost));
  EXPECT_EQ(lost.psn, kFirst);
  EXPECT_EQ(lost.session, 4);
  EXPECT_EQ(lost.times, 1);
  EXPECT_EQ(lost.sent_at, Time{});
  EXPECT_FALSE(bench.asker().next_loss(lost));
  const RdmaPacket again = bench.leave(5);  // [SEL-C9]
  EXPECT_EQ(again.psn, kFirst);
  EXPECT_EQ(again.tries, 1);
  EXPECT_TRUE(again.asks_for_ack);
  EXPECT_EQ(bench.asker().sent_packet(kFirst)->times, 2);
  EXPECT_EQ(bench.asker().sent_packet(kFirst)->session, 5);
  bench.run();
  EXPECT_EQ(bench.polled(0), "1 SUCCESS");
}

// [KY-4]
TEST(Echo, KY_4_WhatASessionThatEndsHadIsSentAgainAtOnce) {
  Echoing bench;
  bench.write(6);
  for (unsigned i = 0; i < 6; ++i) {
    bench.leave(static_cast<std::uint16_t>(i % 2));
  }
  RdmaPacket answer;
  bench.deliver_at(1, 3);  // of session 1, and so known to be there
  ASSERT_TRUE(bench.next_answer(answer));
  bench.take(answer);
  bench.wire[1].clear();
  bench.asker().resend(1);
  std::string lost;
  for (LostPacket one; bench.asker().next_loss(one);) {
    EXPECT_EQ(one.cause, LossCause::kSession);
    lost += std::to_string((one.psn - kFirst) & kPsnMask) + " ";
  }
  EXPECT_EQ(lost, "1 5 ");
  bench.send(0);
  EXPECT_EQ(bench.wire[1].size(), 2U);
}

// [MO-3] [RX-4]
TEST(Echo, MO_3_AProbeIsADuplicateThatIsEchoed) {
  Echoing bench;
  RdmaWirePacket probe;
  bench.asker().probe(probe.fields);
  EXPECT_EQ(probe.fields.psn, psn_plus(kFirst, kPsnMask));  // nothing is acknowledged yet
  EXPECT_EQ(probe.fields.opcode, RdmaOpcode::kWriteOnly);
  EXPECT_TRUE(probe.fields.asks_for_ack);
  probe.fields.session = 3;
  bench.now = Time::from_us(2);
  bench.asker().leaves(probe.fields, bench.now);
  bench.now = Time::from_us(9);
  bench.ends[1].receive(probe, bench.now);
  EXPECT_EQ(bench.answerer().responder().expected(), kFirst);
  RdmaPacket answer;
  ASSERT_TRUE(bench.next_answer(answer));
  EXPECT_EQ(answer.echo.session, 3);
  EXPECT_EQ(answer.echo.psn, probe.fields.psn);
  const SentPacket* const sent = bench.asker().sent_packet(answer.echo.psn);
  ASSERT_NE(sent, nullptr);
  EXPECT_EQ(sent->at, Time::from_us(2));
  EXPECT_EQ(sent->times, 1);
  bench.take(answer);
  EXPECT_FALSE(bench.asker().requester().timer_runs());
  EXPECT_EQ(bench.asker().requester().sent_end(), kFirst);
}

// [MO-3]: beside a full window, whose packets are all still known.
TEST(Echo, MO_3_AProbeTakesNoPlaceOfAnotherPacket) {
  Echoing bench([](RdmaEndSetup& setup) { setup.pair.window = 32; });
  bench.write(40);
  for (std::uint16_t i = 0; i < 32; ++i) {
    bench.leave(i);
  }
  RdmaWirePacket packet;
  EXPECT_FALSE(bench.ends[0].next(packet, bench.now));
  bench.asker().probe(packet.fields);
  packet.fields.session = 99;
  bench.asker().leaves(packet.fields, bench.now);
  for (std::uint16_t i = 0; i < 32; ++i) {
    const SentPacket* const sent = bench.asker().sent_packet(psn_plus(kFirst, i));
    ASSERT_NE(sent, nullptr) << i;
    EXPECT_EQ(sent->session, i);
  }
  EXPECT_EQ(bench.asker().sent_packet(packet.fields.psn)->session, 99);
}

// ---- CNPs

// [CC-2] [CC-C2]
TEST(Cnp, CC_C2_OneInAnIntervalForAQueuePairOrForASession) {
  for (const CnpMode mode : {CnpMode::kQueuePair, CnpMode::kSession}) {
    Echoing bench([&](RdmaEndSetup& setup) {
      setup.pair.cnp = mode;
      setup.pair.window = 2048;
    });
    for (unsigned i = 0; i < 6; ++i) {
      bench.write(200);
    }
    unsigned cnps = 0, marked = 0;
    for (unsigned i = 0; i < 1001; ++i) {
      bench.leave(static_cast<std::uint16_t>(i % 4));
      bench.wire[1].back().fields.is_marked = true;
      bench.now = Time::from_ns(50 * i);  // the last is 50 us behind the first
      bench.deliver(1);
      for (RdmaPacket answer; bench.next_answer(answer);) {
        cnps += answer.opcode == RdmaOpcode::kCnp && i < 1000 ? 1 : 0;
        EXPECT_TRUE(answer.opcode != RdmaOpcode::kCnp || answer.session == i % 4);
        marked += answer.opcode == RdmaOpcode::kAck && answer.echo.is_marked ? 1 : 0;
      }
    }
    EXPECT_EQ(cnps, mode == CnpMode::kSession ? 4U : 1U);
    EXPECT_EQ(marked, 1001U);
    EXPECT_EQ(bench.count(1, QpCounter::kNotifies), cnps + 1);
  }
}

// [CC-3] [CC-C3] [RX-1]
TEST(Cnp, CC_C3_OneForAnotherQueuePairIsDropped) {
  Echoing bench([](RdmaEndSetup& setup) { setup.pair.cnp = CnpMode::kQueuePair; });
  RdmaWirePacket cnp;
  cnp.fields.opcode = RdmaOpcode::kCnp;
  cnp.fields.queue_pair = 0x13;
  EXPECT_TRUE(bench.ends[0].receive(cnp));
  EXPECT_EQ(bench.count(0, QpCounter::kBadQueuePair), 1U);
  EXPECT_EQ(bench.count(0, QpCounter::kNotified), 0U);
  cnp.fields.queue_pair = 0x11;
  EXPECT_FALSE(bench.ends[0].receive(cnp));
  EXPECT_EQ(bench.count(0, QpCounter::kNotified), 1U);
  // Without rate control it is an opcode of another transport.
  RdmaBench plain;
  plain.connect();
  EXPECT_TRUE(plain.ends[0].receive(cnp));
  EXPECT_EQ(plain.count(0, QpCounter::kBadTransport), 1U);
}

}  // namespace
}  // namespace flitwise::echo_test
