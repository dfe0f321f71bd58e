// SPDX-License-Identifier: Apache-2.0
// What has to hold between keys, each with a config that just holds and one that does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace flitwise::relations_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The config with these overrides is refused, and the message says so.
void expect_refused(const std::vector<std::string>& sets, const std::string& seen) {
  EXPECT_THAT(problems_of("", sets), ElementsAre(HasSubstr(seen)));
}
void expect_accepted(const std::vector<std::string>& sets) {
  EXPECT_THAT(problems_of("", sets), IsEmpty());
}

TEST(Relations, IdentityBdfNeedsAFunctionForEachDomain) {
  expect_accepted({"link.identity=bdf", "device.functions.count=4", "workload.domains=4"});
  expect_refused({"link.identity=bdf", "device.functions.count=4", "workload.domains=5"},
                 "5 domains with 4 function(s) and identity bdf");
}

TEST(Relations, DomainsBeyondThePasidsOfOneFunction) {
  expect_accepted({"workload.domains=5"});
  expect_refused({"workload.domains=5", "device.functions.has_pasid=false"}, "without PASID");
}

TEST(Relations, ChurnNeedsFunctionsOrPasidsForItsWholePool) {
  const std::string churn = "workload.domain_choice=churn";  // four domains for each live one
  const std::string bdf = "link.identity=bdf", functions = "device.functions.count=9";
  expect_accepted({bdf, functions, churn, "workload.domains=2"});
  expect_refused({bdf, functions, churn, "workload.domains=3"},
                 "12 domains (4 for each of 3 live ones) with 9 function(s) and identity bdf; "
                 "expected workload.domains up to 2, or more functions");
  expect_refused({bdf, "device.functions.count=3", churn, "workload.domains=1"},
                 "expected another workload.domain_choice, or more functions");
  const std::string narrow = "iommu.capabilities.pasid_bits=3";
  const std::string translated = "iommu.translation=first_stage";
  expect_accepted({churn, narrow, translated, "workload.domains=2"});
  expect_refused({churn, narrow, translated, "workload.domains=3"},
                 "expected workload.domains up to 2, or more functions, or more iommu.capab");
}

TEST(Relations, FunctionsThatCarryTheWorkloadAreThere) {
  const std::string three = "device.functions.count=3";
  expect_accepted({three, "workload.functions=vfs"});
  expect_accepted({three, "workload.functions=[0, 2]"});
  expect_refused(
      {three, "workload.functions=[1, 3]"},
      "function 3 of a device that has 3; expected device.functions.count of at least 4");
  expect_refused(
      {"workload.functions=vfs"},
      "function 1 of a device that has 1; expected device.functions.count of at least 2");
  expect_refused({three, "workload.functions=vfs", "link.identity=bdf", "workload.domains=3"},
                 "3 domains with 2 function(s) and identity bdf");
  for (const char* const list : {"[2, 1]", "[1, 1]", "[]", "[x]", "[256]", "pf"}) {
    expect_refused({"device.functions.count=256", std::string("workload.functions=") + list},
                   "expected all, vfs or a rising list of functions, such as [1, 2]");
  }
}

// [DHI D22]
TEST(Relations, DomainsThatAreContextsAreSeveralOfAProcess) {
  const std::string pairs = "workload.contexts.kind=queue_pair", domains = "workload.domains=8";
  const std::string eight = "workload.contexts.per_process=8", pf = "device.functions.count=1";
  const std::string bdf = "link.identity=bdf", four = "workload.contexts.per_process=4";
  expect_accepted({bdf, pf, pairs, eight, domains});
  expect_refused({bdf, pf, pairs, four, domains}, "8 domains with 1 function(s) and identity bdf");
  const std::string two = "device.functions.count=2",
                    system = "device.functions.pasid_space=system";
  expect_accepted({two, pairs, eight, domains});
  expect_accepted({system, pairs, eight, domains});
  expect_refused({two, system, pairs, eight, domains},
                 "8 contexts of a process in one of 2 functions, and PASIDs that the host gives");
  expect_refused(
      {pairs, domains, "iommu.translation=first_stage", "host.iommu_driver.enabled=true"},
      "a driver that maps and ends each domain as a process");
}

