// SPDX-License-Identifier: Apache-2.0
// Commands of software between stand-ins: their order, their time, and what a wait waits for.
#include "iommu/command_unit.h"

#include <gtest/gtest.h>

#include "agent_fakes.h"
#include "iommu/invalidation_descriptor.h"
#include "iommu/page_requests.h"

namespace flitwise::command_unit_test {
namespace {

using namespace test;
namespace reg = iommu_register;

constexpr Bdf kFunction = Bdf::of(1, 0, 0);
constexpr Time kExecution = Time::from_ns(20), kTimeout = Time::from_us(100);

IommuConfig config_of_test() {
  IommuConfig config;
  config.timing.invalidation = kExecution;
  config.timing.invalidate_timeout = kTimeout;
  return config;
}

class CommandUnitTest : public ::testing::Test {
 protected:
  void write(std::uint32_t offset, unsigned bytes, std::uint64_t value) {
    unit.apply(registers.write(offset, bytes, value));
  }
  std::uint64_t head() { return registers.read(reg::kIqh, 8); }
  /// Puts commands behind those that are there, and tells the unit.
  void submit(const std::vector<DescriptorBytes>& commands) {
    for (const DescriptorBytes& command : commands) {
      for (unsigned i = 0; i < command.size(); i += 8) {
        memory.words[RunningRegisters::kQueue + tail + i] = load_u64(command.data() + i);
      }
      tail += kWideDescriptorBytes;
    }
    write(reg::kIqt, 8, tail);
  }
  /// Ends the access that is open, then lets the unit go on.
  void serve() {
    t += Time::from_ns(100);
    if (!memory.reads.empty()) {
      const auto bytes = memory.bytes_at(memory.reads.back().address);
      memory.reads.clear();
      unit.memory_done(bytes.data(), t);
    } else {
      memory.writes.clear();
      unit.memory_done(bytes_written.data(), t);
    }
    unit.work(t);
  }
  void pass(Time delay) {
    t += delay;
    unit.work(t);
  }
  static DeviceTlbInvalidation of_tlb() {
    DeviceTlbInvalidation command;
    command.source = kFunction;
    command.queue_depth = 1;
    return command;
  }
  static InvalidationWait wait_with_status() {
    InvalidationWait wait;
    wait.writes_status = true;
    wait.status = 0x1234'5678;
    wait.status_address = 0x8000;
    return wait;
  }
  static InvalidateCompletion completion() {
    InvalidateCompletion completion;
    completion.agent = kRootComplexId;
    completion.function = kFunction;
    completion.itag_vector = 1;
    return completion;
  }

