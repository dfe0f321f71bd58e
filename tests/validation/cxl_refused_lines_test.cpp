// SPDX-License-Identifier: Apache-2.0
// What is counted of lines that a cache is refused: no hits, and no payload.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "validation/simulate_in_child.h"

namespace flitwise::cxl_refused_lines_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kRequests = 1200;

// Four domains in turn; nothing that is read is kept.
Json result_of(const std::vector<std::string>& sets) {
  Simulation run{"bench/cxl_mem_read_64B.yaml",
                 {"link.skp=off", fmt::format("workload.requests={}", kRequests), "run.warmup=0",
                  "workload.via=cxl_cache", "device.cxl.memory=none", "device.cxl.cache.size=64KiB",
                  "device.cxl.cache.read=current", "workload.domains=4"}};
  run.sets.insert(run.sets.end(), sets.begin(), sets.end());
  const Json result = simulate_in_children({run}).at(0);
  EXPECT_FALSE(result.contains("failed")) << run.text() << ": " << result;
  return result;
}

std::uint64_t good_reads(const Json& result) {
  for (const Json& one : result.at("latency")) {
    if (one.at("name") == "dma_read") {
      return one.at("count");
    }
  }
  throw std::runtime_error("no reads");
}

std::uint64_t payload_down(const Json& result) {
  return result.at("links").at(0).at("down").at("payload_bytes");
}

TEST(CxlRefusedLines, CXL_7_8_ARequestThatNothingCanNameIsNoHit) {
  const Json result = result_of({"link.cxl.identity=dhi_added", "host.dhi.grant=configured",
                                 "host.dhi.granted.last_pasid=1"});
  EXPECT_EQ(good_reads(result), kRequests / 2);
  const Json& cache = result.at("cxl_cache").at(0);
  EXPECT_EQ(cache.at("reads"), kRequests);
  EXPECT_EQ(cache.at("hits"), 0) << "RdCurr keeps nothing";
  EXPECT_EQ(payload_down(result), 64 * kRequests / 2);
}

TEST(CxlRefusedLines, COH_3_13_TheDataOfARefusalAreNoPayload) {
  for (const char* const read : {"current", "shared"}) {
    const Json half =
        result_of({fmt::format("device.cxl.cache.read={}", read), "link.cxl.identity=full_added",
                   "host.dma_window.base=4GiB", "host.dma_window.size=128KiB"});
    EXPECT_EQ(good_reads(half), kRequests / 2) << read;
    EXPECT_EQ(payload_down(half), 64 * kRequests / 2) << read;
    const Json none =
        result_of({fmt::format("device.cxl.cache.read={}", read), "host.dhi.grant=configured",
                   "host.dhi.granted.without_pasid=false"});
    EXPECT_EQ(good_reads(none), 0U) << read;
    EXPECT_EQ(payload_down(none), 0U) << read;
  }
}

}  // namespace
}  // namespace flitwise::cxl_refused_lines_test
