// SPDX-License-Identifier: Apache-2.0
// The bit-packed carrier against the patent's figures. [DHI D24]
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/message_model.h"
#include "validation/simulate_in_child.h"

namespace flitwise::bit_packed_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMessages = 500;

Simulation packed(unsigned identity_bits, unsigned flit_bits, const char* packing) {
  return {
      "checks/bit_packed.yaml",
      {"message.header_bits=0", "message.payload_bits=512",
       fmt::format("message.identity_bits={}", identity_bits),
       fmt::format("message.flit_bits={}", flit_bits), "message.crc_bits=16",
       fmt::format("message.packing={}", packing), fmt::format("workload.requests={}", kMessages)}};
}

Json bits_of(const Json& result) {
  return result.contains("failed") ? result : result.at("links")[0].at("up").at("wire_bits");
}

TEST(PatentFigure, ThirtySixBitsMake548OutOf512AndATwelveBitHandle524) {
  const std::vector<Json> results =
      simulate_in_children({packed(36, 80, "aligned"), packed(12, 80, "aligned")});
  const auto share = [](const Json& bits) {
    const double data = bits.at("payload").get<double>();
    return 100 * data / (data + bits.at("identity").get<double>());
  };
  const Json full = bits_of(results[0]);
  EXPECT_EQ(full.at("payload").get<std::uint64_t>() + full.at("identity").get<std::uint64_t>(),
            548 * kMessages);
  EXPECT_NEAR(share(full), 93.43, 0.005);
  EXPECT_NEAR(share(bits_of(results[1])), 97.71, 0.005);
}

TEST(BitPacked, D24_NoIdentityCostsNoBits) {
  const std::vector<Json> results =
      simulate_in_children({{"checks/bit_packed.yaml", {"link.identity=none"}}});
  EXPECT_EQ(bits_of(results[0]).at("identity"), 0);
  EXPECT_GT(bits_of(results[0]).at("payload"), 0);
}

// Orders for handles have a header alone, and with none of it no bits at all.
TEST(BitPacked, D24_MessagesOfNoBitsPassInNoMoreThanAFlit) {
  const std::vector<Json> results = simulate_in_children(
      {{"checks/bit_packed.yaml",
        {"message.header_bits=0", "link.identity=dhi", "run.warmup=1", "workload.requests=5000"}},
       {"checks/bit_packed.yaml",
        {"message.header_bits=0", "link.identity=none", "workload.kind=read",
         "workload.requests=2000"}}});
  for (const Json& result : results) {
    ASSERT_FALSE(result.contains("failed")) << result;
    std::uint64_t requests = 0;
    for (const Json& latency : result.at("latency")) {
      EXPECT_LT(latency.at("max").get<double>(), 1e5);
      const bool is_of_requests = latency.at("name") != "dma_write_tlp";
      requests += is_of_requests ? latency.at("count").get<std::uint64_t>() : 0;
    }
    EXPECT_GE(requests, 2'000U);
    for (const Json& check : result.at("checks")) {
      EXPECT_TRUE(check.at("ok").get<bool>()) << check;
    }
  }
}

TEST(PatentFigure, TheCostOfEachIdentityBitIsAStaircase) {
  for (const unsigned flit_bits : {80U, 64U, 128U}) {
    std::vector<Simulation> runs;
    for (unsigned bits = 0; bits <= 36; ++bits) {
      runs.push_back(packed(bits, flit_bits, "aligned"));
      runs.push_back(packed(bits, flit_bits, "contiguous"));
    }
    const std::vector<Json> results = simulate_in_children(runs);
    for (unsigned bits = 0; bits <= 36; ++bits) {
      const FlitShape flit{flit_bits, 16};
      EXPECT_EQ(bits_of(results[2 * bits]).at("total"),
                kMessages * flit_bits * aligned_flits(flit, 512 + bits))
          << runs[2 * bits].text();
      EXPECT_EQ(bits_of(results[2 * bits + 1]).at("total"),
                flit_bits * contiguous_flits(flit, 512 + bits, kMessages))
          << runs[2 * bits + 1].text();
    }
  }
}

}  // namespace
}  // namespace flitwise::bit_packed_test
