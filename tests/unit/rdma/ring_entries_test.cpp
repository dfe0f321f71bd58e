// SPDX-License-Identifier: Apache-2.0
// What software and an adapter share in memory: entries of rings, doorbells, and where all lies.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "rdma/memory_keys.h"
#include "rdma/ring_entries.h"

namespace flitwise::ring_entries_test {
namespace {

TEST(RingEntries, VB_2_AWorkRequestComesBackAsItWasWritten) {
  SendWork work;
  work.id = 0x1122334455667788;
  work.opcode = WorkOpcode::kCmpSwap;
  work.is_signaled = work.is_fenced = true;
  work.local = view_of({0x123456789a, 8, 0x701});
  work.remote_address = 0xabcdef0123;
  work.remote_key = 0x901;
  work.immediate = 77;
  work.operand = 5;
  work.compare = 6;
  const SendEntry entry = encode(work);
  EXPECT_EQ(entry[0], 0x88);  // little-endian
  const auto read = decode_send(entry.data());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, work.id);
  EXPECT_EQ(read->opcode, work.opcode);
  EXPECT_TRUE(read->is_signaled);
  EXPECT_FALSE(read->is_solicited);
  EXPECT_TRUE(read->is_fenced);
  EXPECT_EQ(read->local.pieces[0].address, 0x123456789aU);
  EXPECT_EQ(read->local.bytes(), 8U);
  EXPECT_EQ(read->local.pieces[0].key, 0x701U);
  EXPECT_EQ(read->remote_address, work.remote_address);
  EXPECT_EQ(read->remote_key, work.remote_key);
  EXPECT_EQ(read->immediate, 77U);
  EXPECT_EQ(read->operand, 5U);
  EXPECT_EQ(read->compare, 6U);
}

TEST(RingEntries, VB_2_AnEntryWithoutAnOpcodeIsNoWorkRequest) {
  SendEntry entry = encode(SendWork{});
  entry[8] = kWorkOpcodes;
  EXPECT_FALSE(decode_send(entry.data()));
}

TEST(RingEntries, ReceiveBuffersComeBackAsTheyWereWritten) {
  const ReceiveEntry entry = encode(ReceiveWork{9, view_of({0x1000, 300, 1})});
  const ReceiveWork read = decode_receive(entry.data());
  EXPECT_EQ(read.id, 9U);
  EXPECT_EQ(read.local.pieces[0].address, 0x1000U);
  EXPECT_EQ(read.local.bytes(), 300U);
  EXPECT_EQ(read.local.pieces[0].key, 1U);
}

TEST(RingEntries, VB_5_ACompletionTellsAllAndShowsThatItIsNew) {
  const WorkCompletion done = {
      7, 0xabcdef, WorkStatus::kRemoteAccess, true, WorkOpcode::kSendImm, true, 4096, 0x55};
  for (const bool phase : {false, true}) {
    const CompletionEntry entry = encode(done, phase);
    std::uint64_t word = 0;
    for (unsigned i = 0; i < 8; ++i) {
      word |= std::uint64_t{entry[kPhaseAt + i]} << 8 * i;
    }
    EXPECT_EQ(phase_of(word), phase);
    const WorkCompletion read = decode_completion(entry.data());
    EXPECT_EQ(read.id, done.id);
    EXPECT_EQ(read.queue_pair, done.queue_pair);
    EXPECT_EQ(read.status, done.status);
    EXPECT_TRUE(read.is_receive);
    EXPECT_EQ(read.opcode, done.opcode);
    EXPECT_TRUE(read.is_solicited);
    EXPECT_EQ(read.bytes, done.bytes);
    EXPECT_EQ(read.immediate, done.immediate);
  }
  EXPECT_TRUE(phase_of_entry(0, 4));  // memory is 0 before the first round
  EXPECT_TRUE(phase_of_entry(3, 4));
  EXPECT_FALSE(phase_of_entry(4, 4));
  EXPECT_TRUE(phase_of_entry(8, 4));
}

TEST(RingEntries, ADoorbellNamesQueuePairRingAndEntry) {
  for (const bool is_receive : {false, true}) {
    const Doorbell read = Doorbell::decode(Doorbell{0xfedcba, is_receive, 0xdeadbeef}.encode());
    EXPECT_EQ(read.queue_pair, 0xfedcbaU);
    EXPECT_EQ(read.is_receive, is_receive);
    EXPECT_EQ(read.end, 0xdeadbeefU);
  }
}

// All parts of a buffer, as first byte and end.
std::vector<std::pair<std::uint64_t, std::uint64_t>> parts_of(const RdmaGeometry& geometry,
                                                              const RdmaArea& area,
                                                              bool has_queues) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts = {
      {area.state(), area.state() + kQpStateBytes},
      {area.word(), area.word() + 8},
      {area.send_entry(0), area.send_entry(0) + geometry.queue * kWqeBytes},
      {area.receive_entry(0), area.receive_entry(0) + geometry.queue * kReceiveEntryBytes}};
  if (has_queues) {
    parts.push_back({area.completion(false, 0),
                     area.completion(false, 0) + std::uint64_t{geometry.cq} * geometry.cqe});
    parts.push_back({area.completion(true, 0),
                     area.completion(true, 0) + std::uint64_t{geometry.cq} * geometry.cqe});
  }
  for (std::uint32_t place = 0; place < area.places(); ++place) {
    for (const std::uint64_t at : {area.own(place), area.exposed(place), area.buffer(place)}) {
      parts.push_back({at, at + geometry.most_bytes});
    }
  }
  return parts;
}

