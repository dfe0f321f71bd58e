// SPDX-License-Identifier: Apache-2.0
// Limits of the model that no key sets have rows in waits[]: where one is reached there is always
// one that waits, and what it lets through fills it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "validation/simulate_in_child.h"

namespace flitwise::fixed_limits_test {
namespace {

using Json = nlohmann::ordered_json;

/// Mean number of those that wait for `resource`.
double length(const Json& result, const std::string& resource) {
  double sum = 0;
  for (const Json& wait : result.at("waits")) {
    sum += wait.at("resource") == resource ? wait.at("wait_ns").get<double>() : 0;
  }
  return sum / result.at("flitwise").at("simulated_ns").get<double>();
}

Simulation reads_that_miss(const std::string& outstanding) {
  return {"checks/saturated.yaml",
          {"workload.kind=read", "workload.payload=64B", "workload.requests=4000",
           "iommu.translation=first_stage", "workload.domains=64", "workload.placement=random",
           "workload.buffer_size=1MiB", "device.atc.enabled=true", "device.atc.requests=256",
           "device.atc.entries=4", "iommu.walkers=256", "device.dma.outstanding=" + outstanding}};
}

TEST(FixedLimits, TransfersAtAnAtcAreAsManyAsTheRowSays) {
  const std::vector<Json> results =
      simulate_in_children({reads_that_miss("1024"), reads_that_miss("100")});
  ASSERT_FALSE(results[0].contains("failed")) << results[0];
  ASSERT_FALSE(results[1].contains("failed")) << results[1];
  const double share = length(results[0], "parked");
  EXPECT_GT(share, 0.9);
  EXPECT_LE(share, 1);
  EXPECT_LE(128 * share, length(results[0], "translations")) << "128 are there all that time";
  EXPECT_LE(length(results[0], "translations"), 128);
  EXPECT_EQ(length(results[1], "parked"), 0) << "never more than 100";
  EXPECT_GT(length(results[1], "outstanding"), 0.9);
}

TEST(FixedLimits, MessagesUnderWayHaveARow) {
  std::vector<Simulation> runs;
  for (const char* const requests : {"2000", "60"}) {
    runs.push_back({"checks/saturated.yaml",
                    {"workload.kind=nic", "workload.payload=64B",
                     std::string("workload.requests=") + requests}});
  }
  const std::vector<Json> results = simulate_in_children(runs);
  ASSERT_FALSE(results[0].contains("failed")) << results[0];
  ASSERT_FALSE(results[1].contains("failed")) << results[1];
  EXPECT_GT(length(results[0], "messages"), 0.9);
  EXPECT_LE(length(results[0], "messages"), 1);
  EXPECT_EQ(length(results[0], "outstanding"), 0);
  EXPECT_EQ(length(results[1], "messages"), 0) << "never more than 60";
}

}  // namespace
}  // namespace flitwise::fixed_limits_test
