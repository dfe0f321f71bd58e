// SPDX-License-Identifier: Apache-2.0
// Invalidations at the translation agent. Catalogue ids in the names.
#include "ats/invalidation.h"

#include <gtest/gtest.h>

#include "flitwise/error.h"

namespace flitwise::invalidation_sender_test {
namespace {

constexpr Time kInvalidateTimeoutLeast = Time::from_us(60'000'000);
constexpr Time kInvalidateTimeoutMost = Time::from_us(90'000'000);
constexpr Bdf kAgent = Bdf::of(0, 0, 0), kFunction = Bdf::of(1, 0, 0), kOther = Bdf::of(1, 0, 1);

class Sender : public testing::Test {
 protected:
  CompletionReport complete(std::uint32_t vector, unsigned count = 1, unsigned tc = 0,
                            Bdf from = kFunction, Bdf agent = kAgent) {
    return sender.complete(
        {agent, from, static_cast<std::uint8_t>(tc), static_cast<std::uint8_t>(count), vector});
  }

  unsigned added(Bdf id, unsigned depth) {
    const unsigned index = sender.add_function(id);
    sender.set_depth(index, depth);
    return index;
  }

  InvalidationSender sender{kAgent, kInvalidateTimeoutLeast};
  const unsigned function = added(kFunction, 0);
  const unsigned other = added(kOther, 4);
};

TEST_F(Sender, INV_08_EveryCopyIsWaitedFor) {
  sender.send(function, {});
  EXPECT_EQ(complete(1, 2, 0).retired, 0U);
  EXPECT_EQ(complete(1, 2, 3).retired, 1U);
  EXPECT_EQ(sender.outstanding(function), 0U);
}

TEST_F(Sender, INV_09_CountZeroIsEight) {
  sender.send(function, {});
  for (unsigned tc = 0; tc < 8; ++tc) {
    EXPECT_EQ(complete(1, 8, tc).retired, tc == 7 ? 1U : 0U);
  }
}

TEST_F(Sender, INV_10_CopiesThatDifferAreReportedAndNotCounted) {
  sender.send(function, {});
  sender.send(function, {});
  EXPECT_EQ(complete(1, 2, 0).mismatched, 0U);
  EXPECT_EQ(complete(1, 3, 1).mismatched, 1U);  // another count
  const CompletionReport wider = complete(3, 2, 1);
  EXPECT_EQ(wider.mismatched, 1U);  // another vector
  EXPECT_EQ(wider.retired, 0U);
  EXPECT_EQ(sender.outstanding(function), 3U);
  EXPECT_EQ(complete(1, 2, 1).retired, 1U);
  EXPECT_EQ(complete(1, 2, 1).unexpected, 1U);  // never twice
}

TEST_F(Sender, INV_11_OneMessageRetiresSeveral) {
  sender.send(function, {});
  sender.send(function, {});
  EXPECT_EQ(complete(3).retired, 3U);
}

TEST_F(Sender, INV_12_CoalescedAnswersThatSpreadOverClassesAreErrors) {
  sender.send(function, {});
  sender.send(function, {});
  complete(3, 2, 0);
  EXPECT_EQ(complete(1, 2, 1).mismatched, 1U);
  EXPECT_EQ(complete(3, 2, 0).mismatched, 3U);  // a copy on the class that had one
  EXPECT_EQ(complete(3, 2, 1).retired, 3U);
}

TEST_F(Sender, INV_13_AnItagThatIsNotOutIsUnexpected) {
  EXPECT_EQ(complete(1U << 5).unexpected, 1U << 5);
  sender.send(function, {});
  const CompletionReport mixed = complete(1U << 5 | 1U);
  EXPECT_EQ(mixed.unexpected, 1U << 5);
  EXPECT_EQ(mixed.retired, 1U);
}

TEST_F(Sender, INV_14_AnotherFunctionsAnswerIsUnexpected) {
  sender.send(function, {});
  EXPECT_EQ(complete(1, 1, 0, kOther).unexpected, 1U);
  EXPECT_EQ(complete(1, 1, 0, Bdf::of(9, 0, 0)).unexpected, 1U);
  EXPECT_EQ(sender.outstanding(function), 1U);
}

TEST_F(Sender, INV_15_AnAnswerForAnotherAgentIsUnexpected) {
  sender.send(function, {});
  EXPECT_EQ(complete(1, 1, 0, kFunction, Bdf::of(0, 3, 0)).unexpected, 1U);
  EXPECT_EQ(sender.outstanding(function), 1U);
}

TEST_F(Sender, INV_16_TheLowestFreeItagIsTaken) {
  EXPECT_EQ(sender.send(function, {}), 0);
  EXPECT_EQ(sender.send(function, {}), 1);
  EXPECT_EQ(sender.send(function, {}), 2);
  EXPECT_EQ(sender.send(other, {}), 0);  // Each function has its own.
  complete(1U << 1);
  EXPECT_EQ(sender.send(function, {}), 1);
}

TEST_F(Sender, INV_17_NoItagIsReusedBeforeItsLastCopy) {
  sender.send(function, {});
  complete(1, 2, 0);
  EXPECT_EQ(sender.send(function, {}), 1);
}

TEST_F(Sender, INV_18_TheThirtyThirdWaits) {
  for (int i = 0; i < 32; ++i) {
    ASSERT_TRUE(sender.can_send(function));
    sender.send(function, {});
  }
  EXPECT_FALSE(sender.can_send(function));
  EXPECT_TRUE(sender.can_send(other));
  EXPECT_THROW(sender.send(function, {}), SimulationError);
  complete(1U << 31);
  EXPECT_EQ(sender.send(function, {}), 31);
}

TEST_F(Sender, INV_20_AnUnansweredOneTimesOutAfterSixtySeconds) {
  const Time start = Time::from_us(5);
  EXPECT_FALSE(sender.next_deadline());
  sender.send(function, start);
  sender.send(function, start + Time::from_us(1));
  const Time deadline = start + Time::from_us(60'000'000);
  EXPECT_EQ(sender.next_deadline(), deadline);
  EXPECT_FALSE(sender.expire(deadline - Time{1}));
  const auto expired = sender.expire(deadline);
  ASSERT_TRUE(expired);
  EXPECT_FALSE(sender.expire(deadline));
  EXPECT_EQ(complete(1).unexpected, 1U);  // late
  EXPECT_EQ(sender.send(function, deadline), 0);
}

TEST_F(Sender, INV_20_AnotherTimeoutMayBeSet) {
  InvalidationSender late(kAgent, kInvalidateTimeoutMost);
  late.send(late.add_function(kFunction), Time::from_us(1));
  EXPECT_EQ(late.next_deadline(), Time::from_us(1) + kInvalidateTimeoutMost);
}

TEST_F(Sender, INV_16_FunctionsThatJoinLaterLeaveTheOthersAsTheyAre) {
  sender.send(function, Time::from_us(1));
  const unsigned joined = added(Bdf{0x700}, 4);
  sender.send(joined, Time::from_us(2));
  EXPECT_EQ(sender.all_awaited(), 2U);
  const auto first = sender.expire(Time::from_us(1) + kInvalidateTimeoutLeast);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->function, function);
  EXPECT_EQ(sender.next_deadline(), Time::from_us(2) + kInvalidateTimeoutLeast);
}

TEST_F(Sender, INV_31_TheQueueDepthHoldsTheFifthBack) {
  for (int i = 0; i < 4; ++i) {
    sender.send(other, {});
  }
  EXPECT_FALSE(sender.can_send(other));
  complete(1, 1, 0, kOther);
  EXPECT_TRUE(sender.can_send(other));
}

TEST_F(Sender, INV_32_DepthZeroIsThirtyTwo) {
  EXPECT_EQ(invalidate_queue_depth(0), 32U);
  EXPECT_EQ(invalidate_queue_depth(1), 1U);
  EXPECT_EQ(invalidate_queue_depth(31), 31U);
}

}  // namespace
}  // namespace flitwise::invalidation_sender_test
