// SPDX-License-Identifier: Apache-2.0
// Functions of an RDMA adapter: each has queue pairs, rings, keys, completion queues and a BAR of
// its own, and hostile software of one reaches no other.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "config/load.h"
#include "flitwise/observer.h"
#include "rdma/hca_config.h"
#include "rdma/hca_result.h"
#include "rdma/ring_entries.h"
#include "support/machine_run.h"
#include "system/machine.h"

namespace flitwise::rdma_functions_test {
namespace {

std::string two_hosts(const std::string& more) {
  return "system: {topology: graph, hosts: 2, nodes: [{name: ep0, kind: device}, {name: ep1, kind: "
         "device}], edges: [{from: rp0, to: ep0}, {from: h1.rp0, to: ep1}], instances: {ep0: "
         "{device.rdma.peer: ep1}}}\nlink: {preset: gen5x16, identity: bdf_pasid}\n" +
         more;
}

const VerbsResult& verbs_of(const RunResult& result, const std::string& name) {
  for (const VerbsResult& row : result.rows<VerbsResult>()) {
    if (row.device == name) {
      return row;
    }
  }
  throw std::runtime_error("no software " + name);
}

// Three functions, seven queue pairs, translated: what each one reads and writes bears its own
// Requester ID, and lies in its own buffers.
TEST(RdmaFunctions, HP_4_HP_C5_EachHasQueuePairsOfItsOwn) {
  Machine machine(config_from_text(
      two_hosts(
          "device: {functions: {count: 4}, rdma: {queue: 16, cq: 64, mtu: 256, qpsc_entries: "
          "4}}\n"
          "iommu: {translation: nested}\nhost: {verbs: {inline: 64B}}\n"
          "workload: {via: rdma, functions: vfs, domains: 7, payload: 300B, buffer_size: "
          "128KiB, requests: 900, rdma: {write: 2, read: 2, send: 2, fetch_add: 1, cas: 1}}\n"),
      "run.yaml", ""));
  const FabricDevice& device = *machine.fabric().find("ep0");
  const WorkloadConfig& workload = device.config.workload;
  std::map<unsigned, unsigned> seen;  // accesses by function
  unsigned foreign = 0;
  device.root_port->watch_memory([&](const Packet& packet, std::uint64_t address) {
    const std::uint64_t pair = (address - workload.buffer_base) / workload.buffer_size;
    const unsigned function = packet.tlp.requester_id.value - device.endpoint->base().value;
    ++seen[function];
    foreign += pair < 7 && function == 1 + pair % 3 ? 0 : 1;
  });
  const RunResult result = test::run_to_end(machine);
  EXPECT_EQ(foreign, 0U);
  EXPECT_EQ(seen.size(), 3U);
  for (const char* const name : {"ep0_f1", "ep0_f2", "ep0_f3"}) {
    EXPECT_EQ(verbs_of(result, name).operations, 300U);
  }
  EXPECT_TRUE(result.errors.empty());
  // States of two functions have one number and are two entries; four of seven have room.
  EXPECT_GT(result.rows<HcaResult>().at(0).qpsc_misses, 20U);
  // As its software sees them, the queue pairs of each function are 2, 3 (and 4).
  MemoryPort& memory = machine.fabric().surroundings.hosts[device.host]->memory;
  for (std::uint32_t place = 0; place < 3; ++place) {
    const std::uint32_t cqe = device.config.device.rdma.cqe;
    const RdmaArea area({workload.buffer_size, 16, 64, cqe, workload.payload},
                        workload.buffer_base + place * workload.buffer_size, true);
    std::map<std::uint32_t, unsigned> pairs;
    for (std::uint32_t i = 0; i < 64; ++i) {
      std::uint8_t entry[kCompletionBytes];
      ASSERT_TRUE(memory.peek(area.completion(false, i), entry, sizeof(entry)));
      ++pairs[decode_completion(entry).queue_pair];
    }
    EXPECT_EQ(pairs.size(), place == 0 ? 3U : 2U);
    EXPECT_EQ(pairs.begin()->first, kFirstQueuePair);
  }
}

// One that has not been there: beyond the ring, of no queue pair, too short; nothing comes of it.
TEST(RdmaFunctions, HP_1_BadDoorbellsStartNothing) {
  Machine machine(config_from_text(
      two_hosts("device: {functions: {count: 2}, rdma: {queue: 16, cq: 64}}\n"
                "workload: {via: rdma, domains: 3, payload: 64B, buffer_size: 128KiB, requests: "
                "10}\n"),
      "run.yaml", ""));
  machine.bring_up();
  machine.start();
  const std::size_t ep0 = 0;
  const auto& around = machine.fabric().surroundings;
  HostBridge& bridge = around.hosts[0]->bridge;
  const auto ring = [&](unsigned function, Doorbell bell, std::size_t bytes = 8) {
    const std::uint64_t doorbell =
        machine.fabric().devices[ep0].config.device.functions.bar_size / 2;
    const std::uint64_t word = bell.encode();
    bridge.write(around.bar(ep0, function) + doorbell, reinterpret_cast<const std::uint8_t*>(&word),
                 bytes, false);
  };
  ring(1, {kFirstQueuePair, false, 17});     // one more than the ring has
  ring(1, {kFirstQueuePair + 1, false, 1});  // the other function has two, this one one
  ring(0, {kFirstQueuePair + 2, true, 1});   // nobody has three
  ring(0, {0, false, 1});                    // for management
  ring(0, {kFirstQueuePair, true, 1}, 4);    // half of it
  ring(0, {kFirstQueuePair, true, 3});
  ring(0, {kFirstQueuePair, true, 2});  // less than before
  machine.run_until_quiet();
  EXPECT_EQ(machine.result().errors.at("bad_doorbell"), 6U);
  EXPECT_EQ(machine.result().rows<HcaResult>().at(0).wqes, 10U);
}

// The guest of the last function writes anything anywhere that it can, configuration space too: the
// others get on, and get what they asked for; nothing leaves its own buffers; each kind of error is
// told.
RunResult expect_others_get_on(const std::string& rdma, const std::string& more) {
  Machine machine(config_from_text(
      two_hosts("device: {functions: {count: 3}, rdma: {queue: 16, cq: 64, mtu: 256, timeout: 3, "
                "qpsc_entries: 2" +
                rdma + "}}\niommu: {translation: nested" + more +
                "}\nhost: {verbs: {hostile: 1}}\n"
                "workload: {via: rdma, domains: 9, payload: 300B, buffer_size: 2MiB, requests: "
                "6000, rdma: {write: 2, read: 2, send: 2, fetch_add: 1, cas: 1}}\n"),
      "run.yaml", ""));
  const RunResult result = test::run_to_end(machine);
  for (const FabricDevice& device : machine.fabric().devices) {
    EXPECT_GE(device.endpoint->resets(), 2U) << "by its guest, and by the hypervisor at the end";
  }
  for (const char* const name : {"ep0_f0", "ep0_f1"}) {
    EXPECT_EQ(verbs_of(result, name).operations, 2000U);
  }
  unsigned guards = 0;
  for (const CheckResult& check : result.checks) {
    guards += check.name.find("touched only what") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(guards, 2U);
  EXPECT_EQ(result.errors.at("hostile_acts"), 4000U);  // each host has such a guest
  for (const char* const kind : {"bad_doorbell", "bad_command", "bad_ring_entry", "failed_dma"}) {
    EXPECT_EQ(result.errors.count(kind), 1U) << kind;
  }
  for (const char* const kind : {"function_reset", "function_not_set_up"}) {
    EXPECT_EQ(result.errors.count(kind), 0U) << kind << ": of the others";
  }
  return result;
}

TEST(RdmaFunctions, HP_1_HP_4_HP_7_AHostileGuestReachesNobodyElse) {
  const RunResult result = expect_others_get_on("", "");
  EXPECT_EQ(result.errors.count("bad_state"), 1U);
}

// It takes ATS away as well.
TEST(RdmaFunctions, EP_13_AHostileGuestReachesNoStructureOfOthers) {
  expect_others_get_on(", pretranslation: {enabled: true, page_size: 2MiB}", ", page: 2MiB");
}

}  // namespace
}  // namespace flitwise::rdma_functions_test
