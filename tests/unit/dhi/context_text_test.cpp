// SPDX-License-Identifier: Apache-2.0
// Contexts of a process as text. [DHI D22]
#include "dhi/context_text.h"

#include <gtest/gtest.h>

namespace flitwise::context_text_test {
namespace {

// [DHI-36]
TEST(ContextText, D22_KindAndNumberLeadThereAndBack) {
  for (const auto kind : {ContextKind::kQueuePair, ContextKind::kDedicatedWorkQueue,
                          ContextKind::kSharedWorkQueue, ContextKind::kWorkCommand}) {
    for (const std::uint32_t number : {0U, 5U, kMostContexts - 1}) {
      const ContextId context(kind, number);
      EXPECT_EQ(context_of(text_of(context)), context);
      EXPECT_EQ(ContextId::of_word(context.word()), context);
    }
  }
  EXPECT_EQ(text_of(ContextId(ContextKind::kWorkCommand, 12)), "work_command 12");
}

TEST(ContextText, AnythingElseIsNone) {
  for (const char* const text :
       {"", "queue_pair", "queue_pair ", "queue_pair x", "queue_pair 5x", "queue_pair  5",
        "queue_pair -1", "queue_pair 16777216", "queue_pair 99999999999", "process 5", "pair 5"}) {
    EXPECT_FALSE(context_of(text)) << text;
  }
}

}  // namespace
}  // namespace flitwise::context_text_test
