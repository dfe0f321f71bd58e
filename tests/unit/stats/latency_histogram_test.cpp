// SPDX-License-Identifier: Apache-2.0
// The latency histogram against sorted lists of the same values.
#include "stats/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace flitwise::latency_histogram_test {
namespace {

double true_percentile_ns(std::vector<std::int64_t> ps, double quantile) {
  std::sort(ps.begin(), ps.end());
  const double rank = std::ceil(std::round(quantile * 1e6) * static_cast<double>(ps.size()) / 1e6);
  return static_cast<double>(ps[static_cast<std::size_t>(std::max(rank, 1.0)) - 1]) / 1'000.0;
}

TEST(LatencyHistogram, EmptyHistogramIsAllZeros) {
  const LatencyResult result = LatencyHistogram().summary("none");
  EXPECT_EQ(result.count, 0U);
  EXPECT_EQ(result.mean, 0);
  EXPECT_EQ(result.min, 0);
  EXPECT_EQ(result.p999, 0);
  EXPECT_EQ(result.max, 0);
}

TEST(LatencyHistogram, OneValueIsEveryPercentile) {
  LatencyHistogram histogram;
  histogram.record(Time::from_ps(123'457));
  const LatencyResult result = histogram.summary("one");
  EXPECT_EQ(result.name, "one");
  for (const double value : {result.mean, result.min, result.p50, result.p999, result.max}) {
    EXPECT_DOUBLE_EQ(value, 123.457);
  }
}

TEST(LatencyHistogram, CountMeanAndExtremesAreExact) {
  LatencyHistogram histogram;
  for (const std::int64_t ps : {7, 1'001, 900'003}) {
    histogram.record(Time::from_ps(ps));
  }
  EXPECT_EQ(histogram.count(), 3U);
  EXPECT_DOUBLE_EQ(histogram.summary("").mean, 901.011 / 3);
  EXPECT_DOUBLE_EQ(histogram.summary("").min, 0.007);
  EXPECT_DOUBLE_EQ(histogram.summary("").max, 900.003);
}

TEST(LatencyHistogram, ShortLatenciesHaveABucketEach) {
  LatencyHistogram histogram;
  for (int ps = 0; ps <= 100; ++ps) {
    histogram.record(Time::from_ps(ps <= 63 ? ps : 63));
  }
  EXPECT_DOUBLE_EQ(histogram.percentile_ns(0.50), 0.050);
  EXPECT_DOUBLE_EQ(histogram.percentile_ns(0.25), 0.025);
  EXPECT_DOUBLE_EQ(histogram.percentile_ns(0.0), 0.0);
}

TEST(LatencyHistogram, PercentilesAreWithinOneSixtyFourthOfTheTruth) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    std::mt19937_64 engine(seed);
    std::lognormal_distribution<double> latency(std::log(400'000.0), 1.2);
    LatencyHistogram histogram;
    std::vector<std::int64_t> all;
    for (int i = 0; i < 20'000; ++i) {
      all.push_back(static_cast<std::int64_t>(latency(engine)));
      histogram.record(Time::from_ps(all.back()));
    }
    for (const double quantile : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      const double truth = true_percentile_ns(all, quantile);
      EXPECT_NEAR(histogram.percentile_ns(quantile), truth, truth / 64 + 1e-3)
          << "seed " << seed << " quantile " << quantile;
    }
  }
}

// At least the share is at or below the percentile: the higher of two is their p99.
TEST(LatencyHistogram, PercentilesOfAFewAreOfTheNearestRank) {
  LatencyHistogram histogram;
  const auto expect = [&](double p50, double p90, double p99, double p999) {
    const LatencyResult result = histogram.summary("");
    EXPECT_DOUBLE_EQ(result.p50, p50) << result.count;
    EXPECT_DOUBLE_EQ(result.p90, p90) << result.count;
    EXPECT_DOUBLE_EQ(result.p99, p99) << result.count;
    EXPECT_DOUBLE_EQ(result.p999, p999) << result.count;
  };
  histogram.record(Time::from_ps(1));
  histogram.record(Time::from_ps(2));
  expect(0.001, 0.002, 0.002, 0.002);
  for (int ps = 3; ps <= 10; ++ps) {
    histogram.record(Time::from_ps(ps));
  }
  expect(0.005, 0.009, 0.010, 0.010);
  histogram.record(Time::from_ps(11));
  expect(0.006, 0.010, 0.011, 0.011);
}

TEST(LatencyHistogram, PercentilesNeverFallWithTheQuantile) {
  LatencyHistogram histogram;
  std::mt19937_64 engine(11);
  for (int i = 0; i < 1'000; ++i) {
    histogram.record(Time::from_ps(static_cast<std::int64_t>(engine() % 1'000'000)));
  }
  double last = 0;
  for (int step = 0; step <= 1'000; ++step) {
    const double value = histogram.percentile_ns(step / 1'000.0);
    EXPECT_GE(value, last);
    last = value;
  }
}

TEST(LatencyHistogram, WarmUpIsLeftOutBySubtraction) {
  LatencyHistogram histogram;
  for (int i = 0; i < 500; ++i) {
    histogram.record(Time::from_us(50));
  }
  const LatencyHistogram warm = histogram;
  for (int i = 0; i < 200; ++i) {
    histogram.record(Time::from_ns(100 + i));
  }
  const LatencyHistogram measured = histogram.since(warm);
  EXPECT_EQ(measured.count(), 200U);
  EXPECT_DOUBLE_EQ(measured.summary("").mean, 199.5);
  EXPECT_NEAR(measured.summary("").min, 100, 100.0 / 64);
  EXPECT_NEAR(measured.summary("").max, 299, 299.0 / 64);
  EXPECT_NEAR(measured.percentile_ns(0.5), 199.5, 199.5 / 64);
}

TEST(LatencyHistogram, SubtractingAnEmptySnapshotKeepsTheExactExtremes) {
  LatencyHistogram histogram;
  const LatencyHistogram empty = histogram;
  histogram.record(Time::from_ps(1'234'567));
  EXPECT_DOUBLE_EQ(histogram.since(empty).summary("").min, 1'234.567);
}

TEST(LatencyHistogram, SumOfTwoIsTheHistogramOfAll) {
  LatencyHistogram even, odd, all;
  for (int i = 1; i <= 1'000; ++i) {
    (i % 2 == 0 ? even : odd).record(Time::from_ns(i));
    all.record(Time::from_ns(i));
  }
  even.add(odd);
  EXPECT_EQ(even.count(), all.count());
  EXPECT_DOUBLE_EQ(even.summary("").mean, all.summary("").mean);
  EXPECT_DOUBLE_EQ(even.percentile_ns(0.9), all.percentile_ns(0.9));
  EXPECT_DOUBLE_EQ(even.summary("").min, 1);
}

TEST(LatencyHistogram, EndlessLatenciesStayCountedInTheLastBucket) {
  LatencyHistogram histogram;
  histogram.record(Time::never());
  EXPECT_EQ(histogram.count(), 1U);
  EXPECT_DOUBLE_EQ(histogram.percentile_ns(0.5), histogram.summary("").max);
}

TEST(LatencyHistogram, NegativeLatencyIsABrokenInvariant) {
  LatencyHistogram histogram;
  EXPECT_THROW(histogram.record(Time{-1}), SimulationError);
}

}  // namespace
}  // namespace flitwise::latency_histogram_test
