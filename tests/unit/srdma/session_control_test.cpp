// SPDX-License-Identifier: Apache-2.0
// When sessions are added and closed, and which.
#include "srdma/session_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flitwise::session_control_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Action = ControlDecision::Action;
using Cause = ControlDecision::Cause;

Time us(std::int64_t n) {
  return Time::from_us(n);
}

/// Sessions of these levels, which cost 1 each.
std::vector<ControlledSession> of_levels(const std::vector<double>& levels) {
  std::vector<ControlledSession> all;
  for (SessionIndex i = 0; i < levels.size(); ++i) {
    all.push_back({i, {levels[i], 0}, {}, 1, us(i), us(10)});
  }
  return all;
}

ControlDecision decided(const ControlSetup& setup, const std::vector<double>& levels) {
  return SessionControl(setup).decide(us(100), of_levels(levels));
}

TEST(SessionControl, CT_C1_EqualToAThresholdIsNeither) {
  ControlSetup setup;
  setup.most_cost = 0;
  EXPECT_EQ(decided(setup, {0.7, 0.7}).cause, Cause::kMixed);
  EXPECT_EQ(decided(setup, {0.5, 0.5}).cause, Cause::kMixed);
  EXPECT_EQ(decided(setup, {0.71, 0.71}).action, Action::kAdd);
  EXPECT_EQ(decided(setup, {0.49, 0.49}).action, Action::kRemove);
}

TEST(SessionControl, CT_C2_AllOrAnyAndAThresholdOfItsOwn) {
  ControlSetup setup;
  EXPECT_EQ(decided(setup, {0.8, 0.9, 0.71}).action, Action::kAdd);
  EXPECT_EQ(decided(setup, {0.8, 0.9, 0.6}).action, Action::kNone);
  auto sessions = of_levels({0.8, 0.9, 0.6});
  sessions[2].threshold = 0.55;
  EXPECT_EQ(SessionControl(setup).decide({}, sessions).action, Action::kAdd);
  setup.mode = CongestedMode::kAny;
  EXPECT_EQ(decided(setup, {0.8, 0.1, 0.6}).action, Action::kAdd);
}

TEST(SessionControl, CT_C3_AQuorumAboveAndAQuorumBelow) {
  ControlSetup setup;
  setup.mode = CongestedMode::kQuorum;
  setup.quorum = 2;
  setup.relax_quorum = 2;
  setup.most_cost = 2;
  EXPECT_EQ(decided(setup, {0.8, 0.8, 0.1}).action, Action::kAdd);
  EXPECT_EQ(decided(setup, {0.8, 0.7, 0.1}).action, Action::kNone);
  EXPECT_EQ(decided(setup, {0.8, 0.4, 0.1}).action, Action::kRemove);
  EXPECT_EQ(decided(setup, {0.8, 0.5, 0.1}).action, Action::kNone);
}

TEST(SessionControl, TheMeanAboveT) {
  ControlSetup setup;
  setup.mode = CongestedMode::kMean;
  EXPECT_EQ(decided(setup, {1, 0.41}).action, Action::kAdd);
  EXPECT_EQ(decided(setup, {1, 0.3}).action, Action::kNone);
}

TEST(SessionControl, ThresholdsOfTheWeight) {
  ControlSetup setup;
  auto sessions = of_levels({0.9});
  EXPECT_EQ(SessionControl(setup).decide({}, sessions).action, Action::kAdd);
  setup.is_by_weight = true;
  EXPECT_EQ(SessionControl(setup).decide({}, sessions).action, Action::kNone);
  sessions[0].score.weight = 0.9;
  EXPECT_EQ(SessionControl(setup).decide({}, sessions).action, Action::kAdd);
}

TEST(SessionControl, CT_C4_TheCostHasToBeAboveItsLimit) {
  ControlSetup setup;
  setup.most_cost = 3;
  EXPECT_EQ(decided(setup, {0, 0, 0}).cause, Cause::kCheap);
  setup.most_cost = 2.999;
  EXPECT_EQ(decided(setup, {0, 0, 0}).action, Action::kRemove);
}

TEST(SessionControl, CT_C5_CongestedAndDearAdds) {
  ControlSetup setup;
  setup.most_cost = 0;
  setup.mode = CongestedMode::kAny;
  setup.relax_quorum = 1;
  EXPECT_EQ(decided(setup, {0.9, 0.1}).action, Action::kAdd);
  setup.most_sessions = 2;
  EXPECT_EQ(decided(setup, {0.9, 0.1}).cause, Cause::kMost);  // and no removal either
}

TEST(SessionControl, CT_C6_TheLastOnesStay) {
  ControlSetup setup;
  setup.most_cost = 0;
  setup.least_sessions = 2;
  SessionControl control(setup);
  const auto decision = control.decide({}, of_levels({0, 0}));
  EXPECT_EQ(decision.action, Action::kNone);
  control.note({}, decision);
  EXPECT_EQ(control.count(Cause::kLeast), 1U);
}

