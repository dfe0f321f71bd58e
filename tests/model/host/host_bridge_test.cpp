// SPDX-License-Identifier: Apache-2.0
// The host bridge above a stand-in for a root port: accesses of software, answers, time.
#include "host/host_bridge.h"

#include <gtest/gtest.h>

#include <optional>

#include "config_space/registers.h"
#include "host_fakes.h"
#include "tlp/splitter.h"

namespace flitwise::host_bridge_test {
namespace {

using namespace test;

constexpr Bdf kDevice = Bdf::of(1, 0, 0);
constexpr Time kTimeout = Time::from_us(10);

HostConfig config_of_test() {
  HostConfig config;
  config.timing.completion_timeout = kTimeout;
  return config;
}

class HostBridgeTest : public ::testing::Test {
 protected:
  HostBridgeTest() {
    bridge.attach(port, LinkPreset{}, {});
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    write(bridge.bdf_of(0), cfg::kBusNumbers, 0x0001'0100, 0x7);
  }
  void run(Time span = Time::from_us(2)) { sc_core::sc_start(to_sc_time(span)); }
  void write(Bdf target, std::uint16_t offset, std::uint32_t value, std::uint8_t enables = 0xf) {
    bridge.config({true, target, offset, value, enables},
                  [this](const HostAnswer& one) { answer = one; });
    run();
  }
  void read(Bdf target, std::uint16_t offset) {
    answer.reset();
    bridge.config(CfgAccess::read_of(target, offset),
                  [this](const HostAnswer& one) { answer = one; });
    run();
  }
  PacketRef completion(CplStatus status, std::uint8_t byte = 0) {
    PacketRef packet = pool.make(PacketKind::kTlp);
    const Tlp& request = port.sent.back()->tlp;
    start_completion(packet->tlp, request);
    if (status == CplStatus::kSC) {
      packet->tlp.type = TlpType::kCplD;
      packet->tlp.length_dw = 1;
      packet->tlp.byte_count = 4;
      packet->payload = {byte, 0, 0, 0};
    } else {
      end_without_data(packet->tlp, request, status);
    }
    return packet;
  }

  PacketPool pool;
  FakeDownstreamPort port;
  HostBridge bridge{"host_bridge", config_of_test(), pool};
  std::optional<HostAnswer> answer;
};

TEST_F(HostBridgeTest, BusNumbersOfThePortReachIt) {
  EXPECT_EQ(port.below.secondary, 1U);
  EXPECT_EQ(port.below.subordinate, 1U);
  write(bridge.bdf_of(0), cfg::kCommand, cfg::kCommandBusMaster, 0x3);
  EXPECT_TRUE(port.bus_master);
  EXPECT_TRUE(port.sent.empty());
}

// [LNK-9.6]
TEST_F(HostBridgeTest, ConfigurationReadGoesDownAndItsAnswerReachesSoftware) {
  read(kDevice, cfg::kVendorId);
  ASSERT_EQ(port.sent.size(), 1U);
  EXPECT_EQ(port.sent[0]->tlp.type, TlpType::kCfgRd0);
  EXPECT_FALSE(answer);
  EXPECT_NE(bridge.waiting(), "");
  EXPECT_TRUE(port.host->complete(completion(CplStatus::kSC, 0x5a), now()));
  run();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->value(), 0x5aU);
  EXPECT_TRUE(bridge.is_quiet());
}

TEST_F(HostBridgeTest, FunctionOnABusThatNoPortHasIsAnsweredWithUr) {
  read(Bdf::of(9, 0, 0), cfg::kVendorId);
  EXPECT_TRUE(port.sent.empty());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, CplStatus::kUR);
  EXPECT_EQ(answer->value(), 0xffff'ffffU);
}

TEST_F(HostBridgeTest, RequestThatIsPutOffIsRepeated) {
  read(kDevice, cfg::kVendorId);
  EXPECT_TRUE(port.host->complete(completion(CplStatus::kRRS), now()));
  run();
  EXPECT_FALSE(answer);
  ASSERT_EQ(port.sent.size(), 2U);
  EXPECT_EQ(port.sent[1]->tlp.type, TlpType::kCfgRd0);
  port.host->complete(completion(CplStatus::kSC), now());
  run();
  EXPECT_TRUE(answer);
}

// [LNK-9.18]
TEST_F(HostBridgeTest, LNK_9_18_RequestWithoutACompletionEndsInTime) {
  read(kDevice, cfg::kVendorId);
  const PacketRef late = completion(CplStatus::kSC);
  run(kTimeout * 2);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->is_timeout);
  EXPECT_EQ(bridge.errors().at("completion_timeout"), 1U);
  EXPECT_FALSE(port.host->complete(late, now()));
}

TEST_F(HostBridgeTest, CompletionOfNothingIsNotTaken) {
  read(kDevice, cfg::kVendorId);
  const PacketRef stray = completion(CplStatus::kSC);
  stray->tlp.tag = static_cast<std::uint16_t>(stray->tlp.tag + 1);
  EXPECT_FALSE(port.host->complete(stray, now()));
}

TEST_F(HostBridgeTest, WriteWithoutAnOwnerIsAMasterAbort) {
  const std::uint8_t byte = 1;
  EXPECT_FALSE(bridge.write(std::uint64_t{1} << 50, &byte, 1, false));
  EXPECT_EQ(bridge.errors().at("master_abort"), 1U);
}

}  // namespace
}  // namespace flitwise::host_bridge_test
