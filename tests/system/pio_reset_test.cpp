// SPDX-License-Identifier: Apache-2.0
// Resets of a device, and a link that goes down, while cores send by PIO and SDMA. [PIO-9.9]
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "config_space/registers.h"
#include "machine_bench.h"
#include "pio_bench.h"

namespace flitwise::pio_reset_test {
namespace {

constexpr Bdf kRootPort = Bdf::of(0, 1, 0);
constexpr unsigned kPackets = 2000;

enum class Reset { kHot, kLinkDown, kFunctionLevel };
constexpr Reset kResets[] = {Reset::kHot, Reset::kLinkDown, Reset::kFunctionLevel};

class PioResetBench : public MachineBench {
 public:
  explicit PioResetBench(const std::string& yaml)
      : MachineBench(config_from_text(yaml, "run.yaml", "")) {
    machine.bring_up();
    machine.start();
  }
  void pass(Time span) { sc_core::sc_start(to_sc_time(span)); }
  void write(Bdf target, unsigned offset, std::uint32_t value, std::uint8_t enables = 0xf) {
    config({true, target, static_cast<std::uint16_t>(offset), value, enables});
  }
  void reset(Reset kind) {
    const unsigned bridge = cfg::kBridgeControlDw;
    const unsigned link = machine.bridge().space(0).find(cfg::kCapPcie).value() +
                          static_cast<unsigned>(cfg::pcie::kLinkControl);
    if (kind == Reset::kHot) {
      write(kRootPort, bridge, cfg::kSecondaryBusReset);
      pass(Time::from_us(2));
      write(kRootPort, bridge, 0);
    } else if (kind == Reset::kLinkDown) {
      write(kRootPort, link, cfg::pcie::kLinkDisable, 0x3);
      pass(Time::from_us(2));
      write(kRootPort, link, 0, 0x3);
      EXPECT_TRUE(run_until([this] { return machine.fabric().links[0].link->is_up(); }));
    } else {
      Endpoint& endpoint = *machine.fabric().devices[0].endpoint;
      const unsigned pcie = endpoint.target().space(0).find(cfg::kCapPcie).value();
      write(endpoint.base(), pcie + cfg::pcie::kDeviceControl, cfg::pcie::kInitiateFlr, 0x3);
    }
  }
  /// Host software gives BAR 0 its address again, and enables memory space and bus master.
  void restore() {
    EXPECT_TRUE(run_until([this] { return !machine.fabric().devices[0].endpoint->is_in_reset(); }));
    const std::uint64_t bar = device().bar.base;
    write(device().pf, cfg::kBar0, static_cast<std::uint32_t>(bar));
    write(device().pf, cfg::kBar0 + 4, static_cast<std::uint32_t>(bar >> 32));
    write(device().pf, cfg::kCommand, cfg::kCommandMemorySpace | cfg::kCommandBusMaster, 0x3);
  }
  pio_bench::Ended finish() {
    machine.run_until_quiet();
    return pio_bench::ended(machine);
  }
};

std::string config_of(const std::string& host = "count: 2, vls: 2",
                      const std::string& pio = "depth: 16, threshold: 4, group: 4",
                      const std::string& workload = "payload: 184B", const std::string& more = "") {
  return pio_bench::config_of(
      host, pio, fmt::format("domains: 4, {}, requests: {}", workload, kPackets), more);
}

// Resets of all kinds at several moments.
void reset_often(PioResetBench& bench, int times = 6) {
  for (int i = 0; i < times; ++i) {
    bench.pass(Time::from_ns(3'000 + 137 * i));
    bench.reset(kResets[i % 3]);
    bench.restore();
  }
}

// Whatever is under way then, contexts begin anew once the device is back, and all that was written
// left or is counted as lost. Lost is what was in the device or on its way to it, and the packets
// that threads had begun: a few for each context and reset.
void expect_recovered(const std::string& yaml) {
  PioResetBench bench(yaml);
  reset_often(bench);
  const pio_bench::Ended ended = bench.finish();
  EXPECT_EQ(ended.pio.packets + ended.pio.lost_packets, kPackets);
  EXPECT_GT(ended.pio.lost_packets, 0U);
  EXPECT_LT(ended.pio.lost_packets, kPackets / 2);
  EXPECT_EQ(ended.result.errors.count("device_gone"), 0U);
  EXPECT_EQ(ended.pio.errors.count("initialised_under_traffic"), 0U);
  EXPECT_EQ(ended.pio.errors.count("write_overflow"), 0U);
  EXPECT_EQ(ended.pio.returned + ended.pio.pending, ended.pio.blocks);
}

TEST(PioReset, PIO_9_9_ContextsBeginAnewWhenTheDeviceIsBack) {
  expect_recovered(config_of());
}
TEST(PioReset, PIO_9_9_WithEarlyReturn) {
  expect_recovered(config_of("count: 2, threads: 2, window: 16, fence: packet",
                             "depth: 16, threshold: 4, early_return: true"));
}
TEST(PioReset, PIO_9_9_BlocksClearedOneByOne) {
  expect_recovered(
      config_of("count: 2, vls: 2", "depth: 32, threshold: 4, clear: block", "payload: 1016B"));
}
TEST(PioReset, PIO_9_9_SlowPortWithFullLaunchFifos) {
  expect_recovered(config_of("count: 2, vls: 2",
                             "depth: 64, threshold: 4, egress: {rate: 5Gb/s, buffer: 16KiB}"));
}

// Rings of SDMA begin anew as well.
TEST(PioReset, PIO_9_9_RingsBeginAnew) {
  expect_recovered(config_of("count: 2, vls: 2, sdma_from: 128B",
                             "depth: 16, threshold: 4, sdma: {engines: 2, ring: 64}"));
}

// A thread that recovers a context, from an error or a reset, begins again with a further reset.
TEST(PioReset, PIO_9_9_ResetAmidARecovery) {
  PioResetBench bench(config_of("count: 2", "depth: 16, threshold: 4", "payload: 184B",
                                "faults: {pio_integrity: 0.2}\n"));
  reset_often(bench, 12);
  const pio_bench::Ended ended = bench.finish();
  EXPECT_EQ(ended.pio.packets + ended.pio.lost_packets, kPackets);
  EXPECT_GT(ended.pio.packets, kPackets / 4);
  EXPECT_GT(ended.pio.errors.at("disallowed_packet"), 10U);
}

// The receive engine at the other end of the wire gets what had been read out, whole and in order.
TEST(PioReset, PIO_9_9_APeerGetsWholePackets) {
  PioResetBench bench(
      fmt::format("system: {{devices: 2, instances: {{ep0: {{device.pio.egress.peer: ep1}}}}}}\n{}",
                  config_of()));
  reset_often(bench);
  const pio_bench::Ended ended = bench.finish();
  EXPECT_EQ(ended.pio.packets + ended.pio.lost_packets, kPackets);
  EXPECT_EQ(ended.result.rows<PioReceiveResult>().at(0).packets, ended.pio.packets);
}

// The device that receives is reset: packets in its receive buffer wait for Bus Master Enable, and
// go to memory then. Their sender, which has no reset, waits for room and loses nothing.
TEST(PioReset, PIO_1_3_AReceiverThatIsResetWritesWhatItHoldsWhenItIsBack) {
  PioResetBench bench(
      fmt::format("system: {{devices: 2, instances: {{ep1: {{device.pio.egress.peer: ep0}}}}}}\n{}",
                  config_of()));
  reset_often(bench);
  const pio_bench::Ended ended = bench.finish();
  const PioReceiveResult& received = ended.result.rows<PioReceiveResult>().at(0);
  EXPECT_EQ(received.device, "ep0");
  EXPECT_EQ(ended.result.rows<PioResult>().at(1).packets, kPackets);
  EXPECT_EQ(received.packets, kPackets);
  EXPECT_EQ(received.header_writes, kPackets);
  EXPECT_EQ(received.payload_writes, kPackets);
  EXPECT_EQ(ended.result.errors.count("receive_write_dropped"), 0U);
}

// A reset switches credit interrupts off: a thread that was waiting for one switches it on again
// with its next wait, which does not take the 16 us until it looks all the same. One packet fits
// into the context, so that each waits for the one before.
TEST(PioReset, PIO_12_12_CreditInterruptsAreSwitchedOnAgain) {
  PioResetBench bench(
      pio_bench::config_of("count: 1, credit_wait: interrupt", "depth: 4, threshold: 4",
                           fmt::format("domains: 1, payload: 184B, requests: {}", kPackets)));
  const auto packets = [&] { return bench.machine.result().rows<PioResult>().at(0).packets; };
  for (int i = 0; i < 6; ++i) {
    bench.pass(Time::from_ns(21'000 + 137 * i));
    bench.reset(kResets[i % 3]);
    bench.restore();
    const std::uint64_t before = packets();
    EXPECT_TRUE(bench.run_until([&] { return packets() > before; }));
    const Time first = flitwise::now();
    EXPECT_TRUE(bench.run_until([&] { return packets() > before + 2; }));
    EXPECT_LT((flitwise::now() - first).ns(), 16'000) << i;
  }
  bench.finish();
}

// Nobody gives BAR 0 its address: threads give up, and the run ends with all packets counted.
void expect_given_up(const std::string& host) {
  constexpr unsigned kWarmup = 300;
  PioResetBench bench(config_of(host, "depth: 16, threshold: 4", "payload: 184B",
                                fmt::format("run: {{warmup: {}}}\n", kWarmup)));
  bench.pass(Time::from_us(3));
  bench.reset(Reset::kHot);
  bench.write(bench.device().pf, cfg::kCommand, cfg::kCommandMemorySpace | cfg::kCommandBusMaster,
              0x3);
  const pio_bench::Ended ended = bench.finish();
  const std::uint64_t gone = ended.result.errors.at("device_gone");
  EXPECT_GT(gone, kPackets / 2);
  EXPECT_GE(ended.pio.packets + ended.pio.lost_packets + gone, kPackets);
  EXPECT_LE(ended.pio.packets + ended.pio.lost_packets + gone, kPackets + kWarmup);
}
TEST(PioReset, PIO_9_9_ADeviceThatDoesNotComeBack) {
  expect_given_up("count: 2");
}
TEST(PioReset, PIO_9_9_RingsOfADeviceThatDoesNotComeBack) {
  expect_given_up("count: 2, sdma_from: 128B");
}

}  // namespace
}  // namespace flitwise::pio_reset_test
