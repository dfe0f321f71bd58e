// SPDX-License-Identifier: Apache-2.0
// Both halves of link layer retry.
#include "link/cxl_retry.h"

#include <gtest/gtest.h>

namespace flitwise::cxl_retry_test {
namespace {

class CxlRetryTest : public testing::Test {
 protected:
  PacketRef flit() { return pool_.make(PacketKind::kFlit); }
  PacketPool pool_;
};

TEST_F(CxlRetryTest, CXL_3_5_KeepsFlitsUntilTheyAreAcknowledged) {
  CxlRetryBuffer buffer(16);
  for (int i = 0; i < 16; ++i) {
    ASSERT_TRUE(buffer.has_room());
    buffer.push(flit());
  }
  EXPECT_FALSE(buffer.has_room());
  EXPECT_TRUE(buffer.acknowledge(8));
  EXPECT_EQ(buffer.size(), 8U);
  EXPECT_FALSE(buffer.acknowledge(9)) << "more than were sent";
  EXPECT_EQ(buffer.size(), 8U);
}

TEST_F(CxlRetryTest, CXL_3_6_ReplaysFromTheFlitThatIsWanted) {
  CxlRetryBuffer buffer(255);
  std::vector<PacketRef> sent;
  for (int i = 0; i < 10; ++i) {
    sent.push_back(flit());
    buffer.push(sent.back());
  }
  ASSERT_TRUE(buffer.start_replay(7));
  EXPECT_FALSE(buffer.acknowledge(11)) << "more than were sent";
  EXPECT_TRUE(buffer.acknowledge(7));
  for (std::size_t i = 7; i < 10; ++i) {
    ASSERT_TRUE(buffer.is_replaying());
    EXPECT_EQ(buffer.next_replay(), sent[i]);
  }
  EXPECT_FALSE(buffer.is_replaying());
  EXPECT_TRUE(buffer.start_replay(10)) << "nothing is missing";
  EXPECT_FALSE(buffer.is_replaying());
  EXPECT_FALSE(buffer.start_replay(6)) << "acknowledged long ago";
  EXPECT_FALSE(buffer.start_replay(11)) << "never sent";
}

// The flits had arrived before the second question did: they go again all the same.
TEST_F(CxlRetryTest, CXL_3_6_AReplayThatWasAnnouncedSkipsNothing) {
  CxlRetryBuffer buffer(255);
  std::vector<PacketRef> sent;
  for (int i = 0; i < 10; ++i) {
    sent.push_back(flit());
    buffer.push(sent.back());
  }
  ASSERT_TRUE(buffer.start_replay(0));
  EXPECT_TRUE(buffer.acknowledge(8));
  EXPECT_EQ(buffer.size(), 10U);
  for (const PacketRef& one : sent) {
    EXPECT_EQ(buffer.next_replay(), one);
  }
  EXPECT_EQ(buffer.size(), 2U);
}

TEST_F(CxlRetryTest, CXL_3_5_NumbersWrapAt256) {
  CxlRetryBuffer buffer(16);
  for (int i = 0; i < 1000; ++i) {
    buffer.push(flit());
    ASSERT_TRUE(buffer.acknowledge(1));
  }
  const PacketRef last = flit();
  buffer.push(last);
  ASSERT_TRUE(buffer.start_replay(1000 % 256));
  EXPECT_EQ(buffer.next_replay(), last);
}

TEST_F(CxlRetryTest, CXL_3_6_AsksWithFiveFramesAndTakesNothingUntilTheAnswer) {
  CxlRetryRequester receiver(Time::from_us(1));
  EXPECT_TRUE(receiver.accepts());
  EXPECT_TRUE(receiver.accepts());
  EXPECT_FALSE(receiver.is_due(Time{}));
  receiver.damaged();
  receiver.damaged();  // the one behind it as well
  EXPECT_FALSE(receiver.accepts());
  for (unsigned i = 0; i < kRetryFrames; ++i) {
    ASSERT_TRUE(receiver.is_due(Time{}));
    EXPECT_FALSE(receiver.take(Time{}).is_request);
  }
  const CxlRetryRequester::Ask ask = receiver.take(Time{});
  EXPECT_TRUE(ask.is_request);
  EXPECT_EQ(ask.first, 2);
  EXPECT_FALSE(receiver.is_due(Time::from_ns(999)));
  receiver.answered(1);  // not what was asked for
  EXPECT_FALSE(receiver.accepts());
  receiver.answered(2);
  EXPECT_TRUE(receiver.accepts());
  EXPECT_EQ(receiver.deadline(), Time::never());
}

TEST_F(CxlRetryTest, CXL_3_7_AsksAgainAndAtLastForRecovery) {
  CxlRetryRequester receiver(Time::from_us(1));
  receiver.damaged();
  Time now{};
  for (unsigned asked = 1; asked <= kMostRetries + 1; ++asked) {
    EXPECT_FALSE(receiver.take_recovery_request());
    while (!receiver.take(now).is_request) {
    }
    now = receiver.deadline();
    EXPECT_EQ(now, Time::from_us(asked));
  }
  EXPECT_TRUE(receiver.take_recovery_request());
  EXPECT_FALSE(receiver.take_recovery_request());
  receiver.answered(0);
  EXPECT_TRUE(receiver.is_normal());
}

// The question was asked twice: the sender begins anew although the first answer did its work.
TEST_F(CxlRetryTest, CXL_3_6_ASecondAnswerBringsFlitsThatWereTakenAlready) {
  CxlRetryRequester receiver(Time::from_us(1));
  receiver.damaged();
  while (!receiver.take(Time{}).is_request) {
  }
  receiver.answered(0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(receiver.accepts());
  }
  receiver.answered(0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(receiver.accepts()) << "again";
  }
  EXPECT_TRUE(receiver.accepts());
}

// The replay that is asked for now begins with the first flit that is missing: nothing of it was
// taken.
TEST_F(CxlRetryTest, CXL_3_6_DamageAmongFlitsThatComeAgainEndsTheRepetition) {
  CxlRetryRequester receiver(Time::from_us(1));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(receiver.accepts());
  }
  receiver.answered(0);
  EXPECT_FALSE(receiver.accepts()) << "flit 0 again, with 1 and 2 to come";
  receiver.damaged();
  CxlRetryRequester::Ask ask = receiver.take(Time{});
  while (!ask.is_request) {
    ask = receiver.take(Time{});
  }
  EXPECT_EQ(ask.first, 3);
  receiver.answered(3);
  EXPECT_TRUE(receiver.accepts());
}

// In the midst of a replay, with an acknowledgement of what is still to go again.
TEST_F(CxlRetryTest, LNK_10_7_ResetForgetsFlitsNumbersAndReplay) {
  CxlRetryBuffer buffer(16);
  for (int i = 0; i < 8; ++i) {
    buffer.push(flit());
  }
  ASSERT_TRUE(buffer.acknowledge(2));
  ASSERT_TRUE(buffer.start_replay(2));
  ASSERT_TRUE(buffer.acknowledge(3));
  ASSERT_EQ(buffer.size(), 6U);
  buffer.reset();
  EXPECT_TRUE(buffer.empty());
  EXPECT_FALSE(buffer.is_replaying());
  EXPECT_TRUE(buffer.acknowledge(0));
  EXPECT_FALSE(buffer.acknowledge(1)) << "nothing has been sent";
  const PacketRef first = flit();
  buffer.push(first);
  buffer.push(flit());
  ASSERT_TRUE(buffer.start_replay(0));
  EXPECT_EQ(buffer.next_replay(), first);
}

}  // namespace
}  // namespace flitwise::cxl_retry_test
