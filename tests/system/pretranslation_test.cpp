// SPDX-License-Identifier: Apache-2.0
// RDMA adapters whose firmware translates static structures ahead of use: what goes out for them,
// what the agent has to do for it, and what an invalidation leaves.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "common/ranges.h"
#include "config/load.h"
#include "rdma/hca_result.h"
#include "rdma/rdma_sender.h"
#include "system/machine.h"

namespace flitwise::pretranslation_test {
namespace {

using ::testing::IsEmpty;

/// Memory requests of a device for its static structures, and all others.
class StaticLog final : public TraceSink {
 public:
  explicit StaticLog(std::uint64_t first, std::uint64_t end) : first_(first), end_(end) {}
  void record(const TraceEvent& event) override {
    const Tlp& tlp = event.packet->tlp;
    if (event.packet->kind != PacketKind::kTlp || event.is_replay || !event.is_up ||
        !is_memory_request(tlp.type)) {
      return;
    }
    ++all[static_cast<std::size_t>(tlp.at)];
    if (!event.packet->counts) {
      return;
    }
    const bool is_static = tlp.address >= first_ && tlp.address < end_;
    ++(is_static ? statics : others)[static_cast<std::size_t>(tlp.at)];
  }
  std::array<std::uint64_t, 4> statics{}, others{}, all{};  // by address type; all: warm-up, too

 private:
  std::uint64_t first_, end_;
};

class Adapters {
 public:
  explicit Adapters(const std::string& more, const std::vector<std::string>& sets = {}) {
    LoadOptions options;
    options.sets = sets;
    machine_ = std::make_unique<Machine>(config_from_text(
        "system: {devices: 2, instances: {ep0: {device.rdma.peer: ep1}}}\n"
        "link: {preset: gen5x16}\n"
        "device: {rdma: {mtu: 512, queue: 16, cq: 64, pretranslation: {enabled: true}}}\n"
        "workload: {via: rdma, domains: 3, requests: 600, payload: 600B, buffer_size: 128KiB, "
        "rdma: {write: 3, read: 2, send: 2, fetch_add: 1, cas: 1}}\n" +
            more,
        "run.yaml", "", options));
  }
  RunResult run() {
    machine_->bring_up();
    machine_->start();
    machine_->run_until_quiet();
    RunResult result = machine_->result();
    for (const CheckResult& check : result.checks) {
      EXPECT_TRUE(check.ok || is_expected_to_fail) << check.name << ": " << check.detail;
    }
    EXPECT_GE(sum_of<std::uint64_t>(result.rows<VerbsResult>(),
                                    [](const VerbsResult& row) { return row.operations; }),
              600U);
    return result;
  }
  const FabricDevice& device(const char* name = "ep0") { return *machine_->fabric().find(name); }
  RdmaSender& sender() { return static_cast<RdmaSender&>(*device().sender); }
  Machine& machine() { return *machine_; }
  bool is_expected_to_fail = false;

