// SPDX-License-Identifier: Apache-2.0
// Machines with a switch: everything arrives, whatever the form of identity and the state of the
// links; and what a hostile device reaches.
#include <gmock/gmock.h>

#include <cstring>
#include <sstream>

#include "config/load.h"
#include "dhi/dhi_message.h"
#include "fabric/fabric.h"
#include "flitwise/system.h"
#include "tlp/identity.h"

namespace flitwise::switch_test {
namespace {

constexpr std::uint64_t kBuffers = std::uint64_t{4} << 30;
constexpr std::uint64_t kBuffersOfEp1 = std::uint64_t{5} << 30;

/// Two devices that write 4,000 x 64 B each, one behind the other, into buffers of their own.
Config two_writers(const std::string& more) {
  const std::string yaml = R"(
system:
  topology: switch
  devices: 2
  instances: {ep1: {workload.buffer_base: 5GiB}}
workload: {kind: posted_write, payload: 64B, requests: 4000, buffer_size: 256KiB}
)";
  LoadOptions options;
  std::string line;
  for (std::istringstream lines(more); lines >> line;) {
    options.sets.push_back(line);
  }
  return config_from_text(yaml, "two_writers.yaml", "", options);
}

/// Endpoints fill payloads with a counter of 8-byte words.
void expect_all_written(const System& system, std::uint64_t base, std::size_t bytes) {
  const std::vector<std::uint8_t> memory = system.peek(base, bytes);
  for (std::size_t i = 0; i < bytes / 8; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, memory.data() + i * 8, 8);
    ASSERT_EQ(word, i + 1) << "at byte " << i * 8 << " from " << base;
  }
}

void expect_good(const RunResult& result) {
  EXPECT_TRUE(result.errors.empty()) << result.errors.begin()->first;
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  for (const DhiResult& dhi : result.rows<DhiResult>()) {
    EXPECT_EQ(dhi.rejected, 0U);
    EXPECT_EQ(dhi.wrong_domain, 0U);
  }
}

const LinkResult& link_of(const RunResult& result, const std::string& name) {
  for (const LinkResult& link : result.rows<LinkResult>()) {
    if (link.name == name) {
      return link;
    }
  }
  throw std::out_of_range(name);
}

RunResult run_writers(const std::string& more) {
  System system(two_writers(more));
  const RunResult result = system.run();
  expect_all_written(system, kBuffers, 4000 * 64);
  expect_all_written(system, kBuffersOfEp1, 4000 * 64);
  expect_good(result);
  return result;
}

TEST(SwitchedMachine, EveryByteOfBothDevicesArrivesAndEveryLinkIsListed) {
  const RunResult result = run_writers("");
  ASSERT_EQ(result.rows<LinkResult>().size(), 3U);
  EXPECT_EQ(result.rows<LinkResult>()[0].name, "rp0-sw0");
  EXPECT_EQ(link_of(result, "sw0-ep0").up.payload_bytes, 4000U * 64);
  EXPECT_EQ(link_of(result, "sw0-ep1").up.payload_bytes, 4000U * 64);
  EXPECT_EQ(link_of(result, "rp0-sw0").up.payload_bytes, 2U * 4000 * 64);
}

TEST(SwitchedMachine, ReadsOfBothDevicesAreAnswered) {
  System system(two_writers("workload.kind=read"));
  const RunResult result = system.run();
  expect_good(result);
  EXPECT_EQ(result.rows<LatencyResult>()[0].count, 2U * 4000);
  EXPECT_EQ(link_of(result, "sw0-ep1").down.payload_bytes, 4000U * 64);
  // Through the switch and back.
  EXPECT_GT(result.rows<LatencyResult>()[0].min, 2 * 60.0);
}

TEST(SwitchedMachine, ReadsAndWritesMixWithHandlesOfOneSharedTable) {
  System system(
      two_writers("workload.kind=read_write workload.domains=64 link.identity=dhi "
                  "link.dhi_form=rid_fabric host.dhi.table=shared host.dhi.entries=64"));
  const RunResult result = system.run();
  expect_good(result);
  for (const DhiResult& dhi : result.rows<DhiResult>()) {
    EXPECT_GE(dhi.lookups, 4000U);
    EXPECT_GT(dhi.evictions, 0U);  // 32 handles each for 64 domains
  }
}

TEST(SwitchedMachine, D23_rid_fabric_WorksThroughASwitchThatKnowsHandles) {
  const RunResult result = run_writers("link.identity=dhi link.dhi_form=rid_fabric");
  EXPECT_EQ(result.rows<DhiResult>()[0].hits, 3999U);
  EXPECT_EQ(result.rows<DhiResult>()[1].hits, 3999U);
}

