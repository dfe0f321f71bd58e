// SPDX-License-Identifier: Apache-2.0
// A device cache between an engine and a link of the test. docs/coherence.md
#include "cxl/cache_device.h"

#include <gtest/gtest.h>

#include "model/cxl/fake_cxl_link.h"
#include "model/endpoint/device_fakes.h"

namespace flitwise::cache_device_test {
namespace {

/// Answers as the test says, and notes which pins come back.
class FakeNames final : public LineNames {
 public:
  Handles::Answer answer;
  std::vector<DomainId> asked;
  std::vector<std::uint32_t> over;  ///< residencies
  std::function<void()> changed;

  Handles::Answer acquire_for_line(const Transfer& transfer, Time /*now*/) override {
    asked.push_back(transfer.domain);
    return answer;
  }
  void line_over(HandlePin pin, Time /*now*/) override { over.push_back(pin.residency); }
  const DeviceIdentity& identity_of(DomainId /*domain*/) const override { return identity_; }
  ContextId context_of(DomainId /*domain*/) const override { return {}; }
  void on_change(std::function<void()> tell) override { changed = std::move(tell); }

 private:
  const DeviceIdentity identity_{Bdf::of(1, 0, 0), Pasid{7}};
};

/// The page at an address of the core is another one of the host.
class FakeAddresses final : public LineAddresses {
 public:
  Outcome outcome = Outcome::kKnown;
  std::vector<std::uint64_t> asked;
  unsigned begun = 0, to_home = 0, ended = 0;
  std::function<void(Time)> changed;

  Answer translate(const Transfer& /*transfer*/, std::uint64_t line, bool /*is_write*/,
                   Time /*now*/) override {
    asked.push_back(line);
    return {outcome, line + 0x100000, Time::from_ns(3)};
  }
  Use begin(bool asks_home) override {
    ++begun;
    to_home += asks_home ? 1 : 0;
    return asks_home ? Use{0, 5, 1} : Use{};
  }
  void end(const Use& use, Time /*now*/) override { ended += use.slot == 5 ? 1 : 0; }
  void on_change(std::function<void(Time)> tell) override { changed = std::move(tell); }
};

Config config_of_cache() {
  Config config;
  config.device.timing.clock = Time::from_ns(1);
  config.device.cxl.cache.size = Bytes{64} << 10;
  config.device.cxl.cache.lookup = Time::from_ns(5);
  return config;
}

class CacheDeviceTest : public testing::Test {
 protected:
  explicit CacheDeviceTest(CxlIdentity form = CxlIdentity::kSpec, OnMiss on_miss = OnMiss::kStall) {
    config_.link.cxl.identity = form;
    config_.device.dhi.on_miss = on_miss;
    cache_ = std::make_unique<CxlCacheDevice>("cache", config_.device, CxlDomainField::of(config_),
                                              names_, std::uint8_t{0}, pool_, tracer_, nullptr);
    link_.to_agent.bind(cache_->from_link);
    cache_->to_link.bind(link_.from_agent);
    cache_->attach(engine_);
    cache_->start_window();
    run(0);
  }
  static void run(double ns) { sc_core::sc_start(ns, sc_core::SC_NS); }
  void ask(Op op, std::uint64_t address, DomainId domain = DomainId{0}) {
    Transfer one;
    one.domain = domain;
    one.op = op;
    one.address = address;
    one.bytes = 64;
    engine_.work.push_back(one);
    cache_->wake();
    run(2);
  }
  CxlCacheResult result() const {
    RunResult run;
    cache_->report(run);
    return run.rows<CxlCacheResult>().at(0);
  }
  void grant(cxl::GoState state, const CxlLine& line) {
    CxlMessage message;
    message.channel = CxlChannel::kH2dRsp;
    message.opcode = static_cast<std::uint8_t>(cxl::H2dRsp::kGo);
    message.id = link_.message(link_.sent.size() - 1).id;
    message.rsp_data = static_cast<std::uint16_t>(state);
    link_.deliver(pool_, message);
    message = {};
    message.channel = CxlChannel::kH2dData;
    message.id = link_.message(link_.sent.size() - 1).id;
    link_.deliver(pool_, message, &line);
    run(20);
  }

