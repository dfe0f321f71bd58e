// SPDX-License-Identifier: Apache-2.0
#include "srdma/cm_message.h"

#include <gtest/gtest.h>

#include "common/random.h"

namespace flitwise::cm_message_test {
namespace {

CmMessage connect_request() {
  CmMessage message;
  message.kind = CmKind::kConnectRequest;
  message.group = 0x01020304;
  message.transaction = 0x1122334455667788;
  message.service = 77;
  message.capabilities = {true, true, false, true, 256, 4096};
  message.gap_timer_ns = 50'000;
  message.lifetime_us = 1'000'000;
  message.share.fill(0xab);
  message.pairs = {{0x100, 0xfffffe}, {0xffffff, 0}};
  message.sessions = {{{0x0a000001, 0x0a000002, 49152, 65535}, 0},
                      {{0x0a000001, 0x0a000003, 50000, 50001}, 7}};
  return message;
}

TEST(CmMessage, HS_1_FieldsStandWhereTheFormatSays) {
  const ByteVector bytes = bytes_of(connect_request());
  ASSERT_EQ(bytes.size(), 84U + 2 * 8 + 2 * 16);
  EXPECT_EQ(bytes[0], 1);                     // version
  EXPECT_EQ(bytes[1], 1);                     // CONNECT_REQ
  EXPECT_EQ(bytes[2], 0);                     // reason
  EXPECT_EQ(bytes[3], 0x0d);                  // secured, echo, sack
  EXPECT_EQ(dw_at(&bytes[4]), 0x01020304U);   // group
  EXPECT_EQ(dw_at(&bytes[8]), 0x11223344U);   // transaction
  EXPECT_EQ(dw_at(&bytes[20]), 77U);          // service
  EXPECT_EQ(dw_at(&bytes[32]), 50'000U);      // gap timer
  EXPECT_EQ(dw_at(&bytes[36]), 1'000'000U);   // lifetime
  EXPECT_EQ(dw_at(&bytes[40]), 0x10000100U);  // MTU, reorder depth
  EXPECT_EQ(bytes[48], 0xab);                 // key share
  EXPECT_EQ(bytes[79], 0xab);
  EXPECT_EQ(dw_at(&bytes[80]), 0x00020002U);  // two queue pairs, two sessions
  EXPECT_EQ(dw_at(&bytes[84]), 0x100U);
  EXPECT_EQ(dw_at(&bytes[88]), 0xfffffeU);
  EXPECT_EQ(dw_at(&bytes[100]), 0x0a000001U);
  EXPECT_EQ(dw_at(&bytes[108]), 0xc000ffffU);
  EXPECT_EQ(dw_at(&bytes[128]), 0x00070000U);  // id of the second session
}

TEST(CmMessage, HS_3_EachKindComesBackAsItWas) {
  for (int kind = 1; kind <= kCmKinds; ++kind) {
    CmMessage message = connect_request();
    message.kind = static_cast<CmKind>(kind);
    message.reason = CmReason::kBusy;
    message.superseded = 9;
    message.session = 0x8001;
    message.epoch = 3;
    const auto has_lists = message.kind <= CmKind::kConnectReply;
    if (!has_lists) {
      message.pairs.clear();
      message.sessions.clear();
    }
    const ByteVector bytes = bytes_of(message);
    const CmRead read = read_cm(bytes.data(), bytes.size());
    EXPECT_EQ(read.flaw, "") << name_of(message.kind);
    EXPECT_EQ(read.message.kind, message.kind);
    EXPECT_EQ(read.message.transaction, message.transaction);
    EXPECT_EQ(bytes_of(read.message), bytes);
    EXPECT_EQ(is_reply(message.kind), kind > 1 && is_request(static_cast<CmKind>(kind - 1)) &&
                                          reply_to(static_cast<CmKind>(kind - 1)) == message.kind);
  }
}

TEST(CmMessage, HS_1_TheLargestFitsIntoAPacket) {
  CmMessage message = connect_request();
  message.pairs.resize(kMostCmPairs);
  message.sessions.resize(kMostGroupSessions);
  EXPECT_EQ(bytes_of(message).size(), kMostCmBytes);
  EXPECT_LE(kMostCmBytes, 4096U);
}

TEST(CmMessage, HS_1_WhatIsWrongIsSaid) {
  const ByteVector good = bytes_of(connect_request());
  const auto flaw_with = [&](std::size_t byte, std::uint8_t value) {
    ByteVector bytes = good;
    bytes[byte] = value;
    return read_cm(bytes.data(), bytes.size()).flaw;
  };
  EXPECT_EQ(flaw_with(0, 2), "version 2 seen; expected 1");
  EXPECT_EQ(flaw_with(1, 0), "kind 0 seen; expected 1 to 16");
  EXPECT_EQ(flaw_with(1, 17), "kind 17 seen; expected 1 to 16");
  EXPECT_EQ(flaw_with(2, 1), "0x01 seen at byte 2; expected zeros where CONNECT_REQ has nothing");
  EXPECT_EQ(flaw_with(24, 1), "0x01 seen at byte 24; expected zeros where CONNECT_REQ has nothing");
  EXPECT_EQ(flaw_with(81, 3),
            "132 bytes with 3 queue pairs and 2 sessions seen; expected 140 bytes, and up to 256 "
            "and 64 of them");
  EXPECT_EQ(flaw_with(84, 1), "queue pair 0 with more than 24 bits seen");
  EXPECT_EQ(flaw_with(131, 1), "session 1 with reserved bits seen; expected zeros");
  for (std::size_t count = 0; count < good.size(); ++count) {
    EXPECT_NE(read_cm(good.data(), count).flaw, "") << count;
  }
}

TEST(CmMessage, HS_1_AnyBytesAreAMessageThatMakesThemAgainOrNone) {
  Random random(5);
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    ByteVector bytes = bytes_of(connect_request());
    for (std::uint64_t n = random.below(3); n > 0; --n) {
      bytes[random.below(bytes.size())] = static_cast<std::uint8_t>(random.next());
    }
    const CmRead read = read_cm(bytes.data(), bytes.size());
    if (read.flaw.empty()) {
      ++taken;
      ASSERT_EQ(bytes_of(read.message), bytes);
    }
  }
  EXPECT_GT(taken, 5'000);
}

}  // namespace
}  // namespace flitwise::cm_message_test
