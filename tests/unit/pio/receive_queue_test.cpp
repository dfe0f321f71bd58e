// SPDX-License-Identifier: Apache-2.0
// Where received packets go in host memory.
#include "pio/receive_queue.h"

#include <gtest/gtest.h>

namespace flitwise::receive_queue_test {
namespace {

constexpr std::uint64_t kBuffer = 1U << 20, kBytes = 32U << 10, kHalf = kBuffer + kBytes / 2;
constexpr std::uint64_t kEager = kHalf + ReceiveQueue::kEntries * ReceiveQueue::kEntryBytes;

// [PIO-1.4] Credits return to the lower half.
TEST(ReceiveQueue, PIO_1_4_EntriesAndPayloadsLieInTheUpperHalf) {
  ReceiveQueue queue(kBuffer, kBytes);
  const auto first = queue.take(100), second = queue.take(0), third = queue.take(1);
  EXPECT_EQ(first.entry, kHalf);
  EXPECT_EQ(first.payload, kEager);
  EXPECT_EQ(second.entry, kHalf + 64);
  EXPECT_EQ(second.payload, kEager + 128);
  EXPECT_EQ(third.payload, kEager + 128);
  EXPECT_EQ(third.number, 2U);
  EXPECT_EQ(queue.packets(), 3U);
}

TEST(ReceiveQueue, PIO_1_4_EntriesBeginAnewBehindTheLast) {
  ReceiveQueue queue(kBuffer, kBytes);
  for (unsigned i = 0; i < ReceiveQueue::kEntries; ++i) {
    EXPECT_EQ(queue.take(8).entry, kHalf + i * 64);
  }
  EXPECT_EQ(queue.take(8).entry, kHalf);
}

// No payload is cut in two, and none leaves the buffer, whatever the sizes.
TEST(ReceiveQueue, PIO_1_4_EachPayloadLiesInOnePiece) {
  ReceiveQueue queue(kBuffer, kBytes);
  std::uint64_t end = kEager;
  unsigned wraps = 0;
  for (unsigned i = 0; i < 1'000; ++i) {
    const std::uint64_t bytes = i * 577 % 10'313;
    const auto place = queue.take(bytes);
    EXPECT_EQ(place.payload % 64, 0U);
    EXPECT_GE(place.payload, kEager);
    EXPECT_LE(place.payload + bytes, kBuffer + kBytes);
    wraps += place.payload < end ? 1 : 0;
    EXPECT_TRUE(place.payload >= end || place.payload == kEager) << i;
    end = place.payload + bytes;
  }
  EXPECT_GT(wraps, 100U);
}

// The smallest buffer has room for the largest packet, 162 blocks without its PBC.
TEST(ReceiveQueue, PIO_1_4_TheSmallestBufferHoldsTheLargestPacket) {
  ReceiveQueue queue(kBuffer, ReceiveQueue::kLeastBuffer);
  constexpr std::uint64_t kLargest = 162 * 64 - 8 - ReceiveQueue::kHeaderBytes;
  for (int i = 0; i < 3; ++i) {
    const auto place = queue.take(kLargest);
    EXPECT_GE(place.payload, kEager);
    EXPECT_LE(place.payload + kLargest, kBuffer + ReceiveQueue::kLeastBuffer);
  }
}

TEST(HeaderFlags, PIO_1_4_ReadBackAsWritten) {
  const HeaderFlags flags = {10'360, 15, 0x8000'0001U};
  EXPECT_EQ(flags.encode(), 0x8000'0001'000f'2878U);
  EXPECT_TRUE(HeaderFlags::decode(flags.encode()) == flags);
  EXPECT_FALSE(HeaderFlags::decode(flags.encode() + 1) == flags);
}

}  // namespace
}  // namespace flitwise::receive_queue_test
