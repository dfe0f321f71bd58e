// SPDX-License-Identifier: Apache-2.0
// Domain choice: each policy against its own definition.
#include "workload/message_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "workload/workload.h"

namespace flitwise::domain_chooser_test {
namespace {

WorkloadConfig config_of(DomainChoice choice, unsigned domains) {
  WorkloadConfig config;
  config.domain_choice = choice;
  config.domains = domains;
  return config;
}

std::vector<int> counts_of(DomainChooser& chooser, unsigned domains, int draws) {
  std::vector<int> counts(domains, 0);
  for (int i = 0; i < draws; ++i) {
    ++counts.at(to_int(chooser.next().domain));
  }
  return counts;
}

TEST(AliasTable, DrawsByWeight) {
  const std::vector<double> weights = {1, 0, 5, 2, 2};
  const AliasTable table(weights);
  Random random(1);
  std::vector<int> counts(weights.size(), 0);
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    ++counts.at(table.draw(random));
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    EXPECT_NEAR(counts[i], weights[i] / 10 * kDraws, 5 * std::sqrt(weights[i] / 10 * kDraws)) << i;
  }
}

TEST(AliasTable, OneWeightIsAlwaysDrawn) {
  const AliasTable table({0.3});
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(table.draw(random), 0U);
  }
}

TEST(DomainChooser, RoundRobinVisitsAllInOrder) {
  DomainChooser chooser(config_of(DomainChoice::kRoundRobin, 3), Random(1));
  for (const unsigned expected : {0U, 1U, 2U, 0U, 1U, 2U, 0U}) {
    EXPECT_EQ(to_int(chooser.next().domain), expected);
  }
}

TEST(DomainChooser, UniformVisitsAllAlike) {
  DomainChooser chooser(config_of(DomainChoice::kUniform, 16), Random(2));
  for (const int count : counts_of(chooser, 16, 160'000)) {
    EXPECT_NEAR(count, 10'000, 500);
  }
}

TEST(DomainChooser, ZipfFrequencyFallsWithTheRank) {
  WorkloadConfig config = config_of(DomainChoice::kZipf, 100);
  for (const double exponent : {0.0, 0.99, 1.2}) {
    config.zipf_exponent = exponent;
    DomainChooser chooser(config, Random(3));
    constexpr int kDraws = 300'000;
    std::vector<int> counts = counts_of(chooser, 100, kDraws);
    double harmonic = 0;
    for (int rank = 1; rank <= 100; ++rank) {
      harmonic += std::pow(rank, -exponent);
    }
    // Popularity by rank, whatever domain holds the rank; sorting biases the flat case a little.
    std::sort(counts.rbegin(), counts.rend());
    for (const int rank : {1, 2, 10, 50, 100}) {
      const double expected = kDraws * std::pow(rank, -exponent) / harmonic;
      EXPECT_NEAR(counts[static_cast<std::size_t>(rank - 1)], expected,
                  5 * std::sqrt(expected) + 10)
          << "rank " << rank << " exponent " << exponent;
    }
  }
}

TEST(DomainChooser, ZipfRanksAreSpreadOverTheDomainsAndFixedBySeed) {
  const WorkloadConfig config = config_of(DomainChoice::kZipf, 1000);
  std::set<unsigned> most_popular;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const auto top = [&config, seed] {
      DomainChooser chooser(config, Random(seed));
      const std::vector<int> counts = counts_of(chooser, 1000, 20'000);
      return static_cast<unsigned>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    };
    const unsigned first = top();
    EXPECT_EQ(first, top());
    most_popular.insert(first);
  }
  EXPECT_GE(most_popular.size(), 3U);
}

TEST(DomainChooser, WorkingSetKeepsToItsMembersForAPhase) {
  WorkloadConfig config = config_of(DomainChoice::kWorkingSet, 1000);
  config.working_set = 10;
  config.phase_requests = 500;
  DomainChooser chooser(config, Random(4));
  std::set<std::set<unsigned>> phases;
  std::set<unsigned> ever;
  for (int phase = 0; phase < 40; ++phase) {
    std::set<unsigned> members;
    for (int i = 0; i < 500; ++i) {
      members.insert(to_int(chooser.next().domain));
    }
    EXPECT_EQ(members.size(), 10U);  // 500 draws miss one of 10 with probability below 1e-21.
    phases.insert(members);
    ever.insert(members.begin(), members.end());
  }
  EXPECT_EQ(phases.size(), 40U);
  EXPECT_GT(ever.size(), 250U);
}

TEST(DomainChooser, WorkingSetLargerThanAllDomainsIsAllOfThem) {
  WorkloadConfig config = config_of(DomainChoice::kWorkingSet, 4);
  config.working_set = 64;
  DomainChooser chooser(config, Random(5));
  for (const int count : counts_of(chooser, 4, 4'000)) {
    EXPECT_GT(count, 800);
  }
}

TEST(DomainChooser, ChurnEndsContextsAtItsRateAndUsesAnEndedIdNoMore) {
  WorkloadConfig config = config_of(DomainChoice::kChurn, 8);
  config.churn = 0.05;
  ASSERT_EQ(domain_ids(config), 32U);
  DomainChooser chooser(config, Random(6));
  std::map<unsigned, int> ended_at;  // by id: how many contexts had ended when it ended
  int ends = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const ChosenDomain chosen = chooser.next();
    const unsigned id = to_int(chosen.domain);
    ASSERT_LT(id, 32U);
    const auto found = ended_at.find(id);
    if (found != ended_at.end()) {
      // Of 32 ids 24 rest, so an ended id comes back at the earliest with the 24th end after it.
      ASSERT_GE(ends - found->second, 24) << "id " << id << " came back too early";
      ended_at.erase(found);
    }
    if (chosen.ends_context) {
      ended_at[id] = ++ends;
    }
  }
  EXPECT_NEAR(ends, kDraws * 0.05, 5 * std::sqrt(kDraws * 0.05 * 0.95));
}

TEST(DomainChooser, ChurnHasSoManyLiveContextsAtATime) {
  WorkloadConfig config = config_of(DomainChoice::kChurn, 8);
  config.churn = 0;
  DomainChooser chooser(config, Random(7));
  const std::vector<int> counts = counts_of(chooser, 32, 8'000);
  for (unsigned id = 0; id < 32; ++id) {
    EXPECT_EQ(counts[id] > 0, id < 8) << id;
  }
  config.churn = 1;
  DomainChooser restless(config, Random(7));
  EXPECT_TRUE(restless.next().ends_context);
}

TEST(DomainChooser, OnlyChurnNeedsMoreIdsThanDomains) {
  EXPECT_EQ(domain_ids(config_of(DomainChoice::kZipf, 8)), 8U);
  WorkloadConfig trace = config_of(DomainChoice::kChurn, 8);
  trace.kind = WorkloadKind::kTrace;
  EXPECT_EQ(domain_ids(trace), 8U);
}

}  // namespace
}  // namespace flitwise::domain_chooser_test
