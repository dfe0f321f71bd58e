// SPDX-License-Identifier: Apache-2.0
// Virtual lanes of a device that sends by PIO: their shares of the network port, by weight.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "flitwise/error.h"
#include "machine_bench.h"
#include "pio_bench.h"
#include "results/result_json.h"

namespace flitwise::pio_vls_test {
namespace {

using pio_bench::config_of;
using pio_bench::run;

// Blocks of each context that leave send memory from 50 us to 150 us. Each of `vls` contexts has a
// VL and a core of its own; packets have 16 blocks, and the port, which all of them wait for, sends
// 2.5 bytes/ns.
std::vector<double> blocks_by_context(unsigned vls, const std::string& egress) {
  MachineBench bench(config_from_text(
      config_of(
          fmt::format("count: {0}, vls: {0}, vl_choice: context", vls),
          fmt::format("depth: 512, threshold: 16, egress: {{rate: 20Gb/s, buffer: 16KiB, {}}}",
                      egress),
          fmt::format("domains: {}, payload: 1016B, requests: 100000", vls)),
      "run.yaml", ""));
  EXPECT_TRUE(bench.bring_up());
  bench.machine.start();
  const Time begin = now();
  const auto freed = [&](Time at) {
    EXPECT_TRUE(bench.run_until([&] { return now() >= begin + at; }));
    std::vector<double> all;
    for (unsigned context = 0; context < vls; ++context) {
      const SendEngine& rules = pio_bench::rules_of(bench.machine);
      all.push_back(static_cast<double>(rules.context(context).freed()));
    }
    return all;
  };
  const std::vector<double> before = freed(Time::from_us(50));
  std::vector<double> all = freed(Time::from_us(150));
  double sum = 0;
  for (unsigned context = 0; context < vls; ++context) {
    all[context] -= before[context];
    sum += all[context];
  }
  EXPECT_NEAR(sum, 100'000 * 2.5 * 16 / 1020, 80);  // of the port, in packets of 1020 bytes
  for (double& blocks : all) {
    blocks /= sum;
  }
  return all;
}

TEST(PioVls, PIO_6_5_SharesFollowTheWeights) {
  const std::vector<double> shares = blocks_by_context(2, "low: [[0, 48], [1, 16]]");
  EXPECT_NEAR(shares[0], 0.75, 0.02);
}
TEST(PioVls, PIO_6_5_WithoutTablesVlsTakeTurns) {
  const std::vector<double> shares = blocks_by_context(2, "launch_fifo: 64");
  EXPECT_NEAR(shares[0], 0.5, 0.02);
}
// 64 blocks of VL 0, then one packet of VL 1 or VL 2.
TEST(PioVls, PIO_6_5_TheHighTableGoesFirstUpToItsLimit) {
  const std::vector<double> shares =
      blocks_by_context(3, "high: [[0, 1]], low: [[1, 16], [2, 16]], high_limit: 64");
  EXPECT_NEAR(shares[0], 0.8, 0.02);
  EXPECT_NEAR(shares[1], 0.1, 0.02);
}
TEST(PioVls, PIO_046_Vl15GoesBeforeAllOthersWhateverTheirWeights) {
  const std::vector<double> shares = blocks_by_context(
      9, "high: [[0, 255], [1, 255], [2, 255], [3, 255]], low: [[4, 1], [5, 1], [6, 1], [7, 1]]");
  EXPECT_GT(shares[8], 0.97);
}

// Half of the packets are VL 1's at the end; of those that met others at the port, a quarter.
TEST(PioVls, PIO_6_5_ResultsSayWhatWeightsGave) {
  const RunResult result =
      run(config_of("count: 2, vls: 2, vl_choice: context",
                    "depth: 512, threshold: 16, egress: {rate: 20Gb/s, buffer: 16KiB, low: [[0, "
                    "48], [1, 16]], stalled_vl: 1, stall: 2us}",
                    "domains: 2, payload: 1016B, requests: 1000"))
          .result;
  const auto& rows = result.rows<PioVlResult>();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].vl + rows[1].vl, "01");
  for (const PioVlResult& row : rows) {
    EXPECT_EQ(row.packets, 500U);
    EXPECT_EQ(row.bytes, 500U * 1020);
    EXPECT_DOUBLE_EQ(row.share, 0.5);
  }
  EXPECT_NEAR(rows[0].contended_share, 0.75, 0.02);
  EXPECT_NEAR(rows[1].contended_share, 0.25, 0.02);
  EXPECT_GT(rows[1].latency_p99, 2 * rows[0].latency_p99);
  EXPECT_EQ(rows[0].stalled, Time{});
  EXPECT_GT(rows[1].stalled, Time::from_ns(1500));
  EXPECT_LT(rows[1].stalled, Time::from_ns(2000));
  const auto row = figures_row(result_json(result));
  EXPECT_EQ(row.at("pio_vl_ep0_1_packets"), 500);
}

// What waits for ever is a deadlock with a name.
TEST(PioVls, PIO_047_AVlWithoutWeightStaysAndIsNamed) {
  try {
    run(config_of("count: 1, vls: 2", "depth: 32, egress: {high: [[0, 1]]}",
                  "domains: 1, payload: 120B, requests: 100"));
    FAIL() << "it ends";
  } catch (const SimulationError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("launched packets of VL 1, which has no weight"), std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace flitwise::pio_vls_test
