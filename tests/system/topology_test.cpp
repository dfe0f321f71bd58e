// SPDX-License-Identifier: Apache-2.0
// Machines told as nodes and edges: trees of switches, several root ports, several hosts.
#include <gmock/gmock.h>

#include <fstream>

#include "config/load.h"
#include "system/machine_bench.h"

namespace flitwise::topology_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kExamples = FLITWISE_SOURCE_DIR "/configs/examples/";

Config tree(const std::vector<std::string>& sets = {}) {
  return load_config(kExamples + "switch_tree.yaml", {sets, {}});
}

std::string text(BusRange buses) {
  return std::to_string(buses.secondary) + ".." + std::to_string(buses.subordinate);
}

/// Of root ports, switches and devices, each before what is below it.
std::vector<std::string> buses_of(Machine& machine) {
  std::vector<std::string> all;
  Fabric& fabric = machine.fabric();
  for (const auto& port : fabric.root_ports) {
    all.push_back(std::string(port->name()) + " " + text(port->buses()));
  }
  for (const auto& sw : fabric.switches) {
    const Bridge& upstream = sw->routing().upstream();
    all.push_back(std::string(sw->name()) + " " + text({upstream.secondary, upstream.subordinate}));
  }
  for (const FabricDevice& device : fabric.devices) {
    all.push_back(device.name + " " + text(device.buses));
  }
  return all;
}

const auto kBusesOfTree = ElementsAre(
    "rp0 1..16", "top 2..16", "left 4..11", "deep 6..9", "right 13..16", "dev1 7..7", "dev2 8..8",
    "dev3 9..9", "dev4 10..10", "dev5 11..11", "dev6 14..14", "dev7 15..15", "dev8 16..16");

void expect_good(const RunResult& result) {
  EXPECT_THAT(result.errors, IsEmpty());
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
}

TEST(SwitchTree, SoftwareEnumeratesItByConfigurationRequestsAlone) {
  MachineBench bench(tree());
  ASSERT_TRUE(bench.bring_up());
  EXPECT_THAT(bench.machine.booted().problems(), IsEmpty());
  EXPECT_EQ(bench.wire.down(TlpType::kMWr), 0U);
  EXPECT_EQ(bench.wire.down(TlpType::kMRd), 0U);
  EXPECT_GT(bench.wire.down(TlpType::kCfgRd1), 100U);
  EXPECT_THAT(buses_of(bench.machine), kBusesOfTree);
}

TEST(SwitchTree, StandsAtOnceAsSoftwareWouldLeaveIt) {
  Machine machine(tree());
  machine.set_up_at_once();
  EXPECT_THAT(buses_of(machine), kBusesOfTree);
}

/// 51 root ports with two switches and a device below each: the most that the configuration admits.
Config most_buses() {
  std::string nodes, edges;
  for (int i = 0; i < 51; ++i) {
    const std::string n = std::to_string(i);
    nodes += "{name: a" + n + ", kind: switch}, {name: b" + n + ", kind: switch}, {name: d" + n +
             ", kind: device}, ";
    edges += "{from: rp" + n + ", to: a" + n + "}, {from: a" + n + ", to: b" + n + "}, {from: b" +
             n + ", to: d" + n + "}, ";
  }
  return config_from_text(
      "system: {topology: graph, nodes: [" + nodes + "], edges: [" + edges + "]}", "c.yaml", "");
}

TEST(SwitchTree, SoftwareNumbersAllBuses) {
  MachineBench bench(most_buses());
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bench.machine.boot(0);
  ASSERT_TRUE(bench.run_until([&] { return bench.machine.is_booted(); }, Time::from_us(1'000'000)));
  EXPECT_THAT(bench.machine.booted().problems(), IsEmpty());
  EXPECT_THAT(buses_of(bench.machine), testing::Contains("d50 255..255"));
}

TEST(SwitchTree, StandsAtOnceWithAllBuses) {
  Machine machine(most_buses());
  machine.set_up_at_once();
  EXPECT_THAT(buses_of(machine), testing::Contains("d50 255..255"));
}

TEST(SwitchTree, MovesData) {
  System system(tree());
  const RunResult result = system.run();
  expect_good(result);
  ASSERT_EQ(result.rows<LinkResult>().size(), 12U);
  for (const LinkResult& link : result.rows<LinkResult>()) {
    EXPECT_GT(link.up.payload_bytes, 0U) << link.name;
    EXPECT_GT(link.down.payload_bytes, 0U) << link.name;
  }
}

TEST(SwitchTree, SmallestMaxPayloadSizeHoldsForAllOfIt) {
  MachineBench bench(tree({"link.mps=512B", "system.instances.deep-dev2.link.mps=128B"}));
  ASSERT_TRUE(bench.bring_up());
  for (const FabricDevice& device : bench.machine.fabric().devices) {
    EXPECT_EQ(device_control(device.endpoint->target().space(0)).mps, 128U) << device.name;
  }
}

// A handle alone finds its way down by the ranges of the ports at each level. [DHI D23]
TEST(SwitchTree, D23_HandlesPassEachLevel) {
  System system(tree({"link.identity=dhi", "link.dhi_form=rid_fabric", "workload.domains=16"}));
  const RunResult result = system.run();
  expect_good(result);
  ASSERT_EQ(result.rows<DhiResult>().size(), 8U);
  for (const DhiResult& dhi : result.rows<DhiResult>()) {
    EXPECT_GT(dhi.allocs, 0U) << dhi.device;
    EXPECT_EQ(dhi.rejected, 0U);
  }
}

