// SPDX-License-Identifier: Apache-2.0
// Host memory is a seam: somebody else's memory takes its place, and a slow memory pushes back.
#include <gtest/gtest.h>

#include "flitwise/error.h"
#include "flitwise/system.h"
#include "support/four_phase_memory.h"

namespace flitwise::attached_memory_test {
namespace {

sc_core::sc_time ns(double n) {
  return {n, sc_core::SC_NS};
}

void expect_good_run(const RunResult& result) {
  EXPECT_TRUE(result.errors.empty());
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
}

const LatencyResult& latency_of(const RunResult& result, const std::string& name) {
  for (const LatencyResult& latency : result.latency) {
    if (latency.name == name) {
      return latency;
    }
  }
  ADD_FAILURE() << name;
  return result.latency.front();
}

TEST(AttachedMemory, FourPhaseMemoryOfVaryingLatencyTakesThePlaceOfHostMemory) {
  Config config;
  config.workload.kind = WorkloadKind::kReadWrite;
  config.workload.requests = 20'000;
  config.workload.domains = 8;
  config.device.dma.outstanding = 64;
  test::FourPhaseMemory memory("third_party", config.workload.buffer_base,
                               std::size_t{8} * config.workload.buffer_size, ns(3), ns(400));
  System system(config, memory.socket);
  const RunResult result = system.run();
  expect_good_run(result);
  EXPECT_EQ(memory.reads + memory.writes, 20'000U);
  EXPECT_GT(memory.most_in_flight, 8U);
  EXPECT_GT(latency_of(result, "dma_read").max, latency_of(result, "dma_read").min + 200);
}

TEST(AttachedMemory, MemoryThatTakesRequestsSlowlyWithholdsCredits) {
  Config config;
  config.workload.requests = 5'000;
  test::FourPhaseMemory memory("third_party", config.workload.buffer_base,
                               config.workload.buffer_size, ns(100), ns(50));
  System system(config, memory.socket);
  const RunResult result = system.run();
  expect_good_run(result);
  // One request in 50 ns on average, and no more of them under way than buffers.
  const DirectionResult& up = result.links.at(0).up;
  EXPECT_GT(up.stalls.credits_posted, Time::from_us(200));
  EXPECT_NEAR(result.simulated.ns() / 5'000, 50, 3);
}

TEST(AttachedMemory, PokeAndPeekReachIt) {
  Config config;
  test::FourPhaseMemory memory("third_party", 0x1000, 0x1000, ns(10), ns(10));
  System system(config, memory.socket);
  system.poke(0x1ffc, {1, 2, 3, 4});
  EXPECT_EQ(system.peek(0x1ffd, 2), (std::vector<std::uint8_t>{2, 3}));
  EXPECT_THROW(system.poke(0x1ffe, {1, 2, 3}), SimulationError);
}

// host.memory.bandwidth is the bottleneck: requests wait in the receive buffers, not in a queue
// without end.
void expect_bandwidth(WorkloadKind kind, double gbps) {
  Config config;
  config.host.memory.bandwidth_gbps = gbps;
  config.workload.kind = kind;
  config.workload.requests = 20'000;
  config.workload.payload = 256;
  System system(config);
  const RunResult result = system.run();
  expect_good_run(result);
  const DirectionResult& up = result.links.at(0).up;
  const double bits = 20'000.0 * 256 * 8;
  EXPECT_NEAR(bits / result.simulated.ns(), gbps, gbps * 0.02);
  if (kind == WorkloadKind::kPostedWrite) {
    EXPECT_GT(up.stalls.credits_posted.ns(), result.simulated.ns() / 2);
    // A write waits for the buffers before it (256 of 256 B) and the pipeline, and for no more.
    const double buffers = 256 * 256 * 8 / gbps;
    EXPECT_LT(latency_of(result, "dma_write").max, 2 * buffers + 1'500);
  }
}

TEST(HostMemoryBandwidth, SlowMemoryPushesWritesBackByCredits) {
  expect_bandwidth(WorkloadKind::kPostedWrite, 50);
}
TEST(HostMemoryBandwidth, SlowMemoryBoundsReads) {
  expect_bandwidth(WorkloadKind::kRead, 50);
}

TEST(HostMemoryBandwidth, FastEnoughMemoryHoldsNothingUp) {
  Config config;
  config.host.memory.bandwidth_gbps = 4'000;
  config.workload.requests = 20'000;
  System system(config);
  const RunResult result = system.run();
  expect_good_run(result);
  EXPECT_EQ(result.links.at(0).up.stalls.credits_posted, Time{});
}

}  // namespace
}  // namespace flitwise::attached_memory_test
