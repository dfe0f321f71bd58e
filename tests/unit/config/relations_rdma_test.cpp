// SPDX-License-Identifier: Apache-2.0
// Cables between RDMA adapters, and what has to fit together there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "unit/config/support.h"

namespace flitwise::relations_rdma_test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Devices with adapters; fields of the instances, and of the workload beside via.
std::string cables(const std::string& instances, const std::string& workload = "domains: 1",
                   int devices = 2) {
  return "system: {devices: " + std::to_string(devices) + ", instances: {" + instances +
         "}}\nworkload: {via: rdma, " + workload + "}\n";
}
constexpr const char* kOneWay = "ep0: {device.rdma.peer: ep1}";
constexpr const char* kBothWays = "ep0: {device.rdma.peer: ep1}, ep1: {device.rdma.peer: ep0}";

TEST(RdmaCables, OneEndOrBothMayName) {
  EXPECT_THAT(problems_of(cables(kOneWay)), IsEmpty());
  EXPECT_THAT(problems_of(cables(kBothWays)), IsEmpty());
}

TEST(RdmaCables, APeerHasToBeADeviceWithAnAdapter) {
  EXPECT_THAT(
      problems_of(cables("ep0: {device.rdma.peer: ep9}")),
      Contains(HasSubstr("no device 'ep9' in this topology; expected ep0 or ep1, or none")));
  EXPECT_THAT(problems_of(cables("ep0: {device.rdma.peer: ep0}, ep1: {workload.via: dma}")),
              Contains(HasSubstr("a cable from a device to itself")));
  EXPECT_THAT(problems_of(cables("ep0: {device.rdma.peer: ep1}, ep1: {workload.via: dma}")),
              Contains(HasSubstr("'ep1' has no RDMA adapter, as its workload.via is not rdma")));
}

TEST(RdmaCables, EachAdapterHasOneCable) {
  EXPECT_THAT(
      problems_of(
          cables("ep0: {device.rdma.peer: ep1}, ep2: {device.rdma.peer: ep1}", "domains: 1", 3)),
      ElementsAre(HasSubstr("'ep1' has a cable to ep0 already; expected devices in pairs")));
  EXPECT_THAT(problems_of(cables(kOneWay, "domains: 1", 3)),
              ElementsAre(HasSubstr("an adapter without a cable")));
}

TEST(RdmaCables, BothEndsHaveOneMtuAndOneSetOfRings) {
  EXPECT_THAT(
      problems_of(cables("ep0: {device.rdma.peer: ep1}, ep1: {device.rdma.mtu: 1024}")),
      ElementsAre(HasSubstr("device.rdma.mtu is 4096, and 1024 at ep1; expected one value at "
                            "both ends of a cable")));
  EXPECT_THAT(problems_of(cables("ep0: {device.rdma.peer: ep1}, ep1: {workload.domains: 2}")),
              ElementsAre(HasSubstr("workload.domains is 1, and 2 at ep1")));
}

std::string on_switch(const std::string& instances, const std::string& workload, int devices,
                      const std::string& more = "") {
  return cables(instances, workload, devices) + "network: {topology: switch" + more + "}\n";
}

TEST(RdmaSwitch, SeveralMayAskOneWhoseQueuePairsTheyShareOut) {
  const std::string all = "ep0: {device.rdma.peer: ep1}, ep2: {device.rdma.peer: ep1}";
  EXPECT_THAT(problems_of(on_switch(all + ", ep1: {workload.domains: 8}", "domains: 4", 3)),
              IsEmpty());
  EXPECT_THAT(
      problems_of(on_switch(all, "domains: 4", 3)),
      ElementsAre(
          HasSubstr("4 queue pairs with each peer, and 2 at ep1, which has 2 peers; expected "
                    "as many at both ends, such as workload.domains 8 at ep1"),
          HasSubstr("such as workload.domains 8 at ep1")));
  EXPECT_THAT(
      problems_of(on_switch(all + ", ep1: {workload.domains: 9}", "domains: 4", 3)),
      ElementsAre(HasSubstr("9 queue pairs for 2 peers; expected workload.domains that these share "
                            "out evenly, such as 10")));
}