TEST(Relations, DomainsBeyondTheDomainIdsOfAHost) {
  const std::string translated = "iommu.translation=first_stage";
  const std::string small = "workload.buffer_size=4KiB";
  expect_accepted({small, "workload.domains=65536"});
  expect_accepted({small, "workload.domains=65535", translated});
  expect_refused(
      {small, "workload.domains=65536", translated},
      "translation for 65536 domains of ep0, each with tables and a Domain ID of its own, of "
      "which a host has 65535; expected workload.domains up to 65535, or "
      "iommu.translation off");
  const std::string churn = "workload.domain_choice=churn";  // four times as many
  expect_accepted({small, "workload.domains=16383", translated, churn});
  expect_refused({small, "workload.domains=16384", translated, churn}, "up to 16383, or");
  const std::string vfs = "workload.functions=vfs", two = "device.functions.count=2";
  expect_accepted({small, "workload.domains=65534", translated, vfs, two});
  expect_refused({small, "workload.domains=65535", translated, vfs, two}, "up to 65534, or");
  const std::string devices = "system.devices=2";
  expect_accepted({small, "workload.domains=32767", translated, devices});
  expect_refused({small, "workload.domains=32768", translated, devices},
                 "32768 domains of ep1 beside 32768 others");
  expect_refused({small, "workload.domains=5", translated, devices,
                  "system.instances.ep1.workload.domains=65531"},
                 "system.instances.ep1.workload.domains");
}

// [CFG-10]
TEST(Relations, DomainsBeyondThePasidsOfTheTranslationAgent) {
  const std::string functions = "device.functions.count=4";
  const std::string translated = "iommu.translation=first_stage";
  const std::string narrow = "iommu.capabilities.pasid_bits=3";
  const std::string by_host = "device.functions.pasid_space=system";
  expect_accepted({functions, narrow, "workload.domains=33"});
  expect_accepted({functions, narrow, translated, "workload.domains=32"});
  expect_refused({functions, narrow, translated, "workload.domains=33"},
                 "expected workload.domains up to 32, or more functions, or more iommu.capab");
  expect_accepted({functions, narrow, translated, by_host, "workload.domains=8"});
  expect_refused({functions, narrow, translated, by_host, "workload.domains=9"},
                 "expected workload.domains up to 8");
}

TEST(Relations, D23_FormOhcNeedsFlitMode) {
  expect_refused({"link.identity=dhi", "link.dhi_form=ohc"}, "not in flit mode");
  expect_accepted({"link.dhi_form=ohc"});  // which no message has
}

TEST(Relations, D23_FormRidDirectRefusesASwitch) {
  expect_accepted({"system.topology=switch", "link.identity=bdf_pasid"});
  expect_refused({"system.topology=switch", "link.identity=dhi"}, "rid_direct with a switch");
}

TEST(Relations, D23_FormRidFabricNeedsAnAwareSwitch) {
  expect_accepted({"system.topology=switch", "link.identity=dhi", "link.dhi_form=rid_fabric"});
  expect_refused({"system.topology=switch", "link.identity=dhi", "link.dhi_form=rid_fabric",
                  "system.switch_mode=legacy"},
                 "legacy switch");
}

TEST(Relations, FormsTagAndPrefixPassALegacySwitch) {
  for (const char* form : {"tag", "prefix"}) {
    expect_accepted({"system.topology=switch", "link.identity=dhi", "system.switch_mode=legacy",
                     "link.dhi_form=" + std::string(form)});
  }
}

TEST(Relations, LNK_9_8_TagsOf14BitsNeedFlitMode) {
  expect_accepted({"device.tag_bits=14", "link.preset=gen6x4"});
  expect_accepted({"device.tag_bits=14", "link.flit_mode=true"});
  expect_accepted({"device.tag_bits=14", "link.preset=cxl256_gen6x16"});
  expect_refused({"device.tag_bits=14"}, "14-bit tags without flit mode");
  expect_refused({"device.tag_bits=14", "link.preset=cxl68_gen5x16"},
                 "14-bit tags without flit mode");
}

