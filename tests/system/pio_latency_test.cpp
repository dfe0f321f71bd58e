// SPDX-License-Identifier: Apache-2.0
// How long packets of cores take to the end of the wire, against closed forms.
#include <gtest/gtest.h>

#include <string>

#include "pio_bench.h"

namespace flitwise::pio_latency_test {
namespace {

using pio_bench::config_of;
using pio_bench::run;

double of_a_lone_packet(const std::string& pio) {
  return run(config_of("count: 1", pio, "domains: 1, payload: 56B, requests: 1")).pio.latency_max;
}
TEST(PioLatency, EachStageOfALonePacketCounts) {
  const double plain = of_a_lone_packet("depth: 8");
  EXPECT_GT(plain, 150);
  EXPECT_NEAR(of_a_lone_packet("depth: 8, timing: {egress: 1050ns}") - plain, 1000, 1e-3);
  // 60 bytes at 8 and at 0.04 ns each.
  EXPECT_NEAR(of_a_lone_packet("depth: 8, egress: {rate: 1Gb/s}") - plain, 60 * 7.96, 1e-3);
}

// Packets come every 100 ns, and a wire of 1 Gb/s takes 480 ns for each: the k-th of 50 waits for
// 380 ns x k, since it came and not only since its thread has come to it.
TEST(PioLatency, APacketThatHasArrivedWaitsForItsThread) {
  const double first = of_a_lone_packet("depth: 8, egress: {rate: 1Gb/s}");
  const PioResult row =
      run(config_of("count: 1", "depth: 8, threshold: 1, egress: {rate: 1Gb/s, buffer: 16KiB}",
                    "domains: 1, payload: 56B, requests: 50, arrival: cbr, rate: 10Mreq/s"))
          .pio;
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

}  // namespace
}  // namespace flitwise::pio_latency_test
