// SPDX-License-Identifier: Apache-2.0
// Which keys are said to have no effect: those that the file itself or an option gives, and that no
// part of the machine reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/ranges.h"
#include "config/sections/sections.h"
#include "support/temporary_folder.h"
#include "unit/config/support.h"

namespace flitwise::effect_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// Those that have none, each as Problem::text() has it.
std::vector<std::string> idle_of(const LoadNotes& notes) {
  return mapped(those(notes.given, [](const Problem& key) { return !key.message.empty(); }),
                &Problem::text);
}

std::vector<std::string> idle(const std::string& yaml, const std::vector<std::string>& sets = {}) {
  LoadNotes notes;
  config_from_text(yaml, "c.yaml", "", {sets, {}}, &notes);
  return idle_of(notes);
}

TEST(Effect, AKeyThatTheRunDoesNotReadIsSaidAtItsPlaceWithTheReason) {
  EXPECT_THAT(idle("workload:\n  requests: 5\n  rate: 2Mreq/s\n"),
              ElementsAre("c.yaml:3:9: workload.rate: because workload.arrival is closed_loop (it "
                          "is read where workload.arrival is poisson, cbr or on_off and "
                          "workload.kind is posted_write, read, read_write or nic)"));
  EXPECT_THAT(idle("workload: {rate: 2Mreq/s, arrival: cbr}\n"), IsEmpty());
}

TEST(Effect, AnOptionIsItsOwnPlaceAndWinsOverTheFile) {
  EXPECT_THAT(idle("device: {dhi: {bits: 4}}\n", {"device.dhi.bits=6"}),
              ElementsAre(StartsWith("--set device.dhi.bits=6: device.dhi.bits: because "
                                     "link.identity is bdf_pasid (it is read where")));
  EXPECT_THAT(idle("device: {dhi: {bits: 4}}\n", {"link.identity=dhi"}), IsEmpty());
}

TEST(Effect, LR_1_RecoveryIsNotReadWhereReceiversKeepOrder) {
  const std::string packets =
      "network: {mode: packet, topology: switch}\ndevice: {srdma: {enabled: true, recovery: "
      "selective, receive: ";
  EXPECT_THAT(idle(packets + "reorder}}\n"), IsEmpty());
  EXPECT_THAT(idle(packets + "in_order}}\n"),
              ElementsAre(HasSubstr("because device.srdma.receive is in_order")));
}

TEST(Effect, DHI_D20_CapabilitiesOfRequestsInFullAreThoseOfAConfiguredGrant) {
  const std::string checks = "host: {dhi: {check_capabilities: true, grant: ";
  EXPECT_THAT(idle(checks + "configured}}\n"), IsEmpty());
  EXPECT_THAT(idle(checks + "any}}\n"), ElementsAre(HasSubstr("host.dhi.check_capabilities")));
}

TEST(Effect, AValueThatIsTheDefaultAnywayIsSaidAsWell) {
  EXPECT_THAT(idle("workload: {zipf_exponent: 0.99}\n"),
              ElementsAre(HasSubstr("because workload.domain_choice is round_robin")));
}

TEST(Effect, KeysOfABaseAreNotSaidUnlessTheFileGivesThemAgain) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("base.yaml")) << "device: {dhi: {bits: 4, victim: lfu}}\n";
  std::ofstream(folder.file("own.yaml")) << "base: base.yaml\ndevice: {dhi: {bits: 4}}\n";
  LoadNotes notes;
  load_config(folder.file("own.yaml"), {}, &notes);
  EXPECT_THAT(idle_of(notes), ElementsAre(HasSubstr("own.yaml:2:22: device.dhi.bits: because")));
  EXPECT_EQ(notes.base_file, folder.file("base.yaml"));
}

TEST(Effect, AKeyIsReadWhereAnyPartOfTheMachineReadsIt) {
  const std::string two = "system: {devices: 2, instances: {ep1: {workload.arrival: poisson}}}\n";
  EXPECT_THAT(idle("workload: {rate: 2Mreq/s}\n" + two), IsEmpty());
  EXPECT_THAT(idle("iommu: {page: 2MiB}\nsystem: {hosts: 2, instances: {h1: {iommu.translation: "
                   "first_stage}}}\n"),
              IsEmpty());
}

