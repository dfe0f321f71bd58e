// SPDX-License-Identifier: Apache-2.0
// What a valid configuration is warned of, with one that just is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"

namespace flitwise::handle_warnings_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Of a machine with handles of four bits, with these overrides.
std::vector<std::string> warnings(std::vector<std::string> sets) {
  sets.insert(sets.begin(), {"link.identity=dhi", "device.dhi.bits=4"});
  LoadOptions options;
  options.sets = std::move(sets);
  return config_warnings(config_from_text("", "a.yaml", "", options));
}

TEST(HandleWarnings, DHI_D9_MoreDomainsThanHandlesWhileEachMissStalls) {
  EXPECT_THAT(warnings({"workload.domains=16"}), IsEmpty());
  EXPECT_THAT(
      warnings({"workload.domains=17"}),
      ElementsAre(AllOf(HasSubstr("device.dhi.on_miss: stall with 17 domains"),
                        HasSubstr("16 handles in ep0"), HasSubstr("device.dhi.bits of at least 5"),
                        HasSubstr("device.dhi.on_miss: bypass"),
                        HasSubstr("workload.domains up to 16"))));
  EXPECT_THAT(warnings({"workload.domains=64"}),
              ElementsAre(HasSubstr("device.dhi.bits of at least 6")));
}

TEST(HandleWarnings, DHI_D9_NobodyStallsWhereMessagesGoInFull) {
  const std::string many = "workload.domains=64";
  EXPECT_THAT(warnings({many, "device.dhi.on_miss=bypass"}), IsEmpty());
  EXPECT_THAT(warnings({many, "device.dhi.management=software"}), IsEmpty());
  EXPECT_THAT(warnings({many, "device.dhi.allocate_at=context_creation"}), IsEmpty());
  EXPECT_THAT(warnings({many, "link.identity=bdf_pasid"}), IsEmpty());
  EXPECT_THAT(warnings({many, "device.dhi.enabled=false"}), IsEmpty());
}

// One context without a grant stops the cores that send by it; a domain fails for itself.
TEST(HandleWarnings, DHI_S3_DomainsWhoseHandlesTheHostRefuses) {
  const auto with = [](const std::string& first, const std::string& last,
                       std::vector<std::string> more = {}) {
    more.insert(more.end(),
                {"workload.domains=8", "host.dhi.grant=configured",
                 "host.dhi.granted.first_pasid=" + first, "host.dhi.granted.last_pasid=" + last});
    return warnings(std::move(more));
  };
  const std::vector<std::string> pio = {"workload.via=pio", "device.functions.bar_size=64MiB"};
  EXPECT_THAT(with("7", "9"), IsEmpty());
  EXPECT_THAT(with("8", "9"),
              ElementsAre(AllOf(HasSubstr("host.dhi.granted: PASIDs 8 to 9, but the domains of ep0 "
                                          "have PASIDs 0 to 7"),
                                HasSubstr("so is each request"))));
  EXPECT_THAT(with("0", "7", pio), IsEmpty());
  EXPECT_THAT(with("0", "6", pio), ElementsAre(HasSubstr("for which cores wait for ever")));
  EXPECT_THAT(with("1", "7", pio), ElementsAre(HasSubstr("last_pasid of at least 7")));
  EXPECT_THAT(with("8", "9", {"link.identity=bdf_pasid"}), IsEmpty());
}

// [DHI D22]
TEST(HandleWarnings, DHI_S3_ContextsWhoseHandlesTheHostRefuses) {
  const auto with = [](std::vector<std::string> more) {
    more.insert(more.end(), {"workload.domains=8", "workload.contexts.per_process=4",
                             "host.dhi.grant=configured"});
    return warnings(std::move(more));
  };
  const std::string pairs = "workload.contexts.kind=queue_pair";
  EXPECT_THAT(with({pairs}), ElementsAre(AllOf(HasSubstr("host.dhi.granted.contexts: none"),
                                               HasSubstr("expected 4, device.dhi.contexts"))));
  EXPECT_THAT(with({pairs, "host.dhi.granted.contexts=4"}), IsEmpty());
  EXPECT_THAT(with({pairs, "device.dhi.contexts=shared"}), IsEmpty());
}

