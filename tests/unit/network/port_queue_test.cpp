// SPDX-License-Identifier: Apache-2.0
// The output queue of a switch port: bytes, and who has room.
#include "network/port_queue.h"

#include <gtest/gtest.h>

namespace flitwise::port_queue_test {
namespace {

constexpr Time at(std::int64_t ns) {
  return Time::from_ns(ns);
}

struct Bench {
  explicit Bench(std::uint64_t room) : queue(room) {}
  bool push(std::uint32_t bytes, Time ready, Time now) {
    const FrameRef frame = pool.make(bytes);
    frame->wire_bytes = bytes;
    return queue.push(frame, ready, now);
  }
  FramePool pool;
  PortQueue queue;
};

TEST(PortQueue, NW_C7_WhatFillsItExactlyIsTakenAndTheNextIsNot) {
  Bench bench(300);
  EXPECT_TRUE(bench.push(100, at(5), at(0)));
  EXPECT_TRUE(bench.push(200, at(5), at(0)));
  EXPECT_FALSE(bench.push(1, at(5), at(0)));
  EXPECT_EQ(bench.queue.used_bytes(at(0)), 300U);
  EXPECT_EQ(bench.queue.peak(), 300U);
  EXPECT_EQ(bench.pool.in_use(), 2U);  // what is dropped is gone
}

TEST(PortQueue, AFrameHasItsRoomUntilItsLastBitHasLeft) {
  Bench bench(300);
  EXPECT_TRUE(bench.push(100, at(5), at(0)));
  EXPECT_TRUE(bench.push(200, at(5), at(0)));
  EXPECT_EQ(bench.queue.next(), at(5));
  EXPECT_EQ(bench.queue.start(at(5), at(10))->wire_bytes, 100U);
  EXPECT_FALSE(bench.push(100, at(19), at(14)));
  EXPECT_TRUE(bench.push(100, at(20), at(15)));
  EXPECT_EQ(bench.queue.peak(), 300U);
}

TEST(PortQueue, FramesLeaveInOrderOneAtATime) {
  Bench bench(1'000);
  EXPECT_EQ(bench.queue.next(), Time::never());
  for (const std::uint32_t bytes : {100, 200, 300}) {
    EXPECT_TRUE(bench.push(bytes, at(5), at(0)));
  }
  EXPECT_EQ(bench.queue.start(at(5), at(10))->wire_bytes, 100U);
  EXPECT_EQ(bench.queue.next(), at(15));
  EXPECT_EQ(bench.queue.ready(), at(5));
  EXPECT_EQ(bench.queue.start(at(15), at(20))->wire_bytes, 200U);
  EXPECT_EQ(bench.queue.next(), at(35));
  EXPECT_EQ(bench.queue.start(at(40), at(30))->wire_bytes, 300U);
  EXPECT_EQ(bench.queue.next(), Time::never());
  EXPECT_EQ(bench.queue.free_at(), at(70));
  EXPECT_EQ(bench.pool.in_use(), 0U);
}

TEST(PortQueue, ThePeakIsThatOfTheWindow) {
  Bench bench(1'000);
  EXPECT_TRUE(bench.push(600, at(0), at(0)));
  bench.queue.start(at(0), at(10));
  EXPECT_TRUE(bench.push(100, at(5), at(5)));
  bench.queue.start_window(at(20));
  EXPECT_EQ(bench.queue.peak(), 100U);
}

}  // namespace
}  // namespace flitwise::port_queue_test
