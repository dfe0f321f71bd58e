// SPDX-License-Identifier: Apache-2.0
// What is warned of where devices send by PIO, and what is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"

namespace flitwise::pio_warnings_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Of host.cores, device.pio, and workload beside via.
std::vector<std::string> pio_warnings(const std::string& cores, const std::string& pio,
                                      const std::string& workload,
                                      const std::vector<std::string>& sets = {}) {
  LoadOptions options;
  options.sets = sets;
  return config_warnings(config_from_text("host: {cores: {" + cores +
                                              "}}\ndevice: {functions: {bar_size: 64MiB}, pio: {" +
                                              pio + "}}\nworkload: {via: pio, " + workload + "}\n",
                                          "test.yaml", "", options));
}

TEST(PioWarnings, PIO_12_28_VlsWithoutWeight) {
  const auto warnings = [](const std::string& cores, const std::string& egress) {
    return pio_warnings(cores, "egress: {" + egress + "}", "domains: 2");
  };
  EXPECT_THAT(warnings("vls: 4", "high_limit: 0"), IsEmpty());
  EXPECT_THAT(warnings("vls: 4", "high: [[0, 3], [3, 0]], low: [[2, 1]]"),
              ElementsAre(AllOf(StartsWith("device.pio.egress.low: no weight for VL 1, 3 of"),
                                HasSubstr("here or in device.pio.egress.high"))));
  EXPECT_THAT(warnings("vls: 9", "low: [[0, 1], [1, 1], [2, 1], [3, 1], [4, 1], [5, 1], [6, 1]]"),
              ElementsAre(StartsWith("device.pio.egress.low: no weight for VL 7 of")));
  EXPECT_THAT(warnings("vls: 1", "low: [[1, 1]]"),
              ElementsAre(StartsWith("device.pio.egress.low: no weight for VL 0 of")));
  EXPECT_THAT(warnings("vls: 4, vl_choice: context", "high: [[0, 9], [1, 1]]"), IsEmpty());
}

TEST(PioWarnings, PIO_6_5_WeightsThatDecideNothing) {
  const auto warnings = [](const std::string& cores, const std::string& egress,
                           const std::string& workload = "domains: 2, payload: 184B") {
    return pio_warnings(cores, "egress: {" + egress + "}", workload);
  };
  EXPECT_THAT(warnings("vls: 1", "low: [[0, 3], [1, 1]]"),
              ElementsAre(AllOf(StartsWith("device.pio.egress.low: weights, and all packets take "
                                           "VL 0"),
                                EndsWith("expected host.cores.vls of 2 or more"))));
  EXPECT_THAT(
      warnings("count: 1, threads: 1, vls: 2, vl_choice: context", "high: [[0, 3]]", "domains: 1"),
      ElementsAre(EndsWith("expected workload.domains of 2 or more")));
  // A packet of 184 bytes is three blocks, at the port as well.
  EXPECT_THAT(warnings("vls: 2", "low: [[0, 3], [1, 1]]"),
              ElementsAre(AllOf(StartsWith("device.pio.egress.low: weights of no more than a "
                                           "packet, which has 3 blocks or more"),
                                EndsWith("such as [[0, 144], [1, 48]]"))));
  EXPECT_THAT(warnings("vls: 2", "high: [[0, 3], [1, 1]]"),
              ElementsAre(StartsWith("device.pio.egress.high: weights of no more")));
  EXPECT_THAT(warnings("vls: 2", "low: [[0, 4], [1, 1]]"), IsEmpty());
  EXPECT_THAT(warnings("vls: 2", "low: [[0, 1], [1, 1], [0, 1]]"), IsEmpty());
  EXPECT_THAT(warnings("vls: 2", "high: [[0, 1]], low: [[1, 1]]"), IsEmpty());
  EXPECT_THAT(warnings("vls: 2", "low: [[0, 2], [1, 1]]",
                       "domains: 2, sizes: google_rpc_2008, size_cap: 1KiB"),
              IsEmpty());
}