// [DHI D22]
TEST(HandleWarnings, DHI_D9_ContextsThatShareAHandleNeedNoMore) {
  const std::vector<std::string> pairs = {"workload.domains=64", "workload.contexts.per_process=4",
                                          "workload.contexts.kind=queue_pair"};
  const auto with = [&](const std::string& contexts, const std::string& more) {
    std::vector<std::string> sets = pairs;
    sets.insert(sets.end(), {"device.dhi.contexts=" + contexts, more});
    return warnings(std::move(sets));
  };
  const std::string one = "device.functions.count=1";
  EXPECT_THAT(with("own", one), ElementsAre(HasSubstr("stall with 64 domains")));
  EXPECT_THAT(with("shared", one), IsEmpty());
  EXPECT_THAT(with("shared", "device.functions.count=3"),
              ElementsAre(HasSubstr("stall with 18 domains")));
}

TEST(HandleWarnings, DHI_D9_OnlyDomainsThatTakeTurnsCount) {
  const std::vector<std::string> working_set = {"workload.domains=64",
                                                "workload.domain_choice=working_set"};
  auto with = [&](const std::string& size) {
    std::vector<std::string> sets = working_set;
    sets.push_back("workload.working_set=" + size);
    return sets;
  };
  EXPECT_THAT(warnings(with("16")), IsEmpty());
  EXPECT_THAT(warnings(with("17")), ElementsAre(HasSubstr("17 domains")));
}

// [DHI D2] Behind one shared table the handles are split.
TEST(HandleWarnings, DHI_D2_EachDeviceIsHeldAgainstItsOwnRange) {
  const std::vector<std::string> shared = {"system.devices=2", "host.dhi.table=shared",
                                           "host.dhi.entries=16", "workload.domains=10"};
  EXPECT_THAT(warnings(shared),
              ElementsAre(HasSubstr("8 handles in ep0"), HasSubstr("8 handles in ep1")));
  EXPECT_THAT(warnings({"system.devices=2", "workload.domains=10"}), IsEmpty());
}

// Five devices behind one root port share four handles.
TEST(HandleWarnings, DHI_D2_MoreDevicesThanHandles) {
  const std::vector<std::string> five = {"system.topology=switch", "system.devices=5",
                                         "link.dhi_form=rid_fabric", "device.dhi.bits=2",
                                         "workload.domains=1"};
  EXPECT_THAT(warnings(five), ElementsAre(HasSubstr("no handles for ep0, ep1, ep2, ep3, ep4: ")));
  std::vector<std::string> four = five;
  four[1] = "system.devices=4";
  EXPECT_THAT(warnings(four), IsEmpty());
}

// What bounds the handles is named: the width, the table, or both; of several devices with one
// number space the width that gives each of them enough.
TEST(HandleWarnings, DHI_D2_TheBoundThatHoldsIsNamed) {
  const std::string many = "workload.domains=32", table = "host.dhi.table=shared";
  EXPECT_THAT(warnings({many, table, "host.dhi.entries=16", "device.dhi.bits=8"}),
              ElementsAre(AllOf(HasSubstr("16 handles in ep0"),
                                HasSubstr("expected host.dhi.entries of at least 32, "))));
  EXPECT_THAT(warnings({many, table, "host.dhi.entries=16"}),
              ElementsAre(HasSubstr(
                  "expected device.dhi.bits of at least 5 and host.dhi.entries of at least 32, ")));
  EXPECT_THAT(warnings({many, table}),
              ElementsAre(HasSubstr("expected device.dhi.bits of at least 5, ")));
  EXPECT_THAT(warnings({many, "device.dhi.bits=5", "system.topology=switch", "system.devices=2",
                        "link.dhi_form=rid_fabric"}),
              ElementsAre(AllOf(HasSubstr("16 handles in ep0"),
                                HasSubstr("expected device.dhi.bits of at least 6, ")),
                          HasSubstr("16 handles in ep1")));
}

// Each host's own overrides count for its devices, and for these alone.
TEST(HandleWarnings, DHI_D2_EachHostHasATableOfItsOwn) {
  EXPECT_THAT(warnings({"system.hosts=2", "workload.domains=10", "host.dhi.table=shared",
                        "system.instances.h1.host.dhi.entries=8"}),
              ElementsAre(HasSubstr("8 handles in h1.ep0")));
  EXPECT_THAT(warnings({"system.hosts=2", "system.devices=2", "workload.domains=10",
                        "system.instances.h0.host.dhi.table=shared"}),
              ElementsAre(HasSubstr("8 handles in ep0"), HasSubstr("8 handles in ep1")));
}

}  // namespace
}  // namespace flitwise::handle_warnings_test
