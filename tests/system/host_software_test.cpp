// SPDX-License-Identifier: Apache-2.0
// Host software reaches devices by configuration and MMIO requests alone. docs/host_software.md
#include <gtest/gtest.h>

#include <systemc>

#include "machine_bench.h"

namespace flitwise::host_software_test {
namespace {

Config small() {
  Config config;
  config.workload.requests = 2'000;
  return config;
}

TEST(Boot, FindsTheDeviceNumbersItsBusAndPlacesItsBar) {
  MachineBench bench(small());
  ASSERT_TRUE(bench.bring_up());
  ASSERT_EQ(bench.machine.booted().devices().size(), 1U);
  EXPECT_TRUE(bench.machine.booted().problems().empty());
  EXPECT_EQ(bench.device().pf, Bdf::of(1, 0, 0));
  EXPECT_EQ(bench.machine.endpoint("ep0")->base(), Bdf::of(1, 0, 0));
  EXPECT_EQ(bench.device().bar.size, Bytes{64} << 10);
  EXPECT_EQ(bench.machine.endpoint("ep0")->target().space(0).bar(0).base, bench.device().bar.base);
}

TEST(Boot, SeesTheWholeCapabilityChainThroughTheLink) {
  Config config = small();
  config.device.functions.count = 4;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  std::vector<std::uint16_t> extended;
  for (std::uint32_t at = 0x100; at != 0;) {
    const std::uint32_t header =
        bench.config({false, Bdf::of(1, 0, 0), static_cast<std::uint16_t>(at), 0, 0xf}).value();
    extended.push_back(static_cast<std::uint16_t>(header));
    at = header >> 20;
  }
  EXPECT_EQ(extended, (std::vector<std::uint16_t>{cfg::kExtAer, cfg::kExtAri, cfg::kExtSriov,
                                                  cfg::kExtDvsec}));
  EXPECT_EQ(bench.device().functions, 4U);
}

TEST(Boot, SetsPayloadAndReadSizesInTheDevice) {
  Config config = small();
  config.link.mps = 512;
  config.link.mrrs = 1024;
  config.device.tag_bits = 8;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  const DeviceControl control = device_control(bench.machine.endpoint("ep0")->target().space(0));
  EXPECT_EQ(control.mps, 512U);
  EXPECT_EQ(control.mrrs, 1024U);
  EXPECT_EQ(control.tag_bits, 8U);
}

TEST(Boot, TakesLessThanAMillisecondAndLiesBeforeTheMeasuredWindow) {
  MachineBench bench(small());
  ASSERT_TRUE(bench.bring_up());
  const Time booted = now();
  EXPECT_LT(booted, Time::from_us(1'000));
  EXPECT_GT(bench.wire.down(TlpType::kCfgRd0), 10U);
  ASSERT_TRUE(bench.run_workload());
  const RunResult result = bench.machine.result();
  EXPECT_EQ(result.rows<LinkResult>()[0].up.tlps, 2'000U);
  EXPECT_EQ(result.rows<LinkResult>()[0].down.tlps, 0U);
  EXPECT_EQ(result.rows<LinkResult>()[0].down.bits.payload, 0U);
  EXPECT_LE(result.simulated, now() - booted);
}

// [LNK-2.3]
TEST(Boot, ManyFunctionsNeedNoAccessEach) {
  Config config = small();
  config.device.functions.count = 4096;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  EXPECT_EQ(bench.device().functions, 4096U);
  EXPECT_EQ(bench.device().buses.secondary, 1);
  EXPECT_EQ(bench.device().buses.subordinate, 16);
  EXPECT_LT(bench.wire.down(TlpType::kCfgWr0), 100U);
  // The last VF stands on the last bus, and answers there.
  const Bdf last = Bdf::of(16, 31, 7);
  EXPECT_EQ(bench.config({false, last, cfg::kVendorId, 0, 0xf}).value(), 0xffff'ffffU);
  EXPECT_TRUE(bench.config({false, last, cfg::kVendorId, 0, 0xf}).is_ok());
  EXPECT_EQ(bench.wire.down(TlpType::kCfgRd1), 2U);
}

TEST(Boot, EachDeviceHasItsOwnBusesAndWindow) {
  Config config = small();
  config.system.devices = 3;
  config.device.functions.count = 300;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  ASSERT_EQ(bench.machine.booted().devices().size(), 3U);
  EXPECT_EQ(bench.device(1).pf, Bdf::of(3, 0, 0));
  EXPECT_EQ(bench.device(2).pf, Bdf::of(5, 0, 0));
  EXPECT_EQ(bench.machine.endpoint("ep2")->base(), Bdf::of(5, 0, 0));
  EXPECT_GE(bench.device(1).bar.base, bench.device(0).vf_bars.base + bench.device(0).vf_bars.size);
  EXPECT_TRUE(bench.run_workload());
}

TEST(Mmio, AReadGivesWhatAWriteLeftInAnyFunction) {
  Config config = small();
  config.device.functions.count = 3;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  for (unsigned function = 0; function < 3; ++function) {
    const std::uint64_t at = bench.device().bar_of(function) + 0x103;
    std::vector<std::uint8_t> bytes;
    for (unsigned i = 0; i < 200; ++i) {
      bytes.push_back(static_cast<std::uint8_t>(i * 7 + function));
    }
    bench.machine.bridge().write(at, bytes.data(), bytes.size(), false);
    const HostAnswer answer = bench.read(at, 200);
    EXPECT_TRUE(answer.is_ok());
    EXPECT_EQ(answer.data, bytes) << "function " << function;
  }
}

TEST(Mmio, AnAccessCostsTheConfiguredDelaysAtLeast) {
  Config config = small();
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  const Time before = now();
  EXPECT_TRUE(bench.read(bench.device().bar.base + 0x100, 4).is_ok());
  const Time least = config.host.timing.mmio * 2 + config.device.timing.mmio +
                     config.host.timing.root_port + config.link.timing.receive * 2;
  EXPECT_GE(now() - before, least);
  EXPECT_LT(now() - before, least + Time::from_ns(200));
}

TEST(Mmio, AnUnmappedAddressIsAnsweredWithUnsupportedRequestAndBooked) {
  MachineBench bench(small());
  ASSERT_TRUE(bench.bring_up());
  // Inside the window of the root port, behind the BAR.
  const std::uint64_t nowhere = bench.device().bar.base + bench.device().bar.size;
  EXPECT_EQ(bench.read(nowhere, 4).status, CplStatus::kUR);
  const std::uint8_t byte = 1;
  bench.machine.bridge().write(nowhere, &byte, 1, false);
  ASSERT_TRUE(bench.run_until([&] { return bench.machine.is_booted(); }));
  Endpoint& endpoint = *bench.machine.endpoint("ep0");
  EXPECT_EQ(endpoint.errors().at("unsupported_request"), 2U);
  ConfigSpace& space = endpoint.target().space(0);
  const auto aer = space.find_extended(cfg::kExtAer).value();
  EXPECT_NE(space.read(static_cast<std::uint16_t>(aer + cfg::aer::kUncorrectableStatus)) &
                1U << static_cast<unsigned>(cfg::aer::Uncorrectable::kUnsupportedRequest),
            0U);
  // And the root port was told, as the boot asked for.
  ConfigSpace& root = bench.machine.bridge().space(0);
  const auto root_aer = root.find_extended(cfg::kExtAer).value();
  EXPECT_NE(root.read(static_cast<std::uint16_t>(root_aer + cfg::aer::kRootStatus)), 0U);
}

TEST(Mmio, NothingIsThereBeforeMemorySpaceIsEnabled) {
  MachineBench bench(small());
  ASSERT_TRUE(bench.bring_up());
  bench.config({true, bench.device().pf, cfg::kCommand, cfg::kCommandBusMaster, 0x3});
  EXPECT_EQ(bench.read(bench.device().bar.base, 4).status, CplStatus::kUR);
}

// [LNK-9.20]
TEST(Mmio, ReadsAndWritesGetThroughWhileDmaSaturatesTheLink) {
  Config config = small();
  config.workload.kind = WorkloadKind::kReadWrite;
  config.workload.payload = 4096;
  config.workload.requests = 20'000;
  config.link.credits.posted_headers = 32;
  config.link.credits.posted_data = 256;
  config.link.credits.nonposted_headers = 16;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  bench.machine.start();
  unsigned answered = 0;
  std::function<void()> again = [&] {
    const std::uint32_t value = answered;
    const std::uint64_t at = bench.device().bar.base + 0x200;
    bench.machine.bridge().write(at, reinterpret_cast<const std::uint8_t*>(&value), 4, false);
    bench.machine.bridge().read(at, 4, [&, value](const HostAnswer& answer) {
      EXPECT_EQ(answer.status, CplStatus::kSC);
      EXPECT_EQ(answer.value(), value);
      if (++answered < 500) {
        again();
      }
    });
  };
  again();
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(answered, 500U);
  EXPECT_TRUE(bench.machine.result().errors.empty());
}

TEST(Nic, EveryMessageRingsReadsWritesAndInterruptsAsTheProfileSays) {
  Config config = small();
  config.workload.kind = WorkloadKind::kNic;
  config.workload.payload = 256;
  config.workload.domains = 8;
  config.device.functions.count = 4;
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  const std::uint64_t boot_writes = bench.wire.down(TlpType::kMWr);
  ASSERT_TRUE(bench.run_workload());
  const RunResult result = bench.machine.result();
  const std::uint64_t sent = bench.machine.fabric().devices[0].engine->rung();
  const std::uint64_t received = 2'000 - sent;
  EXPECT_GT(sent, 800U);
  EXPECT_GT(received, 800U);
  EXPECT_EQ(bench.machine.fabric().devices[0].engine->doorbells(), sent);
  EXPECT_EQ(bench.wire.down(TlpType::kMWr) - boot_writes, sent);
  EXPECT_EQ(bench.machine.root_port("ep0").counters().interrupt_bytes, 2'000U * 4);
  // Up: payload of what was received, completion entries, interrupts.
  EXPECT_EQ(result.rows<LinkResult>()[0].up.payload_bytes, received * 256 + 2'000 * 64 + 2'000 * 4);
  // Down: doorbells, descriptors, payload of what was sent.
  EXPECT_EQ(result.rows<LinkResult>()[0].down.payload_bytes, sent * 8 + 2'000 * 64 + sent * 256);
  EXPECT_TRUE(result.errors.empty());
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name;
  }
}

}  // namespace
}  // namespace flitwise::host_software_test
