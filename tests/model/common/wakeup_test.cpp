// SPDX-License-Identifier: Apache-2.0
// Wake-ups land on clock edges, never early, and an earlier request wins.
#include "common/wakeup.h"

#include <gtest/gtest.h>

#include <systemc>
#include <vector>

namespace flitwise {
namespace {

/// Notes the times at which it was woken.
class Sleeper : public sc_core::sc_module {
 public:
  Sleeper(const sc_core::sc_module_name& name, Time period)
      : sc_module(name), wakeup("wakeup", period) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    wakeup.wakes(options);
    sc_core::sc_spawn([this] { woken(); }, "woken", &options);
  }

  Wakeup wakeup;
  std::vector<Time> times;

 private:
  void woken() {
    wakeup.taken();
    times.push_back(now());
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

}  // namespace
}  // namespace flitwise
