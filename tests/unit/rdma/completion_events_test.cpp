// SPDX-License-Identifier: Apache-2.0
// Events of completion queues in host memory.
#include "rdma/completion_events.h"

#include <gtest/gtest.h>

namespace flitwise::completion_events_test {
namespace {

TEST(CompletionEvents, RDM_11_OneEventForEachTimeThatAQueueIsArmed) {
  CompletionEvents events(2);
  EXPECT_FALSE(events.written(0, 0));  // nobody has asked
  EXPECT_FALSE(events.arm({0, 1}));
  EXPECT_FALSE(events.written(1, 0));  // of the other queue
  EXPECT_TRUE(events.written(0, 0));
  EXPECT_FALSE(events.written(0, 0));
}

TEST(CompletionEvents, RDM_11_AnEntryThatComesBeforeTheOrderIsNotLost) {
  CompletionEvents events(1);
  events.written(0, 0);
  events.written(0, 0);
  EXPECT_TRUE(events.arm({0, 1}));     // software has seen one of two
  EXPECT_FALSE(events.written(0, 0));  // which was the event
  EXPECT_FALSE(events.arm({0, 3}));
  EXPECT_TRUE(events.written(0, 0));
}

TEST(CompletionEvents, VB_6_AnEventWaitsForAllThatItTellsOf) {
  CompletionEvents events(1);
  events.written(0, 7);
  events.written(0, 0);
  EXPECT_EQ(events.needs(0), 7U);
}

TEST(CompletionEvents, OrdersNameTheirQueue) {
  const CompletionArm order{5, 0xffff'fffe};
  EXPECT_EQ(CompletionArm::decode(order.encode()).queue, 5U);
  EXPECT_EQ(CompletionArm::decode(order.encode()).taken, 0xffff'fffeU);
}

}  // namespace
}  // namespace flitwise::completion_events_test
