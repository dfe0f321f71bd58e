// SPDX-License-Identifier: Apache-2.0
// How long credits of a device that sends by PIO are on their way, stage by stage.
#include <gtest/gtest.h>

#include "validation/simulate_in_child.h"

namespace flitwise::pio_credits_test {
namespace {

/// One context with room for one packet: the next one waits for the return of the one before. The
/// thread looks every 100 ns, for less than 16 times.
const std::vector<std::string> kOnePacketAtATime = {
    "host.cores.count=1",
    "host.cores.vls=1",
    "host.cores.timing.credit_poll=100ns",
    "device.pio.depth=1",
    "device.pio.threshold=1",
    "device.pio.group=1",
    "device.pio.timing.clock=1ns",
    "device.pio.timing.crossing=2ns",
    "host.memory.timing.latency=80ns",
    "host.timing.root_port=40ns",
    "host.timing.mmio=50ns",
    "link.skp=off",  // which would delay a return now and then
    "link.timing.propagation=5ns",
    "device.timing.pipeline=20ns",
    "device.pio.timing.egress=50ns",
    "workload.domains=1",
    "workload.payload=56B"};

struct Stage {
  const char* set;  ///< a hundred ns, or five hundred, more than above
  double grows;     ///< the time of a packet, ns
};

// Each stage counts as often as a packet and its credits pass it on the way there and back, the
// latency of host memory among them. The way from send memory to the port is not on it.
TEST(PioCredits, PIO_7_8_TheyComeWhenTheyAreInHostMemory) {
  const std::vector<Stage> stages = {
      {"host.memory.timing.latency=80ns", 0},    {"host.memory.timing.latency=180ns", 100},
      {"host.memory.timing.latency=580ns", 500}, {"host.timing.root_port=140ns", 100},
      {"host.timing.mmio=150ns", 100},           {"link.timing.propagation=105ns", 200},
      {"device.timing.pipeline=120ns", 200},     {"device.pio.timing.crossing=102ns", 200},
      {"device.pio.timing.egress=150ns", 0}};
  std::vector<Simulation> runs;
  for (const Stage& stage : stages) {
    for (const char* const requests : {"workload.requests=1", "workload.requests=51"}) {
      runs.push_back({"checks/pio.yaml", kOnePacketAtATime});
      runs.back().sets.insert(runs.back().sets.end(), {stage.set, requests});
    }
  }
  const std::vector<nlohmann::ordered_json> results = simulate_in_children(runs);
  const auto time_of_a_packet = [&](std::size_t stage) {
    const auto time_of = [&](std::size_t run) {
      EXPECT_FALSE(results[run].contains("failed")) << results[run];
      return results[run].at("flitwise").at("simulated_ns").get<double>();
    };
    return (time_of(2 * stage + 1) - time_of(2 * stage)) / 50;
  };
  const double before = time_of_a_packet(0);
  EXPECT_GT(before, 80 + 40 + 50 + 2 * (5 + 20 + 2));
  EXPECT_LT(before, 1000);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    EXPECT_NEAR(time_of_a_packet(i) - before, stages[i].grows, 0.01) << stages[i].set;
  }
}

// A thread that waits for an interrupt goes on so much later than it comes. Each packet has one,
// for its return or the force behind which the interrupt is on.
TEST(PioCredits, PIO_12_12_AnInterruptEndsTheWaitOfAThread) {
  std::vector<Simulation> runs;
  for (const char* const set : {"host.cores.timing.interrupt=5us",
                                "host.cores.timing.interrupt=7us", "host.cores.credit_wait=poll"}) {
    runs.push_back({"checks/pio.yaml", kOnePacketAtATime});
    runs.back().sets.insert(runs.back().sets.end(),
                            {"host.cores.credit_wait=interrupt", "workload.requests=51", set});
  }
  const std::vector<nlohmann::ordered_json> results = simulate_in_children(runs);
  const auto end_of = [&](std::size_t run) {
    EXPECT_FALSE(results[run].contains("failed")) << results[run];
    return results[run].at("flitwise").at("simulated_ns").get<double>();
  };
  EXPECT_NEAR(end_of(1) - end_of(0), 50 * 2000, 1);
  const auto interrupts_of = [&](std::size_t run) {
    const auto& returns = results[run].at("pio")[0].at("credit_returns");
    EXPECT_EQ(results[run].at("pio")[0].at("packets"), 51);
    return returns.at("interrupts").get<double>();
  };
  EXPECT_GE(interrupts_of(0), 50);
  EXPECT_LE(interrupts_of(0), 100);
  EXPECT_EQ(interrupts_of(2), 0);
  EXPECT_LT(end_of(2), end_of(0) - 50 * 4000);
}

}  // namespace
}  // namespace flitwise::pio_credits_test
