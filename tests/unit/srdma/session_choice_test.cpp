// SPDX-License-Identifier: Apache-2.0
// Which session a packet takes, by each policy and granularity.
#include "srdma/session_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace flitwise::session_choice_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr SipKey kSalt{0x1234, 0x5678};

struct Chosen {
  Chosen(ChoiceSetup of, const std::vector<double>& weights, SipKey salt = kSalt)
      : setup(of), choice(setup, salt, Random(3)), in_flight(weights.size()) {
    for (SessionIndex i = 0; i < weights.size(); ++i) {
      add(i, weights[i]);
    }
  }
  void add(SessionIndex i, double weight) {
    choice.begin(i, {0x0a000001, 0x0a000002, static_cast<std::uint16_t>(50000 + i), 60000}, weight);
    choice.set_usable(i, true);
  }
  SessionIndex next(Time now = {}) {
    const PacketKey key{7, psn++, message, 0};
    return choice.choose(now, key, own, in_flight).session;
  }
  SessionIndex again(Psn of, std::uint32_t resends) {
    return choice.choose({}, {7, of, message, resends}, own, in_flight).session;
  }
  std::vector<SessionIndex> next_ones(int count) {
    std::vector<SessionIndex> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(next());
    }
    return all;
  }

  ChoiceSetup setup;
  SessionChoice choice;
  std::vector<std::uint32_t> in_flight;
  QpChoice own;
  Psn psn = 0;
  std::uint32_t message = 0;
};

ChoiceSetup by(ChoicePolicy policy) {
  ChoiceSetup setup;
  setup.policy = policy;
  return setup;
}

TEST(LowestWeight, SEL_C1_EqualOnesAlternateAndOthersAreUnused) {
  Chosen own(by(ChoicePolicy::kLowestWeight), {0.2, 0.2, 0.9});
  EXPECT_THAT(own.next_ones(4), ElementsAre(0, 1, 0, 1));
  own.choice.put_in_force({0.2, 0.1, 0.1});
  EXPECT_THAT(own.next_ones(4), ElementsAre(2, 1, 2, 1));
}

TEST(LowestWeight, SEL_1_OtherTies) {
  ChoiceSetup setup = by(ChoicePolicy::kLowestWeight);
  setup.tie = ChoiceTie::kLowestId;
  EXPECT_THAT(Chosen(setup, {0.3, 0.2, 0.2}).next_ones(3), ElementsAre(1, 1, 1));
  setup.tie = ChoiceTie::kHash;
  Chosen own(setup, {0.3, 0.2, 0.2, 0.2});
  std::map<SessionIndex, int> counts;
  for (int i = 0; i < 3000; ++i) {
    ++counts[own.next()];
  }
  EXPECT_EQ(counts.size(), 3U);
  for (const auto& [session, count] : counts) {
    EXPECT_NEAR(count, 1000, 4 * std::sqrt(3000 * 2.0 / 9)) << session;
  }
}

TEST(LowestWeight, SEL_1_WhatIsInFlightCounts) {
  ChoiceSetup setup = by(ChoicePolicy::kLowestWeight);
  setup.corrects_in_flight = true;
  setup.beta = 10;
  Chosen own(setup, {0.0, 0.0, 0.25});
  own.in_flight = {1, 0, 0};
  EXPECT_EQ(own.next(), 1);
  own.in_flight = {3, 3, 0};
  EXPECT_EQ(own.next(), 2);
  own.in_flight = {0, 0, 9};
  EXPECT_THAT(own.next_ones(4), ElementsAre(0, 1, 0, 1));
  own.setup.tie = ChoiceTie::kLowestId;
  EXPECT_THAT(own.next_ones(2), ElementsAre(0, 0));
}

