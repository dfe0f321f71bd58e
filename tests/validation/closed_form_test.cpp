// SPDX-License-Identifier: Apache-2.0
// Saturated links against the closed forms of docs/validation.md: bytes exactly, time and goodput
// within their bounds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/link_model.h"
#include "validation/simulate_in_child.h"

namespace flitwise::closed_form_test {
namespace {

using Json = nlohmann::ordered_json;

struct Link {
  const char* preset;
  LinkShape shape;
};
constexpr Link kLinks[] = {{"gen1x8", {1, 8, 256, 512}},   {"gen2x8", {2, 8, 256, 512}},
                           {"gen3x8", {3, 8, 256, 512}},   {"gen3x16", {3, 16, 256, 512}},
                           {"gen4x16", {4, 16, 256, 512}}, {"gen5x16", {5, 16, 256, 512}}};

/// Overheads of a posted write: 8 bytes of framing and LCRC, 16 of header, 4 of a prefix.
struct Form {
  const char* identity;
  const char* dhi_form;
  unsigned overhead;
  unsigned identity_bytes;
};
constexpr Form kForms[] = {
    {"none", "rid_direct", 24, 0}, {"bdf", "rid_direct", 24, 0}, {"bdf_pasid", "rid_direct", 28, 4},
    {"dhi", "rid_direct", 24, 0},  {"dhi", "tag", 24, 0},        {"dhi", "prefix", 28, 4}};

constexpr std::uint64_t kPayloads[] = {8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};

std::uint64_t tlps_of(std::uint64_t payload) {
  return (payload + 255) / 256;
}

/// Enough TLPs for the edges of a run not to matter.
std::uint64_t requests_of(std::uint64_t payload) {
  return 8000 / tlps_of(payload);
}

Simulation saturated(const Link& link, const Form& form, const char* kind, std::uint64_t payload,
                     std::uint64_t requests) {
  return {
      "checks/saturated.yaml",
      {fmt::format("link.preset={}", link.preset), fmt::format("link.identity={}", form.identity),
       fmt::format("link.dhi_form={}", form.dhi_form), fmt::format("workload.kind={}", kind),
       fmt::format("workload.payload={}B", payload), fmt::format("workload.requests={}", requests),
       "workload.domains=1", "run.warmup=64"}};
}

/// The fields of one direction that the bounds need.
struct Counted {
  explicit Counted(const Json& direction) : wire(direction.at("wire_bytes")) {
    payload = direction.at("payload_bytes").get<double>();
    tlps = direction.at("tlps").get<double>();
    goodput =
        direction.at("goodput_gbps").is_null() ? 0 : direction.at("goodput_gbps").get<double>();
    window_ns = direction.at("window_ns").get<double>();
  }
  double bytes(const char* part) const { return wire.at(part).get<double>(); }
  /// What TLPs took of the wire.
  double tlp_bytes() const {
    return bytes("total") - bytes("idle") - bytes("phy") - bytes("dllp") - bytes("replay");
  }
  const Json& wire;
  double payload, tlps, goodput, window_ns;
};

void expect_parts_add_up(const Counted& counted) {
  double sum = 0;
  for (const auto& [part, bytes] : counted.wire.items()) {
    sum += part == "total" ? 0 : bytes.get<double>();
  }
  EXPECT_DOUBLE_EQ(sum, counted.bytes("total"));
}

// With 8b/10b a tenth of the raw bits of `phy` is line coding, which Raw has left out already.
double physical_share(const Link& link, const Counted& counted) {
  const double coding = link.shape.generation <= 2 ? 0.8 : 128.0 / 130.0;
  return 1 - (counted.bytes("total") - counted.bytes("phy")) / (counted.bytes("total") * coding);
}

void expect_write(const Link& link, const Form& form, std::uint64_t payload, const Json& result) {
  ASSERT_FALSE(result.contains("failed")) << result;
  const Counted up(result.at("links")[0].at("up"));
  const std::uint64_t requests = requests_of(payload);
  const std::uint64_t n = tlps_of(payload);
  EXPECT_EQ(up.payload, static_cast<double>(requests * payload));
  EXPECT_EQ(up.tlps, static_cast<double>(requests * n));
  EXPECT_EQ(up.tlp_bytes(), static_cast<double>(requests * (n * form.overhead + payload)))
      << "bytes per TLP";
  EXPECT_EQ(up.bytes("identity"), static_cast<double>(requests * n * form.identity_bytes));
  expect_parts_add_up(up);
  const double ceiling = write_ceiling_gbps(link.shape, payload, form.overhead);
  EXPECT_LE(up.goodput, ceiling * (1 + 1e-9));
  EXPECT_GE(up.goodput, ceiling * 0.99);
}

// [LNK-5.1]
TEST(ClosedForm, PostedWritesOfEveryLinkFormAndPayloadMeetTheCeilingAndNeverPassIt) {
  for (const Link& link : kLinks) {
    std::vector<Simulation> runs;
    for (const Form& form : kForms) {
      for (const std::uint64_t payload : kPayloads) {
        runs.push_back(saturated(link, form, "posted_write", payload, requests_of(payload)));
      }
    }
    const std::vector<Json> results = simulate_in_children(runs);
    std::size_t i = 0;
    for (const Form& form : kForms) {
      for (const std::uint64_t payload : kPayloads) {
        SCOPED_TRACE(runs[i].text());
        expect_write(link, form, payload, results[i++]);
      }
    }
  }
}

// The window of a run is its TLPs, its DLLPs and its physical layer, and nothing else.
TEST(ClosedForm, TimeIsWhatTheCountedBytesTake) {
  for (const Link& link : kLinks) {
    const Simulation run = saturated(link, kForms[0], "posted_write", 64, 40'000);
    SCOPED_TRACE(run.text());
    const Json result = simulate_in_children({run})[0];
    ASSERT_FALSE(result.contains("failed")) << result;
    const Counted up(result.at("links")[0].at("up"));
    const double used = up.bytes("total") - up.bytes("phy");
    const double expected =
        expected_write_gbps(link.shape, 64, 24, physical_share(link, up), up.bytes("dllp") / used);
    EXPECT_NEAR(up.goodput / expected, 1, 0.001);
  }
}

TEST(ClosedForm, ReadsAreHeldUpByTheirCompletionsAlone) {
  for (const Link& link : kLinks) {
    if (link.shape.generation < 3) {
      continue;
    }
    for (const std::uint64_t payload : {64U, 256U, 512U}) {
      const Simulation run = saturated(link, kForms[0], "read", payload, 20'000);
      SCOPED_TRACE(run.text());
      const Json result = simulate_in_children({run})[0];
      ASSERT_FALSE(result.contains("failed")) << result;
      const Counted down(result.at("links")[0].at("down"));
      EXPECT_EQ(down.payload, 20'000.0 * static_cast<double>(payload));
      const double used = down.bytes("total") - down.bytes("phy");
      const double ceiling = write_ceiling_gbps(link.shape, payload, 20);
      const double expected = expected_write_gbps(
          link.shape, payload, 20, physical_share(link, down), down.bytes("dllp") / used);
      EXPECT_LE(down.goodput, ceiling);
      EXPECT_GE(down.goodput, expected * 0.99);
    }
  }
}

std::vector<double> goodputs(const std::vector<Simulation>& runs) {
  std::vector<double> values;
  for (const Json& result : simulate_in_children(runs)) {
    values.push_back(result.contains("failed") ? 0
                                               : Counted(result.at("links")[0].at("up")).goodput);
  }
  return values;
}

TEST(IdentityForms, APasidPrefixCostsItsShareOfWriteBandwidth) {
  const Link& link = kLinks[5];
  for (const std::uint64_t payload : kPayloads) {
    const std::vector<double> got =
        goodputs({saturated(link, kForms[1], "posted_write", payload, 40'000 / tlps_of(payload)),
                  saturated(link, kForms[2], "posted_write", payload, 40'000 / tlps_of(payload))});
    const double n = static_cast<double>(tlps_of(payload));
    const double expected = 4 * n / (28 * n + static_cast<double>(payload));
    EXPECT_DOUBLE_EQ(share_lost(256, payload, 24, 4), expected);
    EXPECT_NEAR(1 - got[1] / got[0], expected, 0.001) << payload << " B";
  }
}

TEST(IdentityForms, NoneAndBdfAreTheSameBytes) {
  for (const char* kind : {"posted_write", "read", "read_write"}) {
    const std::vector<Json> results =
        simulate_in_children({saturated(kLinks[5], kForms[0], kind, 64, 4000),
                              saturated(kLinks[5], kForms[1], kind, 64, 4000)});
    for (const char* way : {"up", "down"}) {
      EXPECT_EQ(results[0].at("links")[0].at(way), results[1].at("links")[0].at(way)) << kind;
    }
  }
}

TEST(IdentityForms, TheControlFormsSaveNothing) {
  const std::vector<Json> results =
      simulate_in_children({saturated(kLinks[5], kForms[2], "posted_write", 64, 4000),
                            saturated(kLinks[5], kForms[5], "posted_write", 64, 4000)});
  const Counted pasid(results[0].at("links")[0].at("up"));
  const Counted prefix(results[1].at("links")[0].at("up"));
  EXPECT_EQ(pasid.tlp_bytes(), prefix.tlp_bytes());
  const Form ohc{"dhi", "ohc", 28, 4};
  const Json refused = simulate_in_children({saturated(kLinks[5], ohc, "posted_write", 64, 10)})[0];
  ASSERT_TRUE(refused.contains("failed"));
  EXPECT_NE(refused.at("failed").get<std::string>().find("flit mode"), std::string::npos);
}

}  // namespace
}  // namespace flitwise::closed_form_test
