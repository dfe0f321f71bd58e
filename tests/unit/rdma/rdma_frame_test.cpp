// SPDX-License-Identifier: Apache-2.0
// Packets of queue pairs as RoCEv2 frames and back.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
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

// The ICRC leaves time to live out, as routers change it with the checksum of the header.
TEST(RdmaFrame, RX_1_AWrongChecksumOfIpIsSeen) {
  ByteVector bytes;
  RoceParts parts = make_frame(packet_with(RdmaOpcode::kWriteOnly, 64), {0, 1}, bytes);
  seal_roce(bytes.data(), parts);
  EXPECT_TRUE(packet_of(bytes, parts)->is_ip_intact);
  bytes[parts.ip + 8] ^= 0x10;
  const auto read = packet_of(bytes, parts);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->is_intact);
  EXPECT_FALSE(read->is_ip_intact);
}

TEST(RdmaFrame, RX_1_AFrameIsOfTheEndsThatItsAddressesSay) {
  ByteVector bytes;
  RoceParts parts = make_frame(packet_with(RdmaOpcode::kWriteOnly, 64), {4, 0}, bytes);
  EXPECT_TRUE(has_ends(bytes, parts, {4, 0}));
  EXPECT_FALSE(has_ends(bytes, parts, {1, 0}));
  EXPECT_FALSE(has_ends(bytes, parts, {4, 1}));
  bytes[parts.ip + 12] = 11;  // another network
  EXPECT_FALSE(has_ends(bytes, parts, {4, 0}));
  RoceShape shape{roce_opcode(0x0a)};
  shape.is_ipv6 = true;
  parts = make_roce(shape, bytes);
  EXPECT_FALSE(has_ends(bytes, parts, {4, 0}));
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
  // As the bytes of a frame say, without making it.
  EXPECT_EQ(wire_bytes_of(packet_with(RdmaOpcode::kWriteMiddle, 4096)), 4096U + 82);
  for (const RoceExtensions& extensions :
       {RoceExtensions{}, {true, false, true}, {true, true, false}}) {
    for (unsigned code = 0; code < 0x100; ++code) {
      const RdmaOpcodeInfo& info = info_of(static_cast<RdmaOpcode>(code));
      if (info.kind == RdmaPacketKind::kNone) {
        continue;
      }
      RdmaPacket packet = packet_with(static_cast<RdmaOpcode>(code), 7);
      packet.has_echo = extensions.has_echo && info.kind == RdmaPacketKind::kAck;
      packet.has_sack = extensions.has_sack && info.kind == RdmaPacketKind::kAck;
      packet.names_place = extensions.has_place && info.kind == RdmaPacketKind::kWrite;
      ByteVector bytes;
      make_frame(packet, {}, bytes);
      EXPECT_EQ(wire_bytes_of(packet), wire_bytes_of(bytes.size())) << info.name;
    }
  }
}

// ---- what both ends have agreed on

RdmaPacket echoing_ack() {
  RdmaPacket packet = packet_with(RdmaOpcode::kAck, 0);
  packet.has_echo = true;
  packet.echo = {0x0203, true, 0x040506, 0x0708090a};
  return packet;
}

// [ROCE-8] [MO-1]: 12 bytes behind the AETH, of which the lengths and the ICRC know.
TEST(RdmaFrame, MO_1_AnAckHasItsEchoBehindTheAeth) {
  const RdmaPacket sent = echoing_ack();
  ByteVector plain, bytes;
  make_frame(packet_with(RdmaOpcode::kAck, 0), {0, 1}, plain);
  const RoceParts made = make_frame(sent, {0, 1}, bytes);
  seal_roce(bytes.data(), made);
  ASSERT_EQ(bytes.size(), plain.size() + 12);
  const std::uint8_t expected[] = {0x02, 0x03, 0x01, 0, 4, 5, 6, 0, 7, 8, 9, 10};
  EXPECT_TRUE(std::equal(std::begin(expected), std::end(expected), &bytes[made.payload - 12]));

  RoceParts parts;
  const auto came = packet_of(bytes, parts, {true, false, false});
  ASSERT_TRUE(came && came->is_intact && came->has_echo && !came->has_sack);
  EXPECT_EQ(came->echo.session, 0x0203);
  EXPECT_TRUE(came->echo.is_marked);
  EXPECT_EQ(came->echo.psn, 0x040506U);
  EXPECT_EQ(came->echo.hold_ns, 0x0708090aU);
  EXPECT_EQ(came->messages, 15U);
  // One who has agreed on an echo takes no ACK without one.
  EXPECT_FALSE(packet_of(plain, parts, {true, false, false}));
}

