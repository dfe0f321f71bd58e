// SPDX-License-Identifier: Apache-2.0
// Wake-ups land on clock edges, never early, and an earlier request wins.
#include "common/wakeup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <systemc>
#include <vector>

namespace flitwise::wakeup_test {
namespace {

/// Notes the times at which it was woken.
class Sleeper : public sc_core::sc_module {
 public:
  Sleeper(const sc_core::sc_module_name& name, Time period)
      : sc_module(name), wakeup("wakeup", period) {
    wakeup.wakes("woken", [this] { woken(); });
  }

  Wakeup wakeup;
  std::vector<Time> times;
  Time asks_for = Time::never();  ///< each time that it wakes before that

 private:
  void woken() {
    wakeup.taken();
    times.push_back(now());
    if (asks_for != Time::never() && now() < asks_for) {
      wakeup.at(asks_for);
    }
  }
};

void run_until(Time end) {
  sc_core::sc_start(to_sc_time(end - now()));
}

TEST(Wakeup, WakesAtTheFirstEdgeAtOrAfterTheTimeAskedFor) {
  Sleeper sleeper("sleeper", Time::from_ns(2));
  sleeper.wakeup.at(Time::from_ps(3'001));
  run_until(Time::from_ns(10));
  EXPECT_EQ(sleeper.times, std::vector<Time>{Time::from_ns(4)});
}

TEST(Wakeup, AnExactEdgeIsNotPutOff) {
  Sleeper sleeper("sleeper", Time::from_ns(2));
  sleeper.wakeup.at(Time::from_ns(6));
  run_until(Time::from_ns(10));
  EXPECT_EQ(sleeper.times, std::vector<Time>{Time::from_ns(6)});
}

TEST(Wakeup, ATimerThatIsPutOffFiresOnceAndTheProcessAsksAgain) {
  Sleeper sleeper("sleeper", Time::from_ns(2));
  sleeper.wakeup.at(Time::from_us(3));
  sleeper.wakeup.at(Time::from_us(5));
  sleeper.wakeup.at(Time::from_ns(4));
  run_until(Time::from_us(4));
  EXPECT_EQ(sleeper.times, (std::vector<Time>{Time::from_ns(4), Time::from_us(3)}));
  sleeper.wakeup.at(Time::from_us(5));
  run_until(Time::from_us(6));
  EXPECT_EQ(sleeper.times.back(), Time::from_us(5));
}

TEST(Wakeup, AnEarlierRequestReplacesALaterOneAndNotTheOtherWay) {
  Sleeper sleeper("sleeper", Time::from_ns(2));
  sleeper.wakeup.at(Time::from_ns(8));
  sleeper.wakeup.at(Time::from_ns(4));
  sleeper.wakeup.at(Time::from_ns(6));
  run_until(Time::from_ns(20));
  EXPECT_EQ(sleeper.times, std::vector<Time>{Time::from_ns(4)});
}

TEST(Wakeup, ATimeThatHasPassedMeansTheNextEdgeFromNow) {
  Sleeper sleeper("sleeper", Time::from_ns(2));
  run_until(Time::from_ns(5));
  sleeper.wakeup.at(Time::from_ns(1));
  run_until(Time::from_ns(20));
  EXPECT_EQ(sleeper.times, std::vector<Time>{Time::from_ns(6)});
}

TEST(Wakeup, AWokenProcessIsWokenAgainOnlyIfAsked) {
  Sleeper sleeper("sleeper", Time::from_ns(2));
  sleeper.wakeup.at(Time::from_ns(2));
  run_until(Time::from_ns(10));
  EXPECT_EQ(sleeper.times, std::vector<Time>{Time::from_ns(2)});
  sleeper.wakeup.at(Time::from_ns(12));
  run_until(Time::from_ns(20));
  EXPECT_EQ(sleeper.times, (std::vector<Time>{Time::from_ns(2), Time::from_ns(12)}));
}

TEST(Wakeup, ATimerFarAheadWakesAndSoDoesAnEarlierRequestBeforeIt) {
  Sleeper sleeper("sleeper", Time::from_ns(2));
  sleeper.wakeup.at(Time::from_us(30));
  run_until(Time::from_ns(5));
  sleeper.wakeup.at(Time::from_ns(8));
  run_until(Time::from_us(40));
  EXPECT_EQ(sleeper.times, (std::vector<Time>{Time::from_ns(8), Time::from_us(30)}));
}

/// Asks the sleeper for its own edge on that edge, ahead of the sleeper.
class Prodder : public sc_core::sc_module {
 public:
  Prodder(const sc_core::sc_module_name& name, Sleeper& sleeper, Time when)
      : sc_module(name), sleeper_(sleeper) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&event_);
    sc_core::sc_spawn([this] { sleeper_.wakeup.at(now()); }, "prod", &options);
    event_.notify(to_sc_time(when));
  }

 private:
  Sleeper& sleeper_;
  sc_core::sc_event event_;
};

TEST(Wakeup, NoRequestIsLostWhereATimerAndARequestForNowMeet) {
  Sleeper sleeper("sleeper", Time::from_ns(2));
  // In whatever order the kernel runs them, one comes before the sleeper.
  Prodder before("before", sleeper, Time::from_us(30));
  sleeper.wakeup.at(Time::from_us(30));
  Prodder after("after", sleeper, Time::from_us(30));
  sleeper.asks_for = Time::from_us(30) + Time::from_ns(4);
  run_until(Time::from_us(31));
  ASSERT_FALSE(sleeper.times.empty());
  EXPECT_EQ(sleeper.times.back(), sleeper.asks_for);
}

/// Asks for a time that has passed, over and over.
class Sleepless : public sc_core::sc_module {
 public:
  explicit Sleepless(const sc_core::sc_module_name& name) : sc_module(name) {
    wakeup.wakes("woken", [this] {
      wakeup.taken();
      ++wakes;
      wakeup.at(Time{});
    });
  }

  Wakeup wakeup{"wakeup", Time::from_ns(2)};
  unsigned wakes = 0;
};

TEST(Wakeup, AProcessThatWakesItselfWithoutEndAtOneTimeIsReported) {
  Sleepless sleepless("sleepless");
  sleepless.wakeup.at(Time::from_ns(4));
  EXPECT_THROW(
      {
        try {
          run_until(Time::from_ns(10));
        } catch (const std::exception& error) {
          EXPECT_THAT(error.what(), testing::HasSubstr("sleepless.wakeup wakes its process"));
          throw;
        }
      },
      std::exception);
  EXPECT_EQ(now(), Time::from_ns(4));
  EXPECT_EQ(sleepless.wakes, Wakeup::kMostWakes);
}

}  // namespace
}  // namespace flitwise::wakeup_test
