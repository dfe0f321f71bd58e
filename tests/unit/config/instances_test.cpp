// SPDX-License-Identifier: Apache-2.0
// Overrides of single instances: same tables, same places, same checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace flitwise::instances_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(Instances, DottedAndNestedKeysOverrideOneInstance) {
  const Config config = config_of(
      "system:\n  devices: 2\n  instances:\n    ep1:\n      device.dhi.bits: 4\n"
      "      device: {dma: {issue_interval: 8ns}}\n    rp1-ep1:\n      link: {preset: gen3x8}\n");
  EXPECT_EQ(config.device.dhi.bits, 8U);
  EXPECT_EQ(for_instance(config, "ep0").device.dhi.bits, 8U);
  EXPECT_EQ(for_instance(config, "ep1").device.dhi.bits, 4U);
  EXPECT_EQ(for_instance(config, "ep1").device.dma.issue_interval, Time::from_ns(8));
  EXPECT_EQ(for_instance(config, "rp1-ep1").link.preset.lanes, 8U);
  EXPECT_EQ(for_instance(config, "rp0-ep0").link.preset.lanes, 16U);
}

TEST(Instances, SetReachesThem) {
  const std::string yaml = "system: {instances: {ep0: {device.dhi.bits: 4, device.tag_bits: 8}}}";
  const Config config = config_of(yaml, {"system.instances.ep0.device.dhi.bits=5"});
  EXPECT_EQ(for_instance(config, "ep0").device.dhi.bits, 5U);
  EXPECT_EQ(for_instance(config, "ep0").device.tag_bits, 8U);
}

TEST(Instances, ListsAndWordsSurviveTheWay) {
  const Config config = config_of(
      "system: {instances: {rp0-ep0: {faults.up.corrupt_tlps: [3, 17], link.identity: dhi,"
      " link.credits.posted_data: infinite}}}");
  const Config link = for_instance(config, "rp0-ep0");
  EXPECT_THAT(link.faults.up.corrupt_tlps, ElementsAre(3U, 17U));
  EXPECT_EQ(link.link.identity, Identity::kDhi);
  EXPECT_EQ(link.link.credits.posted_data, kInfiniteCredits);
}

TEST(Instances, KeysAndValuesAreCheckedAtTheirPlaces) {
  EXPECT_THAT(
      problems_of("system:\n  instances:\n    ep0:\n      device.dhi.bitz: 4\n"
                  "      device: {dhi: {bits: 13}}\n"),
      ElementsAre(AllOf(StartsWith("c.yaml:4:7: system.instances.ep0.device.dhi.bitz: unknown key"),
                        HasSubstr("nearest key 'device.dhi.bits'")),
                  StartsWith("c.yaml:5:28: system.instances.ep0.device.dhi.bits: 13; expected")));
}

TEST(Instances, TheSameKeyTwiceIsADuplicateInAnySpelling) {
  EXPECT_THAT(problems_of("system:\n  instances:\n    ep0:\n      device.tag_bits: 8\n"
                          "      device: {tag_bits: 10}\n"),
              ElementsAre(AllOf(StartsWith("c.yaml:5:16"), HasSubstr("duplicate key"))));
}

TEST(Instances, NamesHaveToBeInTheTopology) {
  EXPECT_THAT(problems_of("system: {instances: {ep1: {device.tag_bits: 8}}}"),
              ElementsAre(AllOf(StartsWith("c.yaml:1:22: system.instances.ep1"),
                                HasSubstr("nearest name 'ep0'"))));
  EXPECT_THAT(problems_of("system: {devices: 2, instances: {ep1: {device.tag_bits: 8}}}"),
              IsEmpty());
  EXPECT_THAT(problems_of("system: {topology: switch, instances: {sw0-ep0: {link.mps: 128B},"
                          " rp0-sw0: {link.mps: 128B}, sw0: {system.timing.switch_forward: 9ns}}}"),
              IsEmpty());
  EXPECT_THAT(problems_of("system: {instances: {sw0: {system.timing.switch_forward: 9ns}}}"),
              ElementsAre(HasSubstr("no instance 'sw0' in this topology")));
}

TEST(Instances, TakeOnlySectionsThatConcernThem) {
  EXPECT_THAT(problems_of("system: {instances: {ep0: {host.memory.size: 8GiB}}}"),
              ElementsAre(AllOf(StartsWith("c.yaml:1:46"), HasSubstr("has no part in ep0"))));
  EXPECT_THAT(problems_of("system: {instances: {ep0: {trace: {latency: [{name: a, from: issue, to:"
                          " sent}]}}}}"),
              ElementsAre(HasSubstr("has no part in ep0")));
}

