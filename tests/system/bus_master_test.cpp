// SPDX-License-Identifier: Apache-2.0
// Bus Master Enable of each function, and what a device says that it waits for. [LNK-9.27]
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_space/registers.h"
#include "machine_bench.h"

namespace flitwise::bus_master_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Config three_functions() {
  Config config;
  config.device.functions.count = 3;
  config.workload.domains = 3;
  config.workload.kind = WorkloadKind::kPostedWrite;
  config.workload.requests = 20'000;
  return config;
}

Bdf function(const MachineBench& bench, unsigned index) {
  return Bdf{static_cast<std::uint16_t>(bench.machine.booted().devices()[0].pf.value + index)};
}

void write_command(MachineBench& bench, unsigned index, std::uint32_t value) {
  bench.config({true, function(bench, index), cfg::kCommand, value, 0x3});
}

void run(MachineBench& bench) {
  bench.run_until([] { return false; }, Time::from_us(10));
}

TEST(BusMaster, LNK_9_27_EachVfHasItAfterTheBoot) {
  MachineBench bench(three_functions());
  ASSERT_TRUE(bench.bring_up());
  for (unsigned f = 1; f < 3; ++f) {
    EXPECT_EQ(bench.config({false, function(bench, f), cfg::kCommand, 0, 0x3}).value() & 0xffffU,
              cfg::kCommandBusMaster);
  }
}

TEST(BusMaster, LNK_9_27_TheReportNamesTheFunctionThatATransferWaitsFor) {
  MachineBench bench(three_functions());
  ASSERT_TRUE(bench.bring_up());
  const Endpoint& endpoint = *bench.machine.endpoint("ep0");
  bench.machine.start();
  write_command(bench, 1, 0);
  run(bench);
  EXPECT_THAT(endpoint.waiting(),
              HasSubstr("a transfer of domain 1 waits for Bus Master Enable of 01:00.1\n"));
  write_command(bench, 0, cfg::kCommandMemorySpace);
  run(bench);
  EXPECT_THAT(endpoint.waiting(), HasSubstr("waits for Bus Master Enable of 01:00.0\n"));
  write_command(bench, 0, cfg::kCommandMemorySpace | cfg::kCommandBusMaster);
  write_command(bench, 1, cfg::kCommandBusMaster);
  ASSERT_TRUE(bench.finish());
  EXPECT_THAT(endpoint.waiting(), Not(HasSubstr("Bus Master Enable")));
}

TEST(BusMaster, LNK_9_27_TheReportSaysSoBeforeTheFirstTransfer) {
  MachineBench bench(three_functions());
  ASSERT_TRUE(bench.bring_up());
  const Endpoint& endpoint = *bench.machine.endpoint("ep0");
  write_command(bench, 0, cfg::kCommandMemorySpace);
  bench.machine.start();
  run(bench);
  EXPECT_THAT(endpoint.waiting(),
              HasSubstr("functions: all wait for Bus Master Enable of 01:00.0"));
  write_command(bench, 0, cfg::kCommandMemorySpace | cfg::kCommandBusMaster);
  ASSERT_TRUE(bench.finish());
}

}  // namespace
}  // namespace flitwise::bus_master_test