TEST(SwitchedMachine, D23_TheNarrowerDeviceGetsHandlesThatItCanHold) {
  LoadOptions options;
  options.sets = {"workload.requests=2000"};
  System system(
      load_config(FLITWISE_SOURCE_DIR "/configs/examples/switch_two_devices.yaml", options));
  const RunResult result = system.run();
  expect_good(result);
  EXPECT_GT(result.rows<DhiResult>()[0].hits, 0U);
  EXPECT_EQ(result.rows<DhiResult>()[1].bypasses, 0U);
  EXPECT_GT(result.rows<DhiResult>()[1].evictions, result.rows<DhiResult>()[0].evictions);
}

TEST(SwitchedMachine, D23_tag_WorksThroughASwitchThatKnowsHandles) {
  const RunResult result = run_writers("link.identity=dhi link.dhi_form=tag");
  EXPECT_EQ(result.rows<DhiResult>()[1].hits, 3999U);
}

TEST(SwitchedMachine, D23_tag_WorksThroughALegacySwitch) {
  System system(two_writers("link.identity=dhi link.dhi_form=tag system.switch_mode=legacy"));
  const RunResult result = system.run();
  expect_all_written(system, kBuffers, 4000 * 64);
  expect_all_written(system, kBuffersOfEp1, 4000 * 64);
  EXPECT_EQ(result.rows<DhiResult>()[0].hits, 3999U);
  // Nobody between device and host looked at them.
  EXPECT_EQ(result.errors, (std::map<std::string, std::uint64_t>{{"unchecked_handle", 8000}}));
}

TEST(SwitchedMachine, D23_prefix_WorksThroughASwitchThatKnowsHandles) {
  const RunResult result = run_writers("link.identity=dhi link.dhi_form=prefix");
  EXPECT_EQ(result.rows<DhiResult>()[1].hits, 3999U);
}

TEST(SwitchedMachine, D2_tag_HasTablesOfTheirOwnOrRangesApart) {
  const RunResult result =
      run_writers("link.identity=dhi link.dhi_form=tag host.dhi.table=shared host.dhi.entries=32");
  EXPECT_EQ(result.rows<DhiResult>()[1].hits, 3999U);
}

TEST(SwitchedMachine, D8_AcknowledgedAllocsReachTheDeviceBehindTheSwitch) {
  const RunResult result =
      run_writers("link.identity=dhi link.dhi_form=rid_fabric device.dhi.alloc_order=ack");
  EXPECT_EQ(result.rows<DhiResult>()[0].acks, 1U);
  EXPECT_EQ(result.rows<DhiResult>()[1].acks, 1U);
}

TEST(SwitchedMachine, ASlowTrunkHoldsTheDevicesBackAndLosesNothing) {
  Config config = two_writers("link.credits.posted_headers=64 link.credits.posted_data=512");
  config.instances["rp0-sw0"] = {{"link.preset", "\"gen1x8\""}};
  System system(config);
  const RunResult result = system.run();
  expect_all_written(system, kBuffers, 4000 * 64);
  expect_all_written(system, kBuffersOfEp1, 4000 * 64);
  expect_good(result);
  EXPECT_GT(link_of(result, "sw0-ep0").up.stalls.credits_posted, Time::from_us(100));
  EXPECT_GT(link_of(result, "sw0-ep1").up.stalls.credits_posted, Time::from_us(100));
}

TEST(SwitchedMachine, ASlowDeviceLinkHoldsCompletionsBackInTheHost) {
  Config config = two_writers(
      "workload.kind=read workload.payload=512B link.credits.posted_headers=64 "
      "link.credits.posted_data=512");
  config.instances["sw0-ep0"] = {{"link.preset", "\"gen1x8\""}};
  System system(config);
  const RunResult result = system.run();
  expect_good(result);
  EXPECT_EQ(link_of(result, "sw0-ep0").down.payload_bytes, 4000U * 512);
  EXPECT_EQ(link_of(result, "sw0-ep1").down.payload_bytes, 4000U * 512);
  EXPECT_GT(link_of(result, "rp0-sw0").down.stalls.credits_completion, Time::from_us(100));
  EXPECT_EQ(link_of(result, "sw0-ep0").down.stalls.credits_completion, Time{});  // endpoints sink
}

TEST(SwitchedMachine, ASlowMemoryDelaysReadsAndLosesNothing) {
  System system(two_writers("workload.kind=read_write host.memory.bandwidth=1Gb/s"));
  const RunResult result = system.run();
  expect_good(result);
  EXPECT_GT(result.rows<LatencyResult>()[0].p50, 1000.0);
}

