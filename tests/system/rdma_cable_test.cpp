// SPDX-License-Identifier: Apache-2.0
// RDMA over a cable that loses, repeats, damages and reorders frames: memory and completions are
// those of a good one.
#include "support/bad_cable.h"

namespace flitwise::rdma_cable_test {
namespace {

TEST(RdmaCable, LR_3_WhatABadCableDoesToFramesNeverShowsInMemory) {
  test::expect_exact_memory_over_a_bad_cable(20'000, 1);
}

RunResult run(const std::string& more) {
  Machine machine(config_from_text(
      "system: {topology: graph, hosts: 2, nodes: [{name: ep0, kind: device}, {name: ep1, kind: "
      "device}], edges: [{from: rp0, to: ep0}, {from: h1.rp0, to: ep1}], instances: {ep0: "
      "{device.rdma.peer: ep1}}}\nlink: {preset: gen5x16}\n" +
          more,
      "run.yaml", ""));
  return test::run_to_end(machine);
}

// A retry time of 134 ms, where 100 ms without progress are a deadlock.
TEST(RdmaCable, LR_3_ARetryTimerThatRunsIsNoDeadlock) {
  const RunResult result =
      run("device: {rdma: {queue: 1, timeout: 15, cable: {loss: 0.1}}}\n"
          "workload: {via: rdma, domains: 1, requests: 50}\n");
  EXPECT_EQ(result.rows<VerbsResult>().at(0).operations, 50U);
  EXPECT_GE(result.errors.at("timeouts"), 1U);
}

// From the first packet that is not acknowledged on, however long nothing was before it.
TEST(RdmaCable, LR_3_NothingIsSentAgainOnAGoodOne) {
  const RunResult result = run(
      "host: {verbs: {inline: 64B}}\n"
      "device: {rdma: {timeout: 1, port: {propagation: 2us}}}\n"
      "workload: {via: rdma, domains: 1, requests: 2000, arrival: poisson, rate: 0.15Mreq/s}\n");
  EXPECT_EQ(result.rows<VerbsResult>().at(0).operations, 2000U);
  EXPECT_EQ(result.rows<HcaResult>().at(0).retransmits, 0U);
  EXPECT_EQ(result.errors.count("timeouts"), 0U);
}

}  // namespace
}  // namespace flitwise::rdma_cable_test
