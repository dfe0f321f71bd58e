// SPDX-License-Identifier: Apache-2.0
// Software that sends by SDMA, and the engines that fetch its packets: whole runs against closed
// forms and against PIO.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "pio_bench.h"

namespace flitwise::sdma_test {
namespace {

using pio_bench::Ended;
using pio_bench::run;

std::string sdma_config(const std::string& cores, const std::string& sdma,
                        const std::string& workload, const std::string& more = "",
                        double error_rate = 0) {
  return pio_bench::config_of(cores, fmt::format("depth: 64, sdma: {{{}}}", sdma), workload, more,
                              fmt::format("error_rate: {}", error_rate));
}

double waited_ns(const RunResult& result, const std::string& name) {
  double sum = 0;
  for (const WaitResult& one : result.rows<WaitResult>()) {
    sum += one.resource.name == name ? one.total.ns() : 0;
  }
  return sum;
}

// [PIO-045] SDMA needs no credits, and its packets leave whole and in the order of their ring.
TEST(Sdma, PIO_045_PacketsLeaveWholeAndCostNoCredits) {
  const Ended done = run(sdma_config("count: 4, vls: 3, sdma_from: 1B", "engines: 3",
                                     "domains: 5, payload: 1016B, requests: 3000"));
  EXPECT_EQ(done.pio.packets, 3000U);
  EXPECT_EQ(done.pio.sdma_packets, 3000U);
  EXPECT_EQ(done.pio.bytes, 3000U * 1020);
  EXPECT_EQ(done.pio.vls, 3U);
  EXPECT_EQ(done.pio.blocks + done.pio.returned + done.pio.pending, 0U);
  EXPECT_EQ(done.pio.posted_writes, 0U);  // to the window
}

TEST(Sdma, LongPacketsGoBySdmaAndShortOnesByPio) {
  const Ended done =
      run(sdma_config("count: 4, vls: 2, sdma_from: 512B", "engines: 16",
                      "domains: 8, sizes: google_rpc_2008, size_cap: 3900B, requests: 4000"));
  EXPECT_EQ(done.pio.packets, 4000U);
  EXPECT_GT(done.pio.sdma_packets, 500U);
  EXPECT_LT(done.pio.sdma_packets, 3500U);
  const std::uint64_t by_pio = 4000 - done.pio.sdma_packets;
  EXPECT_GE(done.pio.blocks, by_pio);
  EXPECT_LE(done.pio.blocks, by_pio * 9);  // 511 bytes and a PBC
  EXPECT_EQ(done.pio.returned + done.pio.pending, done.pio.blocks);
}

// The link carries what is read once: completions of 256 bytes with a header of 3 DW.
TEST(Sdma, ReadsFillTheLinkAtTheClosedForm) {
  const Ended done =
      run(sdma_config("count: 4, sdma_from: 1B", "engines: 16, reads: 64",
                      "domains: 16, payload: 8184B, requests: 3000", "run: {warmup: 300}"));
  const double most = 16 * 8e9 / 8 * 128 / 130 * 256 / 276;  // bytes/s
  const double seen = 3000 * 8192.0 / done.seconds;
  EXPECT_LT(seen, most);
  EXPECT_GT(seen, most * 0.93);  // descriptors, tails, Acks, UpdateFCs
}

// One engine with one read at a time: a line of descriptors has two packets of two fragments, so
// that there are five reads, one behind the other.
TEST(Sdma, PIO_6_12_OneReadAtATimeIsARoundTripForEach) {
  const Ended done = run(sdma_config("count: 1, sdma_from: 1B", "engines: 1, reads: 1",
                                     "domains: 1, payload: 120B, requests: 400"));
  double latency = 0;
  for (const auto& row : done.result.rows<LatencyResult>()) {
    latency = row.name == "dma_read" ? row.mean : latency;
  }
  EXPECT_GT(latency, 200);
  // Two crossings more, each way, on edges of the clock.
  EXPECT_NEAR(1e9 * done.seconds / (400 * 2.5), latency + 2 * 2.484, 3);
  EXPECT_GT(waited_ns(done.result, "sdma_reads"), 0.8 * 1e9 * done.seconds);
}

// What limits is named, by the key that helps.
TEST(Sdma, PIO_6_10_TheWaitForTheRingIsTold) {
  const Ended done = run(sdma_config("count: 1, sdma_from: 1B", "engines: 1, ring: 8",
                                     "domains: 1, payload: 120B, requests: 400"));
  EXPECT_GT(waited_ns(done.result, "sdma_ring"), 0.5 * 1e9 * done.seconds);
}
TEST(Sdma, PIO_6_12_TheWaitForTheBufferIsTold) {
  const Ended done =
      run(sdma_config("count: 1, sdma_from: 1B", "engines: 1, buffer: 16, reads: 64",
                      "domains: 1, payload: 1016B, requests: 400, buffer_size: 1MiB"));
  EXPECT_GT(waited_ns(done.result, "sdma_buffer"), 0.5 * 1e9 * done.seconds);
  EXPECT_EQ(waited_ns(done.result, "sdma_reads"), 0);
}

// Descriptors of an older round have another generation, and halt the engine where it reads them.
TEST(Sdma, ManyRoundsOfASmallRingWithALinkThatReplays) {
  const Ended done = run(
      sdma_config("count: 3, vls: 9, sdma_from: 1B", "engines: 2, ring: 8, buffer: 40",
                  "domains: 3, sizes: google_rpc_2008, size_cap: 2000B, requests: 3000", "", 1e-5));
  EXPECT_EQ(done.pio.sdma_packets, 3000U);
}

// Translations, ATC and handles are for what the engines ask, as for all else that a device asks.
TEST(Sdma, ReadsOfEnginesAreTranslatedInTheNameOfTheirDomain) {
  const Ended done = run(sdma_config("count: 2, sdma_from: 1B", "engines: 2",
                                     "domains: 4, payload: 248B, requests: "
                                     "1000",
                                     "iommu: {translation: first_stage}\n"));
  EXPECT_EQ(done.pio.sdma_packets, 1000U);
}

TEST(Sdma, SettingsThatDoNotFitAreRefused) {
  const auto refusal = [](const std::string& yaml) {
    try {
      config_from_text(yaml, "run.yaml", "");
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal(sdma_config("sdma_from: 1B", "buffer: 4", "payload: 1016B"))
                .find("room for 248B beside the PBC"),
            std::string::npos);
  EXPECT_NE(refusal(sdma_config("sdma_from: 1B", "", "payload: 1016B, buffer_size: 4KiB"))
                .find("expected room for a packet"),
            std::string::npos);
  // A packet longer than a send context may go by SDMA.
  EXPECT_EQ(refusal(sdma_config("sdma_from: 2KiB", "", "payload: 8KiB")), "");
  EXPECT_NE(refusal(sdma_config("sdma_from: 16KiB", "", "payload: 8KiB")), "");
}

}  // namespace
}  // namespace flitwise::sdma_test
