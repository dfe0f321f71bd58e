// SPDX-License-Identifier: Apache-2.0
// What has to hold between keys of CXL.cache and CXL.mem, each with a config that just holds and
// one that does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace flitwise::relations_cxl_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Sets = std::vector<std::string>;

Sets with(Sets sets, const Sets& more) {
  sets.insert(sets.end(), more.begin(), more.end());
  return sets;
}
void expect_refused(const Sets& sets, const std::string& seen) {
  EXPECT_THAT(problems_of("", sets), ElementsAre(HasSubstr(seen)));
}
void expect_accepted(const Sets& sets) {
  EXPECT_THAT(problems_of("", sets), IsEmpty());
}

const Sets kCache = {"link.preset=cxl68_gen5x16", "device.cxl.cache.size=64KiB"};
const Sets kMemory = {"link.preset=cxl256_gen6x16", "device.cxl.memory=16GiB"};
const Sets kHdmDb = with(kMemory, {"device.cxl.coherence=hdm_db"});

TEST(RelationsCxl, CXL_7_1_ACacheNeedsACxlLinkOfItsOwn) {
  expect_accepted(kCache);
  expect_refused({"device.cxl.cache.size=64KiB"}, "CXL.cache without a CXL link");
  expect_refused(with(kCache, {"system.topology=switch"}), "CXL.cache behind a switch");
  expect_accepted(with(kCache, {"system.devices=16"}));
  expect_refused(with(kCache, {"system.devices=17"}), "expected system.devices up to 16");
}

TEST(RelationsCxl, ACacheHasAPowerOfTwoOfSets) {
  expect_accepted(with(kCache, {"device.cxl.cache.size=48KiB", "device.cxl.cache.ways=6"}));
  expect_refused(with(kCache, {"device.cxl.cache.size=48KiB", "device.cxl.cache.ways=8"}),
                 "a cache of 48KiB with 8 ways; expected 512B times a power of two");
}

TEST(RelationsCxl, CXL_7_2_RequestsByCxlCacheNeedACache) {
  expect_accepted(with(kCache, {"workload.via=cxl_cache"}));
  expect_refused({"link.preset=cxl68_gen5x16", "workload.via=cxl_cache"},
                 "requests through a cache that is not there");
  expect_refused(with(kCache, {"workload.via=cxl_cache", "workload.at=translated"}),
                 "expected workload.at untranslated");
}

TEST(RelationsCxl, CXL_7_4_AHandleFitsItsField) {
  const Sets handles = with(kCache, {"link.cxl.identity=dhi_added", "device.dhi.bits=4"});
  expect_accepted(handles);
  expect_accepted(with(handles, {"workload.domains=17"}));  // they take turns [DHI D9]
  expect_accepted(with(handles, {"link.cxl.handle_bits=15"}));
  expect_refused(with(handles, {"link.cxl.handle_bits=3"}),
                 "handles of 4 bits, and 3 bits for them on CXL.cache");
}

TEST(RelationsCxl, CXL_7_4_WhoeverMayHaveNoHandleNeedsRoomForItsIdentity) {
  const Sets handles = with(kCache, {"link.cxl.identity=dhi_added"});
  for (const char* const set :
       {"device.dhi.supported=false", "device.dhi.enabled=false", "device.dhi.management=software",
        "device.dhi.allocate_at=context_creation"}) {
    expect_refused(with(handles, {set}), "requests of CXL.cache that may have no handle");
    expect_accepted(with(handles, {set, "device.dhi.on_miss=bypass"}));
    expect_accepted(with(kCache, {set}));
  }
}

TEST(RelationsCxl, CXL_7_12_ACacheAsksForNoPages) {
  const Sets cache = with(kCache, {"workload.via=cxl_cache", "device.atc.enabled=true"});
  expect_accepted(cache);
  expect_refused(with(cache, {"device.pri.enabled=true"}), "page requests of a cache");
}

TEST(RelationsCxl, CXL_3_8_MemoryNeedsACxlLinkOfItsOwn) {
  expect_accepted(kMemory);
  expect_refused({"device.cxl.memory=16GiB"}, "CXL.mem on a PCIe link");
  expect_refused(with(kMemory, {"system.topology=switch"}), "CXL.mem behind a switch");
}

TEST(RelationsCxl, CXL_3_8_BuffersLieInTheMemory) {
  const Sets reads = with(kMemory, {"workload.via=cxl_mem", "workload.kind=read"});
  expect_accepted(with(reads, {"workload.buffer_base=8GiB", "workload.buffer_size=8GiB"}));
  expect_refused(with(reads, {"workload.buffer_base=8GiB", "workload.buffer_size=9GiB"}),
                 "buffers of CXL.mem up to 17GiB, and 16GiB of memory");
  expect_refused({"workload.via=cxl_mem", "workload.kind=trace",
                  "workload.trace=" FLITWISE_SOURCE_DIR "/README.md"},
                 "requests of a trace to memory that the device does not have");
  // A trace has none.
  expect_accepted(with(kMemory, {"workload.via=cxl_mem", "workload.kind=trace",
                                 "workload.trace=" FLITWISE_SOURCE_DIR "/README.md",
                                 "workload.buffer_size=9GiB", "workload.buffer_base=8GiB"}));
}

