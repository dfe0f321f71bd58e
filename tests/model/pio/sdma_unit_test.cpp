// SPDX-License-Identifier: Apache-2.0
// An SDMA engine in time, behind a shell and a host memory that the test plays.
#include "pio/sdma_unit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/pio/sdma_bench.h"

namespace flitwise::sdma_unit_test {
namespace {

PioEngineConfig config_of() {
  PioEngineConfig config;
  config.pio.timing.crossing = Time::from_ns(5);
  config.pio.sdma.engines = 2;
  config.pio.sdma.ring = 8;
  config.contexts = 2;
  config.return_stride = 1U << 17;
  config.uses_sdma = true;
  config.most_payload = 56;
  return config;
}

class Bench {
 public:
  Bench()
      : unit(
            config, memory.send, [this] { ++asked; }, [this](Time when) { woken = when; }) {}
  Transfer next(Time now) {
    Transfer transfer;
    EXPECT_TRUE(unit.next(now, transfer));
    return transfer;
  }
  void answer(const Transfer& read, Time when, TransferStatus status = TransferStatus::kDone) {
    if (status == TransferStatus::kDone) {
      unit.data(read.token, 0, memory.memory.data() + read.address, read.bytes);
    }
    unit.finished({read.token, read.op, status, when});
  }
  /// A packet of 64 bytes, whose head is asked for.
  void describe() {
    const SdmaArea area = config.sdma_area(0);
    memory.poke(area.packet(0), 64 / 4);
    SdmaDescriptor one;
    one.address = area.packet(0);
    one.bytes = 64;
    one.is_first = one.is_last = one.asks_for_head = true;
    const auto bytes = encode(one);
    std::copy(bytes.begin(), bytes.end(),
              memory.memory.begin() + static_cast<std::ptrdiff_t>(area.ring()));
  }

  const PioEngineConfig config = config_of();
  test::SdmaBench memory;
  unsigned asked = 0;
  Time woken{};
  SdmaUnit unit;
};

// [PIO-6.10] Tail, descriptors, fragment, packet, head: each a crossing behind what it follows.
TEST(SdmaUnit, PIO_6_10_APacketIsReadAndItsHeadWritten) {
  Bench bench;
  bench.describe();
  bench.unit.write_tail(0, 1, Time::from_ns(10));
  EXPECT_EQ(bench.unit.next_at(), Time::from_ns(15));
  const Transfer descriptors = bench.next(Time::from_ns(15));
  EXPECT_EQ(descriptors.op, Op::kRead);
  EXPECT_EQ(descriptors.address, bench.config.sdma_area(0).ring());
  bench.answer(descriptors, Time::from_ns(400));
  EXPECT_EQ(bench.woken, Time::from_ns(405));
  bench.unit.work(Time::from_ns(404), 0);
  EXPECT_EQ(bench.unit.next_at(), Time::never());
  bench.unit.work(Time::from_ns(405), 0);
  const Transfer fragment = bench.next(Time::from_ns(410));
  EXPECT_EQ(fragment.address, bench.config.sdma_area(0).packet(0));
  EXPECT_EQ(fragment.bytes, 64U);
  EXPECT_EQ(bench.memory.send.next_source(), LaunchArbiter::kNone);
  bench.answer(fragment, Time::from_ns(800));
  bench.unit.work(Time::from_ns(805), 0);
  EXPECT_EQ(bench.memory.send.next_source(), kSendContexts);
  bench.memory.send_one(0);
  bench.unit.work(Time::from_ns(900), 1);  // it has left the buffer of engine 0
  const Transfer head = bench.next(Time::from_ns(905));
  EXPECT_EQ(head.op, Op::kWrite);
  EXPECT_EQ(head.address, bench.config.sdma_area(0).head());
  EXPECT_EQ(head.bytes, 8U);
  EXPECT_EQ(head.data[0], 1);
  EXPECT_FALSE(bench.unit.is_quiet());
  bench.unit.finished({head.token, head.op, TransferStatus::kDone, Time::from_ns(910)});
  EXPECT_TRUE(bench.unit.is_quiet());
  EXPECT_EQ(bench.unit.waits_for(), "");
}

// [PIO-6.15] An answer that says no halts the engine, and the report of a deadlock names it.
TEST(SdmaUnit, PIO_6_15_AReadThatFailsHaltsTheEngine) {
  Bench bench;
  bench.describe();
  bench.unit.write_tail(0, 1, Time{});
  bench.answer(bench.next(Time::from_ns(5)), Time::from_ns(100),
               TransferStatus::kUnsupportedRequest);
  EXPECT_EQ(bench.unit.waits_for(), "");
  bench.unit.work(Time::from_ns(105), 0);
  EXPECT_EQ(bench.unit.next_at(), Time::never());
  EXPECT_NE(bench.unit.waits_for().find("SDMA engine 0 is halted by"), std::string::npos);
}

}  // namespace
}  // namespace flitwise::sdma_unit_test
