// SPDX-License-Identifier: Apache-2.0
// Levels and weights of each algorithm, and the filter behind them.
#include "srdma/weight_algorithms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "flitwise/error.h"

namespace flitwise::weight_algorithms_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Time us(std::int64_t n) {
  return Time::from_us(n);
}

/// Sessions, and what an interval of 10 us tells of them.
struct Weighed {
  explicit Weighed(WeightSetup of, int sessions, std::uint64_t seed = 1)
      : setup(std::move(of)), system(setup, Random(seed)) {
    for (SessionIndex i = 0; i < sessions; ++i) {
      SessionStats& one = stats.emplace_back();
      one.is_open = true;
      one.rated = 80e9;  // 100,000 bytes in an interval
      system.begin(i, stats);
      one.is_eligible = true;
    }
  }
  void sample(std::size_t session, Time rtt, Time base) {
    SessionStats& one = stats[session];
    one.rtt_ewma = rtt;
    one.rtt_base = base;
    one.rtt_sum += rtt;
    ++one.rtt_samples;
    ++one.interval.rtt_samples;
    ++one.interval.echoes;
  }
  void update() {
    now += us(10);
    system.update(now, us(10), stats);
    for (SessionStats& one : stats) {
      one.interval = {};
    }
  }
  std::vector<double> weights() const {
    std::vector<double> all;
    for (SessionIndex i = 0; i < stats.size(); ++i) {
      all.push_back(system.score(i, stats[i]).weight);
    }
    return all;
  }
  std::vector<double> levels() const {
    std::vector<double> all;
    for (SessionIndex i = 0; i < stats.size(); ++i) {
      all.push_back(system.score(i, stats[i]).level);
    }
    return all;
  }

  WeightSetup setup;
  std::vector<SessionStats> stats;
  WeightingSystem system;
  Time now{};
};

WeightSetup unfiltered(WeightAlgorithm algorithm) {
  WeightSetup setup;
  setup.algorithm = algorithm;
  setup.gain = 1;
  return setup;
}

TEST(LatencyNorm, WT_C2_FixedBoundsAndMinmax) {
  for (const bool is_minmax : {false, true}) {
    WeightSetup setup = unfiltered(WeightAlgorithm::kLatencyNorm);
    setup.is_minmax = is_minmax;
    setup.q_max = us(40);
    Weighed own(setup, 3);
    for (const std::size_t i : {0U, 1U, 2U}) {
      own.sample(i, us(10) * static_cast<std::int64_t>(i + 1), us(10));
    }
    own.update();
    EXPECT_EQ(own.weights(),
              is_minmax ? std::vector<double>({0, 0.5, 1}) : std::vector<double>({0, 0.25, 0.5}));
    EXPECT_THAT(own.levels(), ElementsAre(0, 0.25, 0.5));
  }
}

TEST(LatencyNorm, WT_C1_EqualOnesHaveWeight0ByMinmaxAndEqualOnesByFixedBounds) {
  for (const bool is_minmax : {false, true}) {
    WeightSetup setup = unfiltered(WeightAlgorithm::kLatencyNorm);
    setup.is_minmax = is_minmax;
    setup.q_max = us(40);
    Weighed own(setup, 3);
    for (const std::size_t i : {0U, 1U, 2U}) {
      own.sample(i, us(30) + Time::from_ns(static_cast<std::int64_t>(i) * 200), us(20));
    }
    own.update();
    if (is_minmax) {
      EXPECT_THAT(own.weights(), ElementsAre(0, 0, 0));
    } else {
      EXPECT_NEAR(own.weights()[0], 0.25, 1e-9);
      EXPECT_NEAR(own.weights()[2], 0.26, 1e-9);
    }
  }
}

TEST(LatencyNorm, TheBoundsAreThoseOfTheGroup) {
  Weighed own(unfiltered(WeightAlgorithm::kLatencyNorm), 2);
  own.sample(0, us(10), us(10));
  own.sample(1, us(30), us(30));  // a longer path, and no queue
  own.update();
  EXPECT_THAT(own.weights(), ElementsAre(0, 0.5));  // 20 of 4 * 10
}

