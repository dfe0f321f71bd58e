// SPDX-License-Identifier: Apache-2.0
// What is warned of, and what is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"

namespace flitwise::warnings_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<std::string> warnings_with(const std::string& yaml) {
  return config_warnings(config_from_text(yaml, "test.yaml", ""));
}

TEST(ConfigWarnings, LNK_7_18_AReplayTimerBelowTheReturnOfAnAckIsWarnedOf) {
  EXPECT_THAT(warnings_with("link: {preset: gen3x8}\n"), IsEmpty());
  EXPECT_THAT(warnings_with("link: {preset: gen3x8, timing: {replay_timeout: 2us}}\n"), IsEmpty());
  // 203 symbols of Ack latency and twice 235 ns of flight.
  EXPECT_THAT(
      warnings_with("link: {preset: gen3x8, timing: {propagation: 205ns, receive: 30ns, "
                    "replay_timeout: 650ns}}\n"),
      ElementsAre(StartsWith("link.timing.replay_timeout: 650.0 ns, but an Ack may take 67")));
  EXPECT_THAT(warnings_with("link: {preset: gen3x8, timing: {propagation: 205ns, receive: 30ns, "
                            "replay_timeout: 700ns}}\n"),
              IsEmpty());
  // By itself the timer has room for any wire.
  EXPECT_THAT(warnings_with("link: {preset: gen3x8, timing: {propagation: 90us}}\n"), IsEmpty());
}

TEST(ConfigWarnings, SG_C1_FewerPairsOfPortsThanSessionsAreWarnedOf) {
  const auto with = [](const std::string& srdma) {
    return warnings_with(
        "network: {mode: packet, topology: switch}\n"
        "device: {srdma: {enabled: true, first_port: 4790, last_port: 4792, " +
        srdma + "}}\n");
  };
  EXPECT_THAT(with("sessions: 4"), IsEmpty());
  EXPECT_THAT(with("sessions: 5"),
              ElementsAre(StartsWith("device.srdma.last_port: ports 4790 to 4792 are 4 pairs, for "
                                     "up to 5 sessions between two hosts")));
  EXPECT_THAT(with("sessions: 2, max_sessions: 5, control: {enabled: true}"),
              ElementsAre(HasSubstr("up to 5 sessions")));
}

TEST(ConfigWarnings, LNK_11_23_SharedHeadersWithoutSharedDataAreWarnedOf) {
  const auto with = [](const std::string& shared) {
    return warnings_with(
        "link: {preset: gen6x16, flit_mode: true, credits: {completion_headers: 64, "
        "completion_data: 1024}, shared_credits: {" +
        shared + "}}\n");
  };
  EXPECT_THAT(with("posted_headers: 16"),
              ElementsAre(StartsWith("link.shared_credits.posted_data: 0 beside posted_headers of "
                                     "16, which no TLP with data")));
  EXPECT_THAT(with("completion_headers: 16"),
              ElementsAre(HasSubstr("expected at least 16, for a payload of link.mps")));
  EXPECT_THAT(with("posted_headers: 16, posted_data: 16"), IsEmpty());
  EXPECT_THAT(with("nonposted_headers: 16"), IsEmpty());  // reads have none
}

