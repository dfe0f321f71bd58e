// SPDX-License-Identifier: Apache-2.0
// Packets that come in another order than they left in: what is kept, when a NAK asks for what is
// missing, and what is sent again.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "unit/rdma/rdma_bench.h"

namespace flitwise::reordering_test {
namespace {

using test::RdmaBench;

constexpr Psn kFirst = 0xff'fffe;  // that end 0 sends

void reorders(RdmaEndSetup& setup) {
  setup.pair.mode = ReceiveMode::kReorder;
  setup.pair.recovery = Recovery::kSelective;
  setup.pair.window = 512;
  setup.memory_bytes = 1 << 20;
}

struct Reordering : RdmaBench {
  explicit Reordering(const Change& change = nullptr)
      : RdmaBench([&](RdmaEndSetup& setup) {
          reorders(setup);
          if (change) {
            change(setup);
          }
        }) {
    connect();
  }
  void write(std::uint32_t packets, std::uint64_t id = 1) {
    SendWork one = work(WorkOpcode::kWrite, packets * 256, id);
    one.remote_address = 0x4'0000;
    post(one);
  }
  QueuePair& asker() { return ends[0].pair(); }
  QueuePair& answerer() { return ends[1].pair(); }
  void pass(Time span) {
    now += span;
    for (RdmaEnd& end : ends) {
      if (end.pair().due() <= now) {
        end.pair().expire(now);
      }
    }
  }
  // What end 1 sends now.
  std::vector<RdmaPacket> answers() {
    std::vector<RdmaPacket> all;
    for (RdmaWirePacket packet; ends[1].next(packet, now);) {
      all.push_back(packet.fields);
      wire[0].push_back(packet);
    }
    return all;
  }
};

// [RO-C2] [VB-6] [RX-2]: the order of the wire is turned around.
TEST(Reordering, RO_C2_NothingIsSentAgainAndCompletionsAreInOrder) {
  Reordering bench;
  for (unsigned i = 0; i < 4; ++i) {
    bench.receive(2048, 100 + i);
    bench.post(WorkOpcode::kSend, 5 * 256, 1 + i);
  }
  bench.send(0);
  while (!bench.wire[1].empty()) {
    EXPECT_EQ(bench.polled(1), "");
    bench.deliver_at(1, bench.wire[1].size() - 1);
  }
  EXPECT_EQ(bench.polled(1), "100 SUCCESS, 101 SUCCESS, 102 SUCCESS, 103 SUCCESS");
  bench.run();
  EXPECT_EQ(bench.polled(0), "1 SUCCESS, 2 SUCCESS, 3 SUCCESS, 4 SUCCESS");
  EXPECT_EQ(bench.count(0, QpCounter::kResent), 0U);
  EXPECT_EQ(bench.count(1, QpCounter::kSequenceNaks), 0U);
  EXPECT_EQ(bench.answerer().deepest(), 19U);
  EXPECT_EQ(bench.count(1, QpCounter::kHeld), 19U);
  EXPECT_TRUE(bench.is_equal(0x1000, 0x4000, 5 * 256));
  EXPECT_TRUE(bench.answerer().held().empty());
}

// [RO-C3] [RX-3]
TEST(Reordering, RO_C3_TheWindowKeepsItsLastPsnAndDropsTheNext) {
  Reordering bench;
  bench.write(300);
  bench.send(0);
  bench.drop(1);
  bench.deliver_at(1, 256);  // 257 ahead
  EXPECT_EQ(bench.count(1, QpCounter::kOverflow), 1U);
  EXPECT_EQ(bench.answerer().held().size(), 0U);
  const auto naks = bench.answers();
  ASSERT_EQ(naks.size(), 1U);
  EXPECT_EQ(naks[0].syndrome, kSequenceNak);
  EXPECT_EQ(naks[0].psn, kFirst);
  bench.deliver_at(1, 255);
  EXPECT_EQ(bench.answerer().held().size(), 1U);
  EXPECT_EQ(bench.answerer().deepest(), 256U);
  bench.deliver_at(1, 255);  // beyond as well: no second NAK for the same gap
  EXPECT_TRUE(bench.answers().empty());
  bench.run();  // all behind what is kept was dropped, and nothing shows that
  bench.asker().time_out(bench.now);
  bench.run();
  EXPECT_EQ(bench.polled(0), "1 SUCCESS");
  EXPECT_TRUE(bench.is_equal(0x1000, 0x4'0000, 300 * 256));
}

// [RO-C4] [LR-1, 2] [RX-3]
TEST(Reordering, RO_C4_ALostPacketWithAHundredBehindIt) {
  for (const bool is_selective : {true, false}) {
    Reordering bench([&](RdmaEndSetup& setup) {
      setup.pair.mode = is_selective ? ReceiveMode::kReorder : ReceiveMode::kInOrder;
      setup.pair.recovery = is_selective ? Recovery::kSelective : Recovery::kGoBackN;
    });
    bench.write(103);
    bench.send(0);
    bench.deliver(1);
    bench.deliver(1);
    bench.drop(1);
    bench.deliver_all(1);
    bench.pass(Time::from_us(50));
    bench.run();
    EXPECT_EQ(bench.count(0, QpCounter::kResent), is_selective ? 1U : 101U);
    EXPECT_EQ(bench.polled(0), "1 SUCCESS");
    EXPECT_TRUE(bench.is_equal(0x1000, 0x4'0000, 103 * 256));
  }
}

// [RO-C5]
TEST(Reordering, RO_C5_AMessageCompletesOnceWhenAllOfItIsThere) {
  Reordering bench;
  bench.receive(1024);
  bench.post(WorkOpcode::kSendImm, 3 * 256);
  bench.send(0);
  bench.deliver_at(1, 2);
  EXPECT_EQ(bench.polled(1), "");
  EXPECT_EQ(bench.answerer().responder().messages(), 0U);
  bench.deliver_at(1, 1);
  EXPECT_EQ(bench.polled(1), "");
  bench.deliver(1);
  EXPECT_EQ(bench.polled(1), "100 SUCCESS");
  EXPECT_EQ(bench.answerer().responder().messages(), 1U);
  EXPECT_EQ(bench.answers().size(), 1U);
}

// [RO-C6]
TEST(Reordering, RO_C6_ADuplicateOfWhatIsKeptIsDropped) {
  Reordering bench;
  bench.write(3);
  bench.send(0);
  RdmaWirePacket again = bench.wire[1][2];
  bench.deliver_at(1, 2);
  std::fill(again.bytes.begin(), again.bytes.end(), 0xee);  // it would be seen
  bench.ends[1].receive(again, bench.now);
  EXPECT_EQ(bench.count(1, QpCounter::kDuplicate), 1U);
  EXPECT_EQ(bench.answerer().held().size(), 1U);
  bench.run();
  EXPECT_TRUE(bench.is_equal(0x1000, 0x4'0000, 3 * 256));
}

// [RO-C7]
TEST(Reordering, RO_C7_ANakBelowWhatIsAcknowledgedIsIgnored) {
  Reordering bench;
  bench.write(3);
  bench.send(0);
  RdmaWirePacket nak;
  nak.fields.opcode = RdmaOpcode::kAck;
  nak.fields.queue_pair = 0x11;
  nak.fields.psn = kFirst;
  nak.fields.syndrome = kSequenceNak;
  bench.deliver_all(1);
  bench.send(1);
  bench.deliver_all(0);
  bench.write(1, 2);
  bench.send(0);
  bench.ends[0].receive(nak, bench.now);
  EXPECT_EQ(bench.count(0, QpCounter::kStaleAck), 1U);
  bench.run();
  EXPECT_EQ(bench.count(0, QpCounter::kResent), 0U);
}

// [RO-C8] [RX-3]
TEST(Reordering, RO_C8_ATimerThatFiresAsThePacketComes) {
  Reordering bench;
  bench.write(4);
  bench.send(0);
  bench.deliver_at(1, 1);
  EXPECT_EQ(bench.answerer().due(), Time::from_us(50));
  bench.pass(Time::from_us(50));
  bench.deliver(1);  // what the NAK asks for
  bench.run();
  EXPECT_EQ(bench.count(1, QpCounter::kSequenceNaks), 1U);
  EXPECT_LE(bench.count(0, QpCounter::kResent), 1U);
  EXPECT_EQ(bench.count(1, QpCounter::kDuplicate), bench.count(0, QpCounter::kResent));
  EXPECT_EQ(bench.polled(0), "1 SUCCESS");
  EXPECT_TRUE(bench.is_equal(0x1000, 0x4'0000, 4 * 256));
  EXPECT_EQ(bench.answerer().due(), Time::never());
}

// [RO-C9] [RX-2]
TEST(Reordering, RO_C9_WritesThatOverlapEndAsTheLaterOne) {
  for (const ReceiveMode mode : {ReceiveMode::kReorder, ReceiveMode::kDirect}) {
    Reordering bench([&](RdmaEndSetup& setup) { setup.pair.mode = mode; });
    SendWork one = bench.work(WorkOpcode::kWriteImm, 256, 1);
    SendWork other = bench.work(WorkOpcode::kWriteImm, 256, 2);
    other.local.pieces[0].address = 0x3000;
    std::fill_n(&bench.ends[0].memory()[0x3000], 256, 0x77);
    bench.receive(8, 100);
    bench.receive(8, 101);
    bench.post(one);
    bench.post(other);
    bench.send(0);
    bench.deliver_at(1, 1);
    bench.deliver(1);
    EXPECT_EQ(bench.polled(1), "100 SUCCESS, 101 SUCCESS");
    const bool is_later = bench.is_equal(0x3000, 0x2000, 256);
    EXPECT_EQ(is_later, mode == ReceiveMode::kReorder);
    EXPECT_TRUE(is_later || bench.is_equal(0x1000, 0x2000, 256));
  }
}

// [RO-C10]: the window is one of a queue pair.
TEST(Reordering, RO_C10_AFullWindowIsNobodyElses) {
  Reordering full([](RdmaEndSetup& setup) { setup.pair.reorder_window = 4; });
  Reordering other([](RdmaEndSetup& setup) { setup.pair.reorder_window = 4; });
  for (Reordering* const one : {&full, &other}) {
    one->write(8);
    one->send(0);
    one->drop(1);
  }
  full.deliver_all(1);
  EXPECT_EQ(full.answerer().held().size(), 4U);
  EXPECT_EQ(full.count(1, QpCounter::kOverflow), 3U);
  other.deliver_at(1, 3);
  EXPECT_EQ(other.answerer().held().size(), 1U);
  EXPECT_EQ(other.count(1, QpCounter::kOverflow), 0U);
}

// [RX-3]: one NAK when the gap is old, the next one a gap time later; a gap behind it is as old as
// the first packet behind that.
TEST(Reordering, RX_3_ANakWaitsForTheAgeOfItsGap) {
  Reordering bench;
  bench.write(6);
  bench.send(0);
  bench.now = Time::from_us(10);
  bench.deliver_at(1, 1);
  bench.now = Time::from_us(20);
  bench.deliver_at(1, 2);  // PSNs 0, 2, 4, 5 are missing
  bench.pass(Time::from_us(39));
  EXPECT_TRUE(bench.answers().empty());
  bench.pass(Time::from_us(1));
  EXPECT_EQ(bench.answers().size(), 1U);
  bench.pass(Time::from_us(49));
  EXPECT_TRUE(bench.answers().empty());
  bench.pass(Time::from_us(1));
  const auto naks = bench.answers();
  ASSERT_EQ(naks.size(), 1U);
  EXPECT_EQ(naks[0].psn, kFirst);
  bench.deliver(1);  // the first; the second gap is old by now
  const auto more = bench.answers();
  ASSERT_EQ(more.size(), 1U);
  EXPECT_EQ(more[0].psn, psn_plus(kFirst, 2));
  EXPECT_EQ(more[0].syndrome, kSequenceNak);
}

// [RX-3]: TIMER_IND.
TEST(Reordering, RX_3_ThePeerSaysHowOldAGapMayBe) {
  Reordering bench;
  bench.answerer().set_gap_time(Time::from_us(7));
  bench.write(2);
  bench.send(0);
  bench.deliver_at(1, 1);
  EXPECT_EQ(bench.answerer().due(), Time::from_us(7));
  bench.answerer().set_own_gap_time(Time::from_us(3));
  EXPECT_EQ(bench.answerer().due(), Time::from_us(7)) << "its own is for answers to its READs";
}

// [RX-3]
TEST(Reordering, RX_3_ANakForADistance) {
  Reordering bench([](RdmaEndSetup& setup) { setup.pair.nak_distance = 3; });
  bench.write(6);
  bench.send(0);
  bench.deliver_at(1, 3);
  EXPECT_TRUE(bench.answers().empty());
  bench.deliver_at(1, 3);
  EXPECT_EQ(bench.answers().size(), 1U);
  bench.deliver_at(1, 3);
  EXPECT_TRUE(bench.answers().empty());
}

// ---- answers at the requester

// [RX-2]: the answers of two READs and an atomic, in any order.
TEST(Reordering, RX_2_AnAnswerThatOvertakesIsNoNak) {
  Reordering bench([](RdmaEndSetup& setup) { setup.pair.has_echo = true; });
  bench.post(WorkOpcode::kRead, 3 * 256, 1);
  SendWork add = bench.work(WorkOpcode::kFetchAdd, 8, 2);
  add.local.pieces[0].address = 0x8000;
  add.operand = 1;
  bench.post(add);
  bench.post(WorkOpcode::kWrite, 8, 3);
  bench.send(0);
  bench.deliver_all(1);
  bench.send(1);
  std::string told;
  while (!bench.wire[0].empty()) {  // the ACKs, which have overtaken all answers, come last
    bench.deliver_at(0, bench.wire[0].size() - 1);
    told += bench.polled(0) + ".";
  }
  EXPECT_EQ(told, "...1 SUCCESS, 2 SUCCESS.3 SUCCESS.");
  bench.run();
  EXPECT_EQ(bench.count(0, QpCounter::kResent), 0U);
  EXPECT_EQ(bench.count(0, QpCounter::kLostAnswer), 0U);
  EXPECT_EQ(bench.asker().due(), Time::never());
}

// [RX-2, 3] [LR-2] [RDM-5]: a READ asks again for its holes alone, when they are old.
TEST(Reordering, LR_2_AReadAsksForItsHolesAgain) {
  Reordering bench;
  bench.post(WorkOpcode::kRead, 8 * 256 - 1);
  bench.send(0);
  bench.deliver_all(1);
  bench.send(1);
  ASSERT_EQ(bench.wire[0].size(), 8U);
  for (const std::size_t lost : {7U, 4U, 3U, 1U}) {  // 7 is the last: nothing shows that
    bench.wire[0].erase(bench.wire[0].begin() + static_cast<std::ptrdiff_t>(lost));
  }
  bench.deliver_all(0);
  EXPECT_EQ(bench.asker().due(), Time::from_us(50));
  bench.pass(Time::from_us(49));
  bench.send(0);
  EXPECT_TRUE(bench.wire[1].empty());
  bench.pass(Time::from_us(1));
  bench.send(0);
  ASSERT_EQ(bench.wire[1].size(), 1U);  // what was missing when the timer began
  bench.pass(Time::from_us(50));
  bench.send(0);
  ASSERT_EQ(bench.wire[1].size(), 3U);  // that once more, and the other
  bench.drop(1);
  EXPECT_EQ(bench.wire[1][0].fields.psn, psn_plus(kFirst, 1));
  EXPECT_EQ(bench.wire[1][0].fields.address, 0x2100U);
  EXPECT_EQ(bench.wire[1][0].fields.length, 256U);
  EXPECT_EQ(bench.wire[1][1].fields.psn, psn_plus(kFirst, 3));
  EXPECT_EQ(bench.wire[1][1].fields.length, 512U);
  LostPacket lost;
  ASSERT_TRUE(bench.asker().next_loss(lost));
  EXPECT_EQ(lost.cause, LossCause::kAnswer);
  EXPECT_EQ(lost.session, kNoSession);
  bench.run();
  EXPECT_EQ(bench.polled(0), "");
  bench.asker().time_out(bench.now);
  bench.send(0);
  ASSERT_EQ(bench.wire[1].size(), 1U);
  EXPECT_EQ(bench.wire[1][0].fields.length, 255U);
  bench.run();
  EXPECT_EQ(bench.polled(0), "1 SUCCESS");
  EXPECT_TRUE(bench.is_equal(0x1000, 0x2000, 8 * 256 - 1));
}

// [RX-2]
TEST(Reordering, RX_2_AnAnswerBeyondTheWindowIsDropped) {
  Reordering bench([](RdmaEndSetup& setup) { setup.pair.reorder_window = 4; });
  bench.post(WorkOpcode::kRead, 7 * 256);
  bench.send(0);
  bench.deliver_all(1);
  bench.send(1);
  bench.deliver_at(0, 5);
  EXPECT_EQ(bench.count(0, QpCounter::kOverflow), 1U);
  bench.deliver_at(0, 4);
  EXPECT_EQ(bench.count(0, QpCounter::kHeld), 1U);
}

// ---- recovery

// [RX-6] [LR-2]: one NAK and all holes.
TEST(Reordering, RX_6_ABitmapShowsAllHoles) {
  Reordering bench([](RdmaEndSetup& setup) { setup.pair.has_sack = true; });
  bench.write(10);
  bench.send(0);
  for (const std::size_t lost : {7U, 4U, 3U, 1U}) {
    bench.wire[1].erase(bench.wire[1].begin() + static_cast<std::ptrdiff_t>(lost));
  }
  bench.deliver_all(1);
  bench.pass(Time::from_us(50));
  const auto naks = bench.answers();
  ASSERT_FALSE(naks.empty());
  EXPECT_EQ(naks.back().syndrome, kSequenceNak);
  EXPECT_EQ(naks.back().psn, psn_plus(kFirst, 1));
  EXPECT_EQ(naks.back().sack, 0b11011001U);  // 2, 5, 6, 8, 9
  bench.deliver_all(0);
  std::set<Psn> lost;
  for (LostPacket one; bench.asker().next_loss(one);) {
    lost.insert((one.psn - kFirst) & kPsnMask);
    EXPECT_EQ(one.cause, one.psn == psn_plus(kFirst, 1) ? LossCause::kNak : LossCause::kSack);
  }
  EXPECT_EQ(lost, (std::set<Psn>{1, 3, 4, 7}));
  bench.run();
  EXPECT_EQ(bench.count(0, QpCounter::kResent), 4U);
  EXPECT_EQ(bench.polled(0), "1 SUCCESS");
}

// [LR-2] [MO-1]: one NAK, and all that left long ago without an echo; what left just now is not
// lost.
TEST(Reordering, LR_2_EchoesShowHolesToo) {
  for (const bool finds_holes : {true, false}) {
    Reordering bench([&](RdmaEndSetup& setup) {
      setup.pair.has_echo = true;
      setup.pair.finds_holes = finds_holes;
    });
    bench.write(10);
    bench.send(0);
    for (const std::size_t lost : {7U, 4U, 1U}) {
      bench.wire[1].erase(bench.wire[1].begin() + static_cast<std::ptrdiff_t>(lost));
    }
    while (!bench.wire[1].empty()) {
      bench.deliver(1);
      bench.send(1);
    }
    bench.deliver_all(0);
    bench.pass(Time::from_us(49));
    bench.write(2, 2);
    bench.send(0);
    bench.deliver_at(1, 1);  // the last; the one before it is on its way
    bench.pass(Time::from_us(1));
    bench.send(1);
    bench.deliver_all(0);
    std::set<Psn> lost;
    for (LostPacket one; bench.asker().next_loss(one);) {
      lost.insert((one.psn - kFirst) & kPsnMask);
      EXPECT_EQ(one.cause, one.psn == psn_plus(kFirst, 1) ? LossCause::kNak : LossCause::kEcho);
    }
    EXPECT_EQ(lost, finds_holes ? (std::set<Psn>{1, 4, 7}) : (std::set<Psn>{1}));
    bench.run();
    EXPECT_EQ(bench.count(0, QpCounter::kResent), 3U);
    EXPECT_EQ(bench.polled(0), "1 SUCCESS, 2 SUCCESS");
  }
}

// [RX-2] [VB-9]: what is kept stays, and the packet without a buffer comes again.
TEST(Reordering, VB_9_AnRnrNakKeepsWhatIsThere) {
  for (const bool has_echo : {true, false}) {
    Reordering bench([&](RdmaEndSetup& setup) { setup.pair.has_echo = has_echo; });
    bench.receive(1024, 100);
    bench.post(WorkOpcode::kSend, 2 * 256, 1);
    bench.post(WorkOpcode::kSend, 4 * 256, 2);
    bench.send(0);
    for (const std::size_t place : {4U, 4U, 3U}) {  // three of the second message are kept
      bench.deliver_at(1, place);
      bench.send(1);
    }
    bench.run();  // its first finds no buffer
    ASSERT_TRUE(bench.asker().requester().waits_for_rnr());
    EXPECT_EQ(bench.answerer().held().size(), 3U);
    bench.pass(Time::from_us(200));
    EXPECT_EQ(bench.count(1, QpCounter::kSequenceNaks), 0U);
    bench.receive(1024, 101);
    bench.asker().end_rnr_wait();
    bench.run();
    EXPECT_EQ(bench.polled(1), "100 SUCCESS, 101 SUCCESS");
    EXPECT_EQ(bench.polled(0), "1 SUCCESS, 2 SUCCESS");
    // With echoes it is known what is there.
    EXPECT_EQ(bench.count(0, QpCounter::kResent), has_echo ? 1U : 4U);
    LostPacket lost;
    EXPECT_FALSE(bench.asker().next_loss(lost));
  }
}

// [VB-9]: one that was kept, and has no buffer when it is its turn.
TEST(Reordering, VB_9_APacketThatWasKeptMayLackItsBuffer) {
  Reordering bench;
  bench.receive(1024, 100);
  bench.post(WorkOpcode::kSend, 8, 1);
  bench.post(WorkOpcode::kSend, 8, 2);
  bench.send(0);
  bench.deliver_at(1, 1);
  bench.run();
  ASSERT_TRUE(bench.asker().requester().waits_for_rnr());
  EXPECT_EQ(bench.answerer().responder().expected(), psn_plus(kFirst, 1));
  bench.receive(1024, 101);
  bench.asker().end_rnr_wait();
  bench.run();
  EXPECT_EQ(bench.polled(1), "100 SUCCESS, 101 SUCCESS");
}

// [LR-2, 3] [MO-1]: what echoes have shown to be there is not sent again, nor what left just now.
TEST(Reordering, LR_3_ATimeOutSendsAgainWhatIsMissing) {
  Reordering bench([](RdmaEndSetup& setup) {
    setup.pair.has_echo = true;
    setup.pair.gap_time = Time::from_us(10'000);
  });
  bench.write(8);
  bench.send(0);
  for (const std::size_t lost : {6U, 3U, 0U}) {
    bench.wire[1].erase(bench.wire[1].begin() + static_cast<std::ptrdiff_t>(lost));
  }
  while (!bench.wire[1].empty()) {
    bench.deliver(1);
    bench.send(1);
  }
  bench.deliver_all(0);
  bench.now = Time::from_us(500);
  bench.write(1, 2);
  bench.send(0);
  bench.drop(1);
  bench.asker().time_out(bench.now, Time::from_us(400));
  std::set<Psn> lost;
  for (LostPacket one; bench.asker().next_loss(one);) {
    lost.insert((one.psn - kFirst) & kPsnMask);
    EXPECT_EQ(one.cause, LossCause::kTimeOut);
  }
  EXPECT_EQ(lost, (std::set<Psn>{0, 3, 6}));
  bench.run();
  EXPECT_EQ(bench.count(0, QpCounter::kResent), 3U);
  EXPECT_EQ(bench.polled(0), "1 SUCCESS");
  bench.asker().time_out(bench.now);
  bench.run();
  EXPECT_EQ(bench.polled(0), "2 SUCCESS");
}

// [LR-3]: no end of retries but their number.
TEST(Reordering, LR_3_RetriesEnd) {
  Reordering bench([](RdmaEndSetup& setup) { setup.pair.retries = 2; });
  bench.write(3);
  for (unsigned i = 0; i < 3; ++i) {
    bench.send(0);
    bench.wire[1].clear();
    bench.asker().time_out(bench.now);
  }
  EXPECT_EQ(bench.polled(0), "1 RETRY_EXC_ERR");
  EXPECT_EQ(bench.count(0, QpCounter::kResent), 6U);
}

// ---- payload that goes to memory at once

// [RX-2]
TEST(Reordering, RX_2_DirectPlacementWritesBeforeItsTurn) {
  Reordering bench([](RdmaEndSetup& setup) { setup.pair.mode = ReceiveMode::kDirect; });
  SendWork one = bench.work(WorkOpcode::kWriteImm, 3 * 256);
  bench.receive(8);
  bench.post(one);
  bench.send(0);
  EXPECT_FALSE(bench.wire[1][0].fields.names_place);
  EXPECT_EQ(bench.wire[1][2].fields.address, 0x2200U);
  EXPECT_EQ(bench.wire[1][2].fields.length, 256U);
  bench.deliver_at(1, 2);
  EXPECT_TRUE(bench.is_equal(0x1200, 0x2200, 256));
  EXPECT_EQ(bench.polled(1), "");
  bench.ends[1].memory()[0x2200] ^= 0xff;  // it is written once
  bench.run();
  EXPECT_EQ(bench.polled(1), "100 SUCCESS");
  EXPECT_TRUE(bench.is_equal(0x1000, 0x2000, 512));
  EXPECT_FALSE(bench.is_equal(0x1200, 0x2200, 1));
}

// [RX-2] [HP-7]: what it may not do is not done early, and is refused in its turn.
TEST(Reordering, HP_7_DirectPlacementAsksForKeysToo) {
  Reordering bench([](RdmaEndSetup& setup) { setup.pair.mode = ReceiveMode::kDirect; });
  const std::vector<std::uint8_t> before = bench.ends[1].memory();
  SendWork bad = bench.work(WorkOpcode::kWrite, 2 * 256);
  bad.remote_key ^= 1;
  bench.post(bad);
  bench.send(0);
  bench.deliver_at(1, 1);
  EXPECT_EQ(bench.ends[1].memory(), before);
  bench.run();
  EXPECT_EQ(bench.ends[1].memory(), before);
  EXPECT_EQ(bench.polled(0), "1 REM_ACCESS_ERR");
}

// [RX-7]: the places of a WRITE are one behind the other.
TEST(Reordering, RX_7_APacketThatNamesAnotherPlaceIsRefused) {
  Reordering bench([](RdmaEndSetup& setup) { setup.pair.mode = ReceiveMode::kDirect; });
  bench.write(2);
  bench.send(0);
  bench.wire[1][1].fields.address += 256;
  bench.run();
  EXPECT_EQ(bench.polled(0), "1 REM_INV_REQ_ERR");
}

}  // namespace
}  // namespace flitwise::reordering_test
