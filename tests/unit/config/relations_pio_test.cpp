// SPDX-License-Identifier: Apache-2.0
// Wires between devices that send by PIO: what is at their other end, and whether there is room for
// what it writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace flitwise::relations_pio_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// Two devices; fields of the instances, and of the workload beside via.
std::string pair_of(const std::string& instances, const std::string& workload = "domains: 1") {
  return "system: {devices: 2, instances: {" + instances +
         "}}\ndevice: {functions: {bar_size: 64MiB}}\nworkload: {via: pio, " + workload + "}\n";
}
constexpr const char* kTo0 = "device.pio.egress.peer: ep0";
constexpr const char* kTo1 = "device.pio.egress.peer: ep1";

std::string both(const std::string& of_0, const std::string& of_1) {
  return "ep0: {" + of_0 + "}, ep1: {" + of_1 + "}";
}

TEST(PioWires, OneWayBothWaysAndALoopAreGood) {
  EXPECT_THAT(problems_of(pair_of(both(kTo1, ""))), IsEmpty());
  EXPECT_THAT(problems_of(pair_of(both(kTo1, kTo0))), IsEmpty());
  EXPECT_THAT(problems_of(pair_of(both(kTo0, kTo1))), IsEmpty());
}

TEST(PioWires, APeerThatIsNoDeviceIsRefusedAtItsPlace) {
  EXPECT_THAT(problems_of(pair_of("ep1: {device.pio.egress.peer: ep}")),
              ElementsAre(AllOf(StartsWith("c.yaml:1:64: "),
                                HasSubstr("device.pio.egress.peer: no device 'ep' in this "
                                          "topology; expected ep0, ep1 or none"),
                                HasSubstr("nearest name 'ep"))));
  EXPECT_THAT(problems_of(pair_of("ep1: {device.pio.egress.peer: rp0}")),
              ElementsAre(HasSubstr("no device 'rp0'")));
  EXPECT_THAT(problems_of(pair_of("ep1: {device.pio.egress.peer: [ep0]}")),
              ElementsAre(HasSubstr("expected the name of a device, or none")));
}

TEST(PioWires, APeerWithoutAReceiveEngineIsRefused) {
  EXPECT_THAT(problems_of(pair_of(both(kTo1, "workload.via: dma"))),
              ElementsAre(HasSubstr("'ep1' has no receive engine, as its workload.via is not pio; "
                                    "expected ep0")));
}

TEST(PioWires, AReceiveEngineHasOneWire) {
  EXPECT_THAT(problems_of(pair_of(both(kTo1, kTo1))),
              ElementsAre(HasSubstr("'ep1' is the peer of ep0 already, and has one wire; expected "
                                    "another device, or none")));
  EXPECT_THAT(problems_of(pair_of(""), {"device.pio.egress.peer=ep1"}),
              ElementsAre(HasSubstr("'ep1' is the peer of ep0 already")));
}

TEST(PioWires, AReceiverHasRoomForItsQueues) {
  EXPECT_THAT(problems_of(pair_of(both(kTo1, ""), "buffer_size: 32KiB")), IsEmpty());
  EXPECT_THAT(problems_of(pair_of(both(kTo1, ""), "buffer_size: 16KiB")),
              ElementsAre(HasSubstr("a buffer of 16KiB for each domain of ep1, which receives from "
                                    "ep0 as well; expected workload.buffer_size 32KiB or more")));
}

// The root port above a switch says what goes by SDMA, and each device how long its packets are.
TEST(PioWires, CoresAboveASwitchFitWhatEachDeviceSends) {
  const std::string below = "ep0: {workload.payload: 9KiB}, ep1: {workload.payload: 9KiB}";
  const std::string workload = "domains: 1, buffer_size: 1MiB";
  const std::vector<std::string> sdma = {"system.topology=switch", "host.cores.sdma_from=1KiB",
                                         "device.pio.depth=128"};
  EXPECT_THAT(problems_of(pair_of(below, workload), sdma), IsEmpty());
  EXPECT_THAT(problems_of(pair_of("rp0: {host.cores.sdma_from: none}, " + below, workload), sdma),
              ElementsAre(HasSubstr("packets by PIO up to 9KiB, and room for 8184B"),
                          HasSubstr("packets by PIO up to 9KiB, and room for 8184B")));
}

TEST(PioWires, BuffersBehindOthersLieInMemory) {
  EXPECT_THAT(problems_of(pair_of("", "domains: 2, buffer_base: 1023MiB, buffer_size: 256KiB"),
                          {"host.memory.size=1GiB"}),
              IsEmpty());
  EXPECT_THAT(problems_of(pair_of("", "domains: 3, buffer_base: 1023MiB, buffer_size: 256KiB"),
                          {"host.memory.size=1GiB"}),
              ElementsAre(HasSubstr("buffers of 768KiB of ep1 from 1048320KiB on, behind those of "
                                    "other devices, end beyond the memory of 1GiB")));
}

}  // namespace
}  // namespace flitwise::relations_pio_test
