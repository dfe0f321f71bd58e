// SPDX-License-Identifier: Apache-2.0
// Little's law: requests out on average = requests a time x mean latency. Where the places for them
// are what an engine waits for, that is their number; it is never more. [LNK-9.25] [CXL-3.8]
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "validation/simulate_in_child.h"

namespace flitwise::littles_law_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kRequests = 2000;
const std::vector<std::string> kPipelines = {"0ns", "80ns", "200ns", "33.333ns", "1111.1ns"};

/// A run, and what it comes to.
struct Engine {
  Simulation run;
  double places;         ///< for requests
  double least = 0.985;  ///< of them taken on average: clock edges, ends of the run
};

Simulation with(const char* config, std::vector<std::string> sets) {
  sets.insert(sets.end(), {fmt::format("workload.requests={}", kRequests), "run.warmup=0",
                           "workload.payload=64B", "workload.arrival=closed_loop"});
  return {config, sets};
}

const Json& latency(const Json& result, const std::string& name) {
  for (const Json& one : result.at("latency")) {
    if (one.at("name") == name) {
      return one;
    }
  }
  throw std::runtime_error("no latency is called " + name);
}

double window_ns(const Json& result) {
  return result.at("flitwise").at("simulated_ns").get<double>();
}

double sum_ns(const Json& one) {
  return one.at("count").get<double>() * one.at("mean").get<double>();
}

/// Of these latencies, less what of each is not meant.
double outstanding(const Json& result, const std::string& name, double less_ns = 0) {
  const Json& one = latency(result, name);
  return (sum_ns(one) - one.at("count").get<double>() * less_ns) / window_ns(result);
}

void expect_places_taken(const std::vector<Engine>& engines) {
  std::vector<Simulation> runs;
  for (const Engine& engine : engines) {
    runs.push_back(engine.run);
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < engines.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    const double out = outstanding(results[i], "dma_read");
    EXPECT_LE(out, engines[i].places * (1 + 1e-9));
    EXPECT_GE(out, engines[i].places * engines[i].least);
  }
}

TEST(LittlesLaw, LNK_9_24_ReadsTakeThePlacesOfTheEngineUntilTheirDataAreThere) {
  std::vector<Engine> engines;
  for (const std::string& pipeline : kPipelines) {
    for (const unsigned places : {1U, 3U, 16U}) {
      engines.push_back({with("checks/saturated.yaml",
                              {"workload.kind=read", "device.timing.pipeline=" + pipeline,
                               fmt::format("device.dma.outstanding={}", places)}),
                         static_cast<double>(places)});
    }
    // Several TLPs a read, another carrier, and a read here and there among writes.
    Simulation split = with("checks/saturated.yaml",
                            {"workload.kind=read", "device.timing.pipeline=" + pipeline,
                             "device.dma.outstanding=2", "link.mrrs=128B", "link.preset=gen6x16"});
    split.sets.push_back("workload.payload=512B");
    engines.push_back({split, 2});
    engines.push_back({with("checks/saturated.yaml",
                            {"workload.kind=read_write", "workload.read_fraction=0.9",
                             "device.timing.pipeline=" + pipeline, "device.dma.outstanding=1"}),
                       1});
  }
  expect_places_taken(engines);
}

TEST(LittlesLaw, LNK_9_24_ReadsOfATraceInClosedLoop) {
  const std::string path = testing::TempDir() + "/littles_law_trace.csv";
  {
    std::ofstream trace(path);
    trace << "time_ns,domain,op,address,bytes\n";
    for (std::uint64_t i = 0; i < kRequests; ++i) {
      trace << fmt::format("0,0,read,{},64\n", 0x1'0000'0000 + i % 64 * 64);
    }
  }
  std::vector<Engine> engines;
  for (const std::string& pipeline : kPipelines) {
    for (const unsigned places : {1U, 4U}) {
      engines.push_back(
          {{"checks/saturated.yaml",
            {"workload.kind=trace", "workload.trace=" + path, "device.timing.pipeline=" + pipeline,
             fmt::format("device.dma.outstanding={}", places)}},
           static_cast<double>(places)});
    }
  }
  expect_places_taken(engines);
}

// A tag is taken from its request to the completion at the transaction layer. What the engine has
// out beyond that is in the pipeline.
TEST(LittlesLaw, LNK_9_24_TagsAreTakenUntilTheCompletionIsAtTheTransactionLayer) {
  std::vector<Simulation> runs;
  for (const std::string& pipeline : kPipelines) {
    runs.push_back(with("checks/saturated.yaml",
                        {"workload.kind=read", "device.tag_bits=5",
                         "device.timing.pipeline=" + pipeline, "host.memory.timing.latency=1us",
                         "trace.latency=[{name: tag, from: handle, to: completed}]"}));
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    const double inward = std::stod(kPipelines[i]);
    EXPECT_LE(outstanding(results[i], "tag", inward), 32 * (1 + 1e-9));
    EXPECT_GE(outstanding(results[i], "tag", inward), 32 * 0.98);
  }
}

