// SPDX-License-Identifier: Apache-2.0
// CXL.io against its closed forms: 64 of 68 bytes of what non-flit mode has, and PCIe flit mode.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "validation/simulate_in_child.h"

namespace flitwise::cxl_io_test {
namespace {

using Json = nlohmann::ordered_json;

Simulation saturated(const char* preset, const char* identity, std::uint64_t payload) {
  return {"checks/saturated.yaml",
          {fmt::format("link.preset={}", preset), fmt::format("link.identity={}", identity),
           "link.mps=4096B", fmt::format("workload.payload={}B", payload),
           fmt::format("workload.requests={}", payload < 64 ? 40'000 : 8'000), "workload.domains=1",
           "run.warmup=256"}};
}

TEST(CxlIo, CXL_5_1_EfficiencyOf68ByteFlitsIsThatOfNonFlitModeTimes64Of68) {
  struct Form {
    const char* identity;
    unsigned overhead;
  };
  constexpr Form kForms[] = {{"bdf", 24}, {"bdf_pasid", 28}, {"dhi", 24}};
  constexpr std::uint64_t kPayloads[] = {4, 16, 64, 128, 256, 1024, 4096};
  for (const char* preset : {"cxl68_gen5x16", "cxl68_gen3x4"}) {
    std::vector<Simulation> runs;
    for (const Form& form : kForms) {
      for (const std::uint64_t payload : kPayloads) {
        runs.push_back(saturated(preset, form.identity, payload));
      }
    }
    const std::vector<Json> results = simulate_in_children(runs);
    std::size_t i = 0;
    for (const Form& form : kForms) {
      for (const std::uint64_t payload : kPayloads) {
        SCOPED_TRACE(runs[i].text());
        const Json& result = results[i++];
        ASSERT_FALSE(result.contains("failed")) << result;
        const Json& up = result.at("links")[0].at("up");
        const auto bytes = [&](const char* part) {
          return up.at("wire_bytes").at(part).get<double>();
        };
        const double used = bytes("total") - bytes("idle");
        const double share = (bytes("phy") + bytes("dllp")) / used;
        const auto s = static_cast<double>(payload);
        const double expected = 64.0 / 68 * s / (s + form.overhead) * (1 - share * 64 / 68);
        EXPECT_NEAR(up.at("link_efficiency").get<double>() / expected, 1, 0.002);
      }
    }
  }
}

TEST(CxlIo, CXL_5_2_256ByteFlitsAreThoseOfPcie) {
  std::vector<Json> results = simulate_in_children(
      {saturated("cxl256_gen6x16", "dhi", 64), saturated("gen6x16", "dhi", 64)});
  for (const char* part : {"links", "latency", "dhi"}) {
    EXPECT_EQ(results[0].at(part), results[1].at(part));
  }
}

}  // namespace
}  // namespace flitwise::cxl_io_test
