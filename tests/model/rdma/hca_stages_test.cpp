// SPDX-License-Identifier: Apache-2.0
// Stages of an RDMA adapter, each with stand-ins for the others.
#include <gtest/gtest.h>

#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "model/rdma/hca_stand_ins.h"
#include "rdma/hca_completion.h"
#include "rdma/hca_dma.h"
#include "rdma/hca_qp_fetch.h"
#include "rdma/hca_qp_states.h"
#include "rdma/hca_receive.h"
#include "rdma/hca_virtual_kick.h"

namespace flitwise::hca_stages_test {
namespace {

using namespace hca_stand_ins;

constexpr Time ns(std::int64_t count) {
  return Time::from_ns(count);
}

TEST(HcaStages, HP_6_AQueueTakesOneAnIntervalAndHoldsEachForItsLatency) {
  HcaQueue<int> queue(2, ns(4), ns(1));
  queue.start_window({});
  queue.push(7, ns(10), 3);
  queue.push(8, ns(10));
  EXPECT_TRUE(queue.is_full());
  EXPECT_EQ(queue.next(), ns(14));
  EXPECT_FALSE(queue.is_due(ns(13)));
  EXPECT_EQ(queue.take(ns(14)), 7);
  EXPECT_EQ(queue.next(), ns(17)) << "the first one keeps it for three clocks";
  EXPECT_EQ(queue.take(ns(18)), 8);
  HcaStageResult row;
  queue.report(row, ns(30));
  EXPECT_EQ(row.entries, 2U);
  EXPECT_EQ(row.waits, 1U);
  EXPECT_DOUBLE_EQ(row.busy_ns, 4);
  EXPECT_DOUBLE_EQ(row.time_mean, 6) << "4 and 8 ns";
}

TEST(HcaStages, HP_1_AQueuePairHasOneKickAtATimeAndTheyGoInACircle) {
  Bench bench;
  const HcaParts parts = bench.parts();
  HcaVirtualKick kicks(parts);
  for (const std::uint32_t pair : {2, 0, 2, 1, 0}) {
    kicks.kick(pair, ns(1));
  }
  bench.others.is_full = true;
  EXPECT_FALSE(kicks.run(ns(9))) << "queue pair fetch has no room";
  bench.others.is_full = false;
  EXPECT_TRUE(kicks.run(ns(9)));
  EXPECT_EQ(bench.others.fetched, (Numbers{2, 0, 1}));
  kicks.settle(ns(9));
  kicks.kick(2, ns(10));
  EXPECT_EQ(kicks.asks_from(), ns(11));
  EXPECT_TRUE(kicks.run(ns(11)));
  EXPECT_EQ(bench.others.fetched, (Numbers{2, 0, 1, 2}));
}

struct Fetching {
  HcaParts parts;
  HcaQpFetch fetch;
  HcaQpStates states;
  explicit Fetching(Bench& bench)
      : parts(bench.parts(fetch, states, bench.others)), fetch(parts), states(parts) {
    states.start(0);
  }
};

// Two kicks of a queue pair whose state is not there, and one of another.
TEST(HcaStages, HP_C3_OneFetchForTwoAndTheirOrderIsKept) {
  Bench bench;
  Fetching stages(bench);
  for (const std::uint32_t pair : {1, 1, 3}) {
    HcaArrived kick;
    kick.pair = pair;
    stages.fetch.fetch(std::move(kick), ns(0));
  }
  stages.fetch.run(ns(10));
  EXPECT_EQ(bench.totals.qpsc_misses, 3U);
  const std::vector<Transfer> reads = bench.transfers(ns(10));
  ASSERT_EQ(reads.size(), 2U) << "one for each queue pair";
  EXPECT_EQ(reads[0].address, bench.config.area(1).state());
  EXPECT_TRUE(bench.others.posted.empty());
  bench.finish(reads[1], ns(20));
  stages.fetch.run(ns(20));
  EXPECT_EQ(bench.others.posted, (Numbers{3})) << "others may overtake";
  bench.finish(reads[0], ns(30));
  stages.fetch.run(ns(30));
  EXPECT_EQ(bench.others.posted, (Numbers{3, 1, 1}));
}

// A kick and a frame that wait for it end; who asks later reads it anew, and not in vain.
TEST(HcaStages, HP_3_AStateThatCannotBeReadIsAnErrorOfItsQueuePairAndNoState) {
  FramePool frames;
  Bench bench;
  Fetching stages(bench);
  const auto fetch = [&](bool is_frame) {
    HcaArrived one;
    one.pair = 2;
    one.frame = is_frame ? frames.make(64) : FrameRef();
    stages.fetch.fetch(std::move(one), ns(0));
  };
  fetch(false);
  fetch(true);
  stages.fetch.run(ns(10));
  std::vector<Transfer> reads = bench.transfers(ns(10));
  ASSERT_EQ(reads.size(), 1U);
  bench.finish(reads[0], ns(20), TransferStatus::kUnsupportedRequest);
  stages.fetch.run(ns(20));
  EXPECT_EQ(bench.others.lost, (Numbers{2, 2})) << "both of its rings";
  EXPECT_EQ(bench.others.dropped, (std::vector<std::string>{"rx_bad_state"}));
  EXPECT_TRUE(bench.others.posted.empty());
  EXPECT_TRUE(stages.fetch.is_quiet());
  EXPECT_EQ(bench.pairs[2].pins, 0U);
  fetch(false);
  stages.fetch.run(ns(30));
  reads = bench.transfers(ns(30));
  ASSERT_EQ(reads.size(), 1U) << "it is not held";
  bench.finish(reads[0], ns(40));
  stages.fetch.run(ns(40));
  EXPECT_EQ(bench.others.posted, (Numbers{2}));
}

// A frame takes the place that a kick has left, and the other way round, where both wait; else
// whoever comes.
TEST(HcaStages, HP_5_KicksAndFramesHaveTheLastPlaceByTurns) {
  FramePool frames;
  Bench bench(3);
  Fetching stages(bench);
  const auto fetch = [&](bool is_frame) {
    HcaArrived one;
    one.frame = is_frame ? frames.make(64) : FrameRef();
    stages.fetch.fetch(std::move(one), ns(0));
  };
  const auto has_room = [&](bool kick, bool frame) {
    EXPECT_EQ(stages.fetch.has_room_for_kick(ns(0)), kick);
    EXPECT_EQ(stages.fetch.has_room_for_frame(ns(0)), frame);
  };
  bench.others.kicks_wait = bench.others.frames_wait = true;
  fetch(true);
  has_room(true, true);
  fetch(true);
  has_room(true, false);
  bench.others.kicks_wait = false;
  has_room(true, true);
  bench.others.kicks_wait = true;
  fetch(false);
  has_room(false, false);
  stages.fetch.run(ns(9));  // they wait for their states, and leave its queue
  fetch(true);
  fetch(false);
  has_room(false, true);
}

// What waits for its state is still at the stage.
TEST(HcaStages, HP_6_TheTimeOfAStageEndsWhenAnEntryGoesOn) {
  Bench bench;
  Fetching stages(bench);
  stages.fetch.start_window({});
  stages.states.start_window({});
  HcaArrived kick;
  kick.pair = 1;
  stages.fetch.fetch(std::move(kick), ns(0));
  stages.fetch.run(ns(10));
  const std::vector<Transfer> reads = bench.transfers(ns(10));
  ASSERT_EQ(reads.size(), 1U);
  bench.finish(reads[0], ns(400));
  stages.fetch.run(ns(400));
  EXPECT_DOUBLE_EQ(stages.fetch.result(ns(500)).time_mean, 400);
  EXPECT_DOUBLE_EQ(stages.states.result(ns(500)).time_mean, 390);
}

struct Completing {
  HcaParts parts;
  HcaCompletion completion;
  HcaReceive receive;
  explicit Completing(Bench& bench)
      : parts(bench.parts(bench.others, bench.others, completion)),
        completion(parts),
        receive(parts) {}
};

// Five completions at once for a stage with room for two: none is lost, they keep their order, and
// nothing that could complete more is received meanwhile.
TEST(HcaStages, VB_6_CompletionsWithoutRoomWaitAndHoldBackWhatComes) {
  Bench bench(2);
  Completing stages(bench);
  for (std::uint32_t id = 0; id < 5; ++id) {
    WorkCompletion done;
    done.id = id;
    done.queue_pair = kFirstQueuePair;
    bench.pairs.function(0).sends.push(done);
  }
  stages.completion.after_rules(0, ns(0));
  EXPECT_FALSE(stages.completion.has_room());
  FramePool frames;
  HcaArrived packet;
  packet.frame = frames.make(64);
  packet.packet = bench.arrived.make({});
  stages.receive.receive(std::move(packet), ns(0));
  EXPECT_FALSE(stages.receive.run(ns(2)));
  std::vector<Transfer> written;
  for (int at = 2; at < 20; ++at) {
    stages.completion.run(ns(at));
    for (const Transfer& one : bench.transfers(ns(at))) {
      written.push_back(one);
    }
  }
  ASSERT_EQ(written.size(), 5U);
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(written[i].address, bench.config.area(0).completion(false, i));
    EXPECT_EQ(decode_completion(written[i].data).id, i);
  }
  EXPECT_TRUE(stages.completion.has_room());
  EXPECT_TRUE(stages.receive.run(ns(20)));
}

// What tells of payload goes when that has; what does not is in nobody's way.
TEST(HcaStages, HP_5_ACompletionWaitsForThePayloadThatItTellsOf) {
  Bench bench;
  Completing stages(bench);
  const std::uint64_t number = bench.dma.take_payload_number();
  HcaJob& late = bench.dma.make(stages.completion, HcaJobKind::kCompletion, false);
  late.address = 0x1000;
  late.needs = number;
  bench.dma.start(late, ns(1));
  HcaJob& other = bench.dma.make(stages.completion, HcaJobKind::kStateBack, false);
  other.address = 0x2000;
  bench.dma.start(other, ns(2));
  std::vector<Transfer> gone = bench.transfers(ns(5));
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].address, 0x2000U);
  EXPECT_EQ(bench.dma.next_at(), Time::never());
  bench.dma.payload_done(number);
  gone = bench.transfers(ns(6));
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].address, 0x1000U);
}