TEST(QueueingTime, WeighsEachSessionByItself) {
  Weighed own(unfiltered(WeightAlgorithm::kQueueingTime), 3);
  own.sample(0, us(20), us(10));
  own.sample(1, us(30), us(30));
  own.update();
  EXPECT_THAT(own.weights(), ElementsAre(0.25, 0, 0));
  EXPECT_THAT(own.levels(), ElementsAre(0.25, 0, 0));
  own.sample(0, us(100), us(10));
  own.update();
  EXPECT_THAT(own.weights(), ElementsAre(1, 0, 0));
}

TEST(WeightFilter, TakesAnEighthOfWhatIsNew) {
  WeightSetup setup;
  Weighed own(setup, 1);
  own.sample(0, us(10), us(10));
  own.update();
  own.sample(0, us(50), us(10));
  own.update();
  EXPECT_THAT(own.weights(), ElementsAre(0.125));
  own.update();  // nothing is new
  EXPECT_THAT(own.weights(), ElementsAre(0.125));
}

TEST(BandwidthRatio, WT_C3_SixtyOfHundred) {
  for (const auto& [form, weight, level] : {std::tuple{BandwidthForm::kDeficit, 0.4, 0.4},
                                            {BandwidthForm::kLoad, 0.6, 0.6},
                                            {BandwidthForm::kCapability, 0.6, 0.4}}) {
    WeightSetup setup = unfiltered(WeightAlgorithm::kBandwidthRatio);
    setup.form = form;
    Weighed own(setup, 1);
    own.stats[0].interval.offered_bytes = 100'000;
    own.stats[0].interval.achieved_bytes = 60'000;
    own.update();
    EXPECT_NEAR(own.weights()[0], weight, 1e-12);
    EXPECT_NEAR(own.levels()[0], level, 1e-12);
  }
}

TEST(BandwidthRatio, NobodyCanDeliverMoreThanTheRate) {
  Weighed own(unfiltered(WeightAlgorithm::kBandwidthRatio), 1);
  own.stats[0].interval.offered_bytes = 1'000'000;
  own.stats[0].interval.achieved_bytes = 75'000;
  own.update();
  EXPECT_NEAR(own.weights()[0], 0.25, 1e-12);
}

TEST(BandwidthRatio, WT_C4_WithoutTrafficOnlyAProbeChangesTheWeight) {
  Weighed own(unfiltered(WeightAlgorithm::kBandwidthRatio), 1);
  own.stats[0].interval.offered_bytes = 100'000;
  own.update();
  EXPECT_THAT(own.weights(), ElementsAre(1));
  own.update();
  EXPECT_THAT(own.weights(), ElementsAre(1));
  own.stats[0].interval.probe_answers = 1;
  own.update();
  EXPECT_THAT(own.weights(), ElementsAre(0));
}

TEST(EcnFraction, CC_5_MarksOfOnePathAreThatOfItsSession) {
  Weighed own(unfiltered(WeightAlgorithm::kEcnFraction), 2);
  own.stats[0].interval.echoes = 8;
  own.stats[0].interval.ce_echoes = 2;
  own.stats[1].interval.echoes = 8;
  own.update();
  EXPECT_THAT(own.weights(), ElementsAre(0.25, 0));
  own.stats[1].interval.echoes = 1;
  own.update();
  EXPECT_THAT(own.levels(), ElementsAre(0.25, 0));
}

TEST(FixedWeights, HaveALevelByDelayOrByThemselves) {
  WeightSetup setup = unfiltered(WeightAlgorithm::kStatic);
  setup.fixed = {0.3, 0.6};
  Weighed own(setup, 3);
  own.sample(1, us(20), us(10));
  own.update();
  EXPECT_THAT(own.weights(), ElementsAre(0.3, 0.6, 0));
  EXPECT_THAT(own.levels(), ElementsAre(0, 0.25, 0));
  setup.has_echo = false;
  Weighed without(setup, 2);
  without.update();
  EXPECT_THAT(without.levels(), ElementsAre(0.3, 0.6));
}

