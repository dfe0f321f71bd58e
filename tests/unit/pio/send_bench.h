// SPDX-License-Identifier: Apache-2.0
/// A send engine as tests drive it, and what it returned so far.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pio/pbc.h"
#include "pio/send_engine.h"

namespace flitwise::test {

inline std::uint32_t encode_window(const WindowAddress& address) {
  return (address.is_sop ? 1U << 24 : 0U) | address.context << 16 |
         address.block * kSendBlockBytes | address.byte;
}

using Block = std::array<std::uint8_t, kSendBlockBytes>;

/// The i-th block of a packet: its PBC, and bytes that tell blocks apart.
inline Block packet_block(const Pbc& pbc, unsigned i, std::uint8_t seed = 1) {
  Block block{};
  for (unsigned byte = 0; byte < block.size(); ++byte) {
    block[byte] = static_cast<std::uint8_t>(seed * 37 + i * 11 + byte);
  }
  for (unsigned byte = 0; i == 0 && byte < kQwBytes; ++byte) {
    block[byte] = static_cast<std::uint8_t>(encode(pbc) >> 8 * byte);
  }
  return block;
}

inline Pbc pbc_of(unsigned blocks, unsigned vl = 0) {
  Pbc pbc;
  pbc.length_dws = static_cast<std::uint16_t>(blocks * 16);
  pbc.vl = static_cast<std::uint8_t>(vl);
  return pbc;
}

class SendBench {
 public:
  /// The context has a return address of its own, 0x1000 + 64 * context.
  void set_up(unsigned context, const SendContextSetup& setup) {
    EXPECT_EQ(engine.setup_flaw(context, setup), "");
    engine.set_up(context, setup);
    engine.set_return_address(context, address_of(context));
  }
  static std::uint64_t address_of(unsigned context) { return 0x1000 + 64U * context; }

  void write(unsigned context, unsigned block, unsigned byte, bool is_sop,
             const std::vector<std::uint8_t>& bytes) {
    engine.write(encode_window({is_sop, context, block, byte}), bytes.data(), bytes.size());
    drain();
  }
  void write(unsigned context, unsigned block, bool is_sop, const Block& bytes) {
    write(context, block, 0, is_sop, {bytes.begin(), bytes.end()});
  }
  /// Blocks of one packet from this block of the buffer on, in order.
  void write_packet(unsigned context, unsigned block, const Pbc& pbc, std::uint8_t seed = 1) {
    for (unsigned i = 0; i < pbc.blocks(); ++i) {
      write(context, block + i, i == 0, packet_block(pbc, i, seed));
    }
  }
  void fill(unsigned context, unsigned blocks, unsigned vl, bool returns_credits = false) {
    engine.fill(context, blocks, vl, returns_credits);
    drain();
  }
  void launch(unsigned times = 1) {
    for (unsigned i = 0; i < times; ++i) {
      engine.launch();
    }
    drain();
  }
  void commit(unsigned vl, bool is_intact = true) {
    engine.commit(vl, is_intact);
    drain();
  }
  void clear(unsigned vl) {
    engine.clear(vl);
    drain();
  }
  void clear_block(unsigned vl) {
    engine.clear_block(vl);
    drain();
  }
  void send(unsigned vl) {
    commit(vl);
    clear(vl);
  }
  void force(unsigned context, bool is_on) {
    engine.force(context, is_on);
    drain();
  }
  const SendContext& context(unsigned number) const { return engine.context(number); }
  bool has(unsigned context, SendError error) const {
    return engine.context(context).has_error(error);
  }
  /// The QW of a context in the last return. REQUIRES: there was one.
  std::uint64_t last_qw(unsigned context) const { return returns.back().qws[context % 8]; }

  SendEngine engine;
  std::vector<CreditReturn> returns;
  bool keeps_waiting = false;  ///< returns stay in their queue

 private:
  void drain() {
    while (!keeps_waiting && engine.has_return()) {
      returns.push_back(engine.first_return());
      engine.take_return();
    }
  }
};

}  // namespace flitwise::test
