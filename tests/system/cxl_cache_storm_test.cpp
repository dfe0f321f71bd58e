// SPDX-License-Identifier: Apache-2.0
// Four device caches on four links storm the same lines of host memory: what each core reads is
// held against what all of them have written.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "system/machine_bench.h"
#include "system/storm_core.h"

namespace flitwise::cxl_cache_storm_test {
namespace {

constexpr std::size_t kCores = 4;
constexpr std::uint64_t kBase = std::uint64_t{4} << 30;

struct Storm {
  CxlCacheRead read = CxlCacheRead::kShared;
  CxlCacheWrite write = CxlCacheWrite::kOwn;
  double error_rate = 0;
  unsigned error_burst = 1;
  std::uint64_t operations = 20'000;  // of each core
  std::uint32_t credits = 256;
  CxlFlits flits = CxlFlits::k68;
  bool latency_optimised = false;
};

void rage(const Storm& storm) {
  Config config;
  config.link.preset = {"x16", storm.flits == CxlFlits::k68 ? 5U : 6U, 16, storm.flits};
  config.link.cxl.latency_optimised = storm.latency_optimised;
  config.link.error_rate = storm.error_rate;
  config.link.error_burst = storm.error_burst;
  config.link.cxl.req_credits = config.link.cxl.rsp_credits = config.link.cxl.data_credits =
      storm.credits;
  config.system.devices = kCores;
  config.device.cxl.cache.size = Bytes{2} << 10;  // half of the lines
  config.device.cxl.cache.ways = 4;
  config.device.cxl.cache.requests = 16;
  config.device.cxl.cache.read = storm.read;
  config.device.cxl.cache.write = storm.write;
  config.workload.via = WorkloadVia::kCxlCache;
  config.workload.real_payload = true;
  MachineBench bench(config);
  Machine& machine = bench.machine;
  machine.set_up_at_once();
  StormBook book{kBase};
  std::vector<std::unique_ptr<StormCore>> cores;
  for (std::size_t i = 0; i < kCores; ++i) {
    cores.push_back(std::make_unique<StormCore>(book, i, storm.operations, i + 1));
    machine.fabric().devices[i].cxl.cache->attach(*cores[i]);
    machine.fabric().devices[i].cxl.cache->wake();
  }
  const auto are_done = [&cores] {
    return std::all_of(cores.begin(), cores.end(), [](const auto& one) { return one->is_done(); });
  };
  ASSERT_TRUE(bench.run_until(are_done, Time::from_us(1'000'000)));
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(book.stale_reads, 0U);
  EXPECT_EQ(book.early_reads, 0U);
  EXPECT_EQ(book.begun, book.done) << "a lost write";
  for (const CheckResult& check : machine.result().checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  EXPECT_TRUE(machine.result().violations.empty());
  std::uint64_t replays = 0;
  for (const LinkResult& link : machine.result().rows<LinkResult>()) {
    replays += link.up.replay_events + link.down.replay_events;
  }
  EXPECT_EQ(replays > 100, storm.error_rate > 0) << replays;
  for (const std::unique_ptr<StormCore>& one : cores) {
    EXPECT_EQ(one->failed, 0U);
  }
  // What the last write of each core was, seen from another one.
  StormBook last = book;
  StormCore reader(last, 0, 2'000, 99);
  machine.fabric().devices[1].cxl.cache->attach(reader);
  machine.fabric().devices[1].cxl.cache->wake();
  ASSERT_TRUE(bench.run_until([&reader] { return reader.is_done(); }, Time::from_us(10'000)));
  EXPECT_EQ(last.stale_reads, 0U);
}

TEST(CxlCacheStorm, COH_1_2_LinesThatAreKeptAndOwned) {
  Storm storm;
  storm.operations = 250'000;  // a million of all four
  rage(storm);
}

TEST(CxlCacheStorm, COH_2_1_LinesThatAreReadAloneWherePossible) {
  rage({CxlCacheRead::kAny, CxlCacheWrite::kOwn});
}

TEST(CxlCacheStorm, COH_2_6_ReadsOnceAndWritesPastTheCache) {
  rage({CxlCacheRead::kCurrent, CxlCacheWrite::kThrough});
}

TEST(CxlCacheStorm, COH_2_3_WritesPastTheCacheOfLinesThatSomeKeep) {
  rage({CxlCacheRead::kShared, CxlCacheWrite::kPosted});
}

// [CXL-3.6] A replay neither loses nor repeats a message, and GO stays before the snoop behind it.
TEST(CxlCacheStorm, COH_1_5_OverLinksWithErrors) {
  rage({CxlCacheRead::kShared, CxlCacheWrite::kOwn, 1e-4});
}

// [COH-1.6] No channel waits for another one for ever.
TEST(CxlCacheStorm, COH_1_6_WithOneCreditOfEachClass) {
  rage({CxlCacheRead::kShared, CxlCacheWrite::kOwn, 0, 1, 5'000, 1});
}

// [CXL-6.2]
TEST(CxlCacheStorm, COH_1_5_In256ByteFlitsWithErrors) {
  rage({CxlCacheRead::kShared, CxlCacheWrite::kOwn, 1e-5, 24, 60'000, 256, CxlFlits::k256});
}

// [CXL-6.6] The first half of a flit is used before the second is there.
TEST(CxlCacheStorm, COH_1_5_InHalvesOfFlitsWithErrors) {
  rage({CxlCacheRead::kAny, CxlCacheWrite::kOwn, 1e-5, 24, 60'000, 256, CxlFlits::k256, true});
}

TEST(CxlCacheStorm, COH_1_6_In256ByteFlitsWithOneCreditOfEachClass) {
  rage({CxlCacheRead::kShared, CxlCacheWrite::kPosted, 0, 1, 5'000, 1, CxlFlits::k256});
}

}  // namespace
}  // namespace flitwise::cxl_cache_storm_test
