// SPDX-License-Identifier: Apache-2.0
// Credit returns of several contexts in one write.
#include <gtest/gtest.h>

#include "unit/pio/send_bench.h"

namespace flitwise::groups_test {
namespace {

using test::packet_block;
using test::pbc_of;
using test::SendBench;

/// Contexts 8 to 15 with a ring of 16 blocks each.
struct GroupsBench : SendBench {
  explicit GroupsBench(unsigned exponent, std::uint16_t threshold = 1, bool interrupts = false) {
    engine.set_group(1, exponent);
    for (unsigned i = 8; i < 16; ++i) {
      set_up(i, {16 * i, 16, threshold, false, interrupts});
    }
  }
  void send_from(unsigned context, unsigned blocks) {
    fill(context, blocks, 0);
    launch();
    send(0);
  }
};

std::uint8_t places_of(const CreditReturn& entry) {
  unsigned places = 0;
  for (unsigned i = 0; i < entry.qws.size(); ++i) {
    places |= entry.qws[i] != 0 ? 1U << i : 0U;
  }
  return static_cast<std::uint8_t>(places);
}

// [PIO-8.1, 8.2, 12.13, 12.16]
TEST(Groups, PIO_066_EachMemberHasItsPlaceAndMItsAddress) {
  for (unsigned exponent = 0; exponent <= kMostGroupExponent; ++exponent) {
    for (unsigned trigger = 8; trigger < 16; ++trigger) {
      GroupsBench bench(exponent, 0);
      for (unsigned i = 8; i < 16; ++i) {
        bench.send_from(i, 1);
      }
      bench.force(trigger, true);
      ASSERT_EQ(bench.returns.size(), 1U);
      const unsigned first = trigger & ~((1U << exponent) - 1U);
      const unsigned members = ((1U << (1U << exponent)) - 1U) << first % 8;
      EXPECT_EQ(places_of(bench.returns[0]), members & 0xffU);
      EXPECT_EQ(bench.returns[0].address, SendBench::address_of(first));
      EXPECT_EQ(bench.returns[0].context, trigger);
      EXPECT_EQ(bench.last_qw(trigger), 1U | kDueToForce);  // [PIO-12.10]
      EXPECT_EQ(bench.last_qw(first), first == trigger ? 1U | kDueToForce : 1U);
    }
  }
}

// [PIO-8.1]
TEST(Groups, PIO_067_068_EachSetHasItsOwnSize) {
  SendBench bench;
  bench.engine.set_group(19, 3);
  bench.engine.set_group(18, 1);
  for (const unsigned i : {159U, 152U, 151U, 150U, 8U}) {
    bench.set_up(i, {8 * i, 8, 0, false, false});
    bench.force(i, true);
  }
  EXPECT_EQ(bench.returns[0].address, 0U);  // that of 152, which is not programmed yet
  EXPECT_EQ(bench.returns[0].qws[7], kDueToForce);
  EXPECT_EQ(group_of(159, 3).first, 152U);
  EXPECT_EQ(bench.returns[2].address, 0U);
  EXPECT_EQ(bench.returns[3].address, SendBench::address_of(150));
  EXPECT_EQ(bench.returns[4].address, SendBench::address_of(8));
}

// [PIO-8.2]
TEST(Groups, PIO_069_NeighbourReturnsWhatOthersHavePending) {
  GroupsBench bench(3, 5);
  bench.send_from(10, 3);
  bench.send_from(12, 5);
  ASSERT_EQ(bench.returns.size(), 1U);
  EXPECT_EQ(bench.last_qw(10), 3U);
  EXPECT_EQ(bench.last_qw(12), 5U | kDueToThreshold);
  EXPECT_EQ(bench.context(10).pending(), 0U);
  bench.send_from(10, 3);
  EXPECT_EQ(bench.returns.size(), 1U);
}

// [PIO-12.13]
TEST(Groups, PIO_070_DifferentAddressesAreCounted) {
  GroupsBench bench(1);
  bench.engine.set_return_address(9, bench.address_of(8));
  bench.send_from(8, 1);
  EXPECT_EQ(bench.engine.mixed_address_returns(), 0U);
  bench.engine.set_return_address(9, 0x40);
  bench.send_from(9, 1);
  EXPECT_EQ(bench.returns.back().address, bench.address_of(8));
  EXPECT_EQ(bench.engine.mixed_address_returns(), 1U);
  bench.send_from(8, 1);
  EXPECT_EQ(bench.engine.mixed_address_returns(), 2U);
}

// [PIO-12.11, 9.5]
TEST(Groups, PIO_071_097_MemberInErrorKeepsItsWord) {
  GroupsBench bench(3);
  bench.send_from(8, 2);
  bench.fill(8, 1, 0);
  bench.launch();
  bench.write(8, 16, true, packet_block(pbc_of(1), 0));
  bench.send(0);  // it is free, and the word does not say so
  bench.send_from(9, 4);
  EXPECT_EQ(bench.returns.back().address, bench.address_of(8));
  EXPECT_EQ(bench.last_qw(8), 2U | kCreditStatus | kDueToError);
  EXPECT_EQ(bench.last_qw(9), 4U | kDueToThreshold);
  bench.engine.disable(8);
  bench.send_from(9, 1);
  EXPECT_EQ(bench.last_qw(8), 2U | kCreditStatus | kDueToError);
  bench.engine.restart(8);
  bench.send_from(9, 1);
  EXPECT_EQ(bench.last_qw(8), 0U);
}

// [PIO-12.12]
TEST(Groups, PIO_072_MembersWhoseCounterMovedAreInterrupted) {
  GroupsBench bench(3, 2, true);
  bench.send_from(9, 1);
  bench.send_from(13, 2);
  EXPECT_EQ(bench.returns.back().interrupts, 1U << 1 | 1U << 5);
  bench.force(14, true);
  EXPECT_EQ(bench.returns.back().interrupts, 1U << 6);
  GroupsBench quiet(3, 2, false);
  quiet.send_from(9, 1);
  quiet.send_from(13, 2);
  EXPECT_EQ(quiet.returns.back().interrupts, 0U);
}

// [PIO-12.19]
TEST(Groups, PIO_073_DisabledMemberHasNothing) {
  GroupsBench bench(1, 4);
  bench.send_from(8, 3);
  bench.engine.disable(8);
  bench.send_from(9, 4);
  EXPECT_EQ(bench.last_qw(8), 0U);
  EXPECT_EQ(bench.returns.back().address, bench.address_of(8));
  EXPECT_EQ(bench.context(8).pending(), 3U);
}

// [PIO-7.7]
TEST(Groups, PIO_074_GroupsTakeFewerReturns) {
  for (const std::uint16_t threshold : {std::uint16_t{4}, std::uint16_t{1}}) {
    unsigned returns[2] = {};
    for (const unsigned exponent : {0U, 3U}) {
      GroupsBench bench(exponent, threshold);
      for (unsigned i = 0; i < 256; ++i) {
        bench.send_from(8 + i % 8, 1);
      }
      returns[exponent / 3] = static_cast<unsigned>(bench.returns.size());
    }
    EXPECT_EQ(returns[0], 256U / threshold);
    // Every 25th block is the fourth of the first member.
    EXPECT_EQ(returns[1], threshold == 1 ? 256U : 10U);
  }
}

// [PIO-12.21]
TEST(Groups, ReturnThatWaitsIsUpdated) {
  GroupsBench bench(1, 2);
  bench.engine.set_coalescing(true);
  bench.keeps_waiting = true;
  bench.send_from(8, 2);
  bench.send_from(8, 1);  // below the threshold
  bench.force(9, true);
  bench.send_from(10, 2);  // another group
  std::vector<CreditReturn> seen;
  for (; bench.engine.has_return(); bench.engine.take_return()) {
    seen.push_back(bench.engine.first_return());
  }
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].context, 8U);
  EXPECT_EQ(seen[0].qws[0], 3U | kDueToThreshold);
  EXPECT_EQ(seen[0].qws[1], std::uint64_t{kDueToForce});
  EXPECT_EQ(seen[1].qws[2], 2U | kDueToThreshold);
  EXPECT_EQ(bench.context(8).pending(), 0U);
  const ReturnCounts& counts = bench.engine.return_counts();
  EXPECT_EQ(counts.threshold, 2U);
  EXPECT_EQ(counts.force, 1U);
  EXPECT_EQ(counts.writes, 2U);
  EXPECT_EQ(counts.coalesced, 1U) << "the force, which changed a return that waited";
}

