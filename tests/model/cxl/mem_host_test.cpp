// SPDX-License-Identifier: Apache-2.0
// The host's end of CXL.mem between an engine and a link of the test. docs/cxl.md
#include "cxl/cxl_mem.h"

#include <gtest/gtest.h>

#include "model/cxl/fake_cxl_link.h"
#include "model/endpoint/device_fakes.h"

namespace flitwise::mem_host_test {
namespace {

Config with_outstanding(unsigned outstanding) {
  Config config;
  config.host.cxl_mem.outstanding = outstanding;
  config.host.cxl_mem.bridge = Time::from_ns(20);
  config.host.timing.clock = Time::from_ns(1);
  return config;
}

Transfer transfer(Op op, std::uint64_t address, std::uint32_t bytes, std::uint32_t token) {
  Transfer one;
  one.op = op;
  one.address = address;
  one.bytes = bytes;
  one.token = token;
  return one;
}

class MemHostTest : public testing::Test {
 protected:
  MemHostTest() {
    link_.to_agent.bind(host_.from_link);
    host_.to_link.bind(link_.from_agent);
    host_.attach(engine_);
    run(0);
  }
  static void run(double ns) { sc_core::sc_start(ns, sc_core::SC_NS); }
  void ask(const Transfer& one) {
    engine_.work.push_back(one);
    host_.wake();
    run(1);
  }
  void answer(std::uint16_t tag, CxlChannel channel, std::uint8_t byte = 0) {
    CxlMessage message;
    message.channel = channel;
    message.id = tag;
    CxlLine line;
    line.fill(byte);
    link_.deliver(pool_, message, channel == CxlChannel::kS2mDrs ? &line : nullptr);
  }

  const Config config_ = with_outstanding(2);
  PacketPool pool_;
  LatencyTracer tracer_{{}};
  test::FakeCxlLink link_{"link"};
  test::FakeEngine engine_;
  CxlMemHost host_{"host", config_.host, true, pool_, tracer_, 64};
};

TEST_F(MemHostTest, AWriteBecomesLinesAndPartsOfLines_CXL_3_8) {
  ask(transfer(Op::kWrite, 0x1030, 80, 0));
  ASSERT_EQ(link_.sent.size(), 2U);
  EXPECT_EQ(link_.message(0).address, 0x1000U);
  EXPECT_EQ(link_.message(0).opcode, static_cast<std::uint8_t>(cxl::M2sRwd::kMemWrPtl));
  EXPECT_EQ(link_.message(0).byte_enables, 0xffff'0000'0000'0000U);
  EXPECT_EQ(link_.message(1).address, 0x1040U);
  EXPECT_EQ(link_.message(1).opcode, static_cast<std::uint8_t>(cxl::M2sRwd::kMemWr));
  EXPECT_EQ(link_.sent[0].ready, Time::from_ns(20)) << "through the bridge";
  EXPECT_NE(link_.message(0).id, link_.message(1).id) << "a Tag each";
}

TEST_F(MemHostTest, ALineWaitsUntilATagIsFree_CXL_3_8) {
  ask(transfer(Op::kRead, 0x2000, 192, 5));
  ASSERT_EQ(link_.sent.size(), 2U) << "two Tags";
  const std::uint16_t first = link_.message(0).id;
  run(100);
  answer(first, CxlChannel::kS2mDrs, 0x11);
  run(19);
  EXPECT_EQ(link_.sent.size(), 2U) << "the answer is still in the bridge";
  run(2);
  ASSERT_EQ(link_.sent.size(), 3U);
  EXPECT_EQ(link_.message(2).id, first);
  EXPECT_EQ(host_.waits().at(0).count, 1U);
}

TEST_F(MemHostTest, TheEngineHearsOfTheEndWithTheLastLine_CXL_3_8) {
  ask(transfer(Op::kRead, 0x2020, 64, 9));
  ASSERT_EQ(link_.sent.size(), 2U);
  answer(link_.message(1).id, CxlChannel::kS2mDrs, 0x22);
  run(30);
  EXPECT_TRUE(engine_.ends.empty());
  answer(link_.message(0).id, CxlChannel::kS2mDrs, 0x11);
  run(30);
  ASSERT_EQ(engine_.ends.size(), 1U);
  EXPECT_EQ(engine_.ends[0].token, 9U);
  EXPECT_EQ(engine_.ends[0].status, TransferStatus::kDone);
  EXPECT_EQ(engine_.bytes.at(31), 0x11);
  EXPECT_EQ(engine_.bytes.at(32), 0x22);
  EXPECT_TRUE(host_.is_quiet());
  EXPECT_TRUE(host_.checks().at(0).ok);
}

TEST_F(MemHostTest, AnAnswerThatFitsNoRequestIsCounted_COH_7_1) {
  ask(transfer(Op::kRead, 0x2000, 64, 0));
  const std::uint16_t tag = link_.message(0).id;
  answer(tag, CxlChannel::kS2mNdr);      // a read has data
  answer(1 - tag, CxlChannel::kS2mDrs);  // nobody has this Tag
  answer(99, CxlChannel::kS2mDrs);       // nor is there one like this
  EXPECT_EQ(host_.errors().at("unexpected_cxl_message"), 3U);
  EXPECT_FALSE(host_.is_quiet()) << "the request still waits for its answer";
}

TEST_F(MemHostTest, WhatIsOutIsLostWithTheLinkAndNothingIsAskedUntilItIsUp_CXL_3_9) {
  ask(transfer(Op::kRead, 0x2000, 64, 1));
  host_.link_lost();
  ask(transfer(Op::kRead, 0x3000, 64, 2));
  run(10);
  ASSERT_EQ(engine_.ends.size(), 1U);
  EXPECT_EQ(engine_.ends[0].status, TransferStatus::kTimeout);
  EXPECT_EQ(link_.sent.size(), 1U);
  host_.link_up();
  run(10);
  ASSERT_EQ(link_.sent.size(), 2U);
  EXPECT_EQ(link_.message(1).address, 0x3000U);
}

TEST_F(MemHostTest, ARequestThatTheLinkRefusesGoesWhenThereIsRoom_CXL_3_8) {
  link_.is_full = true;
  ask(transfer(Op::kWrite, 0x2000, 64, 1));
  EXPECT_TRUE(link_.sent.empty());
  EXPECT_FALSE(host_.waiting().empty());
  run(40);
  link_.make_room(pool_);
  EXPECT_EQ(link_.sent.size(), 1U);
  EXPECT_EQ(host_.waits().at(1).count, 1U);
}

}  // namespace
}  // namespace flitwise::mem_host_test
