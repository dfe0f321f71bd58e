// SPDX-License-Identifier: Apache-2.0
// Intervals of means: quantiles against the tables that textbooks print, intervals by hand, and how
// often they cover the true value.
#include "stats/confidence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace flitwise::confidence_test {
namespace {

TEST(Confidence, QuantilesAreThoseOfTheTables) {
  // Degrees, two-sided 90 %, 95 % and 99 %, as any table of Student's t prints them.
  const std::vector<std::array<double, 4>> table = {
      {1, 6.314, 12.706, 63.657}, {2, 2.920, 4.303, 9.925},  {3, 2.353, 3.182, 5.841},
      {4, 2.132, 2.776, 4.604},   {5, 2.015, 2.571, 4.032},  {7, 1.895, 2.365, 3.499},
      {9, 1.833, 2.262, 3.250},   {10, 1.812, 2.228, 3.169}, {15, 1.753, 2.131, 2.947},
      {20, 1.725, 2.086, 2.845},  {30, 1.697, 2.042, 2.750}, {60, 1.671, 2.000, 2.660},
      {120, 1.658, 1.980, 2.617}, {1e6, 1.645, 1.960, 2.576}};
  for (const auto& [degrees, t90, t95, t99] : table) {
    EXPECT_NEAR(student_t(degrees, 0.90), t90, 5.1e-4) << degrees;
    EXPECT_NEAR(student_t(degrees), t95, 5.1e-4) << degrees;
    EXPECT_NEAR(student_t(degrees, 0.99), t99, 5.1e-4) << degrees;
  }
}

// tan(pi c / 2) and c sqrt(2 / (1 - c^2)), c being the confidence.
TEST(Confidence, QuantilesOfOneAndTwoDegreesAreTheirClosedForms) {
  for (const double confidence : {0.1, 0.5, 0.9, 0.95, 0.999}) {
    const double one = std::tan(std::acos(-1.0) * confidence / 2);
    const double two = confidence * std::sqrt(2 / (1 - confidence * confidence));
    EXPECT_NEAR(student_t(1, confidence), one, 1e-9 * one) << confidence;
    EXPECT_NEAR(student_t(2, confidence), two, 1e-9 * two) << confidence;
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

// 39 zeros and 40: mean 1, skewness 6.0849, beta 0.16035; t of 39 degrees is 2.02269, and
// (1 - cbrt(1 - 6 beta (t + beta))) / (2 beta) = 6.3373 standard errors of 1.
TEST(Confidence, OneFarSampleOfManyMayStandForMore) {
  std::vector<double> samples(39, 0);
  samples.push_back(40);
  EXPECT_NEAR(*interval_of_mean(samples).half_width, 2.02269, 1e-5);
  EXPECT_NEAR(*interval_of_skewed(samples).half_width, 6.3373, 1e-3);
  EXPECT_DOUBLE_EQ(*interval_of_skewed({2, 4, 6, 8}).half_width,
                   *interval_of_mean({2, 4, 6, 8}).half_width);
  EXPECT_EQ(*interval_of_skewed({3, 3, 3}).half_width, 0);
  EXPECT_FALSE(interval_of_skewed({7}).half_width);
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
  // Variances of the means: 1 / 3 of (1, 2, 3), 4 / 3 of (2, 4, 6). Degrees (5/3)^2 / (1/18 + 8/9),
  // 2.941; t of these, by Simpson's rule over the density, is 3.218759.
  const MeanInterval interval = interval_of_difference({1, 2, 3}, {2, 4, 6});
  EXPECT_DOUBLE_EQ(interval.mean, 2);
  EXPECT_NEAR(*interval.half_width, 3.218759 * std::sqrt(5.0 / 3), 1e-5);
}

/// How many of 4,000 intervals of `make` cover 3; 95 % are to, +- 1.5 % is 4.4 sigma.
template <class Make>
void expect_coverage(Make make) {
  std::mt19937_64 random(1);
  int covered = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    const MeanInterval interval = make(random);
    covered += std::abs(interval.mean - 3) <= *interval.half_width ? 1 : 0;
  }
  EXPECT_NEAR(covered / double{kTrials}, 0.95, 0.015);
}

std::vector<double> draws(std::mt19937_64& random, std::size_t count, double mean, double sigma) {
  std::normal_distribution<double> draw(mean, sigma);
  std::vector<double> samples(count);
  std::generate(samples.begin(), samples.end(), [&] { return draw(random); });
  return samples;
}

TEST(Confidence, IntervalsCoverTheTrueMean) {
  expect_coverage([](std::mt19937_64& random) { return interval_of_mean(draws(random, 5, 3, 2)); });
}

TEST(Confidence, IntervalsOfDifferencesCoverTheTrueOne) {
  expect_coverage([](std::mt19937_64& random) {
    const std::vector<double> a = draws(random, 4, 10, 1), b = draws(random, 8, 13, 5);
    return interval_of_difference(a, b);
  });
  expect_coverage([](std::mt19937_64& random) {
    std::vector<double> a = draws(random, 5, 10, 20), b = draws(random, 5, 3, 1);
    std::transform(a.begin(), a.end(), b.begin(), b.begin(), std::plus<>());
    return interval_of_paired(a, b);
  });
}

}  // namespace
}  // namespace flitwise::confidence_test
