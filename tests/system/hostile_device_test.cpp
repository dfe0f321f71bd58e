// SPDX-License-Identifier: Apache-2.0
// A device that sends anything at all harms nobody but itself.
#include "config_space/registers.h"
#include "dhi/dhi_message.h"
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

// Beside what is injected the device sends one TLP of its own, which may be any.
TEST(HostileDevice, S1_AttacksOnAPeerCountOnceWhereTheyEnd) {
  const Config config = config_from_text(R"(
system:
  topology: switch
  devices: 2
  acs: {p2p_request: direct, p2p_completion: direct}
  instances: {ep0: {workload.kind: hostile, workload.requests: 1}}
workload: {kind: posted_write, payload: 64B, requests: 1}
)",
                                         "peer.yaml", "");
  Machine machine(config);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  machine.start();
  const Bdf attacker = Bdf::of(3, 0, 0), peer = Bdf::of(4, 0, 0);
  const std::uint64_t bar = kWindowBase + (std::uint64_t{1} << 20);
  const auto configure = [&](std::uint16_t offset, std::uint64_t value) {
    machine.endpoint("ep1")->target().configure(
        0, {true, peer, offset, static_cast<std::uint32_t>(value), 0xf});
  };
  configure(cfg::kBar0, bar & 0xffff'ffff);
  configure(cfg::kBar0 + 4, bar >> 32);
  configure(cfg::kCommand, cfg::kCommandMemorySpace | cfg::kCommandBusMaster);
  for (unsigned i = 0; i < 3; ++i) {  // the peer takes it
    const PacketRef write = machine.pool.make(PacketKind::kTlp);
    write->tlp.type = TlpType::kMWr;
    write->tlp.is_4dw = true;
    write->tlp.requester_id = attacker;
    write->tlp.address = bar + 0x1000;
    write->tlp.length_dw = 1;
    write->tlp.first_be = 0xf;
    write->payload.assign(4, 0xee);
    write->payload_bytes = 4;
    machine.endpoint("ep0")->inject(write);
  }
  for (unsigned i = 0; i < 4; ++i) {  // nobody has asked
    const PacketRef completion = machine.pool.make(PacketKind::kTlp);
    completion->tlp.type = TlpType::kCpl;
    completion->tlp.requester_id = peer;
    completion->tlp.completer_id = attacker;
    completion->tlp.status = CplStatus::kUR;
    completion->tlp.byte_count = 4;
    machine.endpoint("ep0")->inject(completion);
  }
  const PacketRef ack = machine.pool.make(PacketKind::kTlp);
  write_dhi_message(*ack, attacker, AllocAckMessage{}, peer);
  machine.endpoint("ep0")->inject(ack);
  machine.run_until_quiet();
  const RunResult result = machine.result();
  const auto expect = [&](const std::string& name, std::uint64_t tried, std::uint64_t through) {
    for (const AttackResult& one : result.rows<AttackResult>()) {
      if (one.attack == name) {
        EXPECT_GE(one.tried, tried) << name;
        EXPECT_LE(one.tried, tried + 1) << name;
        EXPECT_GE(one.through, through) << name;
        EXPECT_LE(one.through, through + 1) << name;
      }
    }
  };
  EXPECT_EQ(result.rows<AttackResult>().size(), 8U);
  expect("untranslated_address", 3, 3);
  expect("completion", 4, 0);
  expect("handle_message", 1, 0);
}

}  // namespace
}  // namespace flitwise::test::hostile_device_test