TEST(Relations, FormTagHasTheRoomOfATag) {
  const std::vector<std::string> tag = {"link.identity=dhi", "link.dhi_form=tag"};
  const auto with = [&](const std::string& bits, const std::string& tag_bits) {
    std::vector<std::string> sets = tag;
    sets.push_back("device.dhi.bits=" + bits);
    sets.push_back("device.tag_bits=" + tag_bits);
    return sets;
  };
  expect_accepted(with("8", "8"));
  expect_accepted(with("10", "10"));
  expect_refused(with("9", "8"), "9-bit handles in a tag with 8 bits");
  expect_refused(with("11", "10"), "11-bit handles in a tag with 10 bits");
}

TEST(Relations, LNK_8_7_DataCreditsHoldOneLargestTlp) {
  expect_accepted({"link.mps=512B", "link.credits.posted_data=32"});
  expect_refused({"link.mps=512B", "link.credits.posted_data=31"}, "at least 32, or infinite");
  expect_accepted({"link.mps=512B", "link.credits.completion_data=infinite"});
  expect_refused({"link.mps=512B", "link.credits.completion_data=31"}, "completion_data");
}

TEST(Relations, LNK_8_8_UnscaledCreditsAreFew) {
  expect_refused({"link.credits.scaled=false", "link.credits.posted_data=2047",
                  "link.credits.nonposted_headers=127"},
                 "256 credits without scaled flow control");
  expect_accepted({"link.credits.scaled=false", "link.credits.posted_data=2047",
                   "link.credits.posted_headers=127", "link.credits.nonposted_headers=127"});
}

TEST(Relations, LNK_11_23_SharedCreditsNeedFlitMode) {
  const std::string shared = "link.shared_credits.posted_headers=8";
  expect_accepted({shared, "link.preset=gen6x4"});
  expect_accepted({shared, "link.flit_mode=true"});
  expect_accepted({shared, "link.preset=cxl256_gen6x16"});
  expect_refused({shared}, "shared credits without flit mode");
  expect_refused({shared, "link.preset=cxl68_gen5x16"}, "shared credits without flit mode");
  expect_refused({"link.shared_credits.posted_data=8"}, "shared credits without flit mode");
  expect_refused({"link.shared_credits.merged=true"}, "shared credits without flit mode");
}

TEST(Relations, LNK_11_23_SharedCreditsHaveHeadersAndStandBesideFiniteOnes) {
  const std::string preset = "link.preset=gen6x4";
  expect_refused({preset, "link.shared_credits.nonposted_data=8"},
                 "expected link.shared_credits.nonposted_headers of at least 1");
  expect_refused({preset, "link.shared_credits.completion_headers=8"},
                 "expected numbers for link.credits.completion_headers");
  expect_accepted({preset, "link.shared_credits.completion_headers=8",
                   "link.credits.completion_headers=8", "link.credits.completion_data=64"});
  expect_refused({preset, "link.shared_credits.posted_headers=8", "link.credits.posted_data=15"},
                 "at least 16, or infinite");  // however many are shared
}

TEST(Relations, LNK_11_26_MergedCreditsStandWithThoseOfPostedRequests) {
  const std::vector<std::string> merged = {
      "link.preset=gen6x4", "link.credits.completion_headers=8", "link.credits.completion_data=64",
      "link.shared_credits.merged=true"};
  const auto with = [&](const std::string& more) {
    std::vector<std::string> sets = merged;
    sets.push_back(more);
    return sets;
  };
  expect_accepted(with("link.shared_credits.posted_headers=8"));
  expect_refused(merged, "merged credits stand with those of posted requests");
  expect_refused(with("link.shared_credits.completion_headers=8"),
                 "merged credits stand with those of posted requests");
  expect_refused({"link.preset=gen6x4", "link.shared_credits.merged=true",
                  "link.shared_credits.posted_headers=8"},
                 "expected numbers for link.credits.completion_headers");
}

TEST(Relations, ReplayBufferHoldsOneTlp) {
  expect_accepted({"link.mps=4KiB", "link.replay_buffer=8KiB"});
  expect_refused({"link.mps=4KiB", "link.replay_buffer=4KiB"}, "cannot hold a TLP");
}

