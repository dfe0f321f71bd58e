// SPDX-License-Identifier: Apache-2.0
// When a mean is known: the procedure of Law and Carson on series whose mean is known.
#include "stats/batch_means.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace flitwise::batch_means_test {
namespace {

/// x' = mean + correlation (x - mean) + noise
class Series {
 public:
  Series(std::uint64_t seed, double correlation)
      : random_(seed), correlation_(correlation), off_(draw_(random_) / spread()) {}
  double next() {
    off_ = correlation_ * off_ + draw_(random_);
    return 100 + 10 * spread() * off_;
  }

 private:
  double spread() const { return std::sqrt(1 - correlation_ * correlation_); }

  std::mt19937_64 random_;
  std::normal_distribution<double> draw_{0, 1};
  double correlation_, off_;
};

TEST(BatchMeans, CorrelationOfNeighboursByHand) {
  EXPECT_EQ(neighbour_correlation({5, 5, 5, 5}), 0);
  // All: -1 x 1 three times over 4: -0.75; each half: -1 x 1 over 2: -0.5.
  EXPECT_DOUBLE_EQ(neighbour_correlation({1, -1, 1, -1}), 2 * -0.75 + 0.5);
  Series series(1, 0.8);
  std::vector<double> values(20'000);
  for (double& value : values) {
    value = series.next();
  }
  EXPECT_NEAR(neighbour_correlation(values), 0.8, 0.02);
}

TEST(BatchMeans, WhatDoesNotVaryIsKnownAtTheFirstCheckpoint) {
  BatchMeans means({});
  for (std::size_t i = 1; i < BatchMeans::kFirst; ++i) {
    EXPECT_FALSE(means.add(6, 2));
    EXPECT_FALSE(means.estimate().half_width);
  }
  EXPECT_TRUE(means.add(6, 2));
  const BatchMeans::Estimate estimate = means.estimate();
  EXPECT_DOUBLE_EQ(estimate.mean, 3);
  EXPECT_NEAR(*estimate.half_width, 0, 1e-12);
  EXPECT_EQ(estimate.batches, 40U);
}

TEST(BatchMeans, CheckpointsComeAt600And800AndThenWithTwiceAsManyOfEach) {
  BatchMeans means({0, 0.95});  // never known
  std::vector<std::size_t> checkpoints;
  std::mt19937_64 random(3);
  double before = -1;
  for (std::size_t i = 1; i <= 6400; ++i) {
    means.add(1 + std::uniform_real_distribution<double>(0, 1)(random), 1);
    const double now = means.estimate().half_width.value_or(-1);
    if (now != before) {
      checkpoints.push_back(i);
    }
    before = now;
  }
  EXPECT_EQ(checkpoints, (std::vector<std::size_t>{600, 800, 1200, 1600, 2400, 3200, 4800, 6400}));
}

TEST(BatchMeans, AMeanIsThatOfTheSumsHoweverTheyAreCut) {
  BatchMeans means({});
  means.add(10, 0);  // no time has passed: it waits
  means.add(2, 4);
  means.add(3, 1);
  EXPECT_DOUBLE_EQ(means.estimate().mean, 3);
}

// 40 observations of 9 before 560 of 3 would make it 3.4.
TEST(BatchMeans, TheBeginIsLeftOut) {
  BatchMeans means({});
  for (std::size_t i = 1; i <= BatchMeans::kFirst; ++i) {
    means.add(i <= BatchMeans::kLeftOut ? 9 : 3, 1);
  }
  EXPECT_TRUE(means.is_known());
  EXPECT_DOUBLE_EQ(means.estimate().mean, 3);
}

TEST(BatchMeans, ObservationsMayComeTogetherOnceTheyAreKeptTogether) {
  BatchMeans one_by_one({0, 0.95}), together({0, 0.95});
  Series series(7, 0.5);
  std::size_t added = 0;
  while (added < 5000) {
    const std::size_t count = together.together();
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double value = series.next();
      one_by_one.add(value, 1);
      sum += value;
    }
    together.add(sum, static_cast<double>(count), count);
    added += count;
  }
  EXPECT_EQ(together.together(), 8U);
  EXPECT_DOUBLE_EQ(together.estimate().mean, one_by_one.estimate().mean);
  EXPECT_DOUBLE_EQ(*together.estimate().half_width, *one_by_one.estimate().half_width);
}

TEST(BatchMeans, FewFarObservationsMakeTheIntervalWider) {
  BatchMeans means({0.05, 0.95});
  for (std::size_t i = 1; i <= BatchMeans::kFirst; ++i) {
    means.add(i == 200 || i == 400 ? 120 : 100 + static_cast<double>(i % 2), 1);
  }
  EXPECT_GT(*means.estimate().half_width, 0.35);
  EXPECT_LT(*means.estimate().half_width, 0.45);
}

/// The share of series whose interval has the true mean, 100.
double coverage(double correlation, double tolerance, double* observations) {
  constexpr int kTrials = 400;
  int covered = 0;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= kTrials; ++seed) {
    BatchMeans means({tolerance, 0.95});
    Series series(seed, correlation);
    std::size_t n = 1;
    while (!means.add(series.next(), 1)) {
      ++n;
    }
    sum += static_cast<double>(n);
    const BatchMeans::Estimate estimate = means.estimate();
    covered += std::abs(estimate.mean - 100) <= *estimate.half_width ? 1 : 0;
  }
  *observations = sum / kTrials;
  return covered / double{kTrials};
}

TEST(BatchMeans, IntervalsCoverTheMeanOfSeriesThatHangTogether) {
  double few = 0, many = 0;
  EXPECT_NEAR(coverage(0, 0.01, &few), 0.95, 0.04);
  EXPECT_NEAR(coverage(0.9, 0.01, &many), 0.95, 0.04);
  EXPECT_GT(many, 4 * few) << "what hangs together takes longer";
}

}  // namespace
}  // namespace flitwise::batch_means_test
