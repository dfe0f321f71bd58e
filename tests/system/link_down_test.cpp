// SPDX-License-Identifier: Apache-2.0
// A link that software takes down amid traffic, and what comes up again. [LNK-10.4] to [LNK-10.8]
#include <gtest/gtest.h>

#include <systemc>

#include <algorithm>

#include "config_space/registers.h"
#include "machine_bench.h"

namespace flitwise::link_down_test {
namespace {

constexpr Bdf kRootPort = Bdf::of(0, 1, 0);

Config reading_and_writing(Identity identity) {
  Config config;
  config.link.identity = identity;
  config.workload.kind = WorkloadKind::kReadWrite;
  config.workload.requests = 20'000;
  config.workload.domains = 16;
  return config;
}

class LinkDownBench : public MachineBench {
 public:
  explicit LinkDownBench(const Config& config) : MachineBench(config) {}

  CfgAccess link_disable(bool is_set) {
    CfgAccess access;
    access.write = true;
    access.target = kRootPort;
    access.offset = static_cast<std::uint16_t>(
        machine.bridge().space(0).find(cfg::kCapPcie).value() + cfg::pcie::kLinkControl);
    access.byte_enables = 0x3;
    access.value = is_set ? cfg::pcie::kLinkDisable : 0;
    return access;
  }
  bool is_active() {
    return (machine.bridge().space(0).read(link_disable(false).offset) & cfg::pcie::kLinkActive) !=
           0;
  }
  Link& link() { return *machine.fabric().links[0].link; }
  std::uint64_t lost() {
    return link().losses(LinkSide::kUpstream).tlps + link().losses(LinkSide::kDownstream).tlps;
  }
  std::uint64_t host_errors(const char* kind) {
    const auto& errors = machine.bridge().errors();
    const auto found = errors.find(kind);
    return found == errors.end() ? 0 : found->second;
  }
};

void expect_all_checks(const Machine& machine) {
  for (const CheckResult& check : machine.result().checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
}

TEST(LinkDown, LNK_10_5_HostRequestsThatAreOutAreAnsweredWithUr) {
  LinkDownBench bench(reading_and_writing(Identity::kBdfPasid));
  ASSERT_TRUE(bench.bring_up());
  HostAnswer answer;
  bool is_done = false;
  bench.machine.bridge().read(bench.device().bar.base, 4, [&](const HostAnswer& got) {
    answer = got;
    is_done = true;
  });
  bench.config(bench.link_disable(true));
  ASSERT_TRUE(bench.run_until([&] { return is_done; }, Time::from_us(10)));
  EXPECT_EQ(answer.status, CplStatus::kUR);
  EXPECT_FALSE(answer.is_timeout);
  EXPECT_EQ(bench.host_errors("link_down"), 1U);
  EXPECT_EQ(bench.host_errors("completion_timeout"), 0U);
}

// More than there are tags: those that wait for one are answered too. [LNK-10.5]
TEST(LinkDown, LNK_10_5_RequestsThatWaitForATagAreAnsweredToo) {
  LinkDownBench bench(reading_and_writing(Identity::kBdfPasid));
  ASSERT_TRUE(bench.bring_up());
  unsigned refused = 0;
  constexpr unsigned kRequests = 700;
  for (unsigned i = 0; i < kRequests; ++i) {
    bench.machine.bridge().read(bench.device().bar.base, 4, [&](const HostAnswer& got) {
      refused += got.status == CplStatus::kUR ? 1 : 0;
    });
  }
  bench.config(bench.link_disable(true));
  ASSERT_TRUE(bench.run_until([&] { return refused == kRequests; }, Time::from_us(10)));
}

TEST(LinkDown, LNK_10_8_LinkActiveSaysWhetherItIsUp) {
  LinkDownBench bench(reading_and_writing(Identity::kBdfPasid));
  ASSERT_TRUE(bench.bring_up());
  EXPECT_TRUE(bench.is_active());
  bench.config(bench.link_disable(true));
  EXPECT_FALSE(bench.is_active());
  bench.run_until([] { return false; }, Time::from_us(50));
  EXPECT_FALSE(bench.is_active());
  bench.config(bench.link_disable(false));
  EXPECT_FALSE(bench.is_active());
  ASSERT_TRUE(bench.run_until([&] { return bench.is_active(); }, Time::from_us(100)));
  EXPECT_TRUE(bench.link().is_up());
}

// Software may change its mind while the link trains.
TEST(LinkDown, LNK_10_4_DisabledAgainWhileItTrains) {
  LinkDownBench bench(reading_and_writing(Identity::kBdfPasid));
  ASSERT_TRUE(bench.bring_up());
  for (int i = 0; i < 3; ++i) {
    bench.config(bench.link_disable(true));
    bench.config(bench.link_disable(false));
  }
  ASSERT_TRUE(bench.run_until([&] { return bench.is_active(); }, Time::from_us(100)));
  ASSERT_TRUE(bench.finish());
  expect_all_checks(bench.machine);
}

// The device's own requests fail at once, the rest of its work waits for software, and both ends
// have their books in order. [LNK-10.4] [LNK-10.6] [LNK-10.7] [DHI D4]
TEST(LinkDown, LNK_10_6_AmidTrafficAllIsDoneOrCountedAsLost) {
  LinkDownBench bench(reading_and_writing(Identity::kDhi));
  ASSERT_TRUE(bench.bring_up());
  bench.machine.start();
  bench.run_until([] { return false; }, Time::from_us(5));
  const std::size_t out = bench.machine.endpoint("ep0")->outstanding();
  ASSERT_GT(out, 0U);
  bench.config(bench.link_disable(true));
  EXPECT_EQ(bench.machine.endpoint("ep0")->outstanding(), 0U);
  EXPECT_GT(bench.lost(), 0U);
  EXPECT_GT(bench.machine.endpoint("ep0")->errors().at("link_lost"), 0U);
  bench.config(bench.link_disable(false));
  ASSERT_TRUE(bench.run_until([&] { return bench.is_active(); }, Time::from_us(100)));
  EXPECT_FALSE(bench.machine.endpoint("ep0")->dhi().is_active());
  bench.machine.boot(1);
  ASSERT_TRUE(bench.run_until([&] { return bench.machine.booted().is_done(); }));
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.machine.endpoint("ep0")->dhi().table()->epoch(), 1);
  const auto& errors = bench.machine.endpoint("ep0")->errors();
  EXPECT_EQ(errors.count("unexpected_completion"), 0U);
  EXPECT_EQ(errors.count("completion_timeout"), 0U);
  expect_all_checks(bench.machine);
}

}  // namespace
}  // namespace flitwise::link_down_test
