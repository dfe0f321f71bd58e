// SPDX-License-Identifier: Apache-2.0
// Cores that send by PIO, the device that takes their packets, and the credits that come back:
// whole runs against closed forms and against each other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "flitwise/error.h"
#include "pio_bench.h"

namespace flitwise::pio_test {
namespace {

using pio_bench::config_of;
using pio_bench::Ended;
using pio_bench::run;
using pio_bench::wait_of;

// A TLP of 64 bytes with a header of 4 DW takes 88 symbols on x16 lanes of 8 GT/s and 128b/130b.
TEST(Pio, SaturatesGen3x16AtTheClosedForm) {
  const Ended done = run(config_of("count: 8", "depth: 128, threshold: 16, group: 8",
                                   "domains: 16, payload: 184B, requests: 20000"));
  EXPECT_EQ(done.pio.packets, 20'000U);
  EXPECT_EQ(done.pio.bytes, 20'000U * 188);
  EXPECT_EQ(done.pio.posted_writes, 60'000U);
  const double most = 16 * 8e9 / 8 * 128 / 130 * 64 / 88;  // bytes/s
  const double seen = 60'000 * 64.0 / done.seconds;
  EXPECT_LT(seen, most);
  EXPECT_GT(seen, most * 0.97);  // Acks, UpdateFCs, SKPs, the first and the last packet
}

// Packets of one block, which leave one at a time: one return a packet at threshold 1, one for each
// T blocks of a context, one for each G(T-1)+1 of a group whose members take turns.
void expect_returns(unsigned group, unsigned threshold, double blocks_a_return) {
  const Ended done =
      run(config_of("count: 1, timing: {store: 200ns}",
                    fmt::format("depth: 128, group: {}, threshold: {}", group, threshold),
                    "domains: 8, payload: 56B, requests: 4560"));
  EXPECT_NEAR(static_cast<double>(done.pio.due_to_threshold), 4560 / blocks_a_return,
              0.02 * 4560 / blocks_a_return + 1);
  EXPECT_EQ(done.pio.due_to_force + done.pio.due_to_pbc + done.pio.due_to_error, 0U);
}
TEST(Pio, PIO_7_3_OneReturnAPacketAtThreshold1) {
  expect_returns(1, 1, 1);
}
TEST(Pio, PIO_7_3_OneReturnForEachThreshold) {
  expect_returns(1, 8, 8);
}
TEST(Pio, PIO_8_2_GroupsOfEightReturnFor57Blocks) {
  expect_returns(8, 8, 57);
}

// [PIO-4.4] One core that waits for the IIO behind each packet.
TEST(Pio, PIO_018_AFenceCostsItsRoundTripAndChangesNoPacket) {
  const auto timed = [](const char* fence) {
    return run(config_of(fmt::format("count: 1, fence: {}, timing: {{fence: 300ns}}", fence),
                         "depth: 128", "domains: 2, payload: 120B, requests: 1000"));
  };
  const Ended with = timed("packet");
  EXPECT_EQ(with.pio.packets, 1000U);
  const WaitResult& fence = wait_of(with.result, "ep0_core0", "fence");
  // All of its blocks have to be out first, which takes the drain; meanwhile it reads what is next.
  EXPECT_NEAR(fence.total.ns() / 1000, 380, 10);
  EXPECT_NEAR(with.seconds * 1e9 / 1000, 380, 20);
  Config config;
  config.host.cores.fence = StoreFence::kPacket;
  Limit limit;
  limit.at = "ep0_core0";
  limit.key = "host.cores.fence";
  advise(config, limit);
  EXPECT_EQ(limit.larger, "none");
}
// Eight stores of 20 ns, a drain of 80 ns, a fence of 200 ns: one behind the other, and for each
// packet. What the thread reads of its source meanwhile takes no time of its own.
void expect_stores_behind_the_fence(int source_ns) {
  const Ended done = run(config_of(
      fmt::format("count: 1, fence: packet, store_bytes: 8, timing: {{store: 20ns, source: {}ns}}",
                  source_ns),
      "depth: 256", "domains: 1, payload: 56B, requests: 1000"));
  EXPECT_NEAR(done.seconds * 1e9 / 1000, 440, 1);
  const WaitResult& fence = wait_of(done.result, "ep0_core0", "fence");
  EXPECT_NEAR(fence.total.ns() / 1000, 280 - source_ns, 2);
}
TEST(Pio, PIO_4_4_NoStoreIsDoneBeforeTheFenceHasEnded) {
  expect_stores_behind_the_fence(0);
}
TEST(Pio, PIO_4_4_BehindAFenceAThreadReadsWhatItStoresNext) {
  expect_stores_behind_the_fence(50);
}
TEST(Pio, PIO_018_WithoutFencesPacketsFollowEachOther) {
  const Ended without = run(config_of("count: 1, timing: {fence: 300ns}", "depth: 128",
                                      "domains: 2, payload: 120B, requests: 1000"));
  EXPECT_EQ(without.pio.packets, 1000U);
  EXPECT_LT(without.seconds * 1e9 / 1000, 30);
}

// Each block takes its place for the drain: N x 64 B over that is the most of a core.
TEST(Pio, PIO_4_1_TheStoreBufferBoundsACore) {
  const Ended done = run(config_of("count: 1, store_buffers: 4, timing: {drain: 100ns}",
                                   "depth: 256", "domains: 1, payload: 120B, requests: 4000"));
  EXPECT_NEAR(8000 * 64 / done.seconds / 1e9, 4 * 64 / 100.0, 0.03);
  EXPECT_GT(wait_of(done.result, "ep0_core0", "store_buffer").blocked.ns(), 0);
}

// A lane without credits of its peer stalls alone, and resumes exactly. [PIO-087]
TEST(Pio, PIO_087_AStalledVlHoldsItsOwnPacketsAlone) {
  const Ended done = run(
      config_of("count: 2, vls: 2",
                "depth: 512, threshold: 1, egress: {stalled_vl: 1, stall: 400us, buffer: 16KiB}",
                "domains: 2, payload: 1016B, requests: 400"));
  EXPECT_EQ(done.pio.packets, 400U);
  EXPECT_GT(done.seconds, 300e-6);
  EXPECT_GT(wait_of(done.result, "ep0_core0", "send_credits").blocked.ns(), 100'000);
}
TEST(Pio, PIO_087_AStalledPortStopsCoresByTheirCredits) {
  const Ended done =
      run(config_of("count: 1", "depth: 16, threshold: 1, egress: {rate: 1Gb/s, buffer: 16KiB}",
                    "domains: 1, payload: 1000B, requests: 100"));
  EXPECT_EQ(done.pio.packets, 100U);
  EXPECT_NEAR(static_cast<double>(done.pio.bytes) * 8 / done.seconds / 1e9, 1, 0.03);
  EXPECT_EQ(done.pio.returned, 1600U);
}

// A thread that waits for milliseconds does not look every 50 ns: this takes a moment, not minutes.
TEST(Pio, ASlowPortIsWaitedForWithoutAnEventEveryFewNanoseconds) {
  const Ended done =
      run(config_of("count: 1", "depth: 16, threshold: 1, egress: {rate: 1Mb/s, buffer: 16KiB}",
                    "domains: 1, payload: 1000B, requests: 60"));
  EXPECT_EQ(done.pio.packets, 60U);
  EXPECT_NEAR(done.seconds, 60 * 1004 * 8 / 1e6, 0.05);
}

// The same credits and packets, whatever the ratio of the clocks.
TEST(Pio, PIO_088_ASlowClockOfSendMemoryLosesNothing) {
  const Ended done =
      run(config_of("count: 2, vls: 9", "depth: 64, threshold: 4, timing: {clock: 8ns}",
                    "domains: 4, payload: 300B, requests: 2000"));
  EXPECT_EQ(done.pio.packets, 2000U);
  EXPECT_EQ(done.pio.blocks, 10'000U);
}
TEST(Pio, PIO_088_AFastClockOfSendMemoryLosesNothing) {
  const Ended done =
      run(config_of("count: 2, vls: 9", "depth: 64, threshold: 4, timing: {clock: 500ps}",
                    "domains: 4, payload: 300B, requests: 2000"));
  EXPECT_EQ(done.pio.packets, 2000U);
  EXPECT_EQ(done.pio.blocks, 10'000U);
}

// Two devices of one host share nothing.
TEST(Pio, PIO_090_TwoDevicesDoNotDisturbEachOther) {
  const Ended done =
      run(config_of("count: 2", "depth: 64", "domains: 4, payload: 200B, requests: 1000",
                    "system: {devices: 2}\n"));
  const auto& rows = done.result.rows<PioResult>();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].packets, 1000U);
  EXPECT_EQ(rows[0].blocks, rows[1].blocks);
}

// Returns are requests of the device like any other: with identities, and translated.
TEST(Pio, PIO_091_ReturnsAreTranslated) {
  const Ended done = run(config_of("count: 2", "depth: 64, threshold: 4",
                                   "domains: 4, payload: 200B, requests: 1000",
                                   "iommu: {translation: first_stage}\n"));
  EXPECT_GT(done.result.rows<IommuResult>().at(0).requests, 100U);
  EXPECT_GE(done.pio.returned, 3000U);
}
TEST(Pio, PIO_091_ReturnsGoByHandle) {
  const Ended done =
      run(config_of("count: 2", "depth: 64, threshold: 4",
                    "domains: 4, payload: 200B, requests: 1000", "", "identity: dhi"));
  EXPECT_GE(done.pio.returned, 3000U);
}

// The window is for writing. [PIO-12.26]
TEST(Pio, PIO_12_26_AReadOfTheWindowGivesOnes) {
  Machine machine(config_from_text(
      config_of("count: 1", "depth: 8", "domains: 1, payload: 56B, requests: 1"), "run.yaml", ""));
  machine.bring_up();
  std::uint32_t seen = 0;
  machine.bridge().read(machine.software().device(0).bar.base + kPioWindow, 4,
                        [&](const HostAnswer& answer) { seen = answer.value(); });
  machine.run_until_quiet();
  EXPECT_EQ(seen, 0xffff'ffffU);
  machine.start();
  machine.run_until_quiet();
  const PioResult row = machine.result().rows<PioResult>().at(0);
  EXPECT_EQ(row.packets, 1U);
  EXPECT_EQ(row.errors.at("window_read"), 1U);
}

// Credits that never come: the report names the context. [PIO-7.9]
TEST(Pio, CreditsThatAreNeverReturnedAreADeadlockWithAName) {
  try {
    run(config_of("count: 1, timing: {credit_poll: 1us}}, dma_window: {base: 0B, size: 4KiB",
                  "depth: 8, threshold: 4", "domains: 1, payload: 120B, requests: 100"));
    FAIL() << "it ends";
  } catch (const SimulationError& error) {
    EXPECT_NE(std::string(error.what()).find("waits for credits of context 0"), std::string::npos)
        << error.what();
  }
}

// A threshold that keeps so much in hardware that a packet has no room needs a force. [PIO-7.9]
TEST(Pio, PIO_058_SoftwareForcesWhatTheThresholdHoldsBack) {
  const Ended done = run(
      config_of("count: 1", "depth: 8, threshold: 8", "domains: 1, payload: 184B, requests: 300"));
  EXPECT_EQ(done.pio.packets, 300U);
  EXPECT_GT(done.pio.due_to_force, 0U);
}

// A force that comes too soon returns too little: another one follows, whatever the clocks.
TEST(Pio, PIO_7_9_AForceThatReturnsTooLittleIsFollowedByAnother) {
  const Ended done = run(config_of("count: 1", "depth: 8, threshold: 8, timing: {clock: 50ns}",
                                   "domains: 1, payload: 184B, requests: 300"));
  EXPECT_EQ(done.pio.packets, 300U);
}
TEST(Pio, PIO_7_9_ForcesOfPacketsOfManySizes) {
  const Ended done =
      run(config_of("count: 1", "depth: 64, threshold: 60",
                    "domains: 1, sizes: google_rpc_2008, size_cap: 3900B, requests: 3000"));
  EXPECT_EQ(done.pio.packets, 3000U);
}

// [PIO-7.5]
TEST(Pio, PIO_063_EarlyReturnGivesCreditsSooner) {
  const Ended done = run(config_of("count: 1", "depth: 8, threshold: 1, early_return: true",
                                   "domains: 1, payload: 184B, requests: 300"));
  EXPECT_GT(done.pio.due_to_early, 0U);
  EXPECT_EQ(done.pio.due_to_threshold, 0U);
}

// 160 contexts of two depths, nine lanes, stores of 8 bytes that pass each other: every packet
// leaves whole and in the order of its context and lane.
TEST(Pio, PIO_092_160ContextsSendWholePacketsInOrder) {
  const Ended done = run(
      config_of("count: 8, threads: 2, vls: 9, store_bytes: 8, window: 64, credit_requests: 0.05",
                "depth: 80, deep_contexts: 8, deep_depth: 512, threshold: 10, group: 4",
                "domains: 160, domain_choice: uniform, sizes: google_rpc_2008, size_cap: 4000B, "
                "requests: 20000"));
  EXPECT_EQ(done.pio.packets, 20'000U);
  EXPECT_EQ(done.pio.vls, 9U);
  EXPECT_TRUE(done.pio.errors.empty());
}

}  // namespace
}  // namespace flitwise::pio_test
