// SPDX-License-Identifier: Apache-2.0
// Host and device at random on the device's memory.
#include <gtest/gtest.h>

#include "unit/coherence/device_memory_storm.h"

namespace flitwise::test::device_memory_storm_test {
namespace {

MemStormReport storm(const MemStormConfig& config) {
  return MemStorm(config).run();
}

// [COH-6.1] [COH-6.2] [COH-6.3] [COH-6.4] [COH-6.5]
TEST(MemStorm, AMillionOperationsOfHostAndDeviceAreCoherent) {
  MemStormConfig config;
  config.operations = 1'000'000;
  const MemStormReport report = storm(config);
  EXPECT_TRUE(report.is_clean()) << report.text();
  EXPECT_GT(report.early, 1000U) << report.text();
  EXPECT_GT(report.late, 1000U) << report.text();
  EXPECT_GT(report.write_backs, 1000U) << report.text();
}

TEST(MemStorm, SeveralSeedsAndSizesAreCoherent) {
  for (std::uint64_t seed = 2; seed <= 9; ++seed) {
    MemStormConfig config;
    config.seed = seed;
    config.operations = 20'000;
    config.lines = seed % 2 == 0 ? 2 : 64;
    config.ids = seed % 3 == 0 ? 2 : 8;
    config.sets = config.ways = seed % 4 == 0 ? 1 : 2;
    const MemStormReport report = storm(config);
    EXPECT_TRUE(report.is_clean()) << "seed " << seed << ": " << report.text();
    EXPECT_GT(report.snoops, 100U);
  }
}

MemStormReport storm_with(MemFault fault) {
  MemStormConfig config;
  config.operations = 20'000;
  config.lines = 8;
  config.fault = fault;
  return storm(config);
}

TEST(MemStorm, NoticesAHostThatIgnoresBackInvalidations) {
  const MemStormReport report = storm_with(MemFault::kIgnoredBackInvalidation);
  EXPECT_GT(report.two_owners, 0U) << report.text();
  EXPECT_GT(report.stale, 0U) << report.text();
}

// [COH-6.4]
TEST(MemStorm, NoticesABiConflictAckThatOvertakesItsCmp) {
  const MemStormReport report = storm_with(MemFault::kWrongConflictOrder);
  EXPECT_GT(report.two_owners, 0U) << report.text();
  EXPECT_GT(report.stale, 0U) << report.text();
}

TEST(MemStorm, NoticesALostBiRsp) {
  EXPECT_TRUE(storm_with(MemFault::kLostSnoopAnswer).is_stuck);
}

}  // namespace
}  // namespace flitwise::test::device_memory_storm_test
