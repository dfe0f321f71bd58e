// SPDX-License-Identifier: Apache-2.0
// Marks by the length of a queue. [CC-1] [CC-C4]
#include "network/red.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/network_forms.h"

namespace flitwise::red_test {
namespace {

constexpr RedRules kRules{true, 1000, 3000, 0.5, true};

TEST(Red, CC_1_NothingBelowTheLowerThresholdAllFromTheUpperOneOn) {
  Random random(1);
  for (const Ecn ecn : {Ecn::kEct0, Ecn::kEct1}) {
    EXPECT_EQ(red_verdict(kRules, 0, ecn, random), RedVerdict::kPass);
    EXPECT_EQ(red_verdict(kRules, 1000, ecn, random), RedVerdict::kPass);
    for (unsigned i = 0; i < 100; ++i) {
      EXPECT_EQ(red_verdict(kRules, 3000 + i, ecn, random), RedVerdict::kMark);
    }
  }
  EXPECT_EQ(red_verdict(kRules, 9999, Ecn::kCe, random), RedVerdict::kPass);  // it has one
  EXPECT_EQ(random.next(), Random(1).next());  // none of them was drawn
}

TEST(Red, CC_1_BetweenThemTheShareRisesLinearly) {
  Random random(2);
  constexpr unsigned kDraws = 100'000;
  for (const std::uint64_t queued : {1200U, 2000U, 2900U}) {
    unsigned marks = 0;
    for (unsigned i = 0; i < kDraws; ++i) {
      marks += red_verdict(kRules, queued, Ecn::kEct0, random) == RedVerdict::kMark ? 1 : 0;
    }
    const double share = 0.5 * static_cast<double>(queued - 1000) / 2000;
    EXPECT_NEAR(static_cast<double>(marks) / kDraws, share, forms::four_sigma(share, kDraws));
  }
}

TEST(Red, CC_C4_WithoutEctAPacketIsDroppedAndNeverMarked) {
  Random random(3);
  unsigned dropped = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    EXPECT_EQ(red_verdict(kRules, 3000, Ecn::kNotEct, random), RedVerdict::kDrop);
    const RedVerdict verdict = red_verdict(kRules, 2000, Ecn::kNotEct, random);
    EXPECT_NE(verdict, RedVerdict::kMark);
    dropped += verdict == RedVerdict::kDrop ? 1 : 0;
  }
  EXPECT_NEAR(dropped / 1000.0, .25, forms::four_sigma(.25, 1000));
  RedRules tail = kRules;
  tail.drops_not_ect = false;
  EXPECT_EQ(red_verdict(tail, 3000, Ecn::kNotEct, random), RedVerdict::kPass);
}

TEST(Red, OffItMarksNothing) {
  Random random(4);
  RedRules off = kRules;
  off.is_on = false;
  EXPECT_EQ(red_verdict(off, 1'000'000, Ecn::kEct0, random), RedVerdict::kPass);
}

TEST(Red, ThresholdsAtOnePlaceAreAStep) {
  Random random(5);
  const RedRules step{true, 1000, 1000, 1, true};
  EXPECT_EQ(complaint_about(step), "");
  EXPECT_EQ(red_verdict(step, 1000, Ecn::kEct0, random), RedVerdict::kPass);
  EXPECT_EQ(red_verdict(step, 1001, Ecn::kEct0, random), RedVerdict::kMark);
}

TEST(Red, RulesWithoutSenseAreRefused) {
  EXPECT_EQ(complaint_about(kRules), "");
  EXPECT_EQ(complaint_about({true, 3001, 3000, 0.5, true}),
            "a lower threshold of 3001 bytes seen; expected at most the upper one, 3000");
  EXPECT_EQ(complaint_about({true, 1, 2, 0, true}),
            "a share of 0 seen; expected more than 0, up to 1");
  EXPECT_NE(complaint_about({true, 1, 2, 1.5, true}), "");
  EXPECT_EQ(complaint_about({false, 3, 2, 0, true}), "");
}

}  // namespace
}  // namespace flitwise::red_test
