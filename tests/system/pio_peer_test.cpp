// SPDX-License-Identifier: Apache-2.0
// A receiver that cannot write to memory for a while: its sender waits for room, says so, and goes
// on where it stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "config_space/registers.h"
#include "machine_bench.h"
#include "pio/pio_result.h"

namespace flitwise::pio_peer_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Packets of 1024 bytes on the wire, sixteen of which fill the receive buffer of their VL.
constexpr const char* kOneWay = R"(
system: {devices: 2, instances: {ep0: {device.pio.egress.peer: ep1}, ep1: {workload.requests: 10}}}
link: {preset: gen4x16}
host: {cores: {count: 2}}
device: {functions: {bar_size: 64MiB}, pio: {depth: 160, receive: {buffer: 16KiB}}}
workload: {via: pio, domains: 2, payload: 1020B, requests: 300}
)";

void set_command(MachineBench& bench, std::uint32_t value) {
  bench.config({true, bench.machine.booted().devices()[1].pf, cfg::kCommand, value, 0x3});
}

TEST(PioPeer, PIO_1_3_AReceiverThatIsHeldUpHoldsUpItsSenderAndNothingIsLost) {
  MachineBench bench(config_from_text(kOneWay, "run.yaml", ""));
  ASSERT_TRUE(bench.bring_up());
  set_command(bench, cfg::kCommandMemorySpace);
  bench.machine.start();
  bench.run_until([] { return false; }, Time::from_us(50));
  const std::string held = bench.machine.waiting();
  EXPECT_THAT(held, HasSubstr("at the network port, ep1_receive has no room for VL 0"));
  EXPECT_THAT(held, HasSubstr("ep1_receive: VL 0 holds 16384 of 16384 bytes"));
  EXPECT_THAT(held, HasSubstr("ep1: engine: 16 received packets that wait to be written"));
  EXPECT_THAT(held, HasSubstr("waits for credits of context 0"));

  set_command(bench, cfg::kCommandMemorySpace | cfg::kCommandBusMaster);
  ASSERT_TRUE(bench.finish());
  EXPECT_THAT(bench.machine.waiting(), Not(HasSubstr("ep1_receive")));
  const RunResult result = bench.machine.result();
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  ASSERT_EQ(result.rows<PioReceiveResult>().size(), 1U);
  const PioReceiveResult& row = result.rows<PioReceiveResult>().front();
  EXPECT_EQ(row.device, "ep1");
  EXPECT_EQ(row.packets, 300U);
  EXPECT_EQ(row.bytes, 300U * 1024);
  EXPECT_EQ(row.header_writes, 300U);
  EXPECT_EQ(row.payload_writes, 300U);
  EXPECT_EQ(row.payload_bytes, 300U * (1020 - 56));
}

}  // namespace
}  // namespace flitwise::pio_peer_test