// What no legacy switch looks at, it counts; the handle-aware ones at the other levels do look.
void expect_unchecked(const std::string& legacy) {
  System system(tree({"link.identity=dhi", "link.dhi_form=tag", "workload.domains=16",
                      "system.instances." + legacy + ".system.switch_mode=legacy"}));
  RunResult result = system.run();
  EXPECT_GT(result.errors["unchecked_handle"], 0U);
  result.errors.erase("unchecked_handle");
  expect_good(result);
}

TEST(SwitchTree, S1_LegacySwitchBelowHandleAwareOnes) {
  expect_unchecked("deep");
}

TEST(SwitchTree, S1_LegacySwitchAboveHandleAwareOnes) {
  expect_unchecked("top");
}

TEST(SwitchTree, D5_HandleInTheRequesterIdNeedsEverySwitchToKnowHandles) {
  EXPECT_THROW(tree({"link.identity=dhi", "link.dhi_form=rid_fabric",
                     "system.instances.left.system.switch_mode=legacy"}),
               ConfigError);
}

TEST(RootPorts, AreAsManyAsDevices) {
  Machine machine(config_from_text("system: {devices: 64}", "c.yaml", "", {}));
  machine.bring_up();
  ASSERT_TRUE(machine.is_serving());
  const std::vector<FabricDevice>& devices = machine.fabric().devices;
  ASSERT_EQ(devices.size(), 64U);
  for (unsigned i = 0; i < devices.size(); ++i) {
    EXPECT_EQ(devices[i].buses.secondary, 1 + i);
    EXPECT_TRUE(devices[i].root_port->buses().contains(devices[i].endpoint->base()));
  }
}

TEST(SwitchPorts, AreAsManyAsDevices) {
  System system(
      config_from_text("system: {topology: switch, devices: 64}\n"
                       "workload: {kind: read, requests: 20}",
                       "c.yaml", "", {}));
  const RunResult result = system.run();
  expect_good(result);
  EXPECT_EQ(result.rows<LinkResult>().size(), 65U);
}

// Two reads of a peer, one long after its own work is over, and both are in the books of its link.
TEST(Switch, LNK_13_1_TheLinkOfAPeerIsMeasuredToTheEndOfTheRun) {
  const std::string path = testing::TempDir() + "/topology_peer.csv";
  std::ofstream(path) << "time_ns,domain,op,address,bytes\n0,0,read,0x10000100000,64\n"
                         "100000,0,read,0x10000100040,64\n";
  System system(config_from_text(
      "system: {topology: switch, devices: 2, acs: {p2p_request: direct, p2p_completion: direct},\n"
      "  instances: {ep0: {workload: {kind: trace, trace: " +
          path +
          "}}}}\n"
          "workload: {kind: posted_write, payload: 64B, requests: 10}\nrun: {warmup: 0}\n",
      "c.yaml", "", {}));
  const RunResult result = system.run();
  expect_good(result);
  const LinkResult& link = result.rows<LinkResult>()[2];
  EXPECT_EQ(link.name, "sw0-ep1");
  EXPECT_EQ(link.down.tlps, 2U);
  EXPECT_EQ(link.up.tlps, 12U);
}

TEST(TwoHosts, RunSideBySide) {
  System system(load_config(kExamples + "two_hosts.yaml", {}));
  const RunResult result = system.run();
  expect_good(result);
  ASSERT_EQ(result.rows<LinkResult>().size(), 2U);
  EXPECT_EQ(result.rows<LinkResult>()[0].name, "rp0-left");
  EXPECT_EQ(result.rows<LinkResult>()[1].name, "h1.rp0-right");
  ASSERT_EQ(result.rows<IommuResult>().size(), 2U);
  EXPECT_EQ(result.rows<IommuResult>()[1].name, "h1.iommu0");
  EXPECT_GT(result.rows<IommuResult>()[0].walks, 0U);
  EXPECT_GT(result.rows<IommuResult>()[1].walks, 0U);
}

// The same addresses, the same bus numbers: nothing of one host is seen by the other.
TEST(TwoHosts, HaveAddressSpacesOfTheirOwn) {
  MachineBench bench(config_from_text(
      "system: {hosts: 2, instances: {h1.ep0: {workload.requests: 10}}}\n"
      "workload: {kind: posted_write, payload: 64B, requests: 20, buffer_size: 4KiB}",
      "c.yaml", "", {}));
  ASSERT_TRUE(bench.bring_up());
  ASSERT_TRUE(bench.run_workload());
  const std::uint64_t base = bench.machine.config.workload.buffer_base;
  MemoryPort& first = bench.machine.host(0).memory;
  MemoryPort& second = bench.machine.host(1).memory;
  EXPECT_NE(first.peek_u64(base + 19 * 64), 0U);
  EXPECT_EQ(second.peek_u64(base + 19 * 64), 0U);
  EXPECT_NE(second.peek_u64(base + 9 * 64), 0U);
  const std::vector<FabricDevice>& devices = bench.machine.fabric().devices;
  EXPECT_EQ(devices[0].buses.secondary, devices[1].buses.secondary);
  expect_good(bench.machine.result());
}

}  // namespace
}  // namespace flitwise::topology_test
