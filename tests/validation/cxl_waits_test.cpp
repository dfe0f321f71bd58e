// SPDX-License-Identifier: Apache-2.0
// Time waited at the agents of CXL.cache and CXL.mem, each figure found a second way: from the
// latencies, from the time that nothing else accounts for, or from the theory of queues.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "validation/simulate_in_child.h"

namespace flitwise::cxl_waits_test {
namespace {

using Json = nlohmann::ordered_json;
using Sets = std::vector<std::string>;

constexpr unsigned kRequests = 3000;

Simulation run_of(const Sets& sets) {
  Simulation run{"bench/cxl_mem_read_64B.yaml",
                 {"link.skp=off", fmt::format("workload.requests={}", kRequests), "run.warmup=0"}};
  run.sets.insert(run.sets.end(), sets.begin(), sets.end());
  return run;
}

std::vector<Json> results_of(const std::vector<Simulation>& runs) {
  std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_FALSE(results[i].contains("failed")) << runs[i].text() << ": " << results[i];
  }
  return results;
}

const Json& reads(const Json& result) {
  for (const Json& one : result.at("latency")) {
    if (one.at("name") == "dma_read") {
      return one;
    }
  }
  throw std::runtime_error("no reads");
}

double mean(const Json& result) {
  return reads(result).at("mean");
}

double sum(const Json& result) {
  return mean(result) * reads(result).at("count").get<double>();
}

/// A row that has to be there.
double waited(const Json& result, const std::string& place, const std::string& resource) {
  for (const Json& wait : result.at("waits")) {
    if (wait.at("at") == place && wait.at("resource") == resource) {
      return wait.at("wait_ns");
    }
  }
  throw std::runtime_error(place + " has no row for " + resource);
}

double window(const Json& result) {
  return result.at("flitwise").at("simulated_ns");
}

double share(const Json& result, const std::string& place, const std::string& resource) {
  return waited(result, place, resource) / window(result);
}

std::string reads_of_one_line() {
  const std::string path = testing::TempDir() + "/cxl_waits_one_line.csv";
  std::ofstream trace(path);
  trace << "time_ns,domain,op,address,bytes\n";
  for (unsigned i = 0; i < kRequests; ++i) {
    trace << fmt::format("0,0,read,{},64\n", 0x1'0000'0000);
  }
  return path;
}

// One Tag in a closed loop: each read but the first waits as long as the one before it takes.
TEST(CxlWaits, CXL_3_8_ForTheOnlyTagAreTheLatenciesOfAllReadsButTheLast) {
  for (const char* const preset : {"cxl68_gen5x16", "cxl256_gen6x4"}) {
    for (const char* const bridge : {"0ns", "25ns", "33.333ns"}) {
      const std::vector<Json> results =
          results_of({run_of({"host.cxl_mem.outstanding=1", fmt::format("link.preset={}", preset),
                              fmt::format("host.cxl_mem.bridge={}", bridge)})});
      const Json& latency = reads(results[0]);
      const double waits = waited(results[0], "host_of_ep0", "cxl_ids");
      EXPECT_GE(waits, (sum(results[0]) - latency.at("max").get<double>()) * (1 - 1e-9));
      EXPECT_LE(waits, (sum(results[0]) - latency.at("min").get<double>()) * (1 + 1e-9));
      EXPECT_EQ(waited(results[0], "host_of_ep0", "cxl_queues"), 0);
    }
  }
}

// A closed loop always has a line to ask for: it waits for a Tag or for room, and for nothing else
// but edges of the clock.
TEST(CxlWaits, CXL_3_8_ForTagsAndForRoomAreAllTheTimeOfAClosedLoop) {
  std::vector<Simulation> runs;
  for (const char* const kind : {"read", "posted_write", "read_write"}) {
    for (const char* const places : {"1", "3", "64"}) {
      for (const char* const depth : {"1", "4", "1024"}) {
        runs.push_back(
            run_of({fmt::format("workload.kind={}", kind), "workload.payload=200B",
                    fmt::format("host.cxl_mem.outstanding={}", places),
                    fmt::format("link.cxl.queue_depth={}", depth), "device.dma.outstanding=4096"}));
      }
    }
  }
  const std::vector<Json> results = results_of(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    const double ids = share(results[i], "host_of_ep0", "cxl_ids");
    const double queues = share(results[i], "host_of_ep0", "cxl_queues");
    EXPECT_LE(ids + queues, 1 + 1e-9);
    EXPECT_GE(ids + queues, 0.99) << "the last lines of all wait for nothing";
    if (i % 3 == 2) {
      EXPECT_EQ(queues, 0) << "there is always room";
    }
    if (i % 9 == 6) {
      EXPECT_EQ(ids, 0) << "one place in the queue does not let 64 Tags go";
    }
  }
}

// Few reads and few Tags: what a closed loop waits for one of them it does not wait for the other,
// and together it is all the time. With as many Tags as lines of reads either of them would do.
TEST(CxlWaits, CXL_3_8_ForTagsAndForReadsThatAreOutAreAllTheTimeOfAClosedLoop) {
  struct Bounds {
    unsigned tags;
    unsigned reads;
    unsigned lines;  // of each read
  };
  const Bounds all[] = {{1, 1, 1}, {16, 16, 1}, {16, 17, 1}, {16, 15, 1}, {16, 4, 4},  {16, 3, 4},
                        {4, 1, 4}, {16, 5, 4},  {16, 1, 64}, {48, 1, 64}, {64, 1, 64}, {65, 1, 64}};
  std::vector<Simulation> runs;
  for (const Bounds& one : all) {
    runs.push_back(run_of({fmt::format("host.cxl_mem.outstanding={}", one.tags),
                           fmt::format("device.dma.outstanding={}", one.reads),
                           fmt::format("workload.payload={}B", one.lines * 64)}));
  }
  const std::vector<Json> results = results_of(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    const double ids = share(results[i], "host_of_ep0", "cxl_ids");
    const double reads = share(results[i], "ep0", "outstanding");
    EXPECT_LE(ids + reads, 1 + 1e-9);
    EXPECT_GE(ids + reads, 0.98) << "the bridge takes lines one by one, and the last wait for none";
    if (all[i].tags > all[i].reads * all[i].lines) {
      EXPECT_EQ(ids, 0) << "there is always a Tag";
    } else if (all[i].tags <= (all[i].reads - 1) * all[i].lines) {
      EXPECT_EQ(reads, 0) << "the Tags never let all reads out";
    }
  }
}

// Reads that arrive at random, one at a time (M/D/1): the next one waits while two or more are
// there, of which the share of time is 1 - (1 - load) e^load.
TEST(CxlWaits, CXL_3_8_OfReadsThatArriveAtRandomAreThoseOfTheForemost) {
  const Sets one = {"host.cxl_mem.outstanding=1", "workload.requests=20000",
                    "link.timing.clock=10ps", "host.timing.clock=10ps"};
  const auto arriving = [&one](const char* rate, const char* places) {
    Simulation run = run_of(one);
    run.sets.insert(run.sets.end(),
                    {"workload.arrival=poisson", fmt::format("workload.rate={}Mreq/s", rate),
                     fmt::format("host.cxl_mem.outstanding={}", places)});
    return run;
  };
  const std::vector<Json> results = results_of({run_of(one), arriving("1", "1"), arriving("2", "1"),
                                                arriving("3", "1"), arriving("2", "64")});
  const double service = window(results[0]) / 20'000;
  for (std::size_t i = 1; i < 4; ++i) {
    const double load = service * 20'000 / window(results[i]);  // of what has come
    EXPECT_NEAR(share(results[i], "host_of_ep0", "cxl_ids"), 1 - (1 - load) * std::exp(load), 0.02)
        << load;
  }
  EXPECT_EQ(waited(results[4], "host_of_ep0", "cxl_ids"), 0) << "64 are never out";
}

// A core's request begins when it is the next one: what it waits for its turn is in its latency,
// beyond that of a read which nothing is in the way of; but for the way to an edge of the clock.
TEST(CxlWaits, CXL_7_2_ForIdentifiersAndLinesAreWhatTheLatencyOfReadsGrowsBy) {
  struct Engine {
    Sets sets;
    const char* place;
    const char* few;
  };
  const Engine engines[] = {
      {{"workload.via=cxl_cache", "link.preset=cxl68_gen5x16", "device.cxl.memory=none",
        "device.cxl.cache.size=64KiB", "device.cxl.cache.read=current"},
       "ep0_cache",
       "device.cxl.cache.requests=2"},
      {{"link.preset=cxl256_gen6x16", "device.cxl.coherence=hdm_db", "host.cxl_mem.read=current"},
       "host_of_ep0",
       "host.cxl_mem.outstanding=2"}};
  for (const Engine& engine : engines) {
    std::vector<Simulation> runs(4, run_of(engine.sets));
    runs[0].sets.insert(runs[0].sets.end(),
                        {"workload.arrival=poisson", "workload.rate=0.1Mreq/s"});
    runs[1].sets.push_back(engine.few);
    runs[2].sets.insert(runs[2].sets.end(),
                        {"workload.kind=trace", "workload.trace=" + reads_of_one_line()});
    runs[3].sets.push_back("workload.requests=64");
    const std::vector<Json> results = results_of(runs);
    const auto ids = [&](std::size_t i) { return waited(results[i], engine.place, "cxl_ids"); };
    const auto lines = [&](std::size_t i) { return waited(results[i], engine.place, "cxl_lines"); };
    SCOPED_TRACE(engine.place);
    EXPECT_EQ(ids(0) + lines(0), 0) << "nobody is in the way of one";
    const double alone = mean(results[0]);
    EXPECT_NEAR(ids(1) / kRequests, mean(results[1]) - alone, 1.5);
    EXPECT_GT(ids(1) / window(results[1]), 0.99) << "two at a time, and always a third";
    EXPECT_EQ(lines(1), 0);
    EXPECT_NEAR(lines(2) / kRequests, mean(results[2]) - alone, 1.5);
    EXPECT_GT(lines(2) / window(results[2]), 0.99) << "one line for all";
    EXPECT_EQ(ids(2), 0);
    EXPECT_EQ(ids(3) + lines(3), 0) << "64 lines, and 64 identifiers or more";
  }
}

// The device's core takes lines back from the host. With one BISnp at a time it waits all the time.
TEST(CxlWaits, COH_6_1_ForTheOnlyBiTagAreAllTheTimeOfACoreThatSnoops) {
  std::vector<Simulation> runs;
  for (const char* const snoops : {"1", "64"}) {
    runs.push_back({"examples/cxl_hdm_db.yaml",
                    {"workload.requests=4000", "run.warmup=0",
                     fmt::format("device.cxl.own_cache.snoops={}", snoops)}});
  }
  const std::vector<Json> results = results_of(runs);
  EXPECT_GT(share(results[0], "ep0_memory", "cxl_ids"), 0.95);
  EXPECT_LE(share(results[0], "ep0_memory", "cxl_ids"), 1);
  EXPECT_EQ(waited(results[1], "ep0_memory", "cxl_ids"), 0);
}

// A core that translates has one line that waits for its translation, and all others behind it. A
// page at a time is read, so that most reads miss in the ATC.
TEST(CxlWaits, CXL_7_12_ForTranslationsAreWhatReadsOfACacheTakeLongerThatMissInTheAtc) {
  const Sets sets = {"workload.via=cxl_cache",        "device.cxl.memory=none",
                     "device.cxl.cache.size=64KiB",   "device.cxl.cache.read=current",
                     "iommu.translation=first_stage", "workload.placement=random"};
  std::vector<Simulation> runs(3, run_of(sets));
  runs[0].sets.insert(runs[0].sets.end(), {"device.atc.enabled=true", "device.atc.entries=16",
                                           "workload.buffer_size=4MiB"});
  runs[1].sets.insert(runs[1].sets.end(), {"device.atc.enabled=true", "workload.buffer_size=4KiB",
                                           "workload.arrival=cbr", "workload.rate=0.1Mreq/s"});
  const std::vector<Json> results = results_of(runs);
  const double longer = (mean(results[0]) - mean(results[1])) * kRequests;
  EXPECT_NEAR(waited(results[0], "ep0_cache", "translations"), longer, 0.05 * longer);
  EXPECT_GT(share(results[0], "ep0_cache", "translations"), 0.9);
  EXPECT_EQ(results[0].at("explain").at(0).at("limit").at("resource"), "translations");
  EXPECT_LT(share(results[1], "ep0_cache", "translations"), 0.01) << "one page: all but one hit";
  EXPECT_THROW(waited(results[2], "ep0_cache", "translations"), std::runtime_error)
      << "addresses of the host: no ATC";
}

// Answers pile up in front of a slow link: what a read takes beyond one that is alone is the wait
// for room, but for the line that is in the queue and the one on the wire.
TEST(CxlWaits, CXL_3_8_OfAnswersForRoomAreWhatReadsTakeLongerOnASlowLink) {
  const Sets slow = {"link.preset=cxl68_gen5x1", "link.cxl.queue_depth=1",
                     "host.cxl_mem.bridge=0ns"};
  std::vector<Simulation> runs(2, run_of(slow));
  runs[0].sets.push_back("host.cxl_mem.outstanding=1");
  runs[1].sets.push_back("host.cxl_mem.outstanding=64");
  const std::vector<Json> results = results_of(runs);
  EXPECT_EQ(waited(results[0], "ep0_memory", "cxl_queues"), 0) << "one at a time";
  const double line = window(results[1]) / kRequests;
  const double booked = waited(results[1], "ep0_memory", "cxl_queues") / kRequests;
  EXPECT_NEAR(booked, mean(results[1]) - mean(results[0]), 2 * line);
  EXPECT_GT(booked, 30 * line);
}

// The same of what a home sends to a cache.
TEST(CxlWaits, CXL_7_1_OfAHomeForRoomAreWhatReadsTakeLongerOnASlowLink) {
  std::vector<Simulation> runs;
  for (const char* const arrival : {"poisson", "closed_loop"}) {
    runs.push_back(
        run_of({"workload.via=cxl_cache", "link.preset=cxl68_gen5x1", "device.cxl.memory=none",
                "device.cxl.cache.size=64KiB", "device.cxl.cache.read=current",
                "device.cxl.cache.requests=64", "link.cxl.queue_depth=1", "workload.rate=0.1Mreq/s",
                fmt::format("workload.arrival={}", arrival)}));
  }
  const std::vector<Json> results = results_of(runs);
  EXPECT_EQ(waited(results[0], "home_of_ep0", "cxl_queues"), 0);
  const double line = window(results[1]) / kRequests;
  const double waits = waited(results[1], "home_of_ep0", "cxl_queues") +
                       waited(results[1], "ep0_cache", "cxl_ids") +
                       waited(results[1], "ep0_cache", "cxl_queues");
  EXPECT_NEAR(waits / kRequests, mean(results[1]) - mean(results[0]), 2 * line);
  EXPECT_GT(waited(results[1], "home_of_ep0", "cxl_queues") / kRequests, 20 * line);
}

}  // namespace
}  // namespace flitwise::cxl_waits_test