TEST(Relations, CrcFitsItsFlit) {
  expect_accepted({"message.flit_bits=17", "message.crc_bits=16"});
  expect_refused({"message.flit_bits=16", "message.crc_bits=16"}, "16 CRC bits in a flit of 16");
}

TEST(Relations, BitPackedRunsFromPointToPoint) {
  expect_accepted({"link.carrier=bit_packed"});
  expect_refused({"link.carrier=bit_packed", "system.topology=switch"}, "point to point");
  expect_refused({"link.carrier=bit_packed", "link.error_rate=1e-6"}, "no replay");
}

TEST(Relations, BuffersLieInMemory) {
  expect_accepted({"host.memory.size=8GiB", "workload.domains=4", "workload.buffer_size=1GiB"});
  expect_refused({"host.memory.size=8GiB", "workload.domains=5", "workload.buffer_size=1GiB"},
                 "end beyond the memory of 8GiB");
  expect_refused({"workload.buffer_base=16GiB"}, "beyond the memory");
  expect_refused({"workload.domains=1048576", "workload.buffer_size=1TiB"}, "beyond the memory");
  // A trace has none; the flushes of its handles read at their base.
  const std::string kind = "workload.kind=trace";
  const std::string file = "workload.trace=" FLITWISE_SOURCE_DIR "/README.md";
  expect_accepted({kind, file, "workload.domains=64", "workload.buffer_size=1GiB"});
  expect_accepted({kind, file, "workload.buffer_base=16GiB"});
  expect_refused({kind, file, "link.identity=dhi", "workload.buffer_base=16GiB"},
                 "flushes of handles read 16GiB, beyond the memory of 16GiB");
}

TEST(Relations, LNK_13_1_MemoryEndsBelowTheBarsThatASwitchKnows) {
  expect_accepted({"host.memory.size=2TiB"});
  expect_accepted({"host.memory.size=1TiB", "system.topology=switch"});
  expect_refused({"host.memory.size=2TiB", "system.topology=switch"},
                 "memory of 2TiB over the BARs of devices, which begin at 1TiB");
}

TEST(Relations, ARequestFitsItsBuffer) {
  expect_refused({"workload.payload=128KiB"}, "requests of 128KiB in a buffer of 64KiB");
  expect_refused({"workload.sizes=solar_2022", "workload.size_cap=128KiB"}, "messages of up to");
}

TEST(Relations, WorkingSetIsPartOfTheDomains) {
  expect_accepted({"workload.domain_choice=working_set", "workload.domains=64"});
  expect_refused({"workload.domain_choice=working_set", "workload.domains=63"},
                 "a working set of 64 out of 63");
}

TEST(Relations, HostilePacketsAreTlps) {
  expect_accepted({"workload.kind=hostile"});
  expect_refused({"workload.kind=hostile", "link.carrier=bit_packed"}, "hostile TLPs");
}

TEST(Relations, GrantedPasidsAreARange) {
  expect_accepted({"host.dhi.granted.first_pasid=4", "host.dhi.granted.last_pasid=4"});
  expect_refused({"host.dhi.granted.first_pasid=5", "host.dhi.granted.last_pasid=4"},
                 "PASIDs 5 to 4");
}

TEST(Relations, ARunThatConvergesWaitsForAFigure) {
  expect_refused({"run.until=converged", "run.converged.figures=[]"},
                 "no figure that is to be known");
  expect_accepted({"run.until=converged", "run.converged.figures=[dma_read_mean_ns]"});
  expect_accepted({"run.converged.figures=[]"});
}

TEST(Relations, LNK_9_18_NobodyCallsADeadlockBeforeARequestHasGivenUp) {
  expect_accepted({"run.deadlock_after=50ms"});
  expect_refused({"run.deadlock_after=49ms", "host.timing.completion_timeout=1ms"},
                 "expected run.deadlock_after of at least 50ms, or a shorter "
                 "device.timing.completion_timeout");
  expect_refused({"run.deadlock_after=1ms", "device.timing.completion_timeout=1ms",
                  "host.timing.completion_timeout=2ms"},
                 "host.timing.completion_timeout");
  expect_accepted({"run.deadlock_after=1ms", "device.timing.completion_timeout=1ms",
                   "host.timing.completion_timeout=1ms"});
}

