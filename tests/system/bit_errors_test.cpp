// SPDX-License-Identifier: Apache-2.0
// Whole machines over links with bit errors: writes, reads and mixes, on slow and fast links.
#include <gtest/gtest.h>

#include "support/error_run.h"

namespace flitwise::bit_errors_test {
namespace {

TEST(BitErrors, WritesArriveOnceAndInOrder) {
  test::expect_every_byte_once_and_in_order(200'000);
}

/// A run in which damage occurs in both directions, and everything comes to its end.
void expect_to_end_well(Config config, WorkloadKind kind, std::uint64_t requests) {
  config.workload.kind = kind;
  config.workload.requests = requests;
  config.device.dma.outstanding = 256;
  System system(config);
  const RunResult result = system.run();
  const LinkResult& link = result.rows<LinkResult>().at(0);
  EXPECT_GT(link.up.corrupted, 0U);
  EXPECT_GT(link.down.corrupted, 0U);
  EXPECT_GT(link.up.replays + link.down.replays, 0U);
  EXPECT_TRUE(result.errors.empty());
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  std::uint64_t completed = 0;
  for (const LatencyResult& latency : result.rows<LatencyResult>()) {
    completed += latency.name == "dma_read" || latency.name == "dma_write" ? latency.count : 0;
  }
  EXPECT_EQ(completed, requests);
}

Config at_rate(double rate, unsigned generation, unsigned lanes) {
  Config config;
  config.link.error_rate = rate;
  config.link.preset = {"", generation, lanes};
  config.link.preset.name = "gen" + std::to_string(generation) + "x" + std::to_string(lanes);
  return config;
}

TEST(BitErrors, ReadsAreAllAnswered) {
  expect_to_end_well(at_rate(2e-6, 5, 16), WorkloadKind::kRead, 50'000);
}
TEST(BitErrors, MixIsAllDone) {
  expect_to_end_well(at_rate(2e-6, 5, 16), WorkloadKind::kReadWrite, 50'000);
}
TEST(BitErrors, MixOnOneSlowLaneIsAllDone) {
  expect_to_end_well(at_rate(1e-5, 1, 1), WorkloadKind::kReadWrite, 5'000);
}
TEST(BitErrors, MixUnderManyErrorsAndFewCreditsIsAllDone) {
  Config config = at_rate(1e-4, 3, 8);
  config.link.credits.posted_headers = config.link.credits.nonposted_headers = 4;
  config.link.credits.posted_data = config.link.credits.nonposted_data = 16;
  expect_to_end_well(config, WorkloadKind::kReadWrite, 20'000);
}
TEST(BitErrors, HandlesSurviveThem) {
  Config config = at_rate(5e-6, 5, 16);
  config.link.identity = Identity::kDhi;
  config.device.dhi.bits = 4;
  config.workload.domains = 64;
  expect_to_end_well(config, WorkloadKind::kReadWrite, 20'000);
}

}  // namespace
}  // namespace flitwise::bit_errors_test
