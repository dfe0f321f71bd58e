// SPDX-License-Identifier: Apache-2.0
// States, verbs and completions of a queue pair. Corner cases of the same rules are in
// tests/cases/rdma.
#include <gtest/gtest.h>

#include "unit/rdma/rdma_bench.h"

namespace flitwise::queue_pair_test {
namespace {

using test::RdmaBench;

// [VB-3]
TEST(QueuePair, VB_3_StatesGoToTheirNeighboursAlone) {
  const std::string expected[kQpStates] = {"RESET INIT ERR",    "RESET INIT RTR ERR",
                                           "RESET RTS ERR",     "RESET RTS SQD ERR",
                                           "RESET RTS SQD ERR", "RESET ERR"};
  for (int from = 0; from < kQpStates; ++from) {
    std::string next;
    for (int to = 0; to < kQpStates; ++to) {
      if (may_move(static_cast<QpState>(from), static_cast<QpState>(to))) {
        next += (next.empty() ? "" : " ") + std::string(name_of(static_cast<QpState>(to)));
      }
    }
    EXPECT_EQ(next, expected[from]);
  }
}

// [VB-1, VB-C11]
TEST(QueuePair, VB_3_WhatEachStateTakes) {
  RdmaBench bench;
  QueuePair& pair = bench.ends[0].pair();
  EXPECT_EQ(pair.post_receive({1, {}}), PostResult::kWrongState);
  EXPECT_FALSE(pair.modify(QpState::kRts));
  for (const QpState state : {QpState::kInit, QpState::kRtr}) {
    ASSERT_TRUE(pair.modify(state));
    EXPECT_EQ(pair.post_receive({1, {}}), PostResult::kTaken);
    EXPECT_EQ(bench.post(WorkOpcode::kSend, 1), PostResult::kWrongState);
  }
  ASSERT_TRUE(pair.modify(QpState::kRts));
  EXPECT_EQ(bench.post(WorkOpcode::kSend, 1), PostResult::kTaken);
}

// [VB-3]: a message that has begun goes on, the next one waits.
TEST(QueuePair, VB_3_AQueueThatDrainsBeginsNothing) {
  RdmaBench bench([](RdmaEndSetup& setup) { setup.pair.window = 1; });
  bench.connect();
  bench.post(WorkOpcode::kWrite, 512, 1);
  bench.post(WorkOpcode::kWrite, 256, 2);
  bench.send(0);
  ASSERT_TRUE(bench.ends[0].pair().modify(QpState::kSqd));
  bench.ends[0].pair().time_out();  // the first packet has asked for no ACK
  bench.send(0);
  EXPECT_EQ(bench.wire[1].size(), 2U);
  EXPECT_EQ(bench.ends[0].pair().requester().waiting(), 2U);
  EXPECT_EQ(bench.post(WorkOpcode::kWrite, 1, 3), PostResult::kTaken);
  bench.run();
  EXPECT_EQ(bench.polled(0), "1 SUCCESS");
  EXPECT_EQ(bench.ends[0].pair().requester().waiting(), 2U);
  ASSERT_TRUE(bench.ends[0].pair().modify(QpState::kRts));
  bench.run();
  EXPECT_EQ(bench.polled(0), "2 SUCCESS, 3 SUCCESS");
}

// [VB-8] [VB-C6]
TEST(QueuePair, VB_8_ErrorFlushesInOrderBehindWhatFailed) {
  RdmaBench bench;
  bench.connect();
  bench.receive(64, 100);
  bench.receive(64, 101);
  bench.post(WorkOpcode::kWrite, 8, 1);
  SendWork bad = bench.work(WorkOpcode::kWrite, 8, 2);
  bad.is_signaled = false;
  bad.remote_key ^= 1;
  bench.post(bad);
  bench.post(WorkOpcode::kSend, 8, 3);
  bench.post(WorkOpcode::kRead, 8, 4);
  bench.run();
  EXPECT_EQ(bench.polled(0), "1 SUCCESS, 2 REM_ACCESS_ERR, 3 WR_FLUSH_ERR, 4 WR_FLUSH_ERR");
  EXPECT_EQ(bench.polled(1), "100 WR_FLUSH_ERR, 101 WR_FLUSH_ERR");
  EXPECT_EQ(bench.state(0), QpState::kError);
  EXPECT_EQ(bench.state(1), QpState::kError);
  bench.post(WorkOpcode::kSend, 8, 5);
  EXPECT_EQ(bench.polled(0), "5 WR_FLUSH_ERR");
}

// [VB-8]: buffers that others use as well stay.
TEST(QueuePair, VB_8_ASharedReceiveQueueIsNotFlushed) {
  RdmaBench bench([](RdmaEndSetup& setup) { setup.shares_buffers = true; });
  bench.connect();
  bench.receive(64);
  ASSERT_TRUE(bench.ends[1].pair().modify(QpState::kError));
  EXPECT_EQ(bench.polled(1), "");
  EXPECT_EQ(bench.ends[1].buffers().size(), 1U);
}

// [HP-7]: LOC_PROT_ERR, no packet, and in order.
TEST(QueuePair, HP_7_ALocalKeyThatIsWrongWaitsForItsTurn) {
  RdmaBench bench;
  bench.connect();
  SendWork bad = bench.work(WorkOpcode::kWrite, 8, 2);
  bad.local.pieces[0].key ^= 0x100;
  bench.post(WorkOpcode::kWrite, 8, 1);
  bench.post(bad);
  bench.post(WorkOpcode::kWrite, 8, 3);
  bench.send(0);
  EXPECT_EQ(bench.wire[1].size(), 1U);
  EXPECT_EQ(bench.polled(0), "");
  bench.run();
  EXPECT_EQ(bench.polled(0), "1 SUCCESS, 2 LOC_PROT_ERR, 3 WR_FLUSH_ERR");
  EXPECT_EQ(bench.seen.size(), 2U);
}

TEST(MemoryKeys, HP_7_BoundsRightsDomainsAndTags) {
  MemoryKeys keys(2);
  const std::uint32_t key = *keys.add({7, 0x1000, 0x100, kLocalWrite | kRemoteRead});
  EXPECT_TRUE(keys.allow(7, Sge{0x1000, 0x100, key}, kRemoteRead));
  EXPECT_FALSE(keys.allow(7, Sge{0x1000, 0x101, key}, kRemoteRead));
  EXPECT_FALSE(keys.allow(7, Sge{0xfff, 1, key}, kRemoteRead));
  EXPECT_FALSE(keys.allow(7, Sge{~std::uint64_t{0}, 2, key}, kRemoteRead));
  EXPECT_FALSE(keys.allow(7, Sge{0x1000, 1, key}, kRemoteWrite));
  EXPECT_FALSE(keys.allow(8, Sge{0x1000, 1, key}, kRemoteRead));
  EXPECT_TRUE(keys.allow(8, Sge{0, 0, 0xffff'ffff}, kRemoteWrite));
  EXPECT_FALSE(keys.invalidate(key, 8));
  EXPECT_TRUE(keys.invalidate(key, 7));
  EXPECT_FALSE(keys.invalidate(key, 7));
  EXPECT_FALSE(keys.allow(7, Sge{0x1000, 1, key}, kLocalRead));
  EXPECT_TRUE(keys.remove(key));
  EXPECT_FALSE(keys.remove(key));
  const std::uint32_t again = *keys.add({7, 0x1000, 0x100, kLocalWrite});
  EXPECT_EQ(again >> 8, key >> 8);
  EXPECT_FALSE(keys.allow(7, Sge{0x1000, 1, key}, kLocalRead));
}

// [RDM-9]
TEST(MemoryKeys, RDM_9_WhatIsNoRegionIsRefused) {
  MemoryKeys keys(1);
  EXPECT_FALSE(keys.add({0, 0, 16, kRemoteWrite}));
  EXPECT_FALSE(keys.add({0, 0, 16, kRemoteAtomic}));
  EXPECT_FALSE(keys.add({0, ~std::uint64_t{0}, 2, kRemoteRead}));
  EXPECT_TRUE(keys.add({0, 0, 16, kRemoteRead}));
  EXPECT_FALSE(keys.add({0, 0, 16, kRemoteRead}));
}

// [VB-7] [RDM-11]
TEST(CompletionQueue, RDM_11_OneEventForWhatItIsArmedFor) {
  CompletionQueue queue(3);
  WorkCompletion done;
  queue.arm(true);
  queue.push(done);
  EXPECT_FALSE(queue.take_event());
  done.is_solicited = true;
  queue.push(done);
  EXPECT_TRUE(queue.take_event());
  queue.push(done);
  EXPECT_FALSE(queue.take_event());
  EXPECT_FALSE(queue.has_failed());
  queue.push(done);
  EXPECT_TRUE(queue.has_failed());
  EXPECT_EQ(queue.size(), 3U);
}

TEST(RdmaBuffers, RDM_11_OneEventBelowTheLimit) {
  RdmaBuffers buffers(4);
  for (std::uint64_t id = 0; id < 4; ++id) {
    EXPECT_TRUE(buffers.post({id, {}}));
  }
  EXPECT_FALSE(buffers.post({9, {}}));
  buffers.set_limit(3);
  buffers.take();
  EXPECT_FALSE(buffers.take_event());
  buffers.take();
  EXPECT_TRUE(buffers.take_event());
  buffers.take();
  EXPECT_FALSE(buffers.take_event());
}

TEST(MemoryView, APartCrossesPieces) {
  const MemoryView view = {{{{10, 4, 1}, {20, 0, 2}, {30, 4, 3}}}, 3};
  const MemoryView part = view.part(3, 3);
  ASSERT_EQ(part.count, 2U);
  EXPECT_EQ(part.pieces[0].address, 13U);
  EXPECT_EQ(part.pieces[0].bytes, 1U);
  EXPECT_EQ(part.pieces[1].address, 30U);
  EXPECT_EQ(part.pieces[1].bytes, 2U);
  EXPECT_EQ(view.part(0, 100).bytes(), 8U);
}

}  // namespace
}  // namespace flitwise::queue_pair_test
