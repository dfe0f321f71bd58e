// SPDX-License-Identifier: Apache-2.0
// Orders to devices between stand-ins: room, answers, time.
#include "iommu/device_orders.h"

#include <gtest/gtest.h>

#include "agent_fakes.h"
#include "dhi/dhi_message.h"

namespace flitwise::device_orders_test {
namespace {

using namespace test;

constexpr Bdf kFunction = Bdf::of(1, 0, 0);
constexpr Time kTimeout = Time::from_us(100);

class DeviceOrdersTest : public ::testing::Test {
 protected:
  DeviceOrdersTest() { orders.reach_handles(handles); }
  static DeviceTlbInvalidation of_tlb(std::uint8_t depth = 1) {
    DeviceTlbInvalidation command;
    command.source = kFunction;
    command.queue_depth = depth;
    command.address = 0x7000;
    return command;
  }
  static InvalidateCompletion completion(std::uint32_t itags) {
    InvalidateCompletion completion;
    completion.agent = kRootComplexId;
    completion.function = kFunction;
    completion.itag_vector = itags;
    return completion;
  }
  DeallocOrder last_order() {
    const Packet& packet = *events.sent.back();
    return std::get<DeallocOrder>(
        parse_dhi_message(packet.tlp, packet.payload.data(), packet.payload.size()));
  }

