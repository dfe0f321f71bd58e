// SPDX-License-Identifier: Apache-2.0
// Shares of the functions of an RDMA adapter: turns by weight, entries of the cache of states, and
// what it takes until the software of a virtual function may begin.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>

#include "config/load.h"
#include "flitwise/link_socket.h"
#include "rdma/hca_result.h"
#include "rdma/rdma_area.h"
#include "support/machine_run.h"
#include "system/machine.h"

namespace flitwise::rdma_shares_test {
namespace {

using Watch = std::function<void(const Packet& packet, std::uint64_t address)>;

// Two functions of ep0 that post WRITEs as fast as they can.
RunResult run(const std::string& more, const std::string& device, const Watch& watch) {
  Machine machine(config_from_text(
      "system: {topology: graph, hosts: 2, nodes: [{name: ep0, kind: device}, {name: ep1, kind: "
      "device}], edges: [{from: rp0, to: ep0}, {from: h1.rp0, to: ep1}], instances: {ep0: "
      "{device.rdma.peer: ep1}}}\nlink: {preset: gen5x16}\n" +
          more,
      "run.yaml", ""));
  machine.fabric().find(device)->root_port->watch_memory(watch);
  return test::run_to_end(machine);
}

std::string saturated(const std::string& shares) {
  return "host: {verbs: {timing: {trap: 0ns}}}\n"
         "device: {functions: {count: 2}, rdma: {queue: 64, cq: 1024, shares: " +
         shares +
         "}}\nworkload: {via: rdma, domains: 16, payload: 1KiB, buffer_size: 512KiB, requests: "
         "16000}\n";
}

// Of the WRITEs of each function that come to ep1 from number `from` to number `to`.
std::array<double, 2> served(const std::string& shares, unsigned from, unsigned to) {
  std::array<double, 2> counts{};
  unsigned all = 0;
  run(saturated(shares), "ep1", [&](const Packet& packet, std::uint64_t /*address*/) {
    if (packet.tlp.type == TlpType::kMWr && packet.payload_bytes > 64) {
      const unsigned number = all++;
      counts[to_int(packet.domain) % 2] += number >= from && number < to ? 1 : 0;
    }
  });
  return counts;
}

TEST(RdmaShares, HP_8_SaturatedFunctionsGoByTheirWeights) {
  const auto counts = served("{kicks: [3, 1]}", 4000, 16000);
  EXPECT_NEAR(counts[0] / counts[1], 3, 0.06);
}

TEST(RdmaShares, HP_8_WithoutWeightsAllQueuePairsAreAlike) {
  const auto counts = served("{}", 4000, 16000);
  EXPECT_NEAR(counts[0] / counts[1], 1, 0.02);
}

TEST(RdmaShares, HP_8_AControlVmGivesOtherWeights) {
  const std::string shares = "{kicks: [3, 1], later: [1, 3], change_at: 400us}";
  const auto before = served(shares, 4000, 12000);
  EXPECT_NEAR(before[0] / before[1], 3, 0.06);
}

TEST(RdmaShares, HP_8_AControlVmGivesOtherWeightsFromThenOn) {
  const auto after = served("{kicks: [3, 1], later: [1, 3], change_at: 50us}", 8000, 20000);
  EXPECT_NEAR(after[1] / after[0], 3, 0.06);
}

// Of the cache of states: what is read for each of the two, with 32 queue pairs each.
std::array<unsigned, 2> states_read(const std::string& shares) {
  std::array<unsigned, 2> counts{};
  constexpr std::uint64_t kBuffer = std::uint64_t{64} << 10;
  run("host: {verbs: {timing: {trap: 0ns}}}\n"
      "device: {functions: {count: 2}, rdma: {queue: 16, cq: 64, qpsc_entries: 40, shares: " +
          shares +
          "}}\nworkload: {via: rdma, domains: 64, payload: 64B, buffer_base: 1GiB, buffer_size: "
          "64KiB, requests: 4000}\n",
      "ep0", [&](const Packet& packet, std::uint64_t address) {
        if (packet.tlp.type == TlpType::kMRd && address % kBuffer == 0) {
          ++counts[to_int(packet.domain) % 2];
        }
      });
  return counts;
}

TEST(RdmaShares, HP_8_WithoutSharesTenantsDriveEachOtherOut) {
  const auto read = states_read("{}");
  EXPECT_GT(read[0], 300U);
  EXPECT_GT(read[1], 300U);
}

// One whose queue pairs have room in its share never reads a state twice, whatever the other does.
TEST(RdmaShares, HP_8_ANoisyTenantEvictsNobodyWhoHasAShare) {
  const auto read = states_read("{states: [32, 8]}");
  EXPECT_EQ(read[0], 32U);
  EXPECT_GT(read[1], 300U);
}

// Ten commands for each of four queue pairs, and two.
TEST(RdmaShares, HP_8_CommandsOfAVirtualFunctionsDriverAreTrapped) {
  std::array<Time, 2> first = {Time::never(), Time::never()};
  run("host: {verbs: {timing: {trap: 3us}}}\ndevice: {functions: {count: 2}}\n"
      "workload: {via: rdma, domains: 8, payload: 64B, requests: 100}\n",
      "ep0", [&](const Packet& packet, std::uint64_t /*address*/) {
        Time& own = first[to_int(packet.domain) % 2];
        own = std::min(own, now());
      });
  EXPECT_NEAR((first[1] - first[0]).ns(), 3000.0 * (10 * 4 + 2), 20);
}

}  // namespace
}  // namespace flitwise::rdma_shares_test
