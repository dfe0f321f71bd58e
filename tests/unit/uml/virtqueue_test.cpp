// SPDX-License-Identifier: Apache-2.0
#include "uml/virtqueue.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <boost/endian/conversion.hpp>
#include <random>

namespace flitwise::virtqueue_test {

using namespace boost::endian;

/// The driver's end: memory of 64 KiB at 10000h, by which rings are named as 7000_0000h.
class Driver {
 public:
  static constexpr std::uint64_t kBase = 0x1'0000, kUser = 0x7000'0000, kSize = 0x1'0000;
  static constexpr unsigned kEntries = 8;
  static constexpr std::uint64_t kAvailable = 0x1000, kUsed = 0x2000, kData = 0x4000;

  Driver() {
    OwnedFile file(memfd_create("guest", MFD_CLOEXEC));
    EXPECT_EQ(ftruncate(file.get(), kSize), 0);
    EXPECT_TRUE(memory.add({kBase, kSize, kUser, 0}, std::move(file)));
    EXPECT_TRUE(queue.set_entries(kEntries));
    EXPECT_TRUE(queue.set_rings(kUser, kUser + kAvailable, kUser + kUsed));
    queue.set_enabled(true);
  }
  std::uint8_t* at(std::uint64_t offset) { return memory.at(kBase + offset, 1); }
  void describe(unsigned index, std::uint64_t address, std::uint32_t bytes, std::uint16_t flags,
                std::uint16_t next = 0) {
    std::uint8_t* const to = at(index * 16U);
    store_little_u64(to, address);
    store_little_u32(to + 8, bytes);
    store_little_u16(to + 12, flags);
    store_little_u16(to + 14, next);
  }
  void offer(std::uint16_t head) {
    store_little_u16(at(kAvailable + 4 + offered_ % kEntries * 2U), head);
    store_little_u16(at(kAvailable + 2), ++offered_);
  }
  void rewind() { offered_ = 0; }
  std::uint16_t given_back() { return load_little_u16(at(kUsed + 2)); }

  GuestMemory memory;
  Virtqueue queue{memory};

 private:
  std::uint16_t offered_ = 0;
};

TEST(Virtqueue, AChainIsReadAndAnsweredInItsAreas) {
  Driver driver;
  std::copy_n("command", 7, driver.at(Driver::kData));
  driver.describe(3, Driver::kBase + Driver::kData, 7, 1, 5);
  driver.describe(5, Driver::kBase + Driver::kData + 0x100, 4, 1 | 2, 6);
  driver.describe(6, Driver::kBase + Driver::kData + 0x200, 8, 2);
  driver.offer(3);
  const auto chain = driver.queue.take();
  ASSERT_TRUE(chain && chain->is_good);
  EXPECT_EQ(std::string(chain->readable.begin(), chain->readable.end()), "command");
  EXPECT_EQ(chain->writable_bytes(), 12U);
  EXPECT_FALSE(driver.queue.take());
  driver.queue.answer(*chain, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(driver.given_back(), 1);
  EXPECT_EQ(load_little_u32(driver.at(Driver::kUsed + 4)), 3U);
  EXPECT_EQ(load_little_u32(driver.at(Driver::kUsed + 8)), 6U);
  EXPECT_EQ(*driver.at(Driver::kData + 0x103), 4);
  EXPECT_EQ(*driver.at(Driver::kData + 0x201), 6);
}

TEST(Virtqueue, ADescriptorOutsideOfMemoryMakesAChainOfNothing) {
  for (const std::uint64_t address :
       {Driver::kBase - 1, Driver::kBase + Driver::kSize - 3, ~std::uint64_t{0} - 1}) {
    Driver driver;
    driver.describe(0, address, 4, 0);
    driver.offer(0);
    const auto chain = driver.queue.take();
    ASSERT_TRUE(chain);
    EXPECT_FALSE(chain->is_good);
    EXPECT_EQ(driver.queue.flaws(), 1U);
    driver.queue.give_back(*chain, 0);
    EXPECT_EQ(driver.given_back(), 1);
  }
}

TEST(Virtqueue, AChainInACircleEnds) {
  Driver driver;
  driver.describe(0, Driver::kBase, 4, 1, 1);
  driver.describe(1, Driver::kBase, 4, 1, 0);
  driver.offer(0);
  EXPECT_FALSE(driver.queue.take()->is_good);
}

TEST(Virtqueue, WhatIsReadStandsInFrontOfWhatIsWritten) {
  Driver driver;
  driver.describe(0, Driver::kBase, 4, 1 | 2, 1);
  driver.describe(1, Driver::kBase, 4, 0);
  driver.offer(0);
  EXPECT_FALSE(driver.queue.take()->is_good);
}

TEST(Virtqueue, AnIndexThatHasRunAwayIsNoWork) {
  Driver driver;
  store_little_u16(driver.at(Driver::kAvailable + 2), Driver::kEntries + 1);
  EXPECT_FALSE(driver.queue.take());
  EXPECT_EQ(driver.queue.flaws(), 1U);
}

TEST(Virtqueue, RingsOutsideOfMemoryAreRefused) {
  Driver driver;
  EXPECT_FALSE(
      driver.queue.set_rings(Driver::kUser + Driver::kSize - 8, Driver::kUser, Driver::kUser));
  EXPECT_FALSE(driver.queue.take());
  EXPECT_FALSE(driver.queue.set_entries(7));
  EXPECT_FALSE(driver.queue.set_entries(0));
}

TEST(Virtqueue, AnAnswerToMemoryThatIsGoneIsDropped) {
  Driver driver;
  driver.describe(0, Driver::kBase, 4, 2);
  driver.offer(0);
  const auto chain = driver.queue.take();
  driver.queue.forget_rings();
  driver.memory.clear();
  driver.queue.answer(*chain, {1, 2, 3, 4});
  EXPECT_FALSE(driver.queue.take());
}

// Arbitrary bytes in rings and descriptors: chains stay within memory, and taking them ends.
TEST(Virtqueue, RandomRingsAreMetWithChecks) {
  std::mt19937 random(20);
  Driver driver;
  for (unsigned round = 0; round < 2000; ++round) {
    for (unsigned i = 0; i < Driver::kEntries; ++i) {
      driver.describe(i, Driver::kBase + random() % (2 * Driver::kSize), random() % 0x8000,
                      static_cast<std::uint16_t>(random() % 8),
                      static_cast<std::uint16_t>(random() % 10));
    }
    driver.offer(static_cast<std::uint16_t>(random() % 10));
    while (const auto chain = driver.queue.take()) {
      driver.queue.answer(*chain, std::vector<std::uint8_t>(16, 0xff));
    }
    // Answers may have gone into the rings themselves: begin again.
    std::fill_n(driver.at(0), 0x3000, std::uint8_t{0});
    driver.queue.set_next(0);
    driver.queue.set_rings(Driver::kUser, Driver::kUser + Driver::kAvailable,
                           Driver::kUser + Driver::kUsed);
    store_little_u16(driver.at(Driver::kAvailable + 2), 0);
    driver.queue.set_next(0);
    driver.rewind();
  }
}

}  // namespace flitwise::virtqueue_test
