// SPDX-License-Identifier: Apache-2.0
// Transmit half of the Ack/Nak protocol.
#include "link/ack_nak.h"

#include <gtest/gtest.h>

#include <vector>

#include "unit/link/link_support.h"

namespace flitwise::replay_buffer_test {
namespace {

constexpr Time kTimeout = Time::from_ns(600);
constexpr std::uint32_t kBytes = 88;
constexpr std::uint64_t kRoomForAll = std::uint64_t{4096} * kBytes;

constexpr std::uint16_t kSequenceMask = 0xfff;

constexpr Time ns(std::int64_t n) {
  return Time::from_ns(n);
}

class ReplayBufferTest : public testing::Test {
 protected:
  void send(ReplayBuffer& buffer, int count, Time last = ns(10)) {
    for (int i = 0; i < count; ++i) {
      buffer.push(test::packet(pool_, TlpType::kMWr, 16, mark_++), kBytes);
      buffer.sent(last);
    }
  }
  /// Marks of what is sent again, and their numbers.
  static std::vector<std::uint64_t> replay(ReplayBuffer& buffer, Time last) {
    std::vector<std::uint64_t> marks;
    while (buffer.is_replaying()) {
      const ReplayBuffer::Replay one = buffer.next_replay();
      EXPECT_EQ(one.packet->tlp.address & kSequenceMask, one.sequence);
      marks.push_back(one.packet->tlp.address);
      buffer.sent(last);
    }
    return marks;
  }

  bool begin_and_replay() {
    const bool rolled_over = buffer_.start_replay();
    replay(buffer_, ns(30));
    return rolled_over;
  }

