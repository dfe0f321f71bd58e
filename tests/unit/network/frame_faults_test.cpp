// SPDX-License-Identifier: Apache-2.0
// Frames on a bad cable: what is lost, damaged, repeated and delayed, and how often.
#include "network/frame_faults.h"

#include <gtest/gtest.h>

#include <bitset>
#include <vector>

#include "common/byte_vector.h"

namespace flitwise::frame_faults_test {
namespace {

constexpr Time kDelay = Time::from_ns(70);

struct Came {
  ByteVector bytes;
  Time last;
  std::uint64_t number;
};

struct Bench {
  explicit Bench(CableConfig rates, std::uint64_t seed = 1) : faults(rates, Random(seed), pool) {}
  std::vector<Came> send(std::uint64_t number) {
    const FrameRef frame = pool.make(100);
    frame->bytes.assign(100, 0x5a);
    frame->wire_bytes = 124;
    frame->source = 3;
    frame->lane = 2;
    frame->number = number;
    frame->last = Time::from_ns(1'000);
    std::vector<Came> came;
    faults.pass(*frame, [&](const Frame& one) {
      EXPECT_EQ(one.wire_bytes, 124U);
      EXPECT_EQ(one.source, 3U);
      EXPECT_EQ(one.lane, 2U);
      came.push_back({one.bytes, one.last, one.number});
    });
    return came;
  }
  FramePool pool;
  FrameFaults faults;
};

CableConfig rates(double loss, double duplication, double corruption, double reordering) {
  CableConfig config;
  config.loss = loss;
  config.duplication = duplication;
  config.corruption = corruption;
  config.reordering = reordering;
  config.delay = kDelay;
  return config;
}

TEST(FrameFaults, AGoodCableChangesNothing) {
  Bench bench(rates(0, 0, 0, 0));
  for (int i = 0; i < 100; ++i) {
    const std::vector<Came> came = bench.send(7);
    ASSERT_EQ(came.size(), 1U);
    EXPECT_EQ(came[0].bytes, ByteVector(100, 0x5a));
    EXPECT_EQ(came[0].last, Time::from_ns(1'000));
    EXPECT_EQ(came[0].number, 7U);
  }
}

TEST(FrameFaults, ALostFrameNeverArrives) {
  Bench bench(rates(1, 1, 1, 1));
  EXPECT_TRUE(bench.send(1).empty());
  EXPECT_EQ(bench.faults.counts().lost, 1U);
  EXPECT_EQ(bench.faults.counts().repeated, 0U);
}

TEST(FrameFaults, ADamagedFrameHasOneOtherBit) {
  Bench bench(rates(0, 0, 1, 0));
  std::bitset<800> struck;
  for (int i = 0; i < 20'000; ++i) {
    const std::vector<Came> came = bench.send(1);
    ASSERT_EQ(came.size(), 1U);
    unsigned others = 0;
    for (unsigned bit = 0; bit < 800; ++bit) {
      if (((came[0].bytes[bit / 8] ^ 0x5aU) >> bit % 8 & 1U) != 0) {
        ++others;
        struck.set(bit);
      }
    }
    ASSERT_EQ(others, 1U);
  }
  EXPECT_TRUE(struck.all());  // any bit may be it
  EXPECT_EQ(bench.faults.counts().damaged, 20'000U);
}

TEST(FrameFaults, ARepeatedFrameComesAgainLater) {
  Bench bench(rates(0, 1, 0, 0));
  const std::vector<Came> came = bench.send(9);
  ASSERT_EQ(came.size(), 2U);
  EXPECT_EQ(came[0].last, Time::from_ns(1'000));
  EXPECT_EQ(came[1].last, Time::from_ns(1'000) + kDelay);
  EXPECT_EQ(came[1].bytes, came[0].bytes);
  EXPECT_EQ(came[1].number, 9U);
  EXPECT_EQ(bench.faults.counts().repeated, 1U);
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(FrameFaults, ADelayedFrameLetsOthersPass) {
  Bench bench(rates(0, 0, 0, 1));
  const std::vector<Came> came = bench.send(1);
  ASSERT_EQ(came.size(), 1U);
  EXPECT_EQ(came[0].last, Time::from_ns(1'000) + kDelay);
  EXPECT_EQ(bench.faults.counts().delayed, 1U);
}

TEST(FrameFaults, ChanceStrikesAsOftenAsTheRatesSayAndTheSameForOneSeed) {
  constexpr int kFrames = 100'000;
  Bench bench(rates(0.02, 0.03, 0.04, 0.05)), again(rates(0.02, 0.03, 0.04, 0.05));
  Bench other(rates(0.02, 0.03, 0.04, 0.05), 2);
  for (int i = 0; i < kFrames; ++i) {
    bench.send(1);
    again.send(1);
    other.send(1);
  }
  const FrameFaults::Counts& seen = bench.faults.counts();
  EXPECT_NEAR(static_cast<double>(seen.lost), kFrames * 0.02, 200);
  EXPECT_NEAR(static_cast<double>(seen.repeated), kFrames * 0.98 * 0.03, 250);
  EXPECT_NEAR(static_cast<double>(seen.damaged), kFrames * 0.98 * 0.04, 300);
  EXPECT_NEAR(static_cast<double>(seen.delayed), kFrames * 0.98 * 0.05, 350);
  EXPECT_EQ(again.faults.counts().lost, seen.lost);
  EXPECT_EQ(again.faults.counts().delayed, seen.delayed);
  EXPECT_NE(other.faults.counts().delayed, seen.delayed);
}

}  // namespace
}  // namespace flitwise::frame_faults_test
