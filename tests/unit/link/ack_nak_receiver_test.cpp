// SPDX-License-Identifier: Apache-2.0
// Receive half of the Ack/Nak protocol, step by step.
#include "link/ack_nak.h"

#include <gtest/gtest.h>

namespace flitwise::ack_nak_receiver_test {
namespace {

using Verdict = AckNakReceiver::Verdict;
constexpr std::uint16_t kSequenceMask = 0xfff;
constexpr Time kLimit = Time::from_ns(200);

constexpr Time ns(std::int64_t n) {
  return Time::from_ns(n);
}

/// Receives good TLPs with the numbers from 0 up to, not including, `end`.
void receive_up_to(AckNakReceiver& receiver, unsigned end) {
  for (unsigned i = 0; i < end; ++i) {
    ASSERT_EQ(receiver.receive(static_cast<std::uint16_t>(i & kSequenceMask), false, Time{}),
              Verdict::kAccepted);
    if (receiver.deadline() != Time::never()) {
      receiver.take();
    }
  }
}

TEST(AckNakReceiver, LNK_7_1_ExpectsZeroFirstAndOwesNothing) {
  AckNakReceiver receiver(kLimit, 0);
  EXPECT_EQ(receiver.deadline(), Time::never());
  EXPECT_EQ(receiver.receive(0, false, Time{}), Verdict::kAccepted);
}

TEST(AckNakReceiver, LNK_7_4_DamagedTlpIsDroppedWithOneNakOfTheLastGoodNumber) {
  AckNakReceiver receiver(kLimit, 0);
  receiver.receive(0, false, ns(1));
  EXPECT_EQ(receiver.receive(1, true, ns(2)), Verdict::kDamaged);
  EXPECT_EQ(receiver.deadline(), ns(2));
  const AckNakReceiver::Owed owed = receiver.take();
  EXPECT_TRUE(owed.is_nak);
  EXPECT_EQ(owed.sequence, 0);
  EXPECT_EQ(receiver.deadline(), Time::never());
  // What follows out of order, or damaged again, brings no second Nak.
  EXPECT_EQ(receiver.receive(2, false, ns(3)), Verdict::kOutOfSequence);
  EXPECT_EQ(receiver.receive(1, true, ns(4)), Verdict::kDamaged);
  EXPECT_EQ(receiver.deadline(), Time::never());
}

TEST(AckNakReceiver, LNK_7_4_NakOfAnEmptyHistoryIsFff) {
  AckNakReceiver receiver(kLimit, 0);
  receiver.receive(0, true, ns(1));
  const AckNakReceiver::Owed owed = receiver.take();
  EXPECT_TRUE(owed.is_nak);
  EXPECT_EQ(owed.sequence, 0xfff);
}

TEST(AckNakReceiver, LNK_7_5_GoodTlpClearsNakScheduled) {
  AckNakReceiver receiver(kLimit, 0);
  receiver.receive(0, true, ns(1));
  receiver.take();
  EXPECT_EQ(receiver.receive(0, false, ns(2)), Verdict::kAccepted);
  EXPECT_EQ(receiver.receive(1, true, ns(3)), Verdict::kDamaged);
  EXPECT_EQ(receiver.deadline(), ns(3));
  EXPECT_TRUE(receiver.take().is_nak);
}

TEST(AckNakReceiver, LNK_7_5_AckLatencyTimerStartsOnceAndIsNotPutOff) {
  AckNakReceiver receiver(kLimit, 0);
  receiver.receive(0, false, ns(10));
  receiver.receive(1, false, ns(100));
  EXPECT_EQ(receiver.deadline(), ns(210));
}

TEST(AckNakReceiver, LNK_7_6_DuplicateIsDroppedAndAcknowledgedAtOnce) {
  AckNakReceiver receiver(kLimit, 0);
  receive_up_to(receiver, 3'000);
  for (const unsigned behind : {1U, 2U, 2047U}) {
    EXPECT_EQ(receiver.receive(static_cast<std::uint16_t>(3'000 - behind), false, ns(5)),
              Verdict::kDuplicate);
    EXPECT_EQ(receiver.deadline(), ns(5));
    const AckNakReceiver::Owed owed = receiver.take();
    EXPECT_FALSE(owed.is_nak);
    EXPECT_EQ(owed.sequence, 2'999);
  }
}

TEST(AckNakReceiver, LNK_7_7_AnyOtherNumberIsOutOfSequenceAndBringsOneNak) {
  for (const unsigned ahead : {1U, 2U, 2047U, 2048U}) {
    AckNakReceiver receiver(kLimit, 0);
    receive_up_to(receiver, 10);
    const auto sequence = static_cast<std::uint16_t>((10U + ahead) & kSequenceMask);
    EXPECT_EQ(receiver.receive(sequence, false, ns(7)), Verdict::kOutOfSequence) << ahead;
    EXPECT_EQ(receiver.deadline(), ns(7));
    const AckNakReceiver::Owed owed = receiver.take();
    EXPECT_TRUE(owed.is_nak);
    EXPECT_EQ(owed.sequence, 9);
    receiver.receive(sequence, false, ns(8));
    EXPECT_EQ(receiver.deadline(), Time::never());
  }
}

TEST(AckNakReceiver, NumbersWrapAt4096) {
  AckNakReceiver receiver(kLimit, 0);
  receive_up_to(receiver, 2 * 4096 + 1);
  EXPECT_EQ(receiver.receive(0xfff, false, ns(1)), Verdict::kDuplicate);
  EXPECT_EQ(receiver.receive(1, false, ns(1)), Verdict::kAccepted);
}

TEST(AckNakReceiver, LNK_11_6_FlitsBeginWith1AndTheReservedNumber0IsDroppedWithoutANak) {
  AckNakReceiver receiver(kLimit, 0, SequenceSpace::of_flits());
  for (unsigned i = 0; i < 3'000; ++i) {
    const auto sequence = static_cast<std::uint16_t>(i % 1023 + 1);
    ASSERT_EQ(receiver.receive(0, false, Time{}), Verdict::kOutOfSequence);
    ASSERT_EQ(receiver.receive(sequence, false, Time{}), Verdict::kAccepted);
    const AckNakReceiver::Owed owed = receiver.take();
    ASSERT_FALSE(owed.is_nak);
    ASSERT_EQ(owed.sequence, sequence);
  }
}

// 1 to 511 behind the one expected is a duplicate, the other 511 numbers are out of sequence.
TEST(AckNakReceiver, LNK_11_6_DuplicatesOfFlitsAreUpTo511Behind) {
  for (const unsigned expected : {1U, 2U, 400U, 1'023U}) {
    unsigned duplicates = 0, gaps = 0;
    for (std::uint16_t number = 1; number <= 1'023; ++number) {
      AckNakReceiver receiver(kLimit, 0, SequenceSpace::of_flits());
      for (std::uint16_t i = 1; i < expected; ++i) {
        receiver.receive(i, false, Time{});
      }
      const Verdict verdict = receiver.receive(number, false, Time{});
      const unsigned behind = (expected + 1'023 - number) % 1'023;
      EXPECT_EQ(verdict, behind == 0    ? Verdict::kAccepted
                         : behind < 512 ? Verdict::kDuplicate
                                        : Verdict::kOutOfSequence)
          << number;
      duplicates += verdict == Verdict::kDuplicate ? 1 : 0;
      gaps += verdict == Verdict::kOutOfSequence ? 1 : 0;
    }
    EXPECT_EQ(duplicates, 511U);
    EXPECT_EQ(gaps, 511U);
  }
}

TEST(AckNakReceiver, LNK_7_15_OneAckCoversAllThatCameBefore) {
  AckNakReceiver receiver(kLimit, 0);
  for (std::uint16_t i = 0; i < 50; ++i) {
    receiver.receive(i, false, ns(i));
  }
  EXPECT_EQ(receiver.deadline(), ns(200));
  EXPECT_EQ(receiver.take().sequence, 49);
  EXPECT_EQ(receiver.deadline(), Time::never());
}

TEST(AckNakReceiver, LNK_7_15_AckIsDueAfterTheSetNumberOfTlps) {
  AckNakReceiver receiver(kLimit, 4);
  for (std::uint16_t i = 0; i < 3; ++i) {
    receiver.receive(i, false, ns(1));
    EXPECT_EQ(receiver.deadline(), ns(201));
  }
  receiver.receive(3, false, ns(2));
  EXPECT_EQ(receiver.deadline(), ns(2));
  EXPECT_EQ(receiver.take().sequence, 3);
  receiver.receive(4, false, ns(3));
  EXPECT_EQ(receiver.deadline(), ns(203));
}

}  // namespace
}  // namespace flitwise::ack_nak_receiver_test
