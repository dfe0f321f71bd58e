// SPDX-License-Identifier: Apache-2.0
// A memory expander between the test and a stand-in for its link. docs/cxl.md
#include "cxl/cxl_mem.h"

#include <gtest/gtest.h>

#include "model/cxl/fake_cxl_link.h"

namespace flitwise::mem_device_test {
namespace {

constexpr std::uint64_t kLine = 0x1000;

CxlDeviceConfig config() {
  CxlDeviceConfig config;
  config.memory = Bytes{1} << 20;
  config.timing.controller = Time::from_ns(10);
  config.timing.latency = Time::from_ns(60);
  return config;
}

class MemDeviceTest : public testing::Test {
 protected:
  MemDeviceTest() {
    link_.to_agent.bind(device_.from_link);
    device_.to_link.bind(link_.from_agent);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  void read(std::uint16_t tag, std::uint64_t address = kLine) {
    CxlMessage message;
    message.channel = CxlChannel::kM2sReq;
    message.opcode = static_cast<std::uint8_t>(cxl::M2sReq::kMemRd);
    message.meta_field = static_cast<std::uint8_t>(cxl::MetaField::kNoOp);
    message.id = tag;
    message.address = address;
    link_.deliver(pool_, message);
  }
  void write(std::uint16_t tag, const CxlLine& line, std::uint64_t byte_enables) {
    CxlMessage message;
    message.channel = CxlChannel::kM2sRwd;
    message.opcode = static_cast<std::uint8_t>(byte_enables == kAllBytes ? cxl::M2sRwd::kMemWr
                                                                         : cxl::M2sRwd::kMemWrPtl);
    message.meta_field = static_cast<std::uint8_t>(cxl::MetaField::kNoOp);
    message.id = tag;
    message.address = kLine;
    message.byte_enables = byte_enables;
    link_.deliver(pool_, message, &line);
  }

  PacketPool pool_;
  test::FakeCxlLink link_{"link"};
  CxlMemDevice device_{"device", config(), pool_, 64};
};

// Twice through the controller, and once the memory.
TEST_F(MemDeviceTest, ALineThatWasNeverWrittenReadsAsZeros_CXL_3_8) {
  read(7);
  ASSERT_EQ(link_.sent.size(), 1U);
  EXPECT_EQ(link_.message(0).channel, CxlChannel::kS2mDrs);
  EXPECT_EQ(link_.message(0).id, 7U);
  EXPECT_EQ(link_.sent[0].ready, Time::from_ns(80));
  EXPECT_EQ(link_.sent[0].packet->payload, std::vector<std::uint8_t>(kCxlLineBytes, 0));
}

TEST_F(MemDeviceTest, AWriteChangesTheBytesThatAreEnabled_CXL_3_8) {
  CxlLine line;
  line.fill(0xab);
  write(1, line, 0xf0);
  read(2);
  ASSERT_EQ(link_.sent.size(), 2U);
  EXPECT_EQ(link_.message(0).channel, CxlChannel::kS2mNdr);
  EXPECT_EQ(link_.message(0).id, 1U);
  const std::vector<std::uint8_t>& bytes = link_.sent[1].packet->payload;
  EXPECT_EQ(bytes[3], 0);
  EXPECT_EQ(bytes[4], 0xab);
  EXPECT_EQ(bytes[7], 0xab);
  EXPECT_EQ(bytes[8], 0);
}

// Requests are served while answers wait, so that no channel stops another. [COH-1.6]
TEST_F(MemDeviceTest, AnswersWaitForTheLinkInOrder_COH_1_6) {
  device_.start_window();
  link_.is_full = true;
  read(1);
  read(2);
  EXPECT_FALSE(device_.is_quiet());
  EXPECT_TRUE(link_.sent.empty());
  sc_core::sc_start(100, sc_core::SC_NS);
  link_.make_room(pool_);
  EXPECT_TRUE(device_.is_quiet());
  ASSERT_EQ(link_.sent.size(), 2U);
  EXPECT_EQ(link_.message(0).id, 1U);
  EXPECT_EQ(link_.message(1).id, 2U);
  EXPECT_EQ(device_.waits().at(0).count, 2U);
}

TEST_F(MemDeviceTest, WhatNoMemoryDeviceTakesIsCounted) {
  CxlMessage message;
  message.channel = CxlChannel::kH2dReq;
  link_.deliver(pool_, message);
  EXPECT_EQ(device_.errors()["unexpected_cxl_message"], 1U);
  EXPECT_TRUE(link_.sent.empty());
}

TEST_F(MemDeviceTest, AnswersThatHaveNotLeftAreForgottenWithTheLink_CXL_3_9) {
  link_.is_full = true;
  read(1);
  device_.link_lost();
  EXPECT_TRUE(device_.is_quiet());
  link_.make_room(pool_);
  EXPECT_TRUE(link_.sent.empty());
}

}  // namespace
}  // namespace flitwise::mem_device_test