  PacketPool pool_;
  std::uint64_t mark_ = 0;
  ReplayBuffer buffer_{kRoomForAll, kTimeout};
};

TEST_F(ReplayBufferTest, LNK_7_1_NumbersStartAtZeroAndWrapAt4096) {
  for (unsigned i = 0; i < 10'000; ++i) {
    EXPECT_EQ(buffer_.push(test::packet(pool_, TlpType::kMWr), kBytes), i & kSequenceMask);
    EXPECT_TRUE(buffer_.acknowledge(static_cast<std::uint16_t>(i & kSequenceMask), ns(1)));
    EXPECT_TRUE(buffer_.empty());
  }
}

TEST_F(ReplayBufferTest, LNK_7_2_NoTlpIsTakenWhile2048NumbersAreOpen) {
  send(buffer_, 2046);
  EXPECT_TRUE(buffer_.has_room(kBytes));
  send(buffer_, 1);  // NEXT_TRANSMIT_SEQ - ACKD_SEQ is 2048 now
  EXPECT_FALSE(buffer_.has_room(kBytes));
  buffer_.acknowledge(0, ns(20));
  EXPECT_TRUE(buffer_.has_room(kBytes));
}

TEST_F(ReplayBufferTest, LNK_7_3_EveryTlpTakesItsRoomUntilItIsAcknowledged) {
  ReplayBuffer small(3 * kBytes, kTimeout);
  send(small, 3);
  EXPECT_FALSE(small.has_room(1));
  small.acknowledge(1, ns(20));
  EXPECT_TRUE(small.has_room(2 * kBytes));
  EXPECT_FALSE(small.has_room(2 * kBytes + 1));
}

TEST_F(ReplayBufferTest, LNK_7_8_NumbersOutsideTheWindowAreDropped) {
  send(buffer_, 10);
  buffer_.acknowledge(3, ns(20));
  for (const std::uint16_t number : std::vector<std::uint16_t>{10, 11, 2000, 2057}) {  // never sent
    EXPECT_FALSE(buffer_.acknowledge(number, ns(21))) << number;
  }
  for (const std::uint16_t number :
       std::vector<std::uint16_t>{2, 0, 0xfff}) {  // acknowledged before
    EXPECT_FALSE(buffer_.acknowledge(number, ns(21))) << number;
  }
  EXPECT_EQ(buffer_.size(), 6U);
  EXPECT_TRUE(buffer_.acknowledge(3, ns(22)));  // the same again is in the window
  EXPECT_TRUE(buffer_.acknowledge(9, ns(23)));
}

TEST_F(ReplayBufferTest, LNK_7_9_AckFreesAllUpToItsNumberAndStartsTheTimerAnew) {
  send(buffer_, 5, ns(10));
  EXPECT_EQ(buffer_.deadline(), ns(610));
  buffer_.acknowledge(2, ns(100));
  EXPECT_EQ(buffer_.size(), 2U);
  EXPECT_EQ(buffer_.deadline(), ns(700));
  buffer_.acknowledge(2, ns(200));
  EXPECT_EQ(buffer_.size(), 2U);
  EXPECT_EQ(buffer_.deadline(), ns(700));
  buffer_.acknowledge(4, ns(300));
  EXPECT_EQ(buffer_.deadline(), Time::never());
}

TEST_F(ReplayBufferTest, LNK_7_9_ProgressSetsReplayNumBack) {
  send(buffer_, 2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(begin_and_replay());
  }
  buffer_.acknowledge(0, ns(20));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(begin_and_replay());
  }
  EXPECT_TRUE(buffer_.start_replay());
}

TEST_F(ReplayBufferTest, LNK_7_10_NakSendsAllThatIsLeftOldestFirst) {
  send(buffer_, 6);
  buffer_.acknowledge(1, ns(20));
  buffer_.start_replay();
  EXPECT_EQ(replay(buffer_, ns(30)), (std::vector<std::uint64_t>{2, 3, 4, 5}));
  EXPECT_EQ(buffer_.replay_events(), 1U);
  // The next new TLP goes on where the numbers were.
  EXPECT_EQ(buffer_.push(test::packet(pool_, TlpType::kMWr), kBytes), 6);
}

TEST_F(ReplayBufferTest, LNK_7_10_AckDuringAReplayShortensIt) {
  send(buffer_, 6);
  buffer_.start_replay();
  EXPECT_EQ(buffer_.next_replay().sequence, 0);
  buffer_.acknowledge(3, ns(20));
  EXPECT_EQ(replay(buffer_, ns(30)), (std::vector<std::uint64_t>{4, 5}));
}

TEST_F(ReplayBufferTest, LNK_7_11_TimerStartsWithTheLastSymbolOfTheFirstTlpOnly) {
  EXPECT_EQ(buffer_.deadline(), Time::never());
  send(buffer_, 1, ns(10));
  send(buffer_, 1, ns(50));
  EXPECT_EQ(buffer_.deadline(), ns(610));
}

TEST_F(ReplayBufferTest, LNK_7_12_TimerIsHeldUntilTheFirstTlpOfAReplayHasLeft) {
  send(buffer_, 4);
  buffer_.start_replay();
  EXPECT_EQ(buffer_.deadline(), Time::never());
  buffer_.acknowledge(0, ns(100));  // progress does not start it either
  EXPECT_EQ(buffer_.deadline(), Time::never());
  buffer_.next_replay();
  buffer_.sent(ns(200));
  EXPECT_EQ(buffer_.deadline(), ns(800));
}

TEST_F(ReplayBufferTest, LNK_7_13_AReplaySendsEverythingAgain) {
  send(buffer_, 3);
  EXPECT_FALSE(buffer_.start_replay());
  EXPECT_EQ(replay(buffer_, ns(700)), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(buffer_.deadline(), ns(1'300));
}

TEST_F(ReplayBufferTest, LNK_7_14_EveryFourthReplayWithoutProgressAsksForRecovery) {
  send(buffer_, 1);
  for (int round = 0; round < 3; ++round) {
    EXPECT_FALSE(begin_and_replay());
    EXPECT_FALSE(begin_and_replay());
    EXPECT_FALSE(begin_and_replay());
    EXPECT_TRUE(begin_and_replay());
  }
}

TEST_F(ReplayBufferTest, LNK_7_14_FourReplaysByNakWithoutProgressAskForRecovery) {
  send(buffer_, 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(buffer_.acknowledge(0xfff, ns(20)));  // the Nak of nothing yet
    EXPECT_FALSE(buffer_.start_replay());
    replay(buffer_, ns(30));
  }
  EXPECT_TRUE(buffer_.start_replay());
}

TEST_F(ReplayBufferTest, LNK_7_14_ProgressInANakSetsBack) {
  send(buffer_, 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(buffer_.start_replay());
    replay(buffer_, ns(30));
  }
  buffer_.acknowledge(0, ns(40));
  for (int i = 0; i < 3; ++i) {  // the first is that of the Nak which brought the progress
    EXPECT_FALSE(buffer_.start_replay());
    replay(buffer_, ns(50));
  }
  EXPECT_TRUE(buffer_.start_replay());
}

TEST_F(ReplayBufferTest, LNK_7_14_TwoNaksBeforeTheReplayBeginsAreOneReplay) {
  send(buffer_, 3);
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(buffer_.start_replay());
  }
  EXPECT_EQ(buffer_.replay_events(), 1U);
}

TEST_F(ReplayBufferTest, LNK_11_6_NumbersOfFlitsRunFrom1To1023) {
  ReplayBuffer flits(kRoomForAll, kTimeout, SequenceSpace::of_flits());
  for (unsigned i = 0; i < 5'000; ++i) {
    const std::uint16_t number = flits.push(test::packet(pool_, TlpType::kMWr), kBytes);
    EXPECT_EQ(number, i % 1023 + 1);
    EXPECT_FALSE(flits.acknowledge(0, ns(1)));  // reserved
    EXPECT_TRUE(flits.acknowledge(number, ns(1)));
    EXPECT_TRUE(flits.empty());
  }
}

// Wherever in the ring the oldest stands.
TEST_F(ReplayBufferTest, LNK_11_6_At511OpenNumbersNoNewFlitIsTaken) {
  for (const unsigned first : {1U, 513U, 1'000U, 1'023U}) {
    ReplayBuffer flits(kRoomForAll, kTimeout, SequenceSpace::of_flits());
    for (unsigned i = 1; i < first; ++i) {
      flits.acknowledge(flits.push(test::packet(pool_, TlpType::kMWr), kBytes), ns(1));
    }
    for (int i = 0; i < 511; ++i) {
      ASSERT_TRUE(flits.has_room(kBytes)) << first << ", " << i;
      flits.push(test::packet(pool_, TlpType::kMWr), kBytes);
    }
    EXPECT_FALSE(flits.has_room(kBytes)) << first;
    flits.start_replay();
    EXPECT_EQ(flits.next_replay().sequence, first);
    EXPECT_EQ(flits.next_replay().sequence, first % 1023 + 1);
    EXPECT_EQ(flits.size(), 511U);
    EXPECT_TRUE(flits.acknowledge(static_cast<std::uint16_t>((first + 509) % 1023 + 1), ns(2)));
    EXPECT_TRUE(flits.empty());
  }
}

TEST_F(ReplayBufferTest, LNK_10_3_AfterRecoveryEverythingGoesAgainAndCountsAsOneReplay) {
  send(buffer_, 3);
  buffer_.start_replay();
  buffer_.recovered();
  EXPECT_EQ(buffer_.replay_events(), 1U);
  EXPECT_EQ(replay(buffer_, ns(900)), (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST_F(ReplayBufferTest, ReplaysStayRightAcrossTheWrap) {
  for (int i = 0; i < 4'090; ++i) {
    send(buffer_, 1);
    buffer_.acknowledge(static_cast<std::uint16_t>(i), ns(20));
  }
  send(buffer_, 20);
  buffer_.start_replay();
  EXPECT_EQ(replay(buffer_, ns(30)).size(), 20U);
  EXPECT_TRUE(buffer_.acknowledge((4'090 + 14) & kSequenceMask, ns(40)));
  EXPECT_EQ(buffer_.size(), 5U);
}

}  // namespace
}  // namespace flitwise::replay_buffer_test
