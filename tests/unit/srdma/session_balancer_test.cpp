// SPDX-License-Identifier: Apache-2.0
// Monitor, weights, choice and control of one group together.
#include "srdma/session_balancer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace flitwise::session_balancer_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Time us(std::int64_t n) {
  return Time::from_us(n);
}

BalancerSetup by(ChoicePolicy policy, WeightAlgorithm algorithm, double gain = 1) {
  BalancerSetup setup;
  setup.choice.policy = policy;
  setup.weights.algorithm = algorithm;
  setup.weights.gain = gain;
  setup.agree();
  return setup;
}

/// A group whose packets arrive after the round trip of their session, or never.
struct Group {
  explicit Group(const BalancerSetup& of, int sessions, std::uint64_t seed = 1)
      : setup(of), balancer(setup, {{seed, 2}, Random(seed)}, {}) {
    for (int i = 0; i < sessions; ++i) {
      add(static_cast<SessionId>(100 + i));
    }
  }
  SessionIndex add(SessionId id) {
    BalancedSession session;
    session.id = id;
    session.tuple = {1, 2, id, 4};
    return balancer.add(now, session);
  }
  ChosenSession choose() { return balancer.choose(now, {7, psn, 0, 0}, own); }
  /// One packet; where it went.
  SessionIndex send() {
    const SessionIndex session = choose().session;
    window.push_back({{}, now, psn++});
    balancer.assigned(session, 1000);
    balancer.sent(now, window.back().packet, session, 1000);
    return session;
  }
  /// Time goes on, with echoes and ticks; a packet a microsecond where it `sends`.
  void run(Time span, const std::vector<Time>& rtts, bool sends = true) {
    for (const Time end = now + span; now < end; now += us(1)) {
      if (sends) {
        send();
      }
      for (Sent& one : window) {
        const SessionIndex session = one.packet.session;
        if (one.packet.is_in_flight && now - one.at >= rtts[session]) {
          balancer.echo(now, session, one.psn, &one.packet, {}, false);
        }
      }
      while (!window.empty() && !window.front().packet.is_in_flight) {
        window.pop_front();
      }
      if (now >= balancer.next_tick()) {
        decisions.push_back(balancer.tick(now));
      }
    }
  }
  void tick() {
    now = balancer.next_tick();
    balancer.tick(now);
  }
  std::vector<SessionIndex> next_ones(int count) {
    std::vector<SessionIndex> all;
    for (int i = 0; i < count; ++i, ++psn) {
      all.push_back(choose().session);
    }
    return all;
  }
  std::vector<SessionIndex> probes(bool has_queue = true) {
    std::vector<SessionIndex> all;
    balancer.for_each_probe(now, has_queue, [&](SessionIndex one) { all.push_back(one); });
    return all;
  }

  struct Sent {
    SessionPacket packet;
    Time at;
    Psn psn = 0;
  };
  BalancerSetup setup;
  SessionBalancer balancer;
  Time now{};
  Psn psn = 0;
  QpChoice own;
  std::deque<Sent> window;
  std::vector<ControlDecision> decisions;
};

TEST(SessionBalancer, NewWeightsChooseFromTheUpdateOn) {
  BalancerSetup setup = by(ChoicePolicy::kLowestWeight, WeightAlgorithm::kStatic);
  setup.weights.fixed = {0.5, 0.2};
  Group own(setup, 2);
  const std::uint32_t before = own.choose().version;
  EXPECT_THAT(own.next_ones(2), ElementsAre(1, 0));
  while (own.balancer.score(0).weight == 0) {
    own.tick();
  }
  EXPECT_THAT(own.next_ones(3), ElementsAre(1, 1, 1));
  EXPECT_EQ(own.choose().version, before + 1);
}

TEST(SessionBalancer, BySoftwareTheyApplyLater) {
  BalancerSetup setup = by(ChoicePolicy::kLowestWeight, WeightAlgorithm::kStatic);
  setup.weights.fixed = {0.5, 0.2};
  setup.apply_delay = us(25);
  setup.control.is_on = false;
  Group own(setup, 2);
  own.tick();
  const Time updated = own.now;
  const std::uint32_t before = own.choose().version;
  own.tick();
  own.tick();
  own.now = updated + us(25) + Time{-1};
  EXPECT_EQ(own.choose().version, before);
  own.now = updated + us(25);
  EXPECT_EQ(own.choose().version, before + 1);
  EXPECT_THAT(own.next_ones(3), ElementsAre(1, 1, 1));
}