TEST(Relations, NobodyCallsADeadlockBeforeATimerOrAStepIsOver) {
  expect_accepted({"link.cxl.timing.ack_after=100ms", "link.timing.replay_timeout=100ms"});
  expect_refused({"link.cxl.timing.ack_after=200ms"},
                 "expected run.deadlock_after of at least 200ms, or a shorter "
                 "link.cxl.timing.ack_after");
  expect_accepted({"link.cxl.timing.ack_after=200ms", "run.deadlock_after=200ms"});
  for (const char* const path :
       {"link.timing.replay_timeout", "link.cxl.timing.retry_timeout", "link.timing.retrain",
        "host.timing.software_step", "device.timing.pipeline", "iommu.timing.iotlb"}) {
    expect_refused({std::string(path) + "=101ms"}, std::string("or a shorter ") + path);
  }
}

// 16 flits are acknowledged at once; a buffer of fewer waits for the timer, there and back.
TEST(Relations, CXL_3_4_AckTimersOfSmallRetryBuffersAreOnTheWay) {
  const std::vector<std::string> cxl = {"link.preset=cxl68_gen5x16",
                                        "link.cxl.timing.ack_after=60ms"};
  const auto with = [&](const std::string& flits) {
    std::vector<std::string> sets = cxl;
    sets.push_back("link.cxl.retry_flits=" + flits);
    return sets;
  };
  expect_accepted(with("16"));
  expect_refused(with("15"), "60ms of it for each link.cxl.timing.ack_after");
}

// There and back: twice 50 ms and what the other times of the tables take by default.
TEST(Relations, NobodyCallsADeadlockBeforeARequestMayHavePassedAllParts) {
  expect_accepted({"device.timing.pipeline=30ms", "host.timing.root_port=19ms"});
  expect_refused({"device.timing.pipeline=30ms", "host.timing.root_port=20ms"},
                 "a request may take 101ms for its way there and back, 30ms of it for each "
                 "device.timing.pipeline; expected run.deadlock_after of at least 101ms");
  expect_refused({"device.cxl.timing.latency=60ms", "device.cxl.timing.controller=30ms"},
                 "of it for each device.cxl.timing.latency");
  expect_accepted(
      {"device.timing.pipeline=30ms", "host.timing.root_port=20ms", "run.deadlock_after=101ms"});
}

// Patience begins anew behind those.
TEST(Relations, TimesThatSomebodyHasSetHimselfMayBeLongerThanPatience) {
  expect_accepted({"device.dma.issue_interval=1s", "host.memory.timing.latency=1s",
                   "iommu.timing.invalidate_timeout=90s", "host.iommu_driver.map_latency=1s",
                   "host.iommu_driver.flush_after=1s", "host.iommu_driver.remap_after=1s",
                   "workload.requests=1000"});
}

// 1 MiB at 1 Mb/s takes 8.4 s, and a request a second takes a second.
TEST(Relations, NoRunIsLongerThanSimulatedTime) {
  const auto of = [](const std::string& requests, std::vector<std::string> more) {
    more.push_back("workload.requests=" + requests);
    return more;
  };
  const std::vector<std::string> slow_memory = {"host.memory.bandwidth=1Mb/s",
                                                "workload.payload=1MiB", "run.warmup=0",
                                                "workload.buffer_size=1MiB"};
  expect_accepted(of("1072", slow_memory));
  expect_refused(of("1073", slow_memory),
                 "1073 requests, the warm-up included, take 9001 s of simulated time or more; "
                 "expected at most 9000 s: fewer requests, or another host.memory.bandwidth");
  // 1 MiB in 16.4 us of 16 lanes with 32 Gb/s each.
  const std::vector<std::string> link = {"link.preset=gen5x16", "workload.payload=1MiB",
                                         "workload.buffer_size=1MiB", "run.warmup=0"};
  expect_accepted(of("549000000", link));
  expect_refused(of("550000000", link), "fewer requests, or another link.preset");
  const std::vector<std::string> arrivals = {"workload.arrival=poisson", "workload.rate=1req/s",
                                             "run.warmup=1000"};
  const std::vector<std::string> engine = {"device.dma.issue_interval=1s", "run.warmup=1000"};
  for (const std::vector<std::string>& pace : {arrivals, engine}) {
    expect_accepted(of("8000", pace));
    expect_refused(of("8001", pace), "9001 requests, the warm-up included, take 9001 s");
  }
}

