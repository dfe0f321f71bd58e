// SPDX-License-Identifier: Apache-2.0
// Frames: pooled, and counted while anyone holds them.
#include "network/frame.h"

#include <gtest/gtest.h>

namespace flitwise::frame_test {
namespace {

TEST(FramePool, AFrameIsInUseWhileAReferenceIsHeld) {
  FramePool pool;
  FrameRef one = pool.make(100);
  const FrameRef other = one;
  EXPECT_EQ(one->bytes.size(), 100U);
  one.reset();
  EXPECT_EQ(pool.in_use(), 1U);
  EXPECT_EQ(pool.allocated(), 1U);
}

TEST(FramePool, AFrameIsUsedAgainWithItsCapacity) {
  FramePool pool;
  const Frame* first = nullptr;
  const std::uint8_t* bytes = nullptr;
  {
    const FrameRef one = pool.make(5'000);
    first = one.get();
    bytes = one->bytes.data();
  }
  EXPECT_EQ(pool.in_use(), 0U);
  const FrameRef again = pool.make(64);
  EXPECT_EQ(again.get(), first);
  EXPECT_EQ(again->bytes.data(), bytes);
  EXPECT_EQ(again->bytes.size(), 64U);
  EXPECT_EQ(pool.allocated(), 1U);
}

}  // namespace
}  // namespace flitwise::frame_test