// A session gets all that it can drain less than its weight says: without the correction one of two
// equal paths gets a whole interval, in turn.
TEST(LowestWeight, SEL_C8_TheCorrectionDampsOscillation) {
  const auto swing = [](bool corrects) {
    ChoiceSetup setup = by(ChoicePolicy::kLowestWeight);
    setup.corrects_in_flight = corrects;
    setup.beta = 64;
    Chosen own(setup, {0.0, 0.0});
    std::vector<double> queue(2), seen(2);  // packets
    double most = 0;
    for (int interval = 0; interval < 50; ++interval) {
      for (int packet = 0; packet < 40; ++packet) {
        ++queue[own.next()];
        for (double& length : queue) {
          length = std::max(0.0, length - 0.5);
        }
        own.in_flight = {static_cast<std::uint32_t>(queue[0]),
                         static_cast<std::uint32_t>(queue[1])};
        most = interval < 10 ? 0 : std::max(most, std::abs(queue[0] - queue[1]));
      }
      own.choice.put_in_force({std::min(1.0, seen[0] / 64), std::min(1.0, seen[1] / 64)});
      seen = queue;  // feedback comes an interval late
    }
    return most;
  };
  EXPECT_GT(swing(false), 15);
  EXPECT_LT(swing(true), swing(false) / 2);
}

TEST(WeightedHash, SEL_C2_SharesFollowWeights) {
  Chosen own(by(ChoicePolicy::kWeightedHash), {0, 0.5});
  int first = 0;
  constexpr int kPackets = 1'000'000;
  for (int i = 0; i < kPackets; ++i) {
    first += own.next() == 0 ? 1 : 0;
  }
  EXPECT_NEAR(first / double{kPackets}, 2.0 / 3, 4 * std::sqrt(2.0 / 9 / kPackets));
}

TEST(WeightedHash, SEL_2_SharesOfFourSessions) {
  const std::vector<double> weights = {0.1, 0.3, 0.5, 0.9};
  Chosen own(by(ChoicePolicy::kWeightedHash), weights);
  std::vector<int> counts(4);
  constexpr int kPackets = 200'000;
  for (int i = 0; i < kPackets; ++i) {
    ++counts[own.next()];
  }
  for (std::size_t i = 0; i < 4; ++i) {
    const double share = (1 - weights[i]) / 2.2;
    EXPECT_NEAR(counts[i] / double{kPackets}, share, 4 * std::sqrt(share * (1 - share) / kPackets));
  }
}

TEST(WeightedHash, SEL_C3_AllFullMeansUniform) {
  Chosen own(by(ChoicePolicy::kWeightedHash), std::vector<double>(8, 1.0));
  std::vector<int> counts(8);
  for (int i = 0; i < 80'000; ++i) {
    ++counts[own.next()];
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 10'000, 4 * std::sqrt(80'000 * 7.0 / 64));
  }
}

TEST(WeightedHash, SEL_2_CapabilityIsTheOtherWayRound) {
  ChoiceSetup setup = by(ChoicePolicy::kWeightedHash);
  setup.is_capability = true;
  Chosen own(setup, {1, 0});
  int first = 0;
  for (int i = 0; i < 25'700; ++i) {
    first += own.next() == 0 ? 1 : 0;
  }
  EXPECT_NEAR(first, 25'600, 4 * std::sqrt(100.0));
}

std::vector<SessionIndex> table_of(SessionChoice& choice) {
  std::vector<SessionIndex> all;
  for (unsigned i = 0; i < choice.setup().table_entries; ++i) {
    all.push_back(choice.holder(i));
  }
  return all;
}

TEST(HashTable, SEL_3_SharesAreWithin4Sigma) {
  Chosen own(by(ChoicePolicy::kHashTable), {0, 0.5});
  const auto table = table_of(own.choice);
  const double share = static_cast<double>(std::count(table.begin(), table.end(), 0)) / 1024;
  EXPECT_NEAR(share, 2.0 / 3, 4 * std::sqrt(2.0 / 9 / 1024));
  int first = 0;
  for (int i = 0; i < 100'000; ++i) {
    first += own.next() == 0 ? 1 : 0;
  }
  EXPECT_NEAR(first / 100'000.0, share, 4 * std::sqrt(2.0 / 9 / 100'000));
}

TEST(HashTable, SEL_3_AChangeMovesOnlyWhatItHasTo) {
  Chosen own(by(ChoicePolicy::kHashTable), {0.2, 0.4, 0.6, 0.1});
  const auto before = table_of(own.choice);
  own.choice.put_in_force({0.2, 0.4, 0.3, 0.1});
  const auto after = table_of(own.choice);
  int moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] != after[i]) {
      EXPECT_EQ(after[i], 2);
      ++moved;
    }
  }
  EXPECT_GT(moved, 50);
}

