// SPDX-License-Identifier: Apache-2.0
// When credits of one context are returned, and how many.
#include <gtest/gtest.h>

#include "unit/pio/send_bench.h"

namespace flitwise::credits_test {
namespace {

using test::packet_block;
using test::pbc_of;
using test::SendBench;

constexpr unsigned kContext = 9;

struct CreditsBench : SendBench {
  explicit CreditsBench(std::uint16_t threshold, unsigned depth = 64, bool early = false) {
    set_up(kContext, {0, depth, threshold, early, false});
  }
  /// A packet is filled and launched.
  void put(unsigned blocks, unsigned vl, bool returns_credits = false) {
    fill(kContext, blocks, vl, returns_credits);
    launch();
  }
  std::vector<std::uint64_t> qws() const {
    std::vector<std::uint64_t> words;
    for (const CreditReturn& one : returns) {
      words.push_back(one.qws[kContext % 8]);
    }
    return words;
  }
};

using Words = std::vector<std::uint64_t>;

// [PIO-7.2, 7.7]
TEST(Credits, PIO_040_FigureSeven) {
  constexpr unsigned j = 4;
  CreditsBench bench(1);
  bench.set_up(20, {64, 16, 1, false, false});
  bench.put(2, 0);
  bench.send(0);
  bench.returns.clear();
  bench.put(j, 0);
  bench.put(3, 1);
  bench.fill(20, 2, 2);
  bench.launch();
  bench.send(1);
  bench.send(2);
  ASSERT_EQ(bench.returns.size(), 1U);
  EXPECT_EQ(bench.last_qw(20), 2U | kDueToThreshold);
  bench.send(0);
  ASSERT_EQ(bench.returns.size(), 2U);
  EXPECT_EQ(bench.last_qw(kContext), (2U + j + 3U) | kDueToThreshold);
}

// [PIO-7.3] One return at 8 of 11 blocks; PbcCreditReturn waits for the last one.
TEST(Credits, PIO_12_25_BlocksThatAreClearedOneByOneMeetTheThreshold) {
  CreditsBench bench(8);
  bench.put(11, 0, true);
  bench.commit(0);
  for (unsigned i = 0; i < 10; ++i) {
    bench.clear_block(0);
  }
  EXPECT_EQ(bench.qws(), (Words{8U | kDueToThreshold}));
  EXPECT_EQ(bench.context(kContext).pending(), 2U);
  ASSERT_NE(bench.engine.leaving(0), nullptr);
  bench.clear_block(0);
  EXPECT_EQ(bench.engine.leaving(0), nullptr);
  EXPECT_EQ(bench.qws(), (Words{8U | kDueToThreshold, 11U | kDueToPbc}));
  bench.clear_block(0);  // nothing leaves
  EXPECT_EQ(bench.context(kContext).freed(), 11U);
}
// [PIO-7.2] They count once all before them do.
TEST(Credits, PIO_12_25_BlocksBehindAnOlderPacketWaitForIt) {
  CreditsBench bench(1);
  bench.put(1, 0);
  bench.put(4, 1);
  bench.commit(1);
  bench.clear_block(1);
  bench.clear_block(1);
  EXPECT_TRUE(bench.returns.empty());
  bench.send(0);
  EXPECT_EQ(bench.qws(), (Words{3U | kDueToThreshold}));
  bench.clear_block(1);
  EXPECT_EQ(bench.last_qw(kContext), 4U | kDueToThreshold);
}
// A block that is free takes the next packet while the rest of the old one is still to be read.
TEST(Credits, PIO_12_25_ABlockIsFilledAgainWhileItsPacketLeaves) {
  CreditsBench bench(1, 4);
  bench.put(4, 0);
  bench.commit(0);
  bench.clear_block(0);
  bench.put(1, 1);
  bench.send(1);
  EXPECT_FALSE(bench.context(kContext).is_halted());
  EXPECT_EQ(bench.last_qw(kContext), 1U | kDueToThreshold) << "the older packet is not out";
  bench.fill(kContext, 1, 1);
  EXPECT_TRUE(bench.has(kContext, SendError::kWriteOverflow)) << "that block is not free";
}
// With early return writes wait for the block that they name, not for the whole packet. [PIO-7.5]
TEST(Credits, PIO_12_25_WithEarlyReturnAWriteWaitsForItsBlockAlone) {
  CreditsBench bench(1, 4, true);
  bench.put(4, 0);
  bench.commit(0);
  bench.fill(kContext, 1, 1);
  EXPECT_EQ(bench.engine.next_source(), LaunchArbiter::kNone) << "it waits";
  bench.clear_block(0);
  EXPECT_EQ(bench.engine.next_source(), kContext);
  EXPECT_EQ(bench.returns.size(), 1U) << "nothing becomes free twice";
}

// [PIO-7.2]
TEST(Credits, PIO_041_GapsAreClosedFromTheOldestOn) {
  CreditsBench bench(1);
  bench.put(1, 0);
  bench.put(2, 1);
  bench.put(4, 2);
  for (const unsigned vl : {2U, 0U, 1U}) {
    bench.send(vl);
  }
  EXPECT_EQ(bench.qws(), (Words{1U | kDueToThreshold, 7U | kDueToThreshold}));
}

// [PIO-7.3]
TEST(Credits, PIO_053_054_ReturnComesWithTheThreshold) {
  CreditsBench bench(8);
  for (const unsigned blocks : {2U, 5U, 1U, 11U}) {
    bench.put(blocks, 0);
    bench.send(0);
  }
  EXPECT_EQ(bench.qws(), (Words{8U | kDueToThreshold, 19U | kDueToThreshold}));
  EXPECT_EQ(bench.context(kContext).pending(), 0U);
}

// [PIO-12.7]
TEST(Credits, PIO_055_ThresholdOf0ReturnsNothing) {
  CreditsBench bench(0);
  bench.put(40, 0);
  bench.send(0);
  EXPECT_TRUE(bench.returns.empty());
  EXPECT_EQ(bench.context(kContext).pending(), 40U);
}

// [PIO-12.17, 12.20]
TEST(Credits, PIO_057_LowerThresholdWaitsForTheNextFreeBlockOrForce) {
  for (const bool forces : {false, true}) {
    CreditsBench bench(20);
    bench.put(5, 0);
    bench.send(0);
    bench.engine.set_threshold(kContext, 3);
    bench.put(1, 0);
    bench.put(1, 1);
    bench.send(1);  // behind a gap: nothing is free with that
    EXPECT_TRUE(bench.returns.empty());
    if (forces) {
      bench.force(kContext, true);
      EXPECT_EQ(bench.qws(), (Words{5U | kDueToThreshold | kDueToForce}));
    } else {
      bench.send(0);
      EXPECT_EQ(bench.qws(), (Words{7U | kDueToThreshold}));
    }
  }
}

// [PIO-7.3, 12.6]
TEST(Credits, PIO_059_060_PbcAsksWhenTheCounterCoversItsPacket) {
  CreditsBench bench(500);
  bench.put(2, 0);
  bench.put(1, 1, true);
  bench.send(1);
  EXPECT_TRUE(bench.returns.empty());
  bench.send(0);
  EXPECT_EQ(bench.qws(), (Words{3U | kDueToPbc}));
  bench.put(1, 0, true);
  bench.send(0);
  EXPECT_EQ(bench.qws().back(), 4U | kDueToPbc);
}

// [PIO-7.6, 12.20]
TEST(Credits, CausesThatComeTogetherAreOneReturn) {
  CreditsBench bench(2);
  bench.put(2, 0, true);
  bench.send(0);
  EXPECT_EQ(bench.qws(), (Words{2U | kDueToPbc | kDueToThreshold}));
  bench.put(2, 0, true);
  bench.commit(0, false);
  EXPECT_EQ(bench.qws().back(), 4U | kDueToPbc | kDueToThreshold | kDueToError | kCreditStatus);
}

// [PIO-7.4]
TEST(Credits, PIO_061_062_ForceIsAnEdge) {
  CreditsBench bench(0);
  bench.force(kContext, true);
  bench.force(kContext, true);
  EXPECT_EQ(bench.qws(), (Words{kDueToForce}));
  bench.force(kContext, false);
  bench.force(kContext, true);
  EXPECT_EQ(bench.returns.size(), 2U);
  bench.force(30, true);  // a context that nobody has set up
  EXPECT_EQ(bench.returns.size(), 2U);
}

// [PIO-7.1]
TEST(Credits, PIO_034_048_049_CountersRunOnModulo2048) {
  CreditsBench bench(1, 3);
  bench.set_up(20, {16, 1024, 1, false, false});
  for (unsigned i = 1; i <= 1667; ++i) {
    bench.put(3, 0);
    bench.send(0);
    ASSERT_EQ(bench.last_qw(kContext), (3 * i % kCreditRing) | kDueToThreshold);
  }
  for (unsigned i = 1; i <= 16; ++i) {
    bench.fill(20, 160, 1);
    bench.launch();
    bench.send(1);
    ASSERT_EQ(bench.last_qw(20), (160 * i % kCreditRing) | kDueToThreshold);
  }
}

// [PIO-7.5, 12.18]
TEST(Credits, PIO_063_EarlyReturnComesWithTheCommit) {
  CreditsBench bench(4, 64, true);
  bench.put(4, 0);
  bench.commit(0);
  EXPECT_EQ(bench.qws(), (Words{4U | kDueToThreshold}));
  bench.clear(0);
  EXPECT_EQ(bench.returns.size(), 1U);
}

// [PIO-7.2, 7.5]
TEST(Credits, EarlyReturnWaitsForOlderPackets) {
  CreditsBench bench(1, 64, true);
  bench.put(2, 0);
  bench.put(3, 1);
  bench.commit(1);
  bench.clear(1);
  EXPECT_TRUE(bench.returns.empty());
  bench.commit(0);
  EXPECT_EQ(bench.qws(), (Words{5U | kDueToThreshold}));
  bench.clear(0);
  bench.fill(kContext, 62, 2);
  EXPECT_FALSE(bench.context(kContext).is_halted());
}

// [PIO-7.5, 12.22, 12.30]
TEST(Credits, PIO_064_WritesWaitUntilTheOldPacketIsOut) {
  CreditsBench bench(1, 4, true);
  bench.write_packet(kContext, 0, pbc_of(4), 1);
  bench.launch();
  bench.commit(0);
  ASSERT_EQ(bench.qws(), (Words{4U | kDueToThreshold}));
  const std::vector<std::uint8_t> before = bench.engine.bytes_of(*bench.engine.leaving(0));
  bench.write_packet(kContext, 0, pbc_of(3, 1), 2);
  EXPECT_EQ(bench.engine.bytes_of(*bench.engine.leaving(0)), before);
  EXPECT_EQ(bench.engine.next_source(), LaunchArbiter::kNone);
  EXPECT_FALSE(bench.context(kContext).is_halted());
  bench.clear(0);
  EXPECT_EQ(bench.engine.next_source(), kContext);
  bench.launch();
  bench.commit(1);
  const std::vector<std::uint8_t> bytes = bench.engine.bytes_of(*bench.engine.leaving(1));
  EXPECT_EQ(bytes.at(64 - 8 + 5), packet_block(pbc_of(3, 1), 1, 2)[5]);
}

// [PIO-9.3, 9.4]
TEST(Credits, WritesThatWaitAreHeldAgainstEachOther) {
  for (const bool sop_differs : {false, true}) {
    CreditsBench bench(1, 1, true);
    bench.put(1, 0);
    bench.commit(0);
    bench.write(kContext, 0, 8, true, std::vector<std::uint8_t>(8, 1));
    bench.write(kContext, 0, sop_differs ? 16 : 8, !sop_differs, std::vector<std::uint8_t>(8, 2));
    EXPECT_EQ(bench.has(kContext, SendError::kWriteOverflow), !sop_differs);
    EXPECT_EQ(bench.has(kContext, SendError::kInconsistentSop), sop_differs);
  }
}

TEST(Credits, FillOfMoreThanWaitsHalts) {
  CreditsBench bench(1, 2, true);
  bench.put(2, 0);
  bench.commit(0);
  bench.fill(kContext, 2, 0);
  EXPECT_FALSE(bench.context(kContext).is_halted());
  bench.fill(kContext, 1, 0);
  EXPECT_TRUE(bench.has(kContext, SendError::kWriteOverflow));
  bench.clear(0);  // what waits is lost with the halt
  EXPECT_EQ(bench.engine.next_source(), LaunchArbiter::kNone);
}

// [PIO-9.4]
TEST(Credits, WaitingWriteThatDoesNotFitIsFoundWhenItIsDone) {
  CreditsBench bench(1, 2, true);
  bench.put(1, 0);
  bench.put(1, 1);
  bench.commit(0);
  bench.write(kContext, 0, 0, false, std::vector<std::uint8_t>(64, 0));
  EXPECT_FALSE(bench.context(kContext).is_halted());
  bench.clear(0);
  EXPECT_TRUE(bench.has(kContext, SendError::kInconsistentSop));
  EXPECT_EQ(bench.qws(), (Words{1U | kDueToThreshold, 1U | kCreditStatus | kDueToError}));
}

// [PIO-7.5]
TEST(Credits, PIO_065_EarlyReturnMayBeTurnedOnAndOffUnderTraffic) {
  CreditsBench bench(1, 64, true);
  bench.put(1, 0);
  bench.put(2, 1);
  bench.put(4, 2);
  bench.commit(0);
  bench.engine.set_early_return(kContext, false);
  bench.commit(1);
  bench.clear(0);
  bench.engine.set_early_return(kContext, true);
  bench.clear(1);
  bench.commit(2);
  bench.clear(2);
  EXPECT_EQ(bench.qws(), (Words{1U | kDueToThreshold, 3U | kDueToThreshold, 7U | kDueToThreshold}));
  bench.engine.set_early_return(100, true);  // a context that nobody has set up
  EXPECT_FALSE(bench.context(100).is_enabled());
}

// [PIO-12.38]
TEST(Credits, PIO_095_DroppedPacketIsCountedOnceAndIsOneReturn) {
  CreditsBench bench(1, 64, true);
  bench.put(4, 0);
  bench.commit(0, false);
  EXPECT_EQ(bench.qws(), (Words{4U | kCreditStatus | kDueToError | kDueToThreshold}));
  bench.clear(0);
  EXPECT_EQ(bench.context(kContext).freed(), 4U);
}

// [PIO-12.8]
TEST(Credits, PIO_094_ErrorReturnDoesNotWaitForAnOlderPacket) {
  CreditsBench bench(1);
  bench.put(2, 0);
  bench.put(3, 1);
  bench.commit(1, false);
  EXPECT_EQ(bench.qws(), (Words{kCreditStatus | kDueToError}));
  bench.send(0);
  EXPECT_EQ(bench.context(kContext).freed(), 5U);
  EXPECT_EQ(bench.returns.size(), 1U);
}

// [PIO-12.14]
TEST(Credits, PIO_082_LaunchedPacketsOfAHaltedContextLeave) {
  CreditsBench bench(1, 8);
  bench.put(2, 0);
  bench.fill(kContext, 1, 1);
  bench.write(kContext, 9, true, packet_block(pbc_of(1), 0));
  bench.commit(0);
  EXPECT_NE(bench.engine.leaving(0), nullptr);
  bench.clear(0);
  EXPECT_EQ(bench.qws(), (Words{kCreditStatus | kDueToError}));
}

// [PIO-7.3]
TEST(Credits, PIO_093_FigureEight) {
  for (const unsigned j : {1U, 4U, 10U}) {
    CreditsBench bench(static_cast<std::uint16_t>(j + 1));
    bench.put(j, 0);
    bench.put(3, 1);
    bench.send(0);
    EXPECT_TRUE(bench.returns.empty());
    bench.send(1);
    EXPECT_EQ(bench.qws(), (Words{(j + 3) | kDueToThreshold}));
  }
}

}  // namespace
}  // namespace flitwise::credits_test
