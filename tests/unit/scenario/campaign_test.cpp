// SPDX-License-Identifier: Apache-2.0
// What campaigns draw, and how often: the shares that docs/cases.md promises.
#include "scenario/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/load.h"

namespace flitwise::scenario::campaign_test {
namespace {

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::Lt;
using ::testing::SizeIs;

constexpr unsigned kSeeds = 2000;

/// Of `kSeeds` cases, how many are so.
template <class Predicate>
unsigned count_of(Predicate is_so) {
  unsigned count = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    count += is_so(campaign_case(seed, {})) ? 1 : 0;
  }
  return count;
}

bool has_step(const Case& one, const char* op, const char* key, const char* value) {
  return std::any_of(one.steps.begin(), one.steps.end(), [&](const Step& step) {
    return step.op.at("op") == op && step.op.value(key, "") == value;
  });
}

bool has_set(const Case& one, const char* set) {
  return std::find(one.sets.begin(), one.sets.end(), set) != one.sets.end();
}

// 5/6 of the seeds have no CXL.mem or CXL.cache, 2/12 of these writes through tables, half of them
// nested, a third with pages of 1 GiB: 2.3 %.
TEST(CampaignShares, WritesThroughNestedTablesOfLargePages) {
  EXPECT_THAT(count_of([](const Case& one) {
                return has_step(one, "map", "stage", "nested") &&
                       has_step(one, "map", "page", "1GiB");
              }),
              AllOf(Gt(20U), Lt(80U)));
}

TEST(CampaignShares, DriversThatUnmap) {
  EXPECT_THAT(
      count_of([](const Case& one) { return has_set(one, "host.iommu_driver.enabled=true"); }),
      AllOf(Gt(90U), Lt(190U)));
}

TEST(CampaignShares, LinksThatGoDownAmidTraffic) {
  EXPECT_THAT(count_of([](const Case& one) { return has_step(one, "reset", "kind", "link_down"); }),
              AllOf(Gt(120U), Lt(350U)));
}

// 1/12 of the seeds have caches on CXL. What each says of names, contexts, grants and the end of
// handles is drawn apart, and whatever comes of it is a machine.
TEST(CampaignShares, NamesContextsAndGrantsOfCxlCache) {
  std::vector<Case> cases;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Case one = campaign_case(seed, {});
    if (has_set(one, "workload.via=cxl_cache")) {
      cases.push_back(std::move(one));
    }
  }
  EXPECT_THAT(cases, SizeIs(AllOf(Gt(100U), Lt(250U))));
  for (const Case& one : cases) {
    LoadOptions options;
    options.sets = one.sets;
    EXPECT_NO_THROW(load_config(FLITWISE_SOURCE_DIR "/configs/checks/script.yaml", options))
        << one.id;
  }
  const struct {
    std::string key;
    std::vector<std::string> values;
  } drawn[] = {
      {"link.cxl.identity", {"spec", "full_added", "dhi_added"}},
      {"device.dhi.on_miss", {"stall", "bypass"}},
      {"device.dhi.alloc_order", {"flush", "ack"}},
      {"device.dhi.dealloc", {"implicit", "explicit"}},
      {"host.dhi.dealloc", {"implicit", "explicit"}},
      {"workload.contexts.kind",
       {"queue_pair", "dedicated_work_queue", "shared_work_queue", "work_command"}},
      {"workload.contexts.per_process", {"1", "2", "4"}},
      {"device.dhi.contexts", {"own", "shared"}},
      {"host.dhi.grant", {"configured"}},
      {"host.dhi.granted.first_pasid", {"0", "1"}},
      {"host.dhi.granted.last_pasid", {"0", "1", "2", "7"}},
      {"host.dhi.granted.without_pasid", {"true", "false"}},
      {"host.dhi.granted.contexts", {"none", "1", "4"}},
  };
  for (const auto& row : drawn) {
    for (const std::string& value : row.values) {
      const std::string set = row.key + "=" + value;
      EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const Case& one) {
        return has_set(one, set.c_str());
      })) << set;
    }
  }
}

// Without its write, or the tables on the way, memory would not have the bytes on any machine.
TEST(CampaignShrinking, KeepsTheWriteThatMemoryHasToHoldAndItsTables) {
  const Case big = cases_from_text(
                       "id: X\ntitle: T\ncites: [X]\nstimulus:\n"
                       "  - map: {address: '0x40000000', to: '0x777000'}\n"
                       "  - translate: on\n"
                       "  - tlp: {tlp: {type: MWr, address: '0x40000000', payload: '01020304'}}\n"
                       "  - tlp: {tlp: {type: MWr, address: '0x40000000', payload: '05060708'}}\n"
                       "final: {memory: {'0x777000': '05060708'}}\n",
                       "x")
                       .front();
  const Case small = shrunk(
      big, [](const Case& one) { return !one.final_checks.empty(); }, 1000);
  ASSERT_THAT(small.steps, SizeIs(3));
  EXPECT_EQ(small.steps[0].op.at("op"), "map");
  EXPECT_EQ(small.steps[2].op.at("tlp").at("payload"), "05060708");
}

}  // namespace
}  // namespace flitwise::scenario::campaign_test
