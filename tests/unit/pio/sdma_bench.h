// SPDX-License-Identifier: Apache-2.0
/// A send engine, the host memory that its SDMA engines read, and the reads that are in flight.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "common/byte_vector.h"
#include "pio/send_engine.h"

namespace flitwise::test {

class SdmaBench {
 public:
  static constexpr std::uint64_t kRing = 0, kHead = 0x8000, kData = 0x9000;

  void set_up(unsigned engine, unsigned entries, unsigned blocks = 256) {
    const SdmaSetup setup{kRing, entries, kHead, blocks};
    ASSERT_EQ(SdmaRing::setup_flaw(setup), "");
    send.sdma_set_up(engine, setup);
  }
  void poke(std::uint64_t address, std::uint64_t qw) {
    for (unsigned i = 0; i < 8; ++i) {
      memory[address + i] = static_cast<std::uint8_t>(qw >> 8 * i);
    }
  }
  /// Bits of the second QW: head 1, interrupt 2.
  void describe(unsigned index, std::uint64_t address, std::uint64_t bytes, bool is_first,
                bool is_last, unsigned generation = 0, unsigned flags = 0) {
    poke(kRing + 16 * index,
         address | bytes << 48 | std::uint64_t{is_last} << 62 | std::uint64_t{is_first} << 63);
    poke(kRing + 16 * index + 8, generation << 2 | flags);
  }
  /// A packet of one fragment at kData + 64 * index.
  void describe_packet(unsigned index, unsigned bytes, unsigned vl, unsigned generation = 0,
                       unsigned flags = 0) {
    poke(kData + 64U * index, bytes / 4 | vl << 12);
    describe(index, kData + 64U * index, bytes, true, true, generation, flags);
  }
  /// What goes out now.
  std::vector<SdmaRead> reads(unsigned engine) {
    std::vector<SdmaRead> all;
    while (const auto read = send.sdma_next_read(engine)) {
      all.push_back(*read);
    }
    return all;
  }
  void answer(unsigned engine, const SdmaRead& read) {
    send.sdma_take(engine, read.tag, memory.data() + read.address);
  }
  /// All reads, the last one first, until none goes out.
  void settle(unsigned engine) {
    for (std::vector<SdmaRead> now = reads(engine); !now.empty(); now = reads(engine)) {
      for (auto read = now.rbegin(); read != now.rend(); ++read) {
        answer(engine, *read);
      }
    }
  }
  void send_one(unsigned vl) {
    send.launch();
    send.commit(vl, true);
    send.clear(vl);
  }
  const SdmaRing& ring(unsigned engine) const { return send.sdma_ring(engine); }

  SendEngine send;
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(0x40000);
};

}  // namespace flitwise::test
