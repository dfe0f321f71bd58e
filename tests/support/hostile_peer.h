// SPDX-License-Identifier: Apache-2.0
/// An RDMA adapter that forges frames behind its own, and the memory of the host that it aims at.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "config/load.h"
#include "rdma/hca_result.h"
#include "rdma/rdma_area.h"
#include "system/machine.h"

namespace flitwise::test {

/// Memory of a host that nobody may write, with a pattern in it.
class GuardedMemory {
 public:
  explicit GuardedMemory(MemoryPort& memory) : memory_(memory) {}

  void add(std::uint64_t begin, std::uint64_t bytes) {
    spans_.emplace_back(begin, bytes);
    const std::vector<std::uint8_t> pattern = pattern_of(begin, bytes);
    memory_.poke(begin, pattern.data(), pattern.size());
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& span : spans_) {
      sum += span.second;
    }
    return sum;
  }
  void expect_untouched() const {
    for (const auto& [begin, bytes] : spans_) {
      std::vector<std::uint8_t> seen(bytes);
      ASSERT_TRUE(memory_.peek(begin, seen.data(), seen.size()));
      EXPECT_TRUE(seen == pattern_of(begin, bytes)) << fmt::format("from {:#x} on", begin);
    }
  }

 private:
  static std::vector<std::uint8_t> pattern_of(std::uint64_t begin, std::uint64_t bytes) {
    std::vector<std::uint8_t> pattern(bytes);
    std::generate(pattern.begin(), pattern.end(), [at = begin]() mutable {
      return static_cast<std::uint8_t>((++at * 0x9e3779b97f4a7c15) >> 56);
    });
    return pattern;
  }

  MemoryPort& memory_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans_;
};

/// ep0 posts each kind of work request and forges `per_thousand` frames behind a thousand; ep1 only
/// serves. No byte is written and none read but within regions and their rights, whatever comes;
/// queue pairs end in error, and the run comes to its end. [HP-7] [RX-1] [RX-7]
inline void expect_memory_stands_against_forged_frames(std::uint64_t forged, unsigned pairs,
                                                       unsigned per_thousand, unsigned seed) {
  Machine machine(config_from_text(
      fmt::format("system: {{topology: graph, hosts: 2, nodes: [{{name: ep0, kind: device}}, "
                  "{{name: ep1, kind: device}}], edges: [{{from: rp0, to: ep0}}, {{from: h1.rp0, "
                  "to: ep1}}], instances: {{ep0: {{device.rdma.peer: ep1, "
                  "device.rdma.hostile_frames: {}}}}}}}\n"
                  "link: {{preset: gen5x16}}\n"
                  "device: {{rdma: {{mtu: 256, timeout: {}, queue: 16, cq: {}, payload_ram: "
                  "4MiB}}}}\n"
                  "workload: {{via: rdma, domains: {}, payload: 600B, buffer_size: 512KiB, "
                  "requests: 1000000, rdma: {{write: 3, read: 3, send: 2, fetch_add: 1, cas: "
                  "1}}}}\n"
                  "run: {{seed: {}}}\n",
                  per_thousand, pairs > 64 ? 8 : 3, pairs > 64 ? 512 : 64, pairs, seed),
      "run.yaml", ""));
  const FabricDevice& target = *machine.fabric().find("ep1");
  GuardedMemory guarded(machine.fabric().surroundings.hosts[target.host]->memory);
  const WorkloadConfig& workload = target.config.workload;
  const RdmaConfig& rdma = target.config.device.rdma;
  machine.bring_up();
  constexpr std::uint64_t kAround = std::uint64_t{1} << 20;
  const std::uint64_t end = workload.buffer_base + pairs * workload.buffer_size;
  guarded.add(workload.buffer_base - kAround, kAround);
  guarded.add(end, kAround);
  for (std::uint32_t pair = 0; pair < pairs; ++pair) {
    const RdmaArea area({workload.buffer_size, rdma.queue, rdma.cq, rdma.cqe, workload.payload},
                        workload.buffer_base, pair);
    guarded.add(area.send_entry(0), area.receive_entry(0) - area.send_entry(0));
    guarded.add(area.own(0), area.exposed_bytes());
  }
  machine.start();
  machine.run_until_quiet();
  const RunResult result = machine.result();
  bool has_guard = false;
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
    has_guard |= check.name == "ep1: the adapter touched only what its software has granted";
  }
  EXPECT_TRUE(has_guard);
  guarded.expect_untouched();
  EXPECT_GE(result.errors.at("frame_forged"), forged);
  EXPECT_GT(result.rows<HcaResult>().at(1).placed_bytes, 0U);
  for (const char* const met :
       {"rx_qp_mismatch", "rx_bad_p_key", "rx_bad_version", "rx_bad_transport", "rx_duplicate",
        "rx_out_of_order", "rx_bogus_ack", "error_naks", "queue_pair_in_error"}) {
    EXPECT_EQ(result.errors.count(met), 1U) << met;
  }
}

}  // namespace flitwise::test