TEST(Activity, IsTheBusyShareOrFallsWithTheIdleGap) {
  WeightSetup setup = unfiltered(WeightAlgorithm::kActivity);
  Weighed own(setup, 2);
  own.stats[0].interval.busy = us(4);
  own.update();
  EXPECT_THAT(own.weights(), ElementsAre(0.4, 0));
  setup.is_by_idle_gap = true;
  Weighed by_gap(setup, 3);
  by_gap.now = us(90);
  by_gap.stats[0].last_sent = us(75);
  by_gap.stats[0].sent_packets = by_gap.stats[1].sent_packets = 1;
  by_gap.update();
  EXPECT_THAT(by_gap.weights(), ElementsAre(0.75, 0, 0));
}

struct Saying : WeightRule {
  explicit Saying(std::vector<double> says) : values(std::move(says)) {}
  const char* name() const override { return "saying"; }
  void update(Time /*now*/, Time /*span*/, const std::vector<SessionStats>& /*stats*/,
              std::vector<FreshScore>& fresh) override {
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      fresh[i] = {{0, values[i]}, true};
    }
  }
  std::vector<double> values;
};

TEST(WeightFilter, WT_C5_ClampsAndEndsTheRunByName) {
  const WeightSetup setup = unfiltered(WeightAlgorithm::kStatic);
  std::vector<SessionStats> stats(2);
  stats[0].is_eligible = stats[1].is_eligible = true;
  WeightingSystem system(setup, std::make_unique<Saying>(std::vector<double>{1.7, -0.2}));
  system.begin(0, stats);
  system.begin(1, stats);
  system.update(us(10), us(10), stats);
  EXPECT_EQ(system.score(0, stats[0]).weight, 1);
  EXPECT_EQ(system.score(1, stats[1]).weight, 0);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    WeightingSystem broken(setup, std::make_unique<Saying>(std::vector<double>{0, bad}));
    broken.begin(0, stats);
    broken.begin(1, stats);
    try {
      broken.update(us(10), us(10), stats);
      ADD_FAILURE() << "expected an error";
    } catch (const SimulationError& error) {
      EXPECT_THAT(error.what(), HasSubstr("weight algorithm saying"));
      EXPECT_THAT(error.what(), HasSubstr("session 1"));
    }
  }
}

TEST(Weights, MO_3_ATimeOutAndADeadSessionOverrideTheAlgorithm) {
  for (const bool is_capability : {false, true}) {
    WeightSetup setup = unfiltered(WeightAlgorithm::kBandwidthRatio);
    setup.form = is_capability ? BandwidthForm::kCapability : BandwidthForm::kDeficit;
    Weighed own(setup, 2);
    own.stats[0].is_timed_out = true;
    own.stats[1].is_alive = false;
    const double worst = is_capability ? 0 : 1;
    for (SessionStats& one : own.stats) {
      one.interval.offered_bytes = one.interval.achieved_bytes = 100;
    }
    own.update();
    EXPECT_THAT(own.weights(), ElementsAre(worst, worst));
    EXPECT_THAT(own.levels(), ElementsAre(1, 1));
    own.stats[0].is_timed_out = false;
    EXPECT_THAT(own.weights(), ElementsAre(1 - worst, worst));
  }
}

TEST(Weights, LR_5_ALossRaisesLevelAndWeight) {
  Weighed own(unfiltered(WeightAlgorithm::kStatic), 1);
  for (int i = 0; i < 5; ++i) {
    own.system.punish(0);
    EXPECT_EQ(own.weights()[0], std::min(1.0, 0.25 * (i + 1)));
    EXPECT_EQ(own.levels()[0], own.weights()[0]);
  }
  WeightSetup setup = unfiltered(WeightAlgorithm::kBandwidthRatio);
  setup.form = BandwidthForm::kCapability;
  Weighed capability(setup, 1);
  capability.stats[0].interval.offered_bytes = capability.stats[0].interval.achieved_bytes = 1;
  capability.update();
  capability.system.punish(0);
  EXPECT_THAT(capability.weights(), ElementsAre(0.75));
  EXPECT_THAT(capability.levels(), ElementsAre(0.25));
}

