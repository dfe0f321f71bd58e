// SPDX-License-Identifier: Apache-2.0
// Write combining: blocks that fill, parts that leave early, and what is counted.
#include "pio/store_buffer.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "flitwise/error.h"

namespace flitwise::store_buffer_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes numbered(std::size_t bytes, std::uint8_t first = 0) {
  Bytes data;
  for (std::size_t i = 0; i < bytes; ++i) {
    data.push_back(static_cast<std::uint8_t>(first + i));
  }
  return data;
}

void put(StoreBuffer& buffer, std::uint64_t address, std::size_t bytes, std::uint8_t first = 0) {
  buffer.store(0, address, numbered(bytes, first).data(), bytes);
}

// [PIO-4.1, 4.2] [PIO-016]
TEST(StoreBuffer, EightStoresOrOneFillABlockWhichLeavesWhole) {
  for (const unsigned size : {8U, 16U, 32U, 64U}) {
    StoreBuffer buffer(1);
    for (unsigned byte = 0; byte < 64; byte += size) {
      EXPECT_EQ(buffer.oldest_full(), nullptr);
      ASSERT_TRUE(buffer.takes(0x1000 + byte));
      put(buffer, 0x1000 + byte, size, static_cast<std::uint8_t>(byte));
    }
    const StoreBlock* const block = buffer.oldest_full();
    ASSERT_NE(block, nullptr);
    const StoreWrites writes(*block);
    ASSERT_EQ(writes.size(), 1U);
    EXPECT_EQ(writes.begin()->address, 0x1000U);
    EXPECT_EQ(writes.begin()->bytes, 64U);
    EXPECT_EQ(Bytes(writes.begin()->data, writes.begin()->data + 64), numbered(64));
    buffer.release(*block);
    EXPECT_EQ(buffer.held_blocks(), 0U);
    EXPECT_EQ(buffer.counts().stores, 64U / size);
    EXPECT_EQ(buffer.counts().whole_writes, 1U);
    EXPECT_EQ(buffer.counts().partial_writes, 0U);
  }
}

// [PIO-4.3]
TEST(StoreBuffer, PartLeavesAsOneWriteForEachRunOfQws) {
  for (unsigned mask = 1; mask < 255; ++mask) {
    StoreBuffer buffer(1);
    for (unsigned qw = 0; qw < 8; ++qw) {
      if ((mask >> qw & 1U) != 0) {
        put(buffer, 0x40 + qw * 8, 8, static_cast<std::uint8_t>(qw * 8));
      }
    }
    EXPECT_EQ(buffer.oldest_full(), nullptr);
    unsigned seen = 0, last_end = 0;
    for (const StoreWrite& write : StoreWrites(*buffer.oldest())) {
      const auto byte = static_cast<unsigned>(write.address - 0x40);
      EXPECT_TRUE(last_end == 0 || byte > last_end) << mask;  // a gap, upwards
      last_end = byte + write.bytes;
      EXPECT_EQ(Bytes(write.data, write.data + write.bytes),
                numbered(write.bytes, static_cast<std::uint8_t>(byte)));
      seen |= *qws_of_write(byte, write.bytes);
    }
    EXPECT_EQ(seen, mask);
  }
}

// [PIO-4.1] [PIO-12.29]
TEST(StoreBuffer, StoreWithoutItsBlockOrAFreeOneHasToWait) {
  StoreBuffer buffer(2);
  put(buffer, 0x1000, 8);
  put(buffer, 0x2000, 8);
  EXPECT_FALSE(buffer.takes(0x3000));
  EXPECT_TRUE(buffer.takes(0x1038));
  EXPECT_THROW(put(buffer, 0x3000, 8), SimulationError);
  buffer.release(*buffer.oldest());
  EXPECT_TRUE(buffer.takes(0x3000));
  EXPECT_EQ(buffer.oldest()->address, 0x2000U);
}

// [PIO-12.39]
TEST(StoreBuffer, QwStoredAgainIsReplacedUntilTheBlockIsFull) {
  StoreBuffer buffer(2);
  put(buffer, 0, 8, 1);
  put(buffer, 0, 16, 50);
  EXPECT_EQ(buffer.oldest()->bytes[0], 50U);
  EXPECT_EQ(buffer.counts().replaced_bytes, 8U);
  EXPECT_EQ(buffer.held_bytes(), 16U);
  put(buffer, 32, 32, 7);
  put(buffer, 16, 16, 9);
  ASSERT_NE(buffer.oldest_full(), nullptr);
  EXPECT_FALSE(buffer.takes(8));
  EXPECT_TRUE(buffer.takes(64));
}

