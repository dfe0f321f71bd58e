// SPDX-License-Identifier: Apache-2.0
// Flit mode on a wire with bit errors, more than 10^10 bits a campaign: flits that FEC mends, flits
// beyond repair and replays are as many as a closed form says, within 99 % intervals; nothing is
// lost, comes twice or out of order. docs/flit_mode.md has the table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/negative_binomial.hpp>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "config/load.h"
#include "flitwise/system.h"
#include "results/result_json.h"
#include "support/link_model.h"
#include "support/pattern_memory.h"
#include "validation/simulate_in_child.h"

namespace flitwise::flit_errors_test {
namespace {

using boost::math::binomial_distribution;
using boost::math::negative_binomial_distribution;
using Json = nlohmann::ordered_json;

constexpr unsigned kFlitBytes = 256, kGroups = 3;
constexpr std::uint64_t kWrites = 430'000, kPayload = 256;  ///< of one run: 10^9 bits
constexpr unsigned kSeeds = 10;

/// What becomes of one flit.
struct FlitOdds {
  double mended = 0;  ///< at most one wrong byte in each group, but not none at all
  double beyond = 0;  ///< two wrong bytes or more in one group
};

/// Each bit begins a burst of `burst` wrong bits with probability `rate`, whatever else goes wrong;
/// bursts may overlap, and end with the flit. Byte i is in group i mod 3; two wrong bits of one
/// byte are one wrong byte. [LNK-11.8] Exact: a chain from bit to bit, whose state is how many bits
/// are still wrong, which groups have a wrong byte, and whether this byte is one.
FlitOdds flit_odds(double rate, unsigned burst) {
  constexpr unsigned kGroupSets = 1U << kGroups;
  const auto index = [](unsigned left, unsigned groups, bool is_wrong) {
    return (left * kGroupSets + groups) * 2 + (is_wrong ? 1 : 0);
  };
  FlitOdds odds;
  std::vector<double> chain(static_cast<std::size_t>(burst) * kGroupSets * 2);
  chain[0] = 1;
  for (unsigned bit = 0; bit < kFlitBytes * 8; ++bit) {
    const unsigned group = 1U << (bit / 8 % kGroups);
    std::vector<double> next(chain.size());
    for (unsigned left = 0; left < burst; ++left) {
      for (unsigned groups = 0; groups < kGroupSets; ++groups) {
        for (const bool was_wrong : {false, true}) {
          const double here = chain[index(left, groups, was_wrong)];
          const bool is_wrong_byte = was_wrong && bit % 8 != 0;
          const double good = left == 0 ? here * (1 - rate) : 0;
          next[index(0, groups, is_wrong_byte)] += good;
          // A new burst ends behind those that are under way.
          const std::array<double, 2> wrong = {here * rate, left == 0 ? 0 : here * (1 - rate)};
          const std::array<unsigned, 2> left_behind = {burst - 1, left == 0 ? 0 : left - 1};
          for (std::size_t i = 0; i < wrong.size(); ++i) {
            if (!is_wrong_byte && (groups & group) != 0) {
              odds.beyond += wrong[i];
            } else {
              next[index(left_behind[i], groups | group, true)] += wrong[i];
            }
          }
        }
      }
    }
    chain = std::move(next);
  }
  for (unsigned left = 0; left < burst; ++left) {
    for (unsigned groups = 1; groups < kGroupSets; ++groups) {
      odds.mended += chain[index(left, groups, false)] + chain[index(left, groups, true)];
    }
  }
  return odds;
}

// With single wrong bits: 86, 85 and 85 bytes, in each group none wrong or one.
TEST(FlitOdds, LNK_11_8_TheChainAgreesWithTheClosedFormOfSingleBits) {
  for (const double rate : {1e-9, 3e-6, 1e-4, 1e-2}) {
    const double good = std::pow(1 - rate, 8);
    double within = 1;
    for (const double bytes : {86.0, 85.0, 85.0}) {
      within *= std::pow(good, bytes) + bytes * (1 - good) * std::pow(good, bytes - 1);
    }
    const FlitOdds odds = flit_odds(rate, 1);
    EXPECT_NEAR(odds.beyond, 1 - within, 1e-11 + 1e-9 * odds.beyond);
    EXPECT_NEAR(odds.mended + odds.beyond, 1 - std::pow(1 - rate, 2048), 1e-11);
    EXPECT_NEAR(odds.beyond, uncorrectable_flit_rate(rate), 1e-11 + 1e-9 * odds.beyond);
  }
  // Bursts of 17 bits touch three bytes at most, of 18 to 24 four at some places, of 25 always.
  EXPECT_LT(flit_odds(1e-9, 17).beyond, 1e-9);
  EXPECT_NEAR(flit_odds(1e-9, 18).beyond / (1e-9 * 253), 1, 1e-3);
  EXPECT_NEAR(flit_odds(1e-9, 24).beyond / (1e-9 * 253 * 7), 1, 1e-3);
  EXPECT_NEAR(flit_odds(1e-9, 25).beyond / (1e-9 * 253 * 8), 1, 1e-3);
}

struct Interval {
  double low, high;
  std::string text() const { return fmt::format("{:.0f} to {:.0f}", low, high); }
};

/// Holds a count with this probability. Both ends belong to it: quantiles are rounded outwards.
template <class Distribution>
Interval interval_of(const Distribution& counts, double confidence) {
  const double tail = (1 - confidence) / 2;
  return {boost::math::quantile(counts, tail),
          boost::math::quantile(boost::math::complement(counts, tail))};
}

struct Campaign {
  const char* name;
  const char* preset;
  double rate;
  unsigned burst;