// Payload has the places of the rings, memory is pinned, and the physical function traps nothing.
TEST(Effect, WhatSoftwareOfAnRdmaAdapterDoesNotReadIsSaid) {
  const auto with = [](const std::string& more, const std::vector<std::string>& sets = {}) {
    return idle("system: {devices: 2, instances: {ep0: {device.rdma.peer: ep1}}}\n" + more, sets);
  };
  EXPECT_THAT(with("workload: {via: rdma, placement: random}\n"),
              ElementsAre(HasSubstr("workload.placement: because workload.via is rdma")));
  EXPECT_THAT(with("workload: {via: rdma}\niommu: {translation: first_stage}\n"
                   "host: {iommu_driver: {enabled: true, map_latency: 1us}}\n"),
              ElementsAre(HasSubstr("map_latency: because workload.via is rdma")));
  const std::string trap = "workload: {via: rdma}\nhost: {verbs: {timing: {trap: 1us}}}\n";
  EXPECT_THAT(with(trap), ElementsAre(HasSubstr("trap: because device.functions.count is 1")));
  EXPECT_THAT(with(trap, {"device.functions.count=2"}), IsEmpty());
}

TEST(Effect, AnInstanceIsAskedByItsOwnValues) {
  const auto with = [](const std::string& own) {
    return idle("system: {devices: 2, instances: {ep1: {workload.rate: 2Mreq/s" + own + "}}}\n");
  };
  EXPECT_THAT(
      with(""),
      ElementsAre(HasSubstr("system.instances.ep1.workload.rate: because workload.arrival is")));
  EXPECT_THAT(with(", workload.arrival: poisson"), IsEmpty());
  EXPECT_THAT(idle("system: {devices: 2, instances: {ep0: {workload.rate: 2Mreq/s}, ep1: "
                   "{workload.arrival: poisson}}}\n"),
              ElementsAre(HasSubstr("system.instances.ep0.workload.rate")));
}

// The translation agent belongs to the host; what a host overrides counts for devices below.
TEST(Effect, WhatAHostOverridesCountsForItsDevices) {
  const auto with = [](const std::string& host) {
    return idle("device: {atc: {enabled: true}}\nsystem: {hosts: 2, instances: {" + host +
                ": {iommu.translation: first_stage}, h1.ep0: {device.atc.requests: 4}}}\n");
  };
  EXPECT_THAT(with("h1"), IsEmpty());
  EXPECT_THAT(with("h0"), ElementsAre(HasSubstr("system.instances.h1.ep0.device.atc.requests")));
}

TEST(Effect, AHostIsAskedForAllOfItsDevices) {
  const auto with = [](const std::string& link) {
    return idle("system: {hosts: 2, devices: 3, instances: {h1: {host.dhi.report_errors: false}, " +
                link + ": {link.identity: dhi}}}\n");
  };
  for (const char* const own : {"h1.rp0-h1.ep0", "h1.rp1-h1.ep1", "h1.rp2-h1.ep2"}) {
    EXPECT_THAT(with(own), IsEmpty()) << own;
  }
  EXPECT_THAT(with("rp2-ep2"),
              ElementsAre(HasSubstr("system.instances.h1.host.dhi.report_errors")));
}

// Devices that share a table share its handles, whether or not each of them uses its own.
TEST(Effect, TheWidthOfHandlesInASharedTableCountsForOthers) {
  const auto with = [](const std::string& table) {
    return idle("link: {identity: dhi}\nhost: {dhi: {table: " + table +
                "}}\nsystem: {devices: 2, instances: {rp1-ep1: {link.identity: bdf_pasid}, ep1: "
                "{device.dhi.bits: 4}}}\n");
  };
  EXPECT_THAT(with("shared"), IsEmpty());
  EXPECT_THAT(with("per_device"),
              ElementsAre(HasSubstr("system.instances.ep1.device.dhi.bits: because link.identity "
                                    "is bdf_pasid")));
}

// A key that no part of the machine reads decides nothing about others.
TEST(Effect, AReceiveEngineIsReadWhereItIsThePeerOfAnotherDevice) {
  const std::string pio = "device: {functions: {bar_size: 64MiB}}\nworkload: {via: pio}\n";
  EXPECT_THAT(idle(pio, {"device.pio.receive.buffer=32KiB"}),
              ElementsAre(HasSubstr("because device.pio.egress.peer is none")));
  const std::string two =
      "system: {devices: 2, instances: {ep0: {device.pio.egress.peer: ep1}, ep1: "
      "{device.pio.receive.buffer: 32KiB}}}\n";
  EXPECT_THAT(idle(two + pio), IsEmpty());
}

