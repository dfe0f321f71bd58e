// SPDX-License-Identifier: Apache-2.0
// Host memory is a seam: somebody else's memory takes its place, and a slow memory pushes back.
#include <gtest/gtest.h>
#include <signal.h>
#include <tlm_utils/simple_target_socket.h>

#include <string>
#include <systemc>
#include <tlm>

#include "common/interrupt.h"
#include "flitwise/error.h"
#include "flitwise/link_socket.h"
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
  for (const LatencyResult& latency : result.rows<LatencyResult>()) {
    if (latency.name == name) {
      return latency;
    }
  }
  ADD_FAILURE() << name;
  return result.rows<LatencyResult>().front();
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

/// Is done with each access at once, as far as the protocol goes: the first takes a millisecond
/// more than the others.
class UnevenMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<UnevenMemory> socket{"socket"};

  explicit UnevenMemory(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &UnevenMemory::forward);
  }

 private:
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& /*phase*/,
                             sc_core::sc_time& delay) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    delay += is_first_ ? ns(1'001'000) : ns(1'000);
    is_first_ = false;
    return tlm::TLM_COMPLETED;
  }

  bool is_first_ = true;
};

TEST(AttachedMemory, TheWindowHasTheAccessThatEndsLastThoughItDidNotBeginLast) {
  Config config;
  config.workload.requests = 10;
  config.run.warmup = 0;
  UnevenMemory memory("uneven");
  System system(config, memory.socket);
  const RunResult result = system.run();
  const double longest = latency_of(result, "dma_write").max;
  EXPECT_GT(longest, 1'001'000);
  EXPECT_NEAR(result.simulated.ns(), longest, 1) << "it was the first";
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
  const DirectionResult& up = result.rows<LinkResult>().at(0).up;
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
  const DirectionResult& up = result.rows<LinkResult>().at(0).up;
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
  EXPECT_EQ(result.rows<LinkResult>().at(0).up.stalls.credits_posted, Time{});
}

Config slow_memory(Time latency) {
  Config config;
  config.host.memory.timing.latency = latency;
  config.workload.requests = 10;
  config.run.warmup = 0;
  return config;
}

// Without a run: a machine that is only given TLPs is idle when memory has them.
TEST(HostMemory, AMachineIsIdleWhenMemoryHasWhatWasWritten) {
  System system(slow_memory(Time::from_us(5'000)));
  PacketRef write = system.pool().make(PacketKind::kTlp);
  write->tlp.type = TlpType::kMWr;
  write->tlp.is_4dw = true;
  write->tlp.address = Config{}.workload.buffer_base;
  write->tlp.requester_id = Bdf::of(1, 0, 0);
  write->tlp.length_dw = 1;
  write->tlp.first_be = 0xf;
  write->payload.assign(4, 0xaa);
  write->payload_bytes = 4;
  system.inject("ep0", write);
  const Time begin = now();
  const Time end = system.step_until_idle();
  EXPECT_EQ(system.peek(write->tlp.address, 4), (std::vector<std::uint8_t>(4, 0xaa)));
  EXPECT_GT(end - begin, Time::from_us(5'000));
  EXPECT_LT(end - begin, Time::from_us(5'010));
}

TEST(HostMemory, AnInterruptIsSeenWithinMillisecondsWhileMemoryAloneIsAtWork) {
  watch_for_interrupt();
  System system(slow_memory(Time::from_us(200'000)));
  unsigned committed = 0;
  system.observe([&committed](const Observation& seen) {
    if (std::string(seen.what) == "committed" && ++committed == 10) {
      raise(SIGINT);
    }
  });
  system.run();
  EXPECT_EQ(committed, 10U);
  EXPECT_TRUE(system.is_cut_short());
  EXPECT_LT(now(), Time::from_us(2'000));
}

}  // namespace
}  // namespace flitwise::attached_memory_test