  Simulation with_seed(unsigned seed) const {
    return {"checks/saturated.yaml",
            {fmt::format("link.preset={}", preset), "link.flit_mode=true",
             fmt::format("link.error_rate={}", rate), fmt::format("link.error_burst={}", burst),
             fmt::format("workload.payload={}B", kPayload),
             fmt::format("workload.requests={}", kWrites), fmt::format("run.seed={}", seed)}};
  }
};

constexpr Campaign kCampaigns[] = {
    {"gen6x16_3e6", "gen6x16", 3e-6, 1},      {"gen6x16_1e5", "gen6x16", 1e-5, 1},
    {"gen6x16_3e5", "gen6x16", 3e-5, 1},      {"gen6x16_1e4", "gen6x16", 1e-4, 1},
    {"gen6x16_burst8", "gen6x16", 1e-5, 8},   {"gen6x16_burst17", "gen6x16", 3e-5, 17},
    {"gen6x16_burst24", "gen6x16", 1e-6, 24}, {"gen6x1_burst33", "gen6x1", 1e-6, 33},
    {"gen5x16_3e5", "gen5x16", 3e-5, 1},      {"gen5x16_burst8", "gen5x16", 3e-5, 8},
    {"gen3x4_1e4", "gen3x4", 1e-4, 1}};

/// Of all runs of a campaign, towards the root.
struct Counts {
  double first = 0;   ///< flits sent for the first time
  double resent = 0;  ///< flits of replays
  double mended = 0, beyond = 0, replays = 0;

