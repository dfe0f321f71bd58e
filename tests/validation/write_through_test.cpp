// SPDX-License-Identifier: Apache-2.0
// Whole lines that a device's cache hands through to memory: their requests are over when memory
// has them, so that a slow memory is in their latency and in the window. [CXL-7.6] [COH-3.9]
// [COH-3.11]
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

Simulation slow_writes(unsigned caches, unsigned requests, unsigned cqids) {
  Simulation run{
      "examples/cxl_cache.yaml",
      {"device.cxl.cache.write=through", "workload.kind=posted_write", "run.warmup=0",
       "workload.buffer_size=64MiB", "workload.placement=ring", "host.memory.timing.latency=100us",
       fmt::format("system.devices={}", caches), fmt::format("workload.requests={}", requests),
       fmt::format("device.cxl.cache.requests={}", cqids)}};
  if (caches > 1) {  // each has lines of its own, so that nobody waits for a line
    run.sets.push_back("system.instances.ep1.workload.buffer_base=8GiB");
  }
  return run;
}

/// Of all places together.
double waits(const Json& result, const char* resource, const char* what) {
  double all = 0;
  for (const Json& row : result.at("waits")) {
    all += row.at("resource") == resource ? row.at(what).get<double>() : 0;
  }
  return all;
}

// Memory takes 100 us for each line and any number at once. So the home works for 4,096 requests,
// then for the next ones: 4,096 with one cache, 2,048 of both together with two, and more CQIDs do
// not help. Whatever was not among the first waited, and that is what latency grows by.
TEST(WriteThrough, COH_3_9_WaitsForRoomAtTheHomeAreWhatTheLatencyGrowsBy) {
  constexpr unsigned kRequests = 40'960;
  struct Bound {
    unsigned caches, cqids, at_work;
  };
  const Bound all[] = {{1, 256, 4096}, {1, 1024, 4096}, {2, 256, 2048}};
  std::vector<Simulation> runs = {slow_writes(1, 1, 256)};
  for (const Bound& one : all) {
    runs.push_back(slow_writes(one.caches, kRequests / one.caches, one.cqids));
  }
  const std::vector<Json> results = simulate_in_children(runs);
  const double alone = mean_ns(results.at(0));
  EXPECT_EQ(waits(results[0], "home_requests", "waits"), 0);
  for (std::size_t i = 1; i < results.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    const Bound& bound = all[i - 1];
    const double turns = kRequests / bound.at_work;
    EXPECT_NEAR(window_ns(results[i]), turns * alone, 0.01 * turns * alone);
    EXPECT_LE(waits(results[i], "home_requests", "waits"), kRequests - bound.at_work);
    EXPECT_GE(waits(results[i], "home_requests", "waits"), 0.98 * (kRequests - bound.at_work));
    const double at_home = waits(results[i], "home_requests", "wait_ns");
    const double waited = at_home + waits(results[i], "cxl_ids", "wait_ns") +
                          waits(results[i], "cxl_queues", "wait_ns");
    const double growth = mean_ns(results[i]) - alone;
    EXPECT_NEAR(waited / kRequests, growth, 0.02 * growth);
    EXPECT_LE(at_home / window_ns(results[i]), bound.caches * bound.cqids) << "each has a CQID";
    EXPECT_GE(at_home / window_ns(results[i]), 0.85 * bound.caches * bound.cqids);
  }
}

}  // namespace
}  // namespace flitwise::write_through_test
