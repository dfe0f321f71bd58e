// SPDX-License-Identifier: Apache-2.0
// A core by itself: what surrounds it are the functions of its hooks.
#include "pio/pio_core.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "flitwise/link_socket.h"

namespace flitwise::pio_core_test {
namespace {

/// One thread with one context of 8 blocks, whose credits never come, and a threshold of 8.
struct CoreBench {
  CoreBench() {
    PioCoreConfig config;
    config.cores.count = 1;
    config.engine.pio.depth = config.engine.pio.threshold = 8;
    WorkloadConfig workload;
    workload.payload = 184;
    workload.requests = 10;
    PioCore::Hooks hooks;
    hooks.has_room = [this] { return room > writes.size(); };
    hooks.write = [this](std::uint64_t offset, const std::uint8_t* bytes, std::size_t) {
      writes.emplace_back(offset, bytes[0]);
    };
    hooks.look = [](std::uint64_t) { return std::uint64_t{0}; };
    hooks.begins = [](unsigned, unsigned, Time) {};
    hooks.work_ended = [] {};
    core = std::make_unique<PioCore>("core", config, workload, DeviceConfig(), RunConfig(), hooks);
    core->start(Time{});
  }
  void run(Time time) { sc_core::sc_start(to_sc_time(time)); }

  std::size_t room = 100;  // writes that the IIO takes in all
  std::vector<std::pair<std::uint64_t, unsigned>> writes;
  std::unique_ptr<PioCore> core;
};

std::uint64_t force_of_context_0() {
  return kPioRegisters + SendRegisters::offset_of(SendRegisters::kCreditForce, 0);
}

// Two packets of 3 blocks have their credits; the third one waits for a force. [PIO-7.9]
TEST(PioCore, PIO_7_9_ForceReturnGoesOneThenZero) {
  CoreBench bench;
  bench.run(Time::from_ns(500));
  ASSERT_EQ(bench.writes.size(), 8U);
  EXPECT_EQ(bench.writes[6], std::make_pair(force_of_context_0(), 1U));
  EXPECT_EQ(bench.writes[7], std::make_pair(force_of_context_0(), 0U));
}
// Its writes wait for room like those of blocks, and one by one.
TEST(PioCore, PIO_7_9_ForceReturnWaitsForRoomInTheIio) {
  CoreBench bench;
  bench.room = 6;
  bench.run(Time::from_us(5));
  EXPECT_EQ(bench.writes.size(), 6U);
  EXPECT_TRUE(bench.core->waits_for_room());
  EXPECT_FALSE(bench.core->is_quiet());
  bench.room = 7;
  bench.core->wake();
  bench.run(Time::from_ns(1));
  ASSERT_EQ(bench.writes.size(), 7U);
  EXPECT_EQ(bench.writes[6].second, 1U);
  EXPECT_TRUE(bench.core->waits_for_room());
  bench.room = 8;
  bench.core->wake();
  bench.run(Time::from_ns(1));
  ASSERT_EQ(bench.writes.size(), 8U);
  EXPECT_EQ(bench.writes[7].second, 0U);
  EXPECT_FALSE(bench.core->waits_for_room());
}

}  // namespace
}  // namespace flitwise::pio_core_test
