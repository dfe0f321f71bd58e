// SPDX-License-Identifier: Apache-2.0
// Size distributions: drawn sizes follow the table, wrong tables are refused in place.
#include "workload/size_distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "flitwise/error.h"

namespace flitwise::size_distribution_test {
namespace {

constexpr std::uint32_t kCap = 65536;

SizeDistribution from_text(const std::string& rows, std::uint32_t cap = kCap) {
  std::istringstream in("bytes,cumulative_percent\n" + rows);
  return SizeDistribution::read(in, "sizes.csv", cap);
}

std::string problem_of(const std::string& text) {
  std::istringstream in(text);
  try {
    SizeDistribution::read(in, "sizes.csv", kCap);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

/// The published table as it stands in the file: share of messages of at most so many bytes.
class Table {
 public:
  explicit Table(std::string_view csv) {
    std::istringstream in{std::string(csv)};
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      const std::size_t comma = line.find(',');
      rows_.emplace_back(std::stod(line), std::stod(line.substr(comma + 1)) / 100);
    }
  }
  double cumulative(double bytes) const {
    const auto above = std::find_if(rows_.begin(), rows_.end(),
                                    [&](const auto& row) { return row.first > bytes; });
    if (above == rows_.begin() || above == rows_.end()) {
      return above == rows_.end() ? 1 : 0;
    }
    const auto& [low, share] = *(above - 1);
    return share + (above->second - share) * (bytes - low) / (above->first - low);
  }

 private:
  std::vector<std::pair<double, double>> rows_;
};

/// Largest distance between the empirical and the promised cumulative share, over all sizes seen.
double distance(const SizeDistribution& sizes, const Table& table, int draws) {
  Random random(1);
  std::map<std::uint32_t, int> counts;
  for (int i = 0; i < draws; ++i) {
    ++counts[sizes.draw(random)];
  }
  double worst = 0;
  double seen = 0;
  for (const auto& [bytes, count] : counts) {
    const double below = bytes == 1 ? 0 : table.cumulative(bytes - 1);
    worst = std::max(worst, std::abs(seen / draws - below));
    seen += count;
    const double share = bytes == kCap ? 1 : table.cumulative(bytes);
    worst = std::max(worst, std::abs(seen / draws - share));
  }
  return worst;
}

class ShippedSizes : public testing::TestWithParam<const char*> {};

TEST_P(ShippedSizes, DrawnSizesFollowTheTableUpToTheCap) {
  constexpr int kDraws = 200'000;
  const SizeDistribution sizes = SizeDistribution::load(GetParam(), kCap);
  const Table table(shipped_distribution(GetParam()).value());
  // Kolmogorov-Smirnov: a distance beyond 1.95 / sqrt(n) has probability below 0.001.
  EXPECT_LT(distance(sizes, table, kDraws), 1.95 / std::sqrt(kDraws));
}

TEST_P(ShippedSizes, TableInsideTheProgramIsTheFileInTheRepository) {
  const std::string path =
      std::string(FLITWISE_SOURCE_DIR) + "/configs/data/sizes/" + GetParam() + ".csv";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty()) << path;
  EXPECT_EQ(shipped_distribution(GetParam()), text.str());
  const SizeDistribution by_path = SizeDistribution::load(path, 4096);
  const SizeDistribution by_name = SizeDistribution::load(GetParam(), 4096);
  Random one(3), other(3);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(by_path.draw(one), by_name.draw(other));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedSizes,
                         testing::Values("google_rpc_2008", "facebook_hadoop_2015",
                                         "alibaba_storage_2019", "solar_2022"));

TEST(SizeDistribution, LongerMessagesAreCut) {
  Random random(4);
  EXPECT_EQ(from_text("100,0\n200,100\n", 50).draw(random), 50U);
  // 50 % uniform on 1..4, 50 % uniform on 5..10: of these the cut moves 7..10 to 6.
  const SizeDistribution cut = from_text("0,0\n4,50\n10,100\n", 6);
  std::map<std::uint32_t, int> counts;
  for (int i = 0; i < 40'000; ++i) {
    ++counts[cut.draw(random)];
  }
  ASSERT_EQ(counts.size(), 6U);
  EXPECT_NEAR(counts[4], 5'000, 300);
  EXPECT_NEAR(counts[5], 3'333, 300);
  EXPECT_NEAR(counts[6], 16'667, 500);
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
}

TEST(SizeDistribution, ASizeIsAtLeastOneByte) {
  Random random(6);
  EXPECT_EQ(from_text("0,0\n0,100\n").draw(random), 1U);
}

TEST(SizeDistribution, WrongTablesAreRefusedWithTheirPlace) {
  const std::string header = "bytes,cumulative_percent\n";
  EXPECT_EQ(problem_of(""),
            "sizes.csv:1:1: the file is empty; expected the header 'bytes,cumulative_percent'");
  EXPECT_EQ(problem_of("size,share\n1,100\n"),
            "sizes.csv:1:1: the first line is 'size,share'; expected 'bytes,cumulative_percent'");
  EXPECT_EQ(problem_of("\xef\xbb\xbf" + header + "1,100\n"),
            "sizes.csv:1:1: the file begins with a byte order mark; expected "
            "'bytes,cumulative_percent' at its first byte");
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

TEST(SizeDistribution, TheMeanIsThatOfWhatIsDrawn) {
  EXPECT_DOUBLE_EQ(from_text("64,100\n").mean(), 64);
  EXPECT_DOUBLE_EQ(from_text("10,25\n20,25\n20,100\n").mean(), .25 * 10 + .75 * 20);
  EXPECT_DOUBLE_EQ(from_text("0,0\n4,100\n").mean(), 2.5);             // 1 to 4 alike
  EXPECT_DOUBLE_EQ(from_text("0,50\n4,100\n").mean(), .5 + .5 * 2.5);  // none has 0 bytes
  EXPECT_DOUBLE_EQ(from_text("0,0\n4,100\n", 3).mean(), 2.25);
  EXPECT_DOUBLE_EQ(from_text("10,0\n20,100\n", 5).mean(), 5);
  for (const std::string_view name : shipped_distribution_names()) {
    for (const std::uint32_t cap : {1U, 4096U, 30'000'000U}) {
      const SizeDistribution sizes = SizeDistribution::load(std::string(name), cap);
      Random random(8);
      double sum = 0, square = 0;
      constexpr unsigned kDraws = 200'000;
      for (unsigned i = 0; i < kDraws; ++i) {
        const double size = sizes.draw(random);
        sum += size;
        square += size * size;
      }
      const double mean = sum / kDraws;
      EXPECT_NEAR(sizes.mean(), mean, 4 * std::sqrt((square / kDraws - mean * mean) / kDraws))
          << name << " " << cap;
    }
  }
}

TEST(SizeDistribution, MissingFileNamesTheShippedTables) {
  try {
    SizeDistribution::load("no/such/file.csv", kCap);
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "no/such/file.csv: no such file; expected a CSV file or one of "
                 "alibaba_storage_2019, facebook_hadoop_2015, google_rpc_2008, solar_2022");
  }
}

}  // namespace
}  // namespace flitwise::size_distribution_test
