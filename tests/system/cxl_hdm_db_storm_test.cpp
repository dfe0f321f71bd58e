// SPDX-License-Identifier: Apache-2.0
// The host's cores and the core of a device storm the same lines of the device's memory over a
// link: what each reads is held against what both have written.
#include <gtest/gtest.h>

#include "system/machine_bench.h"
#include "system/storm_core.h"

namespace flitwise::cxl_hdm_db_storm_test {
namespace {

constexpr std::uint64_t kBase = 64U << 10;

struct Storm {
  CxlCacheRead read = CxlCacheRead::kShared;
  double error_rate = 0;
  std::uint64_t operations = 20'000;  // of each core
  std::uint32_t credits = 256;
  bool latency_optimised = false;
  std::uint32_t snoops = 16, outstanding = 64;  // BITags, Tags
  std::uint32_t ways = 4;
};

Config config_of(const Storm& storm) {
  Config config;
  config.link.preset = {"x16", 6, 16, CxlFlits::k256};
  config.link.cxl.latency_optimised = storm.latency_optimised;
  config.link.error_rate = storm.error_rate;
  config.link.cxl.req_credits = config.link.cxl.rsp_credits = config.link.cxl.data_credits =
      storm.credits;
  config.device.cxl.memory = Bytes{1} << 20;
  config.device.cxl.coherence = CxlCoherence::kHdmDb;
  config.device.cxl.own_cache.size = Bytes{2} << 10;  // half of the lines
  config.device.cxl.own_cache.ways = storm.ways;
  config.device.cxl.own_cache.snoops = storm.snoops;
  config.host.cxl_mem.cache.size = Bytes{2} << 10;
  config.host.cxl_mem.cache.ways = storm.ways;
  config.host.cxl_mem.outstanding = storm.outstanding;
  config.host.cxl_mem.read = storm.read;
  config.workload.via = WorkloadVia::kCxlBoth;
  config.workload.buffer_base = kBase;
  return config;
}

void rage(const Storm& storm) {
  MachineBench bench(config_of(storm));
  Machine& machine = bench.machine;
  machine.set_up_at_once();
  CxlHdmHost& host = *machine.fabric().devices[0].cxl.hdm_host;
  CxlHdmDevice& device = *machine.fabric().devices[0].cxl.hdm_device;
  StormBook book{kBase, true};
  StormCore of_host(book, 0, storm.operations, 1), of_device(book, 1, storm.operations, 2);
  host.attach(of_host);
  device.attach(of_device);
  host.wake();
  device.wake();
  const auto are_done = [&] { return of_host.is_done() && of_device.is_done(); };
  ASSERT_TRUE(bench.run_until(are_done, Time::from_us(1'000'000)));
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(book.stale_reads, 0U);
  EXPECT_EQ(book.early_reads, 0U);
  EXPECT_EQ(book.torn_reads, 0U);
  EXPECT_EQ(book.begun, book.done) << "a lost write";
  EXPECT_EQ(of_host.failed + of_device.failed, 0U);
  const RunResult result = machine.result();
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  EXPECT_TRUE(result.violations.empty());
  EXPECT_TRUE(result.errors.empty());
  ASSERT_EQ(result.rows<CxlHdmDbResult>().size(), 1U);
  const CxlHdmDbResult& counts = result.rows<CxlHdmDbResult>()[0];
  EXPECT_EQ(counts.host_reads + counts.host_writes, storm.operations);
  EXPECT_EQ(counts.device_reads + counts.device_writes, storm.operations);
  EXPECT_GT(counts.back_invalidations, storm.operations / 20);
  EXPECT_GT(counts.write_backs, 0U);
  EXPECT_GT(counts.conflicts_early + counts.conflicts_late, 0U);
  // What the last writes of both were, seen from the device.
  StormCore reader(book, 1, 2'000, 99);
  device.attach(reader);
  device.wake();
  ASSERT_TRUE(bench.run_until([&reader] { return reader.is_done(); }, Time::from_us(10'000)));
  EXPECT_EQ(book.stale_reads, 0U);
}

// [COH-5.3] [COH-5.6] [COH-6.1]
TEST(CxlHdmDbStorm, COH_1_2_HostAndDeviceOnTheSameLines) {
  Storm storm;
  storm.operations = 250'000;
  rage(storm);
}

TEST(CxlHdmDbStorm, COH_5_3_LinesThatTheHostReadsAloneWherePossible) {
  rage({CxlCacheRead::kAny});
}

TEST(CxlHdmDbStorm, COH_5_6_LinesThatTheHostReadsOnce) {
  rage({CxlCacheRead::kCurrent});
}

// [CXL-6.2] A replay neither loses nor repeats a message, and BIConflictAck stays behind its Cmp.
TEST(CxlHdmDbStorm, COH_6_4_OverALinkWithErrors) {
  rage({CxlCacheRead::kShared, 1e-5});
}

// [CXL-6.6]
TEST(CxlHdmDbStorm, COH_6_4_InHalvesOfFlitsWithErrors) {
  rage({CxlCacheRead::kAny, 1e-5, 20'000, 256, true});
}

// [COH-6.1] Lines of one way each, one BISnp and two requests out at a time.
TEST(CxlHdmDbStorm, COH_6_1_WithOneBiTagAndTwoTags) {
  Storm storm;
  storm.snoops = 1;
  storm.outstanding = 2;
  storm.ways = 1;
  rage(storm);
}

// [COH-1.6] [COH-6.3] No channel waits for another one for ever.
TEST(CxlHdmDbStorm, CXL_8_4_WithOneCreditOfEachClass) {
  rage({CxlCacheRead::kShared, 0, 5'000, 1});
}

TEST(CxlHdmDbStorm, CXL_8_4_InHalvesOfFlitsWithOneCreditOfEachClass) {
  rage({CxlCacheRead::kAny, 0, 5'000, 1, true});
}

}  // namespace
}  // namespace flitwise::cxl_hdm_db_storm_test
