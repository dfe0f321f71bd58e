// SPDX-License-Identifier: Apache-2.0
// A bounded FIFO in closed form, beside one that keeps its packets, and beside closed forms. [NW-8]
#include "network/output_port.h"

#include <gtest/gtest.h>

#include <deque>

#include "support/network_forms.h"

namespace flitwise::output_port_test {
namespace {

const RedRules kNoRed{false};
constexpr double kGbps = 100;
constexpr std::uint32_t kBytes = 1000;  // 80 ns

struct Bench {
  explicit Bench(std::uint64_t room, double gbps = kGbps) : port(gbps, room) {}
  OutputPort::Pushed push(Time now, std::uint32_t bytes = kBytes, Ecn ecn = Ecn::kEct0) {
    return port.push(now, bytes, ecn, red, random);
  }
  OutputPort port;
  RedRules red = kNoRed;
  Random random{1};
};

TEST(OutputPort, PacketsLeaveOneBehindTheOther) {
  Bench bench(1 << 20);
  const auto first = bench.push(Time::from_ns(10));
  EXPECT_EQ(first.outcome, PortOutcome::kTaken);
  EXPECT_EQ(first.start, Time::from_ns(10));
  EXPECT_EQ(first.end, Time::from_ns(90));
  EXPECT_EQ(bench.push(Time::from_ns(20)).start, Time::from_ns(90));
  EXPECT_EQ(bench.push(Time::from_ns(500)).start, Time::from_ns(500));
  EXPECT_EQ(bench.port.counters().busy, Time::from_ns(240));
}

TEST(OutputPort, NW_C7_APacketThatFillsItIsTakenTheNextOneIsNot) {
  Bench bench(3 * kBytes);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_TRUE(bench.push(Time{}).is_taken());
  }
  EXPECT_EQ(bench.push(Time{}, 1).outcome, PortOutcome::kFull);
  EXPECT_EQ(bench.port.queued_bytes(Time{}), 3 * kBytes);
  // 8 bits more have left: one byte has room.
  EXPECT_EQ(bench.push(Time{80'000}, 2).outcome, PortOutcome::kFull);
  EXPECT_TRUE(bench.push(Time{80'000}, 1).is_taken());
  const OutputPort::Counters& sum = bench.port.counters();
  EXPECT_EQ(sum.packets, 4U);
  EXPECT_EQ(sum.bytes, 3 * kBytes + 1U);
  EXPECT_EQ(sum.full, 2U);
  EXPECT_EQ(sum.dropped_bytes, 3U);
  EXPECT_EQ(sum.peak, 3 * kBytes);
}

TEST(OutputPort, CC_C4_AFullQueueMarksOrDrops) {
  Bench bench(1 << 20);
  bench.red = {true, 1000, 2000, 0.01, true};
  EXPECT_EQ(bench.push(Time{}).outcome, PortOutcome::kTaken);
  EXPECT_EQ(bench.push(Time{}).outcome, PortOutcome::kTaken);
  EXPECT_EQ(bench.push(Time{}).outcome, PortOutcome::kMarked);
  EXPECT_EQ(bench.push(Time{}, kBytes, Ecn::kNotEct).outcome, PortOutcome::kRedDropped);
  EXPECT_EQ(bench.push(Time{}, kBytes, Ecn::kCe).outcome, PortOutcome::kTaken);
  EXPECT_EQ(bench.port.counters().marked, 1U);
  EXPECT_EQ(bench.port.counters().red, 1U);
  EXPECT_EQ(bench.port.counters().packets, 4U);
}

TEST(OutputPort, WhatWaitsLeavesAtTheRateOfItsWire) {
  Bench bench(2 * kBytes);
  bench.push(Time{});
  bench.push(Time{});
  bench.port.set_gbps(25, Time::from_ns(40));
  EXPECT_EQ(bench.port.queued_bytes(Time::from_ns(40)), kBytes + kBytes / 2);
  EXPECT_EQ(bench.port.free_at(), Time::from_ns(40 + 480));
  EXPECT_EQ(bench.push(Time::from_ns(40)).outcome, PortOutcome::kFull);
  bench.port.set_gbps(100, Time::from_ns(200));
  EXPECT_EQ(bench.port.queued_bytes(Time::from_ns(200)), kBytes);
  const auto next = bench.push(Time::from_ns(200));
  EXPECT_EQ(next.start, Time::from_ns(280));
  EXPECT_EQ(next.end, Time::from_ns(360));
  EXPECT_EQ(bench.port.counters().busy, Time::from_ns(360));
}

// Packets of random sizes at random times against a queue that holds them.
TEST(OutputPort, IsAsAQueueThatKeepsItsPackets) {
  Random random(11);
  Bench bench(8000);
  struct Kept {
    std::uint32_t bytes;
    Time start, end;
  };
  std::deque<Kept> kept;
  Time now{}, free_at{};
  double integral = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    now += Time{static_cast<std::int64_t>(random.below(200)) * 1'000'000};
    const auto bytes = static_cast<std::uint32_t>(64 + random.below(4000));
    while (!kept.empty() && kept.front().end <= now) {
      kept.pop_front();
    }
    std::uint64_t queued = 0;
    for (const Kept& one : kept) {
      queued +=
          one.start >= now
              ? one.bytes
              : static_cast<std::uint64_t>(static_cast<double>((one.end - now).fs) / 80'000.0 + .5);
    }
    EXPECT_EQ(bench.port.queued_bytes(now), queued);
    const auto pushed = bench.push(now, bytes);
    ASSERT_EQ(pushed.is_taken(), queued + bytes <= 8000);
    if (pushed.is_taken()) {
      const Time start = std::max(now, free_at);
      free_at = start + Time{bytes * 80'000};
      EXPECT_EQ(pushed.start, start);
      EXPECT_EQ(pushed.end, free_at);
      kept.push_back({bytes, start, free_at});
      integral += bytes * (static_cast<double>((start - now).fs) + bytes * 40'000.0);
    }
  }
  EXPECT_DOUBLE_EQ(bench.port.counters().queued_byte_fs, integral);
  EXPECT_GT(bench.port.counters().full, 1000U);
}

TEST(OutputPort, PoissonArrivalsWaitAsTheClosedFormSays) {
  for (const double load : {.5, .8, .9}) {
    Bench bench(std::uint64_t{1} << 40);
    Random random(static_cast<std::uint64_t>(load * 10));
    constexpr unsigned kPackets = 400'000;
    double at = 0, waited = 0;
    for (unsigned i = 0; i < kPackets; ++i) {
      at += random.exponential(80e6 / load);
      const Time now{static_cast<std::int64_t>(at)};
      waited += static_cast<double>((bench.push(now).start - now).fs);
    }
    const double expected = forms::md1_wait(load);
    EXPECT_NEAR(waited / kPackets / 80e6, expected, .05 * expected) << load;
    // Little's law: what waits and half of what is served, in the mean.
    EXPECT_NEAR(bench.port.counters().queued_byte_fs / at / kBytes, load * (expected + .5),
                .05 * load * expected)
        << load;
  }
}

TEST(OutputPort, EvenArrivalsBelowItsRateNeverWait) {
  Bench bench(1 << 20);
  for (unsigned i = 0; i < 1000; ++i) {
    const Time now = Time::from_ns(80) * i;
    EXPECT_EQ(bench.push(now).start, now);
  }
}

TEST(OutputPort, OfPacketsAtOneTimeTheLastWaitsForAllOthers) {
  Bench bench(1 << 20);
  constexpr unsigned kSenders = 15;
  OutputPort::Pushed last{};
  for (unsigned i = 0; i < kSenders; ++i) {
    last = bench.push(Time{});
  }
  EXPECT_EQ(last.start, Time::from_ns(80) * (kSenders - 1));
  EXPECT_EQ(last.end, wire_time(kSenders * kBytes, kGbps));  // incast: N x B / C
}

TEST(OutputPort, CutThroughGoesOnWithTheHeadersButNoFasterThanTheTailComes) {
  const EdgeRate edge{100, Time::from_ns(500)};
  const OutputPort::Pushed left{PortOutcome::kTaken, Time::from_ns(100), Time::from_ns(180)};
  const auto ready = [&](bool is_cut_through, double next) {
    return ready_after(left, edge, is_cut_through, kBytes, 50, next);
  };
  EXPECT_EQ(ready(false, 100), Time::from_ns(680));
  EXPECT_EQ(ready(true, 100), Time::from_ns(604));
  EXPECT_EQ(ready(true, 25), Time::from_ns(604));
  EXPECT_EQ(ready(true, 200), Time::from_ns(640));
}

}  // namespace
}  // namespace flitwise::output_port_test
