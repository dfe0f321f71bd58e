// SPDX-License-Identifier: Apache-2.0
// Waits at the agent and at a root port, of requests that come at once: what each waits is what its
// latency has grown by. docs/statistics.md, "Waits"
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "system/ats_bench.h"

namespace flitwise::translation_waits_test {
namespace {

using test::AtsBench;

Time waited(const std::vector<WaitResult>& waits, const std::string& resource) {
  const auto found = std::find_if(waits.begin(), waits.end(), [&](const WaitResult& one) {
    return one.resource.name == resource;
  });
  EXPECT_NE(found, waits.end()) << resource;
  return found == waits.end() ? Time{} : found->total;
}

/// No table entry is kept, so that all walks take the same time: 8 reads of 1 us each.
const std::vector<std::string> kEqualWalks = {"iommu.iotlb.entries=none",
                                              "iommu.context_cache.entries=none",
                                              "iommu.pasid_cache.entries=none",
                                              "iommu.paging_cache.entries=none",
                                              "host.memory.timing.latency=1us",
                                              "iommu.walkers=1",
                                              "device.timing.completion_timeout=100us"};

// Two reads of a page that is not there, and one of another page. The second waits for the walk of
// the first, which does not serve it, and then for the walker: one wait follows the other.
TEST(TranslationWaits, OfARequestFollowOneAnother) {
  AtsBench bench(kEqualWalks, false);
  bench.map(0, 0);
  bench.translate();
  bench.read(1);  // sets the accessed bits on the way
  ASSERT_TRUE(bench.finish());
  const Time start = now();
  const std::vector<std::uint32_t> reads = {bench.read(1), bench.read(1), bench.read(2)};
  ASSERT_TRUE(bench.finish());
  Time grown{};
  const Time alone = bench.engine.outcomes.at(reads[0]).end.when - start;
  EXPECT_GT(alone, Time::from_us(8));
  for (const std::uint32_t read : reads) {
    EXPECT_EQ(bench.status(read), TransferStatus::kUnsupportedRequest);
    grown += bench.engine.outcomes.at(read).end.when - start - alone;
  }
  const std::vector<WaitResult> waits = bench.bench.machine.agent().waits();
  EXPECT_NEAR(waited(waits, "pending_walks").ns(), 8'000, 50);
  EXPECT_NEAR(waited(waits, "walkers").ns(), 16'000, 100);
  EXPECT_NEAR((waited(waits, "pending_walks") + waited(waits, "walkers")).ns(), grown.ns(), 100);
}

// The completion of a read by the host comes to the root port while a write before it is walked.
TEST(TranslationWaits, OfACompletionBehindAWriteBeginWhenItComes) {
  AtsBench bench(kEqualWalks, false);
  bench.map(0, 0);
  bench.translate();
  const std::uint64_t bar = bench.bench.device().bar.base;
  const auto latency = [&] {
    const Time start = now();
    EXPECT_TRUE(bench.bench.read(bar, 4).is_ok());
    return now() - start;
  };
  const Time alone = latency();
  RootPort& port = *bench.bench.machine.fabric().root_ports[0];
  EXPECT_EQ(waited(port.waits(), "order"), Time{});
  bench.write(0, 1);
  const Time behind_write = latency();
  EXPECT_GT(behind_write - alone, Time::from_us(5));
  EXPECT_NEAR(waited(port.waits(), "order").ns(), (behind_write - alone).ns(), 200);
  ASSERT_TRUE(bench.finish());
}

}  // namespace
}  // namespace flitwise::translation_waits_test