// [OB-2] Another session has the index of one that is closed; what that one has sent is not lost.
TEST(SessionBalancer, OB_2_WhatAClosedSessionHasSentIsKept) {
  Group own(by(ChoicePolicy::kRoundRobin, WeightAlgorithm::kQueueingTime), 2);
  SessionPacket packet;
  own.balancer.assigned(0, 1'000);
  own.balancer.sent(us(1), packet, 0, 1'000);
  own.balancer.echo(us(9), 0, 0, &packet, {}, false);
  EXPECT_TRUE(own.balancer.past().empty());
  const SessionId first = own.balancer.session(0).id;
  own.balancer.remove(1);
  own.balancer.remove(0);
  for (const SessionId id : {SessionId{70}, SessionId{71}}) {
    BalancedSession session;
    session.id = id;
    EXPECT_LT(own.balancer.add(us(10), session), 2U);
  }
  ASSERT_EQ(own.balancer.past().size(), 1U) << "the other one has sent nothing";
  EXPECT_EQ(own.balancer.past()[0].session.id, first);
  EXPECT_EQ(own.balancer.past()[0].stats.sent_bytes, 1'000U);
  EXPECT_EQ(own.balancer.past()[0].stats.rtt_ewma, us(8));
  EXPECT_EQ(own.balancer.stats(0).sent_bytes, 0U);
}

TEST(SessionBalancer, TheFirstUpdateIsAtARandomPhase) {
  const BalancerSetup setup = by(ChoicePolicy::kSingle, WeightAlgorithm::kQueueingTime);
  std::vector<Time> firsts;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Group own(setup, 1, seed);
    EXPECT_GT(own.balancer.next_tick(), us(0));
    EXPECT_LE(own.balancer.next_tick(), us(10));
    EXPECT_EQ(own.balancer.next_tick(), Group(setup, 1, seed).balancer.next_tick());
    firsts.push_back(own.balancer.next_tick());
  }
  EXPECT_NE(firsts[0], firsts[1]);
}

TEST(SessionBalancer, ALateTickMakesUpForThoseThatWereMissed) {
  Group own(by(ChoicePolicy::kSingle, WeightAlgorithm::kQueueingTime), 1);
  const Time first = own.balancer.next_tick();
  own.now = us(1'000);
  own.balancer.tick(own.now);
  EXPECT_GT(own.balancer.next_tick(), own.now);
  EXPECT_LE(own.balancer.next_tick(), own.now + us(10));
  EXPECT_EQ((own.balancer.next_tick() - first).fs % us(10).fs, 0);
}

TEST(SessionBalancer, SG_4_OneThatIsNotAliveIsSkippedWhileAnotherIs) {
  Group own(by(ChoicePolicy::kRoundRobin, WeightAlgorithm::kQueueingTime), 2);
  const auto die = [&](SessionIndex session) {
    for (int i = 0; i < 3; ++i) {
      own.balancer.probe_sent(own.now, session, 0);
      own.now += us(600);
      own.balancer.tick(own.now);
    }
  };
  die(0);
  EXPECT_FALSE(own.balancer.stats(0).is_alive);
  EXPECT_THAT(own.next_ones(3), ElementsAre(1, 1, 1));
  die(1);
  EXPECT_THAT(own.next_ones(4), Contains(0));
  own.balancer.received(own.now, 0, 64);
  EXPECT_THAT(own.next_ones(3), ElementsAre(0, 0, 0));
  EXPECT_EQ(own.balancer.score(0).weight, 1);  // until an echo
  own.balancer.echo(own.now, 0, 0, nullptr, {}, false);
  EXPECT_EQ(own.balancer.score(0).weight, 0);
}

TEST(SessionBalancer, LR_5_ALossActsOnTheNextChoice) {
  Group own(by(ChoicePolicy::kLowestWeight, WeightAlgorithm::kQueueingTime), 2);
  EXPECT_EQ(own.send(), 0);
  own.balancer.lost(own.now, own.window[0].packet);
  EXPECT_EQ(own.balancer.score(0).weight, 0.25);
  EXPECT_THAT(own.next_ones(3), ElementsAre(1, 1, 1));
  own.balancer.lost(own.now, own.window[0].packet);  // the same one
  EXPECT_EQ(own.balancer.score(0).weight, 0.25);
}

TEST(SessionBalancer, MO_3_ATimeOutKeepsPacketsAway) {
  for (const auto algorithm :
       {WeightAlgorithm::kBandwidthRatio, WeightAlgorithm::kLatencyNorm,
        WeightAlgorithm::kRandomProbe, WeightAlgorithm::kQueueingTime,
        WeightAlgorithm::kEcnFraction, WeightAlgorithm::kStatic, WeightAlgorithm::kActivity}) {
    BalancerSetup setup = by(ChoicePolicy::kWeightedHash, algorithm);
    setup.weights.fixed = {0.1, 0.1};
    setup.weights.explore = 0;
    Group own(setup, 2);
    own.run(us(300), {us(10), us(10)});
    own.run(us(900), {us(10), Time::never()});  // its path is dead
    EXPECT_EQ(own.balancer.score(1).weight, 1) << name_of(algorithm);
    EXPECT_EQ(own.balancer.score(1).level, 1) << name_of(algorithm);
    if (own.balancer.score(0).weight == 1) {
      continue;  // activity: the other one has all there is to do
    }
    const auto chosen = own.next_ones(1000);
    EXPECT_LT(std::count(chosen.begin(), chosen.end(), 1), 200) << name_of(algorithm);
  }
}

TEST(SessionBalancer, MO_3_OneThatGetsNothingIsProbed) {
  Group own(by(ChoicePolicy::kSingle, WeightAlgorithm::kQueueingTime), 2);
  own.run(us(150), {us(10), us(10)});
  EXPECT_THAT(own.probes(false), ElementsAre(1));
  own.balancer.probe_sent(own.now, 1, 3);
  EXPECT_THAT(own.probes(false), IsEmpty());
}

TEST(SessionBalancer, WT_C6_RandomProbeFindsTheSlowPath) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    BalancerSetup setup = by(ChoicePolicy::kWeightedHash, WeightAlgorithm::kRandomProbe);
    setup.control.is_on = false;
    Group own(setup, 2, seed);
    double sum = 0;
    for (int epoch = 0; epoch < 200; ++epoch) {
      own.run(us(100), {us(10), us(40)});
      sum += epoch < 100 ? 0 : own.balancer.score(1).weight - own.balancer.score(0).weight;
    }
    EXPECT_GT(sum / 100, 0.5) << "seed " << seed;
  }
}

TEST(SessionBalancer, WT_C10_AnotherAlgorithmWhilePacketsGo) {
  BalancerSetup setup = by(ChoicePolicy::kLowestWeight, WeightAlgorithm::kQueueingTime);
  setup.control.is_on = false;
  Group own(setup, 2);
  own.run(us(50), {us(10), us(10)});
  WeightSetup other = setup.weights;
  other.algorithm = WeightAlgorithm::kStatic;
  other.fixed = {0.6, 0.1};
  const Psn before = own.psn;
  own.balancer.change_weights(other, Random(1));
  EXPECT_THAT(own.next_ones(2), ElementsAre(0, 1));
  own.run(us(11), {us(10), us(10)});
  EXPECT_THAT(own.next_ones(2), ElementsAre(1, 1));
  EXPECT_EQ(own.psn, before + 15);
  EXPECT_EQ(own.balancer.sessions(), 2);
}

TEST(SessionBalancer, SessionsComeAndGo) {
  Group own(by(ChoicePolicy::kRoundRobin, WeightAlgorithm::kQueueingTime), 2);
  EXPECT_EQ(own.balancer.find(101), 1);
  EXPECT_EQ(own.balancer.find(7), kNoSessionIndex);
  own.send();
  own.balancer.set_eligible(0, false);  // DRAINING
  EXPECT_THAT(own.next_ones(2), ElementsAre(1, 1));
  own.balancer.remove(0);
  EXPECT_EQ(own.balancer.find(100), kNoSessionIndex);
  EXPECT_EQ(own.add(102), 2);  // something of the other one is in flight
  own.balancer.delivered(own.now, own.window[0].packet);
  EXPECT_EQ(own.add(103), 0);
  EXPECT_EQ(own.balancer.find(103), 0);
  EXPECT_THAT(own.next_ones(3), testing::UnorderedElementsAre(0, 1, 2));
  EXPECT_EQ(own.balancer.cost(), 3);
}

TEST(SessionBalancer, CT_C7_ALoadStepUpAndDown) {
  BalancerSetup setup = by(ChoicePolicy::kRoundRobin, WeightAlgorithm::kQueueingTime);
  setup.weights.gain = 0.125;
  setup.control.most_cost = 2;
  setup.control.mode = CongestedMode::kAny;  // one that begins within a queue does not see it
  Group own(setup, 2);
  std::vector<std::size_t> counts;
  // The more sessions share the load, the shorter the queues.
  const auto step = [&](Time span, std::int64_t load) {
    for (const Time end = own.now + span; own.now < end;) {
      const auto open = static_cast<std::int64_t>(own.balancer.cost());
      own.decisions.clear();
      own.run(us(10),
              std::vector<Time>(8, us(10) + us(load) * 2 * (load > open ? load - open : 0)));
      for (const ControlDecision& decision : own.decisions) {
        if (decision.action == ControlDecision::Action::kAdd) {
          own.balancer.begin_add(own.now);
          own.add(static_cast<SessionId>(own.now.fs / us(1).fs));
          own.balancer.end_add(own.now, true);
          counts.push_back(own.balancer.choice().usable());
        } else if (decision.action == ControlDecision::Action::kRemove) {
          own.balancer.set_eligible(decision.victim, false);
          own.balancer.remove(decision.victim);
          counts.push_back(own.balancer.choice().usable());
        }
      }
    }
  };
  step(us(1'000), 0);
  EXPECT_THAT(counts, IsEmpty());
  step(us(2'000), 6);
  EXPECT_THAT(counts, ElementsAre(3, 4));
  step(us(3'000), 0);
  EXPECT_THAT(counts, ElementsAre(3, 4, 3, 2));
}

TEST(SessionBalancer, TheLargestRoundTripIsOfEligibleSessions) {
  Group own(by(ChoicePolicy::kRoundRobin, WeightAlgorithm::kQueueingTime), 2);
  EXPECT_EQ(own.balancer.largest_rtt(), us(0));
  own.run(us(60), {us(10), us(30)});
  EXPECT_EQ(own.balancer.largest_rtt(), us(30));
  own.balancer.set_eligible(1, false);
  EXPECT_EQ(own.balancer.largest_rtt(), us(10));
}

TEST(SessionBalancer, CT_2_TheRateOfASecuredSessionCosts) {
  BalancerSetup setup = by(ChoicePolicy::kSingle, WeightAlgorithm::kQueueingTime);
  setup.control.crypto_cost = 1e-6;
  Group own(setup, 0);
  BalancedSession session;
  session.id = 5;
  session.tuple = {1, 2, 3, 4};
  session.is_secured = true;
  own.balancer.add({}, session);
  own.run(us(200), {us(10)});
  EXPECT_NEAR(own.balancer.cost(), 2, 0.05);  // a packet a microsecond
}

TEST(BalancerRefusals, OfAllParts) {
  BalancerSetup setup = by(ChoicePolicy::kLowestWeight, WeightAlgorithm::kBandwidthRatio);
  EXPECT_THAT(refusals_of(setup), IsEmpty());
  setup.weights.form = BandwidthForm::kCapability;
  setup.control.is_by_weight = true;
  setup.agree();
  EXPECT_THAT(refusals_of(setup), ElementsAre(HasSubstr("lowest_weight"), HasSubstr("the level")));
  setup = {};
  setup.monitor.has_echo = false;
  setup.agree();
  EXPECT_THAT(refusals_of(setup), ElementsAre(HasSubstr("queueing_time")));
  setup.control.most_sessions = 1;
  EXPECT_THAT(refusals_of(setup), IsEmpty());
  setup.monitor.loss_run = 0;
  setup.weight_interval = {};
  EXPECT_THAT(refusals_of(setup), ElementsAre(HasSubstr("loss_run 0"), HasSubstr("of 0")));
}

}  // namespace
}  // namespace flitwise::session_balancer_test
