// SPDX-License-Identifier: Apache-2.0
// What limits packets inside a device that sends by PIO, and what the explanation says of it.
#include <gtest/gtest.h>

#include <string>

#include "pio_bench.h"
#include "results/summary_table.h"

namespace flitwise::pio_limits_test {
namespace {

using pio_bench::config_of;
using pio_bench::Ended;
using pio_bench::run;
using pio_bench::wait_of;

Limit limit_of(const Ended& done) {
  const auto rows = explain(done.result, [](Limit&) {});
  EXPECT_EQ(rows.size(), 1U);
  return rows.at(0).limit;
}

// A grant in each clock of 20 ns, whatever the cores, the link and the port could do, which are
// three times as fast.
TEST(PioLimits, PIO_6_2_OnePacketOfOneBlockInEachClock) {
  const Ended done = run(config_of("count: 4", "depth: 128, timing: {clock: 20ns}",
                                   "domains: 8, payload: 56B, requests: 10000"));
  EXPECT_GT(done.seconds * 1e9, 10'000 * 20 - 1);
  EXPECT_LT(done.seconds * 1e9, 10'000 * 20 * 1.01);
  EXPECT_NEAR(wait_of(done.result, "ep0_pio", "launch").busy.value(), 1, 0.01);
  EXPECT_EQ(limit_of(done).key, "device.pio.timing.clock");
}
// Longer packets take a clock for each block; the launch arbiter is idle in the others.
TEST(PioLimits, PIO_6_6_OneBlockIsReadInEachClock) {
  const Ended done = run(config_of("count: 4", "depth: 128, timing: {clock: 20ns}",
                                   "domains: 8, payload: 248B, requests: 2500"));
  EXPECT_NEAR(done.seconds * 1e9, 10'000 * 20, 10'000 * 20 * 0.01);
  EXPECT_NEAR(wait_of(done.result, "ep0_pio", "launch").busy.value(), 0.25, 0.01);
  EXPECT_NEAR(wait_of(done.result, "ep0_pio", "send_memory").busy.value(), 1, 0.01);
  EXPECT_EQ(limit_of(done).resource, "send_memory");
}
TEST(PioLimits, ADeviceThatIsFasterThanItsLinkIsLimitedByThat) {
  const Ended done = run(config_of("count: 8", "depth: 128, threshold: 16, group: 8",
                                   "domains: 16, payload: 184B, requests: 4000"));
  EXPECT_LT(wait_of(done.result, "ep0_pio", "send_memory").busy.value(), 0.3);
  EXPECT_EQ(wait_of(done.result, "ep0_pio", "launch_fifo").count, 0U);
  EXPECT_EQ(limit_of(done).key, "link.preset");
}

// VL 1 stands still until 1 ms, and its transmit buffer takes 5 packets. All packets fit into send
// memory. Where the launch FIFO holds 64 the 30 packets of VL 0 leave at once; where it holds one,
// only the first 4 of each context do, and the others wait behind one of VL 1. [PIO-12.27]
Ended behind_a_stalled_vl(unsigned launch_fifo) {
  return run(
      config_of("count: 2, vls: 2",
                fmt::format("depth: 1024, egress: {{launch_fifo: {}, stalled_vl: 1, stall: 1ms, "
                            "buffer: 10368B}}",
                            launch_fifo),
                "domains: 2, payload: 2040B, requests: 60"));
}
TEST(PioLimits, PIO_043_AShortLaunchFifoHoldsItsSources) {
  const Ended done = behind_a_stalled_vl(1);
  const double stall = done.seconds * 1e9;
  EXPECT_NEAR(done.pio.latency_mean / stall, 52.0 / 60, 0.03);
  EXPECT_GT(wait_of(done.result, "ep0_pio", "launch_fifo").blocked.ns(), stall * 0.9);
  const auto rows = explain(done.result, [](Limit&) {});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].limit.key, "device.pio.egress.buffer") << "twice that takes 5 packets more";
  EXPECT_EQ(rows[0].next.key, "device.pio.egress.launch_fifo") << "twice that takes one more";
}
TEST(PioLimits, PIO_043_ALongOneDoesNot) {
  const Ended done = behind_a_stalled_vl(64);
  EXPECT_NEAR(done.pio.latency_mean / (done.seconds * 1e9), 0.5, 0.03);
  EXPECT_EQ(wait_of(done.result, "ep0_pio", "launch_fifo").count, 0U);
}

// Cores belong to a device, and have what its root port says.
TEST(PioLimits, CoresOfADeviceHaveTheirOwnSettings) {
  const Ended done = run(config_of(
      "count: 2", "depth: 128", "domains: 4, payload: 184B, requests: 2000",
      "system: {devices: 2, instances: {rp1: {host: {cores: {count: 1, store_buffers: 3}}}}}\n"));
  EXPECT_EQ(wait_of(done.result, "ep0_core1", "store_buffer").resource.capacity, 12U);
  EXPECT_EQ(wait_of(done.result, "ep1_core0", "store_buffer").resource.capacity, 3U);
  EXPECT_THROW(wait_of(done.result, "ep1_core1", "store_buffer"), SimulationError);
}

}  // namespace
}  // namespace flitwise::pio_limits_test
