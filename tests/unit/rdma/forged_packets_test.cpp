// SPDX-License-Identifier: Apache-2.0
// Packets that a hostile end makes up.
#include "rdma/forged_packets.h"

#include <gtest/gtest.h>

#include <set>

#include "network/roce_opcodes.h"

namespace flitwise::forged_packets_test {
namespace {

constexpr ForgedPackets::Target kTarget = {2, 4, 12, 0x10'0000, 0x4'0000, 256};

RdmaPacket own() {
  RdmaPacket packet;
  packet.opcode = RdmaOpcode::kWriteOnly;
  packet.queue_pair = 3;
  packet.psn = 1000;
  packet.address = 0x10'8000;
  packet.key = 0x401;
  packet.length = packet.payload_bytes = 64;
  return packet;
}

TEST(ForgedPackets, HP_7_EveryFieldIsTried) {
  ForgedPackets forged(1000, kTarget, Random(1));
  std::set<std::uint32_t> opcodes, syndromes;
  unsigned pairs = 0, partitions = 0, versions = 0, keys = 0, addresses = 0, lengths = 0, pads = 0,
           next = 0, outside = 0;
  for (int i = 0; i < 5000; ++i) {
    const RdmaPacket packet = forged.next(own());
    EXPECT_LE(packet.payload_bytes, kTarget.mtu + 8);
    opcodes.insert(static_cast<std::uint32_t>(packet.opcode));
    syndromes.insert(packet.syndrome);
    pairs += packet.queue_pair != 3 ? 1 : 0;
    partitions += packet.partition != 0xffff ? 1 : 0;
    versions += packet.version != 0 ? 1 : 0;
    keys += packet.key != 0x401 ? 1 : 0;
    addresses += packet.address != 0x10'8000 ? 1 : 0;
    outside += packet.address - kTarget.base >= kTarget.bytes ? 1 : 0;
    lengths += packet.length != 64 ? 1 : 0;
    pads += packet.pad != pad_of(packet.payload_bytes) ? 1 : 0;
    next += packet.psn == 1001 ? 1 : 0;
  }
  EXPECT_EQ(opcodes.size(), roce_opcodes().size());  // those of other transports as well
  EXPECT_GT(syndromes.size(), 100U);
  for (const unsigned count :
       {pairs, partitions, versions, keys, addresses, outside, lengths, pads}) {
    EXPECT_GT(count, 200U);
  }
  EXPECT_GT(next, 0U);
}

TEST(ForgedPackets, AsManyAsTheirShareSays) {
  ForgedPackets some(2500, kTarget, Random(1));
  unsigned drawn = 0;
  for (int i = 0; i < 1000; ++i) {
    const unsigned one = some.draw();
    EXPECT_TRUE(one == 2 || one == 3);
    drawn += one;
  }
  EXPECT_NEAR(drawn, 2500, 60);
}

}  // namespace
}  // namespace flitwise::forged_packets_test
