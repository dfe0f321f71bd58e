// SPDX-License-Identifier: Apache-2.0
// Packets of queue pairs as RoCEv2 frames and back.
#include <gtest/gtest.h>

#include <string>

#include "network/addresses.h"
#include "rdma/rdma_frame.h"

namespace flitwise::rdma_frame_test {
namespace {

RdmaPacket packet_with(RdmaOpcode opcode, std::uint32_t bytes) {
  RdmaPacket packet;
  packet.opcode = opcode;
  packet.partition = 0x8001;
  packet.queue_pair = 0x123456;
  packet.psn = 0xfedcba;
  packet.asks_for_ack = packet.is_solicited = true;
  packet.address = 0x1122334455667788;
  packet.key = 0xaabbccdd;
  packet.length = 0x01020304;
  packet.operand = 11;
  packet.compare = 12;
  packet.original = 13;
  packet.immediate = 14;
  packet.syndrome = 0x62;
  packet.messages = 15;
  packet.payload_bytes = bytes;
  packet.pad = pad_of(bytes);
  return packet;
}

RdmaPacket there_and_back(const RdmaPacket& packet) {
  ByteVector bytes;
  const RoceParts made = make_frame(packet, {0, 1}, bytes);
  seal_roce(bytes.data(), made);
  RoceParts parts;
  const auto read = packet_of(bytes, parts);
  EXPECT_TRUE(read);
  EXPECT_EQ(parts.payload, made.payload);
  return read.value_or(RdmaPacket{});
}

TEST(RdmaFrame, ROCE_1_WhatAnOpcodeCarriesComesBack) {
  for (const unsigned code :
       {0x04U, 0x05U, 0x0aU, 0x0bU, 0x0cU, 0x0dU, 0x0eU, 0x11U, 0x12U, 0x13U, 0x14U, 0x17U}) {
    const auto opcode = static_cast<RdmaOpcode>(code);
    const RdmaOpcodeInfo& info = info_of(opcode);
    SCOPED_TRACE(info.name);
    const bool has_payload = info.kind == RdmaPacketKind::kSend ||
                             info.kind == RdmaPacketKind::kWrite ||
                             info.kind == RdmaPacketKind::kReadResponse;
    const RdmaPacket sent = packet_with(opcode, has_payload ? 5 : 0);
    const RdmaPacket came = there_and_back(sent);
    EXPECT_EQ(came.opcode, sent.opcode);
    EXPECT_TRUE(came.is_intact);
    EXPECT_EQ(came.partition, sent.partition);
    EXPECT_EQ(came.queue_pair, sent.queue_pair);
    EXPECT_EQ(came.psn, sent.psn);
    EXPECT_EQ(came.asks_for_ack, sent.asks_for_ack);
    EXPECT_EQ(came.is_solicited, sent.is_solicited);
    EXPECT_EQ(came.payload_bytes, sent.payload_bytes);
    EXPECT_EQ(came.pad, sent.pad);
    const bool has_reth = code == 0x0a || code == 0x0b || code == 0x0c;
    const bool is_atomic_request = info.kind == RdmaPacketKind::kAtomic;
    EXPECT_EQ(came.address, has_reth || is_atomic_request ? sent.address : 0);
    EXPECT_EQ(came.key, has_reth || is_atomic_request ? sent.key : 0);
    EXPECT_EQ(came.length, has_reth ? sent.length : 0);
    EXPECT_EQ(came.operand, is_atomic_request ? 11U : 0U);
    EXPECT_EQ(came.compare, is_atomic_request ? 12U : 0U);
    EXPECT_EQ(came.original, info.kind == RdmaPacketKind::kAtomicAck ? 13U : 0U);
    EXPECT_EQ(came.immediate, info.has_immediate || info.invalidates ? 14U : 0U);
    const bool has_aeth = !info.is_request() && code != 0x0e;
    EXPECT_EQ(came.syndrome, has_aeth ? 0x62U : 0U);
    EXPECT_EQ(came.messages, has_aeth ? 15U : 0U);
  }
}

TEST(RdmaFrame, ROCE_4_ABitThatTurnsOnTheWayIsSeen) {
  ByteVector bytes;
  RoceParts parts = make_frame(packet_with(RdmaOpcode::kWriteOnly, 64), {0, 1}, bytes);
  seal_roce(bytes.data(), parts);
  bytes[parts.payload + 3] ^= 0x10;
  const auto read = packet_of(bytes, parts);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->is_intact);
}

TEST(RdmaFrame, TheEndsOfACableHaveAddressesOfTheirOwn) {
  ByteVector one, other;
  const RoceParts parts = make_frame(packet_with(RdmaOpcode::kAck, 0), {0, 1}, one);
  make_frame(packet_with(RdmaOpcode::kAck, 0), {1, 0}, other);
  const auto text = [](const ByteVector& bytes, std::size_t at, std::size_t size) {
    return std::string(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                       bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
  };
  EXPECT_EQ(text(one, 0, 6), text(other, 6, 6));  // MAC
  EXPECT_EQ(text(one, 6, 6), text(other, 0, 6));
  EXPECT_EQ(text(one, parts.ip + 12, 4), text(other, parts.ip + 16, 4));
  EXPECT_EQ(text(one, parts.ip + 16, 4), text(other, parts.ip + 12, 4));
  EXPECT_NE(text(one, parts.ip + 12, 4), text(one, parts.ip + 16, 4));
}

// As docs/network.md says: 10.0.0.1 for number 0, and MAC addresses alike.
TEST(RdmaFrame, EachPortHasTheAddressesOfItsNumber) {
  ByteVector bytes;
  const RoceParts parts = make_frame(packet_with(RdmaOpcode::kWriteOnly, 64), {62, 7}, bytes);
  const std::vector<std::uint8_t> macs = {2, 0, 0, 0, 0, 8, 2, 0, 0, 0, 0, 63};
  EXPECT_TRUE(std::equal(macs.begin(), macs.end(), bytes.begin()));
  const std::vector<std::uint8_t> ips = {10, 0, 0, 63, 10, 0, 0, 8};
  EXPECT_TRUE(std::equal(ips.begin(), ips.end(),
                         bytes.begin() + static_cast<std::ptrdiff_t>(parts.ip + 12)));
  EXPECT_EQ(ipv4_of_port(7), 0x0a000008U);
}

TEST(RdmaFrame, BytesThatAreNoFrameAreNoPacket) {
  RoceParts parts;
  EXPECT_FALSE(packet_of(ByteVector(64, 0xff), parts));
  EXPECT_FALSE(packet_of({}, parts));
}

TEST(RdmaFrame, EthernetAddsItsOwnAndHasALeastLength) {
  EXPECT_EQ(wire_bytes_of(122), 146U);
  EXPECT_EQ(wire_bytes_of(60), 84U);
  EXPECT_EQ(wire_bytes_of(20), 84U);
}

}  // namespace
}  // namespace flitwise::rdma_frame_test