  void add(const Json& result) {
    const Json& up = result.at("links")[0].at("up");
    first += up.at("wire_bytes").at("fec").get<double>() / 6;
    resent += up.at("replays").get<double>();
    mended += up.at("flits_corrected").get<double>();
    beyond += up.at("corrupted").get<double>();
    replays += up.at("replay_events").get<double>();
  }
  double flits() const { return first + resent; }
};

void expect_all_writes_done(const Json& result) {
  const Json& up = result.at("links")[0].at("up");
  EXPECT_EQ(up.at("tlps").get<std::uint64_t>(), kWrites);
  EXPECT_EQ(up.at("payload_bytes").get<std::uint64_t>(), kWrites * kPayload);
  for (const Json& check : result.at("checks")) {
    EXPECT_TRUE(check.at("ok").get<bool>()) << check;
  }
  EXPECT_TRUE(result.at("errors").empty()) << result.at("errors");
}

/// All counts of all campaigns together lie in their intervals with a probability of 99 %.
/// Returns the count and its own interval of 99 %.
template <class Distribution>
std::string judged(const char* what, double count, const Distribution& distribution) {
  constexpr double kCounts = 3 * std::size(kCampaigns);
  const Interval joint = interval_of(distribution, 1 - 0.01 / kCounts);
  EXPECT_TRUE(joint.low <= count && count <= joint.high)
      << what << ": " << count << ", not " << joint.text();
  return fmt::format("{:.0f} ({})", count, interval_of(distribution, 0.99).text());
}

class FlitErrors : public ::testing::TestWithParam<Campaign> {};

// What the forms count:
// - flits: all transmissions, first ones and those of replays, with payload or not; each is drawn
//   anew. Mended ones and those beyond repair are binomial in them.
// - replays: the receiver waits for one flit at a time, and each transmission of the flit that it
//   waits for is good or leads to one replay, by a Nak or, where a replay begins with a damaged
//   flit, by the timer. Flits behind it are not taken, damaged or not, and lead to none. So replays
//   are the failures before as many successes as there are flits: negative binomial, n p / (1 - p)
//   in the mean, however long a round trip is. A damaged Ack or Nak is repeated and adds none.
// Writes alone go up, saturated, so that all flits but a handful have payload.
// [LNK-11.6]
TEST_P(FlitErrors, LNK_11_8_LNK_11_7_MendedDamagedAndReplayedAsTheClosedFormSays) {
  const Campaign& campaign = GetParam();
  std::vector<Simulation> runs;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    runs.push_back(campaign.with_seed(seed));
  }
  Counts counts;
  for (const Json& result : simulate_in_children(runs)) {
    ASSERT_FALSE(result.contains("failed")) << result;
    expect_all_writes_done(result);
    counts.add(result);
  }
  EXPECT_GT(counts.flits() * kFlitBytes * 8, 1e9 * kSeeds);

  const FlitOdds odds = flit_odds(campaign.rate, campaign.burst);
  const double flits = counts.flits();
  const std::string row[] = {
      judged("mended", counts.mended, binomial_distribution<>(flits, odds.mended)),
      judged("beyond", counts.beyond, binomial_distribution<>(flits, odds.beyond)),
      judged("replays", counts.replays,
             negative_binomial_distribution<>(counts.first, 1 - odds.beyond))};
  // As in docs/flit_mode.md.
  fmt::print("| {} | {:g} | {} | {:.0f} | {} | {:.1f} |\n", campaign.preset, campaign.rate,
             campaign.burst, flits, fmt::join(row, " | "), counts.resent / counts.replays);
}

// The words of all writes count up, and come in whole, once and in order. [LNK-11.6] [LNK-11.7]
TEST_P(FlitErrors, LNK_11_8_NothingIsLostComesTwiceOrOutOfOrder) {
  LoadOptions options;
  const Simulation run = GetParam().with_seed(1);
  options.sets = run.sets;
  const Config config = load_config(FLITWISE_SOURCE_DIR "/configs/" + run.config, options);
  test::PatternMemory memory("pattern_memory");
  System system(config, memory.socket);
  const RunResult result = system.run();
  EXPECT_GT(result.rows<LinkResult>().at(0).up.corrupted, 0U);
  EXPECT_EQ(memory.out_of_place, 0U);
  EXPECT_EQ(memory.bytes, kWrites * kPayload);
  expect_all_writes_done(result_json(result));
}

INSTANTIATE_TEST_SUITE_P(Rates, FlitErrors, ::testing::ValuesIn(kCampaigns),
                         [](const auto& made) { return std::string(made.param.name); });

// Lines that the host writes by CXL.mem, ten runs and 10^9 bits a row.
struct CxlCampaign {
  const char* preset;
  double rate;
  unsigned burst;
};
constexpr std::uint64_t kLines = 160'000;  ///< of one run

std::vector<Json> results_of(const CxlCampaign& campaign) {
  std::vector<Simulation> runs;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    runs.push_back(
        {"bench/cxl_mem_read_64B.yaml",
         {fmt::format("link.preset={}", campaign.preset), "workload.kind=posted_write",
          fmt::format("workload.requests={}", kLines), "run.warmup=0",
          fmt::format("link.error_rate={}", campaign.rate),
          fmt::format("link.error_burst={}", campaign.burst), fmt::format("run.seed={}", seed)}});
  }
  return simulate_in_children(runs);
}

