// SPDX-License-Identifier: Apache-2.0
// The points of configs/studies/cxl_identity.yaml and cxl_revocation.yaml where nothing contends,
// against sums of the times that their configurations name: within 0.1 %.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "validation/simulate_in_child.h"

namespace flitwise::cxl_identity_test {
namespace {

using Json = nlohmann::ordered_json;
using Sets = std::vector<std::string>;

constexpr double kClock = 2;                  // ns: of the link, of the host and of the device
constexpr double kFlightAndReceive = 5 + 30;  // link.timing.propagation, link.timing.receive
// 68 bytes over 16 lanes of 32 GT/s with their sync headers.
constexpr double kFlit = 68 * 8 / (16 * 32.0 * 128 / 130);
constexpr double kTolerance = 0.001;

/// The next edge of the clock.
double edge(double ns) {
  return std::ceil(ns / kClock) * kClock;
}

/// From the edge at which a message of so many flits goes to the edge at which it is served.
double way(unsigned flits) {
  return edge(flits * kFlit + kFlightAndReceive);
}

const Sets kBase = {"link.skp=off",
                    "link.preset=cxl68_gen5x16",
                    "link.identity=bdf_pasid",
                    "workload.via=cxl_cache",
                    "workload.kind=read",
                    "workload.payload=64B",
                    "workload.placement=random",
                    "workload.buffer_size=1MiB",
                    "run.warmup=0",
                    "device.cxl.cache.size=64KiB",
                    "device.cxl.cache.ways=16",
                    "device.cxl.cache.read=current"};

// A read each microsecond, which is long over when the next one comes.
Simulation apart(const Sets& more) {
  Simulation run{"checks/saturated.yaml", kBase};
  const Sets cbr = {"workload.domains=16", "workload.arrival=cbr", "workload.rate=1Mreq/s",
                    "workload.requests=1000"};
  run.sets.insert(run.sets.end(), cbr.begin(), cbr.end());
  run.sets.insert(run.sets.end(), more.begin(), more.end());
  return run;
}

const Json& latency(const Json& result, const std::string& name) {
  for (const Json& one : result.at("latency")) {
    if (one.at("name") == name) {
      return one;
    }
  }
  throw std::runtime_error("no latency " + name);
}

void expect_mean(const Json& result, const std::string& name, double ns) {
  ASSERT_FALSE(result.contains("failed")) << result;
  const Json& one = latency(result, name);
  EXPECT_GT(one.at("count").get<int>(), 10);
  EXPECT_NEAR(one.at("mean").get<double>() / ns, 1, kTolerance) << "due: " << ns << " ns";
}

/// Times of one read, in ns; the defaults.
struct Read {
  double cache = 10;   // device.cxl.cache.lookup
  double name = 0;     // device.dhi.storage.timing.by_domain
  double bridge = 25;  // host.cxl_cache.bridge
  double handle = 0;   // host.dhi.storage.timing.by_handle
  double home = 15;    // host.cxl_cache.lookup
  double permission = 0;
  double memory = 80;  // host.memory.timing.latency
};

// The device looks its line up, names the domain, and sends one flit; the home asks whose it is and
// may have it, each in whole clocks, reads, and answers with two flits, which the device takes into
// its cache. Bridges are crossed twice.
double alone(const Read& read) {
  const double up = edge(read.name + read.cache) + way(1);
  const double host =
      edge(2 * read.bridge + edge(read.handle) + read.home + edge(read.permission) + read.memory);
  return up + host + way(2) + read.cache;
}

TEST(CxlIdentity, CXL_7_7_AReadAloneIsTheSumOfItsPartsByEachIdentity) {
  struct Point {
    Sets sets;
    Read read;
  };
  std::vector<Point> points;
  points.push_back({{}, {}});
  points.push_back({{"link.cxl.identity=full_added"}, {}});
  for (const unsigned by_handle : {2U, 3U, 10U, 50U}) {
    for (const unsigned by_domain : {2U, 6U}) {
      Read read;
      read.name = by_domain;
      read.handle = by_handle;
      points.push_back(
          {{"link.cxl.identity=dhi_added",
            fmt::format("host.dhi.storage.timing.by_handle={}ns", by_handle),
            fmt::format("device.dhi.storage.timing.by_domain={}ns", by_domain), "run.warmup=50"},
           read});
    }
  }
  Read slow;
  slow.cache = 4;
  slow.bridge = 31;
  slow.home = 40;
  slow.memory = 111;
  points.push_back({{"device.cxl.cache.lookup=4ns", "host.cxl_cache.bridge=31ns",
                     "host.cxl_cache.lookup=40ns", "host.memory.timing.latency=111ns"},
                    slow});
  std::vector<Simulation> runs;
  for (const Point& point : points) {
    runs.push_back(apart(point.sets));
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < points.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    expect_mean(results[i], "dma_read", alone(points[i].read));
  }
}

// A permission that is cached takes the look-up of the context, of the PASID and its own.
TEST(CxlIdentity, CXL_7_10_ACachedPermissionTakesItsLookups) {
  const Sets secure = {"workload.buffer_size=4KiB", "run.warmup=100",
                       "iommu.translation=first_stage", "iommu.secure_ats=true",
                       "host.dhi.grant=configured"};
  std::vector<Simulation> runs;
  std::vector<Read> due;
  for (const unsigned cached : {2U, 9U}) {
    for (const bool by_handle : {false, true}) {
      Sets sets = secure;
      sets.push_back(fmt::format("iommu.timing.permission_cache={}ns", cached));
      sets.push_back(fmt::format("link.cxl.identity={}", by_handle ? "dhi_added" : "full_added"));
      runs.push_back(apart(sets));
      Read read;
      read.permission = 1 + 1 + cached;  // iommu.timing.context_cache, .pasid_cache
      read.name = by_handle ? 2 : 0;
      read.handle = read.name;
      due.push_back(read);
    }
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    expect_mean(results[i], "dma_read", alone(due[i]));
  }
}

// The first read of each domain waits one round trip of CXL.io: the ALLOC goes through the device's
// pipeline and a clock of the link's queue; with flush the read behind it fetches from memory, with
// ack the host writes its table and answers. [CXL-7.8]
TEST(CxlIdentity, CXL_7_8_AnAllocTakesARoundTripOfCxlIo) {
  constexpr double kPipeline = 20;  // device.timing.pipeline
  constexpr double kRootPort = 100;
  constexpr double kTable = 2;  // host.dhi.storage.timing.by_handle
  Read read;
  read.name = 2;
  read.handle = 2;
  const double sent = read.name + kPipeline + kClock;
  const double flush = sent + way(1) + kRootPort + 80 + kRootPort + way(1) + alone(read);
  const double ack = sent + way(1) + edge(kTable) + kRootPort + way(1) + alone(read);
  std::vector<Simulation> runs;
  for (const char* order : {"flush", "ack"}) {
    runs.push_back(
        apart({"link.cxl.identity=dhi_added", "workload.domain_choice=round_robin",
               "workload.requests=16", fmt::format("device.dhi.alloc_order={}", order)}));
  }
  const std::vector<Json> results = simulate_in_children(runs);
  expect_mean(results[0], "dma_read", flush);
  expect_mean(results[1], "dma_read", ack);
  for (const Json& result : results) {
    EXPECT_EQ(result.at("dhi")[0].at("allocs"), 16);
  }
}

// What names the domain costs bits of requests alone. A D2H Req has 79 bits and 14 reserved ones
// beside them, so that a handle of eight bits is free and 36 bits of identity cost 22. Two flits go
// up for a read: one with the request, one with the credit for the data. [CXL-2.1] [CXL-7.4]
TEST(CxlIdentity, CXL_7_4_RequestBytesAreThoseOfTheirFields) {
  constexpr double kHeaderBits = 79;
  constexpr double kReservedBits = 14;
  constexpr double kCrcBytes = 2;
  struct Point {
    const char* identity;
    double bits;
  };
  constexpr Point kPoints[] = {{"spec", 0}, {"dhi_added", 8}, {"full_added", 36}};
  std::vector<Simulation> runs;
  for (const Point& point : kPoints) {
    runs.push_back(apart({fmt::format("link.cxl.identity={}", point.identity), "run.warmup=50"}));
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    const Json& up = results[i].at("links")[0].at("up").at("wire_bytes");
    const double reads = latency(results[i], "dma_read").at("count").get<double>();
    EXPECT_NEAR(up.at("header").get<double>() / reads, kHeaderBits / 8, kTolerance);
    EXPECT_NEAR(up.at("identity").get<double>() / reads,
                std::max(0.0, kPoints[i].bits - kReservedBits) / 8, kTolerance);
    EXPECT_NEAR(up.at("crc").get<double>() / reads / (2 * kCrcBytes), 1, kTolerance);
  }
}

// An unmap while no line is cached: the driver clears the entry and its permission, writes three
// invalidations and a wait, moves the tail, and looks at the status until it is there. That is
// eight steps, and looks a step and a read of memory apart. The status is written when the doorbell
// has crossed, the commands were fetched, and the device has answered. [IQU-16] [INV-35] [CXL-7.11]
TEST(CxlIdentity, CXL_7_11_AnUnmapAloneIsStepsAndLooks) {
  constexpr double kMemory = 80;
  constexpr double kMmio = 150;  // host.timing.mmio
  constexpr double kRootPort = 100;
  constexpr double kPipeline = 20;
  const double status =
      kMmio + kMemory + kRootPort + way(1) + kPipeline + kClock + way(1) + kRootPort;
  std::vector<Simulation> runs;
  std::vector<double> due;
  for (const double step : {50.0, 100.0, 200.0, 300.0, 400.0, 1000.0}) {
    for (const char* page : {"4KiB", "2MiB"}) {
      Simulation run{"checks/saturated.yaml", kBase};
      const Sets more = {fmt::format("host.timing.software_step={}ns", step),
                         fmt::format("iommu.page={}", page),
                         "iommu.translation=first_stage",
                         "iommu.secure_ats=true",
                         "device.atc.enabled=true",
                         "device.atc.entries=1024",
                         "host.iommu_driver.enabled=true",
                         "host.iommu_driver.unmap_rate=1000",
                         "host.iommu_driver.remap_after=2us",
                         "link.cxl.identity=dhi_added",
                         "workload.domains=1",
                         "workload.arrival=poisson",
                         "workload.rate=100kreq/s",
                         "workload.requests=2000",
                         "workload.buffer_size=4MiB"};
      run.sets.insert(run.sets.end(), more.begin(), more.end());
      runs.push_back(run);
      const double look = step + kMemory;
      due.push_back(8 * step + std::ceil(status / look) * look);
    }
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    expect_mean(results[i], "unmap", due[i]);
  }
}

}  // namespace
}  // namespace flitwise::cxl_identity_test