  Config config_ = config_of_cache();
  FakeNames names_;
  PacketPool pool_;
  LatencyTracer tracer_{{}};
  test::FakeCxlLink link_{"link"};
  test::FakeEngine engine_;
  std::unique_ptr<CxlCacheDevice> cache_;
};

/// Its requests carry handles.
struct HandlesTest : CacheDeviceTest {
  explicit HandlesTest(OnMiss on_miss = OnMiss::kStall)
      : CacheDeviceTest(CxlIdentity::kDhiAdded, on_miss) {
    name_by(5);
  }
  void name_by(std::uint16_t handle) {
    names_.answer = {Handles::Outcome::kHandle, Dhi{handle}, {Dhi{handle}, 3}, false, {}};
  }
};

TEST_F(HandlesTest, ARequestCarriesItsHandleUntilItIsAnswered_CXL_7_8) {
  ask(Op::kRead, 0x4000, DomainId{2});
  ASSERT_EQ(link_.sent.size(), 1U);
  EXPECT_EQ(link_.message(0).identity, 5U);
  EXPECT_EQ(names_.asked, std::vector<DomainId>{DomainId{2}});
  EXPECT_TRUE(names_.over.empty());
  grant(cxl::GoState::kShared, CxlLine{});
  EXPECT_EQ(names_.over, std::vector<std::uint32_t>{3}) << "the line stays without it";
  EXPECT_EQ(cache_->rules().state(0x4000), LineState::kShared);
}

TEST_F(HandlesTest, AHitAsksForNoHandle_CXL_7_8) {
  ask(Op::kRead, 0x4000);
  grant(cxl::GoState::kShared, CxlLine{});
  ask(Op::kRead, 0x4000);
  run(20);
  EXPECT_EQ(engine_.ends.size(), 2U);
  EXPECT_EQ(names_.asked.size(), 1U);
}

TEST_F(HandlesTest, ARequestWaitsForItsHandleAndGoesOnWhenToldOfAChange_CXL_7_8) {
  names_.answer = {};
  names_.answer.outcome = Handles::Outcome::kWait;
  ask(Op::kRead, 0x4000);
  EXPECT_TRUE(link_.sent.empty());
  name_by(6);
  names_.changed();
  run(2);
  ASSERT_EQ(link_.sent.size(), 1U);
  EXPECT_EQ(link_.message(0).identity, 6U);
}

TEST_F(HandlesTest, ARequestThatNothingNamesFails_CXL_7_8) {
  names_.answer = {};
  names_.answer.outcome = Handles::Outcome::kUnnamed;
  ask(Op::kRead, 0x4000);
  run(20);
  EXPECT_TRUE(link_.sent.empty());
  ASSERT_EQ(engine_.ends.size(), 1U);
  EXPECT_EQ(engine_.ends[0].status, TransferStatus::kUnsupportedRequest);
  EXPECT_EQ(cache_->errors()["cxl_request_unnamed"], 1U);
}

TEST_F(HandlesTest, TheLookUpTakesItsTimeInFrontOfTheLink_DHI_D7) {
  names_.answer.latency = Time::from_ns(40);
  ask(Op::kRead, 0x4000);
  run(100);
  ASSERT_EQ(link_.sent.size(), 1U);
  EXPECT_EQ(
      link_.sent[0].ready - link_.sent[0].packet->stamps[static_cast<std::size_t>(Hop::kHandle)],
      Time::from_ns(45));
}

TEST_F(HandlesTest, WithTheLinkAllHandlesAreLetGo_CXL_7_5) {
  ask(Op::kRead, 0x4000);
  cache_->link_lost(0);
  EXPECT_EQ(names_.over, std::vector<std::uint32_t>{3});
}

TEST_F(HandlesTest, ALineOfAnotherDomainLeavesFirst_COH_2_9) {
  ask(Op::kRead, 0x4000, DomainId{1});
  grant(cxl::GoState::kShared, CxlLine{});
  ask(Op::kRead, 0x4000, DomainId{2});
  ASSERT_EQ(link_.sent.size(), 2U);
  EXPECT_EQ(link_.message(1).opcode, static_cast<std::uint8_t>(cxl::D2hReq::kCleanEvict));
  EXPECT_EQ(result().hits, 0U);
  CxlMessage drop;
  drop.channel = CxlChannel::kH2dRsp;
  drop.opcode = static_cast<std::uint8_t>(cxl::H2dRsp::kGoWritePullDrop);
  drop.id = link_.message(1).id;
  link_.deliver(pool_, drop);
  run(2);
  ASSERT_EQ(link_.sent.size(), 3U);
  EXPECT_EQ(link_.message(2).opcode, static_cast<std::uint8_t>(cxl::D2hReq::kRdShared));
  EXPECT_EQ(names_.asked.back(), DomainId{2});
}

struct AddressesTest : CacheDeviceTest {
  AddressesTest() { cache_->attach(addresses_); }
  FakeAddresses addresses_;
};

TEST_F(AddressesTest, LinesStandUnderAddressesOfTheHost_CXL_7_12) {
  ask(Op::kRead, 0x4000);
  ASSERT_EQ(link_.sent.size(), 1U);
  EXPECT_EQ(link_.message(0).address, 0x104000U);
  EXPECT_EQ(addresses_.ended, 0U) << "an invalidation waits for it";
  grant(cxl::GoState::kShared, CxlLine{});
  EXPECT_EQ(addresses_.ended, 1U);
  ask(Op::kRead, 0x4000);
  run(20);
  EXPECT_EQ(engine_.ends.size(), 2U);
  EXPECT_EQ(result().hits, 1U);
  EXPECT_EQ(addresses_.begun, 2U);
  EXPECT_EQ(addresses_.to_home, 1U) << "a hit uses no translation for long";
}

TEST_F(AddressesTest, ALineWaitsForItsTranslation_CXL_7_12) {
  addresses_.outcome = LineAddresses::Outcome::kWait;
  ask(Op::kRead, 0x4000);
  EXPECT_TRUE(link_.sent.empty());
  addresses_.outcome = LineAddresses::Outcome::kKnown;
  addresses_.changed(now() + Time::from_ns(5));
  run(3);
  EXPECT_TRUE(link_.sent.empty());
  run(5);
  EXPECT_EQ(link_.sent.size(), 1U);
}

TEST_F(AddressesTest, ALineWithoutAnAddressFails_CXL_7_12) {
  addresses_.outcome = LineAddresses::Outcome::kFailed;
  ask(Op::kWrite, 0x4000);
  run(20);
  EXPECT_TRUE(link_.sent.empty());
  ASSERT_EQ(engine_.ends.size(), 1U);
  EXPECT_EQ(engine_.ends[0].status, TransferStatus::kUnsupportedRequest);
  EXPECT_EQ(cache_->errors()["cxl_request_unnamed"], 0U);
}

TEST_F(AddressesTest, WithTheLinkAllUsesEnd_CXL_7_5) {
  ask(Op::kRead, 0x4000);
  cache_->link_lost(0);
  EXPECT_EQ(addresses_.ended, 1U);
}

struct BypassTest : HandlesTest {
  BypassTest() : HandlesTest(OnMiss::kBypass) {}
};

TEST_F(BypassTest, ABitSaysWhetherTheFieldHoldsAHandle_CXL_7_4) {
  ask(Op::kRead, 0x4000);
  names_.answer = {};
  ask(Op::kRead, 0x5000);
  ASSERT_EQ(link_.sent.size(), 2U);
  EXPECT_EQ(link_.message(0).identity, 5U << 1);
  EXPECT_EQ(link_.message(1).identity, ((std::uint64_t{7} << 16 | 0x100) << 1) | 1U);
}

TEST_F(CacheDeviceTest, AMissAsksTheHomeAndALaterReadHits_COH_2_2) {
  ask(Op::kRead, 0x4000);
  ASSERT_EQ(link_.sent.size(), 1U);
  EXPECT_EQ(link_.message(0).channel, CxlChannel::kD2hReq);
  EXPECT_EQ(link_.message(0).address, 0x4000U);
  EXPECT_TRUE(engine_.ends.empty());
  CxlLine line;
  line.fill(0x77);
  grant(cxl::GoState::kShared, line);
  ASSERT_EQ(engine_.ends.size(), 1U);
  EXPECT_EQ(engine_.bytes.at(5), 0x77);

  ask(Op::kRead, 0x4000);
  run(20);
  EXPECT_EQ(link_.sent.size(), 1U) << "nothing more on the link";
  EXPECT_EQ(engine_.ends.size(), 2U);
  EXPECT_EQ(result().hits, 1U);
  EXPECT_EQ(result().reads, 2U);
}

TEST_F(CacheDeviceTest, ASnoopTakesALineThatWasWritten_COH_4_1) {
  ask(Op::kWrite, 0x4000);
  grant(cxl::GoState::kExclusive, CxlLine{});
  ASSERT_EQ(engine_.ends.size(), 1U);
  CxlMessage snoop;
  snoop.channel = CxlChannel::kH2dReq;
  snoop.opcode = static_cast<std::uint8_t>(cxl::H2dReq::kSnpInv);
  snoop.id = 12;
  snoop.address = 0x4000;
  link_.deliver(pool_, snoop);
  run(20);
  EXPECT_EQ(result().snoops, 1U);
  EXPECT_EQ(result().snoops_modified, 1U);
  bool answered = false;
  for (std::size_t i = 1; i < link_.sent.size(); ++i) {
    if (link_.message(i).channel == CxlChannel::kD2hRsp) {
      answered = true;
      EXPECT_EQ(link_.message(i).opcode, static_cast<std::uint8_t>(cxl::D2hRsp::kRspIFwdM));
      EXPECT_EQ(link_.message(i).id, 12U);
    }
  }
  EXPECT_TRUE(answered);
}

TEST_F(CacheDeviceTest, WhatIsOutFailsWithTheLinkAndNothingIsAskedUntilItIsUp_CXL_7_5) {
  ask(Op::kRead, 0x4000);
  cache_->link_lost(0);
  ask(Op::kRead, 0x5000);
  ASSERT_GE(engine_.ends.size(), 1U);
  EXPECT_EQ(engine_.ends[0].status, TransferStatus::kTimeout);
  const std::size_t before = link_.sent.size();
  cache_->link_up();
  run(10);
  EXPECT_GT(link_.sent.size(), before);
}

TEST_F(CacheDeviceTest, AnAnswerToNoRequestIsCounted_COH_7_1) {
  CxlMessage message;
  message.channel = CxlChannel::kH2dData;
  message.id = 3;
  const CxlLine line{};
  link_.deliver(pool_, message, &line);
  EXPECT_EQ(cache_->errors()["unexpected_cxl_message"], 1U);
  EXPECT_TRUE(engine_.ends.empty());
}

}  // namespace
}  // namespace flitwise::cache_device_test