TEST(HcaStages, HP_5_AnAtomicReadsBehindThePayloadThatCameBeforeIt) {
  FramePool frames;  // before the stages, which hold frames to their end
  Bench bench;
  Completing stages(bench);
  HcaPair& pair = bench.pairs[0];
  for (const QpState state : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
    ASSERT_TRUE(pair.rules.modify(state));
  }
  pair.last_payload = bench.dma.take_payload_number();
  HcaArrived atomic;
  atomic.frame = frames.make(64);
  atomic.packet = bench.arrived.make({});
  atomic.packet->opcode = RdmaOpcode::kFetchAdd;
  atomic.packet->queue_pair = kFirstQueuePair;
  atomic.packet->psn = pair.rules.setup().peer_first_psn;
  atomic.packet->address = bench.config.area(0).word();
  atomic.packet->key = key_of(0, PairRegion::kWord);
  stages.receive.receive(std::move(atomic), ns(0));
  ASSERT_TRUE(stages.receive.run(ns(10)));
  EXPECT_TRUE(bench.transfers(ns(1000)).empty());
  bench.dma.payload_done(pair.last_payload);
  const std::vector<Transfer> reads = bench.transfers(ns(1001));
  ASSERT_EQ(reads.size(), 1U);
  EXPECT_EQ(reads[0].op, Op::kRead);
  EXPECT_EQ(reads[0].address, bench.config.area(0).word());
}