// One record of a ring of 32 bytes each stays empty.
TEST(ConfigWarnings, PRI_15_PageRequestsThatTheirQueueDropsForGoodAreWarnedOf) {
  const auto with = [](const std::string& pages, const std::string& overflow = "drop",
                       const std::string& more = "") {
    return warnings_with("iommu: {translation: first_stage, page_requests: {overflow: " + overflow +
                         "}}\nhost: {iommu_driver: {enabled: true, page_request_queue: 4KiB}}\n"
                         "device: {atc: {enabled: true}, pri: {enabled: true, " +
                         pages + "}}\n" + more);
  };
  EXPECT_THAT(with("capacity: 127, allocation: 1000"), IsEmpty());
  EXPECT_THAT(
      with("capacity: 1000, allocation: 1000"),
      ElementsAre(AllOf(StartsWith("iommu.page_requests.overflow: drop with up to 1000 page "
                                   "requests out at once"),
                        HasSubstr("a queue of 127 records"))));
  EXPECT_THAT(with("capacity: 1000, allocation: 1000", "respond_success"), IsEmpty());
  const char* const two = "system: {topology: direct, devices: 2}\n";
  EXPECT_THAT(with("capacity: 63, allocation: 63", "drop", two), IsEmpty());
  EXPECT_THAT(with("capacity: 64, allocation: 64", "drop", two),
              ElementsAre(HasSubstr("up to 128 page requests out at once, those of ep1 among")));
}

std::vector<std::string> write_warnings(const std::string& yaml) {
  return warnings_with(yaml +
                       "\nworkload: {kind: posted_write, payload: 64B, requests: 100, domains: 2, "
                       "buffer_base: 16MiB, buffer_size: 1MiB}\n");
}

// 92 bytes with all around them: one in ten arrives at 3.1e-3. Of a flit, one wrong byte in each of
// three groups is corrected.
TEST(ConfigWarnings, LNK_7_13_ALinkThatDamagesNearlyEveryTlpIsWarnedOf) {
  EXPECT_THAT(write_warnings("link: {preset: gen5x16, error_rate: 3e-3}"), IsEmpty());
  EXPECT_THAT(write_warnings("link: {preset: gen5x16, error_rate: 4e-3}"),
              ElementsAre(StartsWith("link.error_rate: 0.004 leaves 6 of 100 TLPs")));
  EXPECT_THAT(write_warnings("link: {preset: gen5x16, flit_mode: true, error_rate: 2e-3}"),
              IsEmpty());
  EXPECT_THAT(write_warnings("link: {preset: gen5x16, flit_mode: true, error_rate: 1e-2}"),
              ElementsAre(HasSubstr("more than 10 tries for each TLP has failed")));
}

// A burst of 16 bits spoils two or three bytes side by side, which are in as many groups: one is
// corrected, two are not. Of 26 bits none is.
TEST(ConfigWarnings, LNK_11_8_BurstsOfWrongBitsSpoilMoreFlits) {
  const auto with = [](const std::string& errors) {
    return write_warnings("link: {preset: gen6x16, " + errors + "}");
  };
  EXPECT_THAT(with("error_rate: 2e-3, error_burst: 1"), IsEmpty());
  EXPECT_THAT(with("error_rate: 2e-3, error_burst: 16"),
              ElementsAre(StartsWith("link.error_rate: 0.002 leaves 8.5 of 100 TLPs or flits")));
  EXPECT_THAT(with("error_rate: 1.2e-3, error_burst: 16"), IsEmpty());
  EXPECT_THAT(with("error_rate: 1.2e-3, error_burst: 26"),
              ElementsAre(StartsWith("link.error_rate: 0.0012 leaves 8.6 of 100 TLPs or flits")));
}

std::vector<std::string> pio_warnings(const std::string& host) {
  return warnings_with("device: {functions: {bar_size: 64MiB}}\nhost: {cores: {count: 1}, " + host +
                       "}\nworkload: {via: pio, payload: 200B, requests: 100, buffer_base: 16MiB, "
                       "buffer_size: 1MiB}\n");
}

// The device writes the credits that it returns to buffers in host memory.
TEST(ConfigWarnings, PIO_8_2_CreditsThatTheHostRefusesAreWarnedOf) {
  EXPECT_THAT(pio_warnings("dma_window: {base: 16MiB, size: 1MiB}"), IsEmpty());
  EXPECT_THAT(pio_warnings("dma_window: {base: 0B, size: 4KiB}"),
              ElementsAre(StartsWith("host.dma_window: 4KiB from 0B on leave no room")));
  EXPECT_THAT(pio_warnings("trusted_window: {base: 0B, size: 64TiB}"),
              ElementsAre(StartsWith("host.trusted_window: 64TiB from 0B on cover")));
}

