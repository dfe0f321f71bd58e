// SPDX-License-Identifier: Apache-2.0
// Writes that a send engine refuses, what they cost their context, and what they leave alone.
#include <gtest/gtest.h>

#include "unit/pio/send_bench.h"

namespace flitwise::write_checks_test {
namespace {

using test::Block;
using test::packet_block;
using test::pbc_of;
using test::SendBench;

std::vector<std::uint8_t> of_size(std::size_t bytes) {
  return std::vector<std::uint8_t>(bytes, 0xee);
}

// [PIO-2.1, 2.2]
TEST(WriteChecks, PIO_001_002_009_BytesGoToTheBaseOfTheirContext) {
  SendBench bench;
  bench.set_up(0, {0, 64, 1, false, false});
  bench.set_up(159, {15360, 1024, 1, false, false});
  bench.set_up(3, {65, 65, 1, false, false});
  bench.write(0, 0, true, packet_block(pbc_of(2), 0));
  bench.write(159, 1023, false, packet_block(pbc_of(1), 5));
  bench.write(3, 64, false, packet_block(pbc_of(1), 6));
  EXPECT_EQ(bench.engine.memory().bytes(0)[9], packet_block(pbc_of(2), 0)[9]);
  EXPECT_EQ(bench.engine.memory().bytes(16383)[9], packet_block(pbc_of(1), 5)[9]);
  EXPECT_EQ(bench.engine.memory().bytes(65 + 64)[9], packet_block(pbc_of(1), 6)[9]);
  EXPECT_TRUE(bench.returns.empty());
}

// [PIO-2.4]
TEST(WriteChecks, PIO_007_BothAddressesOfABlockNameTheSameBytes) {
  SendBench bench;
  bench.set_up(0, {10, 4, 1, false, false});
  bench.write(0, 1, false, packet_block(pbc_of(1), 7));
  EXPECT_EQ(bench.engine.memory().block(11).qws, 0xffU);
  bench.write(0, 1, true, packet_block(pbc_of(1), 8));
  EXPECT_TRUE(bench.has(0, SendError::kWriteOverflow));  // it goes before SOP
  EXPECT_FALSE(bench.has(0, SendError::kInconsistentSop));
  EXPECT_EQ(bench.engine.memory().bytes(11)[0], packet_block(pbc_of(1), 7)[0]);
}

// [PIO-12.2]
TEST(WriteChecks, PIO_003_004_ContextsThatAreNotThereTakeNothing) {
  SendBench bench;
  bench.set_up(5, {0, 4, 1, false, false});
  bench.write(160, 0, true, packet_block(pbc_of(1), 0));
  bench.write(255, 0, true, packet_block(pbc_of(1), 0));
  bench.write(6, 0, true, packet_block(pbc_of(1), 0));
  bench.engine.disable(5);
  bench.write(5, 0, true, packet_block(pbc_of(1), 0));
  bench.fill(6, 3, 0);
  bench.fill(160, 1, 0);
  EXPECT_EQ(bench.engine.bad_context_writes(), 8U);
  EXPECT_TRUE(bench.returns.empty());
  EXPECT_FALSE(bench.context(5).is_halted());
  EXPECT_EQ(bench.engine.memory().block(0).qws, 0U);
}

// [PIO-9.2, 9.3]
TEST(WriteChecks, ShapeGoesBeforeBoundsAndBoundsBeforeOverflow) {
  const struct {
    unsigned block, byte;
    std::size_t bytes;
    SendError error;
  } cases[] = {
      {4, 56, 16, SendError::kWriteCrossesBoundary}, {0, 4, 8, SendError::kWriteCrossesBoundary},
      {0, 0, 4, SendError::kWriteCrossesBoundary},   {4, 0, 64, SendError::kWriteOutOfBounds},
      {1023, 0, 8, SendError::kWriteOutOfBounds},    {1, 0, 64, SendError::kWriteOverflow},
      {1, 56, 8, SendError::kWriteOverflow}};
  for (const auto& one : cases) {
    SendBench bench;
    bench.set_up(0, {0, 4, 1, false, false});
    bench.write(0, 1, false, packet_block(pbc_of(1), 1));
    bench.write(0, one.block, one.byte, true, of_size(one.bytes));
    for (int error = 0; error < kSendErrors; ++error) {
      EXPECT_EQ(bench.has(0, static_cast<SendError>(error)),
                static_cast<SendError>(error) == one.error)
          << name_of(one.error);
    }
    ASSERT_EQ(bench.returns.size(), 1U);
    EXPECT_EQ(bench.last_qw(0), kCreditStatus | kDueToError);
  }
}

// [PIO-12.32]
TEST(WriteChecks, PIO_015_FirstBytesOfAQwStay) {
  SendBench bench;
  bench.set_up(0, {0, 4, 1, false, false});
  bench.write(0, 1, 8, false, of_size(8));
  bench.write(0, 1, 0, false, std::vector<std::uint8_t>(16, 0x11));
  EXPECT_TRUE(bench.has(0, SendError::kWriteOverflow));
  EXPECT_EQ(bench.engine.memory().block(1).qws, 2U);  // nothing of the second write is kept
  EXPECT_EQ(bench.engine.memory().bytes(1)[8], 0xeeU);
}

// [PIO-5.5, 9.3]
TEST(WriteChecks, ClearedBlockBehindOneThatIsNotIsNoRoom) {
  SendBench bench;
  bench.set_up(0, {0, 2, 1, false, false});
  bench.fill(0, 1, 0);
  bench.fill(0, 1, 1);
  bench.launch(2);
  bench.send(1);
  EXPECT_EQ(bench.context(0).freed(), 0U);
  bench.write(0, 1, true, packet_block(pbc_of(1), 0));
  EXPECT_TRUE(bench.has(0, SendError::kWriteOverflow));
}

// [PIO-9.1, 12.9]
TEST(WriteChecks, PIO_081_HaltedContextIsSilent) {
  SendBench bench;
  bench.set_up(0, {0, 4, 1, false, false});
  bench.fill(0, 1, 0);
  bench.fill(0, 1, 1);
  bench.launch();
  bench.write(0, 4, true, packet_block(pbc_of(1), 0));
  ASSERT_EQ(bench.returns.size(), 1U);
  bench.write(0, 5, true, packet_block(pbc_of(1), 0));
  bench.write(0, 0, 4, true, of_size(3));
  bench.fill(0, 4, 0);
  bench.force(0, true);
  bench.send(0);
  EXPECT_EQ(bench.returns.size(), 1U);
  EXPECT_FALSE(bench.has(0, SendError::kWriteCrossesBoundary));
  EXPECT_EQ(bench.engine.next_source(), LaunchArbiter::kNone);  // [PIO-12.14]
  EXPECT_EQ(bench.context(0).freed(), 1U);
  EXPECT_EQ(bench.context(0).returned(), 0U);
}

// [PIO-12.37]
TEST(WriteChecks, PIO_050_FillWithoutCreditsOverflowsAtTheFirstBlockWithoutRoom) {
  SendBench bench;
  bench.set_up(0, {0, 4, 1, false, false});
  bench.fill(0, 3, 0);
  bench.fill(0, 2, 0);
  EXPECT_TRUE(bench.has(0, SendError::kWriteOverflow));
  EXPECT_EQ(bench.engine.memory().block(3).qws, 0xffU);
  EXPECT_EQ(bench.last_qw(0), kCreditStatus | kDueToError);
}

// [PIO-9.6, 10.1]
TEST(WriteChecks, PIO_083_RestartBeginsAtBlock0WithCountersAt0) {
  SendBench bench;
  bench.set_up(0, {8, 4, 1, false, false});
  bench.fill(0, 3, 0);
  bench.launch();
  bench.send(0);
  bench.write(0, 9, true, packet_block(pbc_of(1), 0));
  ASSERT_TRUE(bench.context(0).is_halted());
  bench.engine.restart(0);
  EXPECT_FALSE(bench.context(0).is_halted());
  EXPECT_EQ(bench.context(0).freed(), 0U);
  EXPECT_EQ(bench.context(0).returned(), 0U);
  bench.write_packet(0, 0, pbc_of(2));
  bench.launch();
  bench.send(0);
  EXPECT_EQ(bench.last_qw(0), 2U | kDueToThreshold);
}

// [PIO-12.36]
TEST(WriteChecks, PacketsOfAnEarlierLifeLeaveAndFreeNothing) {
  SendBench bench;
  bench.set_up(0, {0, 4, 1, true, false});
  bench.fill(0, 2, 0);
  bench.fill(0, 1, 1);
  bench.fill(0, 1, 2);
  bench.launch(3);
  bench.commit(0);
  bench.returns.clear();
  bench.engine.restart(0);
  bench.fill(0, 2, 3);
  bench.clear(0);
  bench.commit(1);
  EXPECT_NE(bench.engine.leaving(1), nullptr);
  bench.clear(1);
  bench.commit(2, false);
  EXPECT_TRUE(bench.returns.empty());
  EXPECT_FALSE(bench.context(0).is_halted());
  EXPECT_EQ(bench.context(0).freed(), 0U);
  bench.launch();
  bench.send(3);
  EXPECT_EQ(bench.last_qw(0), 2U | kDueToThreshold);
}

// [PIO-12.31]
TEST(WriteChecks, PIO_008_ContextsNeitherOverlapNorReachPastMemory) {
  SendBench bench;
  bench.set_up(1, {100, 50, 1, false, false});
  const auto is_fine = [&](unsigned context, unsigned base, unsigned depth) {
    return bench.engine.setup_flaw(context, {base, depth, 1, false, false}).empty();
  };
  EXPECT_TRUE(is_fine(2, 150, 1));
  EXPECT_TRUE(is_fine(2, 99, 1));
  EXPECT_FALSE(is_fine(2, 99, 2));
  EXPECT_FALSE(is_fine(2, 149, 1));
  EXPECT_FALSE(is_fine(2, 0, 1000));
  EXPECT_TRUE(is_fine(1, 120, 50));  // itself, anew
  EXPECT_TRUE(is_fine(2, 15360, 1024));
  EXPECT_FALSE(is_fine(2, 15361, 1024));
  EXPECT_FALSE(is_fine(2, 0, 0));
  EXPECT_FALSE(is_fine(2, 200, 1025));
  bench.engine.disable(1);
  EXPECT_TRUE(is_fine(2, 100, 50));
}

}  // namespace
}  // namespace flitwise::write_checks_test