// [RX-6]: and the bitmap behind the echo.
TEST(RdmaFrame, RX_6_AnAckHasItsBitmapBehindTheEcho) {
  RdmaPacket sent = echoing_ack();
  sent.has_sack = true;
  sent.sack = 0x8000000000000001;
  ByteVector bytes;
  const RoceParts made = make_frame(sent, {0, 1}, bytes);
  seal_roce(bytes.data(), made);
  EXPECT_EQ(bytes[made.payload - 8], 0x80);
  RoceParts parts;
  const auto came = packet_of(bytes, parts, {true, true, false});
  ASSERT_TRUE(came && came->is_intact && came->has_sack);
  EXPECT_EQ(came->sack, sent.sack);
  EXPECT_EQ(came->echo.psn, sent.echo.psn);
}

// [RX-2]: each packet of a WRITE says where its bytes go.
TEST(RdmaFrame, RX_2_EachPacketOfAWriteMayHaveItsPlace) {
  for (const RdmaOpcode opcode :
       {RdmaOpcode::kWriteMiddle, RdmaOpcode::kWriteLast, RdmaOpcode::kWriteLastImm}) {
    RdmaPacket sent = packet_with(opcode, 8);
    sent.names_place = true;
    ByteVector bytes;
    seal_roce(bytes.data(), make_frame(sent, {0, 1}, bytes));
    RoceParts parts;
    const auto came = packet_of(bytes, parts, {false, false, true});
    ASSERT_TRUE(came && came->is_intact && came->names_place);
    EXPECT_EQ(came->address, sent.address);
    EXPECT_EQ(came->length, sent.length);
    EXPECT_EQ(came->payload_bytes, 8U);
    EXPECT_EQ(came->immediate, info_of(opcode).has_immediate ? 14U : 0U);
  }
}

// [CC-1]: switches set both bits of a packet that has one.
TEST(RdmaFrame, CC_1_AMarkedPacketIsSeen) {
  for (const unsigned ecn : {0U, 1U, 2U, 3U}) {
    ByteVector bytes;
    const RoceParts made = make_frame(packet_with(RdmaOpcode::kSendOnly, 4), {0, 1}, bytes);
    bytes[made.ip + 1] = static_cast<std::uint8_t>(0x88 | ecn);
    seal_roce(bytes.data(), made);
    RoceParts parts;
    EXPECT_EQ(packet_of(bytes, parts)->is_marked, ecn == 3);
  }
}

// [CC-2]: byte for byte that of V1, but for its addresses.
TEST(RdmaFrame, CC_2_ANotificationOfCongestion) {
  RdmaPacket packet;
  packet.opcode = RdmaOpcode::kCnp;
  packet.queue_pair = 280;
  ByteVector bytes;
  const RoceParts made = make_frame(packet, {0, 1}, bytes);
  EXPECT_EQ(made.icrc - made.bth, 28U);
  const std::uint8_t head[] = {0x81, 0, 0xff, 0xff, 0x40, 0, 1, 0x18, 0, 0, 0, 0};
  EXPECT_TRUE(std::equal(std::begin(head), std::end(head), &bytes[made.bth]));
  seal_roce(bytes.data(), made);
  RoceParts parts;
  const auto came = packet_of(bytes, parts);
  ASSERT_TRUE(came && came->is_intact);
  EXPECT_EQ(came->opcode, RdmaOpcode::kCnp);
  EXPECT_EQ(info_of(came->opcode).kind, RdmaPacketKind::kCnp);
}

}  // namespace
}  // namespace flitwise::rdma_frame_test
