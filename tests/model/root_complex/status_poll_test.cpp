// SPDX-License-Identifier: Apache-2.0
// Software that polls a status finds it when it would have found it, however long it took.
#include <gtest/gtest.h>

#include <systemc>

#include "config/load.h"
#include "host/driver_parts.h"
#include "host/host_bridge.h"

namespace flitwise::status_poll_test {
namespace {

constexpr Time kPeriod = Time::from_ns(281);  // 282 ns from look to look
constexpr Time kSpacing = Time::from_ns(282);

/// When a status that is written at `written` is found, counted from the first call, and after how
/// many looks.
struct Found {
  Time when{};
  unsigned looks = 0;
};
Found poll_until(Time written) {
  const Config config = config_from_text("", "poll.yaml", "");
  PacketPool pool;
  HostBridge bridge("bridge", config.host, pool);
  StatusPoll polls(bridge, kPeriod, config.host.timing.clock);
  Found found;
  polls.begin([&] {
    ++found.looks;
    found.when = now();
    return now() < written;
  });
  sc_core::sc_start(to_sc_time(written));
  polls.wake();
  sc_core::sc_start(to_sc_time(kSpacing * 2));
  return found;
}

TEST(StatusPoll, LooksEachPeriodUpToAClockEdge) {
  const Found found = poll_until(Time::from_ns(2000));
  EXPECT_EQ(found.when, kSpacing * 8);
  EXPECT_EQ(found.looks, 8U);
}

TEST(StatusPoll, FindsAtTheSameTimeWhatItHasNotLookedForAllAlong) {
  const std::int64_t looks = 3'000'000;
  const Found found = poll_until(kSpacing * looks - Time::from_ns(5));
  EXPECT_EQ(found.when, kSpacing * looks);
  EXPECT_EQ(found.looks, 1001U);
}

}  // namespace
}  // namespace flitwise::status_poll_test