TEST(PioWarnings, StallsThatHoldUpNothing) {
  const auto warnings = [](const std::string& egress, const std::string& vls = "2") {
    return pio_warnings("vls: " + vls, "egress: {" + egress + "}", "domains: 2");
  };
  EXPECT_THAT(warnings("stalled_vl: 1, stall: 10us"), IsEmpty());
  EXPECT_THAT(warnings("stalled_vl: 2, stall: 10us"),
              ElementsAre(AllOf(StartsWith("device.pio.egress.stalled_vl: VL 2, which no packet "
                                           "takes"),
                                EndsWith("expected VL 0 to 1"))));
  EXPECT_THAT(warnings("stalled_vl: 15, stall: 10us", "9"), IsEmpty());
  EXPECT_THAT(warnings("stalled_vl: 15, stall: 10us", "8"),
              ElementsAre(EndsWith("expected VL 0 to 7")));
  // From a core to the port: 150 ns, 20 ns, 2484 ps and 50 ns.
  EXPECT_THAT(warnings("stall_from: 122484ps, stall: 100ns"),
              ElementsAre(HasSubstr("no packet can be at the port before 222484ps")));
  EXPECT_THAT(warnings("stall_from: 122485ps, stall: 100ns"), IsEmpty());
}

TEST(PioWarnings, PIO_6_10_RingsLongerThanTheMemoryForPackets) {
  const auto warnings = [](const std::string& ring, const std::string& buffer) {
    return pio_warnings(
        "sdma_from: 512B", "depth: 64, sdma: {ring: " + ring + "}",
        "domains: 2, sizes: google_rpc_2008, size_cap: 8KiB, buffer_size: " + buffer);
  };
  EXPECT_THAT(warnings("256", "1MiB"), IsEmpty());  // the default
  EXPECT_THAT(warnings("512", "1MiB"),
              ElementsAre(AllOf(StartsWith("device.pio.sdma.ring: 512 descriptors, and half of "
                                           "workload.buffer_size has room for 62 packets"),
                                HasSubstr("expected up to 256"))));
  EXPECT_THAT(warnings("512", "4MiB"), IsEmpty());
}

TEST(PioWarnings, ThreadsWithoutAContext) {
  EXPECT_THAT(pio_warnings("count: 2, threads: 2", "", "domains: 4"), IsEmpty());
  EXPECT_THAT(pio_warnings("count: 4, threads: 2", "", "domains: 5"),
              ElementsAre(AllOf(StartsWith("host.cores.count: 3 of 8 threads have no send context"),
                                EndsWith("up to workload.domains, 5"))));
  EXPECT_THAT(pio_warnings("count: 4, threads: 2", "", "domains: 5", {"workload.via=dma"}),
              IsEmpty());
}

TEST(PioWarnings, MoreDeepContextsThanThereAre) {
  EXPECT_THAT(pio_warnings("", "deep_contexts: 4", "domains: 4"), IsEmpty());
  EXPECT_THAT(pio_warnings("", "deep_contexts: 5", "domains: 4"),
              ElementsAre(StartsWith("device.pio.deep_contexts: 5 of the 4 contexts of "
                                     "workload.domains: all have device.pio.deep_depth")));
}

TEST(PioWarnings, PIO_7_9_AThresholdOfZeroLeavesAllToForceReturn) {
  EXPECT_THAT(
      pio_warnings("", "threshold: 0", "domains: 2"),
      ElementsAre(StartsWith("device.pio.threshold: 0, and host.cores.credit_requests: 0")));
  EXPECT_THAT(pio_warnings("credit_requests: 0.1", "threshold: 0", "domains: 2"), IsEmpty());
  EXPECT_THAT(pio_warnings("", "threshold: 1", "domains: 2"), IsEmpty());
}