TEST(SwitchedMachine, BitErrorsOnOneLinkLoseNothing) {
  Config config = two_writers("");
  config.instances["sw0-ep0"] = {{"link.error_rate", "1e-5"}};
  System system(config);
  const RunResult result = system.run();
  expect_all_written(system, kBuffers, 4000 * 64);
  expect_all_written(system, kBuffersOfEp1, 4000 * 64);
  expect_good(result);
  EXPECT_GT(link_of(result, "sw0-ep0").up.replays, 0U);
  EXPECT_EQ(link_of(result, "sw0-ep1").up.replays, 0U);
  EXPECT_EQ(link_of(result, "rp0-sw0").up.replays, 0U);
}

TEST(SwitchedMachine, TheSmallestPayloadSizeOfAllLinksHoldsForAll) {
  Config config = two_writers("workload.payload=1KiB workload.requests=250 link.mps=512B");
  config.instances["sw0-ep1"] = {{"link.mps", "\"128B\""}};
  System system(config);
  const RunResult result = system.run();
  expect_all_written(system, kBuffers, 250 * 1024);
  expect_good(result);
  EXPECT_EQ(link_of(result, "sw0-ep0").up.tlps, 250U * 8);
}

TEST(SwitchedMachine, APeerToPeerWriteGoesUpAndTheRootRefusesIt) {
  System system(two_writers(""));
  PacketRef write = system.pool().make(PacketKind::kTlp);
  write->tlp.type = TlpType::kMWr;
  write->tlp.is_4dw = true;
  write->tlp.address = kWindowBase + (std::uint64_t{1} << 20);  // ep1's
  write->tlp.requester_id = Bdf::of(3, 0, 0);
  write->tlp.length_dw = 1;
  write->tlp.first_be = 0xf;
  write->payload.assign(4, 0xaa);
  write->payload_bytes = 4;
  system.inject("ep0", write);
  const RunResult result = system.run();
  EXPECT_EQ(result.errors, (std::map<std::string, std::uint64_t>{{"redirected_request", 1},
                                                                 {"unmapped_address", 1}}));
}

// [DHI S1] [DHI D23] What the switch refuses has been tried all the same.
TEST(Switch, S1_AttacksThatTheSwitchRefusesAreCountedAsTried) {
  System system(config_from_text(R"(
system:
  topology: switch
  devices: 2
  instances:
    ep0: {workload: {kind: hostile, requests: 20000, buffer_base: 66048KiB}}
host:
  memory: {size: 128MiB}
  dhi: {table: shared, entries: 512, grant: configured, granted: {last_pasid: 191}}
link: {identity: dhi, dhi_form: rid_fabric}
device: {functions: {count: 2}, dhi: {bits: 8}}
workload: {kind: read_write, domains: 100, payload: 64B, requests: 2000, buffer_base: 80MiB, buffer_size: 4KiB}
)",
                                 "hostile_switch.yaml", "", {}));
  const RunResult result = system.run();
  std::map<std::string, std::uint64_t> tried;
  for (const AttackResult& one : result.rows<AttackResult>()) {
    tried[one.attack] = one.tried;
  }
  ASSERT_GT(result.errors.count("foreign_handle"), 0U);
  EXPECT_GT(tried["handle"], 0U);
  EXPECT_LE(tried["handle"], result.errors.at("foreign_handle"));
  EXPECT_GE(4 * tried["handle"], result.errors.at("foreign_handle")) << "half are MRd and MWr";
}

// ---- S1: ep0 is hostile, ep1 has a handle.

/// A machine in which ep1 has allocated a handle, and ep0 says whatever a test likes.
class HostileNeighbour {
 public:
  HostileNeighbour(DhiForm form, SwitchMode mode, bool source_validation)
      : form_(form), system_(config(form, mode, source_validation)) {
    PacketRef alloc = system_.pool().make(PacketKind::kTlp);
    AllocMessage message;
    message.dhi = victim_handle();
    message.identity.bdf = victim();
    message.identity.pasid = Pasid{7};
    write_dhi_message(*alloc, victim(), message);
    system_.inject("ep1", alloc);
    system_.step(Time::from_us(5));
  }

  /// ep0 writes to memory with the victim's handle and, where the form keeps it, this Requester ID.
  const Packet& attack(Bdf requester) {
    write_ = system_.pool().make(PacketKind::kTlp);
    Tlp& tlp = write_->tlp;
    tlp.type = TlpType::kMWr;
    tlp.is_4dw = true;
    tlp.address = kTarget;
    tlp.length_dw = 1;
    tlp.first_be = 0xf;
    DeviceIdentity claimed;
    claimed.bdf = requester;
    apply_identity(tlp, {Identity::kDhi, form_, 8}, claimed, victim_handle());
    write_->payload.assign(4, 0xee);
    write_->payload_bytes = 4;
    before_ = system_.report();
    system_.inject("ep0", write_);
    system_.step(Time::from_us(5));
    return *write_;
  }

