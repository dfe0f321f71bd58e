// SPDX-License-Identifier: Apache-2.0
// Pairs of RDMA adapters below one host and between two, with each kind of work request: what is
// left in rings, completion queues and payload of host memory, looked at from outside.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/load.h"
#include "rdma/hca_result.h"
#include "support/machine_run.h"
#include "support/rdma_memory.h"

namespace flitwise::rdma_test {
namespace {

constexpr unsigned kRequests = 90;  // fewer than a ring has entries, so that all of them are seen
constexpr unsigned kPairs = 3;
constexpr unsigned kPayload = 700;  // three packets

constexpr const char* kBelowOneHost =
    "system: {devices: 2, instances: {ep0: {device.rdma.peer: "
    "ep1}}}\n";
constexpr const char* kTwoHosts =
    "system: {topology: graph, hosts: 2, nodes: [{name: ep0, kind: device}, {name: ep1, kind: "
    "device}], edges: [{from: rp0, to: ep0}, {from: h1.rp0, to: ep1}], instances: {ep0: "
    "{device.rdma.peer: ep1}}}\n";
constexpr const char* kThroughASwitch =
    "system: {topology: graph, hosts: 2, nodes: [{name: ep0, kind: device}, {name: ep1, kind: "
    "device}], edges: [{from: rp0, to: ep0}, {from: h1.rp0, to: ep1}], instances: {ep0: "
    "{device.rdma.peer: ep1}}}\nnetwork: {topology: switch}\n";

using End = test::RdmaMemory;

// Completions of each queue pair have the ids 0, 1, ... once each: how many that are.
std::map<std::uint32_t, std::uint32_t> expect_completions(const End& end, bool is_receive,
                                                          WorkOpcode opcode) {
  std::map<std::uint32_t, std::uint32_t> by_pair;
  for (unsigned index = 0; index < kRequests; ++index) {
    const WorkCompletion one = end.completion(is_receive, index);
    EXPECT_EQ(one.status, WorkStatus::kSuccess);
    EXPECT_EQ(one.is_receive, is_receive);
    EXPECT_EQ(one.id, by_pair[one.queue_pair - kFirstQueuePair]++);
    if (!is_receive) {
      EXPECT_EQ(one.opcode, opcode);
    }
  }
  // The entry behind the last one was never written.
  EXPECT_EQ(end.word(end.area(0).completion(is_receive, kRequests) + kPhaseAt), 0U);
  return by_pair;
}

// Each one finds what the one before it has left.
void expect_atomics(const End& own, const End& peer, std::uint32_t pair, std::uint32_t count) {
  std::uint64_t word = 0;
  unsigned changed = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const SendWork work = own.work(pair, i);
    EXPECT_EQ(own.word(work.local.pieces[0].address), word) << "number " << i;
    const std::uint64_t before = word;
    if (work.opcode == WorkOpcode::kFetchAdd) {
      word += work.operand;
    } else if (work.compare == word) {
      word = work.operand;
    }
    changed += word != before ? 1 : 0;
  }
  EXPECT_GT(changed, count / 4);
  EXPECT_EQ(peer.word(peer.area(pair).word()), word);
}

// What was moved stands at both ends, and no two requests moved the same.
void expect_payload(const End& own, const End& peer, std::uint32_t pair, std::uint32_t count,
                    bool is_send, std::set<std::vector<std::uint8_t>>& seen) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const SendWork work = own.work(pair, i);
    const auto here = own.at(work.local.pieces[0].address, kPayload);
    const std::uint64_t there = is_send ? peer.area(pair).buffer(i) : work.remote_address;
    EXPECT_EQ(here, peer.at(there, kPayload)) << "number " << i << " of queue pair " << pair;
    EXPECT_TRUE(seen.insert(here).second);
  }
}