TEST(Weights, CT_4_ANewSessionBeginsWithTheMeanAndItsFirstSampleStands) {
  WeightSetup setup;
  setup.algorithm = WeightAlgorithm::kQueueingTime;
  Weighed own(setup, 2);
  own.sample(0, us(20), us(10));
  own.sample(1, us(40), us(10));
  own.update();
  own.stats.emplace_back();
  own.system.begin(2, own.stats);
  own.stats[2].is_eligible = true;
  EXPECT_THAT(own.weights(), ElementsAre(0.25, 0.75, 0.5));
  EXPECT_THAT(own.levels(), ElementsAre(0.25, 0.75, 0.5));
  own.update();
  EXPECT_EQ(own.weights()[2], 0.5);
  own.sample(2, us(10), us(10));
  own.update();
  EXPECT_EQ(own.weights()[2], 0);
}

TEST(Weights, WT_C10_AnotherAlgorithmFromTheNextUpdateOn) {
  Weighed own(unfiltered(WeightAlgorithm::kQueueingTime), 2);
  own.sample(0, us(20), us(10));
  own.update();
  WeightSetup other = unfiltered(WeightAlgorithm::kStatic);
  other.fixed = {0.9, 0.8};
  own.system.change(other, Random(1));
  EXPECT_THAT(own.weights(), ElementsAre(0.25, 0));
  own.update();
  EXPECT_THAT(own.weights(), ElementsAre(0.9, 0.8));
}

// Two paths, one four times slower, for 200 epochs of 100 us. [WT-C6]
std::vector<std::vector<double>> probed(std::uint64_t seed) {
  Weighed own(unfiltered(WeightAlgorithm::kRandomProbe), 2, seed);
  std::vector<std::vector<double>> series;
  for (int epoch = 0; epoch < 200; ++epoch) {
    for (int i = 0; i < 10; ++i) {
      own.sample(0, us(40), us(40));
      own.sample(1, us(10), us(10));
      own.update();
    }
    series.push_back(own.weights());
  }
  return series;
}

TEST(RandomProbe, WT_C6_FindsTheSlowPath) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto series = probed(seed);
    double sum = 0;
    for (std::size_t i = 100; i < 200; ++i) {
      sum += series[i][0] - series[i][1];
    }
    EXPECT_GT(sum / 100, 0.5) << "seed " << seed;
    EXPECT_EQ(series, probed(seed));
  }
  EXPECT_NE(probed(1), probed(2));
}

TEST(RandomProbe, LossesCostAsWell) {
  WeightSetup setup = unfiltered(WeightAlgorithm::kRandomProbe);
  setup.explore = 0;
  Weighed own(setup, 2);
  for (int i = 0; i < 400; ++i) {
    own.sample(0, us(10), us(10));
    own.sample(1, us(11), us(11));
    own.stats[0].losses += i % 10 == 0 ? 1 : 0;
    own.update();
  }
  EXPECT_GT(own.weights()[0], 0.99);
  EXPECT_LT(own.weights()[1], 0.01);
}

TEST(WeightRefusals, WhatNeedsTheEcho) {
  WeightSetup setup;
  EXPECT_THAT(refusals_of(setup, 64), IsEmpty());
  setup.has_echo = false;
  EXPECT_THAT(refusals_of(setup, 64), ElementsAre(HasSubstr("queueing_time needs the round trip")));
  EXPECT_THAT(refusals_of(setup, 1), IsEmpty());
  setup.algorithm = WeightAlgorithm::kBandwidthRatio;
  EXPECT_THAT(refusals_of(setup, 64), IsEmpty());
  setup.algorithm = WeightAlgorithm::kEcnFraction;
  EXPECT_THAT(refusals_of(setup, 1), ElementsAre(HasSubstr("ecn_fraction needs the echo")));
  setup.has_echo = true;
  setup.gain = 0;
  EXPECT_THAT(refusals_of(setup, 1), ElementsAre(HasSubstr("gain 0 seen")));
}

}  // namespace
}  // namespace flitwise::weight_algorithms_test