// What the whole says of send memory is for devices without a value of their own.
TEST(Effect, AKeyOfTheWholeThatEachDeviceHasForItselfIsReadNowhere) {
  const auto with = [](const std::string& ep1) {
    return idle(
        "device: {functions: {bar_size: 64MiB}, pio: {egress: {peer: none}}}\nworkload: "
        "{via: pio}\nsystem: {devices: 2, instances: {ep0: {device.pio.egress.peer: ep1}, "
        "ep1: {device.pio." +
        ep1 + "}}}\n");
  };
  EXPECT_THAT(with("egress.peer: ep0"),
              ElementsAre("c.yaml:1:61: device.pio.egress.peer: because each device has its own in "
                          "system.instances"));
  EXPECT_THAT(with("depth: 32"), IsEmpty());
}

TEST(Effect, AConditionOnAKeyWithoutEffectDoesNotHold) {
  EXPECT_THAT(idle("host: {dhi: {table: shared}}\ndevice: {dhi: {bits: 4}}\n"),
              ElementsAre(HasSubstr("host.dhi.table: because link.identity is bdf_pasid"),
                          HasSubstr("device.dhi.bits: because link.identity is bdf_pasid")));
  EXPECT_THAT(idle("link: {identity: dhi}\nhost: {dhi: {table: shared}}\ndevice: {dhi: {bits: 4, "
                   "enabled: false}}\n"),
              IsEmpty());
  EXPECT_THAT(idle("workload: {kind: hostile, sizes: google_rpc_2008, size_cap: 1KiB}\n"),
              ElementsAre(HasSubstr("workload.sizes: because workload.kind is hostile"),
                          HasSubstr("workload.size_cap: because workload.kind is hostile")));
}

TEST(Effect, OfTwoKeysThatNeedEachOtherTheOneInTheWayIsRead) {
  EXPECT_THAT(idle("link: {identity: dhi}\ndevice: {dhi: {supported: false, enabled: true}}\n"),
              ElementsAre(HasSubstr("device.dhi.enabled: because device.dhi.supported is false")));
}

TEST(Effect, TranslationIsForRequestsByDmaAndOfCaches) {
  const std::string cxl =
      "link: {preset: cxl68_gen5x16}\ndevice: {cxl: {cache: {size: 64KiB}, memory: 16GiB}, atc: "
      "{entries: 8}}\niommu: {translation: first_stage, iotlb: {entries: 8}}\n";
  const std::string via = "workload: {buffer_base: 0B, via: ";
  EXPECT_THAT(idle(cxl + via + "cxl_mem}\n", {"device.atc.enabled=true"}),
              ElementsAre(HasSubstr("device.atc.entries: because workload.via is cxl_mem"),
                          HasSubstr("iommu.translation: because workload.via is cxl_mem"),
                          HasSubstr("iommu.iotlb.entries: because workload.via is cxl_mem"),
                          HasSubstr("device.atc.enabled: but for its capability")));
  EXPECT_THAT(idle(cxl + via + "cxl_cache}\n", {"device.atc.enabled=true"}), IsEmpty());
  EXPECT_THAT(idle(cxl.substr(cxl.find("iommu")) + via + "dma}\n"), IsEmpty());
}

TEST(Effect, HandlesThatSoftwareGivesAreNotTheDevicesToChoose) {
  const auto with = [](const std::string& who) {
    return idle("link: {identity: dhi}\ndevice: {dhi: {management: " + who +
                ", victim: lfu, prefer_ended: false, prefer_idle: false, dealloc: explicit, "
                "alloc_order: ack, on_miss: bypass, allocate_at: context_creation, bits: 4}}\n");
  };
  EXPECT_THAT(with("device"), IsEmpty());
  const auto found = with("software");
  EXPECT_EQ(found.size(), 7U) << ::testing::PrintToString(found);
  EXPECT_THAT(found, testing::Each(HasSubstr("because device.dhi.management is software")));
}

TEST(Effect, HostileDevicesChooseTheirFunctionsThemselves) {
  const std::string hostile =
      "device: {functions: {count: 4}}\nworkload: {kind: hostile, functions: vfs}\n";
  EXPECT_THAT(idle(hostile),
              ElementsAre(AllOf(HasSubstr("workload.functions: but for the capacity of tags"),
                                HasSubstr("because workload.kind is hostile"))));
  EXPECT_THAT(idle(hostile + "iommu: {translation: first_stage}\n"), IsEmpty())
      << "tables know the functions";
}