// Memory, software, driver and clock are those of the host.
TEST(Instances, ARootPortTakesTheKeysOfHostThatItReads) {
  for (const std::string key :
       {"memory.bandwidth: 10Gb/s", "memory.size: 8GiB", "memory.timing.latency: 9ns",
        "timing.mmio: 9ns", "timing.software_step: 9ns", "timing.clock: 9ns",
        "timing.completion_timeout: 9us", "iommu_driver.batch: 3", "cxl_cache.bridge: 9ns",
        "dhi.table: shared", "dhi.entries: 16"}) {
    EXPECT_THAT(problems_of("system: {instances: {rp0: {host." + key + "}}}"),
                testing::Contains(HasSubstr("has no part in rp0")))
        << key;
    EXPECT_THAT(problems_of("system: {hosts: 2, instances: {h1: {host." + key + "}}}"), IsEmpty())
        << key;
  }
  EXPECT_THAT(
      problems_of("system: {instances: {rp0: {host.pasid: false, host.dma_window.size: 1GiB,"
                  " host.dhi: {grant: configured, granted: {last_pasid: 3}, storage: {kind: dram}},"
                  " host.timing.root_port: 9ns, host.cxl_mem.outstanding: 3}}}"),
      IsEmpty());
}

TEST(Instances, ALinkTakesTheFaultsOfItsOwnEnds) {
  const auto problems = [](const std::string& link, const std::string& fault) {
    return problems_of("system: {topology: switch, instances: {" + link + ": {" + fault + "}}}");
  };
  EXPECT_THAT(problems("sw0-ep0", "faults.drop_completions: 3"),
              ElementsAre(HasSubstr("'faults.drop_completions' has no part in sw0-ep0")));
  EXPECT_THAT(problems("rp0-sw0", "faults.drop_completions: 3"), IsEmpty());
  for (const std::string rule : {"tags", "boundary_4k", "byte_enables", "at", "handles"}) {
    EXPECT_THAT(problems("rp0-sw0", "faults.break: [" + rule + "]"),
                ElementsAre(HasSubstr("'" + rule + "' has no part in rp0-sw0")));
    EXPECT_THAT(problems("sw0-ep0", "faults.break: [" + rule + "]"), IsEmpty());
  }
  EXPECT_THAT(problems("sw0-ep0", "faults.break: [completion]"),
              ElementsAre(HasSubstr("'completion' has no part in sw0-ep0")));
  EXPECT_THAT(problems("rp0-sw0", "faults.break: [completion]"), IsEmpty());
  for (const std::string link : {"rp0-sw0", "sw0-ep0"}) {
    EXPECT_THAT(
        problems(link, "faults.break: [credits, sequence, ordering], faults.up.corrupt_tlps: [3]"),
        IsEmpty());
  }
}

TEST(Instances, RelationsHoldWithTheirOverridesToo) {
  EXPECT_THAT(problems_of("link: {identity: dhi, dhi_form: tag}\n"
                          "system: {instances: {ep0: {device.dhi.bits: 12}}}"),
              ElementsAre(AllOf(StartsWith("c.yaml:2:45: "), HasSubstr("12-bit handles"))));
}

TEST(Instances, LinksOfASwitchUseOneFormOfIdentity) {
  EXPECT_THAT(problems_of("system: {topology: switch, instances: {sw0-ep0: {link.identity: bdf}}}"),
              ElementsAre(AllOf(StartsWith("c.yaml:1:65: system.instances.sw0-ep0.link.identity"),
                                HasSubstr("expected one link.identity for all"))));
  EXPECT_THAT(problems_of("system: {instances: {rp0-ep0: {link.identity: bdf}}}"), IsEmpty());
}

TEST(Instances, ABrokenRelationOfTheWholeIsReportedOnce) {
  EXPECT_THAT(problems_of("message: {flit_bits: 16}\n"
                          "system: {instances: {ep0: {device.dhi.bits: 12}}}"),
              testing::SizeIs(1));
}

TEST(Instances, InstancesAreAMapOfMaps) {
  EXPECT_THAT(problems_of("system: {instances: [ep0]}"), ElementsAre(HasSubstr("a sequence")));
  EXPECT_THAT(problems_of("system: {instances: {ep0: 3}}"), ElementsAre(HasSubstr("a map")));
  EXPECT_THAT(problems_of("system: {instances: {ep0: }}"), IsEmpty());
}

}  // namespace
}  // namespace flitwise::instances_test
