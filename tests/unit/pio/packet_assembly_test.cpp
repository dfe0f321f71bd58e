// SPDX-License-Identifier: Apache-2.0
// When a packet is complete, in whatever order its writes come.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "unit/pio/send_bench.h"

namespace flitwise::packet_assembly_test {
namespace {

using test::Block;
using test::packet_block;
using test::pbc_of;
using test::SendBench;

constexpr unsigned kContext = 7;

struct PacketAssemblyBench : SendBench {
  explicit PacketAssemblyBench(unsigned depth) { set_up(kContext, {100, depth, 1, false, false}); }
  std::uint64_t done() const { return context(kContext).assembly().done(); }
  void write_qw(unsigned block, unsigned qw, bool is_sop, const Block& bytes) {
    write(kContext, block, qw * kQwBytes, is_sop,
          {bytes.begin() + qw * kQwBytes, bytes.begin() + (qw + 1) * kQwBytes});
  }
};

// [PIO-3.2, 5.2]
TEST(PacketAssembly, PIO_010_QwsInAnyOrderMakeTheSameBlock) {
  std::mt19937 random(1);
  PacketAssemblyBench bench(4);
  const Block bytes = packet_block(pbc_of(1), 0);
  std::array<unsigned, 8> order{0, 1, 2, 3, 4, 5, 6, 7};
  std::shuffle(order.begin(), order.end(), random);
  for (const unsigned qw : order) {
    EXPECT_EQ(bench.done(), 0U);
    bench.write_qw(0, qw, true, bytes);
  }
  EXPECT_EQ(bench.done(), 1U);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), bench.engine.memory().bytes(100)));
}

// [PIO-5.1]
TEST(PacketAssembly, PIO_024_LengthIsKnownWithThePbcAlone) {
  PacketAssemblyBench bench(4);
  const Block bytes = packet_block(pbc_of(1), 0);
  bench.write(kContext, 0, 8, true, {bytes.begin() + 8, bytes.end()});
  EXPECT_EQ(bench.done(), 0U);
  bench.write(kContext, 0, 0, true, {bytes.begin(), bytes.begin() + 8});
  EXPECT_EQ(bench.done(), 1U);
}

// [PIO-5.3]
TEST(PacketAssembly, PIO_022_FirstBlockMayComeLast) {
  PacketAssemblyBench bench(4);
  bench.write(kContext, 2, false, packet_block(pbc_of(3), 2));
  bench.write(kContext, 1, false, packet_block(pbc_of(3), 1));
  EXPECT_EQ(bench.done(), 0U);
  bench.write(kContext, 0, true, packet_block(pbc_of(3), 0));
  EXPECT_EQ(bench.done(), 3U);
}

// [PIO-5.2, 5.6]
TEST(PacketAssembly, PIO_023_PacketsBehindWaitForTheFirst) {
  PacketAssemblyBench bench(8);
  bench.write_packet(kContext, 2, pbc_of(1));
  bench.write_packet(kContext, 3, pbc_of(2));
  EXPECT_EQ(bench.engine.next_source(), LaunchArbiter::kNone);
  bench.write_packet(kContext, 0, pbc_of(2));
  EXPECT_EQ(bench.done(), 5U);
  EXPECT_EQ(bench.context(kContext).to_launch()->blocks, 2U);
}

// [PIO-5.6]
TEST(PacketAssembly, PIO_021_NothingIsLaunchedWhileEightBytesAreMissing) {
  PacketAssemblyBench bench(200);
  const Pbc pbc = pbc_of(162);
  for (unsigned i = 0; i < 161; ++i) {
    bench.write(kContext, i, i == 0, packet_block(pbc, i));
  }
  const Block last = packet_block(pbc, 161);
  bench.write(kContext, 161, 0, false, {last.begin(), last.begin() + 56});
  EXPECT_EQ(bench.engine.next_source(), LaunchArbiter::kNone);
  bench.write(kContext, 161, 56, false, {last.begin() + 56, last.end()});
  EXPECT_EQ(bench.engine.next_source(), kContext);
}

// [PIO-3.3, 5.4]
TEST(PacketAssembly, PIO_025_PacketGoesOnAtTheFirstBlock) {
  PacketAssemblyBench bench(7);
  bench.write_packet(kContext, 0, pbc_of(5));
  bench.launch();
  bench.send(0);
  const Pbc pbc = pbc_of(4, 3);
  for (unsigned i = 0; i < 4; ++i) {
    bench.write(kContext, (5 + i) % 7, i == 0, packet_block(pbc, i));
  }
  bench.launch();
  bench.commit(3);
  ASSERT_NE(bench.engine.leaving(3), nullptr);
  EXPECT_EQ(bench.engine.leaving(3)->place, 5U);
  const std::vector<std::uint8_t> bytes = bench.engine.bytes_of(*bench.engine.leaving(3));
  ASSERT_EQ(bytes.size(), 4 * 64U - 8U);
  for (unsigned i = 0; i < 4; ++i) {
    const Block block = packet_block(pbc, i);
    const unsigned pbc_bytes = i == 0 ? 8 : 0;
    EXPECT_TRUE(
        std::equal(block.begin() + pbc_bytes, block.end(), bytes.begin() + i * 64 + pbc_bytes - 8));
  }
}

