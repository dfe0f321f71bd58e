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
