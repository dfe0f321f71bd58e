// SPDX-License-Identifier: Apache-2.0
// Every bounded resource says how many units of it there are, and is never used beyond them.
// docs/statistics.md
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "link/transaction_queues.h"
#include "validation/simulate_in_child.h"

namespace flitwise::wait_capacity_test {
namespace {

using Json = nlohmann::ordered_json;

/// Queues of what other resources have let in, and what has no units.
const std::map<std::string, const char*> kUnbounded = {
    {"order", "at a root port receive buffers hold what is in it"},
    {"pending_walks", "receive buffers of the root ports hold the requests"},
    {"requests", "accesses whose requests hold tags or receive buffers"},
    {"receive_writes", "the receive buffer holds the packets"},
    {"translations", "device.atc.parked holds the transfers"},
    {"pages", "device.atc.parked holds the transfers"},
    {"cxl_lines", "a line"},
    {"cxl_ways", "those of a set"},
};

std::vector<Simulation> all_of(const std::string& folder) {
  std::vector<Simulation> runs;
  const auto path = std::filesystem::path(FLITWISE_SOURCE_DIR) / "configs" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".yaml") {
      runs.push_back({folder + "/" + entry.path().filename().string(), {}});
    }
  }
  return runs;
}

TEST(WaitCapacity, EveryBoundedResourceHasOneAndIsNeverUsedBeyondIt) {
  std::vector<Simulation> runs = all_of("examples");
  for (Simulation& run : all_of("checks")) {
    runs.push_back(std::move(run));
  }
  ASSERT_GT(runs.size(), 10U);
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    for (const Json& wait : results[i].at("waits")) {
      const std::string name = wait.at("resource");
      const std::uint64_t capacity = wait.at("capacity");
      EXPECT_EQ(capacity == 0, kUnbounded.count(name) == 1) << wait;
      if (!wait.at("peak").is_null()) {
        EXPECT_LE(wait.at("peak").get<double>(), static_cast<double>(capacity)) << wait;
      }
    }
  }
}

std::uint64_t capacity_of(const Json& result, const std::string& at, const std::string& name) {
  for (const Json& wait : result.at("waits")) {
    if (wait.at("at") == at && wait.at("resource") == name) {
      return wait.at("capacity");
    }
  }
  return 0;
}

TEST(WaitCapacity, ComesFromTheKeyOfTheRow_COH_3_9) {
  const std::vector<Json> results = simulate_in_children(
      {{"examples/cxl_cache.yaml",
        {"device.cxl.cache.requests=24", "link.cxl.queue_depth=7", "link.queue_depth=5"}},
       {"examples/cxl_memory.yaml", {"host.cxl_mem.outstanding=12", "link.cxl.queue_depth=9"}},
       {"examples/rdma_incast.yaml", {"network.switch.queue=96KiB", "workload.requests=5"}}});
  const Json& cache = results[0];
  ASSERT_FALSE(cache.contains("failed")) << cache;
  std::size_t caches = 0;
  while (capacity_of(cache, "ep" + std::to_string(caches) + "_cache", "cxl_ids") == 24) {
    ++caches;
  }
  ASSERT_GT(caches, 1U);
  EXPECT_EQ(capacity_of(cache, "home_of_ep0", "home_requests"), 4096 / caches);
  EXPECT_EQ(capacity_of(cache, "home_of_ep0", "cxl_queues"), 7U);
  EXPECT_EQ(capacity_of(cache, "ep0_cache", "cxl_queues"), 7U);
  EXPECT_EQ(capacity_of(cache, "rp0", "posted_queue"), queue_room(5, FcClass::kPosted));
  EXPECT_EQ(capacity_of(cache, "rp0", "completion_queue"), queue_room(5, FcClass::kCompletion));
  EXPECT_EQ(capacity_of(cache, "ep0", "link_queues"), queue_room(5));
  const Json& memory = results[1];
  ASSERT_FALSE(memory.contains("failed")) << memory;
  EXPECT_EQ(capacity_of(memory, "host_of_ep0", "cxl_ids"), 12U);
  EXPECT_EQ(capacity_of(memory, "host_of_ep0", "cxl_queues"), 9U);
  EXPECT_EQ(capacity_of(memory, "ep0_memory", "cxl_queues"), 9U);
  const Json& incast = results[2];
  ASSERT_FALSE(incast.contains("failed")) << incast;
  EXPECT_EQ(capacity_of(incast, "network.ep4", "queue"), 96U << 10);
}

}  // namespace
}  // namespace flitwise::wait_capacity_test