// [PIO-5.7, 9.3]
TEST(PacketAssembly, PIO_029_PacketLongerThanItsBufferNeverCompletes) {
  PacketAssemblyBench bench(4);
  for (unsigned i = 0; i < 4; ++i) {
    bench.write(kContext, i, i == 0, packet_block(pbc_of(5), i));
  }
  EXPECT_EQ(bench.done(), 0U);
  EXPECT_FALSE(bench.context(kContext).is_halted());
  EXPECT_TRUE(bench.returns.empty());
  bench.write(kContext, 0, false, packet_block(pbc_of(5), 4));
  EXPECT_TRUE(bench.has(kContext, SendError::kWriteOverflow));
}

struct PacketFlaw {
  const char* what;
  bool first_is_sop, second_is_sop;
  std::uint16_t dws;
  bool second_comes_first;
};

// [PIO-9.4, 12.4]
TEST(PacketAssembly, PIO_030_031_033_StartsThatDoNotFitHaltTheContext) {
  for (const PacketFlaw& flaw : {PacketFlaw{"SOP=0 at the start", false, false, 32, false},
                                 PacketFlaw{"SOP=1 within", true, true, 32, false},
                                 PacketFlaw{"SOP=1 within, before the start", true, true, 32, true},
                                 PacketFlaw{"no length", true, false, 0, false}}) {
    PacketAssemblyBench bench(4);
    Pbc pbc = pbc_of(2);
    pbc.length_dws = flaw.dws;
    if (flaw.second_comes_first) {
      bench.write(kContext, 1, flaw.second_is_sop, packet_block(pbc, 1));
      EXPECT_FALSE(bench.context(kContext).is_halted());
    }
    bench.write(kContext, 0, flaw.first_is_sop, packet_block(pbc, 0));
    bench.write(kContext, 1, flaw.second_is_sop, packet_block(pbc, 1));
    EXPECT_TRUE(bench.has(kContext, SendError::kInconsistentSop)) << flaw.what;
    EXPECT_EQ(bench.done(), 0U) << flaw.what;
    ASSERT_EQ(bench.returns.size(), 1U) << flaw.what;
    EXPECT_EQ(bench.last_qw(kContext), kCreditStatus | kDueToError) << flaw.what;
  }
}

// [PIO-9.4]
TEST(PacketAssembly, PIO_032_OneBlockHasOneSop) {
  PacketAssemblyBench bench(4);
  const Block bytes = packet_block(pbc_of(1), 0);
  bench.write_qw(2, 0, true, bytes);
  bench.write_qw(2, 1, false, bytes);
  EXPECT_TRUE(bench.has(kContext, SendError::kInconsistentSop));
}

// The packet before it is fine and complete; nothing launches any more. [PIO-5.1, 12.14]
TEST(PacketAssembly, WrongStartBehindAPacketIsFoundWhenItsTurnComes) {
  PacketAssemblyBench bench(8);
  bench.write(kContext, 1, false, packet_block(pbc_of(1), 1));
  EXPECT_FALSE(bench.context(kContext).is_halted());
  bench.write_packet(kContext, 0, pbc_of(1));
  EXPECT_TRUE(bench.has(kContext, SendError::kInconsistentSop));
  EXPECT_EQ(bench.engine.next_source(), LaunchArbiter::kNone);
}

// [PIO-3.2, 5.2]
TEST(PacketAssembly, PIO_014_ShuffledWritesOfManyPacketsGiveThemInOrder) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    PacketAssemblyBench bench(64);
    struct Piece {
      unsigned block, qw, count;
      bool is_sop;
      Block bytes;
    };
    std::vector<Piece> pieces;
    std::vector<unsigned> lengths;
    for (unsigned at = 0; at < 60;) {
      const unsigned blocks = std::min(60U - at, 1 + static_cast<unsigned>(random() % 6));
      lengths.push_back(blocks);
      for (unsigned i = 0; i < blocks; ++i) {
        const Block bytes = packet_block(pbc_of(blocks), i, static_cast<std::uint8_t>(at));
        for (unsigned qw = 0; qw < 8;) {
          const unsigned count = std::min(8U - qw, 1 + static_cast<unsigned>(random() % 8));
          pieces.push_back({at + i, qw, count, i == 0, bytes});
          qw += count;
        }
      }
      at += blocks;
    }
    std::shuffle(pieces.begin(), pieces.end(), random);
    for (const Piece& piece : pieces) {
      bench.write(
          kContext, piece.block, piece.qw * 8, piece.is_sop,
          {piece.bytes.begin() + piece.qw * 8, piece.bytes.begin() + (piece.qw + piece.count) * 8});
    }
    for (const unsigned blocks : lengths) {
      ASSERT_NE(bench.context(kContext).to_launch(), nullptr) << "seed " << seed;
      EXPECT_EQ(bench.context(kContext).to_launch()->blocks, blocks) << "seed " << seed;
      bench.launch();
    }
    EXPECT_EQ(bench.context(kContext).to_launch(), nullptr);
  }
}

}  // namespace
}  // namespace flitwise::packet_assembly_test
