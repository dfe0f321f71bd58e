// SPDX-License-Identifier: Apache-2.0
// Time waited at queues, beside what it adds to the latency: a request that is alone waits nowhere,
// so that the latency of many at a time exceeds that of one by what they wait. By Little's law the
// time over the window is the mean length of the queue.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "validation/simulate_in_child.h"

namespace flitwise::waits_test {
namespace {

using Json = nlohmann::ordered_json;
using Sets = std::vector<std::string>;

constexpr unsigned kRequests = 4000;

/// Random reads of 64 bytes: one at a time, and many.
struct Pair {
  Json one, many;
};

Pair run_with(const Sets& sets, unsigned outstanding) {
  std::vector<Simulation> runs;
  for (const unsigned out : {1U, outstanding}) {
    Simulation run{"calibrations/broadwell_iommu.yaml",
                   {"workload.requests=" + std::to_string(kRequests), "run.warmup=500",
                    "device.dma.outstanding=" + std::to_string(out)}};
    run.sets.insert(run.sets.end(), sets.begin(), sets.end());
    runs.push_back(std::move(run));
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (const Json& result : results) {
    EXPECT_FALSE(result.contains("failed")) << result.value("failed", "");
  }
  return {results[0], results[1]};
}

double mean(const Json& result, const std::string& name = "dma_read") {
  for (const Json& latency : result.at("latency")) {
    if (latency.at("name") == name) {
      return latency.at("mean");
    }
  }
  return 0;
}

double waited(const Json& result, const std::string& resource) {
  double sum = 0;
  for (const Json& wait : result.at("waits")) {
    sum += wait.at("resource") == resource ? wait.at("wait_ns").get<double>() : 0;
  }
  return sum;
}

double window(const Json& result) {
  return result.at("flitwise").at("simulated_ns");
}

/// What a request waits there is what its latency has grown by.
void expect_explained(const Pair& pair, const std::string& resource, double tolerance) {
  EXPECT_EQ(waited(pair.one, resource), 0) << "nobody is in the way of one";
  const double per_request = waited(pair.many, resource) / kRequests;
  const double grown = mean(pair.many) - mean(pair.one);
  EXPECT_GT(grown, 0.5 * mean(pair.one)) << "the queue is saturated";
  EXPECT_NEAR(per_request, grown, tolerance * grown) << resource;
}

TEST(Waits, LittlesLawHoldsForPageWalkers) {
  const Pair pair = run_with({"workload.buffer_size=64MiB", "iommu.walkers=1"}, 16);
  expect_explained(pair, "walkers", 0.03);
  // One of 16 is at the walker, a share of 431.5 / 323 on the way from and to it.
  EXPECT_NEAR(waited(pair.many, "walkers") / window(pair.many), 16 - 1 - 431.5 / 323, 0.5);
}

const Json& row(const Json& result, const std::string& resource) {
  for (const Json& wait : result.at("waits")) {
    if (wait.at("resource") == resource) {
      return wait;
    }
  }
  throw std::runtime_error("no row of " + resource);
}

/// Units in use on average.
double in_use(const Json& result, const std::string& resource) {
  const Json& found = row(result, resource);
  return found.at("busy").get<double>() * found.at("capacity").get<double>();
}

// Walks x their time: four reads of 80 ns and 7 ns of look-ups. The way of a request to the agent
// is no work of a walker.
TEST(Waits, LittlesLawHoldsForPageWalkersInUseHoweverLongTheWayToThem) {
  std::vector<Simulation> runs;
  for (const char* const way : {"0ns", "50ns", "500ns"}) {
    runs.push_back({"calibrations/broadwell_iommu.yaml",
                    {"workload.requests=4000", "run.warmup=500", "workload.buffer_size=64MiB",
                     "iommu.walkers=4", "device.dma.outstanding=64", "workload.arrival=cbr",
                     "workload.rate=4Mreq/s", std::string("host.timing.root_port=") + way}});
  }
  for (const Json& result : simulate_in_children(runs)) {
    ASSERT_FALSE(result.contains("failed")) << result;
    const double walks = result.at("iommu").at(0).at("walks");
    const double due = walks / window(result) * 327;
    EXPECT_NEAR(in_use(result, "walkers"), due, 0.01 * due);
    EXPECT_EQ(row(result, "walkers").at("peak"), 2) << "every 250 ns one";
  }
}

// No Ack arrives, so that the link goes on for a millisecond after the last read.
TEST(Waits, LittlesLawHoldsInTheWindowHoweverLongTheLinksDrain) {
  std::string all = "1";
  for (unsigned i = 2; i < 3000; ++i) {
    all += "," + std::to_string(i);
  }
  for (const Json& result : simulate_in_children(
           {{"presets/gen5x16.yaml",
             {"workload.kind=read", "workload.payload=256B", "workload.requests=2000",
              "workload.placement=random", "workload.buffer_size=4MiB", "device.dma.outstanding=16",
              "iommu.translation=first_stage", "iommu.walkers=2", "run.warmup=0",
              "link.preset=gen4x4", "link.credits.nonposted_headers=infinite",
              "link.credits.nonposted_data=infinite", "link.timing.replay_timeout=1ms",
              "faults.down.corrupt_dllps=[" + all + "]"}}})) {
    ASSERT_FALSE(result.contains("failed")) << result;
    const double requests = result.at("latency").at(0).at("count");
    EXPECT_EQ(requests, 2000);
    const double due = requests * mean(result) / window(result);
    EXPECT_NEAR(in_use(result, "outstanding"), due, 0.01 * due);
    EXPECT_GT(in_use(result, "walkers"), 1) << "they are what reads wait for";
  }
}

TEST(Waits, LittlesLawHoldsForTheDataBusOfTheMemory) {
  const Pair pair = run_with({"iommu.translation=off", "host.memory.bandwidth=1Gb/s"}, 16);
  expect_explained(pair, "bandwidth", 0.03);
}

TEST(Waits, LittlesLawHoldsForRequestsOfTheAtc) {
  const Pair pair = run_with({"workload.buffer_size=64MiB", "device.atc.enabled=true",
                              "device.atc.entries=16", "device.atc.requests=1"},
                             16);
  expect_explained(pair, "atc_requests", 0.05);
}

TEST(Waits, LittlesLawHoldsForTheOutstandingReadsOfAnEngine) {
  const Pair pair = run_with({"iommu.translation=off"}, 4);
  for (const Json* const result : {&pair.one, &pair.many}) {
    const double length = waited(*result, "outstanding") / window(*result);
    EXPECT_GT(length, 0.95) << "there is always a read that would go";
    EXPECT_LE(length, 1.001) << "one at a time is the next";
  }
  const Pair few = run_with(
      {"iommu.translation=off", "workload.arrival=poisson", "workload.rate=0.5Mreq/s"}, 64);
  EXPECT_GT(waited(few.one, "outstanding"), 0);
  EXPECT_EQ(waited(few.many, "outstanding"), 0) << "64 are never out";
}

// Two devices send N writes each into one link that is as fast as theirs: the k-th is at the switch
// after k / 2 times of one TLP on the wire and is sent after k. The last Q that the switch has
// given out stand in the queue of that link, so that this one waits k / 2 - Q at the switch:
// together (N - Q)^2. With the queue of the link it is what the latency grows by, N / 2.
TEST(Waits, AtTheEgressOfASwitchAreThoseForItsLink) {
  constexpr double kWrites = 2000, kRoom = 1 + 96;
  std::vector<Simulation> runs;
  for (const char* const devices : {"1", "2"}) {
    runs.push_back({"checks/saturated.yaml",
                    {"system.topology=switch", "workload.requests=2000", "link.queue_depth=1",
                     std::string("system.devices=") + devices}});
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (const Json& result : results) {
    ASSERT_FALSE(result.contains("failed")) << result;
  }
  EXPECT_EQ(waited(results[0], "egress"), 0) << "the link below is no faster";
  const Json& link = results[1].at("links").at(0);
  ASSERT_EQ(link.at("name"), "rp0-sw0");
  const double tlp = 64 * 8 / link.at("up").at("goodput_gbps").get<double>();
  const double all = (kWrites - kRoom) * (kWrites - kRoom) * tlp;
  EXPECT_NEAR(waited(results[1], "egress"), all, 0.02 * all);
  const double grown = mean(results[1], "dma_write") - mean(results[0], "dma_write");
  EXPECT_NEAR(grown, kWrites / 2 * tlp, 0.02 * grown);
  for (const Json& wait : results[1].at("waits")) {
    if (wait.at("resource") == "egress") {
      const bool is_up = wait.at("direction") == "up";
      EXPECT_EQ(wait.at("at"), "sw0");
      EXPECT_NEAR(wait.at("waits").get<double>(), is_up ? 2 * (kWrites - kRoom) : 0, 40);
      EXPECT_EQ(wait.at("wait_ns") > 0, is_up) << "nothing goes down";
    }
  }
}

// One read at a time: what a miss adds to its latency is what it waits for its translation, the way
// back through the pipeline of the device included.
TEST(Waits, ForATranslationAreWhatAMissAddsToTheLatencyOfARead) {
  std::vector<Simulation> runs;
  for (const char* const pipeline : {"0ns", "20ns", "500ns"}) {
    for (const char* const buffer : {"4KiB", "64MiB"}) {
      runs.push_back({"calibrations/broadwell_iommu.yaml",
                      {"workload.requests=2000", "run.warmup=500", "device.atc.enabled=true",
                       "device.atc.entries=16", "device.atc.requests=1",
                       std::string("device.timing.pipeline=") + pipeline,
                       std::string("workload.buffer_size=") + buffer}});
    }
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < results.size(); i += 2) {
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    ASSERT_FALSE(results[i + 1].contains("failed")) << results[i + 1];
    EXPECT_EQ(waited(results[i], "translations"), 0) << "all hits";
    const double grown = mean(results[i + 1]) - mean(results[i]);
    EXPECT_NEAR(waited(results[i + 1], "translations") / 2000, grown, 1.0)
        << i << ": to a clock edge";
    EXPECT_EQ(waited(results[i + 1], "order"), 0) << "nothing is before one";
  }
}

// Writes keep their order: one whose translation is there waits for those before it.
TEST(Waits, ForTheirTurnAtTheAtcAreWhatWritesWaitBehindOthers) {
  std::vector<Simulation> runs;
  for (const char* const rate : {"0.05Mreq/s", "5Mreq/s"}) {
    runs.push_back({"calibrations/broadwell_iommu.yaml",
                    {"workload.kind=posted_write", "workload.requests=8000", "run.warmup=1000",
                     "device.atc.enabled=true", "device.atc.entries=48",
                     "workload.buffer_size=256KiB", "device.timing.pipeline=0ns",
                     "workload.arrival=poisson", std::string("workload.rate=") + rate}});
  }
  const std::vector<Json> results = simulate_in_children(runs);
  std::vector<double> latency;
  std::vector<double> booked;
  for (const Json& result : results) {
    ASSERT_FALSE(result.contains("failed")) << result;
    latency.push_back(mean(result, "dma_write"));
    booked.push_back((waited(result, "order") + waited(result, "translations")) / 8000);
  }
  EXPECT_GT(waited(results[1], "order"), 10 * waited(results[0], "order"));
  const double grown = latency[1] - latency[0];
  EXPECT_GT(grown, 15);
  // The rest is for the wire: those that one translation lets go come to it at once.
  EXPECT_NEAR(booked[1] - booked[0], grown, 0.2 * grown);
}

// A closed loop has a write ready whenever the link has room for one: that one waits all the time,
// whatever it is that holds the link up.
TEST(Waits, ForTheQueuesOfTheLinkAreOfOneWriteWhereItIsSaturated) {
  std::vector<Simulation> runs;
  for (const char* const limit :
       {"run.seed=1", "link.queue_depth=2", "link.credits.posted_headers=4",
        "host.memory.bandwidth=20Gb/s"}) {
    runs.push_back({"presets/gen5x16.yaml",
                    {"link.preset=gen5x8", "link.identity=none", "workload.kind=posted_write",
                     "workload.payload=256B", "workload.requests=5000", "run.warmup=1000", limit}});
  }
  runs.push_back(runs[0]);
  runs.back().sets.insert(runs.back().sets.end(),
                          {"workload.arrival=poisson", "workload.rate=1Mreq/s"});
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < results.size(); ++i) {
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    const double length = waited(results[i], "link_queues") / window(results[i]);
    if (i == 4) {
      EXPECT_EQ(length, 0) << "few writes find room at once";
    } else {
      EXPECT_GT(length, i == 3 ? 0.9 : 0.95) << i << ": all the time but what memory drains for";
      EXPECT_LE(length, 1.001) << i;
    }
  }
}

}  // namespace
}  // namespace flitwise::waits_test
