// SPDX-License-Identifier: Apache-2.0
// Order on the way out of a switch.
#include "routing/egress_queue.h"

#include <gtest/gtest.h>

namespace flitwise::egress_queue_test {
namespace {

constexpr std::array<bool, kFcClasses> kAll = {true, true, true};
constexpr std::array<bool, kFcClasses> kNoPosted = {false, true, true};
constexpr std::array<bool, kFcClasses> kNoNonPosted = {true, false, true};

struct EgressQueueTest : testing::Test {
  PacketPool pool;
  EgressQueue queue{IdentityForm{}};

  Tlp& push(TlpType type, Time ready = Time{}) {
    PacketRef packet = pool.make(PacketKind::kTlp);
    packet->tlp.type = type;
    packet->tlp.requester_id = Bdf::of(3, 0, 0);
    Tlp& tlp = packet->tlp;
    queue.push({std::move(packet), {}, ready, 0});
    return tlp;
  }
};

TEST_F(EgressQueueTest, TheOldestOfAllClassesGoesFirst) {
  push(TlpType::kCplD);
  push(TlpType::kMWr);
  push(TlpType::kMRd);
  for (const FcClass expected : {FcClass::kCompletion, FcClass::kPosted, FcClass::kNonPosted}) {
    ASSERT_EQ(queue.choose(Time{}, kAll), expected);
    queue.take(expected);
  }
  EXPECT_TRUE(queue.empty());
}

TEST_F(EgressQueueTest, NothingGoesBeforeItIsThroughTheSwitch) {
  push(TlpType::kMWr, Time::from_ns(60));
  EXPECT_EQ(queue.choose(Time::from_ns(59), kAll), std::nullopt);
  EXPECT_EQ(queue.next_ready(Time::from_ns(59)), Time::from_ns(60));
  EXPECT_EQ(queue.choose(Time::from_ns(60), kAll), FcClass::kPosted);
  EXPECT_EQ(queue.next_ready(Time::from_ns(60)), Time::never());
}

TEST_F(EgressQueueTest, LNK_9_2_PostedAndCompletionsPassABlockedNonPosted) {
  push(TlpType::kMRd);
  push(TlpType::kMWr);
  push(TlpType::kCplD);
  EXPECT_EQ(queue.choose(Time{}, kNoNonPosted), FcClass::kPosted);
  queue.take(FcClass::kPosted);
  EXPECT_EQ(queue.choose(Time{}, kNoNonPosted), FcClass::kCompletion);
}

TEST_F(EgressQueueTest, LNK_9_4_AReadDoesNotPassAnOlderBlockedPosted) {
  push(TlpType::kMWr);
  push(TlpType::kMRd);
  EXPECT_EQ(queue.choose(Time{}, kNoPosted), std::nullopt);
}

TEST_F(EgressQueueTest, LNK_9_6_ACompletionPassesAnOlderBlockedPostedOnlyWithRelaxedOrdering) {
  push(TlpType::kMWr);
  Tlp& completion = push(TlpType::kCplD);
  EXPECT_EQ(queue.choose(Time{}, kNoPosted), std::nullopt);
  completion.relaxed_ordering = true;
  EXPECT_EQ(queue.choose(Time{}, kNoPosted), FcClass::kCompletion);
}

TEST_F(EgressQueueTest, AYoungerPostedHoldsNothingUp) {
  push(TlpType::kMRd);
  push(TlpType::kMWr);
  EXPECT_EQ(queue.choose(Time{}, kNoPosted), FcClass::kNonPosted);
}

TEST_F(EgressQueueTest, OneClassKeepsItsOrderHoweverManyWait) {
  for (unsigned i = 0; i < 1000; ++i) {
    push(TlpType::kMWr).address = i * 4;
  }
  EXPECT_EQ(queue.size(), 1000U);
  for (unsigned i = 0; i < 1000; ++i) {
    ASSERT_EQ(queue.take(FcClass::kPosted).packet->tlp.address, i * 4);
  }
}

}  // namespace
}  // namespace flitwise::egress_queue_test
