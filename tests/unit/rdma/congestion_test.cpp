// SPDX-License-Identifier: Apache-2.0
// What congestion leaves of a rate and of a window, against the formulas of their pages.
#include <gtest/gtest.h>

#include "rdma/congestion_window.h"
#include "rdma/dcqcn.h"
#include "rdma/qp_context.h"
#include "rdma/rate_limiter.h"

namespace flitwise::congestion_test {
namespace {

constexpr double kLine = 100e9;

// [CC-4]: the cut, five steps of fast recovery to the old rate, then R_AI a step.
TEST(Dcqcn, CC_4_CutsAndRecoversByItsFormula) {
  DcqcnRate rate{DcqcnParameters{}};
  EXPECT_EQ(rate.rate(Time::from_us(10)), kLine);
  rate.notified(Time::from_us(100));
  EXPECT_EQ(rate.rate(Time::from_us(100)), kLine / 2);  // alpha was 1
  EXPECT_EQ(rate.target(), kLine);
  EXPECT_EQ(rate.alpha(), 1);
  rate.notified(Time::from_us(150));
  EXPECT_EQ(rate.rate(Time::from_us(150)), kLine / 4);
  EXPECT_EQ(rate.target(), kLine / 2);
  double current = kLine / 4, target = kLine / 2;
  for (unsigned i = 1; i <= 8; ++i) {
    target += i > 5 ? 40e6 : 0;
    current = (current + target) / 2;
    const Time at = Time::from_us(150 + 55 * i);
    EXPECT_DOUBLE_EQ(rate.rate(at), current) << i;
    EXPECT_DOUBLE_EQ(rate.target(), target) << i;
    EXPECT_DOUBLE_EQ(rate.rate(at + Time::from_us(54)), current) << i;
  }
  double alpha = 1;
  for (unsigned i = 0; i < 8; ++i) {
    alpha *= 255.0 / 256;
  }
  EXPECT_DOUBLE_EQ(rate.alpha(), alpha);
  EXPECT_EQ(rate.cuts(), 2U);
}

// A step at a time or all at once is the same; an idle flow comes back to the full rate.
TEST(Dcqcn, CC_4_TimersRunInArrears) {
  DcqcnRate often{DcqcnParameters{}}, once{DcqcnParameters{}};
  for (DcqcnRate* const one : {&often, &once}) {
    one->notified(Time::from_us(1));
    one->notified(Time::from_us(60));
  }
  for (unsigned us = 61; us < 3000; us += 7) {
    often.rate(Time::from_us(us));
  }
  EXPECT_EQ(often.rate(Time::from_us(3000)), once.rate(Time::from_us(3000)));
  EXPECT_EQ(often.alpha(), once.alpha());
  EXPECT_LT(once.rate(Time::from_us(3000)), kLine);
  EXPECT_EQ(once.rate(Time::from_us(2'000'000)), kLine);
  EXPECT_EQ(once.alpha(), 0);
}

TEST(Dcqcn, CC_4_BoundsAndOtherParameters) {
  DcqcnParameters p;
  p.cut_time = Time::from_us(4);
  DcqcnRate rate{p};
  for (unsigned i = 0; i < 100; ++i) {
    rate.notified(Time::from_us(2 * i));
  }
  EXPECT_EQ(rate.cuts(), 50U);
  EXPECT_EQ(rate.rate(Time::from_us(198)), 100e6);

  p = {};
  p.most_cut = 0.1;
  p.initial_alpha = 0.5;
  p.gain = 0.25;
  DcqcnRate gentle{p};
  gentle.notified(Time{});
  EXPECT_DOUBLE_EQ(gentle.rate(Time{}), 0.9 * kLine);
  EXPECT_DOUBLE_EQ(gentle.alpha(), 0.75 * 0.5 + 0.25);

  // The byte counter makes steps too; where both have done more than F the step is R_HAI.
  p = {};
  p.rate_bytes = 1000;
  p.hyper = 1e9;
  p.additive = 1e6;
  p.recovery_steps = 1;
  p.scale = 2;
  DcqcnRate counted{p};
  counted.notified(Time{});
  counted.sent(1000, Time{});
  EXPECT_DOUBLE_EQ(counted.rate(Time{}), 0.75 * kLine);
  DcqcnRate hyper{p};
  hyper.notified(Time{});
  hyper.notified(Time{});  // 25 Gb/s, and 50 is its target
  hyper.sent(2000, Time{});
  EXPECT_DOUBLE_EQ(hyper.target(), kLine / 2 + 2e6);
  hyper.rate(Time::from_us(110));
  EXPECT_DOUBLE_EQ(hyper.target(), kLine / 2 + 2e6 + 2e6 + 2e9);
}

// [CC-2]: one of four sessions.
TEST(Dcqcn, CC_2_ASessionHasItsPart) {
  const DcqcnParameters part = DcqcnParameters{}.of_one(4);
  EXPECT_EQ(part.initial_rate, kLine / 4);
  EXPECT_EQ(part.additive, 10e6);
  EXPECT_EQ(part.hyper, 10e6);
  DcqcnRate rate{part};
  EXPECT_EQ(rate.rate(Time{}), kLine / 4);
  // It may grow beyond its part, where others do not need theirs.
  EXPECT_DOUBLE_EQ(rate.rate(Time::from_us(55 * 6)), kLine / 4 + 5e6);
}

TEST(RateLimiter, CC_4_SpacesPacketsByTheirBytes) {
  RateLimiter limiter;
  EXPECT_TRUE(limiter.may_send(Time{}));
  limiter.sent(1000, 8e9, Time::from_us(5));
  EXPECT_EQ(limiter.next(), Time::from_us(6));
  EXPECT_FALSE(limiter.may_send(Time::from_ns(5999)));
  limiter.sent(1000, 4e9, Time::from_us(6));
  EXPECT_EQ(limiter.next(), Time::from_us(8));
  limiter.sent(1000, 8e9, Time::from_us(20));  // what was not used is gone
  EXPECT_EQ(limiter.next(), Time::from_us(21));
}

CongestionWindowParameters window_parameters() {
  CongestionWindowParameters p;
  p.initial = 100'000;
  p.most = 150'000;
  p.least = 1000;
  p.additive = 1000;
  p.gain = 0.5;
  return p;
}

// [CC-4]: growth by `additive` a round, and by the share of marked bytes a cut.
TEST(CongestionWindow, CC_4_GrowsByAPacketARoundAndIsCutByItsShareOfMarks) {
  const Time rtt = Time::from_us(10);
  const CongestionWindowParameters p = window_parameters();
  CongestionWindow window(p);
  double expected = 100'000;
  for (unsigned i = 0; i < 100; ++i) {
    window.echoed(1000, false, rtt, rtt, Time::from_us(1));
    expected += 1000.0 * 1000 / expected;
  }
  EXPECT_DOUBLE_EQ(window.bytes(), expected);
  EXPECT_NEAR(expected, 101'000, 10);
  // A quarter of the echoes is marked; the round ends with the fourth.
  for (unsigned i = 0; i < 3; ++i) {
    window.echoed(1000, i == 0, rtt, rtt, Time::from_us(2));
  }
  CongestionWindow fresh(p);
  expected = 100'000;
  for (unsigned i = 0; i < 4; ++i) {
    fresh.echoed(1000, i == 0, rtt, rtt, i < 3 ? Time::from_us(2) : Time::from_us(10));
    expected += i == 0 ? 0 : 1000.0 * 1000 / expected;
  }
  EXPECT_DOUBLE_EQ(fresh.share(), 0.125);
  EXPECT_DOUBLE_EQ(fresh.bytes(), expected * (1 - 0.125 * 0.5));
  fresh.echoed(1000, false, rtt, rtt, Time::from_us(20));  // a round without marks
  EXPECT_DOUBLE_EQ(fresh.share(), 0.0625);
}

TEST(CongestionWindow, CC_4_StaysWithinItsBoundsAndItsTarget) {
  CongestionWindowParameters p = window_parameters();
  p.target = Time::from_us(2);
  CongestionWindow window(p);
  const Time base = Time::from_us(10);
  window.echoed(1000, false, base + Time::from_us(3), base, Time::from_us(1));
  EXPECT_EQ(window.bytes(), 100'000);  // it waits too long already
  window.echoed(1000, false, base + Time::from_us(2), base, Time::from_us(1));
  EXPECT_GT(window.bytes(), 100'000);
  for (unsigned i = 0; i < 1'000'000; ++i) {
    window.echoed(1000, false, base, base, Time::from_us(1));
  }
  EXPECT_EQ(window.bytes(), 150'000);
  EXPECT_TRUE(window.may_send(149'000, 1000));
  EXPECT_FALSE(window.may_send(149'001, 1000));
  window.timed_out();
  EXPECT_EQ(window.bytes(), 1000);
  EXPECT_TRUE(window.may_send(0, 4096));  // one packet always
  for (unsigned i = 0; i < 100; ++i) {
    window.echoed(1000, true, base, base, Time::from_us(10 * i));
  }
  EXPECT_EQ(window.bytes(), 1000);
}

// [PS-3]
TEST(QueuePairSetup, PS_3_TwiceWhatIsOnTheWayAnd256AtLeast) {
  EXPECT_EQ(window_for(kLine, Time::from_us(14), 4096), 256U);
  EXPECT_EQ(window_for(400e9, Time::from_us(20), 4096), 488U);
  EXPECT_EQ(window_for(kLine, Time::from_us(8'000'000), 4096), kMostOutstandingPsns) << "PS-3";
}

}  // namespace
}  // namespace flitwise::congestion_test