  std::array<std::uint8_t, 64> bytes_written{};
  Time t{};
  std::uint64_t tail = 0;
  IommuCapabilities offers;
  RunningRegisters registers{offers};
  FakeAgentTranslations translations;
  FakeAgentMemory memory;
  FakeAgentEvents events;
  IommuResult counts;
  PageRequests pages{
      PageRequestOverflow::kRespondSuccess, true, registers, translations, memory, events};
  CommandUnit unit{
      config_of_test(), offers, {registers, translations, pages, memory, events, counts}};
};

// [IOM-5.10]
TEST_F(CommandUnitTest, IOM_5_10_CommandsAreCarriedOutOneAfterAnotherEachInItsTime) {
  submit({encode(IotlbInvalidation{}), encode(PasidCacheInvalidation{})});
  ASSERT_EQ(memory.reads.size(), 1U);
  EXPECT_EQ(memory.reads[0].address, RunningRegisters::kQueue);
  serve();
  EXPECT_EQ(translations.invalidated.size(), 1U);
  EXPECT_EQ(head(), 0U);
  pass(kExecution - Time{1});
  EXPECT_EQ(head(), 0U);
  pass(Time{1});
  EXPECT_EQ(head(), 0x20U);
  serve();
  EXPECT_EQ(translations.invalidated.size(), 2U);
}

// [IQU-04] [IQU-06]
TEST_F(CommandUnitTest, IQU_06_WaitEndsOnceNothingUsesWhatWasInvalidated) {
  translations.drained = false;
  submit({encode(wait_with_status())});
  serve();
  EXPECT_TRUE(memory.writes.empty());
  unit.settle();
  EXPECT_TRUE(memory.writes.empty());
  EXPECT_NE(unit.waiting("iommu0"), "");
  translations.drained = true;
  unit.settle();
  ASSERT_EQ(memory.writes.size(), 1U);
  EXPECT_EQ(memory.writes[0].address, 0x8000U);
  EXPECT_EQ(memory.writes[0].bytes, 4U);
  EXPECT_EQ(memory.written[0], 0x78U);
  EXPECT_EQ(events.statuses, 1U);
  EXPECT_EQ(head(), 0U);
  serve();
  EXPECT_EQ(head(), 0x20U);
  EXPECT_TRUE(unit.is_quiet());
}

// [INV-35] [IQU-04]
TEST_F(CommandUnitTest, IQU_04_WaitWaitsForTheDevice) {
  submit({encode(of_tlb()), encode(wait_with_status())});
  serve();
  EXPECT_EQ(events.sent.size(), 1U);
  pass(kExecution);
  serve();
  EXPECT_TRUE(memory.writes.empty());
  unit.completed(completion(), t);
  EXPECT_EQ(memory.writes.size(), 1U);
  EXPECT_EQ(unit.answers(), 1U);
}

// [IQU-15]
TEST_F(CommandUnitTest, IQU_15_WaitWithPdWaitsForPageRequests) {
  registers.set_global_status(global_bit::kTranslation, true);
  translations.answers_at_once = false;
  pages.receive(PageRequest{}, 0);
  InvalidationWait wait = wait_with_status();
  wait.drains_page_requests = true;
  submit({encode(wait)});
  serve();
  EXPECT_TRUE(memory.writes.empty());
  translations.asked[0].client->translated(translations.asked[0].ticket, WalkResult{}, now());
  unit.settle();
  EXPECT_EQ(memory.writes.size(), 1U);
}

// [INV-31]
TEST_F(CommandUnitTest, INV_31_QueueStandsUntilTheFunctionHasRoom) {
  submit({encode(of_tlb()), encode(of_tlb()), encode(IotlbInvalidation{})});
  serve();
  pass(kExecution);
  serve();
  pass(kExecution);
  EXPECT_EQ(head(), 0x20U);
  EXPECT_TRUE(memory.reads.empty());
  unit.completed(completion(), t);
  pass(kExecution);
  EXPECT_EQ(head(), 0x40U);
  EXPECT_EQ(memory.reads.size(), 1U);
}

// [IQU-07] [INV-20]
TEST_F(CommandUnitTest, IQU_07_DeviceThatDoesNotAnswerEndsTheWait) {
  submit({encode(of_tlb()), encode(wait_with_status())});
  serve();
  pass(kExecution);
  serve();
  unit.expire(unit.next_timeout());
  EXPECT_EQ(registers.read(reg::kFsts, 4) & fault_status::kTimeout, fault_status::kTimeout);
  EXPECT_EQ(events.interrupts, 1U);
  EXPECT_TRUE(memory.writes.empty());
  EXPECT_EQ(unit.waiting("iommu0"), "");
}

// [INV-13]
TEST_F(CommandUnitTest, INV_13_UnexpectedCompletionSetsIce) {
  unit.completed(completion(), t);
  EXPECT_EQ(registers.read(reg::kFsts, 4), fault_status::kCompletionError);
  EXPECT_EQ(unit.answers(), 0U);
}

// [IOM-1.4]
TEST_F(CommandUnitTest, IOM_1_4_QueueThatIsTurnedOffEndsItsCommandFirst) {
  submit({encode(IotlbInvalidation{}), encode(IotlbInvalidation{})});
  serve();
  write(reg::kGcmd, 4, 0);
  EXPECT_TRUE(registers.queue_is_enabled());
  pass(kExecution);
  EXPECT_FALSE(registers.queue_is_enabled());
  EXPECT_EQ(head(), 0U);
  EXPECT_TRUE(memory.reads.empty());
}

// [IOM-1.8]
TEST_F(CommandUnitTest, IOM_1_8_CommandInARegisterEndsOnceNothingUsesWhatItInvalidated) {
  constexpr std::uint64_t kInvalidate = std::uint64_t{1} << 63;
  translations.drained = false;
  write(reg::kCcmd, 8, kInvalidate | std::uint64_t{1} << 61);
  EXPECT_EQ(translations.invalidated.size(), 1U);
  EXPECT_NE(registers.read(reg::kCcmd, 8) & kInvalidate, 0U);
  translations.drained = true;
  unit.settle();
  EXPECT_EQ(registers.read(reg::kCcmd, 8) & kInvalidate, 0U);
}

// [PRI-10]
TEST_F(CommandUnitTest, IOM_5_8_PageGroupResponseGoesToItsFunction) {
  PageGroupResponse response;
  response.source = kFunction;
  response.group = 9;
  submit({encode(response)});
  serve();
  ASSERT_EQ(events.sent.size(), 1U);
  EXPECT_EQ(prg_response_of(events.sent[0]->tlp).prg_index, 9U);
}

}  // namespace
}  // namespace flitwise::command_unit_test