// An RNR NAK for a later packet, which tells of progress, begins another wait; the time of the
// first one is over in vain.
TEST(HcaStages, VB_9_AnRnrNakIsWaitedForAsLongAsItSays) {
  Bench bench;
  Completing stages(bench);
  QueuePair& pair = bench.pairs[0].rules;
  for (const QpState state : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
    ASSERT_TRUE(pair.modify(state));
  }
  const auto us = [](std::int64_t count) { return ns(1000 * count); };
  SendWork empty;
  RdmaPacket first, second;
  ASSERT_EQ(pair.post_send(empty), PostResult::kTaken);
  ASSERT_EQ(pair.post_send(empty), PostResult::kTaken);
  ASSERT_TRUE(pair.next(first));
  ASSERT_TRUE(pair.next(second));
  const auto refuse = [&](Psn psn, std::uint8_t code, Time now) {
    RdmaPacket nak;
    nak.queue_pair = kFirstQueuePair;
    nak.psn = psn;
    nak.syndrome = kRnrSyndrome | code;
    pair.receive(nak);
    stages.completion.after_rules(0, now);
  };
  const auto waits_at = [&](Time now) {
    stages.completion.run(now);
    return pair.requester().waits_for_rnr();
  };
  refuse(first.psn, 5, us(100));
  refuse(second.psn, 7, us(110));
  EXPECT_TRUE(waits_at(us(160))) << "60 us of the first one";
  EXPECT_TRUE(waits_at(us(229)));
  EXPECT_FALSE(waits_at(us(230))) << "120 us of the second one";
  ASSERT_TRUE(pair.next(second));
  refuse(second.psn, 1, us(300));
  EXPECT_TRUE(waits_at(us(309)));
  EXPECT_FALSE(waits_at(us(310)));
}

}  // namespace
}  // namespace flitwise::hca_stages_test