TEST(RdmaSwitch, EachOfARingMayAskTheNext) {
  const std::string ring =
      "ep0: {device.rdma.peer: ep1}, ep1: {device.rdma.peer: ep2}, ep2: {device.rdma.peer: ep0}";
  EXPECT_THAT(problems_of(on_switch(ring, "domains: 4", 3)), IsEmpty());
  EXPECT_THAT(problems_of(on_switch(ring, "domains: 3", 3)),
              Contains(HasSubstr("3 queue pairs for 2 peers")));
  EXPECT_THAT(problems_of(cables(ring, "domains: 4", 3)),
              Contains(HasSubstr("expected devices in pairs, or network.topology switch")));
}

TEST(RdmaSwitch, TwoOnASwitchAreAsTwoOnACable) {
  EXPECT_THAT(problems_of(on_switch(kBothWays, "domains: 4", 2)), IsEmpty());
  EXPECT_THAT(problems_of(on_switch("ep0: {device.rdma.peer: ep1}, ep1: {workload.domains: 2}",
                                    "domains: 4", 2)),
              ElementsAre(HasSubstr("workload.domains is 4, and 2 at ep1; expected one value at "
                                    "both ends of a connection")));
  EXPECT_THAT(problems_of(on_switch(kOneWay, "domains: 4", 3)),
              ElementsAre(HasSubstr("an adapter without a peer")));
}

TEST(RdmaSwitch, WhoIsSentMessagesHasAnEntryForEachQueuePair) {
  const std::string all =
      "ep0: {device.rdma.peer: ep1}, ep2: {device.rdma.peer: ep1}, ep1: {workload.domains: 512, "
      "workload.rdma.send: 0}";
  EXPECT_THAT(problems_of(on_switch(all, "domains: 256, rdma: {send: 1}", 3)),
              Contains(HasSubstr("512 queue pairs that take messages at ep1, and a completion "
                                 "queue of 256")));
  EXPECT_THAT(problems_of(on_switch(all, "domains: 256", 3)), IsEmpty());
}

TEST(RdmaSwitch, AQueueHasRoomForAFrame) {
  EXPECT_THAT(problems_of(on_switch(kOneWay, "domains: 1", 2, ", switch: {queue: 4KiB}")),
              Contains(HasSubstr("expected room for one or more")));
  EXPECT_THAT(problems_of(on_switch(kOneWay, "domains: 1", 2, ", switch: {queue: 4198B}")),
              IsEmpty());
}

TEST(RdmaPretranslation, EP_2_NeedsTranslationAndRoomForStructuresThatLieTogether) {
  const std::string on = "device: {rdma: {pretranslation: {enabled: true}}}\n";
  EXPECT_THAT(problems_of(cables(kOneWay) + on),
              Contains(HasSubstr("translated ahead of use, and iommu.translation off")));
  const std::string tables = on + "iommu: {translation: nested}\n";
  EXPECT_THAT(problems_of(cables(kOneWay, "domains: 1, buffer_size: 128KiB") + tables), IsEmpty());
  EXPECT_THAT(problems_of(cables(kOneWay, "domains: 64, buffer_size: 128KiB") + tables),
              Contains(HasSubstr("states and rings of 64 queue pairs of 64 entries")));
  EXPECT_THAT(problems_of(cables(kOneWay, "domains: 64, buffer_size: 1MiB") + tables), IsEmpty());
}

TEST(RdmaPretranslation, EP_6_TheLongestTimeToTheNextAttemptIsNoShorterThanTheFirst) {
  constexpr const char* kRoom = "domains: 1, buffer_size: 128KiB";
  const std::string with =
      "iommu: {translation: nested}\n"
      "device: {rdma: {pretranslation: {enabled: true, timing: {longest_retry: 1us, retry: ";
  EXPECT_THAT(problems_of(cables(kOneWay, kRoom) + with + "10us}}}}\n"),
              ElementsAre(HasSubstr("is 1 us, and the first 10 us; expected no less")));
  EXPECT_THAT(problems_of(cables(kOneWay, kRoom) + with + "1us}}}}\n"), IsEmpty());
}

TEST(RdmaCables, MemoriesOfTwoPacketsHaveRoomForTheirHeaders) {
  const auto with = [](const std::string& memories) {
    return problems_of(cables(kOneWay) + "device: {rdma: {mtu: 4096, " + memories + "}}\n");
  };
  EXPECT_THAT(with("dma_memory: 8KiB, payload_ram: 8348B"), IsEmpty());
  EXPECT_THAT(with("payload_ram: 8KiB"),
              ElementsAre(HasSubstr("of 8KiB of payload, and of 8348B with headers")));
}

