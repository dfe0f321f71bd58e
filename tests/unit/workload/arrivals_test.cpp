// SPDX-License-Identifier: Apache-2.0
// Arrival processes: rate, variance and shape.
#include "workload/message_source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace flitwise::arrivals_test {
namespace {

Arrivals arrivals_of(Arrival kind, double rate_mrps, std::uint64_t burst = 32,
                     std::uint64_t seed = 1) {
  WorkloadConfig config;
  config.arrival = kind;
  config.rate_mrps = rate_mrps;
  config.burst = burst;
  return Arrivals(config, Random(seed));
}

TEST(Arrivals, ClosedLoopNeverWaits) {
  Arrivals arrivals = arrivals_of(Arrival::kClosedLoop, 0);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(arrivals.next(), Time{0});
  }
}

TEST(Arrivals, ConstantRateStepsEvenlyAndDoesNotDrift) {
  Arrivals arrivals = arrivals_of(Arrival::kCbr, 3);  // a third of a microsecond: no whole fs
  EXPECT_EQ(arrivals.next(), Time{0});
  EXPECT_EQ(arrivals.next(), Time{333'333'333});
  EXPECT_EQ(arrivals.next(), Time{666'666'667});
  for (int i = 3; i < 3'000'000; ++i) {
    arrivals.next();
  }
  EXPECT_EQ(arrivals.next(), Time::from_us(1'000'000));
}

TEST(Arrivals, PoissonCountsHaveMeanAndVarianceOfTheRate) {
  Arrivals arrivals = arrivals_of(Arrival::kPoisson, 10);
  // 10 requests per microsecond: counts per microsecond have mean 10 and variance 10.
  constexpr int kWindows = 20'000;
  std::vector<int> counts(kWindows, 0);
  Time before{};
  while (true) {
    const Time at = arrivals.next();
    ASSERT_GE(at, before);
    before = at;
    const auto window = static_cast<std::size_t>(at.fs / Time::from_us(1).fs);
    if (window >= kWindows) {
      break;
    }
    ++counts[window];
  }
  double sum = 0;
  double squares = 0;
  for (const int count : counts) {
    sum += count;
    squares += static_cast<double>(count) * count;
  }
  const double mean = sum / kWindows;
  EXPECT_NEAR(mean, 10, 5 * std::sqrt(10.0 / kWindows));
  EXPECT_NEAR(squares / kWindows - mean * mean, 10, 0.6);
}

TEST(Arrivals, OnOffSendsWholeBurstsAtTheMeanRate) {
  Arrivals arrivals = arrivals_of(Arrival::kOnOff, 2, 16);
  constexpr int kBursts = 20'000;
  Time before{};
  double squares = 0;
  for (int burst = 0; burst < kBursts; ++burst) {
    const Time start = arrivals.next();
    ASSERT_GT(start, before);
    for (int i = 1; i < 16; ++i) {
      ASSERT_EQ(arrivals.next(), start);
    }
    squares += std::pow((start - before).ns(), 2);
    before = start;
  }
  // 16 requests at 2 per microsecond: bursts 8 us apart, exponential (second moment 2 * 8^2).
  EXPECT_NEAR(before.ns() / kBursts, 8'000, 5 * 8'000 / std::sqrt(kBursts));
  EXPECT_NEAR(squares / kBursts / (2.0 * 8'000 * 8'000), 1, 0.08);
}

TEST(Arrivals, AbsurdlyLowRateSaturatesInsteadOfWrapping) {
  Arrivals arrivals = arrivals_of(Arrival::kPoisson, 1e-12);
  Time before{};
  for (int i = 0; i < 100; ++i) {
    const Time at = arrivals.next();
    ASSERT_GE(at, before);
    before = at;
  }
}

}  // namespace
}  // namespace flitwise::arrivals_test
