// SPDX-License-Identifier: Apache-2.0
// Ten million requests while pages come and go. docs/iommu_driver.md
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/load.h"
#include "flitwise/system.h"

namespace flitwise::iommu_driver_test {
namespace {

// 4,096 processes, each with a PASID of its own, on 64 functions, with four pages each, a tenth of
// which is there at the start.
constexpr const char* kStorm = R"(
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
  {kind: read_write, payload: 64B, domains: 4096, domain_choice: zipf, buffer_base: 1GiB, buffer_size: 16KiB,
   placement: random, requests: 10000000}
run: {monitors: off}
)";

RunResult run(const std::string& yaml, std::uint64_t seed, const std::string& set) {
  LoadOptions options;
  options.sets = {set};
  options.seed = seed;
  System system(config_from_text(yaml, "long.yaml", "", options));
  RunResult result = system.run();
  EXPECT_GT(result.rows<IommuResult>().at(0).maps, 10'000U);
  EXPECT_GT(result.rows<IommuResult>().at(0).unmaps, 10'000U);
  return result;
}

// [INV-35] [PRI-08] [IQU-16]
void run_ten_million(const std::string& mode) {
  const RunResult result = run(kStorm, 64, "host.iommu_driver.mode=" + mode);
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  const IommuResult& agent = result.rows<IommuResult>().at(0);
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

// The same beside a device that forges what it can: a million packets, most of them at pages of the
// others, many of them translated. [INV-35] [SEC-08] [DHI S1]
RunResult run_beside_a_hostile_device(const std::string& secure_ats) {
  const std::string attacker = R"(
system:
  devices: 2
  instances:
    ep0: {workload: {kind: hostile, requests: 1000000, domains: 1, buffer_base: 1088MiB}}
)";
  return run(attacker + kStorm, 65, "iommu.secure_ats=" + secure_ats);
}

TEST(IommuDriverLong, SEC_08_BesideTenMillionRequestsAHostileDeviceReachesNothing) {
  const RunResult result = run_beside_a_hostile_device("true");
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  for (const AttackResult& attack : result.rows<AttackResult>()) {
    EXPECT_EQ(attack.through, 0U) << attack.attack;
  }
}
TEST(IommuDriverLong, SEC_08_WithoutSecureAtsTheSameAttackGetsThrough) {
  const RunResult result = run_beside_a_hostile_device("false");
  std::uint64_t through = 0;
  for (const AttackResult& attack : result.rows<AttackResult>()) {
    through += attack.through;
  }
  EXPECT_GT(through, 30U);
}

}  // namespace
}  // namespace flitwise::iommu_driver_test
