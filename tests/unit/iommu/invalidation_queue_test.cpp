// SPDX-License-Identifier: Apache-2.0
// The invalidation queue: order, waits, errors.
#include "iommu/agent_queues.h"

#include <gtest/gtest.h>

#include <array>

#include "iommu/entries.h"

namespace flitwise::invalidation_queue_test {
namespace {

using namespace iommu_register;
constexpr std::uint64_t kDeviceTlb = 3, kWaitWithStatus = 0x25, kWaitWithInterrupt = 0x15,
                        kFence = 0x45, kDrain = 0x85, kContext = 0x11;

class Queue : public ::testing::Test {
 protected:
  Queue() {
    registers.write(kIqa, 8, 0x9000 | 1 << 11);
    registers.set_global_status(global_bit::kQueue, true);
    registers.write(kIectl, 4, 0);
    set_tail(0x400);
  }
  void set_tail(std::uint64_t tail) { registers.write(kIqt, 8, tail); }
  std::uint64_t head() { return registers.read(kIqh, 8); }
  std::uint64_t status() { return registers.read(kFsts, 4); }
  InvalidationQueue::Fetched fetch(std::uint64_t low, std::uint64_t high = 0) {
    EXPECT_EQ(queue.fetch_address(registers), 0x9000 + head());
    queue.fetch_begins();
    return arrive(low, high);
  }
  InvalidationQueue::Fetched arrive(std::uint64_t low, std::uint64_t high = 0) {
    std::array<std::uint8_t, 32> bytes{};
    store_u64(bytes.data(), low);
    store_u64(bytes.data() + 8, high);
    return queue.fetched(bytes.data(), offers, registers);
  }
  void send_to_device() {
    fetch(kDeviceTlb);
    queue.sent_to_device();
    queue.carried_out(registers);
  }
  bool is_fetching() { return queue.fetch_address(registers).has_value(); }
  IommuCapabilities offers;
  IommuRegisters registers{offers};
  InvalidationQueue queue;
};

// [IOM-5.10]
TEST_F(Queue, HeadMovesWhenTheCommandIsCarriedOut) {
  fetch(kContext);
  EXPECT_FALSE(is_fetching());
  EXPECT_EQ(head(), 0U);
  queue.carried_out(registers);
  EXPECT_EQ(head(), 0x20U);
  EXPECT_TRUE(is_fetching());
  set_tail(0x20);
  EXPECT_FALSE(is_fetching());
}

// [IOM-5.10]
TEST_F(Queue, NothingIsFetchedWhileItIsOff) {
  registers.set_global_status(global_bit::kQueue, false);
  EXPECT_FALSE(is_fetching());
}

TEST_F(Queue, IQU_01_IQU_08_ErrorKeepsTheHeadUntilSoftwareClearsIt) {
  fetch(0xf);
  EXPECT_EQ(status(), fault_status::kQueueError);
  EXPECT_EQ(registers.read(kIqer, 8), 3U);
  EXPECT_EQ(head(), 0U);
  EXPECT_FALSE(is_fetching());
  registers.write(kFsts, 4, fault_status::kQueueError);
  fetch(kWaitWithStatus);  // software put a wait in its place
  EXPECT_TRUE(queue.wait_is_complete(true));
}

TEST_F(Queue, IQU_07_AWaitThatIsBeingFetchedAtATimeoutIsGivenUp) {
  send_to_device();
  queue.fetch_begins();
  queue.device_timed_out(Bdf::of(1, 0, 0), registers);
  registers.write(kFsts, 4, fault_status::kTimeout);  // software is quicker than memory
  const std::uint64_t before = head();
  EXPECT_EQ(std::get<DescriptorError>(arrive(kWaitWithStatus).command), DescriptorError::kStopped);
  EXPECT_FALSE(queue.is_waiting());
  EXPECT_EQ(head(), before + 32);
}

TEST_F(Queue, IQU_08_ACommandThatIsBeingFetchedAtATimeoutIsFetchedAgain) {
  send_to_device();
  queue.fetch_begins();
  queue.device_timed_out(Bdf::of(1, 0, 0), registers);
  const std::uint64_t before = head();
  EXPECT_EQ(std::get<DescriptorError>(arrive(kDeviceTlb).command), DescriptorError::kStopped);
  EXPECT_EQ(head(), before);
  registers.write(kFsts, 4, fault_status::kTimeout);
  EXPECT_TRUE(is_fetching());
}

// [IOM-5.10]
TEST_F(Queue, MemoryErrorIsAQueueError) {
  queue.fetch_failed(registers);
  EXPECT_EQ(status(), fault_status::kQueueError);
  EXPECT_EQ(registers.read(kIqer, 8), 2U);
}

TEST_F(Queue, IQU_04_HeadStaysOnAWaitUntilItsStatusIsWritten) {
  fetch(kWaitWithStatus | 0xabcdULL << 32, 0x5000);
  EXPECT_TRUE(queue.wait().writes_status);
  EXPECT_EQ(queue.wait().status, 0xabcdU);
  EXPECT_EQ(queue.wait().status_address, 0x5000U);
  EXPECT_EQ(head(), 0U);
  EXPECT_FALSE(is_fetching());
  EXPECT_FALSE(queue.finish_wait(registers));
  EXPECT_EQ(head(), 0x20U);
  EXPECT_FALSE(queue.is_waiting());
}

TEST_F(Queue, IQU_05_WaitWithInterruptRaisesTheEvent) {
  fetch(kWaitWithInterrupt);
  EXPECT_TRUE(queue.finish_wait(registers));
  EXPECT_EQ(registers.read(kIcs, 4), 1U);
}

TEST_F(Queue, IQU_06_WaitStandsBehindUnansweredDevices) {
  send_to_device();
  send_to_device();
  fetch(kFence);
  EXPECT_FALSE(queue.wait_is_complete(true));
  queue.device_answered();
  EXPECT_FALSE(queue.wait_is_complete(true));
  queue.device_answered();
  EXPECT_TRUE(queue.wait_is_complete(true));
}

TEST_F(Queue, IQU_07_TimeoutGivesUpTheWaitAndStops) {
  send_to_device();
  fetch(kFence);
  queue.device_timed_out(Bdf::of(1, 0, 2), registers);
  EXPECT_EQ(status(), fault_status::kTimeout);
  EXPECT_EQ(registers.read(kIqer, 8) >> 32 & 0xffff, 0x102U);
  EXPECT_FALSE(queue.is_waiting());
  EXPECT_FALSE(is_fetching());
  EXPECT_EQ(head(), 0x40U);
  registers.write(kFsts, 4, fault_status::kTimeout);
  EXPECT_TRUE(is_fetching());
}

TEST_F(Queue, IQU_09_GoesOnAtTheBaseBehindTheLast) {
  registers.set_queue_head(4096 - 32);
  set_tail(0x20);
  fetch(kContext);
  queue.carried_out(registers);
  EXPECT_EQ(head(), 0U);
  EXPECT_TRUE(is_fetching());
}

TEST_F(Queue, IQU_10_ReservedTailBitIsAnErrorOrIgnored) {
  set_tail(0x30);
  EXPECT_FALSE(registers.queue_tail_is_valid());
  InvalidationQueue lenient(ReservedTailBit::kIgnored);
  lenient.check_tail(registers);
  EXPECT_EQ(status(), 0U);
  queue.check_tail(registers);
  EXPECT_EQ(status(), fault_status::kQueueError);
  EXPECT_EQ(registers.read(kIqer, 8), 1U);
}

TEST_F(Queue, IQU_10_TailBeyondTheQueueIsAnErrorAlways) {
  set_tail(0x2000);
  EXPECT_FALSE(is_fetching());
  InvalidationQueue(ReservedTailBit::kIgnored).check_tail(registers);
  EXPECT_EQ(status(), fault_status::kQueueError);
}

TEST_F(Queue, IQU_13_PageGroupResponseIsConsumed) {
  const auto result = fetch(0x0000'0005'0123'0019, 0xaa8);
  EXPECT_TRUE(std::holds_alternative<PageGroupResponse>(result.command));
  queue.carried_out(registers);
  EXPECT_EQ(status(), 0U);
  EXPECT_EQ(head(), 0x20U);
}

TEST_F(Queue, IQU_15_DrainWaitsForThePageRequestQueue) {
  fetch(kDrain);
  EXPECT_FALSE(queue.wait_is_complete(false));
  EXPECT_TRUE(queue.wait_is_complete(true));
}

TEST_F(Queue, IQU_16_OneWaitServesABatch) {
  for (unsigned i = 0; i < 16; ++i) {
    send_to_device();
  }
  EXPECT_EQ(queue.outstanding(), 16U);
  fetch(kWaitWithStatus);
  for (unsigned i = 0; i < 16; ++i) {
    EXPECT_FALSE(queue.wait_is_complete(true));
    queue.device_answered();
  }
  EXPECT_TRUE(queue.wait_is_complete(true));
}

}  // namespace
}  // namespace flitwise::invalidation_queue_test
