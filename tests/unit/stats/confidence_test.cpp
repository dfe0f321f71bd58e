// SPDX-License-Identifier: Apache-2.0
// Intervals of means: quantiles against the tables that textbooks print, intervals by hand, and how
// often they cover the true value.
#include "stats/confidence.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

namespace flitwise::confidence_test {
namespace {

TEST(Confidence, QuantilesAreThoseOfTheTables) {
  // Two-sided 95 % and 99 %, as in any table of Student's t.
  const std::vector<std::array<double, 3>> table = {{1, 12.706, 63.657}, {2, 4.303, 9.925},
                                                    {3, 3.182, 5.841},   {10, 2.228, 3.169},
                                                    {30, 2.042, 2.750},  {120, 1.980, 2.617}};
  for (const auto& [degrees, t95, t99] : table) {
    EXPECT_NEAR(student_t(degrees), t95, 5e-4) << degrees;
    EXPECT_NEAR(student_t(degrees, 0.99), t99, 5e-4) << degrees;
  }
}

TEST(Confidence, AMeanOfFourByHand) {
  // Mean 5, squares 9 + 1 + 1 + 9 = 20, variance 20 / 3, of the mean 5 / 3.
  const MeanInterval interval = interval_of_mean({2, 4, 6, 8});
  EXPECT_DOUBLE_EQ(interval.mean, 5);
  EXPECT_EQ(interval.samples, 4U);
  ASSERT_TRUE(interval.half_width);
  EXPECT_NEAR(*interval.half_width, 3.182446 * std::sqrt(5.0 / 3), 1e-5);
}

TEST(Confidence, OneSampleHasNoInterval) {
  EXPECT_DOUBLE_EQ(interval_of_mean({7}).mean, 7);
  EXPECT_FALSE(interval_of_mean({7}).half_width);
  EXPECT_FALSE(interval_of_difference({7}, {1, 2}).half_width);
  EXPECT_FALSE(interval_of_paired({7}, {8}).half_width);
}

TEST(Confidence, EqualSamplesKeepTheirValueToTheLastDigit) {
  const MeanInterval interval = interval_of_mean({0.1, 0.1, 0.1});
  EXPECT_EQ(interval.mean, 0.1);
  EXPECT_NEAR(*interval.half_width, 0, 1e-15);
}

TEST(Confidence, PairsCancelWhatBothHaveInCommon) {
  const std::vector<double> a = {10, 20, 30}, b = {11, 21.5, 30.5};  // 1, 1.5, 0.5: mean 1
  const MeanInterval paired = interval_of_paired(a, b);
  EXPECT_DOUBLE_EQ(paired.mean, 1);
  EXPECT_NEAR(*paired.half_width, 4.302653 * std::sqrt(0.25 / 3), 1e-5);
  EXPECT_GT(*interval_of_difference(a, b).half_width, 20);
}

TEST(Confidence, WelchByHand) {
  // Variances of the means: 1 / 3 of (1, 2, 3), 4 / 3 of (2, 4, 6). Degrees (5/3)^2 / (1/18 + 8/9).
  const MeanInterval interval = interval_of_difference({1, 2, 3}, {2, 4, 6});
  EXPECT_DOUBLE_EQ(interval.mean, 2);
  const double degrees = (25.0 / 9) / (1.0 / 18 + 16.0 / 18);
  EXPECT_NEAR(*interval.half_width, student_t(degrees) * std::sqrt(5.0 / 3), 1e-9);
}

TEST(Confidence, IntervalsCoverTheTrueMean) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> draw(3, 2);
  int covered = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> samples(5);
    for (double& sample : samples) {
      sample = draw(random);
    }
    const MeanInterval interval = interval_of_mean(samples);
    covered += std::abs(interval.mean - 3) <= *interval.half_width ? 1 : 0;
  }
  EXPECT_NEAR(covered / double{kTrials}, 0.95, 0.015);  // 4.4 sigma
}

}  // namespace
}  // namespace flitwise::confidence_test
