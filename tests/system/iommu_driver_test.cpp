// SPDX-License-Identifier: Apache-2.0
// Pages come and go while devices run: nobody reaches what is not its own any more.
// docs/iommu_driver.md
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/load.h"
#include "flitwise/system.h"

namespace flitwise::iommu_driver_test {
namespace {

using Sets = std::vector<std::string>;

const Sets kAtc = {"device.atc.enabled=true"};
const Sets kPages = {"device.atc.enabled=true", "device.pri.enabled=true"};
const Sets kDeferred = {"host.iommu_driver.mode=deferred", "host.iommu_driver.batch=16",
                        "host.iommu_driver.flush_after=20us"};

Sets operator+(Sets all, const Sets& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// 6,000 reads and writes of 32 domains of four functions, 64 pages of 4 KiB in all.
RunResult run_with(const Sets& sets) {
  LoadOptions options;
  options.sets = sets;
  System system(config_from_text(R"(
iommu: {translation: first_stage}
device: {functions: {count: 4}}
host: {iommu_driver: {enabled: true, unmap_rate: 1e6, batch: 4, remap_after: 5us}}
workload:
  {kind: read_write, payload: 64B, domains: 32, buffer_size: 8KiB, placement: random, requests: 6000,
   arrival: poisson, rate: 6Mreq/s}
)",
                                 "driver.yaml", "", options));
  return system.run();
}

const CheckResult& check(const RunResult& result, const std::string& name) {
  const auto found =
      std::find_if(result.checks.begin(), result.checks.end(),
                   [&](const CheckResult& one) { return one.name == "iommu_driver: " + name; });
  EXPECT_NE(found, result.checks.end()) << name;
  return *found;
}

RunResult sound_run(const Sets& sets) {
  RunResult result = run_with(sets);
  for (const CheckResult& one : result.checks) {
    EXPECT_TRUE(one.ok) << one.name << ": " << one.detail;
  }
  EXPECT_TRUE(result.violations.empty()) << text_of(result.violations);
  return result;
}

// 1e6 unmaps a second of one batch each, while 1000 requests are counted behind 5000 that are not.
TEST(IommuDriver, FiguresAreOfTheMeasuredWindow) {
  const RunResult all = run_with({"run.warmup=5000", "workload.requests=1000"});
  const double calls = all.simulated.ns() / 1000;
  const auto unmap =
      std::find_if(all.rows<LatencyResult>().begin(), all.rows<LatencyResult>().end(),
                   [](const LatencyResult& one) { return one.name == "unmap"; });
  ASSERT_NE(unmap, all.rows<LatencyResult>().end());
  EXPECT_NEAR(static_cast<double>(unmap->count), calls, 0.3 * calls);
  EXPECT_LT(all.rows<IommuResult>().at(0).requests, 1500U);
}

class IommuDriverRuns : public ::testing::TestWithParam<Sets> {};

// [INV-35] [IQU-16]
TEST_P(IommuDriverRuns, INV_35_NobodyReachesAPageThatIsNotItsOwnAnyMore) {
  const RunResult result = sound_run(GetParam());
  const IommuResult& agent = result.rows<IommuResult>().at(0);
  EXPECT_GT(agent.unmaps, 100U);
  EXPECT_GT(agent.maps, 50U);
  EXPECT_GT(agent.invalidations, 10U);
}
INSTANTIATE_TEST_SUITE_P(
    Ways, IommuDriverRuns,
    ::testing::Values(Sets{}, kAtc, kPages, kDeferred, kAtc + kDeferred, kPages + kDeferred,
                      kPages + Sets{"iommu.translation=second_stage"},
                      kPages + Sets{"host.iommu_driver.wait=interrupt"},
                      kPages + kDeferred + Sets{"host.iommu_driver.wait=interrupt"},
                      kPages + Sets{"host.iommu_driver.remap_after=never"},
                      kPages + Sets{"host.iommu_driver.unmap_pages=2"},
                      kPages + Sets{"iommu.capabilities.caching_mode=true"},
                      kPages + Sets{"system.devices=2"},
                      kPages + Sets{"system.topology=switch", "system.devices=2"},
                      kPages + Sets{"link.identity=dhi", "link.dhi_form=tag"},
                      kAtc + Sets{"link.identity=bdf", "workload.domains=4",
                                  "device.functions.has_pasid=false"}));

const std::string kStale = "no access by a stale translation";

// [INV-35] What a driver does wrong shows.
TEST(IommuDriverMistakes, INV_35_PagesGivenAwayBeforeTheWaitAreReached) {
  const RunResult result = run_with({"host.iommu_driver.mistake=no_wait"});
  EXPECT_FALSE(check(result, kStale).ok);
}
TEST(IommuDriverMistakes, INV_35_PagesGivenAwayBeforeTheWaitAreReachedByTheirDevices) {
  const RunResult result = run_with(kPages + Sets{"host.iommu_driver.mistake=no_wait"});
  EXPECT_FALSE(check(result, kStale).ok);
}
TEST(IommuDriverMistakes, INV_35_DevicesThatAreLeftOutReachWhatTheyHad) {
  const RunResult result = run_with(kPages + Sets{"host.iommu_driver.mistake=no_device"});
  EXPECT_FALSE(check(result, kStale).ok);
}
const Sets kManyUnmaps = {"device.atc.enabled=true", "device.atc.entries=16",
                          "host.iommu_driver.batch=64", "host.iommu_driver.unmap_rate=4e6",
                          "iommu.timing.invalidation=200ns"};
// A device that is invalidated first asks again while the agent still knows.
TEST(IommuDriverMistakes, INV_35_DevicesThatAreInvalidatedFirstLearnTheOldTranslationAgain) {
  const RunResult result = run_with(kManyUnmaps + Sets{"host.iommu_driver.mistake=device_first"});
  EXPECT_FALSE(check(result, kStale).ok);
}
TEST(IommuDriverMistakes, INV_35_InTheRightOrderTheyDoNot) {
  sound_run(kManyUnmaps);
}

const Sets kNoUnmaps = {"host.iommu_driver.unmap_rate=0"};

/// The same 32 domains, on ep1; ep0 sends anything at all at the pages that the driver gives out.
RunResult run_beside_a_hostile_device(const Sets& sets) {
  LoadOptions options;
  options.sets = sets;
  System system(config_from_text(R"(
system:
  devices: 2
  instances:
    ep0: {workload: {kind: hostile, requests: 60000, domains: 1, buffer_base: 1048832KiB}}
iommu: {translation: first_stage}
device: {functions: {count: 4}, atc: {enabled: true}, pri: {enabled: true}}
host: {iommu_driver: {enabled: true, unmap_rate: 1e6, batch: 4, remap_after: 5us}}
workload:
  {kind: read_write, payload: 64B, domains: 32, buffer_base: 1GiB, buffer_size: 8KiB, placement: random,
   requests: 6000, arrival: poisson, rate: 6Mreq/s}
)",
                                 "attacked.yaml", "", options));
  return system.run();
}

const AttackResult& attack(const RunResult& result, const std::string& kind) {
  const auto found =
      std::find_if(result.rows<AttackResult>().begin(), result.rows<AttackResult>().end(),
                   [&](const AttackResult& one) { return one.attack == kind; });
  EXPECT_NE(found, result.rows<AttackResult>().end()) << kind;
  return *found;
}

TEST(IommuDriver, SEC_08_AHostileDeviceReachesNoPageThatComesOrGoes) {
  const RunResult result = run_beside_a_hostile_device({"iommu.secure_ats=true"});
  for (const CheckResult& one : result.checks) {
    EXPECT_TRUE(one.ok) << one.name << ": " << one.detail;
  }
  EXPECT_TRUE(check(result, "no access outside of its domain").ok);
  EXPECT_GT(result.rows<IommuResult>().at(0).unmaps, 100U);
  EXPECT_GT(result.rows<IommuResult>().at(0).permission_denied, 100U);
  EXPECT_GT(attack(result, "translated_address").tried, 100U);
  for (const AttackResult& one : result.rows<AttackResult>()) {
    EXPECT_EQ(one.through, 0U) << one.attack;
  }
}

// Whoever it says it is: addresses that are called translated are believed.
TEST(IommuDriver, SEC_08_WithoutSecureAtsItReachesPagesByTranslatedAddresses) {
  const RunResult result = run_beside_a_hostile_device({"iommu.secure_ats=false"});
  EXPECT_GT(attack(result, "translated_address").through, 30U);
  EXPECT_GT(attack(result, "pasid").through, 30U);
  EXPECT_EQ(attack(result, "requester_id").through, 0U);
  EXPECT_EQ(attack(result, "untranslated_address").through, 0U);
  EXPECT_FALSE(check(result, "no access outside of its domain").ok);
  EXPECT_TRUE(check(result, "no access by a stale translation").ok);
}

// The rings of a NIC stay as they are, beside pages that the driver permits.
TEST(IommuDriver, SEC_05_WhatStaysMappedStaysPermitted) {
  LoadOptions options;
  System system(config_from_text(R"(
iommu: {translation: first_stage, secure_ats: true}
device: {atc: {enabled: true}}
host: {iommu_driver: {enabled: true, premapped: 1}}
workload: {kind: nic, requests: 400}
)",
                                 "nic.yaml", "", options));
  const RunResult result = system.run();
  EXPECT_EQ(result.rows<IommuResult>().at(0).permission_denied, 0U);
  EXPECT_TRUE(result.errors.empty());
}

