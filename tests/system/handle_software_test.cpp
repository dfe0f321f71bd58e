// SPDX-License-Identifier: Apache-2.0
// Handles under the hand of host software: negotiation, management, deallocation, resets.
#include <gtest/gtest.h>

#include <systemc>

#include "host/handle_driver.h"
#include "machine_bench.h"
#include "support/handle_tables.h"

namespace flitwise::handle_software_test {
namespace {

Config with_handles() {
  Config config;
  config.link.identity = Identity::kDhi;
  config.workload.requests = 5'000;
  config.workload.domains = 16;
  config.device.dhi.bits = 4;
  return config;
}

HostHandleStatistics host_statistics(MachineBench& bench) {
  return bench.machine.fabric().devices[0].handles->table().statistics();
}

TEST(Negotiation, D6_BothEndsHaveTheRangeAndAreEnabled) {
  MachineBench bench(with_handles());
  ASSERT_TRUE(bench.bring_up());
  EXPECT_TRUE(bench.device().handles.is_active());
  EXPECT_TRUE(bench.machine.endpoint("ep0")->dhi().is_active());
  EXPECT_EQ(bench.machine.endpoint("ep0")->dhi().table()->range(), HandleRange::of_bits(4));
  ASSERT_TRUE(bench.run_workload());
  EXPECT_EQ(host_statistics(bench).allocs, 16U);
  EXPECT_EQ(host_statistics(bench).rejected(), 0U);
}

// Orders of each device are progress of the run (docs/statistics.md).
TEST(Negotiation, OrdersOfEveryDeviceAreCompleted) {
  Config config = with_handles();
  config.device.dhi.management = HandleManagement::kSoftware;
  config.system.topology = Topology::kDirect;
  config.system.devices = 2;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  ASSERT_TRUE(bench.run_workload());
  Progress progress;
  bench.machine.software().add_progress(progress);
  EXPECT_EQ(bench.machine.driver(1)->allocated(), 16U);
  EXPECT_EQ(progress.completed,
            bench.machine.driver(0)->allocated() + bench.machine.driver(1)->allocated());
}

TEST(Negotiation, D5_WithoutSupportEveryMessageGoesInFullAndNothingIsAllocated) {
  Config config = with_handles();
  config.device.dhi.supported = false;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  EXPECT_EQ(bench.device().handles.outcome, NegotiationOutcome::kNotSupported);
  ASSERT_TRUE(bench.run_workload());
  EXPECT_EQ(bench.wire.up(HandlePurpose::kAlloc), 0U);
  EXPECT_EQ(bench.machine.result().rows<LinkResult>()[0].up.bits.identity, 5'000U * 32);
}

TEST(Negotiation, D5_NotEnabledBySoftwareMeansTheSame) {
  Config config = with_handles();
  config.device.dhi.enabled = false;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  ASSERT_TRUE(bench.run_workload());
  EXPECT_EQ(bench.wire.up(HandlePurpose::kAlloc), 0U);
  EXPECT_EQ(bench.machine.result().rows<LinkResult>()[0].up.bits.identity, 5'000U * 32);
}

// [DHI-08] [DHI D2]
TEST(Negotiation, D2_DevicesOfASharedTableHaveRangesApart) {
  Config config = with_handles();
  config.system.devices = 2;
  config.host.dhi.table = HostDhiTable::kShared;
  config.host.dhi.entries = 16;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  EXPECT_EQ(to_int(bench.device(0).handles.range.upper), 7);
  EXPECT_EQ(to_int(bench.device(1).handles.range.lower), 8);
  ASSERT_TRUE(bench.run_workload());
  EXPECT_EQ(host_statistics(bench).rejected(), 0U);
  EXPECT_EQ(bench.machine.fabric().devices[0].handles->table().statistics().wrong_domain, 0U);
}

TEST(Negotiation, D2_TheRowOfHandlesNamesTheBoundThatHolds) {
  Config config = with_handles();
  config.system.devices = 2;
  config.device.dhi.bits = 8;
  config.host.dhi.table = HostDhiTable::kShared;
  config.host.dhi.entries = 16;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  unsigned rows = 0;
  for (const WaitResult& row : bench.machine.fabric().devices[1].endpoint->waits()) {
    if (row.resource.name == "handles") {
      ++rows;
      EXPECT_EQ(row.resource.capacity, 8U);
      EXPECT_EQ(row.resource.key, "host.dhi.entries");
    }
  }
  EXPECT_EQ(rows, 1U);
}

// [DHI-32]
TEST(SoftwareManaged, D12_TheDeviceSendsNoAllocAndEveryMessageHasAHandle) {
  Config config = with_handles();
  config.device.dhi.management = HandleManagement::kSoftware;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  EXPECT_EQ(bench.machine.driver(0)->allocated(), 16U);
  ASSERT_TRUE(bench.run_workload());
  EXPECT_EQ(bench.wire.up(HandlePurpose::kAlloc), 0U);
  EXPECT_EQ(bench.wire.up(HandlePurpose::kDealloc), 0U);
  const RunResult result = bench.machine.result();
  EXPECT_EQ(result.rows<LinkResult>()[0].up.bits.identity, 0U);
  EXPECT_EQ(result.rows<DhiResult>()[0].bypasses, 0U);
  EXPECT_EQ(bench.machine.fabric().devices[0].handles->table().statistics().wrong_domain, 0U);
}

TEST(SoftwareManaged, D12_MoreContextsThanHandlesLeavesTheRestInFull) {
  Config config = with_handles();
  config.device.dhi.management = HandleManagement::kSoftware;
  config.workload.domains = 32;
  config.workload.requests = 3'200;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  ASSERT_TRUE(bench.run_workload());
  EXPECT_EQ(bench.machine.driver(0)->allocated(), 16U);
  EXPECT_EQ(bench.machine.result().rows<LinkResult>()[0].up.bits.identity, 3'200U / 2 * 32);
}

TEST(SoftwareManaged, D13_ChurnReplacesTheHandlesOfEndedContexts) {
  Config config = with_handles();
  config.device.dhi.management = HandleManagement::kSoftware;
  config.workload.kind = WorkloadKind::kReadWrite;
  config.workload.domain_choice = DomainChoice::kChurn;
  config.workload.churn = 0.005;
  config.workload.requests = 20'000;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  ASSERT_TRUE(bench.run_workload());
  EXPECT_GT(bench.machine.driver(0)->freed(), 8U);
  EXPECT_GT(bench.machine.driver(0)->allocated(), 24U);
  EXPECT_EQ(bench.machine.driver(0)->refused(), 0U);
  EXPECT_EQ(bench.wire.up(HandlePurpose::kAlloc), 0U);
  EXPECT_EQ(bench.machine.fabric().devices[0].handles->table().statistics().wrong_domain, 0U);
  EXPECT_EQ(host_statistics(bench).rejected(), 0U);
}

// [DHI D13]
TEST(ContextCreation, D13_HandlesComeWithTheContextBeforeItsFirstMessage) {
  Config config = with_handles();
  config.device.dhi.allocate_at = AllocateAt::kContextCreation;
  config.workload.domains = 8;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  bench.machine.start();
  ASSERT_TRUE(bench.run_until([&] { return bench.wire.up(TlpType::kMWr) > 0; }));
  EXPECT_EQ(test::valid_entries(*bench.machine.endpoint("ep0")->dhi().table()), 8U);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.wire.up(HandlePurpose::kAlloc), 8U);
  EXPECT_EQ(bench.machine.result().rows<DhiResult>()[0].hits, 5'000U);
}

TEST(ContextCreation, D13_AHandleGoesWithItsContext) {
  Config config = with_handles();
  config.device.dhi.allocate_at = AllocateAt::kContextCreation;
  config.device.dhi.dealloc = DeallocMode::kExplicit;
  config.host.dhi.dealloc = DeallocMode::kExplicit;
  config.workload.domain_choice = DomainChoice::kChurn;
  config.workload.churn = 0.01;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  ASSERT_TRUE(bench.run_workload());
  const RunResult result = bench.machine.result();
  EXPECT_GT(bench.wire.up(HandlePurpose::kDealloc), 20U);
  EXPECT_EQ(result.rows<DhiResult>()[0].evictions, 0U);
  EXPECT_EQ(bench.machine.fabric().devices[0].handles->table().statistics().wrong_domain, 0U);
  EXPECT_EQ(host_statistics(bench).rejected(), 0U);
}

struct Scope {
  DeallocScope scope;
  unsigned left;
};

class Dealloc : public testing::TestWithParam<Scope> {};

// [DHI-09] [DHI D15]
TEST_P(Dealloc, D15_SoftwareReachesBothTables) {
  Config config = with_handles();
  config.device.dhi.management = HandleManagement::kSoftware;
  config.device.functions.count = 4;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  ASSERT_TRUE(bench.run_workload());
  DeallocMessage message;
  message.scope = GetParam().scope;
  message.dhi = Dhi{3};
  message.upper = Dhi{7};
  message.function = GetParam().scope == DeallocScope::kAll ? Bdf::of(1, 0, 0) : Bdf::of(1, 0, 2);
  if (GetParam().scope == DeallocScope::kFunction || GetParam().scope == DeallocScope::kAll) {
    message.dhi = message.upper = Dhi{};
  } else if (GetParam().scope == DeallocScope::kOne) {
    message.upper = Dhi{};
  }
  std::optional<HandleStatus> status;
  bench.machine.driver(0)->deallocate(message, [&](HandleStatus s) { status = s; });
  ASSERT_TRUE(bench.run_until([&] { return status.has_value(); }));
  EXPECT_EQ(*status, HandleStatus::kOk);
  const HostHandleTable& host = bench.machine.fabric().devices[0].handles->table();
  EXPECT_EQ(test::valid_entries(host, host.range(*host.partition_of(Bdf::of(1, 0, 0)))),
            GetParam().left);
  EXPECT_EQ(test::valid_entries(*bench.machine.endpoint("ep0")->dhi().table()), GetParam().left);
}

INSTANTIATE_TEST_SUITE_P(Scopes, Dealloc,
                         testing::Values(Scope{DeallocScope::kOne, 15},
                                         Scope{DeallocScope::kRange, 11},
                                         Scope{DeallocScope::kFunction, 12},
                                         Scope{DeallocScope::kAll, 0}));

TEST(FunctionLevelReset, D4_InTheMiddleOfTrafficLeavesNoStaleHandle) {
  Config config = with_handles();
  config.device.functions.count = 4;
  config.device.dhi.bits = 3;
  config.workload.kind = WorkloadKind::kReadWrite;
  config.workload.domains = 32;
  config.workload.requests = 20'000;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  bench.machine.start();
  unsigned resets = 0;
  FunctionResetOptions options;
  options.function = Bdf::of(1, 0, 2);
  options.pcie = *bench.machine.endpoint("ep0")->target().space(2).find(cfg::kCapPcie);
  std::function<void()> again = [&] {
    reset_function(bench.machine.bridge(), options, [&](HandleStatus status) {
      EXPECT_EQ(status, HandleStatus::kOk);
      if (++resets < 5) {
        bench.machine.bridge().after(Time::from_us(3), again);
      }
    });
  };
  bench.machine.bridge().after(Time::from_us(5), again);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(resets, 5U);
  const RunResult result = bench.machine.result();
  EXPECT_EQ(bench.machine.fabric().devices[0].handles->table().statistics().wrong_domain, 0U);
  EXPECT_EQ(host_statistics(bench).rejected(), 0U);
  EXPECT_TRUE(result.errors.empty());
}

// Function 0 takes all others with it. [DHI D4]
TEST(FunctionLevelReset, OfThePhysicalFunctionLeavesNothingOfBeforeAtEitherEnd) {
  Config config = with_handles();
  config.device.functions.count = 4;
  config.workload.kind = WorkloadKind::kReadWrite;
  config.workload.requests = 20'000;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  Endpoint& endpoint = *bench.machine.endpoint("ep0");
  const Bdf pf = bench.device().pf;
  const std::uint64_t bar = bench.device().bar.base;
  const std::uint8_t byte = 0x5a;
  bench.machine.bridge().write(bar + 0x100, &byte, 1, false);
  bench.machine.start();
  bench.run_until([] { return false; }, Time::from_us(10));
  ASSERT_GT(endpoint.outstanding(), 0U);
  ASSERT_GT(test::valid_entries(*endpoint.dhi().table()), 0U);
  const std::uint32_t mps = device_control(endpoint.target().space(0)).mps;

  const auto control = static_cast<std::uint16_t>(bench.device().pcie + cfg::pcie::kDeviceControl);
  const std::uint32_t value = bench.config({false, pf, control, 0, 0xf}).value();
  bench.config({true, pf, control, value | cfg::pcie::kInitiateFlr, 0x3});
  // Answered with Request Retry Status, and so repeated, until the reset is over.
  EXPECT_NE(bench.config({false, pf, cfg::kVendorId, 0, 0xf}).value(), 0xffff'ffffU);

  EXPECT_EQ(endpoint.outstanding(), 0U);
  EXPECT_FALSE(endpoint.dhi().is_active());
  ConfigSpace& space = endpoint.target().space(0);
  EXPECT_EQ(bench.config({false, pf, cfg::kCommand, 0, 0x3}).value() & 0xffffU, 0U);
  EXPECT_EQ(space.bar(0).base, 0U);
  EXPECT_EQ(device_control(space).mps, mps) << "FLR keeps it";
  EXPECT_EQ(endpoint.target().virtual_functions().count, 0U);
  EXPECT_EQ(bench.read(bar + 0x100, 1).status, CplStatus::kUR);

  // Software starts the device anew, under another epoch; that lets each VF send. [LNK-9.27]
  bench.machine.boot(1);
  ASSERT_TRUE(bench.run_until([&] { return bench.machine.booted().is_done(); }));
  const HostHandleTable& host = bench.machine.fabric().devices[0].handles->table();
  EXPECT_EQ(host.epoch(*host.partition_of(pf)), 1);
  EXPECT_EQ(bench.read(bench.device().bar.base + 0x100, 1).data, std::vector<std::uint8_t>{0});
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(endpoint.dhi().table()->epoch(), 1);
  EXPECT_EQ(bench.machine.fabric().devices[0].handles->table().statistics().wrong_domain, 0U);
  EXPECT_EQ(host.statistics().rejected(), 0U);
  EXPECT_EQ(endpoint.outstanding(), 0U);
}

// [DHI-27]
TEST(HotReset, D4_ANewEpochAtBothEndsAfterIt) {
  Config config = with_handles();
  config.workload.kind = WorkloadKind::kReadWrite;
  config.workload.requests = 20'000;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  bench.machine.start();
  bench.run_until([] { return false; }, Time::from_us(10));
  // Secondary Bus Reset, set and cleared again.
  bench.config({true, Bdf::of(0, 1, 0), cfg::kBridgeControlDw, cfg::kSecondaryBusReset, 0xc});
  bench.config({true, Bdf::of(0, 1, 0), cfg::kBridgeControlDw, 0, 0xc});
  ASSERT_TRUE(bench.run_until([&] { return !bench.machine.endpoint("ep0")->dhi().is_active(); },
                              Time::from_us(100)));
  bench.machine.boot(1);
  ASSERT_TRUE(bench.run_until([&] { return bench.machine.booted().is_done(); }));
  EXPECT_EQ(bench.device().handles.epoch, 1);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.machine.endpoint("ep0")->dhi().table()->epoch(), 1);
  EXPECT_EQ(bench.machine.fabric().devices[0].handles->table().statistics().wrong_domain, 0U);
  EXPECT_EQ(host_statistics(bench).rejected(), 0U);
  EXPECT_TRUE(bench.machine.result().errors.empty());
}

}  // namespace
}  // namespace flitwise::handle_software_test
