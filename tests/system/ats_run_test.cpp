// SPDX-License-Identifier: Apache-2.0
// Whole runs of devices with an ATC: every form of identity, policies, replacement, several
// functions and devices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/load.h"
#include "flitwise/system.h"
#include "system/machine_bench.h"

namespace flitwise::ats_run_test {
namespace {

/// 4000 reads of 16 domains, each over four pages of its own.
RunResult run_with(const std::vector<std::string>& sets) {
  LoadOptions options;
  options.sets = sets;
  System system(config_from_text(R"(
iommu: {translation: first_stage}
device: {atc: {enabled: true, entries: 128}}
workload: {kind: read, payload: 64B, domains: 16, requests: 4000}
)",
                                 "ats.yaml", "", options));
  RunResult result = system.run();
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  EXPECT_TRUE(result.violations.empty()) << text_of(result.violations);
  EXPECT_TRUE(result.errors.empty()) << result.errors.begin()->first;
  return result;
}

class AtsForms : public ::testing::TestWithParam<std::vector<std::string>> {};

TEST_P(AtsForms, EachPageIsAskedForOnce) {
  const RunResult result = run_with(GetParam());
  ASSERT_EQ(result.rows<AtsResult>().size(), 1U);
  const AtsResult& ats = result.rows<AtsResult>()[0];
  EXPECT_EQ(ats.function, "ep0.0");
  EXPECT_EQ(ats.requests, 64U);
  EXPECT_EQ(ats.lookups(), 4000U);
  EXPECT_GT(ats.hits, 3000U);
}
INSTANTIATE_TEST_SUITE_P(
    Forms, AtsForms,
    ::testing::Values(std::vector<std::string>{"link.identity=bdf_pasid"},
                      std::vector<std::string>{"link.identity=dhi"},
                      std::vector<std::string>{"link.identity=dhi", "device.dhi.bits=3"},
                      std::vector<std::string>{"link.identity=dhi", "link.dhi_form=rid_fabric",
                                               "system.topology=switch"},
                      std::vector<std::string>{"link.identity=dhi", "link.dhi_form=prefix"},
                      std::vector<std::string>{"link.identity=dhi", "link.dhi_form=tag"},
                      std::vector<std::string>{"system.topology=switch"},
                      std::vector<std::string>{"workload.real_payload=false"},
                      std::vector<std::string>{"workload.at=translated_pasid"},
                      std::vector<std::string>{"link.rcb=128B"}));

// Translations, invalidations and what answers them are nobody's payload: the answers to reads are
// all there is, in either mode, and goodput is that of the requests.
TEST(AtsRun, WhatTheProtocolSaysIsNoPayload) {
  const RunResult result = run_with({});
  const LinkResult& link = result.rows<LinkResult>().at(0);
  EXPECT_EQ(link.down.payload_bytes, 4000U * 64);
  EXPECT_EQ(link.down.bits.payload, 4000U * 64 * 8);
  EXPECT_EQ(link.up.payload_bytes, 0U);
  EXPECT_EQ(link.up.bits.payload, 0U);
}
TEST(AtsRun, WhatTheProtocolSaysIsNoPayloadInFlitsEither) {
  const RunResult result = run_with({"link.preset=gen6x16"});
  const LinkResult& link = result.rows<LinkResult>().at(0);
  EXPECT_EQ(link.down.payload_bytes, 4000U * 64);
  EXPECT_EQ(link.down.bits.payload, 4000U * 64 * 8);
  EXPECT_EQ(link.up.payload_bytes, 0U);
}

TEST(AtsRun, WritesAreTranslatedToo) {
  const RunResult result = run_with({"workload.kind=posted_write"});
  EXPECT_EQ(result.rows<AtsResult>().at(0).requests, 64U);
}

// A page that was read first is asked for again before it is written, and never after that.
TEST(AtsRun, ATR_15_MixedTrafficAsksAtMostTwiceForAPage) {
  const RunResult result = run_with({"workload.kind=read_write"});
  EXPECT_GE(result.rows<AtsResult>().at(0).requests, 64U);
  EXPECT_LE(result.rows<AtsResult>().at(0).requests, 3U * 64U);
}

TEST(AtsRun, TheNicProfileRuns) {
  run_with({"workload.kind=nic", "workload.requests=500"});
}

TEST(AtsRun, CFG_07_EachFunctionOfTheDeviceHasItsCounts) {
  const RunResult result = run_with(
      {"link.identity=bdf", "device.functions.count=16", "device.functions.has_pasid=false"});
  ASSERT_EQ(result.rows<AtsResult>().size(), 16U);
  EXPECT_EQ(result.rows<AtsResult>()[15].function, "ep0.15");
  for (const AtsResult& ats : result.rows<AtsResult>()) {
    EXPECT_EQ(ats.requests, 4U) << ats.function;
  }
}

TEST(AtsRun, EachDeviceHasItsOwn) {
  const RunResult result = run_with({"system.devices=2"});
  ASSERT_EQ(result.rows<AtsResult>().size(), 2U);
  EXPECT_EQ(result.rows<AtsResult>()[1].function, "ep1.0");
  EXPECT_EQ(result.rows<AtsResult>()[1].requests, 64U);
}

// [TCP-21] One entry for 64 pages: nearly every access asks, and all of them get through.
TEST(AtsRun, TCP_21_ACacheOfOneEntryStillServesAll) {
  const RunResult result = run_with({"device.atc.entries=1"});
  EXPECT_GT(result.rows<AtsResult>().at(0).requests, 3U * 64U);
}

// [ATR-29]
TEST(AtsRun, ATR_29_WithoutHintsNobodyAsks) {
  const RunResult result = run_with({"device.atc.when=hint", "device.atc.hinted_domains=4"});
  EXPECT_EQ(result.rows<AtsResult>().at(0).requests, 16U);
}
TEST(AtsRun, ATR_29_OnlyPagesThatAreUsedAgainAreAskedFor) {
  const RunResult result = run_with(
      {"device.atc.when=reuse", "device.atc.reuse_threshold=40", "device.atc.reuse_pages=1024"});
  // At least 58 reads for each of 64 pages, the first 39 of which go untranslated.
  EXPECT_EQ(result.rows<AtsResult>().at(0).requests, 64U);
  EXPECT_GE(result.rows<AtsResult>().at(0).misses, 64U * 39U);
}
// [ATR-21]
TEST(AtsRun, ATR_29_PagesAheadAreAskedForAsWell) {
  const RunResult result = run_with({"device.atc.when=prefetch", "device.atc.pages_ahead=3"});
  EXPECT_EQ(result.rows<AtsResult>().at(0).requests, 16U);  // 64 pages, four in each
}

/// Writes that go untranslated until their page has missed 20 times, with IDO, few credits and a
/// link that lets pass what may.
RunResult mixed_writes(const std::string& at) {
  return run_with({"workload.kind=posted_write", "workload.at=" + at, "device.atc.when=reuse",
                   "device.atc.reuse_threshold=20", "device.dma.id_based_ordering=true",
                   "link.relaxed_passing=eager", "link.credits.posted_headers=4"});
}
// [LNK-9.1] Only untranslated ones name their PASID: a domain must not be taken for two.
TEST(AtsRun, LNK_9_1_IdBasedOrderingDoesNotTearADomainApart) {
  EXPECT_GT(mixed_writes("untranslated").rows<AtsResult>().at(0).hits, 0U);
}
TEST(AtsRun, LNK_9_1_IdBasedOrderingStaysWhereAllNameTheirPasid) {
  EXPECT_GT(mixed_writes("translated_pasid").rows<AtsResult>().at(0).hits, 0U);
}

// Each of eight TLPs of a write asks once; the first misses, and the others wait for the same
// reply. The agent counts the same where they come to it untranslated.
TEST(AtsRun, HitsMissesAndMissesUnderAMissAreTheLookUps) {
  const RunResult result =
      run_with({"workload.kind=posted_write", "workload.payload=4096B", "link.mps=512B",
                "workload.buffer_size=4MiB", "workload.placement=random", "workload.requests=500"});
  const AtsResult& ats = result.rows<AtsResult>().at(0);
  EXPECT_EQ(ats.lookups(), 8U * 500);
  EXPECT_GT(ats.misses, 400U);
  // Seven TLPs wait with the one that misses; all eight do where the page is asked for already.
  EXPECT_GE(ats.misses_under_miss, 7 * ats.misses);
  EXPECT_EQ(ats.hits % 8, 0U);
  const IommuResult& agent = result.rows<IommuResult>().at(0);
  EXPECT_EQ(agent.translated_requests, 8U * 500);
  EXPECT_EQ(agent.iotlb_lookups(), agent.requests - agent.translated_requests);
  EXPECT_EQ(agent.iotlb_lookups(), ats.requests);
}
// Six requests for eight translations each give 48 pages, one after the other.
TEST(AtsRun, ARequestForSeveralTranslationsIsOneRequestAndManyLookUps) {
  const RunResult result =
      run_with({"workload.domains=1", "workload.buffer_size=192KiB", "workload.requests=3072",
                "device.dma.outstanding=1", "device.atc.translations=8"});
  const IommuResult& agent = result.rows<IommuResult>().at(0);
  EXPECT_EQ(result.rows<AtsResult>().at(0).requests, 6U);
  EXPECT_EQ(agent.translated_requests, 3072U);
  EXPECT_EQ(agent.requests, 3072U + 6);
  EXPECT_EQ(agent.iotlb_lookups(), 48U);
}

// A write whose translation is there, and which waits behind others, goes by it even where the
// cache has given it up meanwhile: no hit asks. [TCP-09]
TEST(AtsRun, AHitThatWaitsForItsTurnAsksForNothing) {
  const RunResult result =
      run_with({"link.preset=gen3x8", "workload.kind=posted_write", "workload.requests=1500",
                "run.warmup=500", "workload.domains=64", "workload.placement=random",
                "device.atc.entries=64", "device.atc.translations=4", "device.atc.requests=4"});
  const AtsResult& ats = result.rows<AtsResult>().at(0);
  EXPECT_EQ(ats.lookups(), 1500U);
  EXPECT_GT(ats.hits, 100U);
  EXPECT_LE(ats.requests, ats.misses);
}

TEST(AtsRun, TheAgentCountsMissesUnderAMissAsTheAtcDoes) {
  const RunResult result =
      run_with({"device.atc.enabled=false", "workload.kind=posted_write", "workload.payload=4096B",
                "link.mps=512B", "workload.domains=1", "workload.buffer_size=64MiB",
                "workload.placement=random", "workload.requests=500"});
  const IommuResult& agent = result.rows<IommuResult>().at(0);
  EXPECT_EQ(agent.iotlb_lookups(), 8U * 500);
  EXPECT_EQ(agent.iotlb_lookups(), agent.requests);
  EXPECT_GT(agent.iotlb_misses, 400U);
  EXPECT_LE(agent.iotlb_misses, 500U);
  EXPECT_GT(agent.iotlb_misses_under_miss, 5 * agent.iotlb_misses);
}
// The 64 pages are known when counting begins.
TEST(AtsRun, FiguresOfTheAgentAreOfTheMeasuredWindow) {
  const RunResult result =
      run_with({"device.atc.enabled=false", "workload.kind=read", "workload.buffer_size=16KiB",
                "device.dma.outstanding=1", "run.warmup=4096"});
  const IommuResult& agent = result.rows<IommuResult>().at(0);
  EXPECT_EQ(agent.iotlb_hits, 4000U);
  EXPECT_EQ(agent.requests, 4000U);
  EXPECT_EQ(agent.walks + agent.walk_reads + agent.iotlb_misses, 0U);
}

// [SFE-04] One translation serves 2 MiB.
TEST(AtsRun, SFE_04_ALargePageIsAskedForOnce) {
  const RunResult result = run_with({"iommu.page=2MiB", "device.atc.stu=9"});
  EXPECT_EQ(result.rows<AtsResult>().at(0).requests, 16U);
}

TEST(AtsRun, SmallCreditsAndFewTagsGetThrough) {
  run_with({"device.tag_bits=5", "device.atc.requests=1", "link.credits.nonposted_headers=1",
            "device.atc.entries=4"});
}

// The same seed gives the same run; nothing is there where the ATC is off.
TEST(AtsRun, WithoutAnAtcThereAreNoCounts) {
  EXPECT_TRUE(run_with({"device.atc.enabled=false"}).rows<AtsResult>().empty());
}
TEST(AtsRun, WithoutTranslationSoftwareEnablesNothing) {
  EXPECT_TRUE(run_with({"iommu.translation=off"}).rows<AtsResult>().empty());
}

// Without a boot everything stands as software would leave it.
TEST(AtsRun, CFG_07_AnUntimedSetUpEnablesEveryFunction) {
  LoadOptions options;
  options.sets = {
      "iommu.translation=first_stage", "device.atc.enabled=true", "device.pri.enabled=true",
      "device.functions.count=3",      "workload.domains=6",      "workload.kind=read",
      "workload.requests=600"};
  MachineBench bench(config_from_text("", "ats.yaml", "", options));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.machine.set_up_at_once();
  ASSERT_TRUE(bench.run_workload());
  const RunResult result = bench.machine.result();
  ASSERT_EQ(result.rows<AtsResult>().size(), 3U);
  for (const AtsResult& ats : result.rows<AtsResult>()) {
    EXPECT_EQ(ats.lookups(), 200U);
    EXPECT_EQ(ats.requests, 4U) << ats.function;  // two domains, 100 reads of 64 bytes each
  }
  EXPECT_TRUE(bench.machine.endpoint("ep0")->target().page_requests()->is_enabled());
  EXPECT_TRUE(result.errors.empty());
}

}  // namespace
}  // namespace flitwise::ats_run_test