TEST(IommuDriver, S1_ItsNeighbourGetsAllItsData) {
  const RunResult result =
      run_beside_a_hostile_device({"iommu.secure_ats=true", "host.iommu_driver.unmap_rate=0",
                                   "host.iommu_driver.premapped=0.5"});
  std::size_t looked_at = 0;
  for (const CheckResult& one : result.checks) {
    EXPECT_TRUE(one.ok) << one.name << ": " << one.detail;
    looked_at += one.name == "ep1: unharmed by its neighbours" ? 1 : 0;
  }
  EXPECT_EQ(looked_at, 1U);
  EXPECT_GT(result.rows<IommuResult>().at(0).page_requests_served, 10U);
}

TEST(IommuDriver, AmongHostileDevicesAloneTheDriverHasNothingToUnmap) {
  const RunResult result = run_beside_a_hostile_device(
      {"system.instances.ep1.workload.kind=hostile", "system.instances.ep1.workload.domains=1"});
  EXPECT_EQ(result.rows<IommuResult>().at(0).unmaps, 0U);
}

// [PRI-08] Each page is asked for once, perhaps again for its first write, and then is there.
TEST(IommuDriver, PRI_08_PagesThatAreNotThereComeByPageRequests) {
  const RunResult result = sound_run(kPages + kNoUnmaps + Sets{"host.iommu_driver.premapped=0"});
  const IommuResult& agent = result.rows<IommuResult>().at(0);
  EXPECT_EQ(agent.maps, 63U) << "all but the pinned one";
  EXPECT_GE(agent.page_requests_served, 63U);
  EXPECT_EQ(agent.page_requests_served, agent.page_requests);
  EXPECT_EQ(agent.page_requests_refused, 0U);
  EXPECT_EQ(agent.faults, 0U);
  EXPECT_TRUE(result.errors.empty()) << result.errors.begin()->first;
}