TEST(StoreBuffer, OldestIsTheOneHeldLongest) {
  StoreBuffer buffer(3);
  put(buffer, 0x300, 8);
  buffer.store(1, 0x100, numbered(64).data(), 64);
  put(buffer, 0x200, 64);
  EXPECT_EQ(buffer.oldest()->address, 0x300U);
  EXPECT_EQ(buffer.oldest_full()->address, 0x100U);
  EXPECT_EQ(buffer.oldest_of(2)->address, 0x100U);
  EXPECT_EQ(buffer.oldest_of(4), nullptr);
  buffer.release(*buffer.oldest_full());
  EXPECT_EQ(buffer.oldest_full()->address, 0x200U);
  EXPECT_EQ(buffer.oldest_of(2), nullptr);
}

// [PIO-4.2]
TEST(StoreBuffer, StoresHaveFourSizesAndStayInABlock) {
  for (unsigned byte = 0; byte < 64; ++byte) {
    for (unsigned bytes = 0; bytes <= 72; ++bytes) {
      const bool is_good = (bytes == 8 || bytes == 16 || bytes == 32 || bytes == 64) &&
                           byte % 8 == 0 && byte + bytes <= 64;
      EXPECT_EQ(StoreBuffer::is_store(0x1000 + byte, bytes), is_good) << byte << " " << bytes;
    }
  }
}

/// Stores in any order and size, parts forced out now and then, against a map of bytes.
void run_randomly(unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto draw = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  const unsigned blocks = seed % 7 == 0 ? StoreBuffer::kMostBlocks : 1 + draw(12);
  StoreBuffer buffer(blocks);
  std::map<std::uint64_t, std::uint8_t> stored, arrived;
  std::map<std::uint64_t, std::uint64_t> stored_qws, whole;  // by block
  const auto write_out = [&](const StoreBlock& block) {
    for (const StoreWrite& write : StoreWrites(block)) {
      whole[block.address] += write.bytes == 64 ? 1 : 0;
      for (unsigned i = 0; i < write.bytes; ++i) {
        arrived[write.address + i] = write.data[i];
      }
    }
    buffer.release(block);
  };
  for (unsigned step = 0; step < 2000; ++step) {
    const unsigned bytes = 8U << draw(4);
    const std::uint64_t address = 0x8000 + draw(blocks * 3) * 64 + draw(64 / bytes) * bytes;
    if (!buffer.takes(address)) {
      EXPECT_TRUE(buffer.oldest_full() != nullptr || buffer.held_blocks() == blocks);
      write_out(buffer.oldest_full() != nullptr && draw(2) == 0 ? *buffer.oldest_full()
                                                                : *buffer.oldest());
      continue;
    }
    Bytes data;
    for (unsigned i = 0; i < bytes; ++i) {
      data.push_back(static_cast<std::uint8_t>(random()));
      stored[address + i] = data.back();
    }
    stored_qws[address / 64 * 64] += bytes / 8;
    buffer.store(draw(2), address, data.data(), bytes);
    if (buffer.oldest_full() != nullptr && draw(3) == 0) {
      write_out(*buffer.oldest_full());
    }
    const StoreCounts& counts = buffer.counts();
    ASSERT_EQ(counts.stored_bytes,
              counts.written_bytes + counts.replaced_bytes + buffer.held_bytes());
  }
  while (buffer.oldest() != nullptr) {
    write_out(*buffer.oldest());
  }
  EXPECT_EQ(arrived, stored);
  std::uint64_t whole_writes = 0;
  for (const auto& [address, times] : whole) {
    EXPECT_LE(times * 8, stored_qws[address]) << "block " << address << " left whole too often";
    whole_writes += times;
  }
  EXPECT_EQ(buffer.counts().whole_writes, whole_writes);
  EXPECT_GT(whole_writes, 0U);
  EXPECT_GT(buffer.counts().partial_writes, 0U);
}

// [PIO-3.2, 4.1, 4.2, 4.3]
TEST(StoreBuffer, WhateverTheOrderTheBytesArrive) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    run_randomly(seed);
  }
}

// Blocks leave side by side. One whose writes are on their way takes no store, keeps its place
// until it is out, and is not chosen twice. [PIO-4.3]
TEST(StoreBuffer, BlocksThatLeaveKeepTheirPlaceUntilTheyAreOut) {
  StoreBuffer buffer(2);
  put(buffer, 0x1000, 64);
  put(buffer, 0x2000, 8);
  const StoreBlock& full = *buffer.oldest_full();
  buffer.leave(full);
  EXPECT_EQ(buffer.oldest_full(), nullptr);
  const StoreBlock& part = *buffer.oldest_to_leave(1);
  EXPECT_EQ(part.address, 0x2000U);
  buffer.leave(part);
  EXPECT_EQ(buffer.oldest_to_leave(1), nullptr);
  EXPECT_FALSE(buffer.takes(0x2008));
  EXPECT_FALSE(buffer.takes(0x3000));
  EXPECT_NE(buffer.oldest_of(1), nullptr);
  buffer.release(full);
  EXPECT_TRUE(buffer.takes(0x3000));
  put(buffer, 0x3000, 8);
  EXPECT_EQ(buffer.oldest_to_leave(1)->address, 0x3000U);
}

}  // namespace
}  // namespace flitwise::store_buffer_test
