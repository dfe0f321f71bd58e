// SPDX-License-Identifier: Apache-2.0
// Who sends to whom, how much and when.
#include "workload/flow_patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace flitwise::flow_patterns_test {
namespace {

// All of them; each has what every flow has.
std::vector<Flow> flows_of(FlowSource& source, std::uint32_t hosts) {
  std::vector<Flow> flows;
  std::uint64_t left = source.left();
  Time last{};
  for (Flow flow; source.next(flow);) {
    EXPECT_EQ(source.left(), --left);
    EXPECT_EQ(flow.id, flows.size());
    EXPECT_LT(flow.source, hosts);
    EXPECT_LT(flow.destination, hosts);
    EXPECT_NE(flow.source, flow.destination);
    EXPECT_GE(flow.bytes, 1U);
    EXPECT_TRUE(flow.after == kNoFlow || flow.after < flow.id);
    EXPECT_TRUE(flow.after != kNoFlow || flow.start >= last);
    last = flow.after == kNoFlow ? flow.start : last;
    flows.push_back(flow);
  }
  EXPECT_EQ(left, 0U);
  return flows;
}

TEST(FlowPatterns, APermutationHasEachHostOnceAndNoneOnItself) {
  for (const std::uint32_t hosts : {2U, 3U, 16U, 1024U}) {
    const auto flows = flows_of(*permutation_flows(hosts, 20'000'000, Random(hosts)), hosts);
    ASSERT_EQ(flows.size(), hosts);
    std::set<std::uint32_t> sources, destinations;
    for (const Flow& flow : flows) {
      sources.insert(flow.source);
      destinations.insert(flow.destination);
      EXPECT_EQ(flow.bytes, 20'000'000U);
      EXPECT_EQ(flow.start, Time{});
    }
    EXPECT_EQ(sources.size(), hosts);
    EXPECT_EQ(destinations.size(), hosts);
  }
}

TEST(FlowPatterns, AllDerangementsAreAlike) {
  Random random(4);
  std::map<std::vector<std::uint32_t>, unsigned> counts;
  constexpr unsigned kDraws = 90'000;
  for (unsigned i = 0; i < kDraws; ++i) {
    ++counts[derangement(4, random)];
  }
  EXPECT_EQ(counts.size(), 9U);
  for (const auto& [to, count] : counts) {
    EXPECT_NEAR(count, kDraws / 9.0, 4 * std::sqrt(kDraws / 9.0));
  }
}

TEST(FlowPatterns, IncastComesFromTheHostsBehind) {
  const auto flows = flows_of(*incast_flows(16, 14, 15, 2'000'000), 16);
  std::set<std::uint32_t> sources;
  for (const Flow& flow : flows) {
    EXPECT_EQ(flow.destination, 14U);
    sources.insert(flow.source);
  }
  EXPECT_EQ(sources.size(), 15U);
  const auto few = flows_of(*incast_flows(16, 14, 3, 1), 16);
  ASSERT_EQ(few.size(), 3U);
  EXPECT_EQ(few[0].source, 15U);
  EXPECT_EQ(few[2].source, 1U);
}

TEST(FlowPatterns, AllToAllHasEachPairOnce) {
  const auto flows = flows_of(*all_to_all_flows(9, 1000, 0), 9);
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Flow& flow : flows) {
    pairs.emplace(flow.source, flow.destination);
    EXPECT_EQ(flow.after, kNoFlow);
  }
  EXPECT_EQ(flows.size(), 72U);
  EXPECT_EQ(pairs.size(), 72U);
}

TEST(FlowPatterns, AllToAllWaitsForTheFlowSoManyBefore) {
  const auto flows = flows_of(*all_to_all_flows(5, 1000, 2), 5);
  std::map<std::uint32_t, std::vector<const Flow*>> by_source;
  for (const Flow& flow : flows) {
    by_source[flow.source].push_back(&flow);
  }
  for (const auto& [source, own] : by_source) {
    ASSERT_EQ(own.size(), 4U);
    EXPECT_EQ(own[1]->after, kNoFlow);
    EXPECT_EQ(own[2]->after, own[0]->id);
    EXPECT_EQ(own[3]->after, own[1]->id);
  }
}

