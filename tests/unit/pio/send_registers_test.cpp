// SPDX-License-Identifier: Apache-2.0
// Registers of send contexts, and what is lost with errors.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "common/byte_vector.h"
#include "common/random.h"
#include "pio/send_registers.h"
#include "unit/pio/send_bench.h"

namespace flitwise::send_registers_test {
namespace {

using test::SendBench;
using Registers = SendRegisters;

class SendRegistersTest : public testing::Test {
 protected:
  SendRegistersTest() { bench_.set_up(3, {100, 4, 2, false, false}); }

  bool write(Registers::Register one, std::uint64_t value, unsigned context = 3) {
    return write_at(Registers::offset_of(one, context), value);
  }
  bool write_at(std::uint32_t offset, std::uint64_t value, unsigned bytes = 8) {
    return registers_.write(offset, little_endian_bytes(value, 8).data(), bytes);
  }
  std::optional<std::uint64_t> read(Registers::Register one, unsigned context = 3) const {
    return registers_.read(Registers::offset_of(one, context), 8);
  }
  // Past the bound: the context halts.
  void break_it() { bench_.write(3, 4, true, test::packet_block(test::pbc_of(1), 0)); }

  SendBench bench_;
  Registers registers_{bench_.engine};
};

TEST_F(SendRegistersTest, PIO_10_1_ShowWhatAContextIs) {
  EXPECT_EQ(read(Registers::kControl), std::uint64_t{100} << 32 | 4U << 16 | 1U);
  EXPECT_EQ(read(Registers::kCreditControl), 2U);
  EXPECT_EQ(read(Registers::kReturnAddress), SendBench::address_of(3));
  EXPECT_EQ(read(Registers::kStatus), 0U);
  EXPECT_EQ(read(Registers::kErrorStatus), 0U);
  EXPECT_EQ(read(Registers::kControl, 4), 0U);
}

TEST_F(SendRegistersTest, PIO_10_1_ChangeWhatAContextDoes) {
  EXPECT_TRUE(write(Registers::kCreditControl, 7U | 1U << 16));
  EXPECT_EQ(bench_.context(3).setup().threshold, 7U);
  EXPECT_TRUE(bench_.context(3).setup().early_return);
  EXPECT_EQ(read(Registers::kCreditControl), 7U | 1U << 16);
  EXPECT_TRUE(write(Registers::kCreditControl, 7U | 1U << 17));
  EXPECT_TRUE(bench_.context(3).setup().credit_interrupt);
  EXPECT_FALSE(bench_.context(3).setup().early_return);
  EXPECT_EQ(read(Registers::kCreditControl), 7U | 1U << 17);
  EXPECT_TRUE(write(Registers::kReturnAddress, 0x12345));
  EXPECT_EQ(read(Registers::kReturnAddress), 0x12340U);
  EXPECT_TRUE(write(Registers::kCheckVl, 0x8001));
  EXPECT_EQ(bench_.context(3).barred_vls(), 0x8001U);
  EXPECT_EQ(read(Registers::kCheckVl), 0x8001U);
  EXPECT_TRUE(write(Registers::kCreditForce, 1));
  EXPECT_EQ(read(Registers::kCreditForce), 1U);
  EXPECT_EQ(bench_.engine.returns_waiting(), 1U);  // [PIO-7.4]
}

TEST_F(SendRegistersTest, CountersAndPacketsOnTheirWayOut) {
  bench_.fill(3, 1, 0);
  bench_.fill(3, 1, 1);
  bench_.launch(2);
  EXPECT_EQ(read(Registers::kEgressStatus), 2U);
  bench_.send(0);
  EXPECT_EQ(read(Registers::kEgressStatus), 1U);
  EXPECT_EQ(read(Registers::kCreditStatus), std::uint64_t{1} << 32);
  bench_.commit(1, false);  // dropped: out as well
  EXPECT_EQ(read(Registers::kEgressStatus), 0U);
  EXPECT_EQ(read(Registers::kCreditStatus), std::uint64_t{2} << 32 | 2U);
  EXPECT_EQ(read(Registers::kErrorStatus),
            1U << static_cast<unsigned>(SendError::kDisallowedPacket));
}

// Blocks that leave one by one: the packet is out with the last one. [PIO-12.25]
TEST_F(SendRegistersTest, PIO_9_7_EgressStatusOfAPacketThatLeavesByBlocks) {
  bench_.fill(3, 2, 0);
  bench_.launch();
  bench_.commit(0);
  bench_.clear_block(0);
  EXPECT_EQ(read(Registers::kEgressStatus), 1U);
  bench_.clear_block(0);
  EXPECT_EQ(read(Registers::kEgressStatus), 0U);
}

// What is launched or on its way out is lost, each packet once, and its blocks count as dropped but
// for those that have left. [PIO-9.9]
TEST_F(SendRegistersTest, PIO_9_9_LaunchedPacketsAreForgotten) {
  bench_.fill(3, 2, 0);
  bench_.fill(3, 1, 1);
  bench_.fill(3, 1, 1);
  bench_.launch(3);
  bench_.commit(0);
  bench_.clear_block(0);
  bench_.engine.forget_launched();
  EXPECT_EQ(read(Registers::kEgressStatus), 0U);
  EXPECT_EQ(bench_.context(3).lost_packets(), 3U);
  EXPECT_EQ(bench_.engine.dropped_blocks(), 3U);
  EXPECT_EQ(bench_.engine.leaving(0), nullptr);
  EXPECT_EQ(bench_.engine.launch_fifos().filled(), 0U);
}

// Everything but whole accesses of registers that are there and can be written.
TEST_F(SendRegistersTest, PIO_10_2_OtherAccessesAreRefusedAndChangeNothing) {
  const std::uint32_t control = Registers::offset_of(Registers::kControl, 3);
  EXPECT_FALSE(write_at(control, 0, 4));
  EXPECT_FALSE(write_at(control + 4, 0));
  EXPECT_FALSE(write_at(Registers::kInitContext, Registers::init_of(3), 4));
  EXPECT_FALSE(write(Registers::kStatus, 0));
  EXPECT_FALSE(write(Registers::kErrorStatus, 0));
  EXPECT_FALSE(write_at(control + 0x48, 0));
  EXPECT_FALSE(write(Registers::kControl, 1, 4));  // is not set up
  EXPECT_TRUE(bench_.context(3).is_enabled());
  EXPECT_FALSE(bench_.context(4).is_enabled());
  EXPECT_EQ(registers_.read(control, 4), std::nullopt);
  EXPECT_EQ(registers_.read(control + 4, 8), std::nullopt);
  EXPECT_EQ(registers_.read(control + 0x48, 8), std::nullopt);
}

TEST_F(SendRegistersTest, PIO_10_3_InitialisationNeedsAContextThatIsDisabled) {
  break_it();
  const auto initialise = [&](unsigned context) {
    EXPECT_TRUE(write_at(Registers::kInitContext, Registers::init_of(context)));
    return registers_.read(Registers::kInitContext, 8) == 0U;
  };
  EXPECT_FALSE(initialise(3));
  EXPECT_EQ(read(Registers::kStatus), Registers::kHalted);
  EXPECT_FALSE(initialise(4));    // is not set up
  EXPECT_FALSE(initialise(160));  // is not there
  EXPECT_TRUE(write_at(Registers::kInitContext, 3U << 8));
  EXPECT_EQ(registers_.read(Registers::kInitContext, 8), Registers::kInitRefused);
  EXPECT_TRUE(write(Registers::kControl, 0));
  EXPECT_TRUE(initialise(3));
  EXPECT_EQ(read(Registers::kStatus), 0U);
}

// Between disable and enable writes are dropped and halt nothing; then the first packet goes to
// block 0. [PIO-9.6, 9.7]
TEST_F(SendRegistersTest, PIO_083_084_ARecoveryByRegisters) {
  bench_.fill(3, 3, 0);
  bench_.launch();
  bench_.send(0);
  break_it();
  EXPECT_EQ(read(Registers::kStatus), Registers::kHalted);
  EXPECT_EQ(read(Registers::kErrorStatus),
            1U << static_cast<unsigned>(SendError::kWriteOutOfBounds));
  EXPECT_TRUE(write(Registers::kControl, 0));
  bench_.write_packet(3, 0, test::pbc_of(1));
  EXPECT_EQ(bench_.engine.bad_context_writes(), 1U);
  EXPECT_TRUE(write_at(Registers::kInitContext, Registers::init_of(3)));
  bench_.write_packet(3, 0, test::pbc_of(1));
  EXPECT_EQ(bench_.engine.bad_context_writes(), 2U);
  EXPECT_TRUE(write(Registers::kControl, 1));
  EXPECT_EQ(read(Registers::kControl).value_or(0) & Registers::kEnable, 1U);
  EXPECT_EQ(read(Registers::kCreditStatus), 0U);
  bench_.write_packet(3, 0, test::pbc_of(2));
  bench_.launch();
  bench_.send(0);
  EXPECT_EQ(bench_.last_qw(3), 2U | kDueToThreshold);
  EXPECT_EQ(bench_.context(3).past().launched, 3U);
  EXPECT_EQ(bench_.context(3).past().returned, 3U);
  EXPECT_EQ(bench_.context(3).lost_packets(), 3U);  // past the bound, and two while disabled
}

// An error is counted once a life, and again in the next.
TEST_F(SendRegistersTest, ErrorsAreCountedOverAllLives) {
  for (unsigned life = 1; life <= 3; ++life) {
    break_it();
    break_it();
    EXPECT_EQ(bench_.engine.errors(SendError::kWriteOutOfBounds), life);
    bench_.engine.restart(3);
  }
  EXPECT_EQ(bench_.engine.errors(SendError::kWriteOverflow), 0U);
}

// Packets of one to three blocks into a ring of eight, block by block in any order, some of which
// fail integrity, and restarts at any time: each packet whose PBC came leaves or is lost. [PIO-9.8]
TEST(LostPackets, PIO_9_8_EachPacketLeavesOrIsLost) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    SendBench bench;
    const bool is_early = seed % 2 == 0;
    bench.set_up(0, {0, 8, 1, is_early, false});
    std::uint64_t sent = 0, left = 0, cleared = 0;
    unsigned slot = 0;
    const auto go_on = [&](double integrity) {
      bench.launch();
      bench.engine.arbitrate(!random.chance(integrity));
      for (unsigned vl = 0; vl < 3; ++vl) {
        if (const LaunchedPacket* const packet = bench.engine.leaving(vl)) {
          ++left;
          cleared += packet->blocks;
          bench.clear(vl);
        }
      }
    };
    for (unsigned step = 0; step < 400; ++step) {
      const auto blocks = static_cast<unsigned>(1 + random.below(3));
      const Pbc pbc = test::pbc_of(blocks, static_cast<unsigned>(random.below(3)));
      const bool is_backwards = random.chance(0.3);
      for (unsigned i = 0; i < blocks; ++i) {
        const unsigned block = is_backwards ? blocks - 1 - i : i;
        bench.write(0, (slot + block) % 8, block == 0, test::packet_block(pbc, block));
        if (block != 0 && random.chance(0.05)) {
          bench.engine.restart(0);
        }
      }
      ++sent;
      slot = (slot + blocks) % 8;
      if (random.chance(0.7)) {
        go_on(0.1);
      }
      if (bench.context(0).is_halted() && random.chance(0.2)) {
        bench.engine.restart(0);
        slot = 0;
      }
    }
    for (unsigned i = 0; i < 20; ++i) {
      go_on(0);
    }
    bench.engine.disable(0);
    ASSERT_TRUE(bench.engine.initialise(0));
    const SendContext& context = bench.context(0);
    EXPECT_EQ(context.packets_out(), 0U);
    EXPECT_GT(context.lost_packets(), 0U);
    EXPECT_GT(left, 20U);
    EXPECT_EQ(sent, left + context.lost_packets());
    EXPECT_EQ(context.past().launched, cleared + bench.engine.dropped_blocks());
    EXPECT_LE(context.past().returned, context.past().launched);
  }
}

}  // namespace
}  // namespace flitwise::send_registers_test
