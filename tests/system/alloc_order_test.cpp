// SPDX-License-Identifier: Apache-2.0
// Which order of ALLOC and use is safe where relaxed ordering lets uses overtake. [DHI D8]
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "config/load.h"
#include "flitwise/system.h"

namespace flitwise::alloc_order_test {
namespace {

/// Many domains take turns on few handles, and whatever may overtake does.
RunResult run_with(const std::string& alloc_order) {
  const std::string yaml = fmt::format(R"(
link:
  identity: dhi
  relaxed_passing: eager
  credits: {{posted_headers: 8, posted_data: 64, scaled: false, nonposted_headers: 32, nonposted_data: 32}}
device:
  dma: {{relaxed_ordering: true}}
  dhi: {{bits: 3, alloc_order: {}}}
workload: {{kind: posted_write, payload: 64B, domains: 64, domain_choice: zipf, requests: 20000}}
)",
                                       alloc_order);
  System system(config_from_text(yaml, "alloc_order.yaml", ""));
  return system.run();
}

TEST(AllocOrder, D8_NoneLetsUsesOvertakeTheirAlloc) {
  const DhiResult dhi = run_with("none").rows<DhiResult>().at(0);
  EXPECT_GT(dhi.wrong_domain, 0U);
}

TEST(AllocOrder, D8_FlushNeverReachesAWrongDomain) {
  const RunResult result = run_with("flush");
  EXPECT_EQ(result.rows<DhiResult>().at(0).wrong_domain, 0U);
  EXPECT_EQ(result.rows<DhiResult>().at(0).rejected, 0U);
  EXPECT_GT(result.rows<DhiResult>().at(0).evictions, 1000U);
  EXPECT_GT(result.rows<DhiResult>().at(0).flushes, 0U);
}

TEST(AllocOrder, D8_AckNeverReachesAWrongDomain) {
  const RunResult result = run_with("ack");
  EXPECT_EQ(result.rows<DhiResult>().at(0).wrong_domain, 0U);
  EXPECT_EQ(result.rows<DhiResult>().at(0).rejected, 0U);
  EXPECT_GT(result.rows<DhiResult>().at(0).evictions, 1000U);
  EXPECT_GT(result.rows<DhiResult>().at(0).acks, 0U);
}

}  // namespace
}  // namespace flitwise::alloc_order_test
