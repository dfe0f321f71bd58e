// SPDX-License-Identifier: Apache-2.0
// Handles whose ALLOC is under way. [DHI D8]
#include "dhi/device_handle_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flitwise::unapplied_handles_test {
namespace {

std::vector<std::uint32_t> flush(UnappliedHandles& handles) {
  std::vector<std::uint32_t> applied;
  handles.flush_done([&](const UnappliedHandles::One& one) { applied.push_back(one.residency); });
  return applied;
}

TEST(UnappliedHandles, TheOldestAllocOfAHandleIsAnsweredFirst_DHI_D8) {
  UnappliedHandles handles;
  handles.add(Dhi{3}, 10);
  handles.add(Dhi{3}, 11);
  EXPECT_EQ(handles.find(Dhi{3})->residency, 10U);
  handles.remove(Dhi{3});
  EXPECT_EQ(handles.find(Dhi{3})->residency, 11U);
  EXPECT_FALSE(handles.find(Dhi{4}));
}

TEST(UnappliedHandles, AFlushAppliesWhatWasAllocatedBeforeIt_DHI_D8) {
  UnappliedHandles handles;
  handles.add(Dhi{1}, 1);
  handles.add(Dhi{2}, 2);
  handles.flush_sent(true);
  handles.add(Dhi{3}, 3);
  EXPECT_THAT(flush(handles), testing::ElementsAre(1U, 2U));
  EXPECT_EQ(handles.find(Dhi{3})->residency, 3U);
  EXPECT_FALSE(handles.empty());
}

TEST(UnappliedHandles, OneThatIsRemovedIsNotAppliedAndTakesNoOtherWithIt_DHI_D8) {
  UnappliedHandles handles;
  for (std::uint16_t i = 1; i <= 3; ++i) {
    handles.add(Dhi{i}, i);
  }
  handles.flush_sent(true);
  handles.add(Dhi{4}, 4);
  handles.remove(Dhi{2});
  handles.remove(Dhi{4});
  handles.add(Dhi{5}, 5);
  EXPECT_THAT(flush(handles), testing::ElementsAre(1U, 3U));
  EXPECT_TRUE(handles.find(Dhi{5}));
}

TEST(UnappliedHandles, AFlushForAnotherReasonAppliesNone_DHI_D8) {
  UnappliedHandles handles;
  handles.add(Dhi{1}, 1);
  handles.flush_sent(false);
  EXPECT_TRUE(flush(handles).empty());
  EXPECT_TRUE(handles.find(Dhi{1}));
}

}  // namespace
}  // namespace flitwise::unapplied_handles_test