void expect_kind(const char* machine_text, const std::string& kind, WorkOpcode opcode,
                 const char* most_inline = "none") {
  const std::string weight =
      kind == "write" ? "{write: 1}" : fmt::format("{{write: 0, {}: 1}}", kind);
  Machine machine(config_from_text(
      fmt::format("{}link: {{preset: gen5x16}}\nhost: {{verbs: {{inline: {}}}}}\n"
                  "device: {{rdma: {{mtu: 256, queue: 128, cq: 512}}}}\n"
                  "workload: {{via: rdma, domains: {}, requests: {}, payload: {}B, buffer_size: "
                  "1MiB, rdma: {}}}\n",
                  machine_text, most_inline, kPairs, kRequests, kPayload, weight),
      "run.yaml", ""));
  const RunResult result = test::run_to_end(machine);
  const HcaResult& hca = result.rows<HcaResult>().at(0);
  const HcaResult& peer_hca = result.rows<HcaResult>().at(1);
  const bool is_send = opcode == WorkOpcode::kSend;
  EXPECT_EQ(hca.wqes, kRequests);
  EXPECT_EQ(hca.pushed, most_inline == std::string("none") ? 0 : kRequests);
  EXPECT_EQ(hca.cqes, kRequests);
  EXPECT_EQ(peer_hca.cqes, is_send ? kRequests : 0);
  EXPECT_EQ(hca.retransmits + peer_hca.retransmits, 0U);

  const End own(machine, "ep0"), peer(machine, "ep1");
  const auto by_pair = expect_completions(own, false, opcode);
  if (is_send) {
    EXPECT_EQ(expect_completions(peer, true, opcode), by_pair);
  }
  EXPECT_EQ(by_pair.size(), kPairs);
  std::set<std::vector<std::uint8_t>> seen;
  for (const auto& [pair, count] : by_pair) {
    if (is_atomic(opcode)) {
      expect_atomics(own, peer, pair, count);
    } else {
      expect_payload(own, peer, pair, count, is_send, seen);
    }
  }
}

// Completions, interrupts and reads of what was written before stay behind payload. Both ends with
// each kind.
void expect_right_bytes(const char* order, const char* completions) {
  Machine machine(config_from_text(
      fmt::format("system: {{topology: graph, hosts: 2, nodes: [{{name: ep0, kind: device}}, "
                  "{{name: ep1, kind: device}}], edges: [{{from: rp0, to: ep0}}, {{from: h1.rp0, "
                  "to: ep1}}], instances: {{ep0: {{device.rdma.peer: ep1}}, ep1: "
                  "{{device.rdma.peer: ep0}}}}}}\nlink: {{preset: gen5x16}}\n"
                  "host: {{verbs: {{completions: {}}}}}\niommu: {{translation: first_stage}}\n"
                  "device: {{dma: {{{}: true}}}}\nworkload: {{via: rdma, domains: 4, requests: "
                  "300, payload: 4KiB, buffer_size: 256KiB, rdma: {{write: 1, read: 1, send: 1, "
                  "fetch_add: 1}}}}\n",
                  completions, order),
      "run.yaml", ""));
  test::run_to_end(machine);
}
TEST(Rdma, VB_6_PayloadOfRelaxedOrderIsThereBeforeItsCompletion) {
  expect_right_bytes("relaxed_ordering", "poll");
}
TEST(Rdma, VB_6_PayloadOrderedByIdIsThereBeforeItsCompletion) {
  expect_right_bytes("id_based_ordering", "poll");
}
TEST(Rdma, RDM_11_PayloadOfRelaxedOrderIsThereBeforeItsInterrupt) {
  expect_right_bytes("relaxed_ordering", "interrupt");
}
TEST(Rdma, RDM_11_PayloadOrderedByIdIsThereBeforeItsInterrupt) {
  expect_right_bytes("id_based_ordering", "interrupt");
}

// With the time between two frames on the wire in no clock of the adapter.
TEST(Rdma, APortThatLimitsHasOneFrameBehindTheOther) {
  constexpr unsigned kMany = 500, kMessage = 4096, kMtu = 256;
  Machine machine(config_from_text(
      fmt::format("{}link: {{preset: gen5x16}}\ndevice: {{rdma: {{mtu: {}}}}}\nworkload: {{via: "
                  "rdma, domains: 1, requests: {}, payload: {}B, buffer_size: 2MiB}}\n",
                  kTwoHosts, kMtu, kMany, kMessage),
      "run.yaml", ""));
  const RunResult result = test::run_to_end(machine);
  constexpr double kFrame = 14 + 20 + 8 + 12 + kMtu + 4 + 24, kGbps = 100;
  const double due = kGbps * kMessage / (kMessage / kMtu * kFrame + 16);
  EXPECT_NEAR(result.rows<VerbsResult>().at(0).goodput_gbps, due, due * 0.015);
}

// The one that serves begins to count with the one that asks.
TEST(Rdma, WhatServesHasTheWindowOfWhatAsks) {
  Machine machine(config_from_text(
      fmt::format("{}link: {{preset: gen5x16}}\nrun: {{warmup: 1000}}\nworkload: {{via: rdma, "
                  "domains: 1, requests: 500}}\n",
                  kTwoHosts),
      "run.yaml", ""));
  const RunResult result = test::run_to_end(machine);
  const HcaResult& own = result.rows<HcaResult>().at(0);
  const HcaResult& peer = result.rows<HcaResult>().at(1);
  const unsigned most_out = machine.fabric().find("ep0")->config.device.rdma.queue;
  EXPECT_GE(peer.received_frames, own.sent_frames);
  EXPECT_LE(peer.received_frames, own.sent_frames + most_out);
}

