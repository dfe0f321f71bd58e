// SPDX-License-Identifier: Apache-2.0
// Machines with hardly any dedicated credits and a few shared ones: posted requests, reads and
// completions both ways at once, to the end. [LNK-11.23] to [LNK-11.27]
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/load.h"
#include "machine_bench.h"

namespace flitwise::shared_credits_test {
namespace {

constexpr unsigned kHostRequests = 500;
constexpr std::uint64_t kDeviceRequests = 5'000;

// One dedicated header of each class keeps it going, and data for one TLP of the largest size.
constexpr const char* kFewCredits = R"(
link:
  preset: gen6x4
  credits: {posted_headers: 1, posted_data: 16, nonposted_headers: 1, nonposted_data: 1, completion_headers: 1, completion_data: 16}
  shared_credits: {posted_headers: 3, posted_data: 24, nonposted_headers: 2}
workload: {kind: read_write, payload: 64B, requests: 5000}
device: {dma: {outstanding: 256}}
)";
constexpr const char* kMerged = "link.shared_credits.merged=true";

/// The device reads and writes memory while the host writes and reads the device's.
void expect_all_done(const std::vector<std::string>& sets) {
  LoadOptions options;
  options.sets = sets;
  MachineBench bench(config_from_text(kFewCredits, "shared_credits.yaml", "", options));
  ASSERT_TRUE(bench.bring_up());
  bench.machine.start();
  const std::uint64_t at = bench.device().bar.base + 0x1000;
  const std::vector<std::uint8_t> line(64, 0x5a);
  unsigned answered = 0;
  for (unsigned i = 0; i < kHostRequests; ++i) {
    ASSERT_TRUE(bench.machine.bridge().write(at, line.data(), line.size(), false));
    bench.machine.bridge().read(at, 64, [&](const HostAnswer& answer) {
      answered += answer.is_ok() && answer.data == line ? 1 : 0;
    });
  }
  ASSERT_TRUE(bench.run_until([&] { return answered == kHostRequests; }, Time::from_us(50'000)));
  ASSERT_TRUE(bench.finish());
  EXPECT_GE(bench.wire.up(TlpType::kCplD), kHostRequests);
  EXPECT_GE(bench.wire.down(TlpType::kMWr), kHostRequests);
  EXPECT_GT(bench.wire.up(TlpType::kMWr), 0U);
  EXPECT_GT(bench.wire.down(TlpType::kCplD), 0U);
  const RunResult result = bench.machine.result();
  EXPECT_TRUE(result.errors.empty());
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  std::uint64_t completed = 0;
  for (const LatencyResult& latency : result.rows<LatencyResult>()) {
    completed += latency.name == "dma_read" || latency.name == "dma_write" ? latency.count : 0;
  }
  EXPECT_EQ(completed, kDeviceRequests);
}

TEST(SharedCredits, LNK_11_26_MergedAllTrafficBothWaysIsDone) {
  expect_all_done({kMerged});
}

TEST(SharedCredits, LNK_11_23_ApartAllTrafficBothWaysIsDone) {
  expect_all_done(
      {"link.shared_credits.completion_headers=3", "link.shared_credits.completion_data=24"});
}

// What is lost with a damaged flit, updates of credits among it, is told again.
TEST(SharedCredits, LNK_11_27_UnderBitErrorsAllTrafficIsDone) {
  expect_all_done({kMerged, "link.error_rate=1e-4"});
}

// A switch sends a TLP on, on a link with pools of its own, before it frees the room on the first.
TEST(SharedCredits, LNK_11_23_BelowASwitchRoomGoesBackToItsPool) {
  expect_all_done({kMerged, "system.topology=switch"});
}

// On a link of CXL with 256-byte flits CXL.io has the credits of flit mode.
TEST(SharedCredits, LNK_11_23_OnCxlIoAllTrafficIsDone) {
  expect_all_done({kMerged, "link.preset=cxl256_gen6x4"});
}

/// "CAPACITY of KEY" of one row of the link, up.
std::string row_of(MachineBench& bench, const std::string& resource) {
  for (const WaitResult& row : bench.machine.fabric().links[0].link->waits()) {
    if (row.resource.name == resource && row.resource.direction == "up") {
      return std::to_string(row.resource.capacity) + " of " + row.resource.key;
    }
  }
  return "none";
}

// What bounds a class is both kinds together; the key is that of the pool that can grow alone.
TEST(SharedCredits, LNK_11_23_RowsOfWaitsHaveBothKinds) {
  MachineBench bench(config_from_text(kFewCredits, "shared_credits.yaml", "", {{kMerged}, {}}));
  ASSERT_TRUE(bench.bring_up());
  EXPECT_EQ(row_of(bench, "posted_headers"), "4 of link.shared_credits.posted_headers");
  EXPECT_EQ(row_of(bench, "posted_data"), "40 of link.shared_credits.posted_data");
  EXPECT_EQ(row_of(bench, "nonposted_headers"), "3 of link.shared_credits.nonposted_headers");
  EXPECT_EQ(row_of(bench, "nonposted_data"), "1 of link.credits.nonposted_data");
  EXPECT_EQ(row_of(bench, "completion_headers"), "4 of link.shared_credits.posted_headers");
  EXPECT_EQ(row_of(bench, "completion_data"), "40 of link.shared_credits.posted_data");
}

}  // namespace
}  // namespace flitwise::shared_credits_test