TEST(RdmaArea, NoTwoPartsOfABufferOverlapAndAllLieInIt) {
  for (const std::uint64_t most : {1U, 100U, 4096U}) {
    for (const bool has_queues : {false, true}) {
      const RdmaGeometry geometry = {std::uint64_t{64} << 10, 16, 64, 32, most};
      const RdmaArea area(geometry, 0x10000, has_queues);
      ASSERT_GT(area.places(), 0U);
      const auto parts = parts_of(geometry, area, has_queues);
      for (const auto& [first, end] : parts) {
        EXPECT_GE(first, 0x10000U);
        EXPECT_LE(end, 0x10000U + geometry.buffer);
        for (const auto& [other, other_end] : parts) {
          EXPECT_TRUE(first == other || end <= other || other_end <= first);
        }
      }
    }
  }
}

// Of all queue pairs: structures in one piece each, none of which straddles a page that it fits
// into.
TEST(RdmaArea, EP_2_StructuresThatLieTogetherAreOnePieceEach) {
  const std::uint64_t base = std::uint64_t{1} << 32;
  for (const std::uint32_t pairs : {1U, 3U, 64U}) {
    const RdmaGeometry geometry = {std::uint64_t{4} << 20, 16, 64, 32, 100, pairs};
    const auto structures = structures_at(geometry, base);
    std::uint64_t end = base + 8;
    for (const StructurePlace& one : structures) {
      EXPECT_GE(one.address, end);
      end = one.address + one.bytes;
      const std::uint64_t page = one.bytes <= 4096 ? 4096 : std::uint64_t{2} << 20;
      EXPECT_EQ(one.address / page, (end - 1) / page) << name_of(one.structure);
    }
    for (std::uint32_t pair = 0; pair < pairs; ++pair) {
      const RdmaArea area(geometry, base, pair);
      EXPECT_EQ(area.state(), structures[0].address + pair * kQpStateBytes);
      EXPECT_EQ(area.send_entry(15), structures[2].address + (pair * 16 + 15) * kWqeBytes);
      EXPECT_EQ(area.receive_entry(0), structures[3].address + pair * 16 * kReceiveEntryBytes);
      EXPECT_EQ(area.word(), base + pair * geometry.buffer);
      const RdmaArea first(geometry, base, 0U);
      EXPECT_EQ(first.part_of(area.state(), kQpStateBytes), RdmaPart::kState);
      EXPECT_EQ(first.part_of(area.send_entry(15), kWqeBytes), RdmaPart::kSendRing);
      EXPECT_EQ(first.part_of(area.receive_entry(15), kReceiveEntryBytes), RdmaPart::kReceiveRing);
      ASSERT_GT(area.places(), 0U);
      EXPECT_GE(area.own(0), pair == 0 ? end : area.word() + 8);
      EXPECT_LE(area.buffer(area.places() - 1) + 100, area.base() + geometry.buffer);
    }
    const std::uint64_t behind = structures[0].address + structures[0].bytes;
    EXPECT_NE(RdmaArea(geometry, base, 0U).part_of(behind, 1), RdmaPart::kState);
    EXPECT_EQ(RdmaArea(geometry, base, 0U).completions_begin(), structures[1].address);
    EXPECT_EQ(RdmaArea(geometry, base, 0U).completions_bytes(), structures[1].bytes);
  }
}

TEST(RdmaArea, EntriesAndPlacesGoRound) {
  const RdmaArea area({std::uint64_t{64} << 10, 16, 64, 32, 64}, 0, true);
  EXPECT_EQ(area.send_entry(16), area.send_entry(0));
  EXPECT_EQ(area.send_entry(17), area.send_entry(0) + kWqeBytes);
  EXPECT_EQ(area.own(area.places()), area.own(0));
  EXPECT_EQ(area.places(), 16U);  // as many as a ring has entries
  EXPECT_EQ(RdmaArea({4096, 16, 64, 32, 4096}, 0, true).places(), 0U);
}

TEST(MemoryKeys, RDM_9_ARegionTakesTheFirstPlaceThatIsFree) {
  MemoryKeys keys(3);
  const MemoryRegion region = {0, 0, 4096, kAllRdmaRights};
  EXPECT_EQ(keys.add(region), 0x001U);
  EXPECT_EQ(keys.add(region), 0x101U);
  EXPECT_EQ(keys.add(region), 0x201U);
  EXPECT_FALSE(keys.add(region));
  EXPECT_TRUE(keys.remove(0x201));
  EXPECT_TRUE(keys.remove(0x001));
  EXPECT_EQ(keys.add(region), 0x002U);
  EXPECT_EQ(keys.add(region), 0x202U);
  EXPECT_FALSE(keys.add(region));
}

}  // namespace
}  // namespace flitwise::ring_entries_test