TEST(Relations, BuffersAreWholePages) {
  expect_accepted({"workload.buffer_size=4KiB", "workload.buffer_base=8KiB"});
  expect_refused(
      {"workload.buffer_size=4160B"},
      "--set workload.buffer_size=4160B: 4160B of a buffer in pages; expected a multiple "
      "of 4KiB");
  expect_refused({"workload.buffer_base=64B"}, "64B of a buffer in pages");
}

TEST(Relations, WaysDivideTheEntriesOfAnAtc) {
  expect_accepted({"device.atc.entries=12", "device.atc.ways=4"});
  expect_refused({"device.atc.entries=12", "device.atc.ways=5"}, "12 entries in sets of 5");
}

TEST(Relations, PRI_19_PageRequestsNeedAts) {
  expect_accepted({"device.pri.enabled=true", "device.atc.enabled=true"});
  expect_refused({"device.pri.enabled=true"}, "page requests without ATS");
}

TEST(Relations, AnAtcIsForAddressesThatAreNotTranslatedYet) {
  expect_accepted({"device.atc.enabled=true", "workload.at=translated_pasid"});
  expect_refused({"device.atc.enabled=true", "workload.at=translated"}, "translated already");
  expect_refused({"device.atc.enabled=true", "link.carrier=bit_packed"}, "bit-packed carrier");
}

TEST(Relations, CFG_05_NoPageIsSmallerThanTheStu) {
  const std::vector<std::string> base = {"device.atc.enabled=true", "iommu.translation=first_stage",
                                         "device.atc.stu=9"};
  std::vector<std::string> large = base;
  large.emplace_back("iommu.page=2MiB");
  expect_accepted(large);
  expect_refused(base, "a smallest translation unit of 2MiB above pages of 4KiB");
}

TEST(Relations, ADriverMapsPagesOfOneStage) {
  const std::string enabled = "host.iommu_driver.enabled=true";
  expect_accepted({enabled, "iommu.translation=first_stage"});
  expect_accepted({enabled, "iommu.translation=second_stage"});
  expect_refused({enabled, "iommu.translation=nested"}, "maps pages with translation nested");
  expect_refused({enabled}, "maps pages with translation off");
  const std::string first = "iommu.translation=first_stage";
  expect_accepted({enabled, first, "iommu.secure_ats=true", "iommu.page=2MiB"});
  expect_refused({enabled, first, "iommu.secure_ats=true", "iommu.page=1GiB"},
                 "permits 4 KiB at a time, of pages of 1GiB");
  const std::string resets = "host.iommu_driver.teardown_reset=true";
  expect_accepted({enabled, first, resets, "workload.domains=4", "device.functions.count=4"});
  expect_refused({enabled, first, resets, "workload.domains=4", "device.functions.count=3"},
                 "a reset of functions that 4 domains share");
  expect_accepted({enabled, first, "workload.kind=hostile"});
}

TEST(Relations, TheKeyWrittenLastIsBlamed) {
  const std::string base = "link:\n  identity: bdf\nworkload:\n  domains: 2\n";
  EXPECT_THAT(problems_of(base), ElementsAre(HasSubstr("c.yaml:4:12: workload.domains")));
  EXPECT_THAT(problems_of("workload: {domains: 2}", {"link.identity=bdf"}),
              ElementsAre(testing::StartsWith("--set link.identity=bdf: 2 domains")));
}

TEST(Relations, AKeyThatIsWrongByItselfIsReportedOnce) {
  EXPECT_THAT(problems_of("message: {flit_bits: 200, crc_bits: 64}\n"), testing::SizeIs(1));
  EXPECT_THAT(problems_of("message: {flit_bits: 2, crc_bits: 64}\n"), testing::SizeIs(1));
}

}  // namespace
}  // namespace flitwise::relations_test
