// SPDX-License-Identifier: Apache-2.0
// The way from send memory to the network port, with packets that the test puts there.
#include "pio/egress.h"

#include <gtest/gtest.h>

#include <optional>

namespace flitwise::egress_test {
namespace {

/// A nanosecond a clock, and a nanosecond for each byte on the wire.
PioConfig config_of(const VlWeights& low = {}, Time stall = {}) {
  PioConfig config;
  config.timing.clock = Time::from_ns(1);
  config.timing.egress = Time::from_ns(10);
  config.egress.rate_gbps = 8;
  config.egress.low = low;
  config.egress.stall = stall;
  return config;
}

class Bench {
 public:
  explicit Bench(const PioConfig& config) : config_(config) {
    PacketTraits traits;
    traits.checks_bytes = false;
    egress.emplace(config_, rules, traits);
    for (unsigned context = 0; context < 2; ++context) {
      rules.set_up(context, {context * 512, 512, 0, false, false});
    }
    egress->start(Time{});
  }
  void fill(unsigned vl, unsigned packets, unsigned blocks) {
    for (unsigned i = 0; i < packets; ++i) {
      rules.fill(vl, blocks, vl, false);
    }
  }
  /// Looks in each clock until all is out.
  void run() {
    for (Time now{}; !egress->is_quiet() || rules.next_source() != LaunchArbiter::kNone;
         now += Time::from_ns(1)) {
      ASSERT_LT(now, Time::from_us(100));
      egress->work(now);
    }
  }
  const EgressLane& lane(unsigned vl) const { return egress->lane(vl); }

  SendEngine rules;
  std::optional<Egress> egress;

 private:
  const PioConfig config_;  // which the egress refers to
};

// [PIO-6.2, 6.6] Granted at 0, read from then on, at the port 10 ns after its four blocks.
TEST(Egress, PIO_6_6_APacketTakesAClockForEachBlockAndThenTheWire) {
  Bench bench(config_of());
  bench.egress->begins(0, Time{});
  bench.fill(0, 1, 4);
  bench.run();
  EXPECT_EQ(bench.egress->last_end(), Time::from_ns(4 + 10 + 4 * 64 - 8 + 4));
  EXPECT_EQ(bench.egress->cleared_blocks(), 4U);
  EXPECT_EQ(bench.egress->counts().bytes, 4U * 64 - 8 + 4);
  EXPECT_EQ(bench.lane(0).latency.count(), 1U);
  EXPECT_EQ(bench.lane(0).contended_bytes, 0U);
}

// [PIO-6.5] Three packets of VL 0 for one of VL 1, while both have some: 30 of them for 10.
TEST(Egress, PIO_6_5_ContendedBytesAreSharedOutByWeight) {
  for (const bool has_weights : {true, false}) {
    Bench bench(config_of(has_weights ? VlWeights{{0, 48}, {1, 16}} : VlWeights{}));
    bench.fill(0, 30, 16);
    bench.fill(1, 30, 16);
    bench.run();
    EXPECT_EQ(bench.lane(0).bytes, bench.lane(1).bytes);
    const auto first = static_cast<double>(bench.lane(0).contended_bytes);
    const auto second = static_cast<double>(bench.lane(1).contended_bytes);
    EXPECT_NEAR(first / (first + second), has_weights ? 0.75 : 0.5, 0.02);
    EXPECT_LT(bench.lane(1).contended_bytes, bench.lane(1).bytes);  // what is left goes alone
  }
}

// [PIO-6.3] The lane waits for the end of the stall, from when its packet is at the port on.
TEST(Egress, PIO_6_3_AStallCountsWhereAPacketWaitsForItsEnd) {
  Bench bench(config_of({}, Time::from_ns(500)));
  bench.fill(0, 2, 1);
  bench.fill(1, 2, 1);
  bench.run();
  EXPECT_EQ(bench.egress->stalled(), Time::from_ns(500 - 11));
  EXPECT_EQ(bench.egress->last_end(), Time::from_ns(500 + 2 * 60));
  Bench early(config_of({}, Time::from_ns(11)));  // it is over when the first packet is there
  early.fill(0, 2, 1);
  early.run();
  EXPECT_EQ(early.egress->stalled(), Time{});
}

// What is counted begins anew with the window.
TEST(Egress, TheWindowForgetsWhatHasLeft) {
  Bench bench(config_of());
  bench.fill(1, 2, 2);
  bench.run();
  EXPECT_EQ(bench.lane(1).packets, 2U);
  bench.egress->start_window(bench.egress->last_end());
  EXPECT_EQ(bench.lane(1).packets, 0U);
  EXPECT_EQ(bench.egress->counts().packets, 2U);
}

}  // namespace
}  // namespace flitwise::egress_test
