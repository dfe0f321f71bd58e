// SPDX-License-Identifier: Apache-2.0
// Queues of CXL messages and the credits that gate them.
#include "link/cxl_queues.h"

#include <gtest/gtest.h>

namespace flitwise::cxl_queues_test {
namespace {

class CxlQueuesTest : public testing::Test {
 protected:
  PacketRef message(CxlChannel channel, std::uint64_t enables = ~std::uint64_t{0}) {
    PacketRef packet = pool_.make(PacketKind::kCxl);
    packet->cxl->channel = channel;
    packet->cxl->byte_enables = enables;
    return packet;
  }
  void give(CxlCredit credit, bool is_mem, std::uint8_t count) {
    queues_.gate().give(static_cast<std::size_t>(credit), {is_mem, count});
  }

  PacketPool pool_;
  CxlQueues queues_{CxlDirection::kDownstream, 4};
};

TEST_F(CxlQueuesTest, CXL_3_1_NothingGoesWithoutCredits) {
  queues_.push(message(CxlChannel::kM2sReq), Time{});
  EXPECT_EQ(queues_.waiting(Time{}).of(CxlChannel::kM2sReq), 0);
  EXPECT_FALSE(queues_.starved().empty());
  give(CxlCredit::kReq, false, 8);
  EXPECT_EQ(queues_.waiting(Time{}).of(CxlChannel::kM2sReq), 0) << "those of CXL.cache";
  give(CxlCredit::kReq, true, 1);
  EXPECT_EQ(queues_.waiting(Time{}).of(CxlChannel::kM2sReq), 1);
  EXPECT_TRUE(queues_.take(CxlChannel::kM2sReq));
  EXPECT_TRUE(queues_.empty());
}

// Each channel of CXL.mem has credits of its own: those of M2S Req are no help to an RwD.
TEST_F(CxlQueuesTest, CXL_1_6_AnRwdTakesADataCreditAndNoOther) {
  for (int i = 0; i < 3; ++i) {
    queues_.push(message(CxlChannel::kM2sReq), Time{});
    queues_.push(message(CxlChannel::kM2sRwd), Time{});
  }
  give(CxlCredit::kReq, true, 1);
  EXPECT_EQ(queues_.waiting(Time{}).of(CxlChannel::kM2sRwd), 0);
  give(CxlCredit::kData, true, 2);
  for (int look = 0; look < 24; ++look) {
    const CxlWaiting waiting = queues_.waiting(Time{});
    EXPECT_EQ(waiting.of(CxlChannel::kM2sRwd), 2);
    EXPECT_EQ(waiting.of(CxlChannel::kM2sReq), 1);
  }
  queues_.take(CxlChannel::kM2sRwd);
  EXPECT_EQ(queues_.waiting(Time{}).of(CxlChannel::kM2sReq), 1);
}

// From the arrival of the first that cannot go to the credit that lets it.
TEST_F(CxlQueuesTest, CXL_3_1_WaitsForCreditsAreBookedByClass) {
  queues_.push(message(CxlChannel::kM2sReq), Time::from_ns(10));
  queues_.push(message(CxlChannel::kM2sReq), Time::from_ns(12));
  give(CxlCredit::kReq, true, 1);
  queues_.note_stalls(Time{});
  queues_.waiting(Time::from_ns(11));
  queues_.take(CxlChannel::kM2sReq);
  queues_.note_stalls(Time::from_ns(11));
  queues_.note_stalls(Time::from_ns(20));
  EXPECT_EQ(queues_.waits(Time::from_ns(20))[0].time, Time::from_ns(8));
  give(CxlCredit::kReq, false, 4);
  queues_.note_stalls(Time::from_ns(25));
  EXPECT_EQ(queues_.waits(Time::from_ns(26))[0].time, Time::from_ns(14))
      << "those of CXL.cache are no help";
  give(CxlCredit::kReq, true, 1);
  queues_.note_stalls(Time::from_ns(30));
  EXPECT_EQ(queues_.waits(Time::from_ns(99))[0].time, Time::from_ns(18));
  EXPECT_EQ(queues_.waits(Time::from_ns(99))[1].time, Time{});
  EXPECT_EQ(queues_.waits(Time::from_ns(99))[2].time, Time{});
}

// What the link drops waits for nothing any more.
TEST_F(CxlQueuesTest, CXL_3_9_ADropEndsTheWait) {
  queues_.push(message(CxlChannel::kM2sRwd), Time{});
  queues_.note_stalls(Time{});
  queues_.reset();
  queues_.note_stalls(Time::from_ns(5));
  EXPECT_EQ(queues_.waits(Time::from_ns(50))[2].time, Time::from_ns(5));
}

// Both have credits: the snoop behind the GO waits for it, the one before it does not.
TEST_F(CxlQueuesTest, COH_1_5_ASnoopStaysBehindAnOlderResponse) {
  give(CxlCredit::kReq, false, 8);
  give(CxlCredit::kRsp, false, 8);
  queues_.push(message(CxlChannel::kH2dReq), Time{});
  queues_.push(message(CxlChannel::kH2dRsp), Time{});
  queues_.push(message(CxlChannel::kH2dReq), Time{});
  const CxlWaiting waiting = queues_.waiting(Time{});
  EXPECT_EQ(waiting.of(CxlChannel::kH2dReq), 1);
  EXPECT_EQ(waiting.of(CxlChannel::kH2dRsp), 1);
  queues_.take(CxlChannel::kH2dReq);
  EXPECT_EQ(queues_.waiting(Time{}).of(CxlChannel::kH2dReq), 0);
  queues_.take(CxlChannel::kH2dRsp);
  EXPECT_EQ(queues_.waiting(Time{}).of(CxlChannel::kH2dReq), 1);
}

// A GO without credits, or one that has yet to arrive, holds a snoop up as well.
TEST_F(CxlQueuesTest, COH_1_5_ASnoopWaitsForAResponseThatCannotGo) {
  give(CxlCredit::kReq, false, 8);
  queues_.push(message(CxlChannel::kH2dRsp), Time::from_ns(5));
  queues_.push(message(CxlChannel::kH2dReq), Time{});
  EXPECT_EQ(queues_.waiting(Time{}).of(CxlChannel::kH2dReq), 0);
  EXPECT_EQ(queues_.waiting(Time::from_ns(9)).of(CxlChannel::kH2dReq), 0);
}

TEST_F(CxlQueuesTest, CXL_3_1_MessagesWaitForTheirArrivalInOrder) {
  give(CxlCredit::kReq, true, 16);
  queues_.push(message(CxlChannel::kM2sReq), Time::from_ns(10));
  queues_.push(message(CxlChannel::kM2sReq), Time::from_ns(5));
  EXPECT_EQ(queues_.next_arrival(Time{}), Time::from_ns(10));
  EXPECT_EQ(queues_.waiting(Time::from_ns(9)).of(CxlChannel::kM2sReq), 0);
  EXPECT_EQ(queues_.waiting(Time::from_ns(10)).of(CxlChannel::kM2sReq), 2);
  EXPECT_EQ(queues_.next_arrival(Time::from_ns(10)), Time::never());
  EXPECT_EQ(queues_.next_arrival(Time{-1}), Time::from_ns(10)) << "what has been looked at as well";
}

TEST_F(CxlQueuesTest, CXL_2_6_SaysWhichLinesAreEnabledInPart) {
  give(CxlCredit::kReq, true, 16);
  give(CxlCredit::kData, true, 16);
  queues_.push(message(CxlChannel::kM2sReq, 1), Time{});
  queues_.push(message(CxlChannel::kM2sRwd), Time{});
  queues_.push(message(CxlChannel::kM2sRwd, 0xff), Time{});
  EXPECT_EQ(queues_.waiting(Time{}).partial_lines, 2U);
  queues_.take(CxlChannel::kM2sRwd);
  EXPECT_EQ(queues_.waiting(Time{}).partial_lines, 1U);
}

TEST_F(CxlQueuesTest, CXL_3_1_AFullQueueRefuses) {
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(queues_.has_room(CxlChannel::kM2sReq));
    queues_.push(message(CxlChannel::kM2sReq), Time{});
  }
  EXPECT_FALSE(queues_.has_room(CxlChannel::kM2sReq));
  EXPECT_TRUE(queues_.has_room(CxlChannel::kM2sRwd));
  EXPECT_FALSE(queues_.has_room(CxlChannel::kS2mDrs)) << "of the other direction";
}

TEST(CxlCredits, CXL_2_10_AHeaderGivesBackPowersOfTwo) {
  CxlLinkConfig cxl;
  cxl.req_credits = 100;
  cxl.rsp_credits = 3;
  cxl.data_credits = 1;
  CxlCreditReturns returns(advertised_credits(cxl));
  CxlCreditGate gate;
  unsigned flits = 0;
  while (returns.has_untold()) {
    const auto credits = returns.take();
    for (std::size_t c = 0; c < credits.size(); ++c) {
      EXPECT_EQ(credits[c].count & (credits[c].count - 1), 0);
      EXPECT_LE(credits[c].count, 64);
      gate.give(c, credits[c]);
    }
    ++flits;
  }
  EXPECT_EQ(flits, 6U) << "64 + 32 + 4 of each protocol";
  EXPECT_EQ(gate.left(), advertised_credits(cxl));
}

// One protocol frees more buffers than a header can tell of; the other one has its turn all the
// same.
TEST(CxlCredits, CXL_2_10_ProtocolsTakeTurnsInEachClass) {
  CxlLinkConfig cxl;
  cxl.req_credits = 1'024;
  CxlCreditReturns returns(advertised_credits(cxl));
  bool was_mem = returns.take()[0].is_mem;
  for (int flit = 0; flit < 8; ++flit) {
    const bool is_mem = returns.take()[0].is_mem;
    EXPECT_NE(is_mem, was_mem);
    was_mem = is_mem;
  }
}

TEST(CxlCredits, CXL_3_2_AnOverrunIsSeen) {
  CxlLinkConfig cxl;
  cxl.req_credits = 1;
  CxlCreditReturns returns(advertised_credits(cxl));
  EXPECT_FALSE(returns.receive(CxlChannel::kM2sReq)) << "nothing has been told yet";
  returns.free(CxlChannel::kM2sReq);
  while (returns.has_untold()) {
    returns.take();
  }
  EXPECT_TRUE(returns.receive(CxlChannel::kM2sReq));
  EXPECT_TRUE(returns.is_conserved());
  EXPECT_FALSE(returns.receive(CxlChannel::kM2sReq));
  EXPECT_FALSE(returns.is_conserved());
}

}  // namespace
}  // namespace flitwise::cxl_queues_test
