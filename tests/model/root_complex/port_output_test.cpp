// SPDX-License-Identifier: Apache-2.0
// What a root port sends down, between stand-ins: order, completions, refusals.
#include "root_complex/port_output.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "port_fakes.h"

namespace flitwise::port_output_test {
namespace {

using namespace test;

constexpr Time kLatency = Time::from_ns(100);

class PortOutputTest : public ::testing::Test {
 protected:
  PortOutputTest() {
    record.host = &host;
    config.link.rcb = 64;
    config.link.mps = 128;
  }
  PortOutput& make() {
    output = std::make_unique<PortOutput>(RootPortConfig::of(config), pool, wire, record);
    return *output;
  }
  const Tlp& given(std::size_t index) const { return wire.given.at(index).first->tlp; }

  PacketPool pool;
  Config config;
  FakePortWire wire;
  FakePortHost host;
  PortRecord record{"rp0"};
  std::array<std::uint8_t, 4096> data{};
  std::unique_ptr<PortOutput> output;
};

TEST_F(PortOutputTest, WhatTheLinkRefusesWaitsInItsClass) {
  PortOutput& out = make();
  wire.is_full = true;
  out.send(port_request(pool, TlpType::kMWr, 0x1000), Time::from_ns(1));
  out.send(port_request(pool, TlpType::kMRd, 0x1000), Time::from_ns(2));
  EXPECT_FALSE(out.is_empty());
  EXPECT_NE(out.waiting("rp0").find("1 posted requests wait"), std::string::npos);
  wire.is_full = false;
  out.drain();
  ASSERT_EQ(wire.given.size(), 2U);
  EXPECT_EQ(given(0).type, TlpType::kMWr);
  EXPECT_TRUE(out.is_empty());
  EXPECT_EQ(out.waiting("rp0"), "");
}

// [LNK-9.10]
TEST_F(PortOutputTest, LNK_9_10_LongReadIsAnsweredInPiecesAtTheReadCompletionBoundary) {
  PacketRef read = port_request(pool, TlpType::kMRd, 0x1010);
  read->tlp.length_dw = 64;
  read->tlp.last_be = 0xf;
  data[0x10] = 0x5a;
  make().answer_read(*read, data.data(), Time::from_ns(50));
  ASSERT_EQ(wire.given.size(), 3U);
  EXPECT_EQ(given(0).byte_count, 256U);
  EXPECT_EQ((given(1).lower_address) % 64U, 0U);
  EXPECT_EQ(wire.given[0].second, Time::from_ns(50) + kLatency);
  EXPECT_EQ(wire.given[0].first->payload.at(0x10), 0x5aU);
}

// [LNK-9.19]
TEST_F(PortOutputTest, LNK_9_19_RefusedReadIsAnsweredAndRefusedWriteIsNot) {
  PortOutput& out = make();
  out.refuse(*port_request(pool, TlpType::kMRd, 0x1000, 7), CplStatus::kUR, "why", Time{});
  ASSERT_EQ(wire.given.size(), 1U);
  EXPECT_EQ(given(0).type, TlpType::kCpl);
  EXPECT_EQ(given(0).status, CplStatus::kUR);
  EXPECT_EQ(given(0).tag, 7U);
  out.refuse(*port_request(pool, TlpType::kMWr, 0x1000), CplStatus::kUR, "why", Time{});
  EXPECT_EQ(wire.given.size(), 1U);
  EXPECT_EQ(record.errors.at("why"), 2U);
  EXPECT_EQ(record.counters.refused, 2U);
  EXPECT_EQ(record.counters.answered, 1U);
  EXPECT_EQ(record.counters.dropped_bytes, 4U);
  EXPECT_EQ(host.errors.size(), 2U);
}

// [LNK-9.23]
TEST_F(PortOutputTest, LNK_9_23_PoisonedWriteIsReportedAsSuch) {
  make().refuse_poisoned(*port_request(pool, TlpType::kMWr, 0x1000), Time{});
  EXPECT_EQ(host.errors, std::vector{cfg::aer::Uncorrectable::kPoisonedTlp});
}

// [DHI D16]
TEST_F(PortOutputTest, D16_CompletionGoesToTheFunctionBehindTheHandleOrEchoesTheHandle) {
  config.link.identity = Identity::kDhi;
  config.link.dhi_form = DhiForm::kRidDirect;
  PortOutput& out = make();
  PacketRef read = port_request(pool, TlpType::kMRd, 0x1000);
  read->tlp.requester_id = Bdf{5};
  read->tlp.id_is_handle = true;
  out.refuse(*read, CplStatus::kUR, "invalid_handle", Time{});
  EXPECT_EQ(given(0).requester_id, Bdf{5});
  EXPECT_TRUE(given(0).id_is_handle);
  read->resolved = DeviceIdentity{Bdf::of(1, 0, 2), {}, false, false};
  out.answer_read(*read, data.data(), Time{});
  EXPECT_EQ(given(1).requester_id, Bdf::of(1, 0, 2));
  EXPECT_FALSE(given(1).id_is_handle);
}

// Elsewhere the bit is reserved.
TEST_F(PortOutputTest, LNK_1_7_WithoutHandlesNoCompletionHasTheirBit) {
  PortOutput& out = make();
  PacketRef read = port_request(pool, TlpType::kMRd, 0x1000);
  read->tlp.id_is_handle = true;
  out.answer_read(*read, data.data(), Time{});
  EXPECT_FALSE(given(0).id_is_handle);
}

TEST_F(PortOutputTest, FaultDropsAsManyCompletionsAsItSays) {
  config.faults.drop_completions = 1;
  PortOutput& out = make();
  const PacketRef read = port_request(pool, TlpType::kMRd, 0x1000);
  out.answer_read(*read, data.data(), Time{});
  EXPECT_TRUE(wire.given.empty());
  out.answer_read(*read, data.data(), Time{});
  EXPECT_EQ(wire.given.size(), 1U);
}

}  // namespace
}  // namespace flitwise::port_output_test
