// SPDX-License-Identifier: Apache-2.0
// Where the measured window begins and ends (docs/statistics.md).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "validation/simulate_in_child.h"

namespace flitwise::window_test {
namespace {

using Json = nlohmann::ordered_json;

/// A sum over the errors of a result, refusals by rule left out.
double errors_in(const Json& result) {
  double sum = 0;
  for (const Json& error : result.at("errors")) {
    const bool is_part = error.at("kind").get<std::string>().find('.') != std::string::npos;
    sum += is_part ? 0 : error.at("count").get<double>();
  }
  return sum;
}

Simulation attack(std::uint64_t warmup, std::uint64_t requests) {
  return {"checks/saturated.yaml",
          {"workload.kind=hostile", "link.identity=dhi",
           fmt::format("workload.requests={}", requests), fmt::format("run.warmup={}", warmup)}};
}

TEST(Window, ErrorsAndRefusedHandlesOfTheWarmUpAreLeftOut) {
  const std::vector<Json> results =
      simulate_in_children({attack(0, 20'000), attack(15'000, 5'000)});
  const auto share = [&](auto figure) { return figure(results[1]) / figure(results[0]); };
  EXPECT_NEAR(share(errors_in), 0.25, 0.03);
  const auto rejected = [](const Json& result) {
    return result.at("dhi")[0].at("rejected").get<double>();
  };
  EXPECT_GT(rejected(results[0]), 1000);
  EXPECT_NEAR(share(rejected), 0.25, 0.03);
}

// One device is done before the other has warmed up.
TEST(Window, EachDeviceIsMeasuredFromTheEndOfItsOwnWarmUpToItsOwnLastRequest) {
  const Simulation run{"checks/saturated.yaml",
                       {"system.devices=2", "system.instances={rp1-ep1: {link: {preset: gen1x1}}}",
                        "link.identity=dhi", "workload.domains=16", "device.dhi.bits=2",
                        "workload.requests=3000", "run.warmup=500"}};
  const Json result = simulate_in_children({run})[0];
  ASSERT_FALSE(result.contains("failed")) << result;
  for (const std::size_t device : {0U, 1U}) {
    const Json& up = result.at("links")[device].at("up");
    EXPECT_EQ(up.at("payload_bytes").get<std::uint64_t>(), 3000U * 64) << device;
    EXPECT_EQ(result.at("dhi")[device].at("lookups").get<std::uint64_t>(), 3000U) << device;
    const Json& dhi = result.at("dhi")[device];
    EXPECT_EQ(dhi.at("hits").get<std::uint64_t>() + dhi.at("allocs").get<std::uint64_t>(), 3000U);
    // Of the idle time of the neighbour nothing is in the window.
    const double goodput_window = 3000 * 64 * 8 / up.at("goodput_gbps").get<double>();
    EXPECT_LT(up.at("window_ns").get<double>(), goodput_window * 1.1 + 500) << device;
  }
}

// The window of a single request is its latency: no idle time is left over behind it.
TEST(Window, EndsWithTheLastRequest) {
  const auto one = [](const char* kind) {
    return Simulation{"checks/saturated.yaml",
                      {fmt::format("workload.kind={}", kind), "workload.requests=1"}};
  };
  const std::vector<Json> results = simulate_in_children({one("read"), one("posted_write")});
  for (const std::size_t i : {0U, 1U}) {
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    const Json& latency = results[i].at("latency")[i];  // dma_read, dma_write
    EXPECT_EQ(latency.at("count"), 1);
    const double simulated = results[i].at("flitwise").at("simulated_ns").get<double>();
    EXPECT_DOUBLE_EQ(simulated, latency.at("max").get<double>());
    const double window = results[i].at("links")[0].at("up").at("window_ns").get<double>();
    EXPECT_NEAR(window, simulated, 1.0) << "to the symbol";
  }
}

// A received message begins with its read of a descriptor: what waits for one of few reads is not
// under way yet.
TEST(Window, AMessageOfSeveralStepsBeginsWithTheFirst) {
  std::vector<Simulation> runs;
  for (const unsigned outstanding : {1U, 8U}) {
    runs.push_back({"checks/saturated.yaml",
                    {"workload.kind=nic", "workload.read_fraction=0", "workload.payload=1KiB",
                     "run.warmup=500", "workload.requests=500",
                     fmt::format("device.dma.outstanding={}", outstanding)}});
  }
  for (const Json& result : simulate_in_children(runs)) {
    ASSERT_FALSE(result.contains("failed")) << result;
    // The message, its completion entry and its interrupt.
    EXPECT_EQ(result.at("links")[0].at("up").at("payload_bytes").get<std::uint64_t>(),
              500U * (1024 + 64 + 4));
  }
}

// Requests of the warm-up that wait at the ATC reach into the window: neither their look-ups nor
// their Translation Requests are counted, so that the figures of a row belong together.
TEST(Window, LookUpsOfAnAtcAndItsTranslationRequestsAreOfTheCountedRequests) {
  const Simulation run{"checks/saturated.yaml",
                       {"workload.kind=read", "workload.placement=random",
                        "workload.buffer_size=4MiB", "iommu.translation=first_stage",
                        "device.atc.enabled=true", "device.atc.entries=16", "device.atc.requests=4",
                        "device.dma.outstanding=128", "run.warmup=1000", "workload.requests=200"}};
  const Json result = simulate_in_children({run})[0];
  ASSERT_FALSE(result.contains("failed")) << result;
  const Json& ats = result.at("ats")[0];
  const auto count = [&](const char* key) { return ats.at(key).get<std::uint64_t>(); };
  EXPECT_EQ(count("hits") + count("misses") + count("misses_under_miss"), 200U);
  EXPECT_LE(count("requests"), count("misses")) << "a miss asks once, or finds what it wants";
  EXPECT_GE(count("requests"), count("misses") * 9 / 10);
}

}  // namespace
}  // namespace flitwise::window_test