// A read of the ring without a completion: its work requests end all the same. [VB-8]
TEST(Rdma, VB_5_ARingThatCannotBeReadEndsItsWorkRequests) {
  Machine machine(config_from_text(
      fmt::format("{}link: {{preset: gen5x16}}\nfaults: {{drop_completions: 2}}\nworkload: {{via: "
                  "rdma, domains: 1, requests: 20}}\n",
                  kTwoHosts),
      "run.yaml", ""));
  machine.bring_up();
  machine.start();
  machine.run_until_quiet();
  const RunResult result = machine.result();
  ASSERT_EQ(result.errors.count("LOC_QP_OP_ERR"), 1U);
  EXPECT_EQ(result.errors.at("LOC_QP_OP_ERR"), 1U);
  std::uint64_t ended = result.rows<VerbsResult>().at(0).operations;
  for (const char* const kind : {"LOC_QP_OP_ERR", "WR_FLUSH_ERR", "queue_pair_in_error"}) {
    const auto found = result.errors.find(kind);
    ended += found == result.errors.end() ? 0 : found->second;
  }
  EXPECT_EQ(ended, 20U);
}

double mean_latency(const RunResult& result, const std::string& name) {
  for (const LatencyResult& one : result.rows<LatencyResult>()) {
    if (one.name == name) {
      return one.mean;
    }
  }
  ADD_FAILURE() << "no latency " << name;
  return 0;
}

// One WRITE at a time, after those that fetch states. What reads of the device, and writes up to
// memory, take is in the result; all else is the sum of configured times.
// At a switch each frame waits for its last byte, then for the latency, and takes its time again.
void expect_latency(unsigned payload, double propagation_ns, bool is_command = false,
                    bool has_switch = false, bool waits_for_interrupt = false) {
  Machine machine(config_from_text(
      fmt::format(
          "{}link: {{preset: gen5x16, skp: off}}\nhost: {{verbs: {{inline: {}, completions: {}, "
          "timing: {{poll: 1ns}}}}}}\n"
          "device: {{rdma: {{queue: 1, port: {{propagation: {}ns}}}}}}\nrun: {{warmup: 3}}\n"
          "workload: {{via: rdma, domains: 1, requests: 50, payload: {}B}}\n",
          has_switch ? kThroughASwitch : kTwoHosts, is_command ? "64B" : "none",
          waits_for_interrupt ? "interrupt" : "poll", propagation_ns, payload),
      "run.yaml", ""));
  machine.bring_up();
  machine.start();
  machine.run_until_quiet();
  const Config& config = machine.fabric().find("ep0")->config;
  const auto& stage = config.device.rdma.timing;
  const RunResult result = machine.result();
  const auto beats = [&](unsigned bytes) { return (bytes + 63) / 64 * stage.clock.ns(); };
  const auto wire = [&](unsigned bytes) {  // 24 bytes are Ethernet's own; a frame has 64
    return std::max(bytes + 24, 84U) * 8 / config.device.rdma.port.rate_gbps;
  };
  const unsigned write = 14 + 20 + 8 + 12 + 16 + (payload + 3) / 4 * 4 + 4,
                 ack = 14 + 20 + 8 + 12 + 4 + 4;
  const double doorbell = config.host.timing.mmio.ns() + config.link.timing.propagation.ns() +
                          config.link.timing.receive.ns() + config.device.timing.pipeline.ns();
  const double kicked = (stage.collect + stage.clock + stage.kick + stage.fetch).ns();
  // Two lines of a command; or a read of the entry, and one of the payload.
  const double read = is_command ? 2 * config.host.verbs.timing.store.ns() + stage.clock.ns()
                                 : 2 * mean_latency(result, "dma_read");
  const double received = (stage.check + stage.fetch + stage.receive).ns();
  const auto way = [&](unsigned bytes) {
    const double hop = wire(bytes) + propagation_ns;
    return has_switch ? hop + config.network.switches.timing.latency.ns() + hop : hop;
  };
  const double packet = stage.build.ns() + beats(write) + way(write) + received;
  const double answer = stage.build.ns() + beats(ack) + way(ack) + received;
  const double expected = config.host.verbs.timing.post.ns() + doorbell + kicked + read + packet +
                          stage.validate.ns() + answer + stage.complete.ns() +
                          mean_latency(result, "dma_write") +
                          (waits_for_interrupt ? config.host.verbs.timing.interrupt.ns() : 0);
  const VerbsResult& verbs = result.rows<VerbsResult>().at(0);
  // Edges of the clocks of host, link and device, 2 ns each, and of the look.
  EXPECT_GE(verbs.latency_mean, expected);
  EXPECT_NEAR(verbs.latency_mean, expected + 3, 3);
  EXPECT_NEAR(verbs.latency_max, verbs.latency_mean, 3);
}
TEST(RdmaLatency, ALoneWriteTakesTheSumOfItsStages) {
  expect_latency(64, 5);
}
TEST(RdmaLatency, ALoneWriteOfPaddedBytesByALongerCable) {
  expect_latency(61, 500);
}

