// SPDX-License-Identifier: Apache-2.0
// Trust and capabilities, from what a device asks for to what its requests may do.
// [DHI D19] [DHI D20] [DHI S3]
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/load.h"
#include "machine_bench.h"

namespace flitwise::trust_test {
namespace {

constexpr unsigned kDomains = 4;
constexpr unsigned kRequests = 400;

/// Four domains write into memory that only trusted requests may touch, or go translated.
Config config_with(const std::vector<std::string>& sets) {
  LoadOptions options;
  options.sets = sets;
  const std::string yaml = fmt::format(R"(
host: {{dhi: {{grant: configured}}}}
link: {{identity: dhi}}
device: {{dhi: {{alloc_order: ack}}}}
workload: {{kind: posted_write, domains: {}, payload: 64B, requests: {}, buffer_base: 64MiB}}
)",
                                       kDomains, kRequests);
  return config_from_text(yaml, "trust.yaml", "", options);
}

struct Outcome {
  RunResult result;
  std::uint64_t writes = 0;

  std::uint64_t errors(const std::string& kind) const {
    const auto found = result.errors.find(kind);
    return found == result.errors.end() ? 0 : found->second;
  }
  std::uint64_t rejections(const std::string& kind) const {
    const auto& all = result.rows<DhiResult>().at(0).rejections;
    const auto found = all.find(kind);
    return found == all.end() ? 0 : found->second;
  }
};

Outcome run_with(std::vector<std::string> sets) {
  MachineBench bench(config_with(sets));
  EXPECT_TRUE(bench.bring_up());
  EXPECT_TRUE(bench.run_workload());
  return {bench.machine.result(), bench.machine.root_port("ep0").counters().writes};
}

const std::string kWindowBase = "host.trusted_window.base=64MiB";
const std::string kWindowSize = "host.trusted_window.size=64MiB";

// [DHI D19] [DHI-20]
TEST(Trust, D19_TrustedDomainReachesTrustedMemory) {
  const Outcome outcome = run_with(
      {kWindowBase, kWindowSize, "device.dhi.trusted=true", "host.dhi.granted.trusted=true"});
  EXPECT_EQ(outcome.writes, kRequests);
  EXPECT_TRUE(outcome.result.errors.empty());
}

// [DHI D19] [DHI-21]
TEST(Trust, D19_DomainWithoutTrustReachesNoTrustedMemory) {
  const Outcome outcome = run_with({kWindowBase, kWindowSize, "host.dhi.granted.trusted=true"});
  EXPECT_EQ(outcome.writes, 0U);
  EXPECT_EQ(outcome.errors("untrusted_request"), kRequests);
}

// [DHI D19]
TEST(Trust, D19_RequestInFullIsNeverTrusted) {
  const Outcome outcome = run_with({kWindowBase, kWindowSize, "link.identity=bdf_pasid",
                                    "device.dhi.trusted=true", "host.dhi.granted.trusted=true"});
  EXPECT_EQ(outcome.writes, 0U);
  EXPECT_EQ(outcome.errors("untrusted_request"), kRequests);
}

// [DHI S3]
TEST(Trust, S3_DeviceCannotGiveItselfTrust) {
  const Outcome outcome = run_with({kWindowBase, kWindowSize, "device.dhi.trusted=true"});
  EXPECT_EQ(outcome.rejections("trust_not_granted"), kDomains);
  EXPECT_EQ(outcome.writes, 0U);
}

// [DHI D19] [DHI D12]
TEST(Trust, D19_SoftwareAsksForTheTrustOfTheHandlesItManages) {
  const Outcome outcome =
      run_with({kWindowBase, kWindowSize, "device.dhi.trusted=true",
                "host.dhi.granted.trusted=true", "device.dhi.management=software"});
  EXPECT_GT(outcome.writes, kRequests / 2) << "all but what went before the handles were there";
  EXPECT_EQ(outcome.writes + outcome.errors("untrusted_request"), kRequests);
}

const std::string kTranslated = "workload.at=translated";
const std::string kCheck = "host.dhi.check_capabilities=true";

// [DHI D20]
TEST(Capabilities, D20_TranslatedRequestsNeedTheirCapability) {
  const Outcome with = run_with(
      {kTranslated, kCheck, "device.dhi.capabilities=1", "host.dhi.granted.capabilities=1"});
  EXPECT_EQ(with.writes, kRequests);
  EXPECT_TRUE(with.result.errors.empty());
}

// [DHI D20]
TEST(Capabilities, D20_WithoutTheCapabilityTranslatedRequestsAreRefused) {
  const Outcome without = run_with({kTranslated, kCheck, "host.dhi.granted.capabilities=1"});
  EXPECT_EQ(without.writes, 0U);
  EXPECT_EQ(without.errors("capability_missing"), kRequests);
}

// [DHI D20]
TEST(Capabilities, D20_UntranslatedRequestsNeedNone) {
  const Outcome outcome = run_with({kCheck});
  EXPECT_EQ(outcome.writes, kRequests);
}

// [DHI S3]
TEST(Capabilities, S3_DeviceCannotGiveItselfCapabilities) {
  const Outcome outcome = run_with(
      {kTranslated, kCheck, "device.dhi.capabilities=3", "host.dhi.granted.capabilities=2"});
  EXPECT_EQ(outcome.rejections("capability_not_granted"), kDomains);
  EXPECT_EQ(outcome.writes, 0U);
}

}  // namespace
}  // namespace flitwise::trust_test