TEST(RdmaWarnings, EP_2_StructuresThatStraddleAPageAreWarnedOf) {
  const auto with = [](const std::string& base) {
    return config_warnings(
        config_from_text(cables(kOneWay, "domains: 4, buffer_size: 2MiB, buffer_base: " + base) +
                             "iommu: {translation: first_stage, page: 2MiB}\n"
                             "device: {rdma: {pretranslation: {enabled: true, page_size: 2MiB}}}\n",
                         "test.yaml", ""));
  };
  EXPECT_THAT(with("4GiB"), IsEmpty());
  EXPECT_THAT(with("4299120640B"),  // 4 GiB + 4 MiB - 40 KiB
              Contains(HasSubstr("straddle pages of 2MiB")));
}

TEST(RdmaWarnings, HP_5_RootPortsWithoutAtomicsKeepNoAdapterFromThem) {
  const auto with = [](const std::string& weights) {
    return config_warnings(config_from_text(
        cables(kOneWay, "rdma: {" + weights + "}") + "host: {atomics: false}\n", "test.yaml", ""));
  };
  EXPECT_THAT(with("read: 1"), IsEmpty());
  EXPECT_THAT(with("fetch_add: 1"), Contains(HasSubstr("host.atomics: false, but the adapter of")));
}

TEST(RdmaWarnings, LR_3_ARetryTimeBelowTheWayThereAndBackIsWarnedOf) {
  const auto with = [](const std::string& timeout) {
    return config_warnings(config_from_text(
        cables(kOneWay) + "device: {rdma: {port: {propagation: 1ms}, timeout: " + timeout + "}}\n",
        "test.yaml", ""));
  };
  EXPECT_THAT(with("9"), IsEmpty());
  EXPECT_THAT(with("8"), ElementsAre(HasSubstr("device.rdma.timeout: 8 retries after 1048.6 us at "
                                               "ep0, but an acknowledgement takes 2000.0 us")));
}

// The last two bits of ToS are those of ECN, whatever the value says.
TEST(RdmaNetworks, NW_4_AClassForAdaptiveRoutingHasToFitPackets) {
  const auto with = [](const std::string& routing, const std::string& mode) {
    return problems_of("network: {mode: " + mode + ", topology: switch, hosts: 2, routing: {" +
                       routing + "}}\ndevice: {srdma: {enabled: true, adaptive_routing: true}}\n" +
                       (mode == "packet" ? "" : cables(kOneWay)));
  };
  for (const std::string mode : {"packet", "full"}) {
    EXPECT_THAT(with("value: 136", mode), IsEmpty());
    EXPECT_THAT(with("value: 0", mode), IsEmpty());
    for (const std::string routing : {"value: 137", "value: 255, mask: 255", "mask: 255"}) {
      EXPECT_THAT(with(routing, mode), ElementsAre(HasSubstr("would be routed adaptively")))
          << routing;
    }
  }
}

// [NW-1] Beyond this the times of short frames would be rounded.
TEST(RdmaNetworks, RatesOfNetworksEndWhereThoseOfTheirLinksDo) {
  const std::string network = "network: {mode: packet, topology: switch, hosts: 2, ";
  EXPECT_THAT(problems_of(network + "rate: 10Tb/s}\n"), IsEmpty());
  EXPECT_THAT(problems_of(network + "rate: 11Tb/s}\n"), ElementsAre(HasSubstr("10Tb/s")));
  EXPECT_THAT(problems_of(network + "fault: {link: h0-switch, rate: 11Tb/s}}\n"),
              ElementsAre(HasSubstr("10Tb/s")));
  EXPECT_THAT(problems_of("device: {rdma: {port: {rate: 11Tb/s}}}\n" + cables(kOneWay)),
              ElementsAre(HasSubstr("10Tb/s")));
}