// The descriptor first, then the payload: two reads of one message never overlap.
TEST(LittlesLaw, LNK_9_24_ReadsOfAMessageThatDependOnEachOtherDoNotOverlap) {
  std::vector<Simulation> runs;
  for (const std::string& pipeline : kPipelines) {
    runs.push_back(with("checks/saturated.yaml",
                        {"workload.kind=nic", "workload.read_fraction=1",
                         "device.timing.pipeline=" + pipeline, "device.dma.outstanding=64"}));
    runs.back().sets.push_back("workload.requests=1");
    runs.push_back(with("checks/saturated.yaml",
                        {"workload.kind=nic", "workload.read_fraction=1",
                         "device.timing.pipeline=" + pipeline, "device.dma.outstanding=1"}));
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    EXPECT_LE(outstanding(results[i], "dma_read"), 1 + 1e-9);
  }
}

TEST(LittlesLaw, CXL_3_8_ReadsOfMemoryOnCxlMem) {
  std::vector<Engine> engines;
  for (const char* bridge : {"0ns", "25ns", "200ns", "33.333ns"}) {
    for (const unsigned places : {1U, 4U}) {
      engines.push_back({with("examples/cxl_memory.yaml",
                              {"workload.kind=read", fmt::format("host.cxl_mem.bridge={}", bridge),
                               fmt::format("host.cxl_mem.outstanding={}", places)}),
                         static_cast<double>(places), 0.98});
    }
  }
  expect_places_taken(engines);
}

// A write is in memory before the core hears of it: the bridge is passed there and back between one
// and the next.
TEST(LittlesLaw, CXL_3_8_WritesOnCxlMemWaitForTheirAnswerAtTheCore) {
  constexpr double kBridges[] = {25, 225};
  std::vector<Simulation> runs;
  for (const double bridge : kBridges) {
    runs.push_back(
        with("examples/cxl_memory.yaml",
             {"workload.kind=posted_write", fmt::format("host.cxl_mem.bridge={}ns", bridge),
              "host.cxl_mem.outstanding=1"}));
  }
  const std::vector<Json> results = simulate_in_children(runs);
  double periods[2] = {};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    periods[i] = window_ns(results[i]) / kRequests;
  }
  EXPECT_NEAR(periods[1] - periods[0], 2 * (kBridges[1] - kBridges[0]), 4);
}

// Clocked cores: each request begins with the clock edge behind the end of the one before. Where
// the places of the cache are the limit, one more waits at the core.
TEST(LittlesLaw, CXL_7_2_ReadsThroughADeviceCache) {
  std::vector<Engine> engines;
  for (const char* lookup : {"0ns", "10ns", "200ns", "33.333ns"}) {
    const std::vector<std::string> sets = {
        "system.devices=1", "workload.kind=read", "device.cxl.cache.read=current",
        "workload.buffer_size=1MiB", fmt::format("device.cxl.cache.lookup={}", lookup)};
    for (const bool has_few_requests : {false, true}) {
      std::vector<std::string> all = sets;
      all.push_back(has_few_requests ? "device.cxl.cache.requests=2" : "device.dma.outstanding=1");
      engines.push_back(
          {with("examples/cxl_cache.yaml", all), has_few_requests ? 2.0 + 1 : 1.0, 0.97});
    }
  }
  expect_places_taken(engines);
}

TEST(LittlesLaw, CXL_8_2_ReadsOfMemoryThatTheDeviceCachesAsWell) {
  std::vector<Engine> engines;
  for (const char* bridge : {"0ns", "25ns", "200ns", "33.333ns"}) {
    for (const unsigned places : {2U, 4U}) {
      engines.push_back(
          {with("examples/cxl_hdm_db.yaml",
                {"workload.via=cxl_mem", "workload.kind=read", "workload.buffer_size=1MiB",
                 "host.cxl_mem.read=current", fmt::format("host.cxl_mem.bridge={}", bridge),
                 fmt::format("host.cxl_mem.outstanding={}", places)}),
           places + 1.0, 0.97});
    }
    // The device's own core, and one read of the host's at a time.
    engines.push_back(
        {with("examples/cxl_hdm_db.yaml",
              {"workload.via=cxl_own", "workload.kind=read", "workload.buffer_size=1MiB",
               "device.dma.outstanding=1", fmt::format("device.cxl.own_cache.lookup={}", bridge)}),
         1, 0.97});
  }
  expect_places_taken(engines);
}

}  // namespace
}  // namespace flitwise::littles_law_test
