// SPDX-License-Identifier: Apache-2.0
// The window ends with the last request, and a request with its last byte in memory, however long
// memory takes (docs/statistics.md, "What is measured").
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "validation/simulate_in_child.h"

namespace flitwise::memory_window_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kRequests = 10;
constexpr double kShortest = 1'000;  // ns
const std::vector<double> kLatencies = {kShortest, 900'000, 1'100'000, 5'000'000, 200'000'000};

Simulation with(double latency_ns, std::vector<std::string> sets) {
  sets.insert(sets.begin(), {fmt::format("host.memory.timing.latency={:.0f}ns", latency_ns),
                             "run.warmup=0", "workload.kind=posted_write", "workload.payload=64B",
                             fmt::format("workload.requests={:.0f}", kRequests)});
  return {"checks/saturated.yaml", sets};
}

double window_ns(const Json& result) {
  return result.at("flitwise").at("simulated_ns").get<double>();
}

const Json& writes(const Json& result) {
  for (const Json& one : result.at("latency")) {
    if (one.at("name") == "dma_write") {
      return one;
    }
  }
  throw std::runtime_error("no dma_write");
}

/// The window is `accesses` latencies of memory, one after the other, and a constant. It contains
/// each request as a whole, so that there are never more out than were issued (Little's law).
void expect_window(const std::vector<std::string>& sets, double accesses) {
  std::vector<Simulation> runs;
  for (const double latency : kLatencies) {
    runs.push_back(with(latency, sets));
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < results.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    const double constant = window_ns(results[0]) - accesses * kShortest;
    EXPECT_LT(constant, 2'000);
    EXPECT_NEAR(window_ns(results[i]), accesses * kLatencies[i] + constant, 50);
    const Json& row = writes(results[i]);
    ASSERT_EQ(row.at("count"), kRequests);
    EXPECT_LE(row.at("max").get<double>(), window_ns(results[i]));
    const double out = kRequests * row.at("mean").get<double>() / window_ns(results[i]);
    EXPECT_LE(out, kRequests);
    if (accesses == 1 && kLatencies[i] > 100 * kShortest) {
      EXPECT_NEAR(out, kRequests, 0.01) << "all are in memory nearly all the time";
    }
  }
}

TEST(MemoryWindow, OfWritesIsTheLatencyOfMemoryAndAConstant) {
  expect_window({}, 1);
}

TEST(MemoryWindow, OfWritesBehindASwitchIsTheLatencyOfMemoryAndAConstant) {
  expect_window({"system.topology=switch"}, 1);
}

TEST(MemoryWindow, OfWritesAtAConstantRateIsTheLatencyOfMemoryAndAConstant) {
  expect_window({"workload.arrival=cbr", "workload.rate=10Mreq/s"}, 1);
}

TEST(MemoryWindow, OfWritesThroughADeviceCacheIsTheLatencyOfMemoryAndAConstant) {
  expect_window(
      {"link.preset=cxl68_gen5x16", "workload.via=cxl_cache", "device.cxl.cache.size=64KiB",
       "device.cxl.cache.write=through", "workload.arrival=closed_loop"},
      1);
}

// Eight reads of tables, four updates of A and D, and the write.
TEST(MemoryWindow, OfTranslatedWritesIsThirteenAccessesAndAConstant) {
  expect_window({"iommu.translation=first_stage"}, 13);
}

// A transmitted message reads its descriptor, then its payload, and writes its completion entry.
TEST(MemoryWindow, OfTransmittedMessagesIsThreeAccessesAndAConstant) {
  expect_window({"workload.kind=nic", "workload.read_fraction=1",
                 "device.timing.completion_timeout=1s", "run.deadlock_after=1s"},
                3);
}

// The bus of memory takes one write after the other; the latency comes behind the last.
TEST(MemoryWindow, HasTheBusOfMemoryAndItsLatency) {
  constexpr double kBusNs = 512'000;  // 64 bytes at 1 Mb/s
  std::vector<Simulation> runs;
  for (const double latency : kLatencies) {
    runs.push_back(with(latency, {"host.memory.bandwidth=1Mb/s"}));
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < results.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    EXPECT_NEAR(window_ns(results[i]), kRequests * kBusNs + kLatencies[i], 500);
  }
}

// While memory alone is at work, one device is done before the other: a whole number of writes
// before it on the bus.
TEST(MemoryWindow, OfADeviceEndsWithItsOwnLastWriteWhileMemoryGoesOnForAnother) {
  constexpr double kBusNs = 512'000, kLatency = 12'000'000;
  const Json result = simulate_in_children(
      {with(kLatency, {"host.memory.bandwidth=1Mb/s", "system.devices=2",
                       "system.instances={ep1: {workload.requests: 20, workload.buffer_base: "
                       "5GiB}}"})})[0];
  ASSERT_FALSE(result.contains("failed")) << result;
  const auto link_window = [&](std::size_t link) {
    return result.at("links")[link].at("up").at("window_ns").get<double>();
  };
  EXPECT_NEAR(link_window(1), 30 * kBusNs + kLatency, 1'000);
  EXPECT_LT(link_window(0), link_window(1) - 8 * kBusNs);
  const double on_bus = (link_window(0) - kLatency) / kBusNs;
  EXPECT_NEAR(on_bus, std::round(on_bus), 0.002) << link_window(0);
}

}  // namespace
}  // namespace flitwise::memory_window_test