TEST(RdmaDriver, PagesOfRegisteredMemoryAreWholeAndContextsDoNotEnd) {
  const std::string driver =
      "iommu: {translation: first_stage}\nhost: {iommu_driver: {enabled: true}}\n";
  EXPECT_THAT(problems_of(cables(kOneWay) + driver), IsEmpty());
  EXPECT_THAT(problems_of(cables(kOneWay) + "iommu: {translation: first_stage, page: 2MiB}\n"
                                            "host: {iommu_driver: {enabled: true}}\n"),
              ElementsAre(HasSubstr("expected whole pages")));
  EXPECT_THAT(
      problems_of(cables(kOneWay) + "iommu: {translation: first_stage}\n"
                                    "host: {iommu_driver: {enabled: true, teardown_rate: 10}}\n"),
      Contains(HasSubstr("contexts that end, and queue pairs that do not")));
}

TEST(RdmaCables, WhatSoftwareAndAdapterShareHasRoomInABuffer) {
  EXPECT_THAT(problems_of(cables(kOneWay, "domains: 1, payload: 16KiB")),
              Contains(HasSubstr("expected room for three messages behind them, 88KiB or more")));
  EXPECT_THAT(problems_of(cables(kOneWay, "domains: 1, payload: 16KiB, buffer_size: 88KiB")),
              IsEmpty());
  EXPECT_THAT(problems_of(cables(kOneWay, "domains: 1, payload: 16KiB, buffer_size: 128KiB")),
              IsEmpty());
}

TEST(RdmaCables, WhatIsNoWorkRequestIsRefused) {
  EXPECT_THAT(problems_of(cables(kOneWay, "kind: read")),
              Contains(HasSubstr("kind read by rdma; expected flows, or posted_write")));
  EXPECT_THAT(problems_of(cables(kOneWay, "rdma: {write: 0}")),
              Contains(HasSubstr("no kind of work request with a weight")));
  EXPECT_THAT(problems_of(cables(kOneWay, "real_payload: false")),
              Contains(HasSubstr("expected workload.real_payload true")));
  EXPECT_THAT(problems_of(cables(kOneWay, "domains: 512, rdma: {send: 1}")),
              Contains(HasSubstr("512 queue pairs that take messages, and a completion queue of "
                                 "256")));
}

// Three functions, with that in their section device.rdma.
std::string functions(const std::string& rdma, const std::string& more = "") {
  return cables(kOneWay, "domains: 6") + "device: {functions: {count: 3}, rdma: {" + rdma + "}}\n" +
         more;
}

TEST(RdmaFunctionsConfig, BothEndsHaveAsMany) {
  EXPECT_THAT(problems_of(functions("mtu: 1024")), IsEmpty());
  EXPECT_THAT(problems_of(cables("ep0: {device.rdma.peer: ep1}, ep1: {device.functions.count: 2}",
                                 "domains: 6") +
                          "device: {functions: {count: 3}}\n"),
              ElementsAre(HasSubstr("3 functions carry the workload, and 2 at ep1")));
}

TEST(RdmaFunctionsConfig, OneAtLeastIsNotHostile) {
  EXPECT_THAT(problems_of(functions("mtu: 1024", "host: {verbs: {hostile: 2}}\n")), IsEmpty());
  EXPECT_THAT(problems_of(functions("mtu: 1024", "host: {verbs: {hostile: 3}}\n")),
              Contains(HasSubstr("3 hostile functions of 3 that carry the workload")));
  EXPECT_THAT(problems_of(cables(kOneWay, "functions: vfs")), Each(Not(HasSubstr("hostile"))))
      << "no function carries it, and none is hostile";
}

TEST(RdmaFunctionsConfig, HP_8_SharesAreThoseOfFunctionsAndOfWhatThereIs) {
  EXPECT_THAT(problems_of(functions("shares: {kicks: [3, 1], later: [1, 3], states: [100, 27]}")),
              IsEmpty());
  EXPECT_THAT(problems_of(functions("shares: {kicks: [3, 1, 1, 1]}")),
              Contains(HasSubstr("4 shares for 3 functions that carry the workload")));
  EXPECT_THAT(problems_of(functions("shares: {kicks: [3], later: [1, 3]}")),
              Contains(HasSubstr("2 weights later, and 1 before")));
  EXPECT_THAT(problems_of(functions("shares: {states: [100, 28]}")),
              Contains(HasSubstr("shares of 128 entries in all, of a cache of 128")));
  EXPECT_THAT(problems_of(functions("shares: {kicks: [0]}")),
              Contains(HasSubstr("'0'; expected a list of numbers of 1..1024, such as [3, 1]")));
}

}  // namespace
}  // namespace flitwise::relations_rdma_test
