// SPDX-License-Identifier: Apache-2.0
// A run tells how far it is: the requests of all engines, from 0 to all.
#include <gmock/gmock.h>

#include <fstream>
#include <string>
#include <vector>

#include "config/load.h"
#include "flitwise/link_socket.h"
#include "flitwise/system.h"
#include "support/temporary_folder.h"
#include "system/machine.h"

namespace flitwise::run_progress_test {
namespace {

std::vector<RunProgress> progress_of(const std::string& yaml) {
  System system(config_from_text(yaml, "run.yaml", ""));
  std::vector<RunProgress> told;
  system.report_progress([&told](const RunProgress& progress) { told.push_back(progress); });
  system.run();
  return told;
}

/// It grows from none to nearly all, in time that does not go back.
void expect_growth(const std::vector<RunProgress>& told, std::uint64_t requests) {
  ASSERT_GT(told.size(), 5U);
  RunProgress before;
  for (const RunProgress& one : told) {
    EXPECT_GE(one.over, before.over);
    EXPECT_GE(one.simulated, before.simulated);
    EXPECT_LE(one.over, one.requests);
    EXPECT_EQ(one.requests, one.is_known() || before.is_known() ? requests : 0);
    before = one;
  }
  EXPECT_GT(before.over, requests * 9 / 10);
}

TEST(RunProgress, CountsTheRequestsOfAllDevicesWithTheirWarmUp) {
  expect_growth(progress_of(R"(
system: {topology: direct, devices: 2, instances: {ep1: {workload: {kind: read, requests: 3000}}}}
run: {warmup: 500}
workload: {requests: 5000}
)"),
                9'000);
}

// An Ack takes a millisecond to come back, or 50,000 slices of 20 ns: a report comes every 256.
TEST(RunProgress, WhatRemainsBehindTheLastRequestGoesFromEventToEvent) {
  unsigned behind = 0;
  for (const RunProgress& one : progress_of(R"(
link: {timing: {propagation: 1ms}}
workload: {kind: posted_write, payload: 64B, requests: 10}
run: {warmup: 0}
)")) {
    behind += one.is_known() && one.over == one.requests ? 1 : 0;
  }
  EXPECT_GT(now(), Time::from_us(2'000));
  EXPECT_LT(behind, 20U);
}

TEST(RunProgress, CountsAMessageOfSeveralStepsOnce) {
  expect_growth(progress_of("workload: {kind: nic, payload: 200B, requests: 4000}\n"), 4'000);
}

TEST(RunProgress, CountsTheLinesOfATraceAndNotTheRequestsThatAreConfigured) {
  const TemporaryFolder folder;
  std::ofstream trace(folder.file("trace.csv"));
  trace << "time_ns,domain,op,address,bytes\n";
  for (int i = 0; i < 3000; ++i) {
    trace << i * 10 << ",0," << (i % 2 == 0 ? "read" : "write") << ",0x100000000,64\n";
  }
  trace.close();
  expect_growth(progress_of("workload: {kind: trace, requests: 7, trace: " +
                            folder.file("trace.csv") + "}\n"),
                3'000);
}

TEST(RunProgress, CountsWhatAHostileDeviceSends) {
  expect_growth(progress_of(R"(
system: {topology: direct, devices: 2, instances: {ep1: {workload: {kind: hostile, requests: 2000}}}}
workload: {requests: 4000}
)"),
                6'000);
}

std::string pio_of(const std::string& more) {
  return "link: {preset: gen3x16}\nhost: {cores: {count: 2}}\n"
         "device: {functions: {bar_size: 64MiB}, pio: {depth: 1024, " +
         more;
}

// Cores have stored all that goes into send memory, and nothing leaves for a millisecond.
TEST(RunProgress, APacketByPioIsNotOverWhenItIsStored) {
  const std::vector<RunProgress> told =
      progress_of(pio_of("egress: {stalled_vl: 0, stall: 1ms}}}\n"
                         "workload: {via: pio, domains: 2, payload: 184B, requests: 600}\n"));
  unsigned reports = 0;
  for (const RunProgress& one : told) {
    if (one.is_known() && one.simulated < Time::from_us(1000)) {
      ++reports;
      EXPECT_EQ(one.over, 0U);
    }
  }
  EXPECT_GT(reports, 0U);
}

TEST(RunProgress, PacketsByPioThatAreLostAreOver) {
  expect_growth(
      progress_of(pio_of("threshold: 16}}\nfaults: {pio_integrity: 0.3}\n"
                         "workload: {via: pio, domains: 2, payload: 184B, requests: 6000}\n")),
      6'000);
}

// Software boots for a time in which there is no share.
TEST(RunProgress, SaysHowLongTheMachineTakesToComeUp) {
  const std::vector<RunProgress> told = progress_of(R"(
system: {topology: direct, devices: 16}
link: {timing: {propagation: 1us}}
workload: {requests: 100}
)");
  ASSERT_FALSE(told.empty());
  EXPECT_FALSE(told.front().is_known());
  EXPECT_GT(told.front().simulated, Time{});
}

/// Counts how often it is asked how far it is.
class Asked : public Bystander {
 public:
  Asked() : Bystander("asked") {}
  void add_progress(Progress& /*sum*/) const override { ++times; }
  mutable unsigned times = 0;
};

// While software asks one device after the other, nothing happens to most components: all of them
// are asked every few microseconds, and not in each slice of half a microsecond.
TEST(RunProgress, ABootIsSeldomAskedHowFarItIs) {
  Machine machine(config_from_text("system: {topology: direct, devices: 16}\n", "run.yaml", ""));
  Asked asked;
  machine.fabric().components.add(asked);
  machine.bring_up();
  ASSERT_GT(now(), Time::from_us(200));
  EXPECT_LT(asked.times, now().fs / Time::from_us(7).fs);
}

// Nothing but UpdateFCs every 30 us happens while an answer is under way for a millisecond.
TEST(RunProgress, ABootOverALongLinkGoesFromEventToEvent) {
  Machine machine(config_from_text("link: {timing: {propagation: 1ms}}\n", "run.yaml", ""));
  Asked asked;
  machine.fabric().components.add(asked);
  machine.bring_up();
  ASSERT_GT(now(), Time::from_us(10'000));
  EXPECT_LT(asked.times, now().fs / Time::from_us(50).fs);
}

}  // namespace
}  // namespace flitwise::run_progress_test