// [PRI-40]
TEST(IommuDriver, PRI_40_ARefusedPageFailsItsTransfersAlone) {
  const RunResult result =
      sound_run(kPages + kNoUnmaps +
                Sets{"host.iommu_driver.premapped=0.5", "host.iommu_driver.refuse_fraction=0.5"});
  const IommuResult& agent = result.rows<IommuResult>().at(0);
  EXPECT_GT(agent.page_requests_refused, 5U);
  EXPECT_GT(agent.page_requests_served, 5U);
  EXPECT_EQ(agent.page_requests, agent.page_requests_refused + agent.page_requests_served);
}

// Without page requests the first access is lost, and its fault brings the page. [IOM-9.1]
TEST(IommuDriver, IOM_9_1_AFaultIsTakenAndBringsItsPage) {
  const RunResult result = sound_run(
      kNoUnmaps + Sets{"host.iommu_driver.premapped=0", "iommu.capabilities.fault_records=4"});
  const IommuResult& agent = result.rows<IommuResult>().at(0);
  EXPECT_EQ(agent.maps, 63U);
  EXPECT_GE(agent.faults_taken, 63U);
  EXPECT_LE(agent.faults_taken, agent.faults);
  EXPECT_EQ(result.errors.at("iommu_driver_fault_71"), agent.faults_taken);
  EXPECT_EQ(result.errors.at("translation_fault"), agent.faults);
}