  bool is_written() const { return system_.peek(kTarget, 4)[0] == 0xee; }
  /// Errors of one kind since the attack.
  std::uint64_t errors(const std::string& kind) const {
    return system_.report().errors[kind] - before_.errors[kind];
  }
  static Bdf attacker() { return Bdf::of(3, 0, 0); }
  static Bdf victim() { return Bdf::of(4, 0, 0); }

 private:
  static Config config(DhiForm form, SwitchMode mode, bool source_validation) {
    Config config = two_writers("link.identity=dhi link.dhi_form=prefix workload.requests=1");
    config.link.dhi_form = form;  // what the checks of a file would refuse behind a legacy switch
    config.system.switch_mode = mode;
    config.system.acs.source_validation = source_validation;
    return config;
  }
  // Of 256 handles, kept apart, the upper half is ep1's; with tables of their own all are.
  static Dhi victim_handle() { return Dhi{200}; }

  static constexpr std::uint64_t kTarget = std::uint64_t{6} << 30;

  const DhiForm form_;
  System system_;
  PacketRef write_;
  mutable RunResult before_;
};

TEST(HostileNeighbour, S1_AHandleAwareSwitchLetsNoForeignHandleThrough) {
  HostileNeighbour machine(DhiForm::kRidFabric, SwitchMode::kHandleAware, true);
  const Packet& write = machine.attack(HostileNeighbour::attacker());
  EXPECT_FALSE(write.resolved.has_value());
  EXPECT_FALSE(machine.is_written());
  EXPECT_EQ(machine.errors("foreign_handle"), 1U);
}

TEST(HostileNeighbour, S1_WithoutSourceValidationEvenAHandleAwareSwitchLeaks) {
  HostileNeighbour machine(DhiForm::kRidFabric, SwitchMode::kHandleAware, false);
  const Packet& write = machine.attack(HostileNeighbour::attacker());
  ASSERT_TRUE(write.resolved.has_value());
  EXPECT_EQ(write.resolved->bdf, HostileNeighbour::victim());
  EXPECT_GE(machine.errors("unchecked_handle"), 1U);
}

TEST(HostileNeighbour, S1_ALegacySwitchWithSourceValidationDropsTheHandleAsAForeignBus) {
  HostileNeighbour machine(DhiForm::kRidFabric, SwitchMode::kLegacy, true);
  const Packet& write = machine.attack(HostileNeighbour::attacker());
  EXPECT_FALSE(write.resolved.has_value());
  EXPECT_FALSE(machine.is_written());
  EXPECT_EQ(machine.errors("acs_violation"), 1U);
}

// Software leaves handles off behind a switch that does not know them, so that the host resolves
// none. [DHI D5]
TEST(HostileNeighbour, S1_BehindALegacySwitchNoHandleIsResolvedWhileSoftwareLeavesThemOff) {
  HostileNeighbour machine(DhiForm::kRidFabric, SwitchMode::kLegacy, false);
  const Packet& write = machine.attack(HostileNeighbour::attacker());
  EXPECT_FALSE(write.resolved.has_value());
  EXPECT_FALSE(machine.is_written());
  EXPECT_EQ(machine.errors("invalid_handle"), 1U);
}

TEST(HostileNeighbour, S1_InATagAForeignHandleNamesNobodyOfTheSendersOwn) {
  HostileNeighbour machine(DhiForm::kTag, SwitchMode::kLegacy, true);
  const Packet& write = machine.attack(HostileNeighbour::attacker());
  EXPECT_FALSE(write.resolved.has_value());
  EXPECT_FALSE(machine.is_written());
  EXPECT_EQ(machine.errors("invalid_handle"), 1U);
}

TEST(HostileNeighbour, S1_AForgedRequesterIdWithATagIsStoppedBySourceValidation) {
  HostileNeighbour machine(DhiForm::kTag, SwitchMode::kLegacy, true);
  machine.attack(HostileNeighbour::victim());
  EXPECT_FALSE(machine.is_written());
  EXPECT_EQ(machine.errors("acs_violation"), 1U);
}

TEST(HostileNeighbour, S1_AForgedRequesterIdWithATagLeaksWithoutSourceValidation) {
  HostileNeighbour machine(DhiForm::kTag, SwitchMode::kLegacy, false);
  const Packet& write = machine.attack(HostileNeighbour::victim());
  ASSERT_TRUE(write.resolved.has_value());
  EXPECT_EQ(write.resolved->bdf, HostileNeighbour::victim());
  EXPECT_TRUE(machine.is_written());
}

}  // namespace
}  // namespace flitwise::switch_test
