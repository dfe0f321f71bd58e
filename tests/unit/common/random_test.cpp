// SPDX-License-Identifier: Apache-2.0
// Random numbers: exact values of a seed, independence of streams, unbiased mappings.
#include "common/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace flitwise::random_test {
namespace {

/// xoshiro256** written again from its published recurrence, seeded by splitmix64.
std::vector<std::uint64_t> reference_stream(std::uint64_t seed, int count) {
  std::uint64_t s[4];
  for (std::uint64_t& word : s) {
    seed += 0x9e3779b97f4a7c15U;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    word = z ^ (z >> 31);
  }
  std::vector<std::uint64_t> drawn;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t times5 = s[1] * 5;
    drawn.push_back(((times5 << 7) | (times5 >> 57)) * 9);
    const std::uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
  }
  return drawn;
}

TEST(Random, GivesThePublishedSequenceOfASeed) {
  for (const std::uint64_t seed : {0ULL, 1ULL, 0xffff'ffff'ffff'ffffULL}) {
    Random random(seed);
    for (const std::uint64_t expected : reference_stream(seed, 100)) {
      ASSERT_EQ(random.next(), expected);
    }
  }
  // The first output for seed 0, as other implementations of the two published generators give it.
  EXPECT_EQ(Random(0).next(), 11091344671253066420ULL);
}

TEST(Random, SameSeedSameStreamOtherSeedOtherStream) {
  Random a(7);
  Random b(7);
  Random c(8);
  int equal = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t drawn = a.next();
    ASSERT_EQ(drawn, b.next());
    equal += drawn == c.next() ? 1 : 0;
  }
  EXPECT_EQ(equal, 0);
}

TEST(Random, SplitStreamsDoNotDisturbEachOther) {
  Random root(3);
  const std::uint64_t before = root.split("arrivals").next();
  root.next();
  Random sizes = root.split("sizes");
  for (int i = 0; i < 10; ++i) {
    sizes.next();
  }
  EXPECT_EQ(root.split("arrivals").next(), before);
  EXPECT_NE(root.split("sizes").next(), before);
  EXPECT_NE(Random(4).split("arrivals").next(), before);
  EXPECT_NE(Random(3).split("a").split("b").next(), Random(3).split("b").split("a").next());
}

TEST(Random, BelowIsUniformAndInRange) {
  Random random(11);
  constexpr int kDraws = 300'000;
  for (const std::uint64_t bound : {1ULL, 2ULL, 3ULL, 7ULL}) {
    std::vector<int> counts(bound, 0);
    for (int i = 0; i < kDraws; ++i) {
      const std::uint64_t drawn = random.below(bound);
      ASSERT_LT(drawn, bound);
      ++counts[drawn];
    }
    const double expected = kDraws / static_cast<double>(bound);
    for (const int count : counts) {
      EXPECT_NEAR(count, expected, 5 * std::sqrt(expected) + 1) << "bound " << bound;
    }
  }
}

TEST(Random, BelowHasNoBiasWhereTheBoundIsTwoThirdsOfTheRange) {
  // A plain multiplication would give the lower half of each pair of results twice as often.
  const std::uint64_t bound = (std::numeric_limits<std::uint64_t>::max() / 3) * 2;
  Random random(12);
  int even = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    even += random.below(bound) % 2 == 0 ? 1 : 0;
  }
  EXPECT_NEAR(even, kDraws / 2.0, 5 * std::sqrt(kDraws / 4.0));
}

TEST(Random, RealLiesInTheUnitIntervalWithItsMeanAndVariance) {
  Random random(13);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = random.real();
    ASSERT_GE(drawn, 0);
    ASSERT_LT(drawn, 1);
    sum += drawn;
    squares += drawn * drawn;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.004);
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 0.004);
}

TEST(Random, ExponentialHasItsMeanAndItsVariance) {
  Random random(14);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 400'000;
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = random.exponential(5);
    ASSERT_GE(drawn, 0);
    sum += drawn;
    squares += drawn * drawn;
  }
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean, 5, 0.05);
  EXPECT_NEAR(squares / kDraws - mean * mean, 25, 0.6);
}

TEST(Random, GeometricHasItsMeanAndItsEdges) {
  Random random(15);
  double sum = 0;
  int zeros = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t drawn = random.geometric(0.2);
    sum += static_cast<double>(drawn);
    zeros += drawn == 0 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 4, 0.06);  // (1 - p) / p
  EXPECT_NEAR(zeros / static_cast<double>(kDraws), 0.2, 0.005);
  EXPECT_EQ(random.geometric(1), 0U);
  EXPECT_EQ(random.geometric(2), 0U);
  EXPECT_EQ(random.geometric(0), std::numeric_limits<std::uint64_t>::max());
  EXPECT_GT(random.geometric(1e-15), 1'000'000U);
}

TEST(Random, ChanceIsCertainAtTheEnds) {
  Random random(16);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(random.chance(0));
    EXPECT_TRUE(random.chance(1));
  }
}

}  // namespace
}  // namespace flitwise::random_test
