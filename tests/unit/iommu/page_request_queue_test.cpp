// SPDX-License-Identifier: Apache-2.0
// The page request queue: records, overflow, events.
#include "iommu/agent_queues.h"

#include <gtest/gtest.h>

#include "iommu/entries.h"

namespace flitwise::page_request_queue_test {
namespace {

using namespace iommu_register;

class PageRequestQueueRules : public ::testing::Test {
 protected:
  PageRequestQueueRules() {
    registers.write(kPqa, 8, 0x8000);  // 128 entries
    registers.write(kPectl, 4, 0);
    request.function = Bdf::of(1, 2, 3);
    request.pasid = Pasid{0x12345};
    request.page = 0xabcd'e000;
    request.read = request.is_last = true;
    request.prg_index = 0x155;
  }
  PageRequestQueue::Admission admit() { return queue.admit(request, true, registers); }
  void fill() {
    for (unsigned i = 0; i < 127; ++i) {
      ASSERT_TRUE(admit().record);
      queue.written(registers);
    }
  }
  IommuCapabilities offers;
  IommuRegisters registers{offers};
  PageRequestQueue queue{PageRequestOverflow::kRespondSuccess};
  PageRequest request;
};

// [IOM-8.1]
TEST_F(PageRequestQueueRules, PRI_01_RecordHasTheFieldsOfTheRequest) {
  request.write = request.privileged = true;
  const PageRequestRecord record = encode_page_request(request);
  EXPECT_EQ(load_u64(record.data()), 0x0021'2345'0113'0101U);
  EXPECT_EQ(load_u64(record.data() + 8), 0xabcd'eaafU);
  const auto back = decode_page_request(record.data());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->function, request.function);
  EXPECT_EQ(back->pasid, request.pasid);
  EXPECT_EQ(back->page, request.page);
  EXPECT_EQ(back->prg_index, request.prg_index);
  EXPECT_TRUE(back->read && back->write && back->privileged && back->is_last);
  EXPECT_FALSE(back->execute);
  EXPECT_FALSE(decode_page_request(PageRequestRecord{}.data()));
}

TEST_F(PageRequestQueueRules, PRI_01_TailMovesWhenTheRecordIsInMemory) {
  EXPECT_EQ(admit().record, 0x8000U);
  EXPECT_EQ(admit().record, 0x8020U);
  EXPECT_EQ(registers.page_request_queue().tail, 0U);
  EXPECT_FALSE(queue.is_drained(registers));
  EXPECT_TRUE(queue.written(registers));
  EXPECT_EQ(registers.page_request_queue().tail, 0x20U);
  EXPECT_FALSE(queue.written(registers));
  EXPECT_EQ(registers.page_request_queue().tail, 0x40U);
}

TEST_F(PageRequestQueueRules, IQU_15_DrainedWhenSoftwareHasTakenAllRecords) {
  EXPECT_TRUE(queue.is_drained(registers));
  admit();
  queue.written(registers);
  EXPECT_FALSE(queue.is_drained(registers));
  registers.write(kPqh, 8, 0x20);
  EXPECT_TRUE(queue.is_drained(registers));
}

TEST_F(PageRequestQueueRules, PRI_13_PRI_15_FullQueueAnswersSuccessUntilCleared) {
  fill();
  EXPECT_EQ(admit().answer, PrgCode::kSuccess);
  EXPECT_EQ(registers.read(kPrs, 4),
            page_request_status::kPending | page_request_status::kOverflow);
  registers.write(kPqh, 8, 0x40);  // room again, but PRO still set
  EXPECT_EQ(admit().answer, PrgCode::kSuccess);
  request.is_last = false;
  EXPECT_EQ(admit().answer, std::nullopt);
  EXPECT_EQ(queue.dropped(), 3U);
  registers.write(kPrs, 4, page_request_status::kOverflow);
  EXPECT_TRUE(admit().record);
}

TEST_F(PageRequestQueueRules, PRI_15_PolicyDropAnswersNothing) {
  queue = PageRequestQueue(PageRequestOverflow::kDrop);
  fill();
  EXPECT_EQ(admit().answer, std::nullopt);
  EXPECT_EQ(admit().answer, std::nullopt);
}

TEST_F(PageRequestQueueRules, PRI_16_OverflowOnTopOfPendingIsNoSecondEvent) {
  fill();
  EXPECT_FALSE(admit().interrupt);
}

TEST_F(PageRequestQueueRules, PRI_14_MemoryErrorAnswersFailure) {
  ASSERT_TRUE(admit().record);
  EXPECT_EQ(queue.write_failed(request, registers), PrgCode::kResponseFailure);
  EXPECT_EQ(queue.in_flight(), 0U);
}

TEST_F(PageRequestQueueRules, PRI_05_RequestForNothingIsInvalid) {
  request.read = false;
  request.pasid = std::nullopt;
  EXPECT_EQ(admit().answer, PrgCode::kInvalidRequest);
}

TEST_F(PageRequestQueueRules, PRI_06_StopMarkerIsRecordedAndNeverAnswered) {
  request.read = false;
  EXPECT_TRUE(request.is_stop_marker());
  EXPECT_TRUE(admit().record);
  queue.written(registers);
  request.read = true;
  for (unsigned i = 0; i < 126; ++i) {
    admit();
    queue.written(registers);
  }
  request.read = false;
  EXPECT_EQ(admit().answer, std::nullopt);
}

TEST_F(PageRequestQueueRules, PRI_39_DisabledQueueAnswersFailure) {
  EXPECT_EQ(queue.admit(request, false, registers).answer, PrgCode::kResponseFailure);
  request.is_last = false;
  EXPECT_EQ(queue.admit(request, false, registers).answer, std::nullopt);
}

}  // namespace
}  // namespace flitwise::page_request_queue_test
