// SPDX-License-Identifier: Apache-2.0
// Fences, stores that wait and how far a core runs ahead of them.
#include "pio/host_core.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "unit/pio/send_bench.h"

namespace flitwise::host_core_test {
namespace {

using Addresses = std::vector<std::uint64_t>;

bool store(HostCore& core, unsigned thread, std::uint64_t address, unsigned bytes,
           std::uint8_t value = 0) {
  const std::vector<std::uint8_t> data(bytes, value);
  return core.store(thread, address, data.data(), bytes);
}

/// All that leaves by itself, as block addresses.
Addresses leaving(HostCore& core) {
  Addresses addresses;
  while (const StoreBlock* const block = core.next_to_write()) {
    addresses.push_back(block->address);
    core.release(*block);
  }
  return addresses;
}

// [PIO-4.2, 4.4]
TEST(HostCore, FullBlocksLeaveByThemselvesAndAFenceTakesTheRest) {
  HostCore core(4);
  EXPECT_TRUE(store(core, 0, 0x100, 8));
  EXPECT_TRUE(store(core, 0, 0x200, 64));
  EXPECT_EQ(leaving(core), Addresses({0x200}));
  EXPECT_TRUE(core.fence(0));
  EXPECT_TRUE(core.is_fenced(0));
  EXPECT_FALSE(core.is_fence_out(0));
  EXPECT_EQ(leaving(core), Addresses({0x100}));
  ASSERT_TRUE(core.is_fence_out(0));
  EXPECT_FALSE(store(core, 0, 0x100, 8));  // until the IIO has answered
  core.acknowledge(0);
  EXPECT_TRUE(store(core, 0, 0x100, 8));
  EXPECT_EQ(core.fences(), 1U);
  EXPECT_EQ(core.stalls(), 1U);
}

// [PIO-4.4] The fence of one thread neither waits for the stores of the other nor holds them.
TEST(HostCore, FenceConcernsItsOwnThread) {
  HostCore core(4);
  store(core, 0, 0x100, 8);
  store(core, 1, 0x200, 8);
  core.fence(1);
  EXPECT_EQ(leaving(core), Addresses({0x200}));
  EXPECT_TRUE(core.is_fence_out(1));
  EXPECT_FALSE(core.is_fence_out(0));
  EXPECT_TRUE(store(core, 0, 0x108, 8));
  EXPECT_EQ(core.buffer().held_bytes(), 16U);
}

// [PIO-4.5]
TEST(HostCore, YoungerStoresWaitBehindAFenceUpToTheWindow) {
  HostCore core(4, 3);
  core.fence(0);
  EXPECT_TRUE(store(core, 0, 0x100, 64));
  EXPECT_TRUE(core.fence(0));
  EXPECT_TRUE(store(core, 0, 0x200, 64));
  EXPECT_FALSE(store(core, 0, 0x300, 64));
  EXPECT_FALSE(core.fence(0));
  EXPECT_EQ(core.stalls(), 2U);
  EXPECT_EQ(leaving(core), Addresses{});
  core.acknowledge(0);  // the first store goes, the second fence holds the rest
  EXPECT_EQ(core.waiting(0), 1U);
  EXPECT_TRUE(core.is_fenced(0));
  EXPECT_EQ(leaving(core), Addresses({0x100}));
  core.acknowledge(0);
  EXPECT_EQ(core.waiting(0), 0U);
  EXPECT_EQ(leaving(core), Addresses({0x200}));
}

// [PIO-4.5] [PIO-12.29] Stores that have a block pass one that has none, and count for the window
// until it is done.
TEST(HostCore, StoresPassOneThatHasNoBlock) {
  HostCore core(1, 3);
  store(core, 0, 0x100, 32);
  EXPECT_TRUE(store(core, 0, 0x200, 64));  // waits
  EXPECT_TRUE(store(core, 0, 0x120, 16));
  EXPECT_EQ(core.buffer().held_bytes(), 48U);
  EXPECT_EQ(core.waiting(0), 2U);
  EXPECT_TRUE(store(core, 0, 0x130, 16));
  EXPECT_FALSE(store(core, 0, 0x300, 8));
  EXPECT_EQ(leaving(core), Addresses({0x100, 0x200}));
  EXPECT_EQ(core.waiting(0), 0U);
}

// [PIO-4.5] [PIO-12.39] A full block takes no store; it waits for the block to be out.
TEST(HostCore, StoresOfOneBlockKeepTheirOrder) {
  HostCore core(1, 4);
  store(core, 0, 0x100, 64, 1);
  EXPECT_TRUE(store(core, 0, 0x100, 8, 2));
  EXPECT_TRUE(store(core, 0, 0x100, 8, 3));
  core.release(*core.next_to_write());
  ASSERT_NE(core.buffer().oldest(), nullptr);
  EXPECT_EQ(core.buffer().oldest()->bytes[0], 3U);
  EXPECT_EQ(core.buffer().counts().replaced_bytes, 8U);
}

// [PIO-4.1] Two threads that wait for one block take turns.
TEST(HostCore, ThreadsTakeTurnsForAFreeBlock) {
  HostCore core(1, 8);
  store(core, 0, 0x1000, 64);
  for (unsigned i = 1; i < 4; ++i) {
    store(core, 0, 0x1000 + 64 * i, 64);
    store(core, 1, 0x2000 + 64 * i, 64);
  }
  const Addresses order = leaving(core);
  ASSERT_EQ(order.size(), 7U);
  for (std::size_t i = 2; i < 6; ++i) {
    EXPECT_NE(order[i] < 0x2000, order[i - 1] < 0x2000) << i;
  }
}

struct Sent {
  std::vector<std::vector<std::uint8_t>> packets;
  std::uint64_t partial_writes = 0;
  bool has_error = false;
};

/// Two threads write packets of three blocks, each to its own context, through one store buffer.
class TwoSenders {
 public:
  TwoSenders(unsigned seed, unsigned window) : random_(seed), core_(1 + seed % 4, window) {
    for (unsigned context = 0; context < 2; ++context) {
      bench_.set_up(context, {context * 64, 64, 1, false, false});
    }
  }

