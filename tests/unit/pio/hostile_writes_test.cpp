// SPDX-License-Identifier: Apache-2.0
#include "pio/hostile_writes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "unit/pio/send_bench.h"

namespace flitwise::hostile_writes_test {
namespace {

constexpr unsigned kContext = 5, kDepth = 16;

TEST(HostileWrites, PIO_2_5_StayInTheTwoPagesOfTheirContext) {
  HostileWrites writes(kContext, kDepth, Random(1));
  std::array<unsigned, 2> pages{};
  unsigned misaligned = 0, crossing = 0, of_four = 0, past_the_bound = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    if (i % 50 == 0) {
      writes.restart();
    }
    const HostileWrite write = writes.next();
    ASSERT_GE(write.bytes, 1U);
    ASSERT_LE(write.bytes, HostileWrite::kMostBytes);
    const WindowAddress first = decode_window(write.offset);
    const WindowAddress last = decode_window(write.offset + write.bytes - 1);
    ASSERT_LT(write.offset + write.bytes - 1, kPioWindowBytes);
    ASSERT_EQ(first.context, kContext);
    ASSERT_EQ(last.context, kContext);
    ASSERT_EQ(first.is_sop, last.is_sop);
    ++pages[first.is_sop ? 1 : 0];
    misaligned += first.byte % kQwBytes != 0 ? 1 : 0;
    crossing += first.block != last.block ? 1 : 0;
    of_four += write.bytes == 4 ? 1 : 0;
    past_the_bound += first.block >= kDepth ? 1 : 0;
  }
  for (const unsigned count : {pages[0], pages[1], misaligned, crossing, past_the_bound}) {
    EXPECT_GT(count, 500U);
  }
  EXPECT_GT(of_four, 100U);
}

// Whatever it writes, and however often its context is begun anew: each kind of error happens, some
// of its packets leave, and the memory, credits and packets of its neighbours are as without it.
TEST(HostileWrites, PIO_2_5_HurtTheirOwnContextAlone) {
  const auto run = [](bool is_hostile) {
    test::SendBench bench;
    for (const unsigned context : {4U, kContext, 6U}) {
      bench.set_up(context, {context * kDepth, kDepth, 1, false, false});
    }
    HostileWrites writes(kContext, kDepth, Random(7));
    std::vector<std::uint64_t> seen;  // bytes and credits of the neighbours
    std::uint64_t hostile_packets = 0;
    unsigned slot = 0;
    for (unsigned step = 0; step < 3000; ++step) {
      for (unsigned i = 0; is_hostile && i < 5; ++i) {
        const HostileWrite write = writes.next();
        bench.engine.write(write.offset, write.data.data(), write.bytes);
        while (bench.engine.has_return()) {
          bench.engine.take_return();
        }
      }
      if (bench.context(kContext).is_halted() && step % 3 == 0) {
        bench.engine.restart(kContext);
        writes.restart();
      }
      for (const unsigned context : {4U, 6U}) {
        bench.write_packet(context, slot, test::pbc_of(1), static_cast<std::uint8_t>(step));
      }
      slot = (slot + 1) % kDepth;
      while (bench.engine.launch()) {
      }
      bool goes_on = true;
      while (goes_on) {
        bench.engine.arbitrate(true);
        goes_on = false;
        for (unsigned vl = 0; vl <= kManagementVl; ++vl) {
          const LaunchedPacket* const packet = bench.engine.leaving(vl);
          if (packet == nullptr) {
            continue;
          }
          goes_on = true;
          if (packet->source == kContext) {
            ++hostile_packets;
          } else {
            for (const std::uint8_t byte : bench.engine.bytes_of(*packet)) {
              seen.push_back(byte);
            }
          }
          bench.clear(vl);
        }
        goes_on = goes_on || bench.engine.launch_fifos().filled() != 0;
      }
      seen.push_back(bench.context(4).returned() << 32 | bench.context(6).returned());
    }
    if (is_hostile) {
      EXPECT_GT(hostile_packets, 100U);
      for (int i = 0; i < kSendErrors; ++i) {
        EXPECT_GT(bench.engine.errors(static_cast<SendError>(i)), 10U) << i;
      }
    }
    EXPECT_EQ(bench.context(4).returned(), 3000U);
    return seen;
  };
  EXPECT_EQ(run(true), run(false));
}

}  // namespace
}  // namespace flitwise::hostile_writes_test
