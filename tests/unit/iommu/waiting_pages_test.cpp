// SPDX-License-Identifier: Apache-2.0
// Pages of requests in a queue.
#include "iommu/waiting_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "workload/random.h"

namespace flitwise::waiting_pages_test {
namespace {

TEST(WaitingPages, AgreesWithADeque) {
  Random random(7);
  WaitingPages pages;
  std::deque<std::uint64_t> expected;
  for (unsigned step = 0; step < 20'000; ++step) {
    if (random.below(3) != 0 && expected.size() < 700) {
      const std::uint64_t page = random.below(1000);
      pages.push(page);
      expected.push_back(page);
    } else if (!expected.empty()) {
      pages.pop();
      expected.pop_front();
    }
    const std::uint64_t page = random.below(1000);
    EXPECT_EQ(pages.contains(page),
              std::find(expected.begin(), expected.end(), page) != expected.end());
  }
}

}  // namespace
}  // namespace flitwise::waiting_pages_test
