// SPDX-License-Identifier: Apache-2.0
// Contexts end while devices run: nothing of them is left, and nobody else is hurt.
// docs/iommu_driver.md
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/load.h"
#include "flitwise/error.h"
#include "flitwise/system.h"
#include "host/host_access.h"

namespace flitwise::context_teardown_test {
namespace {

using Sets = std::vector<std::string>;
using ::testing::HasSubstr;

const Sets kSecure = {"iommu.secure_ats=true", "device.atc.enabled=true"};

Sets operator+(Sets all, const Sets& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// 4,000 reads and writes of 32 contexts, of which one ends each 10 us; pages come and go as well.
constexpr const char* kTeardowns = R"(
iommu: {translation: first_stage}
host: {iommu_driver: {enabled: true, teardown_rate: 1e5, unmap_rate: 2e5, remap_after: 5us}}
workload:
  {kind: read_write, payload: 64B, domains: 32, buffer_size: 16KiB, placement: random, requests: 4000,
   arrival: poisson, rate: 4Mreq/s}
)";

RunResult run_with(const Sets& sets) {
  LoadOptions options;
  options.sets = sets;
  System system(config_from_text(kTeardowns, "teardown.yaml", "", options));
  return system.run();
}

std::vector<std::string> broken(const RunResult& result) {
  std::vector<std::string> names;
  for (const CheckResult& one : result.checks) {
    if (!one.ok) {
      names.push_back(one.name + ": " + one.detail);
    }
  }
  return names;
}

/// 0 where the machine has no such phase.
double mean_of(const RunResult& result, const std::string& phase) {
  const auto found =
      std::find_if(result.rows<LatencyResult>().begin(), result.rows<LatencyResult>().end(),
                   [&](const LatencyResult& one) { return one.name == phase; });
  return found == result.rows<LatencyResult>().end() ? 0 : found->mean;
}

class ContextTeardownRuns : public ::testing::TestWithParam<Sets> {};

// [INV-35] [SEC-05] [DHI D15] [DHI D18]
TEST_P(ContextTeardownRuns, INV_35_AContextThatHasEndedIsNoMore) {
  const RunResult result = run_with(GetParam());
  EXPECT_EQ(broken(result), std::vector<std::string>{});
  EXPECT_TRUE(result.violations.empty()) << text_of(result.violations);
  EXPECT_GT(result.rows<IommuResult>().at(0).teardowns, 15U);
}

// Where translated requests leave their PASID out, contexts of a function share a table of
// permissions, and the one whose table that is does not end.
INSTANTIATE_TEST_SUITE_P(
    Setups, ContextTeardownRuns,
    ::testing::Values(
        Sets{}, Sets{"iommu.translation=second_stage"}, Sets{"device.atc.enabled=true"}, kSecure,
        kSecure + Sets{"device.functions.count=4"},
        kSecure + Sets{"device.functions.count=4", "device.functions.pasid_space=system"},
        kSecure + Sets{"workload.at=translated_pasid"}, kSecure + Sets{"link.identity=dhi"},
        kSecure + Sets{"link.identity=dhi", "link.dhi_form=tag", "device.functions.count=2"},
        kSecure + Sets{"device.pri.enabled=true", "host.iommu_driver.premapped=0.5"},
        Sets{"host.iommu_driver.teardown_reset=true", "device.functions.count=32",
             "device.functions.pasid_space=system", "device.atc.enabled=true"},
        kSecure + Sets{"host.iommu_driver.teardown_reset=true", "device.functions.count=32"}));

TEST(ContextTeardown, INV_35_ADeviceThatIsNotStoppedAsksForAContextOfOld) {
  EXPECT_THAT(broken(run_with({"host.iommu_driver.mistake=no_stop"})),
              ::testing::Contains(HasSubstr("no request of a context that has ended")));
}

TEST(ContextTeardown, IOM_5_7_APasidEntryInACacheReachesWhatTheContextHad) {
  EXPECT_THAT(broken(run_with({"host.iommu_driver.mistake=no_pasid_cache"})),
              ::testing::Contains(HasSubstr("no access by a stale translation")));
}

TEST(ContextTeardown, SEC_05_PermissionsThatStayAreSeen) {
  EXPECT_THAT(broken(run_with(kSecure + Sets{"host.iommu_driver.mistake=no_revoke",
                                             "host.iommu_driver.unmap_rate=0"})),
              ::testing::Contains(HasSubstr("permitted is what is mapped")));
}

/// What stands in the invalidation queue, as far as it has come: types, with `d` for a wait that
/// drains page requests.
std::string commands_of(const System& system, std::size_t count) {
  constexpr std::size_t kBytes = 32;
  constexpr std::uint8_t kDrains = 0x80;
  std::string types;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<std::uint8_t> bytes = system.peek(kInvalidationQueue + i * kBytes, kBytes);
    const unsigned type = (bytes[0] & 0xfU) | (bytes[1] & 0xeU) << 3;
    types += fmt::format("{:x}", type) + (type == 5 && (bytes[0] & kDrains) != 0 ? "d " : " ");
  }
  return types;
}

// PASID cache (7), PASID-based IOTLB (6), permissions (7Eh), then the ATC of the device (8), then
// what it has asked for; each with a wait (5). [INV-35] [IOM-5.6] [IOM-5.7] [IOM-5.11]
TEST(ContextTeardown, IQU_15_CommandsComeInOrderAndPageRequestsAreDrainedLast) {
  LoadOptions options;
  options.sets = kSecure + Sets{"device.pri.enabled=true", "host.iommu_driver.unmap_rate=0"};
  System system(config_from_text(kTeardowns, "teardown.yaml", "", options));
  const RunResult result = system.run();
  EXPECT_EQ(broken(result), std::vector<std::string>{});
  ASSERT_GT(result.rows<IommuResult>().at(0).teardowns, 2U);
  EXPECT_EQ(commands_of(system, 14), "7 6 7e 5 8 5 5d 7 6 7e 5 8 5 5d ");
  double sum = 0;
  for (const char* const name : {"stop", "agent", "device", "drain"}) {
    sum += mean_of(result, std::string("teardown_") + name);
  }
  EXPECT_NEAR(sum, mean_of(result, "teardown"), 1) << "phases follow each other without a gap";
}

TEST(ContextTeardown, WhatTheMachineDoesNotHaveTakesNoTime) {
  const RunResult result = run_with({"device.atc.enabled=true"});
  EXPECT_EQ(mean_of(result, "teardown_drain"), 0);
  EXPECT_EQ(mean_of(result, "teardown_handle"), 0);
  EXPECT_GT(mean_of(result, "teardown_device"), 0);
}

}  // namespace
}  // namespace flitwise::context_teardown_test
