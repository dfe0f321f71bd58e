// SPDX-License-Identifier: Apache-2.0
// device.dma.issue_interval holds on average to the femtosecond, whatever the clock: requests go on
// edges, and what one waits for its edge the next does not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "validation/simulate_in_child.h"

namespace flitwise::issue_interval_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kIntervals[] = {18.5, 2.1, 20, 3.333, 7, 0.7};  // ns; clocks of 2 ns
constexpr std::uint64_t kRequests = 5000;

Simulation every(double interval, const char* config, std::vector<std::string> sets) {
  sets.insert(sets.end(), {fmt::format("device.dma.issue_interval={}ns", interval),
                           fmt::format("workload.requests={}", kRequests), "run.warmup=0",
                           "workload.payload=4B", "workload.arrival=closed_loop"});
  return {config, sets};
}

double mean_interval(const Json& direction) {
  const double bits = direction.at("payload_bytes").get<double>() * 8;
  return bits / direction.at("goodput_gbps").get<double>() / (kRequests - 1);
}

TEST(IssueInterval, IsExactOnAverageForWritesAndReads) {
  std::vector<Simulation> runs;
  for (const double interval : kIntervals) {
    runs.push_back(every(interval, "checks/saturated.yaml", {"link.preset=gen6x16"}));
    runs.push_back(
        every(interval, "checks/saturated.yaml", {"workload.kind=read", "link.preset=gen6x16"}));
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    const Json& data = results[i].at("links")[0].at(i % 2 == 0 ? "up" : "down");
    EXPECT_NEAR(mean_interval(data) / kIntervals[i / 2], 1, 0.003);
  }
}

TEST(IssueInterval, IsExactOnAverageForLinesOfCxl) {
  Simulation cache =
      every(18.5, "examples/cxl_cache.yaml",
            {"system.devices=1", "workload.kind=read", "device.cxl.cache.read=current",
             "workload.buffer_size=1MiB", "workload.placement=ring"});
  cache.sets.push_back("workload.payload=64B");  // one request a line at a time
  const std::vector<Json> results = simulate_in_children(
      {every(18.5, "examples/cxl_memory.yaml", {"workload.kind=read"}), cache});
  for (const std::size_t i : {0U, 1U}) {
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    const double window = results[i].at("flitwise").at("simulated_ns").get<double>();
    EXPECT_NEAR(window / kRequests / 18.5, 1, 0.005) << i;
  }
}

// A Tag and an interval are each a bound: the slower one sets the pace, whichever it is. Without an
// interval it is the Tags'.
TEST(IssueInterval, CXL_3_8_BesideFewTagsTheSlowerOfTheTwoSetsThePace) {
  for (const char* const kind : {"read", "posted_write"}) {
    for (const unsigned tags : {1U, 4U, 256U}) {
      std::vector<Simulation> runs;
      const double intervals[] = {0, 1, 20, 100, 1000};
      for (const double interval : intervals) {
        runs.push_back(every(
            interval, "bench/cxl_mem_read_64B.yaml",
            {fmt::format("workload.kind={}", kind), "link.skp=off", "device.dma.outstanding=1024",
             fmt::format("host.cxl_mem.outstanding={}", tags)}));
      }
      const std::vector<Json> results = simulate_in_children(runs);
      double of_tags = 0;
      for (std::size_t i = 0; i < runs.size(); ++i) {
        SCOPED_TRACE(runs[i].text());
        ASSERT_FALSE(results[i].contains("failed")) << results[i];
        const double pace = results[i].at("flitwise").at("simulated_ns").get<double>() / kRequests;
        of_tags = i == 0 ? pace : of_tags;
        EXPECT_NEAR(pace / std::max(intervals[i], of_tags), 1, 0.01);
      }
    }
  }
}

TEST(IssueInterval, IsTheSameInEveryRun) {
  const Simulation run = every(18.5, "checks/saturated.yaml", {});
  std::vector<Json> results = simulate_in_children({run, run});
  for (Json& result : results) {
    ASSERT_FALSE(result.contains("failed")) << result;
    result.at("flitwise").erase("host_seconds");
  }
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace
}  // namespace flitwise::issue_interval_test
