// SPDX-License-Identifier: Apache-2.0
// Tags, answers and timeouts of the host's orders to give handles up. [DHI D15]
#include "dhi/dealloc_sender.h"

#include <gtest/gtest.h>

namespace flitwise::dealloc_sender_test {
namespace {

constexpr Bdf kDevice = Bdf::of(1, 0, 0), kVf = Bdf::of(1, 0, 3), kOther = Bdf::of(2, 0, 0);
constexpr Time kTimeout = Time::from_us(10);

class DeallocSenderTest : public ::testing::Test {
 protected:
  std::uint8_t send(Bdf device, Bdf function, Time now = Time{}, std::uint8_t epoch = 4) {
    DeallocMessage message;
    message.epoch = epoch;
    return sender_.send(device, function, message, now).tag;
  }
  bool completes(Bdf function, std::uint8_t tag, std::uint8_t epoch = 4) {
    return sender_.complete(function, {tag, HandleStatus::kOk, epoch}).has_value();
  }
  DeallocSender sender_{kTimeout};
};

// [DHI-33]
TEST_F(DeallocSenderTest, D15_SixteenAreOutToADeviceWhicheverOfItsFunctionsTheyGoTo) {
  for (unsigned tag = 0; tag < kDeallocOrders; ++tag) {
    ASSERT_TRUE(sender_.can_send(kDevice));
    EXPECT_EQ(send(kDevice, tag % 2 == 0 ? kDevice : kVf), tag);
  }
  EXPECT_FALSE(sender_.can_send(kDevice));
  EXPECT_TRUE(sender_.can_send(kOther));
  EXPECT_EQ(send(kOther, kOther), 0U);
  EXPECT_TRUE(completes(kVf, 5));
  EXPECT_EQ(send(kDevice, kDevice), 5U) << "the lowest that is free";
  EXPECT_EQ(sender_.outstanding(), kDeallocOrders + 1);
}

TEST_F(DeallocSenderTest, D15_AnAnswerIsOfTheFunctionTagAndEpochThatWereAsked) {
  send(kDevice, kVf);
  EXPECT_FALSE(completes(kDevice, 0));
  EXPECT_FALSE(completes(kVf, 1));
  EXPECT_FALSE(completes(kVf, 0, 5));
  EXPECT_EQ(sender_.outstanding(), 1U);
  EXPECT_TRUE(completes(kVf, 0));
  EXPECT_FALSE(completes(kVf, 0)) << "once";
}

TEST_F(DeallocSenderTest, IQU_07_TheOldestIsGivenUpFirstAndItsTagIsFree) {
  EXPECT_FALSE(sender_.next_deadline());
  send(kDevice, kDevice, Time::from_us(1));
  send(kDevice, kVf, Time::from_us(2));
  EXPECT_EQ(*sender_.next_deadline(), Time::from_us(11));
  EXPECT_FALSE(sender_.expire(Time::from_us(10)));
  const auto expired = sender_.expire(Time::from_us(11));
  ASSERT_TRUE(expired);
  EXPECT_EQ(expired->function, kDevice);
  EXPECT_FALSE(sender_.expire(Time::from_us(11)));
  EXPECT_FALSE(completes(kDevice, 0)) << "too late";
  EXPECT_EQ(send(kDevice, kDevice, Time::from_us(11)), 0U);
}

}  // namespace
}  // namespace flitwise::dealloc_sender_test