// 2 us each way, and the pipeline of the device.
TEST(ConfigWarnings, IQU_07_AnInvalidationThatIsGivenUpTooEarlyIsWarnedOf) {
  const auto with = [](const std::string& timeout, const std::string& driver = "true") {
    return write_warnings(
        "link: {timing: {propagation: 2us, receive: 0ns}}\ndevice: {timing: {pipeline: 100ns}, "
        "atc: {enabled: true}}\niommu: {translation: first_stage, timing: {invalidate_timeout: " +
        timeout + "}}\nhost: {iommu_driver: {enabled: " + driver + "}}\n");
  };
  EXPECT_THAT(with("4101ns"), IsEmpty());
  EXPECT_THAT(with("4100ns"),
              ElementsAre(AllOf(StartsWith("iommu.timing.invalidate_timeout: 4100.0 ns, but"),
                                HasSubstr("of ep0"), HasSubstr("takes 4100.0 ns at the least"))));
  EXPECT_THAT(with("4100ns", "false"), IsEmpty());
}

// Twice there and back for the first request, since its credits come as late as itself.
TEST(ConfigWarnings, LNK_9_18_ARequestThatHostSoftwareGivesUpTooEarlyIsWarnedOf) {
  EXPECT_THAT(write_warnings("link: {timing: {propagation: 12ms}}"), IsEmpty());
  EXPECT_THAT(write_warnings("link: {timing: {propagation: 13ms}}"),
              ElementsAre(StartsWith("host.timing.completion_timeout: 50000000.0 ns, but the first "
                                     "configuration requests to ep0 take 520003")));
  EXPECT_THAT(write_warnings("link: {timing: {propagation: 13ms}}\n"
                             "host: {timing: {completion_timeout: 60ms}}"),
              IsEmpty());
  const char* const graph =
      "system: {topology: graph, nodes: [{name: a, kind: switch}, {name: b, kind: switch}, {name: "
      "d, kind: device}], edges: [{from: rp0, to: a}, {from: a, to: b}, {from: b, to: d}]}\n";
  EXPECT_THAT(write_warnings(graph + std::string("link: {timing: {propagation: 9ms}}")),
              ElementsAre(HasSubstr("requests to d take 54000")));
}

TEST(ConfigWarnings, AWindowForDmaWithoutRoomForARequestIsWarnedOf) {
  const auto with = [](const std::string& window, const std::string& more = "") {
    return write_warnings("host: {dma_window: {" + window + "}}\n" + more);
  };
  EXPECT_THAT(with("base: 16MiB, size: 64B"), IsEmpty());
  EXPECT_THAT(with("base: 16MiB, size: 63B"),
              ElementsAre(StartsWith("host.dma_window: 63B from 16MiB on leave no room for a "
                                     "request in the buffers of ep0, 2MiB from 16MiB on")));
  EXPECT_THAT(with("base: 18MiB, size: 1GiB"), ElementsAre(HasSubstr("each is refused")));
  EXPECT_THAT(with("base: 17MiB, size: 1GiB"), IsEmpty()) << "the second buffer";
  EXPECT_THAT(with("base: 18MiB, size: 1GiB", "iommu: {translation: first_stage}"), IsEmpty());
}

TEST(ConfigWarnings, DHI_D19_AWindowForTrustedRequestsOverAllBuffersIsWarnedOf) {
  const std::string all = "host: {trusted_window: {base: 16MiB, size: 2MiB}}\n";
  EXPECT_THAT(write_warnings(all),
              ElementsAre(AllOf(StartsWith("host.trusted_window: 2MiB from 16MiB on"),
                                HasSubstr("of ep0"), HasSubstr("not trusted"))));
  EXPECT_THAT(write_warnings("host: {trusted_window: {base: 16MiB, size: 1MiB}}"), IsEmpty());
  EXPECT_THAT(write_warnings(all + "link: {identity: dhi}\ndevice: {dhi: {trusted: true}}"),
              IsEmpty());
}