TEST(SessionControl, CT_3_TheDearestThenTheWorstThenTheYoungestIsClosed) {
  ControlSetup setup;
  setup.most_cost = 0;
  auto sessions = of_levels({0, 0, 0, 0});
  EXPECT_EQ(SessionControl(setup).decide({}, sessions).victim, 3);
  sessions[1].score.weight = 0.5;
  EXPECT_EQ(SessionControl(setup).decide({}, sessions).victim, 1);
  sessions[2].cost = 2;
  EXPECT_EQ(SessionControl(setup).decide({}, sessions).victim, 2);
  setup.is_capability = true;
  sessions[2].cost = 1;
  EXPECT_EQ(SessionControl(setup).decide({}, sessions).victim, 3);
}

TEST(SessionControl, CT_2_CostsOfMemoryAndCryptography) {
  ControlSetup setup;
  EXPECT_EQ(cost_of(setup, 1000, true, 1e6), 1);
  setup.byte_cost = 0.001;
  setup.crypto_cost = 1e-6;
  EXPECT_EQ(cost_of(setup, 1000, false, 1e6), 2);
  EXPECT_EQ(cost_of(setup, 1000, true, 1e6), 3);
}

TEST(SessionControl, CT_5_PendingHandshakesCountTowardsTheMost) {
  ControlSetup setup;
  setup.most_sessions = 2;
  setup.add_cooldown = Time{};
  SessionControl control(setup);
  EXPECT_EQ(control.decide(us(100), of_levels({0.9})).action, Action::kAdd);
  control.begin_add(us(100));
  EXPECT_EQ(control.decide(us(150), of_levels({0.9})).cause, Cause::kMost);
  control.end_add(us(160), true);
  EXPECT_EQ(control.decide(us(200), of_levels({0.9})).action, Action::kAdd);
}

// CT-C8
TEST(SessionControl, CT_5_FailuresBackOff) {
  ControlSetup setup;
  setup.add_cooldown = Time{};
  SessionControl control(setup);
  Time now = us(1000);
  for (int failures = 1; failures <= 13; ++failures) {
    control.begin_add(now);
    control.end_add(now, false);
    EXPECT_EQ(control.pending(), 0U);
    const Time wait = us(50) * (std::int64_t{1} << std::min(failures - 1, 10));
    EXPECT_EQ(control.decide(now + wait - us(1), of_levels({0.9})).cause, Cause::kAddWait);
    EXPECT_EQ(control.decide(now + wait, of_levels({0.9})).action, Action::kAdd);
    now += wait;
  }
  EXPECT_EQ(control.failed_adds(), 13U);
  control.begin_add(now);
  control.end_add(now, true);
  control.begin_add(now);
  control.end_add(now, false);
  EXPECT_EQ(control.decide(now + us(50), of_levels({0.9})).action, Action::kAdd);
}

TEST(SessionControl, CT_7_CoolDownsAreFiveTimesTheLargestRoundTrip) {
  ControlSetup setup;
  setup.most_cost = 0;
  SessionControl control(setup);
  auto loaded = of_levels({0.9, 0.9, 0.9}), idle = of_levels({0, 0, 0});
  loaded[1].rtt = idle[1].rtt = us(30);
  control.begin_add(us(100));
  control.end_add(us(120), true);
  EXPECT_EQ(control.decide(us(249), loaded).cause, Cause::kAddWait);
  EXPECT_EQ(control.decide(us(250), loaded).action, Action::kAdd);
  const ControlDecision removal = control.decide(us(250), idle);
  EXPECT_EQ(removal.action, Action::kRemove);
  control.note(us(250), removal);
  EXPECT_EQ(control.decide(us(399), idle).cause, Cause::kRemoveWait);
  EXPECT_EQ(control.decide(us(400), idle).action, Action::kRemove);
}

TEST(SessionControl, WithoutSessionsOrOffNothingIsDecided) {
  ControlSetup setup;
  EXPECT_EQ(decided(setup, {}).action, Action::kNone);
  setup.is_on = false;
  EXPECT_EQ(decided(setup, {0.9}).action, Action::kNone);
}

TEST(ControlRefusals, CT_8_TheRelaxThresholdIsAboveNoOther) {
  ControlSetup setup;
  EXPECT_THAT(refusals_of(setup, {0.5}), IsEmpty());
  EXPECT_THAT(refusals_of(setup, {0.49}), ElementsAre(HasSubstr("one has 0.49")));
  setup.relaxed = 0.75;
  EXPECT_THAT(refusals_of(setup), ElementsAre(HasSubstr("which is 0.7")));
  setup.relaxed = 0.7;
  EXPECT_THAT(refusals_of(setup), IsEmpty());
  setup.threshold = 1.5;
  EXPECT_THAT(refusals_of(setup), ElementsAre(HasSubstr("threshold 1.5 seen")));
  setup = {};
  setup.least_sessions = 9;
  setup.most_sessions = 8;
  setup.is_by_weight = setup.is_capability = true;
  EXPECT_THAT(refusals_of(setup), ElementsAre(HasSubstr("9 to 8"), HasSubstr("capability")));
}

}  // namespace
}  // namespace flitwise::session_control_test
