// SPDX-License-Identifier: Apache-2.0
// Whole machines at random: nothing stale, nothing lost, one owner, no deadlock.
#include <gtest/gtest.h>

#include "unit/coherence/coherence_storm.h"

namespace flitwise::test::coherence_storm_test {
namespace {

StormReport storm(const StormConfig& config) {
  return CoherenceStorm(config).run();
}

/// A run that is right and has met what it is there for.
void expect_clean(const StormConfig& config) {
  SCOPED_TRACE(config.seed);
  const StormReport report = storm(config);
  EXPECT_TRUE(report.is_clean()) << report.text();
  EXPECT_EQ(report.completed >= config.operations, true) << report.text();
  EXPECT_GT(report.deferred, 0U) << "no snoop has met a GO without its data";
}

// [COH-1.2] [COH-1.6] [COH-3.2] [COH-4.3] [COH-4.4] [COH-4.5]
TEST(CoherenceStorm, AMillionOperationsOfFourCachesAreCoherent) {
  StormConfig config;
  config.operations = 1'000'000;
  const StormReport report = storm(config);
  EXPECT_TRUE(report.is_clean()) << report.text();
  EXPECT_GT(report.bogus, 100U);
  EXPECT_GT(report.deferred, 100U);
  for (std::size_t opcode = 1; opcode <= 0xe; ++opcode) {
    const bool is_sent = opcode != static_cast<std::size_t>(cxl::D2hReq::kWrCur) &&
                         opcode != static_cast<std::size_t>(cxl::D2hReq::kClFlush) &&
                         opcode != static_cast<std::size_t>(cxl::D2hReq::kCleanEvictNoData);
    EXPECT_EQ(report.messages[opcode] > 100, is_sent) << opcode;
  }
}

TEST(CoherenceStorm, SeveralSeedsAreCoherent) {
  for (std::uint64_t seed = 2; seed <= 9; ++seed) {
    StormConfig config;
    config.seed = seed;
    config.operations = 20'000;
    expect_clean(config);
  }
}

TEST(CoherenceStorm, CleanEvictionsArePulledOrWithoutData) {
  StormConfig config;
  config.operations = 50'000;
  config.pulls_clean_evictions = true;
  expect_clean(config);
  config.pulls_clean_evictions = false;
  config.offers_clean_evictions = false;
  expect_clean(config);
}

// [COH-3.9]
TEST(CoherenceStorm, FewUqidsAreEnough) {
  for (const std::uint32_t uqids : {4U, 8U}) {
    StormConfig config;
    config.operations = 20'000;
    config.uqids = uqids;
    expect_clean(config);
  }
}

TEST(CoherenceStorm, OneLineThatAllWantIsCoherent) {
  StormConfig config;
  config.operations = 50'000;
  config.lines = 1;
  expect_clean(config);
}

TEST(CoherenceStorm, TheSmallestCacheIsCoherent) {
  StormConfig config;
  config.operations = 20'000;
  config.sets = config.ways = 1;
  config.cqids = 2;
  expect_clean(config);
}

StormReport storm_with(Fault fault) {
  StormConfig config;
  config.operations = 20'000;
  config.fault = fault;
  return storm(config);
}

// The storm notices each fault that it is there to notice.
TEST(CoherenceStorm, NoticesAForgottenSharer) {
  const StormReport report = storm_with(Fault::kForgottenSharer);
  EXPECT_GT(report.two_owners, 0U) << report.text();
  EXPECT_GT(report.stale_copies, 0U) << report.text();
}

TEST(CoherenceStorm, NoticesAForgottenOwner) {
  const StormReport report = storm_with(Fault::kForgottenOwner);
  EXPECT_GT(report.two_owners, 0U) << report.text();
  EXPECT_GT(report.stale_copies, 0U) << report.text();
}

TEST(CoherenceStorm, NoticesASnoopThatMissesAnEviction) {
  const StormReport report = storm_with(Fault::kSnoopMissesEviction);
  EXPECT_GT(report.stale_copies, 0U) << report.text();
}

TEST(CoherenceStorm, NoticesALostBogusBit) {
  EXPECT_GT(storm_with(Fault::kBogusTakenForData).bad_messages, 0U);
}

// [COH-1.5]
TEST(CoherenceStorm, NoticesASnoopThatOvertakesGo) {
  const StormReport report = storm_with(Fault::kSnoopOvertakesGo);
  EXPECT_GT(report.two_owners, 0U) << report.text();
  EXPECT_GT(report.stale_copies, 0U) << report.text();
}

TEST(CoherenceStorm, NoticesALostGo) {
  EXPECT_TRUE(storm_with(Fault::kLostGo).is_stuck);
}

TEST(CoherenceStorm, NoticesALostWrite) {
  const StormReport report = storm_with(Fault::kLostMemoryWrite);
  EXPECT_GT(report.stale_copies, 0U) << report.text();
  EXPECT_EQ(report.two_owners, 0U) << report.text();
}

TEST(CoherenceStorm, IsTheSameWithTheSameSeed) {
  StormConfig config;
  config.operations = 5'000;
  const StormReport first = storm(config), second = storm(config);
  EXPECT_EQ(first.messages, second.messages);
  EXPECT_EQ(first.bogus, second.bogus);
  config.seed = 2;
  EXPECT_NE(storm(config).messages, first.messages);
}

}  // namespace
}  // namespace flitwise::test::coherence_storm_test