void expect_replays(const CxlCampaign& campaign, double flits, double replays, double odds) {
  constexpr double kRows = 4;
  const Interval joint =
      interval_of(negative_binomial_distribution<>(flits, 1 - odds), 1 - 0.01 / kRows);
  EXPECT_TRUE(joint.low <= replays && replays <= joint.high)
      << campaign.preset << " at " << campaign.rate << ": " << replays << " replays of " << flits
      << " flits, not " << joint.text();
}

double expect_all_lines_written(const Json& result, const char* field) {
  const Json& down = result.at("links")[0].at("down");
  EXPECT_EQ(down.at("tlps").get<std::uint64_t>(), kLines);
  EXPECT_EQ(down.at("payload_bytes").get<std::uint64_t>(), kLines * 64);
  for (const Json& check : result.at("checks")) {
    EXPECT_TRUE(check.at("ok").get<bool>()) << check;
  }
  EXPECT_TRUE(result.at("errors").empty()) << result.at("errors");
  EXPECT_TRUE(result.at("violations").empty()) << result.at("violations");
  return down.at("wire_bytes").at(field).get<double>();
}

// A flit of 68 bytes with a wrong bit has to come again. Those of LLCRD and RETRY count among the
// flits, since a damaged one ends in a retry as well; but for the RETRY.Frames ahead of a
// RETRY.Ack, less than 1 % of all flits at these rates.
TEST(CxlFlitErrors, CXL_3_6_RetriesAreAsManyAsTheClosedFormSays) {
  for (const CxlCampaign& campaign :
       {CxlCampaign{"cxl68_gen5x16", 1e-6, 1}, CxlCampaign{"cxl68_gen5x16", 3e-6, 1}}) {
    constexpr double kBytes = 68, kCrcBytes = 2;
    double flits = 0, replays = 0;
    for (const Json& result : results_of(campaign)) {
      ASSERT_FALSE(result.contains("failed")) << result;
      flits += expect_all_lines_written(result, "crc") / kCrcBytes;
      replays += result.at("links")[0].at("down").at("replay_events").get<double>();
    }
    EXPECT_GT(flits * kBytes * 8, 1e9);
    expect_replays(campaign, flits, replays, 1 - std::pow(1 - campaign.rate, kBytes * 8));
  }
}

// Flits of 256 bytes are mended and replayed as in flit mode. NOP flits, which are not replayed,
// count among the flits: at these rates less than 1 % of them.
TEST(CxlFlitErrors, CXL_6_2_ReplaysAreAsManyAsTheClosedFormSays) {
  for (const CxlCampaign& campaign :
       {CxlCampaign{"cxl256_gen6x16", 3e-5, 1}, CxlCampaign{"cxl256_gen6x16", 3e-6, 20}}) {
    constexpr double kFecBytes = 6;
    double flits = 0, replays = 0;
    for (const Json& result : results_of(campaign)) {
      ASSERT_FALSE(result.contains("failed")) << result;
      flits += expect_all_lines_written(result, "fec") / kFecBytes;
      replays += result.at("links")[0].at("down").at("replay_events").get<double>();
    }
    EXPECT_GT(flits * kFlitBytes * 8, 1e9);
    expect_replays(campaign, flits, replays, flit_odds(campaign.rate, campaign.burst).beyond);
  }
}

}  // namespace
}  // namespace flitwise::flit_errors_test
