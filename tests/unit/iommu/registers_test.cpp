// SPDX-License-Identifier: Apache-2.0
// The register page: what software can write, what a write sets off, interrupts.
#include "iommu/registers.h"

#include <gtest/gtest.h>

#include "common/page.h"

namespace flitwise::registers_test {
namespace {

using namespace iommu_register;

class Registers : public ::testing::Test {
 protected:
  IommuCapabilities offers;
  IommuRegisters registers{offers};
  std::uint64_t read32(std::uint32_t offset) { return registers.read(offset, 4); }
  std::uint64_t read64(std::uint32_t offset) { return registers.read(offset, 8); }
  void unmask(std::uint32_t control, std::uint64_t address, std::uint32_t data) {
    registers.write(control + 4, 4, data);
    registers.write(control + 8, 8 - 4, address & 0xffff'ffff);
    registers.write(control + 12, 4, address >> 32);
    registers.write(control, 4, 0);
  }
};

// [IOM-1.1]
TEST_F(Registers, CapabilitiesAreReadOnly) {
  registers.write(kCap, 8, 0);
  registers.write(kEcap, 4, 0);
  registers.write(kVer, 4, 0xff);
  registers.write(kGsts, 4, 0xffff'ffff);
  registers.write(kIqh, 8, 0x40);
  EXPECT_EQ(read64(kCap), cap_register(offers));
  EXPECT_EQ(read64(kEcap), ecap_register(offers));
  EXPECT_EQ(read32(kVer), 0x10U);
  EXPECT_EQ(read32(kGsts), 0U);
  EXPECT_EQ(read64(kIqh), 0U);
}

// [IOM-1.1]
TEST_F(Registers, AccessIsFourOrEightBytesAligned) {
  EXPECT_EQ(read32(kCap + 4), cap_register(offers) >> 32);
  EXPECT_EQ(registers.read(kCap, 2), 0U);
  EXPECT_EQ(registers.read(kCap + 4, 8), 0U);
  EXPECT_EQ(registers.read(kPageBytes, 4), 0U);
  registers.write(kRtaddr, 4, 0x1234'5400);
  registers.write(kRtaddr + 4, 4, 0x7);
  EXPECT_EQ(read64(kRtaddr), 0x7'1234'5400U);
  registers.write(kRtaddr + 2, 4, 0);
  EXPECT_EQ(read64(kRtaddr), 0x7'1234'5400U);
}

// [IOM-1.4]
TEST_F(Registers, RootTableCountsFromSrtpOn) {
  registers.write(kRtaddr, 8, 0x5000 | 1 << 10 | 0x3ff);
  EXPECT_EQ(read64(kRtaddr), 0x5400U);
  EXPECT_EQ(registers.root_table().mode, TableMode::kLegacy);
  const RegisterEffects effects = registers.write(kGcmd, 4, global_bit::kRootTable);
  EXPECT_TRUE(effects.sets_root_table);
  EXPECT_FALSE(effects.changes_translation || effects.changes_queue);
  EXPECT_EQ(read32(kGsts) & global_bit::kRootTable, 0U);
  registers.latch_root_table();
  registers.set_global_status(global_bit::kRootTable, true);
  EXPECT_EQ(registers.root_table().address, 0x5000U);
  EXPECT_EQ(registers.root_table().mode, TableMode::kScalable);
  EXPECT_NE(read32(kGsts) & global_bit::kRootTable, 0U);
  EXPECT_EQ(read32(kGcmd), 0U);
}

// [IOM-1.4]
TEST_F(Registers, LastingCommandsAreComparedWithTheStatus) {
  RegisterEffects effects = registers.write(kGcmd, 4, global_bit::kTranslation);
  EXPECT_TRUE(effects.changes_translation && effects.enables_translation);
  EXPECT_FALSE(registers.translates());
  registers.set_global_status(global_bit::kTranslation, true);
  EXPECT_TRUE(registers.translates());
  effects = registers.write(kGcmd, 4, global_bit::kTranslation | global_bit::kQueue);
  EXPECT_FALSE(effects.changes_translation);
  EXPECT_TRUE(effects.changes_queue && effects.enables_queue);
  registers.set_global_status(global_bit::kQueue, true);
  effects = registers.write(kGcmd, 4, global_bit::kQueue);
  EXPECT_TRUE(effects.changes_translation);
  EXPECT_FALSE(effects.enables_translation);
  EXPECT_FALSE(effects.changes_queue);
}

// [IOM-1.7]
TEST_F(Registers, QueueDescribesItselfInBytes) {
  registers.write(kIqa, 8, 0x9000);
  EXPECT_EQ(registers.invalidation_queue().bytes, 256U * 16);
  EXPECT_EQ(registers.invalidation_queue().entry_bytes, 16U);
  registers.write(kIqa, 8, 0x9000 | 1 << 11 | 2);
  const QueueView queue = registers.invalidation_queue();
  EXPECT_EQ(queue.base, 0x9000U);
  EXPECT_EQ(queue.bytes, 128U * 32 * 4);
  EXPECT_EQ(queue.entry_bytes, 32U);
}

TEST_F(Registers, IQU_09_OffsetsWrap) {
  registers.write(kIqa, 8, 0x9000 | 1 << 11);
  const QueueView queue = registers.invalidation_queue();
  EXPECT_EQ(queue.after(0), 32U);
  EXPECT_EQ(queue.after(4096 - 64), 4096U - 32);
  EXPECT_EQ(queue.after(4096 - 32), 0U);
}

TEST_F(Registers, IQU_10_TailWithBit4IsInvalidInWideQueues) {
  EXPECT_TRUE(registers.write(kIqt, 8, 0x30).moves_queue_tail);
  EXPECT_TRUE(registers.queue_tail_is_valid());
  EXPECT_EQ(registers.invalidation_queue().tail, 0x30U);
  registers.write(kIqa, 8, 1 << 11);
  EXPECT_FALSE(registers.queue_tail_is_valid());
  registers.write(kIqt, 8, 0x20);
  EXPECT_TRUE(registers.queue_tail_is_valid());
  registers.write(kIqt, 8, 0x1000);
  EXPECT_FALSE(registers.queue_tail_is_valid());
}

TEST_F(Registers, IQU_05_WaitWithInterruptSetsIwcOnce) {
  unmask(kIectl, 0xfee0'1000, 0x55);
  const auto first = registers.raise_invalidation();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->address, 0xfee0'1000U);
  EXPECT_EQ(first->data, 0x55U);
  EXPECT_EQ(first->event, IommuEvent::kInvalidation);
  EXPECT_EQ(read32(kIcs), 1U);
  EXPECT_FALSE(registers.raise_invalidation());
  registers.write(kIcs, 4, 0);
  EXPECT_EQ(read32(kIcs), 1U);
  registers.write(kIcs, 4, 1);
  EXPECT_EQ(read32(kIcs), 0U);
  EXPECT_TRUE(registers.raise_invalidation());
}

// [IOM-1.5]: the errors and what clears them.
TEST_F(Registers, IQU_08_ErrorsAreClearedOneByOneAndNameTheirSource) {
  registers.raise_fault(fault_status::kTimeout);
  registers.set_timeout_source(Bdf::of(1, 2, 3));
  EXPECT_EQ(read64(kIqer) >> 32 & 0xffff, Bdf::of(1, 2, 3).value);
  registers.write(kFsts, 4, fault_status::kQueueError);
  EXPECT_EQ(read32(kFsts), fault_status::kTimeout);
  registers.write(kFsts, 4, fault_status::kTimeout);
  EXPECT_EQ(read32(kFsts), 0U);
  registers.raise_fault(fault_status::kQueueError);
  registers.set_queue_error(4);
  EXPECT_EQ(read64(kIqer) & 0xf, 4U);
  registers.raise_fault(fault_status::kCompletionError);
  registers.set_completion_error_source(Bdf::of(2, 0, 0));
  EXPECT_EQ(read64(kIqer) >> 48, 0x200U);
  EXPECT_EQ(read32(kFsts), fault_status::kQueueError | fault_status::kCompletionError);
}

// [IOM-9.3]
TEST_F(Registers, FaultInterruptGoesOutForTheFirstErrorAndPendsWhileMasked) {
  EXPECT_FALSE(registers.raise_fault(fault_status::kQueueError));
  EXPECT_EQ(read32(kFectl), 0xc000'0000U);
  registers.write(kFedata, 4, 7);
  const RegisterEffects effects = registers.write(kFectl, 4, 0);
  ASSERT_TRUE(effects.interrupt);
  EXPECT_EQ(effects.interrupt->data, 7U);
  EXPECT_EQ(read32(kFectl), 0U);
  EXPECT_FALSE(registers.raise_fault(fault_status::kTimeout));
  registers.write(kFsts, 4, 0xff);
  EXPECT_EQ(read32(kFsts), 0U);
  EXPECT_TRUE(registers.raise_fault(fault_status::kTimeout));
}

TEST_F(Registers, PRI_16_NoSecondEventWhilePprIsSet) {
  unmask(kPectl, 0x1'fee0'2000, 9);
  EXPECT_EQ(registers.raise_page_request(page_request_status::kPending)->address, 0x1'fee0'2000U);
  EXPECT_FALSE(registers.raise_page_request(page_request_status::kPending));
  registers.write(kPrs, 4, page_request_status::kPending);
  EXPECT_EQ(read32(kPrs), 0U);
  EXPECT_TRUE(registers.raise_page_request(page_request_status::kPending));
}

TEST_F(Registers, PRI_17_MaskedEventPendsUntilUnmasked) {
  EXPECT_FALSE(registers.raise_page_request(page_request_status::kPending));
  EXPECT_EQ(read32(kPectl), 0xc000'0000U);
  EXPECT_TRUE(registers.write(kPectl, 4, 0).interrupt);
  EXPECT_EQ(read32(kPectl), 0U);
}

// [IOM-1.8]
TEST_F(Registers, RegisterBasedInvalidationStartsWithItsTopBit) {
  EXPECT_FALSE(registers.write(kCcmd, 8, 1ULL << 61).invalidates_contexts);
  EXPECT_TRUE(registers.write(kCcmd, 8, 1ULL << 63 | 1ULL << 61).invalidates_contexts);
  registers.finish_context_command(1);
  EXPECT_EQ(read64(kCcmd), 1ULL << 61 | 1ULL << 59);
  EXPECT_FALSE(registers.write(0xf0, 8, 0x5000).invalidates_iotlb);
  EXPECT_EQ(registers.iotlb_address(), 0x5000U);
  EXPECT_TRUE(registers.write(0xf8, 8, 1ULL << 63 | 3ULL << 60).invalidates_iotlb);
  registers.finish_iotlb_command(3);
  EXPECT_EQ(read64(0xf8), 3ULL << 60 | 3ULL << 57);
}

TEST_F(Registers, PRI_13_OverflowIsClearedByWritingOne) {
  registers.raise_page_request(page_request_status::kOverflow);
  registers.write(kPrs, 4, page_request_status::kPending);
  EXPECT_EQ(read32(kPrs), page_request_status::kOverflow);
  registers.write(kPrs, 4, page_request_status::kOverflow);
  EXPECT_EQ(read32(kPrs), 0U);
}

}  // namespace
}  // namespace flitwise::registers_test
