// SPDX-License-Identifier: Apache-2.0
// Page requests between stand-ins: order, and who answers.
#include "iommu/page_requests.h"

#include <gtest/gtest.h>

#include "agent_fakes.h"

namespace flitwise::page_requests_test {
namespace {

using namespace test;

constexpr std::uint64_t kQueue = 0x20000;

class PageRequestsTest : public ::testing::Test {
 protected:
  PageRequestsTest() {
    registers.write(iommu_register::kPqa, 8, kQueue);
    registers.set_global_status(global_bit::kTranslation, true);
    translations.result.outcome = WalkOutcome::kTranslated;
  }
  static PageRequest request(std::uint64_t page, bool is_last = false) {
    PageRequest request;
    request.function = Bdf::of(1, 0, 0);
    request.page = page;
    request.prg_index = 4;
    request.is_last = is_last;
    request.read = true;
    return request;
  }

  IommuCapabilities offers;
  RunningRegisters registers{offers};
  FakeAgentTranslations translations;
  FakeAgentMemory memory;
  FakeAgentEvents events;
  PageRequests pages{
      PageRequestOverflow::kRespondSuccess, true, registers, translations, memory, events};
};

// [IOM-8.1] [IOM-8.2]
TEST_F(PageRequestsTest, IOM_8_1_RequestIsRecordedAndSoftwareIsToldOnceItIsInMemory) {
  pages.receive(request(0x7000, true), 0);
  EXPECT_EQ(translations.asked[0].request.kind, WalkKind::kPageRequest);
  EXPECT_EQ(translations.forgotten, std::vector<std::uint64_t>{0x7000});
  ASSERT_EQ(memory.writes.size(), 1U);
  EXPECT_EQ(memory.writes[0].address, kQueue);
  EXPECT_EQ(decode_page_request(memory.written.data())->page, 0x7000U);
  EXPECT_EQ(events.interrupts, 0U);
  EXPECT_FALSE(pages.is_quiet());
  pages.memory_done(true, Time::from_ns(10));
  pages.work(Time::from_ns(9));
  EXPECT_EQ(events.interrupts, 0U);
  pages.work(Time::from_ns(10));
  EXPECT_EQ(events.interrupts, 1U);
  EXPECT_EQ(events.settled, 1U);
  EXPECT_TRUE(pages.is_quiet());
  EXPECT_FALSE(pages.is_drained());  // software has not taken it [IQU-15]
}

// [PRI-02]
TEST_F(PageRequestsTest, PRI_02_RecordsKeepTheOrderOfArrival) {
  translations.answers_at_once = false;
  pages.receive(request(0x1000), 0);
  pages.receive(request(0x2000, true), 0);
  const auto answer = [&](std::size_t index) {
    translations.asked[index].client->translated(translations.asked[index].ticket,
                                                 translations.result, now());
  };
  answer(1);
  EXPECT_TRUE(memory.writes.empty());
  EXPECT_NE(pages.waiting("iommu0"), "");
  answer(0);
  ASSERT_EQ(memory.writes.size(), 2U);
  EXPECT_EQ(decode_page_request(memory.written.data())->page, 0x2000U);
}

// A function that may not ask gets one answer for its group. [PRI-40]
TEST_F(PageRequestsTest, PRI_40_LastRequestOfARefusedGroupIsAnswered) {
  translations.result.outcome = WalkOutcome::kFault;
  pages.receive(request(0x1000), 0);
  EXPECT_TRUE(events.sent.empty());
  pages.receive(request(0x2000, true), 0);
  ASSERT_EQ(events.sent.size(), 1U);
  const PrgResponse response = prg_response_of(events.sent[0]->tlp);
  EXPECT_EQ(prg_code_of(response.code), PrgCode::kInvalidRequest);
  EXPECT_EQ(response.prg_index, 4U);
  EXPECT_TRUE(memory.writes.empty());
}

// [PRI-14]
TEST_F(PageRequestsTest, PRI_14_RecordThatMemoryRefusesIsAnsweredByTheAgent) {
  pages.receive(request(0x1000, true), 0);
  pages.memory_done(false, Time{});
  pages.work(Time{});
  ASSERT_EQ(events.sent.size(), 1U);
  EXPECT_NE(prg_code_of(prg_response_of(events.sent[0]->tlp).code), PrgCode::kSuccess);
}

// [PRI-18]
TEST_F(PageRequestsTest, PRI_18_WithoutTranslationNothingIsRecorded) {
  registers.set_global_status(global_bit::kTranslation, false);
  pages.receive(request(0x1000, true), 0);
  EXPECT_TRUE(translations.asked.empty());
  EXPECT_TRUE(memory.writes.empty());
}

}  // namespace
}  // namespace flitwise::page_requests_test