TEST(RdmaLatency, HP_1_ALoneWriteByACommandReadsNothing) {
  expect_latency(64, 5, true);
}

TEST(RdmaLatency, ALoneWriteThroughASwitchIsStoredAndForwarded) {
  expect_latency(64, 500, false, true);
}

TEST(Rdma, WritesThroughASwitch) {
  expect_kind(kThroughASwitch, "write", WorkOpcode::kWrite);
}
TEST(Rdma, ReadsThroughASwitch) {
  expect_kind(kThroughASwitch, "read", WorkOpcode::kRead);
}
TEST(Rdma, SendsThroughASwitch) {
  expect_kind(kThroughASwitch, "send", WorkOpcode::kSend);
}
TEST(Rdma, FetchAddsThroughASwitch) {
  expect_kind(kThroughASwitch, "fetch_add", WorkOpcode::kFetchAdd);
}
TEST(Rdma, CompareAndSwapsThroughASwitch) {
  expect_kind(kThroughASwitch, "cas", WorkOpcode::kCmpSwap);
}

TEST(RdmaLatency, RDM_11_ALoneWriteWhoseCompletionInterrupts) {
  expect_latency(64, 5, false, false, true);
}

// Both ends ask and serve: software that does not look before it is told loses no completion.
TEST(Rdma, RDM_11_EachCompletionIsTakenByHandlersAlone) {
  Machine machine(config_from_text(
      "system: {devices: 2, instances: {ep0: {device.rdma.peer: ep1}, ep1: {device.rdma.peer: "
      "ep0}}}\nlink: {preset: gen5x16}\nhost: {verbs: {completions: interrupt, timing: {interrupt: "
      "100ns}}}\nworkload: {via: rdma, domains: 4, requests: 1500, payload: 64B, rdma: {write: 3, "
      "send: 1}}\n",
      "run.yaml", ""));
  const RunResult result = test::run_to_end(machine);
  for (unsigned end : {0U, 1U}) {
    const HcaResult& hca = result.rows<HcaResult>().at(end);
    const VerbsResult& verbs = result.rows<VerbsResult>().at(end);
    EXPECT_EQ(verbs.operations, 1500U);
    EXPECT_EQ(hca.cqes, 1500U + verbs.received);
    // Each order gives one event, and a handler takes all that is there.
    EXPECT_GT(hca.interrupts, 100U);
    EXPECT_LT(hca.interrupts, hca.cqes);
  }
}

TEST(Rdma, HP_1_WritesByCommandsBetweenTwoHosts) {
  expect_kind(kTwoHosts, "write", WorkOpcode::kWrite, "960B");
}
TEST(Rdma, HP_1_SendsByCommandsBelowOneHost) {
  expect_kind(kBelowOneHost, "send", WorkOpcode::kSend, "700B");
}
TEST(Rdma, HP_1_AtomicsByCommandsBetweenTwoHosts) {
  expect_kind(kTwoHosts, "cas", WorkOpcode::kCmpSwap, "1B");
}
TEST(Rdma, WritesBelowOneHost) {
  expect_kind(kBelowOneHost, "write", WorkOpcode::kWrite);
}
TEST(Rdma, ReadsBelowOneHost) {
  expect_kind(kBelowOneHost, "read", WorkOpcode::kRead);
}
TEST(Rdma, SendsBelowOneHost) {
  expect_kind(kBelowOneHost, "send", WorkOpcode::kSend);
}
TEST(Rdma, FetchAddsBelowOneHost) {
  expect_kind(kBelowOneHost, "fetch_add", WorkOpcode::kFetchAdd);
}
TEST(Rdma, CompareAndSwapsBelowOneHost) {
  expect_kind(kBelowOneHost, "cas", WorkOpcode::kCmpSwap);
}
TEST(Rdma, WritesBetweenTwoHosts) {
  expect_kind(kTwoHosts, "write", WorkOpcode::kWrite);
}
TEST(Rdma, ReadsBetweenTwoHosts) {
  expect_kind(kTwoHosts, "read", WorkOpcode::kRead);
}
TEST(Rdma, SendsBetweenTwoHosts) {
  expect_kind(kTwoHosts, "send", WorkOpcode::kSend);
}
TEST(Rdma, FetchAddsBetweenTwoHosts) {
  expect_kind(kTwoHosts, "fetch_add", WorkOpcode::kFetchAdd);
}
TEST(Rdma, CompareAndSwapsBetweenTwoHosts) {
  expect_kind(kTwoHosts, "cas", WorkOpcode::kCmpSwap);
}

}  // namespace
}  // namespace flitwise::rdma_test
