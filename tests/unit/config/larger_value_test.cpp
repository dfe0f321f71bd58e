// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "config/load.h"

namespace flitwise::larger_value_test {
namespace {

TEST(LargerValue, IsTwiceANumberOrAQuantity) {
  Config config;
  config.iommu.walkers = 4;
  EXPECT_EQ(larger_value(config, "iommu.walkers"), "8");
  EXPECT_EQ(larger_value(config, "link.replay_buffer"), "128KiB");
}

TEST(LargerValue, IsTheNextOfAFewAndNoneBehindTheLast) {
  Config config;
  config.device.tag_bits = 8;
  EXPECT_EQ(larger_value(config, "device.tag_bits"), "10");
  config.device.tag_bits = 10;
  EXPECT_EQ(larger_value(config, "device.tag_bits"), "") << "14 bits need flit mode";
}

TEST(LargerValue, StopsAtTheLargestOfTheSchema) {
  Config config;
  config.device.atc.requests = 200;
  EXPECT_EQ(larger_value(config, "device.atc.requests"), "256");
  config.device.atc.requests = 256;
  EXPECT_EQ(larger_value(config, "device.atc.requests"), "");
}

TEST(LargerValue, OfALinkIsTwiceTheLanesElseTheNextGeneration) {
  Config config;
  config.link.preset = {"gen4x8", 4, 8};
  EXPECT_EQ(larger_value(config, "link.preset"), "gen4x16");
  config.link.preset = {"gen4x16", 4, 16};
  EXPECT_EQ(larger_value(config, "link.preset"), "gen5x16");
  config.link.preset = {"gen6x16", 6, 16};
  EXPECT_EQ(larger_value(config, "link.preset"), "");
}

TEST(LargerValue, OfWhatHoldsSessionsBackIsOneWindowForAll) {
  EXPECT_EQ(larger_value(Config(), "device.srdma.congestion.kind"), "window_group");
}

TEST(LargerValue, OfAStepOfTheDriverIsHalfAsLong) {
  Config config;
  config.host.timing.software_step = Time::from_ns(300);
  EXPECT_EQ(larger_value(config, "host.iommu_driver.step"), "150ns") << "that of all software";
  config.host.iommu_driver.step = Time::from_ns(50);
  EXPECT_EQ(larger_value(config, "host.iommu_driver.step"), "25ns");
}

TEST(LargerValue, OfTheClockOfSendMemoryIsHalfAsLong) {
  EXPECT_EQ(larger_value(Config(), "device.pio.timing.clock"), "621ps");
}

TEST(LargerValue, OfWhatACoreTakesForAStoreIsHalfAsLong) {
  Config config;
  EXPECT_EQ(larger_value(config, "host.cores.timing.store"), "") << "it takes a clock";
  config.host.cores.timing.store = Time::from_ns(10);
  EXPECT_EQ(larger_value(config, "host.cores.timing.store"), "5ns");
  EXPECT_EQ(larger_value(config, "host.cores.timing.descriptor"), "10ns");
}

TEST(LargerValue, OfNoKeyIsNone) {
  EXPECT_EQ(larger_value(Config(), "no.key"), "");
}

Limit advised(const Config& config, const std::string& at, const std::string& key) {
  Limit limit;
  limit.at = at;
  limit.key = key;
  advise(config, limit);
  return limit;
}

void expect_advice(const Limit& limit, const char* key, const char* larger) {
  EXPECT_EQ(limit.key, key);
  EXPECT_EQ(limit.larger, larger);
}

// docs/explain.md: the value to try is twice the present one.
TEST(Advice, IsAboutTheInstanceThatSetsTheKey) {
  const Config config = config_from_text(R"(
system:
  topology: switch
  devices: 2
  hosts: 2
  instances:
    ep1: {device: {dma: {outstanding: 4}}}
    sw0-ep1: {link: {preset: gen1x4}}
    h1: {iommu: {walkers: 3}}
    rp0: {host: {cxl_mem: {outstanding: 5}}}
device: {dma: {outstanding: 64}}
iommu: {walkers: 16}
)",
                                         "advice.yaml", "");
  const char* const outstanding = "device.dma.outstanding";
  expect_advice(advised(config, "ep1", outstanding), "system.instances.ep1.device.dma.outstanding",
                "8");
  expect_advice(advised(config, "ep0", outstanding), outstanding, "128");
  expect_advice(advised(config, "sw0-ep1", "link.preset"), "system.instances.sw0-ep1.link.preset",
                "gen1x8");
  expect_advice(advised(config, "iommu0", "iommu.walkers"), "iommu.walkers", "32");
  expect_advice(advised(config, "h1.iommu0", "iommu.walkers"), "system.instances.h1.iommu.walkers",
                "6");
  expect_advice(advised(config, "host_of_ep0", "host.cxl_mem.outstanding"),
                "system.instances.rp0.host.cxl_mem.outstanding", "10");
}

TEST(Advice, OfAPortOfTheSwitchIsAboutTheDeviceAtItsCable) {
  const Config config = config_from_text(R"(
system: {devices: 2, instances: {ep0: {device.rdma.peer: ep1}, ep1: {device.rdma.port.rate: 50Gb/s}}}
network: {topology: switch}
workload: {via: rdma}
)",
                                         "advice.yaml", "");
  const char* const rate = "device.rdma.port.rate";
  expect_advice(advised(config, "network.ep0", rate), rate, "200Gb/s");
  expect_advice(advised(config, "network.ep1", rate), "system.instances.ep1.device.rdma.port.rate",
                "100Gb/s");
}

// Cores are of the device whose name they begin with; their keys count at its root port as well.
TEST(Advice, OfCoresAndSendMemoryIsAboutTheirDevice) {
  const Config config = config_from_text(R"(
system:
  devices: 2
  instances:
    ep1: {device: {pio: {depth: 16, timing: {clock: 4ns}}}}
    rp1: {host: {cores: {store_buffers: 5}}}
device: {functions: {bar_size: 64MiB}, pio: {depth: 32}}
workload: {via: pio}
)",
                                         "advice.yaml", "");
  const char* const depth = "device.pio.depth";
  const char* const buffers = "host.cores.store_buffers";
  expect_advice(advised(config, "ep0_core0", depth), depth, "64");
  expect_advice(advised(config, "ep1_core1", depth), "system.instances.ep1.device.pio.depth", "32");
  expect_advice(advised(config, "ep0_core1", buffers), buffers, "24");
  expect_advice(advised(config, "ep1_core0", buffers),
                "system.instances.rp1.host.cores.store_buffers", "10");
  expect_advice(advised(config, "ep1_pio", "device.pio.timing.clock"),
                "system.instances.ep1.device.pio.timing.clock", "2ns");
}

TEST(Advice, OfAKeyThatDoesNotExistIsNone) {
  expect_advice(advised(Config(), "rp0", "host.memory.latency"), "", "");
}

}  // namespace
}  // namespace flitwise::larger_value_test
