// SPDX-License-Identifier: Apache-2.0
// Flit mode against its closed forms: efficiency of saturated writes, the payload at which non-flit
// mode overtakes it, what a handle saves. Bit errors: flit_errors_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/link_model.h"
#include "validation/simulate_in_child.h"

namespace flitwise::flit_mode_test {
namespace {

using Json = nlohmann::ordered_json;

struct Form {
  const char* identity;
  const char* dhi_form;
  unsigned overhead;        // base header of four DWs, and OHC-A
  unsigned identity_bytes;  // of each TLP
};
constexpr Form kForms[] = {{"none", "rid_direct", 16, 0},
                           {"bdf", "rid_direct", 16, 0},
                           {"bdf_pasid", "rid_direct", 20, 4},
                           {"dhi", "rid_direct", 16, 0},
                           {"dhi", "ohc", 20, 4}};
constexpr std::uint64_t kPayloads[] = {4, 8, 12, 16, 32, 64, 100, 128, 256, 512, 1024, 2048, 4096};

Simulation saturated(const char* preset, const Form& form, std::uint64_t payload,
                     std::vector<std::string> more = {}) {
  Simulation run{
      "checks/saturated.yaml",
      {fmt::format("link.preset={}", preset), fmt::format("link.identity={}", form.identity),
       fmt::format("link.dhi_form={}", form.dhi_form), "link.mps=4096B",
       fmt::format("workload.payload={}B", payload),
       fmt::format("workload.requests={}", payload < 64 ? 40'000 : 8'000), "workload.domains=1",
       "run.warmup=256"}};
  run.sets.insert(run.sets.end(), more.begin(), more.end());
  return run;
}

const Json& up_of(const Json& result) {
  return result.at("links")[0].at("up");
}

double bytes_of(const Json& up, const char* part) {
  return up.at("wire_bytes").at(part).get<double>();
}

/// Of what was not idle, the share that SKP ordered sets took.
double skp_share(const Json& up) {
  return bytes_of(up, "phy") / (bytes_of(up, "total") - bytes_of(up, "idle"));
}

// [LNK-11.1] [LNK-11.10]
TEST(FlitMode, LNK_11_2_EfficiencyIsThatOfTheClosedFormAtEveryPayload) {
  for (const char* preset : {"gen6x16", "gen6x4"}) {
    std::vector<Simulation> runs;
    for (const Form& form : kForms) {
      for (const std::uint64_t payload : kPayloads) {
        runs.push_back(saturated(preset, form, payload));
      }
    }
    const std::vector<Json> results = simulate_in_children(runs);
    std::size_t i = 0;
    for (const Form& form : kForms) {
      for (const std::uint64_t payload : kPayloads) {
        SCOPED_TRACE(runs[i].text());
        const Json& result = results[i++];
        ASSERT_FALSE(result.contains("failed")) << result;
        const Json& up = up_of(result);
        const double expected = flit_mode_efficiency(payload, form.overhead) * (1 - skp_share(up));
        EXPECT_NEAR(up.at("link_efficiency").get<double>() / expected, 1, 0.001);
        // Saturated: the wire is idle while the last write is on its way to memory, and no longer.
        const double lanes = std::string(preset) == "gen6x16" ? 16 : 4;
        EXPECT_LT(bytes_of(up, "idle") * 8 / (64 * lanes), 250) << "ns";
        const double tlps = up.at("tlps").get<double>();
        EXPECT_NEAR(bytes_of(up, "identity") / tlps, form.identity_bytes, 0.01);
      }
    }
  }
}

// With 4DW headers and no PASID, SKP off on both. [LNK-11.1]
TEST(FlitMode, Crossover_NonFlitModeOvertakesItBetween100And104BytesOfPayload) {
  const auto efficiency = [](const char* preset, std::uint64_t payload) {
    const Json result =
        simulate_in_children({saturated(preset, kForms[1], payload, {"link.skp=off"})})[0];
    const Json& up = up_of(result);
    // Per raw byte: what Acks of the other direction take does not count on either.
    const double overhead = bytes_of(up, "dllp") * (std::string(preset) == "gen5x16" ? 1 : 0);
    return up.at("payload_bytes").get<double>() /
           (bytes_of(up, "total") - bytes_of(up, "idle") - overhead);
  };
  EXPECT_GT(efficiency("gen6x16", 96), efficiency("gen5x16", 96));
  EXPECT_GT(efficiency("gen6x16", 100), efficiency("gen5x16", 100));
  EXPECT_LT(efficiency("gen6x16", 104), efficiency("gen5x16", 104));
  EXPECT_LT(efficiency("gen6x16", 112), efficiency("gen5x16", 112));
}

// A payload that ends within a DW needs OHC-A for its byte enables: a handle saves nothing then.
// [DHI D23]
TEST(FlitMode, LNK_11_10_AHandleSavesNothingWhereByteEnablesNeedOhcA) {
  const std::vector<Json> results = simulate_in_children({saturated("gen6x16", kForms[2], 61),
                                                          saturated("gen6x16", kForms[3], 61),
                                                          saturated("gen6x16", kForms[1], 61)});
  for (const Json& result : results) {
    ASSERT_FALSE(result.contains("failed")) << result;
    const Json& up = up_of(result);
    const double tlps = up.at("tlps").get<double>();
    EXPECT_NEAR(bytes_of(up, "header") / tlps, 20, 0.01);
    EXPECT_NEAR(bytes_of(up, "identity") / tlps, 0, 0.01);
  }
}

// Below 64 GT/s flits stand in the line coding of their generation.
TEST(FlitMode, LNK_11_1_FlitModeOfLowerGenerations) {
  for (const char* preset : {"gen1x8", "gen3x16", "gen5x1"}) {
    const Simulation run =
        saturated(preset, kForms[2], 64, {"link.flit_mode=true", "link.skp=off"});
    SCOPED_TRACE(run.text());
    const Json result = simulate_in_children({run})[0];
    ASSERT_FALSE(result.contains("failed")) << result;
    const Json& up = up_of(result);
    const double coding = std::string(preset) == "gen1x8" ? 0.8 : 128.0 / 130;
    EXPECT_NEAR(up.at("link_efficiency").get<double>() / (flit_mode_efficiency(64, 20) * coding), 1,
                0.001);
  }
}

}  // namespace
}  // namespace flitwise::flit_mode_test
