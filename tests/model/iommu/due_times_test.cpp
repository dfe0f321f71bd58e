// SPDX-License-Identifier: Apache-2.0
// Times of many: the same as when each is asked.
#include "iommu/due_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/random.h"

namespace flitwise::due_times_test {
namespace {

// A step may set a time that has come: of a higher number, it goes at once; else the next time.
TEST(DueTimes, GoInTheOrderOfTheirNumbersWhateverAStepSets) {
  for (const std::size_t count : {1U, 32U, 33U, 100U}) {
    Random random(9);
    DueTimes dues(count);
    std::vector<Time> naive(count, Time::never());
    unsigned taken = 0;
    for (int at = 0; at < 5000; ++at) {
      const Time now = Time::from_ns(at);
      const std::size_t number = random.below(count);
      if (naive[number] == Time::never()) {
        naive[number] = now + Time::from_ns(static_cast<int>(random.below(50)));
        dues.set(number, naive[number]);
      }
      ASSERT_EQ(dues.next(), *std::min_element(naive.begin(), naive.end()));
      std::size_t next = 0;
      dues.take(now, [&](std::size_t due) {
        while (next < due) {
          ASSERT_GT(naive[next++], now);
        }
        ASSERT_EQ(next, due);
        ASSERT_LE(naive[due], now);
        naive[due] = Time::never();
        ++next;
        ++taken;
        const std::size_t other = random.below(count);
        if (random.chance(0.5) && naive[other] == Time::never()) {
          naive[other] = now;
          dues.set(other, now);
        }
      });
      while (next < count) {
        ASSERT_GT(naive[next++], now);
      }
    }
    EXPECT_GT(taken, 100U);
  }
}

}  // namespace
}  // namespace flitwise::due_times_test