// 184 bytes and the PBC are three blocks.
TEST(PioWarnings, PIO_7_9_ThresholdsThatKeepAPacketWaiting) {
  const char* const three = "domains: 2, payload: 184B";
  EXPECT_THAT(pio_warnings("", "depth: 16, threshold: 14", three), IsEmpty());
  EXPECT_THAT(
      pio_warnings("", "depth: 16, threshold: 15", three),
      ElementsAre(AllOf(
          StartsWith("device.pio.threshold: 15 with contexts of 16 blocks keeps back up to "
                     "14, and a packet of 3 has no room then"),
          Not(HasSubstr("clear")), EndsWith("expected up to 14, or a larger device.pio.depth"))));
  EXPECT_THAT(pio_warnings("", "depth: 16, threshold: 15, clear: block", three),
              ElementsAre(HasSubstr("with device.pio.clear: block more often than with packet")));
  EXPECT_THAT(pio_warnings("", "depth: 16, threshold: 17", three),
              ElementsAre(StartsWith("device.pio.threshold: 17 beyond the 16 blocks of a context: "
                                     "none ever has so many to return")));
  // The smallest context counts, and one of those that are there.
  EXPECT_THAT(pio_warnings("", "depth: 64, threshold: 30, deep_contexts: 1, deep_depth: 16", three),
              ElementsAre(EndsWith("a larger device.pio.deep_depth")));
  EXPECT_THAT(pio_warnings("", "depth: 16, threshold: 30, deep_contexts: 2, deep_depth: 64", three),
              IsEmpty());
  // Early return frees a packet at once, and the threshold holds as ever; SDMA has no credits.
  EXPECT_THAT(pio_warnings("", "depth: 16, threshold: 15, early_return: true, clear: block", three),
              ElementsAre(Not(HasSubstr("clear"))));
  EXPECT_THAT(pio_warnings("sdma_from: 64B", "depth: 16, threshold: 16", three), IsEmpty());
  EXPECT_THAT(pio_warnings("sdma_from: 120B", "depth: 16, threshold: 16",
                           "domains: 2, sizes: google_rpc_2008, size_cap: 1KiB"),
              ElementsAre(HasSubstr("a packet of 2 has no room")));
}

TEST(PioWarnings, TimesThatAreNoWholeNumberOfClocks) {
  EXPECT_THAT(
      pio_warnings("timing: {clock: 500ps, store: 500ps, drain: 80500ps}", "", "domains: 2"),
      IsEmpty());
  EXPECT_THAT(pio_warnings("timing: {clock: 300ps, drain: 60ns, credit_poll: 51ns, source: 500ps}",
                           "", "domains: 2"),
              ElementsAre(AllOf(StartsWith("host.cores.timing.clock: 300ps, and "
                                           "host.cores.timing.source 500ps is no multiple of it"),
                                HasSubstr("up to 300ps later"))));
  // A store that is shorter than a clock takes one.
  EXPECT_THAT(pio_warnings("timing: {store: 1ps}", "", "domains: 2"),
              ElementsAre(HasSubstr("host.cores.timing.store 1ps is no multiple of it")));
  // A fence of 200 ns and a descriptor of 20 ns, where there are some.
  const char* const clock = "timing: {clock: 300ps, drain: 60ns, credit_poll: 51ns}";
  EXPECT_THAT(pio_warnings(clock, "", "domains: 2"), IsEmpty());
  EXPECT_THAT(
      pio_warnings(clock, "", "domains: 2",
                   {"host.cores.fence=packet", "host.cores.sdma_from=64B"}),
      ElementsAre(HasSubstr("fence 200ns, host.cores.timing.descriptor 20ns are no multiples")));
}

TEST(PioWarnings, DevicesAreNamedWhereOthersAreOtherwise) {
  const std::vector<std::string> two = {"system.devices=2"};
  EXPECT_THAT(pio_warnings("count: 4", "", "domains: 2", two),
              ElementsAre(EndsWith("up to workload.domains, 2")));
  EXPECT_THAT(pio_warnings("count: 4", "", "domains: 4",
                           {"system.devices=2", "system.instances.ep1.workload.domains=2"}),
              ElementsAre(AllOf(HasSubstr("2 of 4 threads"), EndsWith(", 2 (ep1)"))));
  EXPECT_THAT(pio_warnings("count: 2", "", "domains: 2",
                           {"system.devices=2", "system.instances.rp0.host.cores.count=3"}),
              ElementsAre(EndsWith(" (ep0)")));
}

}  // namespace
}  // namespace flitwise::pio_warnings_test