  FakeAgentEvents events;
  FakeHandleTables handles;
  IommuResult counts;
  DeviceOrders orders{kTimeout, events, counts};
};

// [INV-18] [INV-31]
TEST_F(DeviceOrdersTest, INV_18_FunctionWithoutRoomHoldsTheNextUntilItAnswers) {
  orders.carry_out(of_tlb(), Time{});
  EXPECT_FALSE(orders.is_holding());
  orders.carry_out(of_tlb(), Time{});
  EXPECT_TRUE(orders.is_holding());
  EXPECT_EQ(events.sent.size(), 1U);
  EXPECT_EQ(counts.held_back, 1U);
  orders.send_held(Time{});
  EXPECT_TRUE(orders.is_holding());
  EXPECT_EQ(counts.held_back, 1U);
  const DeviceOrders::Answer answer = orders.complete(completion(1), Time{});
  EXPECT_EQ(answer.orders, 1U);
  EXPECT_FALSE(answer.is_unexpected);
  orders.send_held(Time{});
  EXPECT_FALSE(orders.is_holding());
  EXPECT_EQ(events.sent.size(), 2U);
  EXPECT_EQ(counts.device_invalidations, 2U);
}

// [INV-13]
TEST_F(DeviceOrdersTest, INV_13_CompletionOfNothingIsUnexpected) {
  orders.carry_out(of_tlb(), Time{});
  const DeviceOrders::Answer answer = orders.complete(completion(1U << 5), Time{});
  EXPECT_EQ(answer.orders, 0U);
  EXPECT_TRUE(answer.is_unexpected);
  EXPECT_FALSE(orders.is_quiet());
}

// [INV-20]
TEST_F(DeviceOrdersTest, INV_20_OrderWithoutAnAnswerIsGivenUpInTime) {
  orders.carry_out(of_tlb(), Time::from_us(1));
  EXPECT_EQ(orders.next_timeout(), Time::from_us(1) + kTimeout);
  EXPECT_FALSE(orders.expire(kTimeout));
  EXPECT_EQ(orders.expire(Time::from_us(1) + kTimeout), kFunction);
  EXPECT_TRUE(orders.is_quiet());
  EXPECT_EQ(orders.next_timeout(), Time::never());
}

// [DHI D21]
TEST_F(DeviceOrdersTest, D21_StrayedRequestGoesAgainInFullAndOnlyThatAnswerCounts) {
  handles.device = HandleTables::Device{kFunction, 0};
  orders.carry_out(of_tlb(2), Time{});
  EXPECT_TRUE(handles.in_full.empty());
  orders.strayed(kFunction, 0, Time{});
  ASSERT_EQ(events.sent.size(), 2U);
  EXPECT_EQ(events.sent.back()->tlp.tag, 1U);
  EXPECT_EQ(events.sent.back()->payload, events.sent.front()->payload);
  EXPECT_EQ(handles.in_full, std::vector<std::uint8_t>{1});
  orders.strayed(kFunction, 0, Time{});  // known
  orders.strayed(kFunction, 7, Time{});  // not out
  EXPECT_EQ(events.sent.size(), 2U);
  const DeviceOrders::Answer old = orders.complete(completion(1), Time{});
  EXPECT_EQ(old.orders, 0U);
  EXPECT_FALSE(old.is_unexpected);
  EXPECT_FALSE(orders.is_quiet());
  EXPECT_EQ(orders.complete(completion(2), Time{}).orders, 1U);
  EXPECT_TRUE(orders.is_quiet());
  EXPECT_EQ(counts.device_invalidations, 1U);
}

// What strayed to nobody is never answered: nobody waits for it, and its end in time is no fault.
// [DHI D21] [INV-17] [INV-20]
TEST_F(DeviceOrdersTest, D21_StrayedRequestKeepsItsItagUntilItsTimeIsOver) {
  handles.device = HandleTables::Device{kFunction, 0};
  orders.carry_out(of_tlb(1), Time{});
  orders.strayed(kFunction, 0, Time::from_us(1));  // no ITag is free
  EXPECT_EQ(events.sent.size(), 1U);
  EXPECT_FALSE(orders.is_quiet());
  EXPECT_FALSE(orders.expire(kTimeout));
  ASSERT_EQ(events.sent.size(), 2U);
  EXPECT_EQ(handles.in_full, std::vector<std::uint8_t>{0});
  EXPECT_EQ(orders.complete(completion(1), kTimeout).orders, 1U);
  EXPECT_TRUE(orders.is_quiet());
}

// The new owner of the handle may be another function, which answers in its own name.
// [DHI D21] [INV-14]
TEST_F(DeviceOrdersTest, D21_AnswerOfAnotherFunctionOfTheDeviceEndsTheStrayedOneAndNoneOfItsOwn) {
  constexpr Bdf kNewOwner = Bdf::of(1, 0, 1);
  handles.device = HandleTables::Device{kFunction, 0};
  orders.carry_out(of_tlb(8), Time{});
  DeviceTlbInvalidation of_owner = of_tlb(8);
  of_owner.source = kNewOwner;
  orders.carry_out(of_owner, Time{});
  EXPECT_EQ(events.sent.back()->tlp.tag, 1U);  // ITags are those of the device
  orders.strayed(kFunction, 0, Time{});
  EXPECT_EQ(events.sent.back()->tlp.tag, 2U);
  InvalidateCompletion answer = completion(1);
  answer.function = kNewOwner;
  const DeviceOrders::Answer strayed = orders.complete(answer, Time{});
  EXPECT_EQ(strayed.orders, 0U);
  EXPECT_FALSE(strayed.is_unexpected);
  answer.itag_vector = 2;
  EXPECT_EQ(orders.complete(answer, Time{}).orders, 1U);
  EXPECT_EQ(orders.complete(completion(4), Time{}).orders, 1U);
  EXPECT_TRUE(orders.is_quiet());
}

// [DHI D15]
TEST_F(DeviceOrdersTest, D15_HostFreesAHandleOnceTheDeviceHasGivenItUp) {
  handles.device = HandleTables::Device{kFunction, 3};
  HandleInvalidation command;
  command.source = kFunction;
  command.lower = Dhi{5};
  orders.carry_out(command, Time{});
  EXPECT_EQ(last_order().message.epoch, 3U);
  EXPECT_TRUE(handles.freed.empty());
  DeallocDone done;
  done.tag = last_order().tag;
  done.epoch = 3;
  EXPECT_EQ(orders.complete(kFunction, done).orders, 1U);
  ASSERT_EQ(handles.freed.size(), 1U);
  EXPECT_EQ(handles.freed[0].dhi, Dhi{5});
  EXPECT_TRUE(orders.complete(kFunction, done).is_unexpected);
}

// [DHI D15]
TEST_F(DeviceOrdersTest, D15_RefusalOfTheDeviceIsAnAnswerAndAComplaint) {
  handles.device = HandleTables::Device{kFunction, 0};
  HandleInvalidation command;
  command.source = kFunction;
  orders.carry_out(command, Time{});
  DeallocDone done;
  done.tag = last_order().tag;
  done.status = HandleStatus::kHandleBusy;
  const DeviceOrders::Answer answer = orders.complete(kFunction, done);
  EXPECT_EQ(answer.orders, 1U);
  EXPECT_TRUE(answer.is_unexpected);
}

}  // namespace
}  // namespace flitwise::device_orders_test