// SEL-C4, SEL-C5
TEST(HashTable, SEL_3_SessionsThatComeAndGo) {
  for (const auto policy : {ChoicePolicy::kHashTable, ChoicePolicy::kWeightedHash}) {
    Chosen own(by(policy), {0.2, 0.4, 0.6});
    const auto before = own.next_ones(4000);
    own.add(3, 0.3);
    own.psn = 0;
    const auto with = own.next_ones(4000);
    own.choice.set_usable(1, false);
    own.psn = 0;
    const auto without = own.next_ones(4000);
    int won = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      won += before[i] != with[i] ? 1 : 0;
      EXPECT_TRUE(before[i] == with[i] || with[i] == 3);
      EXPECT_TRUE(with[i] == without[i] || with[i] == 1);
      EXPECT_NE(without[i], 1);
    }
    EXPECT_GT(won, 500);
  }
}

TEST(Choice, SEL_C6_TheSameSaltChoosesTheSameAndAnotherOneNot) {
  Chosen one(by(ChoicePolicy::kWeightedHash), {0, 0, 0, 0});
  Chosen same(by(ChoicePolicy::kWeightedHash), {0, 0, 0, 0});
  Chosen other(by(ChoicePolicy::kWeightedHash), {0, 0, 0, 0}, {0x1234, 0x5679});
  const auto chosen = one.next_ones(100);
  EXPECT_EQ(same.next_ones(100), chosen);
  EXPECT_NE(other.next_ones(100), chosen);
}

