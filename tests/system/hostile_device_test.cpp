// SPDX-License-Identifier: Apache-2.0
// A device that sends anything at all harms nobody but itself.
#include "support/hostile_run.h"

namespace flitwise::test::hostile_device_test {
namespace {

constexpr std::uint64_t kPackets = 50'000;

// [DHI S1] [DHI S2] [DHI S3]
TEST(HostileDevice, S1_HarmsNobodyWithHandlesInTheRequesterId) {
  attack(kPackets, "rid_direct", 1);
}
TEST(HostileDevice, S1_HarmsNobodyWithHandlesInAPrefix) {
  attack(kPackets, "prefix", 2);
}
TEST(HostileDevice, S1_HarmsNobodyWithHandlesInTheTag) {
  attack(kPackets, "tag", 3);
}

// The host's fault counts among the errors of the port, and is no refusal. Nobody but the hostile
// device reads.
TEST(HostileDevice, S3_CompletionsThatTheHostDropsAreNoRefusals) {
  const Config config =
      hostile_config(2'000, "rid_direct", 4,
                     {"faults.drop_completions=3", "device.timing.completion_timeout=20us",
                      "device.dhi.alloc_order=none", "workload.kind=posted_write"});
  Machine machine(config);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  machine.start();
  machine.run_until_quiet();
  const RootPort& port = machine.root_port("ep0");
  EXPECT_EQ(port.errors().at("completion_dropped_by_fault"), 3U);
  EXPECT_GT(port.counters().refused, 100U);
  expect_isolation(machine.result());
}

// A switch routes them across by the Requester ID alone.
TEST(HostileDevice, S1_StrayCompletionsThatANeighbourRefusesAreNoHarm) {
  const Config config = config_from_text(R"(
system:
  topology: switch
  devices: 2
  instances: {ep0: {workload.kind: hostile, workload.requests: 5000}}
workload: {kind: read_write, payload: 256B, requests: 2000, domains: 4}
)",
                                         "stray.yaml", "");
  Machine machine(config);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  machine.start();
  machine.run_until_quiet();
  EXPECT_GT(machine.endpoint("ep1")->errors().at("unexpected_completion"), 0U);
  for (const CheckResult& check : machine.result().checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
}

}  // namespace
}  // namespace flitwise::test::hostile_device_test