TEST(ConfigWarnings, LNK_3_7_PasidsAboveWhichNobodyTakesThemAreWarnedOf) {
  const auto with = [](const std::string& identity, const std::string& more = "") {
    return write_warnings("host: {pasid: false}\nlink: {identity: " + identity + "}\n" + more);
  };
  EXPECT_THAT(with("bdf_pasid"), ElementsAre(StartsWith("host.pasid: false above ep0")));
  EXPECT_THAT(with("dhi"), ElementsAre(StartsWith("host.pasid: false above ep0")));
  EXPECT_THAT(with("none"), IsEmpty());
  EXPECT_THAT(write_warnings("link: {identity: bdf_pasid}"), IsEmpty());
}

// Keys of a root port count for what is below it.
TEST(ConfigWarnings, AsManyDroppedCompletionsAsRequestsAreWarnedOf) {
  const auto with = [](const std::string& faults, const std::string& kind = "read") {
    return warnings_with("faults: {drop_completions: " + faults + "}\nworkload: {kind: " + kind +
                         ", requests: 100}\nsystem: {topology: direct, devices: 2, instances: "
                         "{rp0-ep0: {faults: {drop_completions: 0}}}}\n");
  };
  EXPECT_THAT(with("99"), IsEmpty());
  EXPECT_THAT(
      with("100"),
      ElementsAre(StartsWith("faults.drop_completions: 100 with 100 requests of ep1: most")));
  EXPECT_THAT(with("100", "posted_write"), IsEmpty());
  EXPECT_THAT(warnings_with("system: {hosts: 3, devices: 1}\nnetwork: {topology: switch}\n"
                            "workload: {kind: flows, via: rdma, flows: {pattern: incast}}\n"),
              IsEmpty())
      << "one has no requests, and nothing is dropped";
}

TEST(ConfigWarnings, LNK_9_18_ReadsThatMayTimeOutBeforeTheirCompletionAreWarnedOf) {
  const auto with = [](const std::string& latency, const std::string& kind = "read") {
    return warnings_with(
        "host: {memory: {timing: {latency: " + latency +
        "}}}\ndevice: {timing: {completion_timeout: 1us}}\nworkload: {kind: " + kind + "}\n");
  };
  EXPECT_THAT(with("499ns"), IsEmpty());
  EXPECT_THAT(with("500ns"),
              ElementsAre(StartsWith("device.timing.completion_timeout: 1000.0 ns of ep0 for reads "
                                     "of a memory with a latency of 500.0 ns")));
  EXPECT_THAT(with("500ns", "posted_write"), IsEmpty());
}

TEST(ConfigWarnings, LNK_8_7_CreditsThatWhatIsAnnouncedNeverHasAreWarnedOf) {
  const auto with = [](const std::string& data, const std::string& more = "") {
    return warnings_with("link: {credits: {nonposted_data: " + data + "}}\n" + more);
  };
  EXPECT_THAT(with("1"),
              ElementsAre(StartsWith("link.credits.nonposted_data: 1 of 16 bytes, but host.atomics "
                                     "announces CAS with two operands of 16 bytes, which needs 2"),
                          HasSubstr("but host.deferrable_writes announces deferrable writes of 128 "
                                    "bytes, which needs 8 and waits for ever; expected at least 8, "
                                    "infinite, or host.deferrable_writes: false")));
  EXPECT_THAT(with("7"), ElementsAre(HasSubstr("host.deferrable_writes")));
  EXPECT_THAT(with("7", "host: {deferrable_writes: false}\n"), IsEmpty());
  EXPECT_THAT(with("1", "host: {deferrable_writes: false, atomics: false}\n"), IsEmpty());
  EXPECT_THAT(with("8"), IsEmpty());
  EXPECT_THAT(with("infinite"), IsEmpty());
  // Shared ones carry it as well.
  EXPECT_THAT(
      warnings_with("link: {preset: gen6x16, flit_mode: true, credits: {nonposted_data: 1}, "
                    "shared_credits: {nonposted_headers: 1, nonposted_data: 8}}\n"),
      IsEmpty());
}