// Of two causes at once each counts, and one of them made no write of its own.
TEST(Groups, EachCauseOfAReturnCounts) {
  SendBench bench;
  bench.set_up(0, {0, 64, 2});
  bench.set_up(1, {64, 64, 2, true});
  bench.fill(0, 2, 0, true);
  bench.launch();
  bench.send(0);
  bench.fill(1, 2, 1, true);
  bench.launch();
  bench.send(1);
  bench.fill(0, 1, 0);
  bench.launch();
  bench.commit(0, false);
  const ReturnCounts& counts = bench.engine.return_counts();
  EXPECT_EQ(counts.threshold, 1U);
  EXPECT_EQ(counts.pbc, 1U);
  EXPECT_EQ(counts.early, 1U);
  EXPECT_EQ(counts.error, 1U);
  EXPECT_EQ(counts.force, 0U);
  EXPECT_EQ(counts.coalesced, 1U);
  EXPECT_EQ(counts.writes, bench.returns.size());
  EXPECT_EQ(counts.writes, 3U);
}

// The address register of the first context decides, which has 0 as long as nobody programs it.
TEST(Groups, PIO_12_41_ReturnsToAnAddressThatNobodyProgrammedAreCounted) {
  SendBench bench;
  bench.engine.set_group(0, 1);
  bench.set_up(1, {0, 64, 1});
  bench.force(1, true);
  ASSERT_EQ(bench.returns.size(), 1U);
  EXPECT_EQ(bench.returns[0].address, 0U);
  EXPECT_EQ(bench.engine.unaddressed_returns(), 1U);
  bench.engine.set_return_address(0, 0);
  bench.force(1, false);
  bench.force(1, true);
  EXPECT_EQ(bench.engine.unaddressed_returns(), 1U);
}

// Whatever software changes meanwhile, a group has one return in the queue.
TEST(Groups, ReturnThatWaitsGoesToTheAddressAsItIsThen) {
  GroupsBench bench(0);
  bench.engine.set_coalescing(true);
  bench.keeps_waiting = true;
  for (unsigned i = 1; i <= 1000; ++i) {
    bench.engine.set_return_address(8, 64 * i);
    bench.force(8, i % 2 == 1);
    bench.send_from(9, 1);
  }
  EXPECT_EQ(bench.engine.first_return().address, 999U * 64);
  bench.engine.take_return();
  EXPECT_EQ(bench.engine.first_return().qws[1], 1000U | kDueToThreshold);
  bench.engine.take_return();
  EXPECT_FALSE(bench.engine.has_return());
}

}  // namespace
}  // namespace flitwise::groups_test
