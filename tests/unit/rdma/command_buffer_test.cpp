// SPDX-License-Identifier: Apache-2.0
// Commands that software stores into an adapter, and how their bytes are collected.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "rdma/command_buffer.h"

namespace flitwise::command_buffer_test {
namespace {

using Outcome = CommandBuffer::Outcome;

std::vector<std::uint8_t> command(std::uint32_t payload_bytes, bool has_payload) {
  SendWork work;
  work.id = 0x1122334455667788;
  work.opcode = WorkOpcode::kWrite;
  work.is_signaled = true;
  work.local = view_of({0x1000, payload_bytes, 0x501});
  work.remote_address = 0x2000;
  work.remote_key = 0x601;
  work.operand = ~std::uint64_t{0};
  SendEntry entry = encode(work);
  put_command(entry, {0xabcdef, 0xfffe, has_payload});
  std::vector<std::uint8_t> bytes(entry.begin(), entry.end());
  bytes.resize(command_bytes(has_payload ? payload_bytes : 0), 0x5a);
  return bytes;
}

TEST(CommandBuffer, QueuePairAndNumberStandBesideTheWorkRequest) {
  const std::vector<std::uint8_t> bytes = command(64, true);
  const Command seen = command_of(bytes.data());
  EXPECT_EQ(seen.queue_pair, 0xabcdefU);
  EXPECT_EQ(seen.number, 0xfffeU);
  EXPECT_TRUE(seen.has_payload);
  const SendWork work = decode_send(bytes.data()).value();
  EXPECT_EQ(work.id, 0x1122334455667788U);
  EXPECT_EQ(work.remote_address, 0x2000U);
  EXPECT_EQ(work.remote_key, 0x601U);
  EXPECT_EQ(work.operand, ~std::uint64_t{0});
  EXPECT_EQ(work.local.bytes(), 64U);
  EXPECT_TRUE(work.is_signaled);
  EXPECT_FALSE(command_of(command(64, false).data()).has_payload);
}

TEST(CommandBuffer, CommandsAreWholeLines) {
  EXPECT_EQ(command_bytes(0), 64U);
  EXPECT_EQ(command_bytes(1), 128U);
  EXPECT_EQ(command_bytes(64), 128U);
  EXPECT_EQ(command_bytes(65), 192U);
  EXPECT_EQ(command_bytes(kMostInlineBytes), kMostCommandBytes);
}

TEST(CommandBuffer, HP_1_ItIsCompleteWithItsLastByteAlone) {
  for (const bool has_payload : {false, true}) {
    const std::vector<std::uint8_t> bytes = command(100, has_payload);
    for (const std::size_t piece : {1, 8, 48, 64}) {
      CommandBuffer buffer;
      for (int round = 0; round < 2; ++round) {
        for (std::size_t at = 0; at < bytes.size(); at += piece) {
          const std::size_t size = std::min(piece, bytes.size() - at);
          const bool is_last = at + size == bytes.size();
          ASSERT_EQ(buffer.write(at, &bytes[at], size),
                    is_last ? Outcome::kComplete : Outcome::kPartial)
              << at;
          ASSERT_EQ(buffer.is_partial(), !is_last);
        }
        EXPECT_EQ(buffer.size(), bytes.size());
        EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), buffer.bytes()));
      }
    }
  }
}

TEST(CommandBuffer, HP_1_OneIsDroppedWhereOtherBytesComeThanItsNext) {
  const std::vector<std::uint8_t> bytes = command(64, true);
  CommandBuffer buffer;
  EXPECT_EQ(buffer.write(8, bytes.data(), 8), Outcome::kBad) << "nothing before it";
  EXPECT_EQ(buffer.write(0, bytes.data(), 64), Outcome::kPartial);
  EXPECT_EQ(buffer.write(0, bytes.data(), 64), Outcome::kBad) << "a second beginning";
  EXPECT_FALSE(buffer.is_partial());
  EXPECT_EQ(buffer.write(0, bytes.data(), 128), Outcome::kComplete) << "the next one is whole";
}

TEST(CommandBuffer, HP_1_OneThatIsLongerThanItSaysIsDropped) {
  std::vector<std::uint8_t> bytes = command(64, true);
  bytes.resize(192);
  CommandBuffer buffer;
  EXPECT_EQ(buffer.write(0, bytes.data(), bytes.size()), Outcome::kBad);
  EXPECT_FALSE(buffer.is_partial());
  // Payload for which there is no room.
  SendWork work;
  work.local = view_of({0, kMostInlineBytes + 1, 1});
  SendEntry entry = encode(work);
  put_command(entry, {2, 0, true});
  EXPECT_EQ(buffer.write(0, entry.data(), entry.size()), Outcome::kBad);
  const std::vector<std::uint8_t> most = command(kMostInlineBytes, true);
  EXPECT_EQ(buffer.write(0, most.data(), most.size()), Outcome::kComplete);
}

TEST(CommandBuffer, WhatIsLeftOfOneIsDroppedOnDemand) {
  const std::vector<std::uint8_t> bytes = command(64, false);
  CommandBuffer buffer;
  EXPECT_EQ(buffer.write(0, bytes.data(), 32), Outcome::kPartial);
  buffer.drop();
  EXPECT_EQ(buffer.write(0, bytes.data(), 64), Outcome::kComplete);
}

}  // namespace
}  // namespace flitwise::command_buffer_test
