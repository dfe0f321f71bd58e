// SPDX-License-Identifier: Apache-2.0
// What requester and responder say to each other, packet by packet.
#include <gtest/gtest.h>

#include <algorithm>

#include "rdma/rnr_times.h"
#include "unit/rdma/rdma_bench.h"

namespace flitwise::reliable_connection_test {
namespace {

using test::RdmaBench;

// [PS-C2]
TEST(Psn, PS_1_ComparesAroundTheCircle) {
  EXPECT_EQ(psn_distance(0, 0xff'ffff), 1);
  EXPECT_EQ(psn_distance(0xff'ffff, 0), -1);
  EXPECT_EQ(psn_distance(0x7f'ffff, 0), 0x7f'ffff);
  EXPECT_EQ(psn_distance(0x80'0000, 0), -0x80'0000);
  EXPECT_EQ(psn_distance(0x12'3456, 0x92'3456), -0x80'0000);
}

// [PS-C1, PS-2] [RDM-1]
TEST(RcRequester, VB_4_SegmentsByThePathMtu) {
  RdmaBench bench;
  bench.connect();
  bench.receive(1024);
  bench.post(WorkOpcode::kSendImm, 513);
  bench.send(0);
  ASSERT_EQ(bench.seen.size(), 3U);
  const RdmaOpcode opcodes[] = {RdmaOpcode::kSendFirst, RdmaOpcode::kSendMiddle,
                                RdmaOpcode::kSendLastImm};
  const Psn psns[] = {0xff'fffe, 0xff'ffff, 0};
  const std::uint32_t bytes[] = {256, 256, 1};
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(bench.seen[i].opcode, opcodes[i]);
    EXPECT_EQ(bench.seen[i].psn, psns[i]);
    EXPECT_EQ(bench.seen[i].payload_bytes, bytes[i]);
    EXPECT_EQ(bench.seen[i].pad, i == 2 ? 3 : 0);
    EXPECT_EQ(bench.seen[i].asks_for_ack, i == 2);
  }
  bench.run();
  EXPECT_TRUE(bench.is_equal(0x1000, 0x4000, 513));
  EXPECT_EQ(bench.polled(1), "100 SUCCESS");
  EXPECT_EQ(bench.last.bytes, 513U);
}

// [PS-3]: the window holds the 25th packet, and a READ may be longer than it.
TEST(RcRequester, PS_3_WindowLooksAtTheFirstPsnOfAPacket) {
  RdmaBench bench([](RdmaEndSetup& setup) { setup.pair.window = 24; });
  bench.connect();
  bench.post(WorkOpcode::kWrite, 23 * 256);
  bench.post(WorkOpcode::kRead, 30 * 256);
  bench.post(WorkOpcode::kWrite, 1);
  bench.send(0);
  EXPECT_EQ(bench.wire[1].size(), 24U);
  EXPECT_EQ(bench.ends[0].pair().requester().sent_end(), psn_plus(0xff'fffe, 53));
  bench.run();
  EXPECT_EQ(bench.seen.back().messages, 3U);
}

TEST(RcRequester, PS_3_ARequestOfTwoToThe23PsnsIsRefused) {
  RdmaBench bench;
  bench.connect();
  EXPECT_EQ(bench.post(WorkOpcode::kWrite, 1U << 31), PostResult::kTooLong);
  EXPECT_EQ(bench.post(WorkOpcode::kWrite, (1U << 31) - 256), PostResult::kTaken);
  EXPECT_EQ(bench.post(WorkOpcode::kCmpSwap, 4), PostResult::kMalformed);
}

// [VB-10] [VB-2, VB-C9]
TEST(RcRequester, VB_10_ReadsBeyondTheMostWaitAndSoDoesWhatIsBehind) {
  RdmaBench bench([](RdmaEndSetup& setup) { setup.pair.most_reads_out = 2; });
  bench.connect();
  for (int i = 0; i < 3; ++i) {
    bench.post(WorkOpcode::kRead, 8);
  }
  bench.post(WorkOpcode::kWrite, 8);
  SendWork fenced = bench.work(WorkOpcode::kWrite, 8);
  fenced.is_fenced = true;
  bench.post(fenced);
  bench.send(0);
  EXPECT_EQ(bench.wire[1].size(), 2U);
  bench.deliver(1);
  bench.send(1);
  bench.deliver(0);
  bench.send(0);
  EXPECT_EQ(bench.wire[1].size(), 3U);  // the third READ and the WRITE, not the fenced one
  bench.run();
  EXPECT_EQ(bench.ends[0].pair().requester().waiting(), 0U);
}

// [RX-2] [LR-1] [CC-9]: one NAK for a gap, and all behind it is sent again.
TEST(RcResponder, RX_2_OneNakForAGap) {
  RdmaBench bench;
  bench.connect();
  bench.post(WorkOpcode::kWrite, 6 * 256);
  bench.send(0);
  bench.deliver(1);
  bench.drop(1);
  bench.deliver_all(1);
  bench.send(1);
  ASSERT_EQ(bench.wire[0].size(), 1U);
  EXPECT_EQ(bench.wire[0][0].fields.syndrome, kSequenceNak);
  EXPECT_EQ(bench.wire[0][0].fields.psn, 0xff'ffffU);
  bench.deliver(0);
  bench.send(0);
  EXPECT_EQ(bench.wire[1].size(), 5U);
  EXPECT_EQ(bench.count(0, QpCounter::kResent), 5U);
  bench.run();
  EXPECT_EQ(bench.polled(0), "1 SUCCESS");
  EXPECT_EQ(bench.count(1, QpCounter::kSequenceNaks), 1U);
}

// [RX-5, 8]: an ACK behind each fourth packet; the last one covers all.
TEST(RcResponder, RX_5_AcksWithoutBeingAsked) {
  RdmaBench bench([](RdmaEndSetup& setup) { setup.pair.ack_every = 4; });
  bench.connect();
  bench.post(WorkOpcode::kWrite, 10 * 256);
  bench.send(0);
  unsigned acks = 0;
  for (int i = 0; i < 10; ++i) {
    bench.deliver(1);
    bench.send(1);
    acks += static_cast<unsigned>(bench.wire[0].size());
    bench.deliver_all(0);
  }
  EXPECT_EQ(acks, 3U);
  EXPECT_EQ(bench.seen.back().syndrome, kAckSyndrome);
  EXPECT_EQ(bench.seen.back().messages, 1U);
  EXPECT_EQ(bench.polled(0), "1 SUCCESS");
}

TEST(RcRequester, RX_5_AsksForAnAckEvery64Packets) {
  RdmaBench bench;
  bench.connect();
  bench.post(WorkOpcode::kWrite, 100 * 256);
  bench.send(0);
  ASSERT_EQ(bench.seen.size(), 100U);
  for (unsigned i = 0; i < 100; ++i) {
    EXPECT_EQ(bench.seen[i].asks_for_ack, i == 63 || i == 99) << i;
  }
}

// [RX-4] [RDM-5, 6]: all of a READ again, a part of it, an atomic once.
// No ACK comes by itself, so that the last packet that the window holds asks, once for each window.
TEST(RcRequester, RX_5_AsksForAnAckWhereTheWindowEnds) {
  for (const std::uint32_t window : {1U, 8U, 63U}) {
    RdmaBench bench([&](RdmaEndSetup& setup) {
      setup.pair.window = window;
      setup.pair.ack_every = 1000;
    });
    bench.connect();
    bench.post(WorkOpcode::kWrite, 126 * 256);
    bench.send(0);
    ASSERT_EQ(bench.seen.size(), window);
    for (unsigned i = 0; i < window; ++i) {
      EXPECT_EQ(bench.seen[i].asks_for_ack, i + 1 == window) << i;
    }
    bench.run();
    EXPECT_EQ(bench.polled(0), "1 SUCCESS") << window;
    const auto acks = static_cast<std::uint32_t>(
        std::count_if(bench.seen.begin(), bench.seen.end(),
                      [](const RdmaPacket& packet) { return packet.opcode == RdmaOpcode::kAck; }));
    EXPECT_EQ(acks, (126 + window - 1) / window);
  }
}

// Nor where the one that had asked was lost, and is sent again.
TEST(RcRequester, RX_5_AsksAgainForAnAckThatWasLost) {
  RdmaBench bench([](RdmaEndSetup& setup) {
    setup.pair.window = 8;
    setup.pair.ack_every = 1000;
  });
  bench.connect();
  bench.post(WorkOpcode::kWrite, 32 * 256);
  bench.send(0);
  bench.deliver_all(1);
  bench.send(1);
  bench.drop(0);
  bench.ends[0].pair().time_out();
  bench.run();
  EXPECT_EQ(bench.polled(0), "1 SUCCESS");
  EXPECT_EQ(bench.count(0, QpCounter::kTimeOut), 1U);
}

TEST(RcResponder, RX_4_DuplicatesOfReadsAndAtomics) {
  RdmaBench bench;
  bench.connect();
  bench.post(WorkOpcode::kRead, 3 * 256, 1);
  bench.send(0);
  bench.deliver(1);
  bench.send(1);
  bench.deliver(0);
  bench.drop(0);
  bench.drop(0);
  bench.ends[0].pair().time_out();
  bench.send(0);
  ASSERT_EQ(bench.wire[1].size(), 1U);
  EXPECT_EQ(bench.wire[1][0].fields.psn, 0xff'ffffU);
  EXPECT_EQ(bench.wire[1][0].fields.address, 0x2100U);
  EXPECT_EQ(bench.wire[1][0].fields.length, 512U);
  bench.run();
  EXPECT_EQ(bench.polled(0), "1 SUCCESS");
  EXPECT_TRUE(bench.is_equal(0x1000, 0x2000, 768));

  SendWork add = bench.work(WorkOpcode::kFetchAdd, 8, 2);
  add.operand = 5;
  bench.ends[1].memory()[0x2000] = 7;
  bench.post(add);
  bench.send(0);
  bench.deliver(1);
  bench.send(1);
  bench.drop(0);
  bench.ends[0].pair().time_out();
  bench.run();
  EXPECT_EQ(bench.polled(0), "2 SUCCESS");
  EXPECT_EQ(bench.ends[1].memory()[0x2000], 12);
  EXPECT_EQ(bench.ends[0].memory()[0x1000], 7);
}

// [RX-4]: what is not remembered is dropped.
TEST(RcResponder, RX_4_AForgottenReadIsDropped) {
  RdmaBench bench;
  bench.connect();
  bench.inject(RdmaOpcode::kReadRequest, 0, 8, 0x2000, kPsnMask);
  EXPECT_EQ(bench.count(1, QpCounter::kForgotten), 1U);
  EXPECT_EQ(bench.answer(), 0U);
}

// [VB-9] [RDM-7]
TEST(RcRequester, VB_9_RnrIsRetriedAsOftenAsItMay) {
  RdmaBench bench([](RdmaEndSetup& setup) {
    setup.pair.rnr_retries = 2;
    setup.pair.rnr_time = 9;
  });
  bench.connect();
  bench.post(WorkOpcode::kSend, 600, 1);
  for (int i = 0; i < 2; ++i) {
    bench.run();
    ASSERT_TRUE(bench.ends[0].pair().requester().waits_for_rnr());
    EXPECT_FALSE(bench.ends[0].pair().requester().timer_runs());
    EXPECT_EQ(bench.ends[0].pair().requester().rnr_time(), 9);
    bench.ends[0].pair().end_rnr_wait();
  }
  EXPECT_EQ(bench.count(1, QpCounter::kSequenceNaks), 0U);
  bench.run();
  EXPECT_EQ(bench.polled(0), "1 RNR_RETRY_EXC_ERR");
}

// [LR-3]: progress gives all retries back.
// As Linux rxe has them, but for its 61.41 ms.
TEST(RnrTimes, VB_9_EachCodeHasItsTime) {
  const struct {
    std::uint8_t code;
    std::int64_t us;
  } all[] = {{0, 655'360}, {1, 10},      {4, 40},      {5, 60},       {12, 640},
             {14, 1'280},  {20, 10'240}, {25, 61'440}, {31, 491'520}, {0x21, 10}};
  for (const auto& one : all) {
    EXPECT_EQ(rnr_time_of(one.code), Time::from_us(one.us)) << unsigned{one.code};
  }
  for (std::uint8_t code = 2; code < 32; ++code) {
    EXPECT_GT(rnr_time_of(code), rnr_time_of(code - 1)) << unsigned{code};
  }
}

// Progress gives back all retries.
TEST(RcRequester, VB_9_RnrRetriesAreThoseWithoutProgress) {
  RdmaBench bench([](RdmaEndSetup& setup) { setup.pair.rnr_retries = 1; });
  bench.connect();
  for (std::uint64_t id = 1; id <= 3; ++id) {
    bench.post(WorkOpcode::kSend, 4, id);
    bench.run();
    EXPECT_TRUE(bench.ends[0].pair().requester().waits_for_rnr());
    bench.receive(64);
    bench.ends[0].pair().end_rnr_wait();
    bench.run();
  }
  EXPECT_EQ(bench.polled(0), "1 SUCCESS, 2 SUCCESS, 3 SUCCESS");
}

TEST(RcRequester, LR_3_TimeOutsWithoutProgressAreCounted) {
  RdmaBench bench([](RdmaEndSetup& setup) { setup.pair.retries = 2; });
  bench.connect();
  bench.post(WorkOpcode::kWrite, 8, 1);
  for (int round = 0; round < 3; ++round) {
    bench.send(0);
    bench.wire[1].clear();
    EXPECT_TRUE(bench.ends[0].pair().requester().timer_runs());
    bench.ends[0].pair().time_out();
    if (round == 1) {
      bench.run();
      EXPECT_EQ(bench.polled(0), "1 SUCCESS");
      EXPECT_FALSE(bench.ends[0].pair().requester().timer_runs());
      bench.post(WorkOpcode::kWrite, 8, 2);
    }
  }
  bench.wire[1].clear();
  bench.ends[0].pair().time_out();
  EXPECT_EQ(bench.polled(0), "");
  bench.ends[0].pair().time_out();
  EXPECT_EQ(bench.polled(0), "2 RETRY_EXC_ERR");
}

// [RX-7] [RDM-2] [RX-C6, RX-C7, RX-C8]
TEST(RcResponder, RX_7_WhatIsWrongIsAnsweredOnceAndEndsThePair) {
  const struct {
    RdmaOpcode opcode;
    std::uint32_t bytes, length;
    std::uint64_t address;
    unsigned syndrome;
  } cases[] = {{RdmaOpcode::kWriteMiddle, 256, 0, 0x2000, kInvalidRequestNak},
               {RdmaOpcode::kWriteFirst, 255, 512, 0x2000, kInvalidRequestNak},
               {RdmaOpcode::kWriteFirst, 256, 256, 0x2000, kInvalidRequestNak},
               {RdmaOpcode::kWriteOnly, 8, 9, 0x2000, kInvalidRequestNak},
               {RdmaOpcode::kWriteOnly, 257, 257, 0x2000, kInvalidRequestNak},
               {RdmaOpcode::kFetchAdd, 0, 0, 0x2004, kInvalidRequestNak},
               {RdmaOpcode::kFetchAdd, 0, 0, 0x1'0000, kAccessNak},
               {RdmaOpcode::kReadRequest, 0, 9, 0xfff8, kAccessNak},
               {RdmaOpcode::kWriteFirst, 256, 513, 0xfe00, kAccessNak},
               {RdmaOpcode::kSendOnlyInv, 0, 0, 0, kAccessNak},
               {RdmaOpcode::kSendOnly, 65, 0, 0, kInvalidRequestNak}};
  for (const auto& one : cases) {
    RdmaBench bench;
    bench.connect();
    bench.receive(64);
    const std::vector<std::uint8_t> before = bench.ends[1].memory();
    bench.inject(one.opcode, one.bytes, one.length, one.address);
    EXPECT_EQ(bench.answer(), one.syndrome) << info_of(one.opcode).name << " " << one.length;
    EXPECT_EQ(bench.state(1), QpState::kError);
    bench.inject(one.opcode, one.bytes, one.length, one.address);
    EXPECT_EQ(bench.answer(), 0U);
    EXPECT_EQ(bench.ends[1].memory(), before);
  }
}

// [RX-1] 12a
TEST(RcResponder, RX_1_WhatAQueuePairDoesNotPermit) {
  RdmaBench bench([](RdmaEndSetup& setup) { setup.pair.rights = kRemoteRead; });
  bench.connect();
  bench.inject(RdmaOpcode::kReadRequest, 0, 8);
  EXPECT_EQ(bench.answer(), kAckSyndrome);
  bench.inject(RdmaOpcode::kWriteOnly, 0, 0);
  EXPECT_EQ(bench.answer(), kInvalidRequestNak);
}

// [RDM-8]
TEST(RcResponder, RDM_8_ReceiveBuffersThatDoNotFit) {
  RdmaBench bench;
  bench.connect();
  bench.receive(300, 100);
  bench.post(WorkOpcode::kSend, 301);
  bench.run();
  EXPECT_EQ(bench.polled(1), "100 LOC_LEN_ERR");
  EXPECT_EQ(bench.polled(0), "1 REM_INV_REQ_ERR");
  RdmaBench other;
  other.connect();
  other.ends[1].pair().post_receive({100, view_of({0x4000, 64, other.keys[1] ^ 1})});
  other.post(WorkOpcode::kSend, 8);
  other.run();
  EXPECT_EQ(other.polled(1), "100 LOC_PROT_ERR");
  EXPECT_EQ(other.polled(0), "1 REM_OP_ERR");
}

// [RDM-10]
TEST(QueuePairs, RDM_10_InvalidationByThePeerAndBySoftware) {
  RdmaBench bench;
  bench.connect();
  const std::uint32_t key = *bench.ends[1].add_region({0, 0x2000, 64, kAllRdmaRights});
  bench.receive(64);
  SendWork send = bench.work(WorkOpcode::kSendInv, 8, 1);
  send.immediate = key;
  bench.post(send);
  bench.run();
  EXPECT_EQ(bench.polled(1), "100 SUCCESS");
  EXPECT_EQ(bench.last.opcode, WorkOpcode::kSendInv);
  EXPECT_EQ(bench.last.immediate, key);
  EXPECT_FALSE(bench.ends[1].keys().allow(0, Sge{0x2000, 8, key}, kRemoteRead));

  SendWork local = bench.work(WorkOpcode::kLocalInv, 0, 3);
  local.immediate = bench.keys[0];
  bench.post(WorkOpcode::kWrite, 8, 2);
  bench.post(local);
  bench.post(WorkOpcode::kWrite, 8, 4);
  bench.run();
  EXPECT_EQ(bench.polled(0), "1 SUCCESS, 2 SUCCESS, 3 SUCCESS, 4 LOC_PROT_ERR");
}

// [RDM-5]: of a READ with two answers.
TEST(RcRequester, RDM_5_AnswersThatDoNotFit) {
  struct Forged {
    RdmaOpcode opcode;
    std::uint32_t bytes;
    std::uint8_t syndrome;
  };
  const Forged good = {RdmaOpcode::kReadFirst, 256, kAckSyndrome};
  const std::vector<std::vector<Forged>> all = {{{RdmaOpcode::kReadOnly, 256, kAckSyndrome}},
                                                {{RdmaOpcode::kReadMiddle, 256, 0}},
                                                {{RdmaOpcode::kReadLast, 256, kAckSyndrome}},
                                                {{RdmaOpcode::kReadFirst, 255, kAckSyndrome}},
                                                {{RdmaOpcode::kReadFirst, 256, kAccessNak}},
                                                {{RdmaOpcode::kReadFirst, 256, kRnrSyndrome}},
                                                {{RdmaOpcode::kAtomicAck, 0, kAckSyndrome}},
                                                {good, {RdmaOpcode::kReadOnly, 44, kAckSyndrome}},
                                                {good, {RdmaOpcode::kReadMiddle, 44, 0}},
                                                {good, {RdmaOpcode::kReadFirst, 44, kAckSyndrome}},
                                                {good, {RdmaOpcode::kReadLast, 44, 0x40}}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    RdmaBench bench;
    bench.connect();
    bench.post(WorkOpcode::kRead, 300);
    bench.send(0);
    std::vector<std::uint8_t> before = bench.ends[0].memory();
    for (const Forged& one : all[i]) {
      EXPECT_EQ(bench.polled(0), "") << i;
      before = bench.ends[0].memory();
      RdmaWirePacket packet;
      packet.fields.opcode = one.opcode;
      packet.fields.queue_pair = 0x11;
      packet.fields.psn = bench.ends[0].pair().requester().oldest();
      packet.fields.syndrome = one.syndrome;
      packet.fields.payload_bytes = one.bytes;
      packet.fields.pad = pad_of(one.bytes);
      packet.bytes.assign(one.bytes, 0xee);
      bench.ends[0].receive(packet);
    }
    EXPECT_EQ(bench.polled(0), "1 BAD_RESP_ERR") << i;
    EXPECT_EQ(bench.ends[0].memory(), before) << i;
  }
}

// An answer begins anew where the READ is asked for again, which may be further on than where the
// time-out was; and one that was not lost goes on.
TEST(RcRequester, RDM_5_AnAnswerBeginsWhereItIsAskedForAgain) {
  for (const bool is_lost : {false, true}) {
    for (const unsigned late : {0U, 1U, 2U}) {
      RdmaBench bench;
      bench.connect();
      bench.post(WorkOpcode::kRead, 1024);
      bench.send(0);
      bench.deliver_all(1);
      bench.send(1);
      bench.deliver(0);
      bench.ends[0].pair().time_out();
      for (unsigned i = 0; i < late; ++i) {
        bench.deliver(0);
      }
      if (is_lost) {
        bench.wire[0].clear();
      }
      bench.run();
      EXPECT_EQ(bench.polled(0), "1 SUCCESS") << late;
      EXPECT_TRUE(bench.is_equal(0x1000, 0x2000, 1024));
      EXPECT_EQ(bench.count(0, QpCounter::kResent), 1U);
    }
  }
}

// [RDM-2]: types 2 and 4 to 7, and NAKs that there are none of.
TEST(RcRequester, RX_1_ASyndromeThatMeansNothingIsDroppedAndCounted) {
  RdmaBench bench;
  bench.connect();
  bench.post(WorkOpcode::kWrite, 8);
  bench.send(0);
  const unsigned syndromes[] = {0x40, 0x5f, 0x64, 0x7f, 0x80, 0xff};
  for (const unsigned syndrome : syndromes) {
    RdmaWirePacket packet;
    packet.fields.opcode = RdmaOpcode::kAck;
    packet.fields.queue_pair = 0x11;
    packet.fields.psn = 0xff'fffe;
    packet.fields.syndrome = static_cast<std::uint8_t>(syndrome);
    bench.ends[0].receive(packet);
  }
  EXPECT_EQ(bench.count(0, QpCounter::kBadSyndrome), std::size(syndromes));
  EXPECT_EQ(bench.polled(0), "");
  bench.run();
  EXPECT_EQ(bench.polled(0), "1 SUCCESS");
}

// [RDM-12]: the WRITE behind a READ is seen by it where its answer is lost; a fence helps.
TEST(RcRequester, RDM_12_AWriteOvertakesAReadThatIsAnsweredAgain) {
  for (const bool is_fenced : {false, true}) {
    RdmaBench bench;
    bench.connect();
    SendWork write = bench.work(WorkOpcode::kWrite, 8, 2);
    write.local.pieces[0].address = 0x3000;
    write.is_fenced = is_fenced;
    bench.ends[0].memory()[0x3000] = 77;
    bench.ends[1].memory()[0x2000] = 33;
    bench.post(WorkOpcode::kRead, 8, 1);
    bench.post(write);
    bench.send(0);
    bench.deliver_all(1);
    bench.send(1);
    bench.drop(0);
    bench.ends[0].pair().time_out();
    bench.run();
    EXPECT_EQ(bench.polled(0), "1 SUCCESS, 2 SUCCESS");
    EXPECT_EQ(bench.ends[0].memory()[0x1000], is_fenced ? 33 : 77);
  }
}

// [RDM-4] [RX-C5]
TEST(RdmaPacket, RDM_4_PartnersHaveOneFullMember) {
  EXPECT_TRUE(are_partners(0xffff, 0x7fff));
  EXPECT_TRUE(are_partners(0x8001, 0x8001));
  EXPECT_FALSE(are_partners(0x7fff, 0x7fff));
  EXPECT_FALSE(are_partners(0x8000, 0x8000));
  EXPECT_FALSE(are_partners(0x8001, 0x8002));
}

}  // namespace
}  // namespace flitwise::reliable_connection_test
