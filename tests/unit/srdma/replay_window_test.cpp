// SPDX-License-Identifier: Apache-2.0
#include "srdma/replay_window.h"

#include <gtest/gtest.h>

#include <set>

#include "common/random.h"

namespace flitwise::replay_window_test {
namespace {

TEST(ReplayWindow, KY_6_EachNumberOnce) {
  ReplayWindow window;
  EXPECT_FALSE(window.is_new(0));
  for (const std::uint64_t number : {5U, 3U, 4U, 1U}) {
    EXPECT_TRUE(window.is_new(number));
    window.take(number);
    EXPECT_FALSE(window.is_new(number));
  }
  EXPECT_TRUE(window.is_new(2));
  EXPECT_EQ(window.newest(), 5U);
}

TEST(ReplayWindow, KY_6_TheLast1024AreTold) {
  ReplayWindow window;
  window.take(2000);
  EXPECT_TRUE(window.is_new(2000 - 1023));
  EXPECT_FALSE(window.is_new(2000 - 1024));
}

TEST(ReplayWindow, KY_6_AgainstASet) {
  ReplayWindow window;
  std::set<std::uint64_t> taken;
  Random random(3);
  std::uint64_t newest = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t jump = random.below(100) == 0 ? 3000 : 40;
    const std::uint64_t number =
        newest + random.below(jump) + 1 - std::min(newest, random.below(1100));
    const bool is_new = number > 0 && taken.count(number) == 0 &&
                        (number > newest || newest - number < ReplayWindow::kPackets);
    ASSERT_EQ(window.is_new(number), is_new) << number << " newest " << newest;
    if (is_new) {
      window.take(number);
      taken.insert(number);
      newest = std::max(newest, number);
    }
  }
}

TEST(ReplayWindow, KY_5_TheLowHalfNamesTheNumberNearestToTheNewest) {
  ReplayWindow window;
  EXPECT_EQ(window.whole(7), 7U);
  window.take(0x1'ffff'fff0);
  EXPECT_EQ(window.whole(0xffff'fff8), 0x1'ffff'fff8U);
  EXPECT_EQ(window.whole(0x0000'0002), 0x2'0000'0002U);
  window.take(0x2'0000'0002);
  EXPECT_EQ(window.whole(0xffff'fff8), 0x1'ffff'fff8U);
}

}  // namespace
}  // namespace flitwise::replay_window_test
