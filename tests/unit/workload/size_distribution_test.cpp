// SPDX-License-Identifier: Apache-2.0
// Size distributions: drawn sizes follow the table, means are exact, wrong tables are refused in
// place.
#include "workload/size_distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "flitwise/error.h"
#include "workload/shipped_distributions.h"

namespace flitwise::size_distribution_test {
namespace {

SizeDistribution from_text(const std::string& rows, std::uint32_t cap = 65536) {
  std::istringstream in("bytes,cumulative_percent\n" + rows);
  return SizeDistribution::read(in, "sizes.csv", cap);
}

std::string problem_of(const std::string& text) {
  std::istringstream in(text);
  try {
    SizeDistribution::read(in, "sizes.csv", 65536);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

/// Largest distance between the empirical and the promised cumulative share, over all sizes seen.
double distance(const SizeDistribution& sizes, int draws, std::uint64_t seed) {
  Random random(seed);
  std::map<std::uint32_t, int> counts;
  for (int i = 0; i < draws; ++i) {
    ++counts[sizes.draw(random)];
  }
  double worst = 0;
  double seen = 0;
  for (const auto& [bytes, count] : counts) {
    worst = std::max(worst, std::abs(seen / draws - sizes.cumulative(bytes - 1)));
    seen += count;
    worst = std::max(worst, std::abs(seen / draws - sizes.cumulative(bytes)));
  }
  return worst;
}

class ShippedSizes : public testing::TestWithParam<const char*> {};

TEST_P(ShippedSizes, DrawnSizesFollowTheTable) {
  constexpr int kDraws = 200'000;
  const SizeDistribution sizes = SizeDistribution::load(GetParam(), 65536);
  // Kolmogorov-Smirnov: a distance beyond 1.95 / sqrt(n) has probability below 0.001.
  EXPECT_LT(distance(sizes, kDraws, 1), 1.95 / std::sqrt(kDraws));
}

TEST_P(ShippedSizes, MeanIsThatOfTheDrawnSizes) {
  constexpr int kDraws = 400'000;
  const SizeDistribution sizes = SizeDistribution::load(GetParam(), 65536);
  Random random(2);
  double sum = 0;
  double squares = 0;
  int at_cap = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = sizes.draw(random);
    ASSERT_GE(drawn, 1);
    ASSERT_LE(drawn, 65536);
    sum += drawn;
    squares += drawn * drawn;
    at_cap += drawn == 65536 ? 1 : 0;
  }
  const double mean = sum / kDraws;
  const double deviation = std::sqrt((squares / kDraws - mean * mean) / kDraws);
  EXPECT_NEAR(sizes.mean(), mean, 4 * deviation);
  EXPECT_NEAR(at_cap / static_cast<double>(kDraws), 1 - sizes.cumulative(65535), 0.004);
}

TEST_P(ShippedSizes, TableInsideTheProgramIsTheFileInTheRepository) {
  const std::string path =
      std::string(FLITWISE_SOURCE_DIR) + "/configs/data/sizes/" + GetParam() + ".csv";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty()) << path;
  EXPECT_EQ(shipped_distribution(GetParam()), text.str());
  EXPECT_EQ(SizeDistribution::load(path, 4096).mean(),
            SizeDistribution::load(GetParam(), 4096).mean());
}

INSTANTIATE_TEST_SUITE_P(All, ShippedSizes,
                         testing::Values("google_rpc_2008", "facebook_hadoop_2015",
                                         "alibaba_storage_2019", "solar_2022"));

TEST(SizeDistribution, PublishedRowsAreKept) {
  const SizeDistribution ali = SizeDistribution::load("alibaba_storage_2019", 2'000'000);
  EXPECT_DOUBLE_EQ(ali.cumulative(4000), 0.2293);
  EXPECT_DOUBLE_EQ(ali.cumulative(2000), 0.2293 / 2);
  EXPECT_DOUBLE_EQ(ali.cumulative(128000), 0.9677);
  EXPECT_DOUBLE_EQ(ali.cut_share(), 0);
  const SizeDistribution solar = SizeDistribution::load("solar_2022", 65536);
  EXPECT_DOUBLE_EQ(solar.cumulative(4096), 0.30);
  EXPECT_NEAR(solar.cut_share(), 0.05, 1e-12);
}

TEST(SizeDistribution, MeanOfASmallTableIsTheHandComputedOne) {
  // 50 % uniform on 1..4, 50 % uniform on 5..10.
  EXPECT_DOUBLE_EQ(from_text("0,0\n4,50\n10,100\n").mean(), 0.5 * 2.5 + 0.5 * 7.5);
  // The cut moves 7..10 to 6: 5, 6, 6, 6, 6, 6.
  const SizeDistribution cut = from_text("0,0\n4,50\n10,100\n", 6);
  EXPECT_DOUBLE_EQ(cut.mean(), 0.5 * 2.5 + 0.5 * 35 / 6);
  EXPECT_DOUBLE_EQ(cut.cut_share(), 0.5 * 4 / 6);
  EXPECT_DOUBLE_EQ(from_text("100,0\n200,100\n", 50).mean(), 50);
  EXPECT_DOUBLE_EQ(from_text("100,0\n200,100\n").mean(), 150.5);
}

TEST(SizeDistribution, FirstRowAndRepeatedSizesAreSteps) {
  const SizeDistribution sizes = from_text("64,25\n128,25\n128,75\n256,75\n256,100\n");
  Random random(5);
  std::map<std::uint32_t, int> counts;
  for (int i = 0; i < 40'000; ++i) {
    ++counts[sizes.draw(random)];
  }
  ASSERT_EQ(counts.size(), 3U);
  EXPECT_NEAR(counts[64], 10'000, 500);
  EXPECT_NEAR(counts[128], 20'000, 500);
  EXPECT_NEAR(counts[256], 10'000, 500);
  EXPECT_DOUBLE_EQ(sizes.mean(), 0.25 * 64 + 0.5 * 128 + 0.25 * 256);
}

TEST(SizeDistribution, FixedGivesOneSizeAndAtLeastOneByte) {
  Random random(6);
  EXPECT_EQ(SizeDistribution::fixed(513).draw(random), 513U);
  EXPECT_DOUBLE_EQ(SizeDistribution::fixed(513).mean(), 513);
  EXPECT_EQ(SizeDistribution::fixed(0).draw(random), 1U);
  EXPECT_EQ(from_text("0,0\n0,100\n").draw(random), 1U);
}

TEST(SizeDistribution, WrongTablesAreRefusedWithTheirPlace) {
  const std::string header = "bytes,cumulative_percent\n";
  EXPECT_EQ(problem_of(""),
            "sizes.csv:1:1: the file is empty; expected the header 'bytes,cumulative_percent'");
  EXPECT_EQ(problem_of("size,share\n1,100\n"),
            "sizes.csv:1:1: the first line is 'size,share'; expected 'bytes,cumulative_percent'");
  EXPECT_EQ(problem_of(header),
            "sizes.csv:1:1: the table ends at 0 percent; expected a last row at 100");
  EXPECT_EQ(problem_of(header + "64,99\n"),
            "sizes.csv:2:1: the table ends at 99 percent; expected a last row at 100");
  EXPECT_EQ(problem_of(header + "64,50\n32,100\n"),
            "sizes.csv:3:1: bytes falls from 64 to 32; expected ascending sizes");
  EXPECT_EQ(problem_of(header + "64,50\n128,40\n256,100\n"),
            "sizes.csv:3:5: cumulative_percent falls from 50 to 40; expected ascending shares");
  EXPECT_EQ(problem_of(header + "64\n"),
            "sizes.csv:2:3: the line ends after bytes; expected 'bytes,cumulative_percent'");
  EXPECT_EQ(problem_of(header + "64,50%\n128,100\n"),
            "sizes.csv:2:4: cumulative_percent is '50%'; expected 0 to 100");
  EXPECT_EQ(problem_of(header + "64, 101\n"),
            "sizes.csv:2:5: cumulative_percent is '101'; expected 0 to 100");
  EXPECT_EQ(problem_of(header + "-1,50\n"),
            "sizes.csv:2:1: bytes is '-1'; expected a whole number of bytes");
  EXPECT_EQ(problem_of(header + "64,50,1\n"),
            "sizes.csv:2:7: a third field '1'; expected 'bytes,cumulative_percent'");
}

TEST(SizeDistribution, AllProblemsOfATableAreToldInOneGo) {
  EXPECT_EQ(problem_of("bytes,cumulative_percent\nx,1\n64,50\n128,y\n"),
            "sizes.csv:2:1: bytes is 'x'; expected a whole number of bytes\n"
            "sizes.csv:4:5: cumulative_percent is 'y'; expected 0 to 100");
}

TEST(SizeDistribution, MissingFileNamesTheShippedTables) {
  try {
    SizeDistribution::load("no/such/file.csv", 65536);
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "no/such/file.csv: no such file; expected a CSV file or one of "
                 "alibaba_storage_2019, facebook_hadoop_2015, google_rpc_2008, solar_2022");
  }
}

}  // namespace
}  // namespace flitwise::size_distribution_test
