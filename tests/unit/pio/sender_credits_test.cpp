// SPDX-License-Identifier: Apache-2.0
// Credits as software counts them.
#include "pio/sender_credits.h"

#include <gtest/gtest.h>

#include "flitwise/error.h"
#include "unit/pio/send_bench.h"

namespace flitwise::sender_credits_test {
namespace {

// [PIO-7.8] [PIO-050]
TEST(SenderCredits, WholeDepthMayBeFilledAndNoMore) {
  for (const unsigned depth : {1U, 3U, 64U, 1024U}) {
    SenderCredits credits(depth);
    EXPECT_EQ(credits.available(), depth);
    EXPECT_FALSE(credits.may_fill(depth + 1));
    credits.fill(depth);
    EXPECT_EQ(credits.available(), 0U);
    EXPECT_FALSE(credits.may_fill(1));
    EXPECT_THROW(credits.fill(1), SimulationError);
    EXPECT_EQ(credits.next_block(), 0U);
    credits.take(0xfffff000U | 1U);  // causes and reserved bits are no credits
    EXPECT_EQ(credits.available(), 1U);
  }
}

// [PIO-7.8] [PIO-049] [PIO-051]
TEST(SenderCredits, CountersPass2047AndReturnsAreAbsolute) {
  SenderCredits credits(7);
  unsigned freed = 0, slot = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    const unsigned blocks = 1 + i % 5;
    if (!credits.may_fill(blocks)) {
      credits.take(freed % kCreditRing);
      ASSERT_EQ(credits.available(), 7U);
    }
    ASSERT_EQ(credits.next_block(), slot);
    credits.fill(blocks);
    freed += blocks;
    slot = (slot + blocks) % 7;
    ASSERT_EQ(credits.filled(), freed % kCreditRing);
  }
  credits.take(freed % kCreditRing);
  credits.take(freed % kCreditRing);  // [PIO-052]
  EXPECT_EQ(credits.used(), 0U);
}

// [PIO-7.9] [PIO-055] [PIO-058] Held against a device: every packet has left, and either the
// threshold has brought room or a force is needed, and brings it.
TEST(SenderCredits, ForceIsNeededWhereTheThresholdMayKeepTooMuch) {
  unsigned forced = 0, helped = 0;
  for (unsigned threshold = 0; threshold <= 8; ++threshold) {
    for (unsigned first = 1; first <= 8; ++first) {
      for (unsigned blocks = 9 - first; blocks <= 8; ++blocks) {
        test::SendBench bench;
        bench.set_up(0, {0, 8, static_cast<std::uint16_t>(threshold), false, false});
        SenderCredits credits(8);
        credits.fill(first);
        bench.fill(0, first, 0);
        bench.launch();
        EXPECT_FALSE(credits.may_fill(blocks));
        const bool needs_force = credits.needs_force(blocks, threshold);
        bench.send(0);
        if (!bench.returns.empty()) {
          credits.take(bench.last_qw(0));
        }
        if (!needs_force) {
          EXPECT_TRUE(credits.may_fill(blocks)) << threshold << " " << first << " " << blocks;
          ++helped;
          continue;
        }
        bench.force(0, true);
        credits.take(bench.last_qw(0));
        EXPECT_TRUE(credits.may_fill(blocks));
        ++forced;
      }
    }
  }
  EXPECT_GT(forced, 50U);
  EXPECT_GT(helped, 50U);
  EXPECT_FALSE(SenderCredits(8).needs_force(9, 0));  // no force makes room for it
  EXPECT_FALSE(SenderCredits(8).needs_force(8, 5));  // there is room
}

}  // namespace
}  // namespace flitwise::sender_credits_test