TEST(Effect, AChoiceAmongDomainsNeedsSeveral) {
  EXPECT_THAT(idle("workload: {domain_choice: zipf, zipf_exponent: 1.5, domains: 1}\n"),
              ElementsAre(HasSubstr("workload.zipf_exponent: because workload.domains is 1")));
  EXPECT_THAT(idle("workload: {domain_choice: zipf, zipf_exponent: 1.5, domains: 2}\n"), IsEmpty());
}

TEST(Effect, PagesPromisedWithoutPageRequestsAreNamedAlone) {
  EXPECT_THAT(idle("iommu: {translation: first_stage}\ndevice: {atc: {enabled: true}, pri: "
                   "{allocation: 5}}\n"),
              ElementsAre(HasSubstr("device.pri.allocation: but for the capacity that the table of "
                                    "waits names, because device.pri.enabled is false")));
}

TEST(Effect, ConditionsSayEachThingOnce) {
  using config::is, config::is_not;
  const config::Condition few = is("workload.kind", {"read", "nic"});
  const config::Condition more = is("workload.kind", {"read", "nic", "trace"});
  const config::Condition gen6 = is("link.preset", {"gen6*"});
  EXPECT_EQ((few && more).text(), few.text());
  EXPECT_EQ((more && few).text(), few.text());
  EXPECT_EQ((few || more).text(), more.text());
  EXPECT_EQ(((few || gen6) && (is("workload.kind", {"trace"}) || gen6)).text(), gen6.text())
      << "no kind is both";
  EXPECT_EQ(((few || gen6) && is_not("workload.kind", {"read", "nic"})).text(),
            "link.preset is gen6* and workload.kind is not read or nic");
  EXPECT_EQ((is("link.preset", {"gen6x16"}) && gen6).text(), "link.preset is gen6x16");
  EXPECT_EQ((few && is_not("workload.kind", {"hostile"})).text(), few.text());
}

// What is changed all the same is said with it: registers that software reads at boot.
TEST(Effect, WhatAKeyChangesAllTheSameIsSaidWithIt) {
  EXPECT_THAT(idle("", {"device.atc.enabled=true"}),
              ElementsAre(HasSubstr("device.atc.enabled: but for its capability, which software "
                                    "reads at boot, because iommu.translation is off")));
}

TEST(Effect, OfSeveralWaysTheNearestIsNamed) {
  EXPECT_THAT(idle("workload: {kind: trace, trace: " FLITWISE_SOURCE_DIR
                   "/README.md, arrival: poisson, rate: 1Mreq/s}\n"),
              ElementsAre(HasSubstr("workload.arrival: because workload.kind is trace"),
                          HasSubstr("workload.rate: because workload.kind is trace")));
  EXPECT_THAT(idle("workload: {kind: trace, trace: " FLITWISE_SOURCE_DIR
                   "/README.md, buffer_base: 1GiB, buffer_size: 1MiB}\n"),
              ElementsAre(HasSubstr("workload.buffer_base: because workload.kind is trace"),
                          HasSubstr("workload.buffer_size: because workload.kind is trace")));
  EXPECT_THAT(idle("link: {identity: dhi}\nworkload: {kind: trace, trace: " FLITWISE_SOURCE_DIR
                   "/README.md, buffer_base: 1GiB}\n"),
              IsEmpty());  // where its flushes read
  EXPECT_THAT(idle("link: {error_burst: 4, preset: gen6x16}\n"),
              ElementsAre(HasSubstr("because link.error_rate is 0.0 (")));
}

TEST(Effect, EveryConditionIsAboutKeysAndValuesThatThereAre) {
  std::size_t conditions = 0;
  for (const config::Key& key : config::all_rows()) {
    for (const std::vector<config::KeyTest>& tests : config::read_when(key.path).alternatives) {
      ++conditions;
      EXPECT_FALSE(tests.empty()) << key.path;
      for (const config::KeyTest& test : tests) {
        const config::Key* const other = config::find_row(test.path);
        ASSERT_NE(other, nullptr) << key.path << " is read when " << test.path;
        EXPECT_NE(test.path, key.path);
        EXPECT_FALSE(test.values.empty()) << key.path;
        for (const std::string& value : test.values) {
          const std::string front = value.substr(0, value.find('*'));
          EXPECT_TRUE(other->values.empty() || value.empty() ||
                      any_of(other->values,
                             [&](const std::string& one) {
                               return value == front ? one == value : one.rfind(front, 0) == 0;
                             }))
              << key.path << " is read when " << test.text();
        }
      }
    }
  }
  EXPECT_GT(conditions, 100U);
}

}  // namespace
}  // namespace flitwise::effect_test