// Followed part by part: each host ends with the sum of all, and sends only what it has by then.
TEST(FlowPatterns, ARingReducesAllParts) {
  for (const std::uint32_t hosts : {2U, 3U, 8U}) {
    const std::uint64_t bytes = 1003;
    const auto flows = flows_of(*ring_all_reduce_flows(hosts, bytes, 2), hosts);
    const std::uint32_t steps = 2 * (hosts - 1);
    ASSERT_EQ(flows.size(), 2 * steps * hosts);
    using Summands = std::set<std::uint32_t>;
    std::vector<std::vector<Summands>> has(hosts, std::vector<Summands>(hosts));
    for (std::uint32_t host = 0; host < hosts; ++host) {
      for (Summands& part : has[host]) {
        part = {host};
      }
    }
    for (const Flow& flow : flows) {
      const std::uint32_t step = flow.id / hosts;
      EXPECT_EQ(flow.destination, (flow.source + 1) % hosts);
      const std::uint32_t part = (flow.source + 4 * hosts - step % steps) % hosts;
      EXPECT_EQ(flow.bytes, bytes / hosts + (part < bytes % hosts ? 1 : 0));
      if (step > 0) {
        EXPECT_EQ(flows[flow.after].destination, flow.source);
        EXPECT_EQ(flows[flow.after].id / hosts, step - 1);
      }
      if (step < steps) {
        const Summands& sent = has[flow.source][part];
        has[flow.destination][part].insert(sent.begin(), sent.end());
      }
    }
    for (const auto& host : has) {
      for (const Summands& part : host) {
        EXPECT_EQ(part.size(), hosts);
      }
    }
  }
}

TEST(FlowPatterns, APartWithoutBytesHasOne) {
  const auto source = ring_all_reduce_flows(4, 2, 1);
  std::map<std::uint64_t, unsigned> sizes;
  for (const Flow& flow : flows_of(*source, 4)) {
    ++sizes[flow.bytes];
  }
  EXPECT_EQ(sizes, (std::map<std::uint64_t, unsigned>{{1, 24}}));
}

TEST(FlowPatterns, PoissonArrivalsBringTheLoad) {
  for (const std::string_view name : shipped_distribution_names()) {
    PoissonFlows setup{16, 100, 0.6, 50'000};
    const auto source =
        poisson_flows(setup, SizeDistribution::load(std::string(name), 30'000'000), Random(5));
    double bytes = 0, square = 0;
    Time last{};
    std::vector<unsigned> to(16);
    for (const Flow& flow : flows_of(*source, 16)) {
      const auto size = static_cast<double>(flow.bytes);
      bytes += size;
      square += size * size;
      last = flow.start;
      ++to[flow.destination];
    }
    const double load = bytes * 8e6 / (16 * 100.0 * static_cast<double>(last.fs));
    const double mean = bytes / 50'000;
    const double sigma = std::sqrt((square / 50'000 - mean * mean) / 50'000) / mean;
    EXPECT_NEAR(load, 0.6, 0.6 * 4 * (sigma + 1 / std::sqrt(50'000.0))) << name;
    for (const unsigned count : to) {
      EXPECT_NEAR(count, 3'125, 4 * std::sqrt(3'125.0));
    }
  }
}

TEST(FlowPatterns, TheSameStreamMakesTheSameFlows) {
  const auto starts = [](std::uint64_t seed) {
    const auto source = poisson_flows(
        {4, 100, 0.5, 20}, SizeDistribution::load("google_rpc_2008", 1000), Random(seed));
    std::vector<std::int64_t> all;
    for (Flow flow; source->next(flow);) {
      all.push_back(flow.start.fs);
    }
    return all;
  };
  EXPECT_EQ(starts(1), starts(1));
  EXPECT_NE(starts(1), starts(2));
}

}  // namespace
}  // namespace flitwise::flow_patterns_test
