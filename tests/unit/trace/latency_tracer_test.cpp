// SPDX-License-Identifier: Apache-2.0
// When a request is over, and what is counted for its TLPs.
#include "trace/latency_tracer.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace flitwise::latency_tracer_test {
namespace {

LatencyResult result(const LatencyTracer& tracer, const std::string& name) {
  const std::vector<LatencyResult> all = tracer.results();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const LatencyResult& one) { return one.name == name; });
  return found == all.end() ? LatencyResult{} : *found;
}

PacketRef write(PacketPool& pool, const WriteRequestRef& request, std::uint32_t bytes,
                std::int64_t issued_ns, std::int64_t in_memory_ns) {
  PacketRef packet = pool.make(PacketKind::kTlp);
  packet->tlp.type = TlpType::kMWr;
  packet->payload_bytes = bytes;
  packet->is_whole_request = !request;
  packet->write = request;
  packet->stamp(Hop::kIssue, Time::from_ns(issued_ns));
  packet->stamp(Hop::kMemory, Time::from_ns(in_memory_ns));
  return packet;
}

TEST(LatencyTracer, AWriteIsOverWithItsLastByteInMemoryWhicheverTlpBringsIt) {
  PacketPool pool;
  LatencyTracer tracer({});
  const WriteRequestRef request = pool.make_write(300);
  tracer.write_committed(*write(pool, request, 128, 100, 250));
  tracer.write_committed(*write(pool, request, 44, 100, 400));  // the last one in address order
  EXPECT_EQ(result(tracer, "dma_write").count, 0U);
  tracer.write_committed(*write(pool, request, 128, 100, 390));  // known last, but there before
  EXPECT_EQ(result(tracer, "dma_write").count, 1U);
  EXPECT_DOUBLE_EQ(result(tracer, "dma_write").max, 300);
  EXPECT_EQ(result(tracer, "dma_write_tlp").count, 3U);
  EXPECT_DOUBLE_EQ(result(tracer, "dma_write_tlp").mean, (150 + 300 + 290) / 3.0);
}

TEST(LatencyTracer, CallsAfterSoManyMeasuredRequestsAsItIsTold) {
  LatencyTracer tracer({});
  std::vector<double> calls;  // requests that were over
  tracer.call_after(1, [&]() -> std::uint64_t {
    calls.push_back(tracer.reads().samples() + tracer.writes().samples());
    return calls.size() < 4 ? 2 : 0;
  });
  PacketPool pool;
  for (int i = 0; i < 20; ++i) {
    tracer.read_over(i % 2 == 0, Time{}, Time::from_ns(100));  // every other one is measured
    tracer.write_committed(*write(pool, {}, 64, 100, 250));
  }
  EXPECT_EQ(calls, (std::vector<double>{1, 3, 5, 7}));
}

TEST(LatencyTracer, AWriteOfOneTlpIsARequestByItself) {
  PacketPool pool;
  LatencyTracer tracer({});
  tracer.write_committed(*write(pool, {}, 64, 100, 250));
  EXPECT_EQ(result(tracer, "dma_write").count, 1U);
  EXPECT_EQ(result(tracer, "dma_write_tlp").count, 1U);
}

TEST(LatencyTracer, ATlpThatNeverComesToMemoryLeavesItsRequestUncountedAndNothingBehind) {
  PacketPool pool;
  LatencyTracer tracer({});
  const WriteRequest* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    WriteRequestRef request = pool.make_write(256);
    EXPECT_TRUE(first == nullptr || request.get() == first) << "taken again";
    first = request.get();
    const PacketRef refused = write(pool, request, 128, 0, 10);
    const PacketRef committed = write(pool, request, 128, 0, 10);
    request.reset();
    tracer.write_committed(*committed);
  }
  EXPECT_EQ(result(tracer, "dma_write").count, 0U);
  EXPECT_EQ(result(tracer, "dma_write_tlp").count, 3U);
}

TEST(LatencyTracer, TheWarmUpIsInNeither) {
  PacketPool pool;
  LatencyTracer tracer({});
  const PacketRef packet = write(pool, {}, 64, 0, 10);
  packet->counts = false;
  tracer.write_committed(*packet);
  EXPECT_EQ(result(tracer, "dma_write").count, 0U);
  EXPECT_EQ(result(tracer, "dma_write_tlp").count, 0U);
}

TEST(LatencyTracer, ARawWriteIsNoRequest) {
  PacketPool pool;
  LatencyTracer tracer({{"whole", "issue", "memory"}});
  const PacketRef packet = write(pool, {}, 64, 0, 10);
  packet->is_raw = true;
  tracer.write_committed(*packet);
  for (const char* const latency : {"dma_write", "dma_write_tlp", "whole"}) {
    EXPECT_EQ(result(tracer, latency).count, 0U) << latency;
  }
}

// What the hops take adds up to the latency; a hop that has no stamp is part of the next one.
TEST(LatencyTracer, HopsAddUpToTheMeanOfEverySeventeenth) {
  PacketPool pool;
  LatencyTracer tracer({});
  for (std::int64_t i = 0; i < 35; ++i) {
    const PacketRef packet = write(pool, {}, 64, 100, 250 + i);
    packet->stamp(Hop::kQueued, Time::from_ns(130));
    packet->stamp(Hop::kSent, Time::from_ns(140 + i));
    tracer.write_committed(*packet);
  }
  const std::vector<HopResult> hops = tracer.hops();
  ASSERT_EQ(hops.size(), 3U);
  EXPECT_EQ(hops[0].request, "write");
  EXPECT_EQ(hops[0].hop, "queued");
  EXPECT_EQ(hops[0].count, 3U);  // 0, 17 and 34
  EXPECT_EQ(hops[0].total, Time::from_ns(3 * 30));
  EXPECT_EQ(hops[1].total, Time::from_ns(10 + 27 + 44));
  EXPECT_EQ(hops[2].hop, "memory");
  EXPECT_EQ(hops[2].total, Time::from_ns(3 * 110));
}

}  // namespace
}  // namespace flitwise::latency_tracer_test
