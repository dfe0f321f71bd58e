// SPDX-License-Identifier: Apache-2.0
// SDMA rings: descriptors, fragments, the buffer and the head.
#include <gtest/gtest.h>

#include "unit/pio/sdma_bench.h"

namespace flitwise::sdma_ring_test {
namespace {

using test::SdmaBench;

// [PIO-6.11]
TEST(SdmaRing, DescriptorNamesAFragment) {
  SdmaBench bench;
  bench.describe(0, 0x123456789abc, 0x3fff, true, false, 3, 1);
  const SdmaDescriptor one = decode_sdma_descriptor(bench.memory.data());
  EXPECT_EQ(one.address, 0x123456789abcU);
  EXPECT_EQ(one.bytes, 0x3fff);
  EXPECT_TRUE(one.is_first);
  EXPECT_FALSE(one.is_last);
  EXPECT_EQ(one.generation, 3);
  EXPECT_TRUE(one.asks_for_head);
  EXPECT_FALSE(one.interrupts);
}

// [PIO-6.10]
TEST(SdmaRing, SetupThatDoesNotFitIsRefused) {
  EXPECT_EQ(SdmaRing::setup_flaw({0x40, 2048, 8, 1}), "");
  EXPECT_NE(SdmaRing::setup_flaw({0x40, 2052, 8, 1}), "");
  EXPECT_NE(SdmaRing::setup_flaw({0x40, 6, 8, 1}), "");
  EXPECT_NE(SdmaRing::setup_flaw({0x40, 0, 8, 1}), "");
  EXPECT_NE(SdmaRing::setup_flaw({0x48, 8, 8, 1}), "");
  EXPECT_NE(SdmaRing::setup_flaw({0x40, 8, 4, 1}), "");
  EXPECT_NE(SdmaRing::setup_flaw({0x40, 8, 8, 0}), "");
  EXPECT_NE(SdmaRing::setup_flaw({0x40, 8, 8, 1025}), "");
  EXPECT_NE(SdmaRing::setup_flaw({0xffff'ffff'ffff'ffc0, 8, 8, 1}), "");
  EXPECT_EQ(SdmaRing::setup_flaw({0xffff'ffff'ffff'ff40, 8, 8, 1}), "");
  EXPECT_EQ(SdmaRing::setup_flaw({0x40, 8, 8, 1, 64}), "");
  EXPECT_NE(SdmaRing::setup_flaw({0x40, 8, 8, 1, 65}), "");
  EXPECT_NE(SdmaRing::setup_flaw({0x40, 8, 8, 1, 0}), "");
}

// [PIO-6.12]
TEST(SdmaRing, ReadsLinesOfDescriptorsAndThenFragments) {
  SdmaBench bench;
  bench.set_up(2, 16);
  for (unsigned i = 0; i < 6; ++i) {
    bench.describe_packet(i, 64, 0);
  }
  EXPECT_TRUE(bench.reads(2).empty());
  bench.send.sdma_write_tail(2, 6);
  const auto lines = bench.reads(2);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].address, SdmaBench::kRing);
  EXPECT_EQ(lines[0].bytes, 64U);
  EXPECT_EQ(lines[1].address, SdmaBench::kRing + 64);
  EXPECT_EQ(lines[1].bytes, 32U);
  bench.answer(2, lines[1]);
  EXPECT_TRUE(bench.reads(2).empty());  // in order of the ring
  bench.answer(2, lines[0]);
  const auto fragments = bench.reads(2);
  ASSERT_EQ(fragments.size(), 6U);
  EXPECT_EQ(fragments[5].address, SdmaBench::kData + 5 * 64);
  EXPECT_EQ(bench.ring(2).reads_outstanding(), 6U);
}

// [PIO-6.12]
TEST(SdmaRing, SixteenReadsAreOutstandingAtMost) {
  SdmaBench bench;
  bench.set_up(0, 128);
  for (unsigned i = 0; i < 100; ++i) {
    bench.describe_packet(i, 64, 0);
  }
  bench.send.sdma_write_tail(0, 100);
  const auto lines = bench.reads(0);
  EXPECT_EQ(lines.size(), 16U);  // 64 descriptors
  bench.answer(0, lines[0]);
  EXPECT_EQ(bench.reads(0).size(), 1U);
}

// Bytes of a read come in parts and in any order; what lies behind its end is not taken. [PIO-6.12]
TEST(SdmaRing, APacketIsCompleteWithTheLastOfItsBytes) {
  SdmaBench bench;
  bench.set_up(0, 8, 3);
  for (unsigned round = 0; round < 4; ++round) {  // the buffer wraps within a packet
    bench.poke(SdmaBench::kData, 32);             // 128 bytes: 2 blocks
    bench.poke(SdmaBench::kData + 120, 0x1122334455667788U + round);
    bench.describe(round, SdmaBench::kData, 128, true, true);
    bench.send.sdma_write_tail(0, round + 1);
    bench.answer(0, bench.reads(0).at(0));
    const SdmaRead data = bench.reads(0).at(0);
    ASSERT_EQ(data.bytes, 128U);
    const std::uint8_t* const bytes = bench.memory.data() + SdmaBench::kData;
    bench.send.sdma_put(0, data.tag, 100, bytes + 100, 100);
    bench.send.sdma_put(0, data.tag, 0, bytes, 100);
    bench.send.sdma_put(0, data.tag, 128, bytes, 8);
    EXPECT_FALSE(bench.send.launch());
    bench.send.sdma_finish(0, data.tag);
    ASSERT_TRUE(bench.send.launch());
    bench.send.commit(0, true);
    const LaunchedPacket packet = *bench.send.leaving(0);
    EXPECT_EQ(bench.send.pbc_of(packet).length_dws, 32);
    EXPECT_EQ(bench.send.block_of(packet, 1)[56], 0x88 + round);
    EXPECT_EQ(bench.send.bytes_of(packet).at(112), 0x88 + round);
    bench.send.clear(0);
  }
}

// [PIO-6.12]
TEST(SdmaRing, SaysThatAReadWaitsForAnother) {
  SdmaBench bench;
  bench.send.sdma_set_up(0, {SdmaBench::kRing, 128, SdmaBench::kHead, 256, 2});
  for (unsigned i = 0; i < 9; ++i) {
    bench.describe_packet(i, 64, 0);
  }
  bench.send.sdma_write_tail(0, 8);
  const auto lines = bench.reads(0);
  EXPECT_EQ(lines.size(), 2U);
  EXPECT_FALSE(bench.ring(0).waits_for_reads());  // no more descriptors
  bench.send.sdma_write_tail(0, 9);
  EXPECT_TRUE(bench.ring(0).waits_for_reads());
  bench.answer(0, lines[0]);
  EXPECT_FALSE(bench.ring(0).waits_for_reads());
  EXPECT_EQ(bench.reads(0).size(), 1U);
  EXPECT_TRUE(bench.ring(0).waits_for_reads());
}

// [PIO-6.13, 6.14]
TEST(SdmaRing, FragmentsInAnyOrderMakeOnePacket) {
  SdmaBench bench;
  bench.set_up(0, 8);
  bench.poke(SdmaBench::kData, 33 | 4U << 12);  // 132 bytes: 3 blocks
  bench.poke(SdmaBench::kData + 0x100, 0x1122334455667788);
  bench.describe(0, SdmaBench::kData, 4, true, false);
  bench.describe(1, SdmaBench::kData + 4, 4, false, false);
  bench.describe(2, SdmaBench::kData + 0x100, 124, false, true);
  bench.send.sdma_write_tail(0, 3);
  bench.answer(0, bench.reads(0).at(0));
  const auto fragments = bench.reads(0);
  ASSERT_EQ(fragments.size(), 3U);
  bench.answer(0, fragments[2]);
  bench.answer(0, fragments[0]);
  EXPECT_FALSE(bench.send.sdma(0).has_packet());
  bench.answer(0, fragments[1]);
  ASSERT_TRUE(bench.send.sdma(0).has_packet());
  EXPECT_EQ(bench.send.sdma(0).blocks(), 3U);
  bench.send.launch();
  bench.send.commit(4, true);
  const LaunchedPacket* const packet = bench.send.leaving(4);
  ASSERT_NE(packet, nullptr);
  ASSERT_TRUE(bench.send.has_bytes(*packet));
  EXPECT_EQ(bench.send.pbc_of(*packet).wire_bytes(), 128U);
  const std::vector<std::uint8_t> bytes = bench.send.bytes_of(*packet);
  ASSERT_EQ(bytes.size(), 124U);
  EXPECT_EQ(bytes[0], 0x88);
  EXPECT_EQ(bytes[7], 0x11);
  EXPECT_EQ(bench.ring(0).used_blocks(), 3U);
  bench.send.clear(4);
  EXPECT_EQ(bench.ring(0).used_blocks(), 0U);
  EXPECT_EQ(bench.ring(0).head(), 3U);
}

// [PIO-6.14]
TEST(SdmaRing, HeadWaitsForOlderPackets) {
  SdmaBench bench;
  bench.set_up(0, 8);
  bench.describe_packet(0, 64, 0);
  bench.describe_packet(1, 64, 1, 0, 3);
  bench.describe_packet(2, 64, 2, 0, 1);
  bench.send.sdma_write_tail(0, 3);
  bench.settle(0);
  bench.send.launch();
  bench.send_one(1);
  EXPECT_FALSE(bench.send.sdma_take_head_write(0));
  EXPECT_EQ(bench.ring(0).waiting(), 3U);
  bench.send_one(0);
  const auto head = bench.send.sdma_take_head_write(0);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->address, SdmaBench::kHead);
  EXPECT_EQ(head->head, 2U);
  EXPECT_TRUE(head->interrupts);
  bench.send_one(2);
  EXPECT_FALSE(bench.send.sdma_take_head_write(0)->interrupts);
  EXPECT_FALSE(bench.send.sdma_take_head_write(0));
}

// [PIO-6.16]
TEST(SdmaRing, ARestartForgetsWhoAskedForTheHead) {
  SdmaBench bench;
  bench.set_up(0, 8);
  bench.describe_packet(0, 64, 0, 0, 3);
  bench.send.sdma_write_tail(0, 1);
  bench.settle(0);
  bench.send.launch();
  bench.send_one(0);
  bench.send.sdma_restart(0);
  EXPECT_FALSE(bench.send.sdma_take_head_write(0));
}

// [PIO-6.11, 6.14]
TEST(SdmaRing, RingAndBufferGoRoundByGenerations) {
  SdmaBench bench;
  bench.set_up(0, 4, 5);
  for (unsigned i = 0; i < 40; ++i) {
    bench.describe_packet(i % 4, 128, 0, i / 4 % 4, 1);
    bench.poke(SdmaBench::kData + 64U * (i % 4) + 64, i);
    bench.send.sdma_write_tail(0, (i + 1) % 4);
    bench.settle(0);
    bench.send.launch();
    bench.send.commit(0, true);
    ASSERT_NE(bench.send.leaving(0), nullptr) << i;
    EXPECT_EQ(bench.send.bytes_of(*bench.send.leaving(0))[56], i);
    bench.send.clear(0);
    EXPECT_EQ(bench.send.sdma_take_head_write(0)->head, (i + 1) % 4);
  }
  EXPECT_FALSE(bench.ring(0).is_halted());
}

// [PIO-6.14]
TEST(SdmaRing, FragmentWaitsForRoomInTheBuffer) {
  SdmaBench bench;
  bench.set_up(0, 8, 3);
  bench.describe_packet(0, 128, 0);
  bench.describe_packet(2, 128, 0);
  bench.describe(1, SdmaBench::kData + 128, 128, true, true);
  bench.send.sdma_write_tail(0, 2);
  bench.settle(0);
  EXPECT_TRUE(bench.ring(0).waits_for_room());
  EXPECT_EQ(bench.ring(0).used_blocks(), 2U);
  bench.send_one(0);
  EXPECT_FALSE(bench.ring(0).waits_for_room());
  bench.settle(0);
  EXPECT_TRUE(bench.send.sdma(0).has_packet());
}

// What a ring of one descriptor, or two, is halted by.
SdmaError error_of(SdmaBench& bench, unsigned tail, unsigned blocks = 256) {
  bench.set_up(3, 128, blocks);
  bench.send.sdma_write_tail(3, tail);
  bench.settle(3);
  EXPECT_TRUE(bench.ring(3).is_halted());
  EXPECT_TRUE(bench.reads(3).empty());
  for (int i = 0; i < kSdmaErrors; ++i) {
    if (bench.ring(3).has_error(static_cast<SdmaError>(i))) {
      return static_cast<SdmaError>(i);
    }
  }
  return {};
}

// [PIO-6.10, 6.15]
TEST(SdmaRing, TailOutsideTheRingOrPastTheHeadHalts) {
  SdmaBench bench;
  EXPECT_EQ(error_of(bench, 128), SdmaError::kBadTail);
  bench.set_up(0, 8);
  bench.send.sdma_write_tail(0, 6);
  EXPECT_EQ(bench.ring(0).waiting(), 6U);
  bench.send.sdma_write_tail(0, 2);
  EXPECT_TRUE(bench.ring(0).has_error(SdmaError::kBadTail));
}

// [PIO-6.11, 6.15]
TEST(SdmaRing, WrongDescriptorsHalt) {
  SdmaBench generation;
  generation.describe_packet(0, 64, 0, 1);
  EXPECT_EQ(error_of(generation, 1), SdmaError::kWrongGeneration);
  SdmaBench no_first;
  no_first.describe(0, 0, 64, false, true);
  EXPECT_EQ(error_of(no_first, 1), SdmaError::kFirstOrLast);
  SdmaBench first_within;
  first_within.describe(0, 0, 64, true, false);
  first_within.describe(1, 0, 64, true, true);
  EXPECT_EQ(error_of(first_within, 2), SdmaError::kFirstOrLast);
  SdmaBench empty;
  empty.describe(0, 0, 0, true, true);
  EXPECT_EQ(error_of(empty, 1), SdmaError::kBadLength);
}

// [PIO-6.13, 6.15]
TEST(SdmaRing, FragmentsAndLengthsHaveLimits) {
  SdmaBench most;
  most.poke(SdmaBench::kData, 64);
  for (unsigned i = 0; i < 65; ++i) {
    most.describe(i, SdmaBench::kData + 4 * i, 4, i == 0, i == 64);
  }
  EXPECT_EQ(error_of(most, 65), SdmaError::kTooManyFragments);
  SdmaBench longest;
  longest.describe(0, SdmaBench::kData, 0x3fff, true, false);
  longest.describe(1, SdmaBench::kData, 1, false, true);
  EXPECT_EQ(error_of(longest, 2), SdmaError::kBadLength);
  SdmaBench small;
  small.describe_packet(0, 132, 0);
  EXPECT_EQ(error_of(small, 1, 2), SdmaError::kBadLength);
  for (const unsigned bytes : {4U, 60U, 68U, 63U}) {
    SdmaBench mismatch;
    mismatch.poke(SdmaBench::kData, 16);
    mismatch.describe(0, SdmaBench::kData, bytes, true, true);
    EXPECT_EQ(error_of(mismatch, 1), SdmaError::kLengthMismatch) << bytes;
  }
}

// [PIO-6.13]
TEST(SdmaRing, SixtyFourFragmentsAreTaken) {
  SdmaBench bench;
  bench.set_up(0, 128);
  bench.poke(SdmaBench::kData, 64);
  for (unsigned i = 0; i < 64; ++i) {
    bench.describe(i, SdmaBench::kData + 4 * i, 4, i == 0, i == 63);
  }
  bench.send.sdma_write_tail(0, 64);
  bench.settle(0);
  ASSERT_TRUE(bench.send.sdma(0).has_packet());
  EXPECT_EQ(bench.send.sdma(0).blocks(), 4U);
}

// [PIO-6.15]
TEST(SdmaRing, ReadThatFailsHaltsItsEngineAlone) {
  SdmaBench bench;
  bench.set_up(0, 8);
  bench.set_up(1, 8);
  for (unsigned i = 0; i < 3; ++i) {
    bench.describe_packet(i, 64, i);
  }
  for (const unsigned engine : {0U, 1U}) {
    bench.send.sdma_write_tail(engine, 2);
    bench.settle(engine);
  }
  bench.send.launch();  // of engine 0
  bench.send.sdma_write_tail(0, 3);
  bench.send.sdma_fail(0, bench.reads(0).at(0).tag);
  EXPECT_TRUE(bench.ring(0).has_error(SdmaError::kReadFailed));
  EXPECT_EQ(bench.send.next_source(), kSendContexts + 1);
  bench.send.launch();
  bench.send.launch();
  EXPECT_EQ(bench.send.next_source(), LaunchArbiter::kNone);  // engine 0 keeps its second one
  bench.send.commit(0, true);
  bench.send.clear(0);
  EXPECT_EQ(bench.ring(0).head(), 1U);  // what is launched leaves
}

// [PIO-6.16]
TEST(SdmaRing, AnswersOfAnEarlierLifeAreDropped) {
  SdmaBench bench;
  bench.set_up(0, 8);
  bench.describe_packet(0, 64, 0);
  bench.describe_packet(1, 64, 1);
  bench.send.sdma_write_tail(0, 1);
  bench.settle(0);
  bench.send.launch();
  bench.send.sdma_write_tail(0, 2);
  const auto late = bench.reads(0);
  ASSERT_EQ(late.size(), 1U);
  bench.send.sdma_restart(0);
  EXPECT_EQ(bench.ring(0).reads_outstanding(), 0U);
  bench.send.sdma_write_tail(0, 1);
  const auto read = bench.reads(0);
  ASSERT_EQ(read.size(), 1U);
  bench.answer(0, late[0]);
  bench.send.sdma_fail(0, late[0].tag);
  EXPECT_FALSE(bench.ring(0).is_halted());
  EXPECT_TRUE(bench.reads(0).empty());
  bench.answer(0, read[0]);
  bench.settle(0);
  // The packet of the earlier life leaves, and frees nothing of this one.
  bench.send.commit(0, true);
  ASSERT_NE(bench.send.leaving(0), nullptr);
  EXPECT_FALSE(bench.send.has_bytes(*bench.send.leaving(0)));
  bench.send.clear(0);
  EXPECT_EQ(bench.ring(0).used_blocks(), 1U);
  bench.send_one(0);
  EXPECT_EQ(bench.ring(0).head(), 1U);
}

// [PIO-6.16]
TEST(SdmaRing, DisabledEngineDoesNothingUntilItBeginsAnew) {
  SdmaBench bench;
  bench.send.sdma_write_tail(0, 1);
  bench.send.sdma_restart(0);
  EXPECT_FALSE(bench.ring(0).is_running());
  bench.set_up(0, 8);
  bench.describe_packet(0, 64, 0);
  bench.send.sdma_write_tail(0, 1);
  bench.settle(0);
  bench.send.sdma_disable(0);
  EXPECT_EQ(bench.send.next_source(), LaunchArbiter::kNone);
  bench.send.sdma_write_tail(0, 2);
  EXPECT_TRUE(bench.reads(0).empty());
}

// [PIO-086, PIO-12.34, 6.14]
TEST(SdmaRing, DroppedPacketIsDoneAndTheEngineGoesOn) {
  SdmaBench bench;
  bench.set_up(0, 8);
  bench.describe_packet(0, 64, 9, 0, 1);  // no VL
  bench.describe_packet(1, 64, 1, 0, 1);
  bench.send.sdma_write_tail(0, 2);
  bench.settle(0);
  bench.send.launch();
  EXPECT_EQ(bench.send.sdma_take_head_write(0)->head, 1U);
  bench.send.launch();
  bench.send.commit(1, false);
  EXPECT_EQ(bench.send.sdma_take_head_write(0)->head, 2U);
  EXPECT_TRUE(bench.send.sdma(0).has_error());
  EXPECT_TRUE(bench.ring(0).is_running());
}

}  // namespace
}  // namespace flitwise::sdma_ring_test
