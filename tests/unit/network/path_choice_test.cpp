// SPDX-License-Identifier: Apache-2.0
// ECMP and adaptive routing at one switch. [NW-2] [NW-4] [NW-5]
#include "network/path_choice.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "support/network_forms.h"

namespace flitwise::path_choice_test {
namespace {

constexpr std::uint8_t kAdaptive = 0x88;
constexpr std::array<PortId, 4> kPorts = {10, 12, 14, 16};
const PortSet kAll{kPorts.data(), 4};

struct Bench {
  explicit Bench(const PathRules& with = {}, std::uint64_t seed = 1)
      : rules(with), choice(rules, 77, Random(seed).split("ecmp")) {}
  PortId choose(const SwitchView& seen, Time now = Time{}) {
    return choice.choose(now, seen, kAll, [this](PortId port) { return load[port]; });
  }
  const PathRules rules;
  PathChoice choice;
  std::map<PortId, std::uint64_t> load;
};

TEST(PathChoice, NW_C2_TheClassCountsWhateverEcnSays) {
  Bench bench;
  bench.load = {{10, 5000}, {12, 4000}, {14, 1}, {16, 2}};
  for (std::uint8_t ecn = 0; ecn < 4; ++ecn) {
    EXPECT_EQ(bench.choose({123, static_cast<std::uint8_t>(kAdaptive | ecn)}), 14U);
    EXPECT_FALSE(bench.choice.is_adaptive({123, static_cast<std::uint8_t>(0x8c | ecn)}));
    EXPECT_FALSE(bench.choice.is_adaptive({123, ecn}));
  }
  EXPECT_EQ(bench.choice.counts().adaptive, 4U);
}

TEST(PathChoice, NW_C4_OtherFlowsKeepTheirPortWhateverTheQueues) {
  Bench bench;
  for (std::uint32_t hash = 0; hash < 100; ++hash) {
    const PortId first = bench.choose({hash, 0});
    EXPECT_EQ(first, kPorts[with_seed(hash, 77) % 4]);
    bench.load[first] = 1'000'000;
    EXPECT_EQ(bench.choose({hash, 0}), first);
  }
  EXPECT_EQ(bench.choice.counts().ecmp, 200U);
}

TEST(PathChoice, NW_8_UseOfBucketsIsCounted) {
  Bench bench;
  std::vector<std::uint64_t> expected(4);
  for (std::uint32_t hash = 0; hash < 1000; ++hash) {
    bench.choose({hash, 0});
    bench.choose({hash, kAdaptive});
    ++expected[with_seed(hash, 77) % 4];
  }
  bench.choice.choose(Time{}, {1, 0}, PortSet{kPorts.data(), 1}, [](PortId) { return 0U; });
  EXPECT_EQ(bench.choice.counts().buckets, expected);
}

TEST(PathChoice, NW_C3_TiesAreRandomAndUniformOrGoToTheLowest) {
  Bench bench;
  std::map<PortId, std::uint64_t> counts;
  constexpr unsigned kDraws = 40'000;
  for (unsigned i = 0; i < kDraws; ++i) {
    ++counts[bench.choose({5, kAdaptive})];
  }
  for (const PortId port : kPorts) {
    EXPECT_NEAR(static_cast<double>(counts[port]) / kDraws, .25, forms::four_sigma(.25, kDraws));
  }
  bench.load = {{10, 9}, {12, 3}, {14, 3}, {16, 9}};
  counts.clear();
  for (unsigned i = 0; i < kDraws; ++i) {
    ++counts[bench.choose({5, kAdaptive})];
  }
  EXPECT_EQ(counts.size(), 2U);
  EXPECT_NEAR(static_cast<double>(counts[12]) / kDraws, .5, forms::four_sigma(.5, kDraws));
  PathRules lowest;
  lowest.adaptive.tie = AdaptiveTie::kLowest;
  Bench other(lowest);
  EXPECT_EQ(other.choose({5, kAdaptive}), 10U);
  other.load = {{10, 9}, {12, 3}, {14, 3}, {16, 9}};
  EXPECT_EQ(other.choose({5, kAdaptive}), 12U);
}

TEST(PathChoice, TheSameStreamMakesTheSameChoices) {
  const auto choices = [](std::uint64_t seed) {
    Bench bench({}, seed);
    std::vector<PortId> all;
    for (unsigned i = 0; i < 50; ++i) {
      all.push_back(bench.choose({5, kAdaptive}));
    }
    return all;
  };
  EXPECT_EQ(choices(3), choices(3));
  EXPECT_NE(choices(3), choices(4));
}

TEST(PathChoice, NW_5_QueuesOfOneLevelAreAlike) {
  PathRules rules;
  rules.adaptive.level = 250;
  rules.adaptive.tie = AdaptiveTie::kLowest;
  Bench bench(rules);
  bench.load = {{10, 249}, {12, 0}, {14, 250}, {16, 250}};
  EXPECT_EQ(bench.choose({5, kAdaptive}), 10U);
  bench.load = {{10, 250}, {12, 249}, {14, 0}, {16, 0}};
  EXPECT_EQ(bench.choose({5, kAdaptive}), 12U);
  bench.load = {{10, 900}, {12, 750}, {14, 5000}, {16, 1'000'000}};
  EXPECT_EQ(bench.choose({5, kAdaptive}), 10U);
  bench.load = {{10, 1000}, {12, 999}, {14, 1249}, {16, 1'000'000}};
  EXPECT_EQ(bench.choose({5, kAdaptive}), 12U);
}

TEST(PathChoice, NW_5_AFlowletStaysOnItsPort) {
  PathRules rules;
  rules.adaptive.is_by_flowlet = true;
  rules.adaptive.flowlet_gap = Time::from_us(5);
  rules.adaptive.tie = AdaptiveTie::kLowest;
  Bench bench(rules);
  const SwitchView seen{5, kAdaptive};
  EXPECT_EQ(bench.choose(seen, Time::from_us(1)), 10U);
  bench.load[10] = 100;
  EXPECT_EQ(bench.choose({6, kAdaptive}, Time::from_us(1)), 12U);  // of another flow
  EXPECT_EQ(bench.choose(seen, Time::from_us(6)), 10U);            // exactly the gap is none
  EXPECT_EQ(bench.choose(seen, Time{Time::from_us(11).fs + 1}), 12U);
  bench.load[12] = 100;
  EXPECT_EQ(bench.choose(seen, Time::from_us(12)), 12U);
  // Its port is gone.
  const PortSet rest{kPorts.data() + 2, 2};
  EXPECT_EQ(bench.choice.choose(Time::from_us(13), seen, rest, [](PortId) { return 0U; }), 14U);
  // Two flows of one entry: each packet of the other one begins a flowlet.
  const SwitchView twin{5 + rules.adaptive.flowlet_entries, kAdaptive};
  bench.load = {{10, 0}, {12, 9}, {14, 9}, {16, 9}};
  EXPECT_EQ(bench.choose(twin, Time::from_us(13)), 10U);
  EXPECT_EQ(bench.choose(seen, Time::from_us(13)), 10U);
}

TEST(PathChoice, OneCandidateNeedsNoChoice) {
  Bench bench;
  const PortSet one{kPorts.data() + 1, 1};
  const auto never = [](PortId) -> std::uint64_t { throw std::runtime_error("asked"); };
  EXPECT_EQ(bench.choice.choose(Time{}, {1, kAdaptive}, one, never), 12U);
  EXPECT_EQ(bench.choice.choose(Time{}, {1, 0}, one, never), 12U);
}

TEST(PathChoice, RulesWithoutSenseAreRefused) {
  const auto complaint = [](auto change) {
    PathRules rules;
    change(rules.adaptive);
    return complaint_about(rules);
  };
  EXPECT_EQ(complaint([](auto&) {}), "");
  EXPECT_EQ(complaint([](auto& one) { one.value = 0x89; }),
            "class 0x89 with mask 0xfc fits no packet; expected bits of the mask");
  EXPECT_NE(complaint([](auto& one) { one.level = 0; }), "");
  EXPECT_EQ(complaint([](auto& one) { one.flowlet_entries = 1000; }),
            "1000 entries of flowlets seen; expected a power of two");
}

TEST(PortUtilisation, NW_5_IsThatOfAboutTheLastWindow) {
  PortUtilisation port(Time::from_us(10));
  port.add(Time::from_us(2), Time::from_us(5));
  EXPECT_EQ(port.busy(Time::from_us(9)), static_cast<std::uint64_t>(Time::from_us(5).fs));
  EXPECT_EQ(port.busy(Time::from_us(10)), static_cast<std::uint64_t>(Time::from_us(5).fs));
  EXPECT_NEAR(static_cast<double>(port.busy(Time::from_us(15))), 2.5e9, 10);
  port.add(Time::from_us(15), Time::from_us(1));
  EXPECT_NEAR(static_cast<double>(port.busy(Time::from_us(20))), 1e9, 10);
  EXPECT_EQ(port.busy(Time::from_us(40)), 0U);
}

}  // namespace
}  // namespace flitwise::path_choice_test
