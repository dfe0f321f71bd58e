// SPDX-License-Identifier: Apache-2.0
// How long packets of cores take to the end of the wire, against closed forms.
#include <gtest/gtest.h>

#include <string>

#include "pio_bench.h"

namespace flitwise::pio_latency_test {
namespace {

using pio_bench::config_of;
using pio_bench::Ended;
using pio_bench::run;

// ep0 sends a packet, ep1 and ep2 have one slower stage each. A packet of 60 bytes takes 8 or 0.04
// ns for each at the port.
TEST(PioLatency, EachStageOfALonePacketCounts) {
  const Ended done = run(config_of("count: 1", "depth: 8", "domains: 1, payload: 56B, requests: 1",
                                   "system: {devices: 3, instances: {"
                                   "ep1: {device.pio.timing.egress: 1050ns}, "
                                   "ep2: {device.pio.egress.rate: 1Gb/s}}}\n"));
  const auto& rows = done.result.rows<PioResult>();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_GT(rows[0].latency_max, 150);
  EXPECT_NEAR(rows[1].latency_max - rows[0].latency_max, 1000, 3e-3);
  EXPECT_NEAR(rows[2].latency_max - rows[0].latency_max, 60 * 7.96, 3e-3);
}

// Packets of ep1 come every 100 ns, and a wire of 1 Gb/s takes 480 ns for each: the k-th of 50
// waits for 380 ns x k, since it came and not only since its thread has come to it. ep0 has one
// packet.
TEST(PioLatency, APacketThatHasArrivedWaitsForItsThread) {
  const Ended done =
      run(config_of("count: 1", "depth: 8, threshold: 1, egress: {rate: 1Gb/s, buffer: 16KiB}",
                    "domains: 1, payload: 56B, requests: 1",
                    "system: {devices: 2, instances: {ep1: {workload: {requests: 50, arrival: cbr, "
                    "rate: 10Mreq/s}}}}\n"));
  const PioResult& row = done.result.rows<PioResult>().at(1);
  const double first = done.pio.latency_max;
  EXPECT_NEAR(row.latency_max - first, 380 * 49, 380);
  EXPECT_NEAR(row.latency_mean - first, 380 * 24.5, 380);
  EXPECT_NEAR(row.latency_p50 - first, 380 * 24, 800);
}

// Little's law: rate x mean latency is what is under way. The transmit buffer holds 16 packets of
// 1004 bytes, a context of 64 blocks 4, and the thread has begun one more. Early return lets
// software begin the next packet where one is still read.
void expect_packets_under_way(const std::string& early_return) {
  const PioResult row =
      run(config_of(
              "count: 1",
              "depth: 64, threshold: 1, egress: {rate: 1Gb/s, buffer: 16KiB}, early_return: " +
                  early_return,
              "domains: 1, payload: 1000B, requests: 300", "run: {warmup: 60}\n"))
          .pio;
  const double time_of_one = 1004 * 8;  // ns
  EXPECT_NEAR(row.latency_mean / time_of_one, 16 + 4 + 1, 0.3);
  EXPECT_NEAR(row.latency_p99 / time_of_one, 16 + 4 + 1, 0.5);
}
TEST(PioLatency, LittlesLawGivesThePacketsUnderWay) {
  expect_packets_under_way("false");
}
TEST(PioLatency, LittlesLawWithEarlyReturn) {
  expect_packets_under_way("true");
}

// The packet of VL 1 in the warm-up waits for 500 us and leaves in the window, which one of VL 0
// opens.
TEST(PioLatency, OfPacketsOfTheWarmUpItIsNotMeasured) {
  const Ended done = run(config_of("count: 1, vls: 2",
                                   "depth: 64, threshold: 1, egress: {stalled_vl: 1, stall: 500us}",
                                   "domains: 1, payload: 56B, requests: 1", "run: {warmup: 2}\n"));
  EXPECT_EQ(done.pio.packets, 3U) << "the one before it as well";
  EXPECT_GT(done.seconds * 1e9, 490'000);
  EXPECT_GT(done.pio.latency_max, 100);
  EXPECT_LT(done.pio.latency_max, 1000);
}
// The stall is counted from the start of the workload: it holds up the last byte until its end.
TEST(PioLatency, AStallBeginsWithTheWorkload) {
  const Ended done = run(config_of("count: 1", "depth: 8, egress: {stall: 300us}",
                                   "domains: 1, payload: 56B, requests: 1"));
  EXPECT_NEAR(done.pio.latency_max, 300'000 + 60 * 8 / 200.0, 1);
}
// The window ends with the last byte on the wire, not when the place of the last block in the store
// buffer is free.
TEST(PioLatency, TheStoreBufferBehindTheLastPacketIsNotInTheWindow) {
  const Ended done = run(config_of("count: 1, timing: {drain: 50us}", "depth: 8",
                                   "domains: 1, payload: 56B, requests: 3"));
  EXPECT_LT(done.seconds * 1e9, 1000);
}
// 16 packets of 1004 bytes wait for a wire of 1 Gb/s when the window begins, and one is half sent.
TEST(PioLatency, AServerIsBusyForNoMoreThanTheWindow) {
  const Ended done =
      run(config_of("count: 1", "depth: 64, threshold: 1, egress: {rate: 1Gb/s, buffer: 16KiB}",
                    "domains: 1, payload: 1000B, requests: 2", "run: {warmup: 40}\n"));
  EXPECT_GT(done.pio.packets, 20U);
  const WaitResult& port = pio_bench::wait_of(done.result, "ep0_pio", "port");
  EXPECT_LE(port.busy.value(), 1);
  EXPECT_GT(port.busy.value(), 0.9999);
  const double bits = 8.0 * static_cast<double>(done.pio.bytes);
  EXPECT_GT(bits, done.seconds * 1e9) << "more than the wire carries in the window";
}

}  // namespace
}  // namespace flitwise::pio_latency_test