// Records that find no room are lost, and the driver goes on. [PAS-37]
TEST(IommuDriver, PAS_37_AnOverflowOfFaultsIsCleared) {
  const RunResult result =
      sound_run(kNoUnmaps + Sets{"host.iommu_driver.premapped=0", "workload.rate=50Mreq/s"});
  EXPECT_GT(result.errors.at("iommu_driver_fault_overflow"), 0U);
  EXPECT_GT(result.rows<IommuResult>().at(0).maps, 50U);
}

// [PRI-13] [PRI-15] Two devices ask for more than the queue takes; what is answered without
// software asks again.
TEST(IommuDriver, PRI_13_AnOverflowOfPageRequestsIsCleared) {
  const RunResult result =
      sound_run(kPages + kNoUnmaps +
                Sets{"system.devices=2", "host.iommu_driver.premapped=0",
                     "host.iommu_driver.step=2us", "host.iommu_driver.page_request_queue=4KiB",
                     "device.pri.capacity=512", "device.pri.allocation=512", "workload.kind=read",
                     "workload.rate=50Mreq/s", "workload.buffer_size=64KiB"});
  EXPECT_GT(result.errors.at("iommu_driver_page_request_overflow"), 0U);
  EXPECT_GT(result.rows<IommuResult>().at(0).page_requests_dropped, 0U);
  EXPECT_GT(result.rows<IommuResult>().at(0).maps, 500U);
}

// The queue holds 127 requests, and eight devices miss all their pages at once. [PRI-15] [PRI-16]
TEST(IommuDriver, PRI_15_OverflowsOfABurstAreCleared) {
  LoadOptions options;
  options.seed = 3;
  System system(config_from_text(R"(
system: {devices: 8}
iommu: {translation: first_stage}
device: {atc: {enabled: true}, pri: {enabled: true, allocation: 64}}
host: {iommu_driver: {enabled: true, page_request_queue: 4KiB, premapped: 0, step: 200ns}}
workload:
  {kind: read, payload: 64B, domains: 64, buffer_size: 16KiB, placement: random, requests: 2000,
   arrival: closed_loop}
)",
                                 "burst.yaml", "", options));
  const RunResult result = system.run();
  for (const CheckResult& one : result.checks) {
    EXPECT_TRUE(one.ok) << one.name << ": " << one.detail;
  }
  EXPECT_GT(result.rows<IommuResult>().at(0).page_requests_served, 1'000U);
  EXPECT_GT(result.errors.at("iommu_driver_page_request_overflow"), 2U);
}

// [IQU-07] Some answers come after the agent has given them up: the invalidation is repeated.
TEST(IommuDriver, IQU_07_AnInvalidationWithoutAnswerIsRepeated) {
  const RunResult result =
      sound_run(kPages + Sets{"host.iommu_driver.step=50ns", "link.timing.propagation=300ns",
                              "iommu.timing.invalidate_timeout=1us"});
  EXPECT_GT(result.errors.at("iommu_driver_invalidation_timeout"), 0U);
  EXPECT_GT(result.errors.at("iommu_driver_invalidation_completion_error"), 0U);
  EXPECT_GT(result.rows<IommuResult>().at(0).unmaps, 100U);
}

TEST(IommuDriver, WithNothingToDoItDoesNothing) {
  const RunResult result = sound_run(kAtc + kNoUnmaps);
  const IommuResult& agent = result.rows<IommuResult>().at(0);
  EXPECT_EQ(agent.maps + agent.unmaps + agent.invalidations + agent.faults_taken, 0U);
  EXPECT_TRUE(result.errors.empty());
}

// [IQU-16] One unmap by itself takes seven steps of 200 ns, and the way to the device and back.
TEST(IommuDriver, IQU_16_BatchesGetMoreDoneThanOneWaitForEach) {
  const RunResult result =
      sound_run(kAtc + Sets{"host.iommu_driver.unmap_rate=1e7", "host.iommu_driver.batch=16"});
  EXPECT_GT(static_cast<double>(result.rows<IommuResult>().at(0).unmaps) * 7 * 200,
            result.simulated.ns());
}

}  // namespace
}  // namespace flitwise::iommu_driver_test
