// SPDX-License-Identifier: Apache-2.0
// PIO, SDMA, peers, hostile processes and faults beside each other: nothing is lost without being
// counted, and each check of the run holds.
#include <gtest/gtest.h>

#include <string>

#include "pio_bench.h"

namespace flitwise::pio_mixed_test {
namespace {

RunResult run_mixed(const std::string& cores, const std::string& pio, const std::string& workload,
                    const std::string& more = "") {
  return pio_bench::run(pio_bench::config_of(cores, pio, workload, more)).result;
}

const PioResult& pio_of(const RunResult& result, std::size_t device = 0) {
  return result.rows<PioResult>().at(device);
}

// Credits are no payload: without real bytes they return all the same.
TEST(PioMixed, CreditsReturnWhereThePayloadIsNotReal) {
  const RunResult result = run_mixed("count: 1", "depth: 16, threshold: 4",
                                     "domains: 2, payload: 120B, requests: 2000, real_payload: "
                                     "false");
  EXPECT_EQ(pio_of(result).packets, 2000U);
  EXPECT_GT(pio_of(result).returned, 3500U);
}

TEST(PioMixed, PacketsOfBothWaysReachThePeerWhole) {
  const RunResult result =
      run_mixed("count: 2, vls: 3, sdma_from: 512B", "depth: 64, egress: {peer: ep0}",
                "domains: 4, sizes: google_rpc_2008, size_cap: 3000B, requests: 2000");
  const PioResult& pio = pio_of(result);
  EXPECT_GT(pio.sdma_packets, 200U);
  EXPECT_LT(pio.sdma_packets, 1800U);
  const PioReceiveResult& receiver = result.rows<PioReceiveResult>().at(0);
  EXPECT_EQ(receiver.packets, pio.packets);
}

TEST(PioMixed, PacketsOfAHostileProcessReachThePeerUnchecked) {
  const RunResult result =
      run_mixed("count: 2, hostile: 1", "depth: 64, egress: {peer: ep0}",
                "domains: 4, payload: 120B, requests: 1600", "faults: {pio_integrity: 0.01}\n");
  const PioResult& pio = pio_of(result);
  EXPECT_GT(pio.hostile_packets, 0U);
  EXPECT_GT(pio.lost_packets, 0U);
  EXPECT_EQ(result.rows<PioReceiveResult>().at(0).packets, pio.packets);
}

// [PIO-086] [PIO-12.34] A packet of SDMA that fails integrity costs no credits and halts nobody.
TEST(PioMixed, PIO_086_SdmaPacketsThatFailIntegrityAreCountedAlone) {
  const RunResult result =
      run_mixed("count: 2, sdma_from: 1B", "depth: 64, sdma: {ring: 16}",
                "domains: 4, payload: 248B, requests: 4000", "faults: {pio_integrity: 0.02}\n");
  const PioResult& pio = pio_of(result);
  EXPECT_NEAR(static_cast<double>(pio.lost_packets), 80, 35);
  EXPECT_EQ(pio.sdma_packets + pio.lost_packets, 4000U);
  EXPECT_EQ(pio.errors.at("sdma_disallowed_packet"), pio.lost_packets);
  EXPECT_EQ(pio.due_to_error, 0U);
}

// Cores of three devices wait for the writes of one root port: each has its turn.
TEST(PioMixed, DevicesBelowOneRootPortShareIt) {
  const RunResult result = run_mixed("count: 2", "depth: 128, threshold: 16, group: 8",
                                     "domains: 8, payload: 184B, requests: 300",
                                     "system: {devices: 3, topology: switch}\n");
  for (std::size_t device = 1; device < 3; ++device) {
    EXPECT_NEAR(pio_of(result, device).latency_p99 / pio_of(result).latency_p99, 1, 0.2);
  }
}

// As many cores as devices, and one link for all of them: no core waits while others go on.
TEST(PioMixed, CoresBelowOneRootPortTakeTurns) {
  const RunResult result = run_mixed(
      "count: 2", "depth: 128, threshold: 16", "domains: 4, payload: 248B, requests: 2000",
      "system: {devices: 2, topology: switch, instances: {rp0-sw0: {link.preset: gen4x4}}}\n");
  for (std::size_t device = 0; device < 2; ++device) {
    EXPECT_LT(pio_of(result, device).latency_max, 1.5 * pio_of(result, device).latency_mean);
  }
}

TEST(PioMixed, AllOfItAtOnce) {
  const RunResult result = run_mixed(
      "count: 4, threads: 2, vls: 9, hostile: 2, sdma_from: 1KiB, store_bytes: 8, window: 16",
      "depth: 96, group: 4, threshold: 6, early_return: true, sdma: {engines: 5, ring: 8}, "
      "egress: {peer: ep0, buffer: 16KiB}",
      "domains: 16, domain_choice: uniform, sizes: google_rpc_2008, size_cap: 4000B, requests: "
      "6000",
      "faults: {pio_integrity: 0.005}\niommu: {translation: first_stage}\n");
  EXPECT_GT(pio_of(result).sdma_packets, 100U);
}

}  // namespace
}  // namespace flitwise::pio_mixed_test
