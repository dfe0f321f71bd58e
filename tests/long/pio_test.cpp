// SPDX-License-Identifier: Apache-2.0
// A million packets of 160 contexts of two depths, nine virtual lanes, sizes of one block to what a
// context of 80 blocks and a threshold of 10 has room for, by stores of 8 bytes that pass each
// other.
#include <gtest/gtest.h>

#include "config/load.h"
#include "pio/pio_result.h"
#include "system/machine.h"

namespace flitwise::pio_test {
namespace {

// [PIO-6.4, 7.2]
TEST(PioLong, PIO_092_AMillionPacketsLeaveWholeAndInOrder) {
  Machine machine(config_from_text(R"(
link: {preset: gen3x16, error_rate: 1e-8}
host:
  cores: {count: 8, threads: 2, vls: 9, store_bytes: 8, window: 64, credit_requests: 0.05}
device:
  functions: {bar_size: 64MiB}
  pio: {depth: 80, deep_contexts: 8, deep_depth: 512, threshold: 10, group: 4}
workload: {via: pio, domains: 160, domain_choice: uniform, sizes: google_rpc_2008, size_cap: 4500B, requests: 1000000}
)",
                                   "run.yaml", ""));
  machine.bring_up();
  machine.start();
  machine.run_until_quiet();
  const RunResult result = machine.result();
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  const PioResult& row = result.rows<PioResult>().at(0);
  EXPECT_EQ(row.packets, 1'000'000U);
  EXPECT_EQ(row.vls, 9U);
  EXPECT_TRUE(row.errors.empty());
}

}  // namespace
}  // namespace flitwise::pio_test
