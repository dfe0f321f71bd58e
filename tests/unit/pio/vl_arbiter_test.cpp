// SPDX-License-Identifier: Apache-2.0
// Which virtual lane sends next.
#include <gtest/gtest.h>

#include <array>

#include "pio/vl_arbiter.h"

namespace flitwise::vl_arbiter_test {
namespace {

using Shares = std::array<unsigned, kVlQueues>;

/// Packets that each queue sent, all `ready` having some all the time.
Shares shares_of(VlArbiter& arbiter, unsigned ready, unsigned packets, unsigned blocks = 1) {
  Shares shares{};
  for (unsigned i = 0; i < packets; ++i) {
    const VlArbiter::Choice choice = arbiter.choose(ready);
    if (choice.queue < kVlQueues) {
      ++shares[choice.queue];
      arbiter.granted(choice, blocks);
    }
  }
  return shares;
}

VlTables tables_of(std::initializer_list<VlWeight> high, std::initializer_list<VlWeight> low,
                   std::uint16_t limit) {
  VlTables tables;
  std::copy(high.begin(), high.end(), tables.high.begin());
  std::copy(low.begin(), low.end(), tables.low.begin());
  tables.high_limit = limit;
  return tables;
}

// [PIO-6.5]
TEST(VlArbiter, DataVlsGoInTurn) {
  VlArbiter arbiter;
  for (const unsigned expected : {2U, 5U, 7U, 2U, 5U}) {
    const VlArbiter::Choice choice = arbiter.choose(1U << 2 | 1U << 5 | 1U << 7);
    EXPECT_EQ(choice.queue, expected);
    arbiter.granted(choice, 3);
  }
  EXPECT_EQ(arbiter.choose(0).queue, kVlQueues);
  EXPECT_EQ(shares_of(arbiter, 1U << 5, 3)[5], 3U);  // again and again, where it is alone
}

// [PIO-12.28]
TEST(VlArbiter, PIO_046_Vl15GoesFirst) {
  VlArbiter arbiter;
  EXPECT_EQ(arbiter.choose(0x1ff).queue, queue_of_vl(15));
  arbiter.use_tables(tables_of({{0, 255}}, {}, 100));
  EXPECT_EQ(arbiter.choose(0x1ff).queue, queue_of_vl(15));
}

// [PIO-6.5]
TEST(VlArbiter, WeightsShareTheLinkInBlocks) {
  VlArbiter arbiter;
  arbiter.use_tables(tables_of({}, {{0, 30}, {1, 10}, {2, 20}}, 0));
  const Shares ones = shares_of(arbiter, 0x7, 600);
  EXPECT_EQ(ones[0], 300U);
  EXPECT_EQ(ones[1], 100U);
  EXPECT_EQ(ones[2], 200U);
  const Shares fives = shares_of(arbiter, 0x7, 120, 5);
  EXPECT_EQ(fives[0], 60U);
  EXPECT_EQ(fives[1], 20U);
  EXPECT_EQ(fives[2], 40U);
}

TEST(VlArbiter, PacketMayTakeMoreThanTheRestOfItsWeight) {
  VlArbiter arbiter;
  arbiter.use_tables(tables_of({}, {{0, 4}, {1, 4}}, 0));
  const Shares shares = shares_of(arbiter, 0x3, 8, 3);  // two of 3 blocks a turn
  EXPECT_EQ(shares[0], 4U);
  EXPECT_EQ(shares[1], 4U);
}

// An entry that is left while it has weight begins anew when its turn comes again.
TEST(VlArbiter, TurnThatIsLeftIsOver) {
  VlArbiter arbiter;
  arbiter.use_tables(tables_of({}, {{0, 8}, {1, 2}}, 0));
  EXPECT_EQ(shares_of(arbiter, 0x1, 1)[0], 1U);
  EXPECT_EQ(shares_of(arbiter, 0x2, 1)[1], 1U);  // 0 has nothing to send
  EXPECT_EQ(shares_of(arbiter, 0x3, 1)[1], 1U);
  EXPECT_EQ(shares_of(arbiter, 0x3, 8)[0], 8U);
  EXPECT_EQ(shares_of(arbiter, 0x3, 2)[1], 2U);
}

// [PIO-6.5]
TEST(VlArbiter, HighTableSendsItsLimitBeforeTheLowOneHasItsTurn) {
  VlArbiter arbiter;
  arbiter.use_tables(tables_of({{6, 1}}, {{0, 1}}, 10));
  const Shares both = shares_of(arbiter, 1U << 6 | 1U, 44);
  EXPECT_EQ(both[6], 40U);
  EXPECT_EQ(both[0], 4U);
  EXPECT_EQ(shares_of(arbiter, 1U << 6, 20)[6], 20U);  // nothing else has work
}

TEST(VlArbiter, LimitOf0StillLetsOnePacketGo) {
  VlArbiter arbiter;
  arbiter.use_tables(tables_of({{6, 1}}, {{0, 1}}, 0));
  const Shares both = shares_of(arbiter, 1U << 6 | 1U, 10, 4);
  EXPECT_EQ(both[6], 5U);
  EXPECT_EQ(both[0], 5U);
}

// [PIO-12.28]
TEST(VlArbiter, PIO_047_VlWithoutWeightNeverGoes) {
  VlArbiter arbiter;
  arbiter.use_tables(tables_of({{3, 0}}, {{3, 0}, {4, 1}}, 0));
  EXPECT_EQ(arbiter.choose(1U << 3).queue, kVlQueues);
  const Shares shares = shares_of(arbiter, 1U << 3 | 1U << 4, 10);
  EXPECT_EQ(shares[3], 0U);
  EXPECT_EQ(shares[4], 10U);
}

}  // namespace
}  // namespace flitwise::vl_arbiter_test