TEST(RelationsCxl, CXL_8_1_BackInvalidationNeedsMemoryAndLargeFlits) {
  expect_accepted(kHdmDb);
  expect_refused(with(kHdmDb, {"link.preset=cxl68_gen5x16"}),
                 "hdm_db on a link without back invalidation");
  expect_refused({"link.preset=cxl256_gen6x16", "device.cxl.coherence=hdm_db"},
                 "hdm_db without memory");
}

TEST(RelationsCxl, CXL_8_1_CoresOfTheDeviceNeedMemoryThatItCaches) {
  for (const char* via : {"workload.via=cxl_own", "workload.via=cxl_both"}) {
    expect_accepted(with(kHdmDb, {via, "workload.kind=read"}));
    expect_refused(with(kMemory, {via, "workload.kind=read"}),
                   "of memory that the device does not cache");
  }
}

TEST(RelationsCxl, CXL_8_2_RequestsAndTheirVictimsHaveTags) {
  expect_accepted(with(kHdmDb, {"host.cxl_mem.outstanding=2"}));
  expect_refused(with(kHdmDb, {"host.cxl_mem.outstanding=1"}),
                 "expected host.cxl_mem.outstanding 2 to 32768");
}

TEST(RelationsCxl, CXL_8_1_CachesOfAMemoryHaveAPowerOfTwoOfSets) {
  expect_refused(with(kHdmDb, {"device.cxl.own_cache.size=48KiB", "device.cxl.own_cache.ways=8"}),
                 "a cache of 48KiB with 8 ways");
  expect_refused(with(kHdmDb, {"host.cxl_mem.cache.size=48KiB", "host.cxl_mem.cache.ways=8"}),
                 "a cache of 48KiB with 8 ways");
}

TEST(RelationsCxl, COH_1_2_ALineIsBrokenWhereThereAreTwoCaches) {
  const Sets broken = {"faults.break=[single_writer]"};
  expect_accepted(with(kHdmDb, broken));
  expect_accepted(with(with(kCache, {"system.devices=2"}), broken));
  expect_refused(with(kCache, broken), "single_writer without two caches");
  expect_refused(with(kMemory, broken), "single_writer without two caches");
}

TEST(RelationsCxl, CXL_7_12_TheEndOfAMappingIsBrokenWhereLinesHaveOne) {
  const Sets recall = {"faults.break=[recall]"}, invalidation = {"faults.break=[invalidation]"};
  expect_accepted(with(with(kCache, {"iommu.secure_ats=true"}), recall));
  expect_accepted(with(with(kCache, {"device.atc.enabled=true"}), invalidation));
  expect_refused(with(kCache, recall), "recall without permissions of lines");
  expect_refused(with(kCache, invalidation), "invalidation without translations of lines");
  expect_refused(with(kMemory, {"iommu.secure_ats=true", "faults.break=[recall]"}),
                 "recall without permissions of lines");
}

// [CXL-8.2]
TEST(RelationsCxl, ARootPortIsCheckedOnTheMemoryOfItsDevice) {
  const Sets both =
      with(kMemory, {"workload.via=cxl_both", "workload.kind=read", "workload.buffer_size=1MiB"});
  const std::string text =
      "system: {devices: 2, instances: {ep1: {device.cxl.memory: 4GiB, workload.buffer_base: "
      "1GiB}, "
      "rp1: {workload.buffer_base: ";
  const Sets sets = with(both, {"device.cxl.coherence=hdm_db"});
  EXPECT_THAT(problems_of(text + "2GiB}}}\n", sets), IsEmpty());
  EXPECT_THAT(problems_of(text + "12GiB}}}\n", sets), ElementsAre(HasSubstr("4GiB of memory")));
}

TEST(RelationsCxl, CXL_8_2_ARootPortHasAWorkloadWhereTheHostsCoresHaveTheirOwn) {
  const std::string text = "system: {instances: {rp0: {workload.payload: 128B}}}\n";
  const Sets mine = with(kHdmDb, {"workload.kind=read"});
  EXPECT_THAT(problems_of(text, with(mine, {"workload.via=cxl_both"})), IsEmpty());
  for (const char* via : {"workload.via=cxl_own", "workload.via=cxl_mem", "workload.via=dma"}) {
    EXPECT_THAT(problems_of(text, with(mine, {via})),
                ElementsAre(HasSubstr("the host's cores have no workload of their own")));
  }
  EXPECT_THAT(problems_of("system: {instances: {rp0: {workload.via: cxl_both}}}\n",
                          with(mine, {"workload.via=cxl_both"})),
              ElementsAre(HasSubstr("the host's cores have no workload of their own")));
}

}  // namespace
}  // namespace flitwise::relations_cxl_test