  /// With `evicts` stores of a packet come in any order, and blocks leave before they are full.
  Sent send(bool fences, bool evicts) {
    for (unsigned packet = 0; packet < kPackets; ++packet) {
      for (unsigned thread = 0; thread < 2; ++thread) {
        store_packet(thread, packet, evicts);
        while (fences && !core_.fence(thread)) {
          wait_for(thread);
        }
      }
    }
    for (unsigned thread = 0; thread < 2; ++thread) {
      while (!core_.is_idle(thread)) {
        wait_for(thread);
      }
    }
    while (core_.buffer().oldest() != nullptr) {
      write_out(*core_.buffer().oldest());
    }
    return arrived();
  }

 private:
  static constexpr unsigned kPackets = 16;
  struct Piece {
    std::uint32_t address;
    std::array<std::uint8_t, 8> data;
  };

  static std::vector<Piece> pieces_of(unsigned context, unsigned packet) {
    std::vector<Piece> pieces;
    for (unsigned i = 0; i < 3; ++i) {
      const test::Block block = test::packet_block(test::pbc_of(3, packet % 2), i,
                                                   static_cast<std::uint8_t>(packet * 2 + context));
      for (unsigned byte = 0; byte < block.size(); byte += 8) {
        Piece piece{test::encode_window({i == 0, context, packet * 3 + i, byte}), {}};
        std::copy_n(block.begin() + byte, 8, piece.data.begin());
        pieces.push_back(piece);
      }
    }
    return pieces;
  }

  void store_packet(unsigned thread, unsigned packet, bool evicts) {
    std::vector<Piece> pieces = pieces_of(thread, packet);
    if (evicts) {
      std::shuffle(pieces.begin(), pieces.end(), random_);
    }
    for (const Piece& piece : pieces) {
      while (!core_.store(thread, piece.address, piece.data.data(), 8)) {
        wait_for(thread);
      }
      settle(thread);
      if (evicts && random_() % 16 == 0 && core_.buffer().oldest() != nullptr) {
        write_out(*core_.buffer().oldest());
      }
    }
  }

  void write_out(const StoreBlock& block) {
    for (const StoreWrite& write : StoreWrites(block)) {
      bench_.engine.write(static_cast<std::uint32_t>(write.address), write.data, write.bytes);
    }
    core_.release(block);
  }
  void settle(unsigned thread) {
    while (core_.next_to_write() != nullptr) {
      write_out(*core_.next_to_write());
    }
    if (core_.is_fence_out(thread) && random_() % 4 == 0) {
      core_.acknowledge(thread);
    }
  }
  void wait_for(unsigned thread) {
    settle(thread);
    if (!core_.is_fenced(thread) && core_.buffer().oldest() != nullptr) {
      write_out(*core_.buffer().oldest());
    }
  }

  Sent arrived() {
    Sent sent;
    bench_.launch(2 * kPackets);
    for (unsigned i = 0; i < 2 * kPackets; ++i) {
      bench_.commit(i % 2);
      if (const LaunchedPacket* const packet = bench_.engine.leaving(i % 2)) {
        sent.packets.push_back(bench_.engine.bytes_of(*packet));
        bench_.clear(i % 2);
      }
    }
    sent.partial_writes = core_.buffer().counts().partial_writes;
    sent.has_error = bench_.context(0).is_halted() || bench_.context(1).is_halted();
    return sent;
  }

  std::mt19937 random_;
  test::SendBench bench_;
  HostCore core_;
};

// [PIO-014] [PIO-017] [PIO-018] [PIO-3.2, 4.3, 4.4, 4.5]
TEST(HostCore, PacketsAreTheSameWithFencesEvictionsAndRunningAhead) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Sent plain = TwoSenders(seed, 0).send(false, false);
    EXPECT_EQ(plain.packets.size(), 32U);
    EXPECT_FALSE(plain.has_error);
    EXPECT_EQ(plain.partial_writes, 0U);
    for (const unsigned window : {0U, 1U, 30U, 256U}) {
      for (const bool evicts : {false, true}) {
        const Sent fenced = TwoSenders(seed, window).send(true, evicts);
        EXPECT_EQ(fenced.packets, plain.packets) << window << evicts;
        EXPECT_FALSE(fenced.has_error);
        if (evicts) {
          EXPECT_GT(fenced.partial_writes, 0U);
        }
      }
    }
  }
}

}  // namespace
}  // namespace flitwise::host_core_test
