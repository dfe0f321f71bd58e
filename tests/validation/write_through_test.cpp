// SPDX-License-Identifier: Apache-2.0
// Whole lines that a device's cache hands through to memory: their requests are over when memory
// has them, so that a slow memory is in their latency and in the window. [CXL-7.6] [COH-3.11]
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "validation/simulate_in_child.h"

namespace flitwise::write_through_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLineBits = 512;

Simulation writes(const char* preset, unsigned requests, double gbps) {
  return {"bench/cxl_mem_read_64B.yaml",
          {"workload.via=cxl_cache", "device.cxl.memory=none",
           fmt::format("link.preset={}", preset), "device.cxl.cache.size=64KiB",
           "device.cxl.cache.write=through", "workload.kind=posted_write",
           "workload.buffer_size=64MiB", fmt::format("workload.requests={}", requests),
           fmt::format("host.memory.bandwidth={}Gb/s", gbps)}};
}

double figure(const Json& rows, const char* key, const char* name, const char* figure) {
  for (const Json& one : rows) {
    if (one.at(key) == name) {
      return one.at(figure).get<double>();
    }
  }
  throw std::runtime_error(std::string("nothing is called ") + name);
}

double mean_ns(const Json& result) {
  return figure(result.at("latency"), "name", "dma_write", "mean");
}

double window_ns(const Json& result) {
  return result.at("flitwise").at("simulated_ns").get<double>();
}

// Little's law at the memory: what requests take in all is what they wait for its bus, and what
// each takes alone. Memory is far slower than the wire, so that waits for that are little beside
// it.
TEST(WriteThrough, CXL_7_6_LatencyHasTheWaitForMemory) {
  constexpr unsigned kRequests = 500;
  for (const char* preset : {"cxl68_gen5x16", "cxl256_gen6x16"}) {
    for (const double gbps : {1.0, 4.0, 10.0}) {
      SCOPED_TRACE(fmt::format("{} {} Gb/s", preset, gbps));
      const std::vector<Json> results =
          simulate_in_children({writes(preset, kRequests, gbps), writes(preset, 1, gbps)});
      for (const Json& result : results) {
        ASSERT_FALSE(result.contains("failed")) << result;
      }
      const double waits = figure(results[0].at("waits"), "resource", "bandwidth", "wait_ns");
      const double expected = waits / kRequests + mean_ns(results[1]);
      EXPECT_NEAR(mean_ns(results[0]), expected, 0.02 * expected + 100);
      EXPECT_GE(window_ns(results[0]), kRequests * kLineBits / gbps) << "more than memory takes";
      EXPECT_LE(window_ns(results[0]), kRequests * kLineBits / gbps + 2 * mean_ns(results[1]));
    }
  }
}

// What goodput has beyond the rate of memory is in the home, at most as many as it works for at
// once, and at the cache, one for each CQID. [COH-3.9]
TEST(WriteThrough, CXL_7_6_GoodputIsThatOfMemoryAndWhatTheHomeHolds) {
  constexpr unsigned kRequests = 30'000;
  constexpr double kGbps = 20, kAtHome = 4096, kCqids = 256;
  const std::vector<Json> results =
      simulate_in_children({writes("cxl256_gen6x16", kRequests, kGbps)});
  ASSERT_FALSE(results[0].contains("failed")) << results[0];
  const double on_wire =
      kRequests * kLineBits / results[0].at("links")[0].at("up").at("goodput_gbps").get<double>();
  EXPECT_LE(kRequests * kLineBits, kGbps * on_wire + (kAtHome + kCqids) * kLineBits);
  EXPECT_LE(kRequests * kLineBits / window_ns(results[0]), kGbps);
  const double out = kRequests * mean_ns(results[0]) / window_ns(results[0]);
  EXPECT_LE(out, kAtHome + kCqids + 1) << "one more waits in the core";
  EXPECT_GE(out, 0.9 * kAtHome);
}

}  // namespace
}  // namespace flitwise::write_through_test
