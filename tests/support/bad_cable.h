// SPDX-License-Identifier: Apache-2.0
/// Two RDMA adapters that work for each other, both ways and with each kind of work request, over a
/// cable that loses, repeats, damages and reorders a hundredth of all frames each.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "config/load.h"
#include "rdma/hca_result.h"
#include "support/machine_run.h"
#include "system/machine.h"

namespace flitwise::test {

inline std::string bad_cable(std::uint64_t operations, unsigned seed) {
  return fmt::format(
      "system: {{topology: graph, hosts: 2, nodes: [{{name: ep0, kind: device}}, {{name: ep1, "
      "kind: device}}], edges: [{{from: rp0, to: ep0}}, {{from: h1.rp0, to: ep1}}], instances: "
      "{{ep0: {{device.rdma.peer: ep1}}, ep1: {{device.rdma.peer: ep0}}}}}}\n"
      "link: {{preset: gen5x16}}\n"
      "device: {{rdma: {{mtu: 256, timeout: 4, cable: {{loss: 0.01, duplication: 0.01, "
      "corruption: 0.01, reordering: 0.01}}}}}}\n"
      "workload: {{via: rdma, domains: 8, payload: 600B, buffer_size: 512KiB, requests: {}, rdma: "
      "{{write: 3, read: 3, send: 2, fetch_add: 1, cas: 1}}}}\n"
      "run: {{seed: {}}}\n",
      operations / 2, seed);
}

/// Every work request succeeds once and in order, with the bytes that it should bring; each kind of
/// fault has struck, and the rules have met what comes of it.
inline void expect_exact_memory_over_a_bad_cable(std::uint64_t operations, unsigned seed) {
  Machine machine(config_from_text(bad_cable(operations, seed), "run.yaml", ""));
  const RunResult result = run_to_end(machine);
  std::uint64_t done = 0;
  for (const VerbsResult& row : result.rows<VerbsResult>()) {
    done += row.operations;
  }
  EXPECT_EQ(done, operations);
  std::uint64_t sent = 0;
  for (const HcaResult& row : result.rows<HcaResult>()) {
    sent += row.sent_frames;
    EXPECT_GT(row.retransmits, 0U);
  }
  EXPECT_GT(sent, 3 * operations);
  for (const char* const fault :
       {"frame_lost", "frame_damaged", "frame_repeated", "frame_delayed"}) {
    ASSERT_EQ(result.errors.count(fault), 1U) << fault;
    EXPECT_NEAR(static_cast<double>(result.errors.at(fault)), static_cast<double>(sent) / 100,
                static_cast<double>(sent) / 400)
        << fault;
  }
  for (const char* const met : {"rx_bad_icrc", "rx_duplicate", "resent"}) {
    EXPECT_EQ(result.errors.count(met), 1U) << met;
  }
}

}  // namespace flitwise::test
