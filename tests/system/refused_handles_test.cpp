// SPDX-License-Identifier: Apache-2.0
// Domains whose handles the host refuses. [DHI D9] [DHI D14] [DHI S2] [DHI S3]
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/load.h"
#include "machine_bench.h"
#include "results/summary_table.h"

namespace flitwise::refused_handles_test {
namespace {

constexpr unsigned kDomains = 16;
constexpr unsigned kGranted = 8;
constexpr std::uint64_t kBuffers = std::uint64_t{64} << 20;

/// Sixteen domains of one function, half of which the host grants.
Config half_granted(const std::string& alloc_order, const std::string& kind, unsigned bits) {
  return config_from_text(fmt::format(R"(
host: {{dhi: {{grant: configured, granted: {{last_pasid: {}}}}}}}
link: {{identity: dhi}}
device: {{dhi: {{bits: {}, alloc_order: {}, on_miss: bypass}}}}
workload:
  {{kind: {}, domains: {}, payload: 64B, requests: 4000, buffer_base: 64MiB, buffer_size: 4KiB}}
)",
                                      kGranted - 1, bits, alloc_order, kind, kDomains),
                          "half_granted.yaml", "");
}

bool is_zero(Machine& machine, std::uint64_t from, std::size_t bytes) {
  std::vector<std::uint8_t> seen(bytes);
  EXPECT_TRUE(machine.memory().peek(from, seen.data(), bytes));
  return std::all_of(seen.begin(), seen.end(), [](std::uint8_t byte) { return byte == 0; });
}

void expect_refused_once_each(const std::string& alloc_order, const std::string& kind) {
  MachineBench bench(half_granted(alloc_order, kind, 6));
  ASSERT_TRUE(bench.bring_up());
  ASSERT_TRUE(bench.run_workload());
  const RunResult result = bench.machine.result();
  const DhiResult& dhi = result.rows<DhiResult>().at(0);
  EXPECT_EQ(dhi.rejections.at("pasid_not_granted"), kDomains - kGranted);
  EXPECT_EQ(dhi.allocs, kDomains);
  EXPECT_EQ(dhi.wrong_domain, 0U);
  EXPECT_EQ(result.errors.at("alloc_refused"), kDomains - kGranted);
  EXPECT_GT(result.errors.at("not_granted"), 1000U) << "they go in full from then on";
  EXPECT_GT(dhi.bypasses, 1000U);
}

// [DHI D9] [DHI D14]
TEST(RefusedHandles, D9_RefusedDomainAsksOnceAndGoesInFullWithAck) {
  expect_refused_once_each("ack", "posted_write");
}
TEST(RefusedHandles, D9_RefusedDomainAsksOnceAndGoesInFullWithFlush) {
  expect_refused_once_each("flush", "read");
}

// Hardly any handle is free: bypassed messages name their domains in full. [DHI S2]
TEST(RefusedHandles, S2_BypassReachesNoDomainThatIsNotGranted) {
  MachineBench bench(half_granted("flush", "posted_write", 2));
  ASSERT_TRUE(bench.bring_up());
  ASSERT_TRUE(bench.run_workload());
  for (unsigned domain = 0; domain < kDomains; ++domain) {
    EXPECT_EQ(is_zero(bench.machine, kBuffers + domain * 4096, 4096), domain >= kGranted) << domain;
  }
  EXPECT_GT(bench.machine.result().errors.at("not_granted"), 1000U);
}

// Reads of a refused domain wait for credits while its handle would be free: an ALLOC of the next
// owner may overtake them. [DHI S2]
void expect_no_wrong_domain(const std::string& alloc_order) {
  MachineBench bench(config_from_text(fmt::format(R"(
host: {{memory: {{bandwidth: 4Gb/s}}, dhi: {{grant: configured, granted: {{last_pasid: 7}}}}}}
link: {{identity: dhi, credits: {{nonposted_headers: 2, nonposted_data: 2}}}}
device: {{dhi: {{bits: 3, alloc_order: {}, on_miss: bypass}}}}
workload:
  {{kind: read_write, domains: 64, domain_choice: churn, churn: 0.2, requests: 5000,
    buffer_base: 64MiB, buffer_size: 4KiB}}
)",
                                                  alloc_order),
                                      "churn.yaml", ""));
  ASSERT_TRUE(bench.bring_up());
  ASSERT_TRUE(bench.run_workload());
  const DhiResult dhi = bench.machine.result().rows<DhiResult>().at(0);
  EXPECT_GT(dhi.rejections.at("pasid_not_granted"), 100U);
  EXPECT_GT(dhi.rejections.at("no_valid_entry"), 100U);
  EXPECT_EQ(dhi.wrong_domain, 0U);
}
TEST(RefusedHandles, S2_RefusedHandleNeverServesItsNextOwnerEarlyWithAck) {
  expect_no_wrong_domain("ack");
}
TEST(RefusedHandles, S2_RefusedHandleNeverServesItsNextOwnerEarlyWithFlush) {
  expect_no_wrong_domain("flush");
}

// [DHI D14]
TEST(RefusedHandles, D14_SummaryNamesEveryKindOfRefusal) {
  MachineBench bench(half_granted("ack", "posted_write", 6));
  ASSERT_TRUE(bench.bring_up());
  ASSERT_TRUE(bench.run_workload());
  const std::string text = summary_text(bench.machine.result());
  for (const char* const kind : {"pasid_not_granted", "not_granted", "alloc_refused"}) {
    EXPECT_NE(text.find(kind), std::string::npos) << kind << " in\n" << text;
  }
}

}  // namespace
}  // namespace flitwise::refused_handles_test
