// SPDX-License-Identifier: Apache-2.0
// What a cache was given to write and memory never got is counted, wherever it was when the link
// went down. [CXL-7.5]
#include <gtest/gtest.h>

#include <algorithm>

#include "system/machine_bench.h"

namespace flitwise::cxl_cache_lost_test {
namespace {

constexpr std::uint64_t kBase = std::uint64_t{4} << 30;

/// Writes each line once.
class OnceEach final : public Engine {
 public:
  bool next(Time now, Transfer& transfer) override {
    transfer = Transfer();
    transfer.op = Op::kWrite;
    transfer.address = kBase + begun++ * kCxlLineBytes;
    transfer.bytes = kCxlLineBytes;
    transfer.issue = now;
    return true;
  }
  void finished(const TransferEnd& end) override {
    ++(end.status == TransferStatus::kDone ? done : lost);
  }
  Time next_at() const override { return Time::never(); }
  bool is_done() const override { return false; }
  std::string waits_for() const override { return ""; }

  std::uint64_t begun = 0, done = 0, lost = 0;
};

void lose(CxlCacheWrite write, Time after, Time memory = Time::from_ns(50)) {
  Config config;
  config.host.memory.timing.latency = memory;
  config.link.preset = {"cxl68_gen5x4", 5, 4, CxlFlits::k68};
  config.device.cxl.cache.size = Bytes{4} << 10;
  config.device.cxl.cache.write = write;
  config.workload.via = WorkloadVia::kCxlCache;
  MachineBench bench(config);
  Machine& machine = bench.machine;
  machine.set_up_at_once();
  FabricDevice& device = machine.fabric().devices[0];
  OnceEach core;
  device.cxl.cache->attach(core);
  device.cxl.cache->wake();
  sc_core::sc_start(to_sc_time(after));
  // As Link Disable does it.
  device.cxl.cache->link_lost(machine.fabric().homes[0]->lines_received(0));
  machine.fabric().homes[0]->link_lost(0);
  machine.fabric().links[0].link->take_down();
  sc_core::sc_start(to_sc_time(Time::from_us(2) + memory));
  std::uint64_t missing = 0;
  for (std::uint64_t line = 0; line < core.begun; ++line) {
    missing += machine.memory().peek_u64(kBase + line * kCxlLineBytes) == 0 ? 1 : 0;
  }
  const auto errors = device.cxl.cache->errors();
  const auto count = [&errors](const char* kind) {
    return errors.count(kind) > 0 ? errors.at(kind) : 0;
  };
  EXPECT_GT(core.begun, missing) << "some have been written";
  EXPECT_GT(count("cxl_line_lost"), 0U);
  // One more has begun, and waits in the core.
  EXPECT_EQ(missing, count("cxl_line_lost") + count("cxl_request_lost") + 1);
  if (write == CxlCacheWrite::kThrough) {  // [CXL-7.6]
    EXPECT_EQ(core.done, core.begun - missing);
    EXPECT_EQ(core.lost, missing - 1);
  }
  EXPECT_TRUE(machine.fabric().homes[0]->is_quiet());
  EXPECT_EQ(machine.fabric().homes[0]->copies(), 0U);
}

TEST(CxlCacheLost, CXL_7_5_LinesThatAreOwned) {
  lose(CxlCacheWrite::kOwn, Time::from_us(3));
}

TEST(CxlCacheLost, CXL_7_5_WritesPastTheCache) {
  lose(CxlCacheWrite::kThrough, Time::from_us(3));
}

// Many are at the home when the link goes down: memory gets them all the same.
TEST(CxlCacheLost, CXL_7_6_WritesThatTheHomeHasAreWritten) {
  lose(CxlCacheWrite::kThrough, Time::from_us(3), Time::from_us(1));
}

}  // namespace
}  // namespace flitwise::cxl_cache_lost_test
