// SPDX-License-Identifier: Apache-2.0
// Which packet is launched next, and which leaves next.
#include <gtest/gtest.h>

#include "unit/pio/send_bench.h"

namespace flitwise::launch_test {
namespace {

using test::SendBench;

// [PIO-6.1, 6.2, 12.15]
TEST(Launch, PIO_044_EachOf176SourcesIsGrantedOnceARound) {
  SendBench bench;
  for (unsigned i = 0; i < kSendContexts; ++i) {
    bench.set_up(i, {i * 8, 8, 1, false, false});
    bench.fill(i, 1, 0);
    bench.fill(i, 1, 0);
  }
  for (unsigned i = 0; i < kSdmaEngines; ++i) {
    bench.engine.sdma_fill(i, 1, 0);
    bench.engine.sdma_fill(i, 1, 0);
  }
  for (unsigned i = 0; i < 2 * kPioSources; ++i) {
    EXPECT_EQ(bench.engine.next_source(), i % kPioSources);
    bench.launch();
  }
  EXPECT_EQ(bench.engine.next_source(), LaunchArbiter::kNone);
}

// [PIO-12.15]
TEST(Launch, TurnGoesOnBehindTheLastGrant) {
  SendBench bench;
  for (const unsigned i : {3U, 70U}) {
    bench.set_up(i, {i * 8, 8, 1, false, false});
    bench.fill(i, 1, 0);
  }
  bench.engine.sdma_fill(15, 1, 0);
  bench.launch();
  bench.fill(3, 1, 0);
  EXPECT_EQ(bench.engine.next_source(), 70U);
  bench.launch();
  EXPECT_EQ(bench.engine.next_source(), 175U);
  bench.launch();
  EXPECT_EQ(bench.engine.next_source(), 3U);
}

// [PIO-6.3, 12.27]
TEST(Launch, PIO_043_FullFifoHoldsItsSourceAlone) {
  SendBench bench;
  bench.engine.set_launch_fifo_packets(1);
  bench.set_up(0, {0, 8, 1, false, false});
  bench.set_up(1, {8, 8, 1, false, false});
  bench.fill(0, 1, 0);
  bench.fill(0, 1, 0);
  bench.fill(0, 1, 1);
  bench.fill(1, 1, 1);
  bench.launch(3);
  EXPECT_EQ(bench.engine.launch_fifos().size(0), 1U);
  EXPECT_EQ(bench.engine.launch_fifos().size(1), 1U);
  EXPECT_EQ(bench.engine.launch_fifos().front(1).source, 1U);
  bench.commit(0);
  EXPECT_EQ(bench.engine.next_source(), 0U);
}

// [PIO-6.4, 6.9]
TEST(Launch, PIO_042_045_PacketsOfAVlLeaveInTheOrderOfLaunch) {
  SendBench bench;
  bench.set_up(0, {0, 8, 1, false, false});
  bench.fill(0, 2, 4);
  bench.engine.sdma_fill(2, 3, 4);
  bench.fill(0, 1, 4);
  bench.launch(3);
  std::vector<std::pair<unsigned, std::uint64_t>> seen;
  for (int i = 0; i < 3; ++i) {
    bench.commit(4);
    seen.emplace_back(bench.engine.leaving(4)->source, bench.engine.leaving(4)->place);
    bench.clear(4);
  }
  EXPECT_EQ(seen, (std::vector<std::pair<unsigned, std::uint64_t>>{{0, 0}, {162, 0}, {0, 2}}));
  EXPECT_EQ(bench.returns.size(), 2U);  // none for the packet of SDMA
}

// [PIO-6.6, 6.8]
TEST(Launch, BusyOrEmptyVlCommitsNothing) {
  SendBench bench;
  bench.set_up(0, {0, 8, 1, false, false});
  bench.fill(0, 1, 0);
  bench.fill(0, 1, 0);
  bench.launch(2);
  bench.commit(1);
  bench.commit(9);
  EXPECT_EQ(bench.engine.leaving(1), nullptr);
  EXPECT_EQ(bench.engine.leaving(9), nullptr);
  bench.clear(0);
  bench.commit(0);
  bench.commit(0);
  EXPECT_EQ(bench.engine.leaving(0)->place, 0U);
  EXPECT_EQ(bench.engine.launch_fifos().size(0), 1U);
}

// [PIO-12.5, 12.8]
TEST(Launch, PIO_080_VlsThatAreNoneAreDroppedAtLaunch) {
  for (unsigned vl = 8; vl < 15; ++vl) {
    SendBench bench;
    bench.set_up(0, {0, 8, 0, false, false});
    bench.fill(0, 3, vl);
    EXPECT_TRUE(bench.returns.empty());
    bench.launch();
    EXPECT_TRUE(bench.has(0, SendError::kDisallowedPacket));
    EXPECT_EQ(bench.last_qw(0), 3U | kCreditStatus | kDueToError);
  }
}

// [PIO-12.24]
TEST(Launch, PIO_028_096_PacketsOfUpTo162BlocksAreLaunched) {
  SendBench bench;
  bench.set_up(0, {0, 400, 0, false, false});
  bench.fill(0, 162, 0);
  bench.launch();
  EXPECT_EQ(bench.engine.launch_fifos().size(0), 1U);
  bench.fill(0, 163, 0);
  EXPECT_FALSE(bench.context(0).is_halted());
  bench.launch();
  EXPECT_TRUE(bench.has(0, SendError::kDisallowedPacket));
  EXPECT_EQ(bench.last_qw(0), kCreditStatus | kDueToError);  // the first is still there [PIO-7.2]
}

// [PIO-6.7]
TEST(Launch, PIO_080_VlThatItsContextIsBarredFromIsDroppedAtEgress) {
  SendBench bench;
  bench.set_up(0, {0, 8, 0, false, false});
  bench.engine.set_barred_vls(0, 1U << 3);
  bench.fill(0, 2, 3);
  bench.launch();
  EXPECT_EQ(bench.engine.launch_fifos().size(3), 1U);
  bench.commit(3);
  EXPECT_EQ(bench.engine.leaving(3), nullptr);
  EXPECT_TRUE(bench.has(0, SendError::kDisallowedPacket));
}

// [PIO-12.34, 9.5]
TEST(Launch, PIO_086_DroppedPacketOfSdmaIsAnErrorOfItsEngine) {
  SendBench bench;
  bench.set_up(0, {0, 8, 1, false, false});
  bench.engine.sdma_fill(4, 2, 1);
  bench.engine.sdma_fill(5, 2, 9);
  bench.engine.sdma_fill(4, 5, 1);
  bench.launch(3);
  bench.commit(1, false);
  EXPECT_TRUE(bench.engine.sdma(4).has_error());
  EXPECT_TRUE(bench.engine.sdma(5).has_error());
  EXPECT_FALSE(bench.engine.sdma(6).has_error());
  EXPECT_TRUE(bench.returns.empty());
  bench.commit(1);
  EXPECT_EQ(bench.engine.leaving(1)->place, 2U);  // the engine goes on
}

TEST(Launch, EngineTakesAsManyPacketsAsItsQueueHas) {
  SendBench bench;
  for (unsigned i = 0; i < SdmaQueue::kMostPackets + 5; ++i) {
    bench.engine.sdma_fill(0, 1, 0);
  }
  EXPECT_TRUE(bench.engine.sdma(0).is_full());
  bench.launch(SdmaQueue::kMostPackets);
  EXPECT_FALSE(bench.engine.sdma(0).has_packet());
}

}  // namespace
}  // namespace flitwise::launch_test
