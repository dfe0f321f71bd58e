// SPDX-License-Identifier: Apache-2.0
// A device cache between an engine and a link of the test. docs/coherence.md
#include "cxl/cache_device.h"

#include <gtest/gtest.h>

#include "model/cxl/fake_cxl_link.h"
#include "model/endpoint/device_fakes.h"

namespace flitwise::cache_device_test {
namespace {

Config config_of_cache() {
  Config config;
  config.device.timing.clock = Time::from_ns(1);
  config.device.cxl.cache.size = Bytes{64} << 10;
  config.device.cxl.cache.lookup = Time::from_ns(5);
  return config;
}

class CacheDeviceTest : public testing::Test {
 protected:
  CacheDeviceTest() {
    link_.to_agent.bind(cache_.from_link);
    cache_.to_link.bind(link_.from_agent);
    cache_.attach(engine_);
    cache_.start_window();
    run(0);
  }
  static void run(double ns) { sc_core::sc_start(ns, sc_core::SC_NS); }
  void ask(Op op, std::uint64_t address) {
    Transfer one;
    one.op = op;
    one.address = address;
    one.bytes = 64;
    engine_.work.push_back(one);
    cache_.wake();
    run(2);
  }
  CxlCacheResult result() const {
    RunResult run;
    cache_.report(run);
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

  const Config config_ = config_of_cache();
  PacketPool pool_;
  LatencyTracer tracer_{{}};
  test::FakeCxlLink link_{"link"};
  test::FakeEngine engine_;
  CxlCacheDevice cache_{"cache", config_.device, 0, pool_, tracer_, nullptr};
};

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
  cache_.link_lost(0);
  ask(Op::kRead, 0x5000);
  ASSERT_GE(engine_.ends.size(), 1U);
  EXPECT_EQ(engine_.ends[0].status, TransferStatus::kTimeout);
  const std::size_t before = link_.sent.size();
  cache_.link_up();
  run(10);
  EXPECT_GT(link_.sent.size(), before);
}

TEST_F(CacheDeviceTest, AnAnswerToNoRequestIsCounted_COH_7_1) {
  CxlMessage message;
  message.channel = CxlChannel::kH2dData;
  message.id = 3;
  const CxlLine line{};
  link_.deliver(pool_, message, &line);
  EXPECT_EQ(cache_.errors()["unexpected_cxl_message"], 1U);
  EXPECT_TRUE(engine_.ends.empty());
}

}  // namespace
}  // namespace flitwise::cache_device_test