 private:
  std::unique_ptr<Machine> machine_;
};

const EpsResult& eps(const RunResult& result, unsigned device = 0) {
  return result.rows<EpsResult>().at(device);
}
const HcaResult& hca(const RunResult& result, unsigned device = 0) {
  return result.rows<HcaResult>().at(device);
}

constexpr const char* kFirstStage = "iommu: {translation: first_stage}\n";

// [EP-11] [EP-C1] [EP-C5]
TEST(Pretranslation, EP_4_EachStructureInAPageIsTranslatedAtBoot) {
  Adapters run(kFirstStage);
  const RunResult result = run.run();
  for (const unsigned device : {0U, 1U}) {
    EXPECT_EQ(eps(result, device).structures, 4U);
    EXPECT_EQ(eps(result, device).translated, 3U);  // two completion queues are 8 KiB
    EXPECT_EQ(eps(result, device).requests, 3U);
    EXPECT_GT(hca(result, device).pretranslated, 0U);
    EXPECT_GT(hca(result, device).untranslated, 0U);
  }
  EXPECT_THAT(result.errors, IsEmpty());
}

// The agent has no cache that could hide a walk: each request that it translates takes one.
constexpr const char* kNoCache =
    "iommu: {translation: first_stage, page: 2MiB, iotlb: {entries: none}}\n";
const std::vector<std::string> kLargePages = {"device.rdma.pretranslation.page_size=2MiB",
                                              "run.warmup=100"};

TEST(Pretranslation, EP_5_StaticAccessesCauseNoWalkAfterBoot) {
  Adapters run(kNoCache, kLargePages);
  const WorkloadConfig& workload = run.device().config.workload;
  const RdmaArea area({workload.buffer_size, 16, 64, 64, 600, 3}, workload.buffer_base, 0U);
  const FabricDevice& peer = run.device("ep1");
  const std::uint64_t peer_base = peer.config.workload.buffer_base;
  const std::uint64_t statics = area.own(0) - area.base();
  StaticLog log(area.base(), area.own(0)), peer_log(peer_base, peer_base + statics);
  run.machine().fabric().links.at(run.device().link).link->watch(&log);
  run.machine().fabric().links.at(peer.link).link->watch(&peer_log);
  const RunResult result = run.run();
  // By address type; the word for atomics is payload.
  EXPECT_GT(log.statics[2], 300U);
  EXPECT_LE(log.statics[0] + peer_log.statics[0], 4U * result.rows<VerbsResult>().at(0).atomics);
  EXPECT_EQ(log.others[2] + peer_log.others[2], 0U);
  EXPECT_EQ(hca(result, 0).untranslated, 0U);
  EXPECT_EQ(hca(result, 1).untranslated, 0U);
  EXPECT_EQ(eps(result).requests, 0U) << "since the boot";
  EXPECT_GT(hca(result).pretranslated_read, 100);
  EXPECT_LT(hca(result).pretranslated_read, 1000);
  // Payload alone is left for the agent, and what of it comes together shares a walk.
  const IommuResult& agent = result.rows<IommuResult>().at(0);
  const std::uint64_t looked_up = agent.requests - agent.translated_requests;
  // The logs have the warm-up too, 100 of 700 work requests.
  const auto in_window = [](std::uint64_t logged) { return static_cast<double>(logged) * 6 / 7; };
  const std::uint64_t logged = log.all[0] + log.all[1] + peer_log.all[0] + peer_log.all[1];
  EXPECT_NEAR(static_cast<double>(looked_up), in_window(logged), in_window(logged) * 0.1);
  EXPECT_LE(agent.walks, looked_up);
  const double translated = in_window(log.all[2] + peer_log.all[2]);
  EXPECT_NEAR(static_cast<double>(agent.translated_requests), translated, translated * 0.1);
}

// Permissions are looked at for what comes translated.
TEST(Pretranslation, SEC_01_SecureAtsPermitsWhatIsPretranslated) {
  Adapters run("iommu: {translation: first_stage, secure_ats: true}\n");
  const RunResult result = run.run();
  const IommuResult& agent = result.rows<IommuResult>().at(0);
  EXPECT_EQ(agent.permission_denied, 0U);
  EXPECT_GE(agent.permission_checks, hca(result).pretranslated);
}

class PretranslationForms : public ::testing::TestWithParam<const char*> {};

TEST_P(PretranslationForms, EP_1_GoesWithEachKindOfTablesAndNames) {
  std::vector<std::string> sets;
  std::istringstream words(GetParam());
  for (std::string one; words >> one;) {
    sets.push_back(one);
  }
  Adapters run(kFirstStage, sets);
  const RunResult result = run.run();
  EXPECT_EQ(eps(result).translated, 3U);
  EXPECT_GT(hca(result).pretranslated, 100U);
}
INSTANTIATE_TEST_SUITE_P(Forms, PretranslationForms,
                         ::testing::Values("iommu.translation=second_stage",
                                           "iommu.translation=nested",
                                           "link.identity=bdf workload.domains=1",
                                           "link.identity=dhi", "device.atc.enabled=true",
                                           "system.topology=switch",
                                           "device.rdma.pretranslation.requests=1"));

// Three virtual machines with guest addresses of their own: each function asks for its structures.
TEST(Pretranslation, EP_1_EachFunctionHasStructuresOfItsOwn) {
  Adapters run(kFirstStage, {"iommu.translation=nested", "device.functions.count=4",
                             "workload.functions=vfs", "workload.domains=6"});
  const RunResult result = run.run();
  EXPECT_EQ(eps(result).structures, 12U);
  EXPECT_EQ(eps(result).translated, 9U);
  EXPECT_EQ(eps(result).requests, 6U) << "states and receive rings begin in one page";
  EXPECT_GT(hca(result).pretranslated, 100U);
  EXPECT_EQ(hca(result).untranslated_read, 0) << "completions alone are no candidates";
}

// Pages lie elsewhere than addresses say, and a driver takes translations back all the time.
constexpr const char* kStorm =
    "iommu: {translation: first_stage}\n"
    "host: {iommu_driver: {enabled: true, unmap_rate: 2000000, unmap_pages: 2, batch: 4, step: "
    "20ns}}\n";

class PretranslationStorm : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  std::string mode_ = std::get<0>(GetParam());
};
class PretranslationStormForGood : public PretranslationStorm {};

TEST_P(PretranslationStorm, EP_7_InvalidationsTakeTheAddressAndTheNextLookSetsItAnew) {
  Adapters run(kStorm, {"device.rdma.pretranslation.on_invalidation=" + mode_,
                        std::get<1>(GetParam()), "device.rdma.pretranslation.timing.period=3us",
                        "host.iommu_driver.flush_after=5us"});
  const RunResult result = run.run();
  EXPECT_GT(eps(result).invalidations_hit, 0U);
  EXPECT_GT(eps(result).requests, 3U);
  EXPECT_GT(hca(result).pretranslated, 20U);
  EXPECT_EQ(eps(result).waits > 0, mode_ == "clear");
  EXPECT_EQ(eps(result).faults, 0U);
  EXPECT_THAT(result.violations, IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Machines, PretranslationStorm,
                         ::testing::Combine(::testing::Values("restore", "clear"),
                                            ::testing::Values("host.iommu_driver.mode=strict",
                                                              "host.iommu_driver.mode=deferred",
                                                              "device.atc.enabled=true",
                                                              "iommu.secure_ats=true")));

TEST_P(PretranslationStormForGood, EP_9_WhatIsNotTranslatedAgainStaysUntranslated) {
  Adapters run(kStorm, {"device.rdma.pretranslation.on_invalidation=" + mode_,
                        std::get<1>(GetParam()), "device.rdma.pretranslation.timing.period=3us",
                        "host.iommu_driver.mode=deferred", "host.iommu_driver.flush_after=1us"});
  const RunResult result = run.run();
  EXPECT_EQ(eps(result).translated, 0U);
  EXPECT_EQ(eps(result).requests, 3U);
  EXPECT_GT(hca(result).untranslated, hca(result).pretranslated);
}
INSTANTIATE_TEST_SUITE_P(
    Modes, PretranslationStormForGood,
    ::testing::Combine(::testing::Values("restore", "clear"),
                       ::testing::Values("device.rdma.pretranslation.retranslate=false")));

/// Firmware that never gives up what it has been told once.
class Forgetful final : public StaticTranslations {
 public:
  explicit Forgetful(StaticTranslations& real) : real_(real) {}
  StructureAccess access(const StructureBytes& bytes) override {
    const StructureAccess access = real_.access(bytes);
    std::uint64_t& shift = shifts_[static_cast<std::size_t>(bytes.structure)];
    is_real_ = access.at == AddressType::kTranslated;
    if (is_real_) {
      shift = access.address - bytes.address;
    }
    return shift == 0 ? access
                      : StructureAccess{StructureAccess::Verdict::kGo, AddressType::kTranslated,
                                        bytes.address + shift};
  }
  void begin(const StructureBytes& bytes, std::uint32_t token) override {
    real_.begin(bytes, token);
    open_[static_cast<std::size_t>(bytes.structure)] += is_real_ ? 1 : 0;
  }
  void end(unsigned function, StaticStructure structure) override {
    unsigned& open = open_[static_cast<std::size_t>(structure)];
    if (open > 0) {
      --open;
      real_.end(function, structure);
    }
  }
  void answered(std::uint32_t request, const TranslationEntry* entry, Time now) override {
    real_.answered(request, entry, now);
  }
  void invalidated(unsigned function, unsigned itag, const PageRange& range,
                   const InvalidationScope& scope, Time now) override {
    real_.invalidated(function, itag, range, scope, now);
  }
  void enabled(unsigned function, bool is_enabled, Time now) override {
    real_.enabled(function, is_enabled, now);
  }

 private:
  StaticTranslations& real_;
  std::array<std::uint64_t, kStaticStructures> shifts_{};
  std::array<unsigned, kStaticStructures> open_{};
  bool is_real_ = false;
};

TEST(Pretranslation, EP_7_TheMonitorSeesAStaleAddressLeave) {
  Adapters run(kStorm, {"host.iommu_driver.mode=deferred", "host.iommu_driver.flush_after=5us"});
  run.is_expected_to_fail = true;
  Forgetful firmware(run.sender().eps()->structures());
  run.device().endpoint->attach(firmware);
  const RunResult result = run.run();
  ASSERT_FALSE(result.violations.empty());
  EXPECT_EQ(result.violations[0].rule, "EP-7");
}

}  // namespace
}  // namespace flitwise::pretranslation_test
