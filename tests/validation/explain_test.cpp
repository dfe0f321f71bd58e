// SPDX-License-Identifier: Apache-2.0
// Machines whose bottleneck is known: the explanation names it, and the value that it says to try
// moves the goodput. docs/explain.md
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "config/load.h"
#include "validation/simulate_in_child.h"

namespace flitwise::explain_test {
namespace {

using Json = nlohmann::ordered_json;

struct Known {
  const char* name;
  const char* kind;
  std::vector<std::string> settings;
  const char* key;
  double gain;  ///< in the time of all requests by the value to try, at least
  const char* config = "checks/saturated.yaml";
};

std::vector<std::string> settings_of(const Known& known) {
  std::vector<std::string> all = {
      std::string("workload.kind=") + (std::string(known.kind) == "read" ? "read" : "posted_write"),
      "workload.requests=4000"};
  all.insert(all.end(), known.settings.begin(), known.settings.end());
  return all;
}

const Known kKnown[] = {
    {"posted header credits",
     "write",
     {"link.credits.posted_headers=2"},
     "link.credits.posted_headers",
     1.5},
    {"tags",
     "read",
     {"device.tag_bits=5", "workload.payload=64B", "device.dma.outstanding=256"},
     "device.tag_bits",
     1.5},
    {"outstanding",
     "read",
     {"device.dma.outstanding=4", "workload.payload=64B"},
     "device.dma.outstanding",
     1.5},
    {"the wire", "write", {"link.preset=gen4x8"}, "link.preset", 1.9},
    {"memory bandwidth", "write", {"host.memory.bandwidth=10Gb/s"}, "host.memory.bandwidth", 1.9},
    {"replay buffer", "write", {"link.replay_buffer=1KiB"}, "link.replay_buffer", 1.3},
    {"the clock of send memory",
     "write",
     {"device.pio.timing.clock=40ns"},
     "device.pio.timing.clock",
     1.9,
     "checks/pio.yaml"},
    {"walkers",
     "read",
     {"iommu.translation=first_stage", "iommu.page=4KiB", "iommu.iotlb.entries=16",
      "iommu.walkers=4", "workload.placement=random", "workload.buffer_size=16MiB",
      "workload.domains=1", "workload.payload=64B"},
     "iommu.walkers",
     1.8},
    {"commands of the driver, which answer page requests",
     "read",
     {"iommu.translation=first_stage", "iommu.page=4KiB", "device.atc.enabled=true",
      "device.pri.enabled=true", "device.pri.capacity=512", "device.pri.allocation=512",
      "host.iommu_driver.enabled=true", "host.iommu_driver.premapped=0",
      "host.iommu_driver.map_latency=1us", "workload.placement=random",
      "workload.buffer_size=64MiB", "workload.domains=1", "workload.payload=64B"},
     "host.iommu_driver.step",
     1.5},
    {"places at a CXL link",
     "read",
     {"link.cxl.queue_depth=4"},
     "link.cxl.queue_depth",
     1.7,
     "examples/cxl_memory.yaml"},
    {"the thread that posts work requests",
     "write",
     {},
     "host.verbs.timing.post",
     1.3,
     "checks/rdma.yaml"},
    {"entries that one read of a ring brings",
     "write",
     {"workload.domains=1", "host.verbs.timing.post=10ns", "host.verbs.timing.completion=5ns"},
     "device.rdma.wqe_batch",
     1.5,
     "checks/rdma.yaml"},
    {"READs that are out",
     "write",
     {"workload.domains=1", "workload.rdma.write=0", "workload.rdma.read=1",
      "device.rdma.max_rd_atomic=2", "host.verbs.timing.poll=1ns"},
     "device.rdma.max_rd_atomic",
     1.5,
     "checks/rdma.yaml"},
    {"packets without an acknowledgement",
     "write",
     {"workload.domains=1", "workload.payload=4KiB", "workload.buffer_size=1MiB",
      "device.rdma.window=16", "device.rdma.port.propagation=10us"},
     "device.rdma.window",
     1.5,
     "checks/rdma.yaml"},
    {"packets whose payload is read",
     "write",
     {"workload.domains=1", "workload.payload=4KiB", "workload.buffer_size=1MiB",
      "device.rdma.mtu=256", "device.rdma.port.rate=800Gb/s", "host.verbs.timing.post=5ns",
      "host.verbs.timing.completion=5ns", "device.rdma.wqe_batch=64"},
     "device.rdma.fifo",
     1.3,
     "checks/rdma.yaml"},
    {"entries of the cache of states that a function has",
     "write",
     {"device.functions.count=2", "device.rdma.shares.states=[1,1]", "workload.requests=400"},
     "device.rdma.shares.states",
     1.2,
     "examples/rdma_two_hosts.yaml"},
    {"lines of a cache", "write", {}, "workload.buffer_size", 1.1, "examples/cxl_cache.yaml"},
};

double window(const Json& result) {
  return result.at("flitwise").at("simulated_ns").get<double>();
}

Json row_of(const Json& result, const std::string& kind) {
  for (const Json& row : result.at("explain")) {
    if (row.at("kind") == kind) {
      return row;
    }
  }
  return nullptr;
}

TEST(Explain, NamesTheKnownBottleneckAndTheValueToTryMovesIt) {
  std::vector<Simulation> runs;
  for (const Known& known : kKnown) {
    runs.push_back({known.config, settings_of(known)});
  }
  const std::vector<Json> before = simulate_in_children(runs);
  for (std::size_t i = 0; i < before.size(); ++i) {
    SCOPED_TRACE(kKnown[i].name);
    ASSERT_FALSE(before[i].contains("failed")) << before[i];
    const Json row = row_of(before[i], kKnown[i].kind);
    ASSERT_FALSE(row.is_null());
    EXPECT_EQ(row.at("limit").at("key"), kKnown[i].key) << row;
    ASSERT_FALSE(row.at("limit").at("larger").get<std::string>().empty()) << row;
    runs[i].sets.push_back(std::string(kKnown[i].key) + "=" +
                           row.at("limit").at("larger").get<std::string>());
  }
  const std::vector<Json> after = simulate_in_children(runs);
  for (std::size_t i = 0; i < after.size(); ++i) {
    SCOPED_TRACE(kKnown[i].name);
    ASSERT_FALSE(after[i].contains("failed")) << after[i];
    EXPECT_LT(kKnown[i].gain * window(after[i]), window(before[i]));
  }
}

TEST(Explain, NamesTheKeyOfTheInstanceThatLimitsAndItsValueMovesIt) {
  const std::string set = "system.instances.rp0-ep0.link.preset=",
                    key = set.substr(0, set.size() - 1);
  std::vector<Simulation> runs = {{"checks/saturated.yaml",
                                   {"workload.kind=posted_write", "workload.requests=4000",
                                    "link.preset=gen6x16", set + "gen4x4"}}};
  const Json before = simulate_in_children(runs).at(0);
  ASSERT_FALSE(before.contains("failed")) << before;
  const Json limit = row_of(before, "write").at("limit");
  EXPECT_EQ(limit.at("key"), key);
  EXPECT_EQ(limit.at("larger"), "gen4x8");
  runs[0].sets.back() = set + limit.at("larger").get<std::string>();
  const Json after = simulate_in_children(runs).at(0);
  ASSERT_FALSE(after.contains("failed")) << after;
  EXPECT_LT(1.9 * window(after), window(before));
}

// The link to the host is full of what another device writes.
TEST(Explain, DoesNotExplainRequestsForAPeer) {
  const Json result = simulate_in_children({{"examples/peer_to_peer.yaml", {}}}).at(0);
  ASSERT_FALSE(result.contains("failed")) << result;
  const Json row = row_of(result, "read");
  EXPECT_EQ(row.at("link"), "sw0-ep0");
  EXPECT_EQ(row.at("requests"), 2);
  EXPECT_EQ(row.at("to_peers"), 2);
  EXPECT_TRUE(row.at("limit").at("at").is_null()) << row;
}

// An adapter carries out one at a time, which no key makes more.
TEST(Explain, NamesAtomicsAtTheAdapterThatIsAsked) {
  const Json result =
      simulate_in_children({{"checks/rdma.yaml",
                             {"workload.requests=500", "workload.rdma.write=0",
                              "workload.rdma.fetch_add=1", "workload.buffer_size=256KiB"}}})
          .at(0);
  ASSERT_FALSE(result.contains("failed")) << result;
  const Json limit = row_of(result, "write").at("limit");
  EXPECT_EQ(limit.at("at"), "ep1_hca") << limit;
  EXPECT_EQ(limit.at("resource"), "atomic");
  EXPECT_EQ(limit.at("key"), "");
  EXPECT_GT(limit.at("share"), 0.95);
}

TEST(Waits, NameKeysThatExist) {
  std::set<std::string> keys = {""};
  for (const KeyInfo& one : all_keys()) {
    keys.insert(one.path);
  }
  std::vector<Simulation> runs;
  for (const char* const name :
       {"examples/first_write.yaml", "examples/switch_tree.yaml",
        "examples/handles_under_zipf.yaml", "examples/cxl_cache.yaml", "examples/cxl_memory.yaml",
        "examples/cxl_hdm_db.yaml", "checks/bit_packed.yaml", "checks/pio.yaml", "checks/rdma.yaml",
        "checks/saturated.yaml"}) {
    runs.push_back({name, {"workload.requests=200"}});
  }
  runs.push_back(
      {"checks/saturated.yaml",
       {"workload.requests=200", "device.atc.enabled=true", "iommu.translation=first_stage"}});
  for (const Json& result : simulate_in_children(runs)) {
    ASSERT_FALSE(result.contains("failed")) << result;
    for (const Json& row : result.at("waits")) {
      EXPECT_EQ(keys.count(row.at("key").get<std::string>()), 1U) << row;
    }
  }
}

// 64 request slots of an ATC let 189 Gb/s through where 256 let 206 through and fill the wire.
TEST(Explain, NamesTheRequestSlotsOfAnAtcBeforeAWireThatIsNearlyFull) {
  std::vector<Simulation> runs;
  for (const char* const slots : {"64", "256"}) {
    runs.push_back(
        {"checks/saturated.yaml",
         {"link.preset=gen4x16", "workload.kind=posted_write", "workload.payload=256B",
          "workload.requests=20000", "workload.placement=random", "workload.buffer_size=16MiB",
          "workload.domains=1", "iommu.translation=first_stage", "iommu.page=4KiB",
          "iommu.walkers=256", "device.atc.enabled=true", "device.atc.entries=16",
          "host.memory.timing.latency=220ns", std::string("device.atc.requests=") + slots}});
  }
  const std::vector<Json> results = simulate_in_children(runs);
  const char* const keys[] = {"device.atc.requests", "link.preset"};
  for (std::size_t i = 0; i < results.size(); ++i) {
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    EXPECT_EQ(row_of(results[i], "write").at("limit").at("key"), keys[i]);
  }
  EXPECT_GT(window(results[0]), 1.08 * window(results[1]));
}

}  // namespace
}  // namespace flitwise::explain_test