TEST(ConfigWarnings, ABurstThatIsTheWholeRunIsWarnedOf) {
  const auto with = [](const std::string& more) {
    return warnings_with("workload: {rate: 1Mreq/s, requests: 900, burst: 1000" + more +
                         "}\nrun: {warmup: 100}\n");
  };
  EXPECT_THAT(with(", arrival: on_off"),
              ElementsAre(StartsWith("workload.burst: 1000 in a run of 1000 requests, which all "
                                     "come at one instant, after 1 ms on the average")));
  EXPECT_THAT(with(", arrival: poisson"), IsEmpty());
  EXPECT_THAT(warnings_with("workload: {arrival: on_off, requests: 900, burst: 300}\n"), IsEmpty());
}

// A millisecond for each of 10,001 requests.
TEST(ConfigWarnings, CXL_3_4_RequestsThatWaitForTheTimerOfAcksAreWarnedOf) {
  const auto with = [](const std::string& flits, const std::string& requests) {
    return warnings_with(
        "link: {preset: cxl68_gen5x16, cxl: {retry_flits: " + flits +
        ", timing: {ack_after: 1ms}}}\ndevice: {cxl: {cache: {size: 64KiB}}}\nrun: {warmup: 0}\n"
        "workload: {via: cxl_cache, kind: read, requests: " +
        requests + "}\n");
  };
  EXPECT_THAT(with("1", "10000"), IsEmpty());
  EXPECT_THAT(with("1", "10001"),
              ElementsAre(AllOf(StartsWith("link.cxl.timing.ack_after: 1000000.0 ns for each 1"),
                                HasSubstr("link.cxl.retry_flits of at least 16"))));
  EXPECT_THAT(with("15", "160000"), ElementsAre(HasSubstr("may take 11 s of simulated time")));
  EXPECT_THAT(with("16", "1000000"), IsEmpty());
}

TEST(ConfigWarnings, LNK_11_7_InFlitModeAsWell) {
  EXPECT_THAT(warnings_with("link: {preset: gen6x16, timing: {propagation: 1us, replay_timeout: "
                            "2us}}\n"),
              ElementsAre(HasSubstr("expected at least that, or auto")));
}

TEST(ConfigWarnings, LNK_13_2_ReadsOfPeersWhoseCompletionsAreRedirectedAreWarnedOf) {
  const std::string system = "system: {topology: switch, devices: 2, acs: ";
  EXPECT_THAT(warnings_with(system + "{p2p_request: direct}}\n"),
              ElementsAre(StartsWith("system.acs.p2p_completion: redirect")));
  EXPECT_THAT(warnings_with(system + "{egress: [ep1]}}\n"), ElementsAre(HasSubstr("across sw0")));
  EXPECT_THAT(warnings_with(system + "{p2p_request: direct, p2p_completion: direct}}\n"),
              IsEmpty());
  EXPECT_THAT(warnings_with("system: {topology: switch, devices: 2}\n"), IsEmpty());
}

TEST(ConfigWarnings, AnInstanceIsNamed) {
  EXPECT_THAT(
      warnings_with("link: {preset: gen3x8}\nsystem: {instances: {rp0-ep0: {link: {timing: "
                    "{replay_timeout: 150ns}}}}}\n"),
      ElementsAre(StartsWith("system.instances.rp0-ep0.link.timing.replay_timeout: 150.0")));
}

}  // namespace
}  // namespace flitwise::warnings_test
