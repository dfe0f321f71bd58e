// SPDX-License-Identifier: Apache-2.0
// Send memory whose blocks are cleared one by one, in time. [PIO-12.25]
#include <gtest/gtest.h>

#include <string>

#include "pio_bench.h"

namespace flitwise::pio_blocks_test {
namespace {

using pio_bench::config_of;
using pio_bench::Ended;
using pio_bench::run;
using pio_bench::wait_of;

Ended with_clear(const std::string& clear, const std::string& depth, const std::string& clock) {
  return run(config_of(
      "count: 1",
      "threshold: 1, depth: " + depth + ", clear: " + clear + ", timing: {clock: " + clock + "}",
      "domains: 1, payload: 376B, requests: 200"));
}

// Packets of 6 blocks: a return for each block, or for each packet.
TEST(PioBlocks, PIO_12_25_EachBlockReturnsItsCredit) {
  const Ended done = with_clear("block", "64", "100ns");
  EXPECT_EQ(done.pio.due_to_threshold, 1200U);
  EXPECT_EQ(done.pio.blocks, 1200U);
}
TEST(PioBlocks, PIO_6_8_APacketReturnsItsCreditsTogether) {
  EXPECT_EQ(with_clear("packet", "64", "100ns").pio.due_to_threshold, 200U);
}
// 10 blocks, of which a packet leaves 4: the next one needs two more. They are free after two of
// the six clocks of the first one, so that it is here before the first is out; or else it comes a
// way of credits and of stores behind it.
TEST(PioBlocks, PIO_12_25_TheNextPacketIsHereBeforeTheFirstIsOut) {
  const Ended done = with_clear("block", "10", "400ns");
  EXPECT_NEAR(done.seconds * 1e9, 200 * 6 * 400, 200 * 6 * 400 * 0.02);
  EXPECT_GT(wait_of(done.result, "ep0_pio", "send_memory").busy.value(), 0.97);
}
TEST(PioBlocks, PIO_6_8_TheNextPacketComesWhenTheFirstIsOut) {
  EXPECT_GT(with_clear("packet", "10", "400ns").seconds * 1e9, 200 * (6 * 400 + 300));
}
// Blocks are filled again while their packet is still read: all packets are whole and in order, by
// the checks of each run.
TEST(PioBlocks, PIO_12_25_PacketsStayWholeWhereBlocksAreFilledAgain) {
  const Ended done = run(
      config_of("count: 4, threads: 2, vls: 9, store_bytes: 8, window: 64, credit_requests: 0.05",
                "depth: 70, threshold: 10, group: 4, clear: block, timing: {clock: 3ns}",
                "domains: 40, domain_choice: uniform, sizes: google_rpc_2008, size_cap: 4000B, "
                "requests: 8000"));
  EXPECT_EQ(done.pio.packets, 8000U);
  EXPECT_TRUE(done.pio.errors.empty());
}
// A context that has failed is initialised anew once its packets are out: whichever way they went.
TEST(PioBlocks, PIO_9_7_AContextIsRecovered) {
  const Ended done = run(config_of("count: 2", "depth: 64, threshold: 4, clear: block",
                                   "domains: 4, payload: 120B, requests: 3000",
                                   "faults: {pio_integrity: 0.01}\n"));
  EXPECT_GT(done.pio.lost_packets, 20U);
  EXPECT_EQ(done.pio.packets + done.pio.lost_packets, 3000U);
}
TEST(PioBlocks, PIO_064_WithEarlyReturnWritesWaitForTheirBlock) {
  const Ended done = run(
      config_of("count: 2",
                "depth: 10, threshold: 1, early_return: true, clear: block, timing: {clock: 50ns}",
                "domains: 2, payload: 376B, requests: 500"));
  EXPECT_EQ(done.pio.packets, 500U);
  EXPECT_EQ(done.pio.blocks, 3000U);
}

}  // namespace
}  // namespace flitwise::pio_blocks_test
