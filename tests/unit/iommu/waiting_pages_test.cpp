// SPDX-License-Identifier: Apache-2.0
// Pages of requests in a queue.
#include "iommu/waiting_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "common/random.h"

namespace flitwise::waiting_pages_test {
namespace {

// The same pages over and over, so that keys come back, collide and are there several times.
TEST(WaitingPages, AgreesWithADeque) {
  Random random(7);
  WaitingPages pages;
  std::deque<WaitingPages::Key> expected;
  const auto any = [&random] {
    return WaitingPages::Key{random.below(200) * 0x40'0000, random.below(5) << 17};
  };
  for (unsigned step = 0; step < 20'000; ++step) {
    if (random.below(3) != 0 && expected.size() < 700) {
      const WaitingPages::Key key = any();
      pages.insert(key);
      expected.push_back(key);
    } else if (!expected.empty()) {
      pages.erase(expected.front());
      expected.pop_front();
    }
    const WaitingPages::Key key = any();
    EXPECT_EQ(pages.contains(key),
              std::find(expected.begin(), expected.end(), key) != expected.end());
  }
}

}  // namespace
}  // namespace flitwise::waiting_pages_test
