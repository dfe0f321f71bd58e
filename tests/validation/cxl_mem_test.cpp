// SPDX-License-Identifier: Apache-2.0
// CXL.mem in 68-byte flits against the published rows of link efficiency, saturated, without SKP.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "validation/simulate_in_child.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

Simulation saturated(const char* kind, std::vector<std::string> more = {}) {
  Simulation run{
      "bench/cxl_mem_read_64B.yaml",
      {"link.skp=off", fmt::format("workload.kind={}", kind), "workload.requests=20000",
       "run.warmup=1000", "host.cxl_mem.outstanding=1024", "link.cxl.req_credits=1024",
       "link.cxl.rsp_credits=1024", "link.cxl.data_credits=1024", "link.cxl.queue_depth=1024"}};
  run.sets.insert(run.sets.end(), more.begin(), more.end());
  return run;
}

// Of the bytes of flits: line coding and what nobody asked for are not theirs. [published rows 52+]
double efficiency(const Json& direction) {
  const auto bytes = [&](const char* part) {
    return direction.at("wire_bytes").at(part).get<double>();
  };
  return bytes("payload") / (bytes("total") - bytes("phy") - bytes("idle"));
}

TEST(CxlMem, CXL_2_5_ReadDataFillTheFlitsAsPublished) {
  const std::vector<Json> results = simulate_in_children({saturated("read")});
  ASSERT_FALSE(results[0].contains("failed")) << results[0];
  const Json& up = results[0].at("links")[0].at("up");
  EXPECT_NEAR(efficiency(up) / (128 / (2.25 * 68)), 1, 0.01) << "row 53";
  // 52.7 GB/s on 16 lanes of 32 GT/s, less the sync headers.
  EXPECT_NEAR(up.at("goodput_gbps").get<double>() / 8 / (52.7 * 128 / 130), 1, 0.02);
}

TEST(CxlMem, CXL_2_7_WritesFillTheFlitsAsPublished) {
  const std::vector<Json> results = simulate_in_children({saturated("posted_write")});
  ASSERT_FALSE(results[0].contains("failed")) << results[0];
  const Json& down = results[0].at("links")[0].at("down");
  EXPECT_NEAR(efficiency(down) / (64 / (1.25 * 68)), 1, 0.01) << "row 56";
}

// A read alone on the link: bridge, flit, flight, controller, memory, and back.
TEST(CxlMem, CXL_3_8_AReadAloneTakesTheSumOfItsParts) {
  const std::vector<Json> results = simulate_in_children(
      {saturated("read", {"workload.requests=200", "run.warmup=0", "host.cxl_mem.outstanding=1"})});
  ASSERT_FALSE(results[0].contains("failed")) << results[0];
  const double mean = results[0].at("latency")[0].at("mean").get<double>();
  const double parts = 25 + 35 + 15 + 80 + 15 + 35 + 25;  // defaults
  EXPECT_GT(mean, parts + 2);                             // one flit down, two up
  EXPECT_LT(mean, parts + 10);                            // and clock edges
}

}  // namespace
}  // namespace flitwise
