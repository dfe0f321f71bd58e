// SPDX-License-Identifier: Apache-2.0
// Ten million requests while pages come and go. docs/iommu_driver.md
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/load.h"
#include "flitwise/system.h"

namespace flitwise {
namespace {

// 4,096 processes, each with a PASID of its own, on 64 functions, with four pages each, a tenth of
// which is there at the start. [INV-35] [PRI-08] [IQU-16]
void run_ten_million(const std::string& mode) {
  LoadOptions options;
  options.sets = {"host.iommu_driver.mode=" + mode};
  options.seed = 64;
  System system(config_from_text(R"(
iommu: {translation: first_stage, walkers: 16, iotlb: {entries: 1024, ways: 8}}
device:
  functions: {count: 64, pasid_space: system}
  atc: {enabled: true, entries: 64, ways: 8}
  pri: {enabled: true}
host:
  iommu_driver:
    {enabled: true, step: 50ns, batch: 16, unmap_rate: 5e5, unmap_pages: 2, remap_after: 20us, premapped: 0.1,
     map_latency: 1us, refuse_fraction: 0.01}
workload:
  {kind: read_write, payload: 64B, domains: 4096, domain_choice: zipf, buffer_size: 16KiB,
   placement: random, requests: 10000000}
run: {monitors: off}
)",
                                 "long.yaml", "", options));
  const RunResult result = system.run();
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  const IommuResult& agent = result.iommu.at(0);
  EXPECT_GT(agent.maps, 10'000U);
  EXPECT_GT(agent.unmaps, 10'000U);
  EXPECT_GT(agent.page_requests_served, 10'000U);
  EXPECT_GT(agent.page_requests_refused, 100U);
  EXPECT_GT(agent.device_invalidations, 1'000U);
}

TEST(IommuDriverLong, INV_35_TenMillionRequestsReachOnlyWhatIsTheirs) {
  run_ten_million("strict");
}
TEST(IommuDriverLong, INV_35_TenMillionRequestsReachOnlyWhatIsTheirsInDeferredMode) {
  run_ten_million("deferred");
}

}  // namespace
}  // namespace flitwise
