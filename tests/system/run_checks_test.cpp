// SPDX-License-Identifier: Apache-2.0
// The books that every run closes with are in order, and their figures are those of the workload.
#include <gtest/gtest.h>

#include <string>

#include "config/load.h"
#include "flitwise/link_socket.h"
#include "system/machine.h"

namespace flitwise::run_checks_test {
namespace {

void expect_books_in_order(const std::string& yaml) {
  Machine machine(config_from_text(yaml, "run.yaml", ""));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  machine.start();
  machine.run_until_quiet();
  const RunResult result = machine.result();
  EXPECT_GE(result.checks.size(), 12U);
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  const EndpointCounters& sent = machine.endpoint("ep0")->counters();
  EXPECT_GT(sent.posted_bytes, 0U);
  EXPECT_GT(machine.root_port("ep0").counters().written_bytes, 0U);
}

TEST(RunChecks, HoldWithBitErrorsAndHandles) {
  expect_books_in_order(R"(
link: {identity: dhi, error_rate: 1e-6}
device: {dhi: {bits: 4}}
workload: {kind: read_write, payload: 200B, domains: 100, requests: 5000}
)");
}

TEST(RunChecks, HoldForUnevenSizes) {
  expect_books_in_order(R"(
workload: {kind: posted_write, sizes: google_rpc_2008, domains: 3, requests: 3000}
)");
}

// [LNK-9.18]
TEST(RunChecks, FailedReadsAreBookedAsFailed) {
  Machine machine(config_from_text(R"(
faults: {drop_completions: 3}
device: {timing: {completion_timeout: 100us}}
workload: {kind: read, payload: 1000B, requests: 200}
)",
                                   "run.yaml", ""));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  machine.start();
  machine.run_until_quiet();
  for (const CheckResult& check : machine.result().checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  const EndpointCounters& counters = machine.endpoint("ep0")->counters();
  EXPECT_EQ(counters.asked_bytes, 200'000U);
  EXPECT_GT(counters.failed_bytes, 0U);
  EXPECT_EQ(machine.endpoint("ep0")->errors().at("completion_timeout"), 3U);
}

}  // namespace
}  // namespace flitwise::run_checks_test
