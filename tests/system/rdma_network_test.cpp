// SPDX-License-Identifier: Apache-2.0
// Several RDMA adapters on a switch: incast whose time is known, adapters that ask and are asked,
// and whose memory has what in the end.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "config/load.h"
#include "network/network_result.h"
#include "rdma/hca_result.h"
#include "support/machine_run.h"
#include "support/rdma_memory.h"

namespace flitwise::rdma_network_test {
namespace {

// Devices below root ports of one host, on one switch.
Config config_of(unsigned devices, const std::string& instances, const std::string& more) {
  return config_from_text(
      fmt::format("system: {{devices: {}, instances: {{{}}}}}\nnetwork: {{topology: switch}}\n"
                  "link: {{preset: gen5x16}}\n{}",
                  devices, instances, more),
      "run.yaml", "");
}

// Four that write to ep0 by its port of the same rate: N x B / C. network_anchors 3.7
TEST(RdmaNetwork, IncastTakesTheTimeThatThePortOfTheSwitchTakes) {
  constexpr unsigned kSenders = 4, kRequests = 100, kPayload = 4096;
  Machine machine(
      config_of(kSenders + 1, "ep0: {device.rdma.peer: none, workload.domains: 4}",
                fmt::format("device: {{rdma: {{peer: ep0}}}}\n"
                            "workload: {{via: rdma, domains: 1, requests: {}, payload: {}B, "
                            "buffer_size: 1MiB}}\n",
                            kRequests, kPayload)));
  const RunResult result = test::run_to_end(machine);
  constexpr double kFrame = 14 + 20 + 8 + 12 + 16 + kPayload + 4 + 24, kGbps = 100;
  const double bytes = kSenders * kRequests * kFrame;
  const NetworkPortResult& port = result.rows<NetworkPortResult>().at(0);
  EXPECT_EQ(port.name, "network.ep0");
  EXPECT_EQ(port.bytes, bytes);
  EXPECT_EQ(port.packets, kSenders * kRequests);
  EXPECT_EQ(port.drops, 0U);
  // Beside it: the first one's way there, and that of the last ACK and completion.
  EXPECT_GE(result.simulated.ns(), bytes * 8 / kGbps);
  EXPECT_LT(result.simulated.ns(), bytes * 8 / kGbps + 6'000);
  // All but one are in the queue while four send what one takes.
  EXPECT_GT(port.most_queued, 20 * kFrame);
  EXPECT_EQ(result.rows<HcaResult>().at(0).placed_bytes, kSenders * kRequests * kPayload);
}

// Its queue holds a few frames: others are dropped, go-back-N brings them, and no byte is wrong.
TEST(RdmaNetwork, LR_3_WhatASmallQueueDropsIsSentAgain) {
  constexpr unsigned kSenders = 4, kRequests = 150;
  Config config = config_of(
      kSenders + 1, "ep0: {device.rdma.peer: none, workload.domains: 8}",
      fmt::format("device: {{rdma: {{peer: ep0, mtu: 1024, timeout: 3}}}}\n"
                  "workload: {{via: rdma, domains: 2, requests: {}, payload: 3000B, buffer_size: "
                  "1MiB, rdma: {{write: 2, read: 1, send: 2, fetch_add: 1}}}}\n",
                  kRequests));
  config.network.switches.queue = Bytes{20} << 10;
  Machine machine(config);
  const RunResult result = test::run_to_end(machine);
  std::uint64_t operations = 0, drops = 0, retransmits = 0;
  for (const VerbsResult& row : result.rows<VerbsResult>()) {
    operations += row.operations;
  }
  for (const NetworkPortResult& row : result.rows<NetworkPortResult>()) {
    drops += row.drops;
    EXPECT_LE(row.most_queued, config.network.switches.queue);
  }
  for (const HcaResult& row : result.rows<HcaResult>()) {
    retransmits += row.retransmits;
  }
  EXPECT_EQ(operations, kSenders * kRequests);
  EXPECT_GT(drops, 20U);
  EXPECT_GE(retransmits, drops / 2);
  EXPECT_GT(result.errors.at("network_queue_full"), 20U);
}

// Who asks the next one, all the way round, and is asked by the one before: nobody's bytes come to
// another one's memory.
TEST(RdmaNetwork, EachOfARingAsksTheNextAndIsAskedByTheOneBefore) {
  constexpr unsigned kDevices = 4, kRequests = 60, kPayload = 700;
  std::string instances;
  for (unsigned own = 0; own < kDevices; ++own) {
    instances += fmt::format("{}ep{}: {{device.rdma.peer: ep{}}}", own == 0 ? "" : ", ", own,
                             (own + 1) % kDevices);
  }
  Machine machine(config_of(
      kDevices, instances,
      fmt::format("device: {{rdma: {{mtu: 256, queue: 64}}}}\n"
                  "workload: {{via: rdma, domains: 4, requests: {}, payload: {}B, buffer_size: "
                  "512KiB}}\n",
                  kRequests, kPayload)));
  const RunResult result = test::run_to_end(machine);
  std::set<std::vector<std::uint8_t>> seen;
  for (unsigned own = 0; own < kDevices; ++own) {
    EXPECT_EQ(result.rows<VerbsResult>().at(own).writes, kRequests);
    const test::RdmaMemory here(machine, fmt::format("ep{}", own)),
        there(machine, fmt::format("ep{}", (own + 1) % kDevices));
    for (unsigned pair = 0; pair < 2; ++pair) {  // the others are those of who asks it
      for (unsigned index = 0; index < kRequests / 2; ++index) {
        const SendWork work = here.work(pair, index);
        const auto bytes = here.at(work.local.pieces[0].address, kPayload);
        EXPECT_EQ(work.remote_address, there.area(pair + 2).exposed(index));
        EXPECT_EQ(bytes, there.at(work.remote_address, kPayload));
        EXPECT_TRUE(seen.insert(bytes).second);
      }
      EXPECT_EQ(here.word(here.area(pair + 2).send_entry(0)), 0U);  // nothing is posted there
    }
  }
}

// One that asks another one is asked by two more, with SENDs: each takes those of its peers.
TEST(RdmaNetwork, OneThatIsAskedBySeveralAsksOneItself) {
  constexpr unsigned kRequests = 90;
  Machine machine(config_of(
      4,
      "ep0: {device.rdma.peer: ep3, workload.domains: 6}, ep1: {device.rdma.peer: ep0}, "
      "ep2: {device.rdma.peer: ep0}",
      fmt::format("device: {{rdma: {{mtu: 256, queue: 64}}}}\n"
                  "workload: {{via: rdma, domains: 2, requests: {}, payload: 300B, buffer_size: "
                  "256KiB, rdma: {{write: 1, read: 1, send: 3, fetch_add: 1, cas: 1}}}}\n",
                  kRequests)));
  const RunResult result = test::run_to_end(machine);
  const auto& rows = result.rows<VerbsResult>();
  for (unsigned own = 0; own < 3; ++own) {
    EXPECT_EQ(rows.at(own).operations, kRequests);
    EXPECT_GT(rows.at(own).sends, kRequests / 5);
    EXPECT_GT(rows.at(own).atomics, kRequests / 10);
  }
  EXPECT_EQ(rows.at(3).operations, 0U);
  EXPECT_EQ(rows.at(0).received, rows.at(1).sends + rows.at(2).sends);
  EXPECT_EQ(rows.at(3).received, rows.at(0).sends);
}

}  // namespace
}  // namespace flitwise::rdma_network_test
