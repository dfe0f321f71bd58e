// SPDX-License-Identifier: Apache-2.0
// What hashing does to flows, beside closed forms: shares of ports, collisions, ways of sessions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "network/flow_hash.h"
#include "support/network_forms.h"

namespace flitwise::ecmp_spread_test {
namespace {

// Ports of so many flows from hosts of a leaf, as SRDMA makes them: ports of their range.
std::vector<unsigned> ports_of_flows(Random& random, unsigned flows, unsigned ports) {
  const auto seed = static_cast<std::uint32_t>(random.next());
  const auto port = [&random] { return static_cast<std::uint16_t>(49152 + random.below(16384)); };
  std::vector<unsigned> chosen;
  for (unsigned i = 0; i < flows; ++i) {
    const FiveTuple tuple{0x0a000001 + i, 0x0a000101 + i, port(), port()};
    chosen.push_back(with_seed(hash_of(tuple, FlowHash::kCrc32c), seed) % ports);
  }
  return chosen;
}

// Mean of what `of` makes of the ports of a round of flows, and how sure that is.
struct Mean {
  double mean, sigma;
};
template <class Of>
Mean mean_of(unsigned flows, unsigned ports, Of of) {
  constexpr unsigned kRounds = 1000;
  Random random(flows * 100 + ports);
  double sum = 0, square = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    const double value = of(ports_of_flows(random, flows, ports));
    sum += value;
    square += value * value;
  }
  const double mean = sum / kRounds;
  return {mean, std::sqrt((square / kRounds - mean * mean) / kRounds)};
}
void expect_near(const Mean& seen, double expected) {
  EXPECT_NEAR(seen.mean, expected, 4 * seen.sigma);
}

double distinct(const std::vector<unsigned>& ports) {
  return static_cast<double>(std::set<unsigned>(ports.begin(), ports.end()).size());
}

unsigned fullest_of(const std::vector<unsigned>& ports) {
  std::vector<unsigned> counts(64);
  for (const unsigned port : ports) {
    ++counts[port];
  }
  return *std::max_element(counts.begin(), counts.end());
}

TEST(EcmpSpread, GoodputOfOneStageIsTheShareOfBusyPorts) {
  const std::pair<unsigned, double> published[] = {{2, .7500},  {4, .6836},  {8, .6564},
                                                   {16, .6439}, {32, .6379}, {64, .6350}};
  for (const auto& [n, share] : published) {
    EXPECT_NEAR(forms::busy_share(n), share, 5e-5);
    expect_near(mean_of(n, n, [n = n](const auto& ports) { return distinct(ports) / n; }),
                forms::busy_share(n));
    // Sharing a port evenly, flows have the same in the mean.
    expect_near(
        mean_of(n, n,
                [n = n](const auto& ports) {
                  double sum = 0;
                  for (const unsigned port : ports) {
                    sum += 1.0 / static_cast<double>(std::count(ports.begin(), ports.end(), port));
                  }
                  return sum / n;
                }),
        forms::busy_share(n));
  }
}

TEST(EcmpSpread, CollisionsAreAsOftenAsOfRandomPorts) {
  EXPECT_NEAR(forms::no_collision(4), .09375, 1e-12);
  EXPECT_NEAR(forms::no_collision(8), 2.403e-3, 1e-6);
  for (const unsigned n : {2U, 4U}) {
    expect_near(mean_of(n, n, [n](const auto& ports) { return distinct(ports) == n ? 1.0 : 0.0; }),
                forms::no_collision(n));
  }
  EXPECT_NEAR(forms::shares_port(16, 8), .865, 5e-4);
  const std::pair<unsigned, unsigned> cases[] = {{4, 4}, {8, 8}, {16, 16}, {16, 8}};
  for (const auto& [flows, links] : cases) {
    expect_near(mean_of(flows, links,
                        [](const auto& ports) {
                          return std::count(ports.begin(), ports.end(), ports[0]) > 1 ? 1.0 : 0.0;
                        }),
                forms::shares_port(flows, links));
  }
}

TEST(EcmpSpread, TheFullestPortIsAsFullAsOfRandomPorts) {
  const std::pair<unsigned, double> exact[] = {{4, 2.125}, {8, 2.597}, {16, 3.078}, {32, 3.533}};
  for (const auto& [n, most] : exact) {
    const Mean seen =
        mean_of(n, n, [](const auto& ports) { return static_cast<double>(fullest_of(ports)); });
    EXPECT_NEAR(seen.mean, most, 4 * seen.sigma + 5e-4);
  }
}

// A flow over many sessions: how much more than the mean the fullest way has. Published values, to
// two decimals.
TEST(EcmpSpread, AFlowOverManySessionsLoadsWaysUnevenly) {
  struct Published {
    unsigned ways, sessions;
    double imbalance;
  };
  const Published all[] = {{8, 8, 2.60}, {8, 32, 1.76}, {4, 4, 2.13}, {4, 16, 1.53}, {4, 64, 1.26}};
  for (const Published& one : all) {
    const Mean seen = mean_of(one.sessions, one.ways, [&one](const auto& ports) {
      return static_cast<double>(fullest_of(ports)) * one.ways / one.sessions;
    });
    EXPECT_NEAR(seen.mean, one.imbalance, 4 * seen.sigma + .005) << one.ways << " " << one.sessions;
  }
}

// Each of n flows takes the least loaded of d hashed ports: the fullest one, published likewise.
TEST(EcmpSpread, TheBestOfAFewSessionsIsFarBetterThanOne) {
  struct Published {
    unsigned ports, choices;
    double fullest;
  };
  const Published all[] = {{8, 2, 2.02}, {16, 2, 2.11}, {8, 4, 1.78}, {16, 4, 1.98}};
  for (const Published& one : all) {
    const Mean seen = mean_of(one.ports * one.choices, one.ports, [&one](const auto& chosen) {
      std::vector<unsigned> load(one.ports);
      for (unsigned flow = 0; flow < one.ports; ++flow) {
        const auto first = chosen.begin() + flow * one.choices;
        ++load[*std::min_element(first, first + one.choices,
                                 [&load](unsigned a, unsigned b) { return load[a] < load[b]; })];
      }
      return static_cast<double>(*std::max_element(load.begin(), load.end()));
    });
    EXPECT_NEAR(seen.mean, one.fullest, 4 * seen.sigma + .005) << one.ports << " " << one.choices;
  }
}

// 5.25 of 8 ways for 8 sessions.
TEST(EcmpSpread, NW_C1_SessionsUseAsManyWaysAsTheBinomialLawSays) {
  EXPECT_NEAR(forms::distinct_ways(8, 8), 5.251, 5e-4);
  const std::pair<unsigned, unsigned> cases[] = {{8, 2},  {8, 4}, {8, 8},  {8, 16},
                                                 {8, 32}, {4, 4}, {16, 16}};
  for (const auto& [ways, sessions] : cases) {
    expect_near(mean_of(sessions, ways, distinct), forms::distinct_ways(ways, sessions));
  }
}

}  // namespace
}  // namespace flitwise::ecmp_spread_test