TEST(Choice, SEL_4_Baselines) {
  EXPECT_THAT(Chosen(by(ChoicePolicy::kRoundRobin), {0, 1, 0.5}).next_ones(5),
              ElementsAre(0, 1, 2, 0, 1));
  Chosen single(by(ChoicePolicy::kSingle), {1, 0});
  EXPECT_THAT(single.next_ones(3), ElementsAre(0, 0, 0));
  single.choice.set_usable(0, false);
  EXPECT_EQ(single.next(), 1);
  Chosen random(by(ChoicePolicy::kRandom), {1, 0});
  int first = 0;
  for (int i = 0; i < 10'000; ++i) {
    first += random.next() == 0 ? 1 : 0;
  }
  EXPECT_NEAR(first, 5'000, 4 * 50);
}

TEST(Choice, RoundRobinGoesOnWhereSessionsComeAndGo) {
  Chosen own(by(ChoicePolicy::kRoundRobin), {0, 0, 0, 0});
  EXPECT_THAT(own.next_ones(2), ElementsAre(0, 1));
  own.choice.set_usable(1, false);
  EXPECT_THAT(own.next_ones(3), ElementsAre(2, 3, 0));
  own.choice.set_usable(1, true);
  EXPECT_THAT(own.next_ones(2), ElementsAre(1, 2));
}

TEST(Choice, SG_9_NoSessionNoChoice) {
  Chosen own(by(ChoicePolicy::kWeightedHash), {0});
  own.choice.set_usable(0, false);
  EXPECT_EQ(own.next(), kNoSessionIndex);
}

TEST(Choice, SEL_C7_AMessageStaysOnItsSession) {
  for (const auto policy : {ChoicePolicy::kLowestWeight, ChoicePolicy::kWeightedHash,
                            ChoicePolicy::kRoundRobin, ChoicePolicy::kRandom}) {
    ChoiceSetup setup = by(policy);
    setup.granularity = ChoiceGranularity::kMessage;
    Chosen own(setup, {0, 0, 0, 0});
    std::map<SessionIndex, int> used;
    for (own.message = 0; own.message < 50; ++own.message) {
      const SessionIndex session = own.next();
      ++used[session];
      for (int i = 0; i < 5; ++i) {
        own.choice.put_in_force({i * 0.1, i * 0.2, own.message * 0.01, 0});
        EXPECT_EQ(own.next(), session);
      }
    }
    EXPECT_GT(used.size(), 2U);
  }
}

TEST(Choice, SEL_5_AMessageMovesWithWhatIsSentAgain) {
  ChoiceSetup setup = by(ChoicePolicy::kRoundRobin);
  setup.granularity = ChoiceGranularity::kMessage;
  Chosen own(setup, {0, 0, 0});
  EXPECT_THAT(own.next_ones(2), ElementsAre(0, 0));
  EXPECT_EQ(own.again(0, 1), 1);
  EXPECT_EQ(own.again(1, 1), 1);
  EXPECT_EQ(own.next(), 1);
  own.choice.set_usable(1, false);
  EXPECT_EQ(own.next(), 2);
  own.message = 1;
  EXPECT_EQ(own.next(), 0);
  own.message = 0;
  EXPECT_EQ(own.again(0, 2), 2);  // of an older message: those under way stay
  own.message = 1;
  EXPECT_EQ(own.next(), 0);
}

TEST(Choice, SEL_5_AFlowletEndsWithAGap) {
  ChoiceSetup setup = by(ChoicePolicy::kRoundRobin);
  setup.granularity = ChoiceGranularity::kFlowlet;
  setup.flowlet_gap = Time::from_us(10);
  Chosen own(setup, {0, 0, 0});
  EXPECT_EQ(own.next(Time::from_us(1)), 0);
  EXPECT_EQ(own.next(Time::from_us(11)), 0);
  EXPECT_EQ(own.next(Time::from_us(22)), 1);
  EXPECT_EQ(own.next(Time::from_us(30)), 1);
}

TEST(Choice, SEL_C9_WhatIsSentAgainIsChosenAnew) {
  Chosen own(by(ChoicePolicy::kWeightedHash), {0, 0});
  int others = 0;
  for (Psn psn = 0; psn < 1000; ++psn) {
    others += own.again(psn, 0) != own.again(psn, 1) ? 1 : 0;
  }
  EXPECT_NEAR(others, 500, 4 * std::sqrt(250.0));
}

TEST(Choice, SEL_7_AnAnswerTakesTheSessionOfItsCause) {
  Chosen own(by(ChoicePolicy::kRoundRobin), {0, 0, 0});
  const auto answer = [&](SessionIndex cause) {
    return own.choice.answer({}, cause, {}, own.own, own.in_flight).session;
  };
  EXPECT_EQ(answer(2), 2);
  EXPECT_EQ(answer(2), 2);
  own.choice.set_usable(2, false);
  EXPECT_EQ(answer(2), 0);
  EXPECT_EQ(answer(kNoSessionIndex), 1);
}

TEST(Choice, WT_C9_TheVersionTellsWhichWeightsDecided) {
  Chosen own(by(ChoicePolicy::kHashTable), {0.1, 0.2});
  const std::uint32_t before = own.choice.version();
  EXPECT_EQ(own.choice.choose({}, {}, own.own, own.in_flight).version, before);
  own.choice.put_in_force({0.1, 0.2});
  EXPECT_EQ(own.choice.version(), before);
  own.choice.put_in_force({0.2, 0.1});
  EXPECT_EQ(own.choice.choose({}, {}, own.own, own.in_flight).version, before + 1);
}

TEST(Choice, SEL_6_CyclesOfADecision) {
  using Policy = ChoicePolicy;
  EXPECT_EQ(decision_cycles(Policy::kLowestWeight, 1), 0U);
  EXPECT_EQ(decision_cycles(Policy::kLowestWeight, 5), 3U);
  EXPECT_EQ(decision_cycles(Policy::kLowestWeight, 64), 6U);
  EXPECT_EQ(decision_cycles(Policy::kHashTable, 64), 1U);
  EXPECT_EQ(decision_cycles(Policy::kWeightedHash, 64), 64U);
  EXPECT_EQ(decision_cycles(Policy::kRoundRobin, 64), 1U);
}

TEST(ChoiceRefusals, CapabilityOnlyAsAShare) {
  ChoiceSetup setup = by(ChoicePolicy::kLowestWeight);
  EXPECT_THAT(refusals_of(setup), IsEmpty());
  setup.is_capability = true;
  EXPECT_THAT(refusals_of(setup), ElementsAre(HasSubstr("lowest_weight takes them otherwise")));
  setup.policy = ChoicePolicy::kHashTable;
  setup.table_entries = 0;
  setup.beta = 0;
  EXPECT_THAT(refusals_of(setup), ElementsAre(HasSubstr("beta"), HasSubstr("0 entries")));
}

}  // namespace
}  // namespace flitwise::session_choice_test
