// SPDX-License-Identifier: Apache-2.0
// A walk serves all requests that came for its page meanwhile, whether a cache keeps it or not.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "validation/simulate_in_child.h"

namespace flitwise::shared_walk_test {
namespace {

using Json = nlohmann::ordered_json;

/// Reads of a page each, one after the other: 32 MRd come for a page while it is walked.
Simulation pages_in_turn(const std::string& entries, const std::string& walkers) {
  return {"checks/saturated.yaml",
          {"workload.kind=read", "workload.payload=4096B", "link.mrrs=128B",
           "device.dma.outstanding=1", "iommu.translation=first_stage", "workload.requests=300",
           "run.warmup=50", "iommu.iotlb.entries=" + entries, "iommu.walkers=" + walkers}};
}

// [IOM-6.10] What the walker itself hands to those that waited is what an IOTLB of one page would.
TEST(SharedWalk, IOM_6_10_TakesNoLongerWithoutAnIotlb) {
  const std::vector<Json> results =
      simulate_in_children({pages_in_turn("1", "1"), pages_in_turn("none", "1"),
                            pages_in_turn("none", "4"), pages_in_turn("none", "64")});
  for (const Json& result : results) {
    ASSERT_FALSE(result.contains("failed")) << result;
    EXPECT_EQ(result.at("iommu")[0].at("walks"), 300);
    EXPECT_EQ(result.at("iommu")[0].at("iotlb_misses"), 300);
    EXPECT_EQ(result.at("iommu")[0].at("iotlb_misses_under_miss"), 300 * 31);
    EXPECT_EQ(result.at("latency"), results[0].at("latency"));
  }
}

// 64 reads of random pages come at once. Those that find no walker are passed through by the PASID
// entry that the first walks bring: they have missed under those.
TEST(SharedWalk, WhoIsPassedThroughWithoutAWalkMissedUnderOne) {
  const std::vector<std::string> sets = {
      "workload.kind=read",        "workload.requests=2000",    "iommu.translation=pass_through",
      "workload.placement=random", "workload.buffer_size=2MiB", "device.dma.outstanding=64",
      "workload.payload=64B"};
  std::vector<Simulation> runs;
  for (const char* walkers : {"1", "4"}) {
    runs.push_back({"checks/saturated.yaml", sets});
    runs.back().sets.push_back(std::string("iommu.walkers=") + walkers);
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    const Json& agent = results[i].at("iommu")[0];
    const unsigned walks = i == 0 ? 1 : 4;
    EXPECT_EQ(agent.at("walks"), walks);
    EXPECT_EQ(agent.at("iotlb_misses"), walks);
    EXPECT_EQ(agent.at("iotlb_misses_under_miss"), 64 - walks);
  }
}

// Requests to 512 pages that lie on one large page, and a single walker.
TEST(SharedWalk, WhoFindsALargePageOfAnotherMissedUnderItsWalk) {
  const std::vector<Json> results = simulate_in_children(
      {{"checks/saturated.yaml",
        {"workload.kind=read", "workload.requests=2000", "iommu.translation=first_stage",
         "iommu.page=2MiB", "workload.placement=random", "workload.buffer_base=4GiB",
         "workload.buffer_size=2MiB", "device.dma.outstanding=64", "iommu.walkers=1",
         "workload.payload=64B"}}});
  ASSERT_FALSE(results[0].contains("failed")) << results[0];
  const Json& agent = results[0].at("iommu")[0];
  EXPECT_EQ(agent.at("walks"), 1);
  EXPECT_EQ(agent.at("iotlb_misses"), 1);
  EXPECT_EQ(agent.at("iotlb_misses_under_miss"), 63);
}

}  // namespace
}  // namespace flitwise::shared_walk_test
