// SPDX-License-Identifier: Apache-2.0
// The receive engine behind a network port, with a shell that the test plays.
#include "pio/receive_engine.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace flitwise::receive_engine_test {
namespace {

constexpr std::uint64_t kBase = 1U << 20, kSize = 64U << 10;

ReceiveConfig config_of() {
  ReceiveConfig config;
  config.pio.timing.clock = Time::from_ns(2);
  config.pio.timing.crossing = Time::from_ns(4);
  config.pio.receive.timing.parse = Time::from_ns(20);
  config.domains = 3;
  config.buffer_base = kBase;
  config.buffer_size = kSize;
  config.sender.checks_bytes = false;
  return config;
}

class Bench {
 public:
  Bench()
      : sender("sender", Time::from_ns(100)),
        receiver("receiver", Time::from_ns(1)),
        engine("engine", "ep0", config_of(), receiver,
               {[this] { ++asked; }, [this] { return sender.sent(); }, {}, [] { return true; }}) {
    sender.to_wire.bind(receiver.from_wire);
    sender.on_room(
        [this](const Frame& frame, Time when) { rooms.emplace_back(frame.wire_bytes, when); });
  }
  void send(unsigned source, std::size_t bytes, Time end) {
    const FrameRef frame = pool.make(bytes);
    frame->wire_bytes = static_cast<std::uint32_t>(bytes) + 4;
    frame->source = source;
    frame->lane = 2;
    for (std::size_t i = 0; i < bytes; ++i) {
      frame->bytes[i] = static_cast<std::uint8_t>(i);
    }
    sender.send(*frame, end);
  }
  static void run_for(int ns) { sc_core::sc_start(to_sc_time(Time::from_ns(ns))); }
  Transfer next() {
    Transfer transfer;
    EXPECT_TRUE(engine.next(now(), transfer));
    return transfer;
  }
  void finish(const Transfer& transfer, TransferStatus status = TransferStatus::kDone) {
    engine.finished({transfer.token, transfer.op, status, now()});
  }
  PioReceiveResult row() const {
    RunResult result;
    engine.report(result);
    return result.rows<PioReceiveResult>().at(0);
  }

  FramePool pool;
  NicPort sender, receiver;
  ReceiveEngine engine;
  unsigned asked = 0;
  std::vector<std::pair<std::uint32_t, Time>> rooms;
};

// [PIO-1.4] Source 7 of 3 domains is for domain 1, whose queue lies in the upper half of its
// buffer.
TEST(ReceiveEngine, PIO_1_4_PayloadGoesFirstAndThenTheEntry) {
  Bench bench;
  bench.send(7, 200, Time::from_ns(10));
  EXPECT_EQ(bench.engine.next_at(), Time::never());
  bench.run_for(109);
  EXPECT_EQ(bench.row().packets, 0U);
  bench.run_for(25);  // it came at 110 ns; 20 ns and a crossing later
  Transfer none;
  EXPECT_EQ(bench.engine.next_at(), Time::from_ns(134));
  const Transfer payload = bench.next();
  EXPECT_EQ(to_int(payload.domain), 1U);
  EXPECT_EQ(payload.address, kBase + kSize + kSize / 2 + 64 * 64);
  EXPECT_EQ(payload.bytes, 200U - 56);
  EXPECT_EQ(payload.data[0], 56);
  const Transfer entry = bench.next();
  EXPECT_EQ(entry.address, kBase + kSize + kSize / 2);
  EXPECT_EQ(entry.bytes, 64U);
  EXPECT_EQ(entry.data[55], 55);
  EXPECT_EQ(entry.data[56], 200);  // flags: bytes, VL, number
  EXPECT_EQ(entry.data[58], 2);
  EXPECT_FALSE(bench.engine.next(now(), none));
  bench.finish(entry);
  EXPECT_TRUE(bench.rooms.empty());
  bench.run_for(6);
  bench.finish(payload);
  ASSERT_EQ(bench.rooms.size(), 1U);  // [PIO-1.3] told when the wire has brought it back
  EXPECT_EQ(bench.rooms[0].first, 204U);
  EXPECT_EQ(bench.rooms[0].second, Time::from_ns(240));
  EXPECT_TRUE(bench.engine.is_quiet());
  EXPECT_EQ(bench.pool.in_use(), 0U);
  EXPECT_EQ(bench.row().payload_bytes, 144U);
}

// [PIO-1.2] One packet a clock, in their order; a packet that is a header alone has no payload.
TEST(ReceiveEngine, PIO_1_2_TheParserTakesOnePacketAClock) {
  Bench bench;
  for (int i = 0; i < 3; ++i) {
    bench.send(static_cast<unsigned>(i), 40, Time{});
  }
  bench.run_for(200);
  EXPECT_EQ(bench.asked, 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bench.engine.next_at(), Time::from_ns(124 + 2 * i));
    const Transfer entry = bench.next();
    EXPECT_EQ(to_int(entry.domain), static_cast<std::uint32_t>(i));
    bench.finish(entry);
  }
  EXPECT_EQ(bench.rooms.size(), 3U);
  EXPECT_EQ(bench.row().header_writes, 3U);
  EXPECT_EQ(bench.row().payload_writes, 0U);
}

// What a reset takes from the shell was never written, but its room is free.
TEST(ReceiveEngine, ADroppedWriteIsAnErrorAndFreesItsRoom) {
  Bench bench;
  bench.send(0, 200, Time{});
  bench.run_for(200);
  const Transfer payload = bench.next(), entry = bench.next();
  bench.finish(payload, TransferStatus::kContextEnded);
  bench.finish(entry, TransferStatus::kContextEnded);
  EXPECT_EQ(bench.rooms.size(), 1U);
  EXPECT_EQ(bench.row().header_writes + bench.row().payload_writes, 0U);
  EXPECT_EQ(bench.engine.errors().at("receive_write_dropped"), 2U);
  for (const CheckResult& check : bench.engine.checks_at_rest()) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  EXPECT_TRUE(bench.engine.is_quiet());
}

}  // namespace
}  // namespace flitwise::receive_engine_test
