// SPDX-License-Identifier: Apache-2.0
// Errors of send contexts while packets flow: packets that fail integrity, hostile processes, and
// software that recovers its contexts by registers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "pio_bench.h"

namespace flitwise::pio_errors_test {
namespace {

std::string config_of(const std::string& host, const std::string& pio, const std::string& workload,
                      const std::string& faults, const std::string& more = "") {
  return pio_bench::config_of(host, pio, workload, fmt::format("faults: {{{}}}\n{}", faults, more));
}

// Among the checks of each run: packets of a context and VL left in order with all their bytes,
// those that cores wrote left or are counted as lost, blocks that were cleared are free, and
// credits in memory are those that were returned.
RunResult run(const std::string& yaml) {
  return pio_bench::run(yaml).result;
}
PioResult pio_of(const RunResult& result) {
  const PioResult& row = result.rows<PioResult>().at(0);
  EXPECT_EQ(row.errors.count("initialised_under_traffic"), 0U);  // software waits [PIO-9.7]
  return row;
}

// [PIO-6.7, 9.1, 9.7]
TEST(PioErrors, PIO_080_PacketsThatFailIntegrityAreLostAndOthersGoOn) {
  const PioResult row =
      pio_of(run(config_of("count: 2", "depth: 32, threshold: 4",
                           "domains: 8, payload: 184B, requests: 4000", "pio_integrity: 0.01")));
  const std::uint64_t errors = row.errors.at("disallowed_packet");
  EXPECT_GT(errors, 10U);
  EXPECT_GE(row.due_to_error, errors);
  EXPECT_GE(row.lost_packets, errors);
  EXPECT_EQ(row.packets + row.lost_packets, 4000U);
  EXPECT_GT(row.packets, 3000U);  // most are sent by contexts that have been recovered
  EXPECT_EQ(row.returned + row.pending, row.blocks);
}
TEST(PioErrors, PIO_9_7_EveryPacketFails) {
  const PioResult row =
      pio_of(run(config_of("count: 1", "depth: 8, threshold: 4",
                           "domains: 2, payload: 184B, requests: 60", "pio_integrity: 1")));
  EXPECT_EQ(row.packets, 0U);
  EXPECT_EQ(row.lost_packets, 60U);
  EXPECT_GE(row.errors.at("disallowed_packet"), 20U);  // two packets fill a context
}

// What is lost with an error at the end of a run, where nobody looks any more, is counted as well.
TEST(PioErrors, PIO_9_8_WhatIsLostAtTheEndIsCounted) {
  const PioResult row =
      pio_of(run(config_of("count: 1", "depth: 512, threshold: 4",
                           "domains: 1, payload: 184B, requests: 50", "pio_integrity: 1")));
  EXPECT_EQ(row.errors.at("disallowed_packet"), 1U);
  EXPECT_EQ(row.lost_packets, 50U);
}

// The ways that a packet may go: nine lanes, early return, groups, two threads of a core that run
// ahead, packets of many sizes.
TEST(PioErrors, PIO_095_IntegrityWithEarlyReturnLanesAndGroups) {
  const PioResult row =
      pio_of(run(config_of("count: 4, threads: 2, vls: 9, store_bytes: 8, window: 64",
                           "depth: 64, threshold: 8, group: 8, early_return: true",
                           "domains: 16, sizes: google_rpc_2008, size_cap: 3900B, requests: 6000",
                           "pio_integrity: 0.01")));
  EXPECT_GT(row.errors.at("disallowed_packet"), 20U);
  EXPECT_EQ(row.packets + row.lost_packets, 6000U);
  EXPECT_EQ(row.vls, 9U);
}

// Returns that take long to memory tell of errors that are over. [PIO-12.40]
TEST(PioErrors, PIO_12_40_ReturnsOfBeforeTheRecoveryComeAfterIt) {
  const PioResult row = pio_of(run(
      config_of("count: 2}, memory: {timing: {latency: 20us}", "depth: 16, threshold: 1, group: 4",
                "domains: 8, payload: 184B, requests: 2000", "pio_integrity: 0.02")));
  EXPECT_GT(row.errors.at("disallowed_packet"), 10U);
  EXPECT_EQ(row.packets + row.lost_packets, 2000U);
}

// A hostile process gives its own context every kind of error and recovers it; packets of the
// others leave as without it, all of them, byte for byte and in their order. [PIO-2.5, 9.5]
void expect_harmless(unsigned contexts, unsigned requests, const std::string& pio) {
  const PioResult row = pio_of(run(
      config_of("count: 4, threads: 2, vls: 2, hostile: 1", pio,
                fmt::format("domains: {}, payload: 184B, requests: {}", contexts, requests), "")));
  EXPECT_EQ(row.lost_packets, 0U);
  EXPECT_EQ(row.packets - row.hostile_packets, requests - requests / contexts);
  for (const char* const error :
       {"inconsistent_sop", "write_crosses_boundary", "write_overflow", "write_out_of_bounds"}) {
    EXPECT_GT(row.errors.count(error), 0U) << error;
  }
  EXPECT_GT(row.hostile_packets, 0U);
}
TEST(PioErrors, PIO_085_AHostileProcessHurtsItsOwnContextAlone) {
  expect_harmless(8, 24'000, "depth: 64, threshold: 8");
}
TEST(PioErrors, PIO_085_AHostileProcessInAGroup) {
  expect_harmless(8, 16'000, "depth: 64, threshold: 8, group: 8, early_return: true");
}
TEST(PioErrors, PIO_085_AHostileProcessAmong160Contexts) {
  expect_harmless(160, 80'000, "depth: 102, threshold: 8, group: 4");
}

// Several hostile processes, errors of the others, identities and translation together.
TEST(PioErrors, PIO_085_HostileProcessesAndIntegrityErrors) {
  const PioResult row =
      pio_of(run(config_of("count: 4, vls: 3, hostile: 3", "depth: 32, threshold: 8, group: 2",
                           "domains: 32, payload: 184B, requests: 12000", "pio_integrity: 0.005",
                           "iommu: {translation: first_stage}\n")));
  EXPECT_GT(row.lost_packets, 20U);
  EXPECT_EQ(row.packets - row.hostile_packets + row.lost_packets, 12'000U / 32 * 29);
  EXPECT_GT(row.errors.at("write_overflow"), 0U);
}
TEST(PioErrors, AllProcessesAreHostile) {
  const PioResult row = pio_of(run(config_of("count: 2, hostile: 4", "depth: 16",
                                             "domains: 4, payload: 184B, requests: 2000", "")));
  EXPECT_EQ(row.packets, row.hostile_packets);
  EXPECT_EQ(row.lost_packets, 0U);
}

// A lane that stands still keeps contexts from being drained for so long: software waits, and
// initialises none of them under its packets.
TEST(PioErrors, PIO_9_7_ARecoveryWaitsForPacketsThatAreLaunched) {
  const RunResult result = run(
      config_of("count: 1, vls: 2",
                "depth: 512, threshold: 1, egress: {stalled_vl: 1, stall: 300us, buffer: 16KiB}",
                "domains: 4, payload: 1016B, requests: 800", "pio_integrity: 0.1"));
  EXPECT_EQ(pio_of(result).packets + pio_of(result).lost_packets, 800U);
  EXPECT_GT(result.simulated.ns(), 250'000);
}

}  // namespace
}  // namespace flitwise::pio_errors_test
