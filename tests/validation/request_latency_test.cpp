// SPDX-License-Identifier: Apache-2.0
// dma_write and dma_read count requests, from issue to their last byte; dma_write_tlp counts the
// TLPs, or lines of CXL, that they went in. (docs/statistics.md)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "validation/simulate_in_child.h"

namespace flitwise::request_latency_test {
namespace {

using Json = nlohmann::ordered_json;

const Json& latency(const Json& result, const std::string& name) {
  for (const Json& one : result.at("latency")) {
    if (one.at("name") == name) {
      return one;
    }
  }
  throw std::runtime_error("no latency is called " + name);
}

struct Writes {
  Simulation run;
  std::uint64_t requests;
  std::uint64_t tlps;  ///< of all
};

Writes writes(const char* config, std::vector<std::string> sets, std::uint64_t requests,
              std::uint64_t tlps_each) {
  sets.push_back(fmt::format("workload.requests={}", requests));
  return {{config, std::move(sets)}, requests, requests * tlps_each};
}

// [LNK-9.15] Splitting by MPS and 4 KiB, flit mode, a switch, another carrier, lines of CXL.
TEST(RequestLatency, AWriteIsCountedOnceWhateverItIsCutInto) {
  const std::vector<Writes> all = {
      writes("presets/gen3x8.yaml",
             {"workload.kind=posted_write", "workload.payload=4096B", "link.mps=128B"}, 200, 32),
      writes("presets/gen3x8.yaml",
             {"workload.kind=posted_write", "workload.payload=4096B", "link.mps=256B",
              "run.warmup=100"},
             300, 16),
      writes("checks/saturated.yaml",
             {"link.preset=gen6x16", "workload.payload=1000B", "run.warmup=50"}, 500, 4),
      writes("checks/bit_packed.yaml",
             {"workload.payload=512B", "message.payload_bits=2048", "run.warmup=50"}, 300, 2),
      writes("presets/gen3x8.yaml",
             {"system.topology=switch", "workload.kind=posted_write", "workload.payload=2KiB",
              "link.mps=256B", "run.warmup=20"},
             200, 8),
      writes("examples/cxl_memory.yaml",
             {"workload.kind=posted_write", "workload.payload=256B", "run.warmup=20"}, 300, 4),
      writes("examples/cxl_cache.yaml",
             {"system.devices=1", "workload.kind=posted_write", "workload.payload=256B",
              "workload.buffer_size=1MiB", "run.warmup=20"},
             300, 4),
  };
  std::vector<Simulation> runs;
  for (const Writes& one : all) {
    runs.push_back(one.run);
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    const Json& requests = latency(results[i], "dma_write");
    const Json& tlps = latency(results[i], "dma_write_tlp");
    EXPECT_EQ(requests.at("count").get<std::uint64_t>(), all[i].requests);
    EXPECT_EQ(tlps.at("count").get<std::uint64_t>(), all[i].tlps);
    EXPECT_EQ(requests.at("max"), tlps.at("max")) << "the last TLP of some request";
    // Lines that a cache holds may all be written on one edge of the clock.
    EXPECT_GE(requests.at("min").get<double>(), tlps.at("min").get<double>());
    EXPECT_GT(requests.at("mean").get<double>(), tlps.at("mean").get<double>());
  }
}

// Far apart: n TLPs take n - 1 times the wire longer than one.
TEST(RequestLatency, AWriteAloneTakesAsLongAsItsTlpsTakeTheWire) {
  std::vector<Simulation> runs;
  for (const unsigned payload : {128U, 4096U}) {
    runs.push_back({"checks/saturated.yaml",
                    {"link.preset=gen3x8", "link.mps=128B", "link.skp=off", "link.identity=bdf",
                     fmt::format("workload.payload={}B", payload), "workload.requests=100",
                     "workload.arrival=cbr", "workload.rate=0.1Mreq/s"}});
  }
  const std::vector<Json> results = simulate_in_children(runs);
  double mean[2] = {};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    mean[i] = latency(results[i], "dma_write").at("mean").get<double>();
  }
  const double tlp_ns = (128 + 24) * 8 / (8.0 * 8 * 128 / 130);
  EXPECT_NEAR((mean[1] - mean[0]) / (31 * tlp_ns), 1, 0.02);
}

TEST(RequestLatency, MessagesAndTracesCountTheirWritesAndReads) {
  const std::string path = testing::TempDir() + "/request_latency_trace.csv";
  std::ofstream(path) << "time_ns,domain,op,address,bytes\n0,0,write,0x100000000,4096\n"
                         "0,0,read,0x100001000,4096\n10,0,write,0x100002f80,256\n";
  // A received message writes payload and completion entry, and reads a descriptor; its interrupt
  // is no write of memory.
  const std::vector<Json> results = simulate_in_children(
      {{"presets/gen3x8.yaml",
        {"workload.kind=nic", "workload.read_fraction=0", "workload.payload=1KiB",
         "workload.requests=100", "run.warmup=10", "link.mps=128B"}},
       {"presets/gen3x8.yaml",
        {"workload.kind=trace", "workload.trace=" + path, "link.mps=128B", "link.mrrs=512B"}}});
  const auto count = [&](std::size_t run, const char* name) {
    return latency(results[run], name).at("count").get<std::uint64_t>();
  };
  ASSERT_FALSE(results[0].contains("failed")) << results[0];
  EXPECT_EQ(count(0, "dma_write"), 200U);
  EXPECT_EQ(count(0, "dma_write_tlp"), 900U);
  EXPECT_EQ(count(0, "dma_read"), 100U);
  ASSERT_FALSE(results[1].contains("failed")) << results[1];
  EXPECT_EQ(count(1, "dma_write"), 2U);
  EXPECT_EQ(count(1, "dma_write_tlp"), 34U);
  EXPECT_EQ(count(1, "dma_read"), 1U);
}

}  // namespace
}  // namespace flitwise::request_latency_test
