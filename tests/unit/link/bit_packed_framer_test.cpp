// SPDX-License-Identifier: Apache-2.0
// Packing of messages into flits, against a packer that moves one bit at a time.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "common/random.h"
#include "link/framer.h"
#include "unit/link/link_support.h"

namespace flitwise::bit_packed_framer_test {
namespace {

constexpr Time kLater = Time::from_us(1);

/// Bits of padding and CRC behind each message.
struct Overhead {
  std::uint64_t padding = 0, crc = 0;
};

/// One bit after the other; a full flit gets its CRC.
class BitByBit {
 public:
  explicit BitByBit(const MessageConfig& message) : message_(message) {}
  Overhead add(std::uint32_t bits, bool closes) {
    Overhead overhead;
    for (; bits > 0; --bits) {
      put(overhead);
    }
    while (closes && at_ > 0) {
      ++overhead.padding;
      put(overhead);
    }
    return overhead;
  }

 private:
  void put(Overhead& overhead) {
    if (++at_ == message_.flit_bits - message_.crc_bits) {
      overhead.crc += message_.crc_bits;
      at_ = 0;
    }
  }
  MessageConfig message_;
  std::uint32_t at_ = 0;
};

std::unique_ptr<Framer> framer_of(const MessageConfig& message, TransactionQueues& queues,
                                  PacketPool& pool) {
  LinkConfig link;
  link.carrier = Carrier::kBitPacked;
  return make_framer(link, message, queues, nullptr, pool);
}

PacketRef message_of(PacketPool& pool, std::uint32_t bits) {
  PacketRef packet = test::packet(pool, TlpType::kMWr);
  packet->kind = PacketKind::kMessage;
  packet->size = WireSize{};
  packet->size.payload = bits;
  return packet;
}

// A message of no bits is told from nothing by the flit that it ends or takes.
TEST(BitPackedFramer, D24_AMessageOfNoBitsTakesTheRestOfAFlit) {
  for (const Packing packing : {Packing::kAligned, Packing::kContiguous}) {
    MessageConfig message;
    message.flit_bits = 80;
    message.crc_bits = 16;
    message.packing = packing;
    PacketPool pool;
    TransactionQueues queues(8, RelaxedPassing::kNever);
    const auto framer = framer_of(message, queues, pool);
    for (const std::uint32_t bits : {0U, 100U, 0U, 0U, 8U}) {
      queues.push(message_of(pool, bits));
    }
    std::uint64_t total = 0;
    WireUnit unit;
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(framer->next(kLater, unit));
      EXPECT_GT(unit.size.total(), 0U);
      EXPECT_LE(unit.size.total(), 160U);
      total += unit.size.total();
    }
    const unsigned flits = packing == Packing::kAligned ? 1 + 2 + 1 + 1 + 1 : 1 + 2 + 1 + 1;
    EXPECT_EQ(total, flits * 80U);
  }
}

TEST(BitPackedFramer, D24_PacksAsOneBitAfterTheOtherWould) {
  Random random(13);
  for (const Packing packing : {Packing::kAligned, Packing::kContiguous}) {
    for (const unsigned flit : {16U, 24U, 32U, 64U, 72U, 80U, 96U, 128U}) {
      for (const unsigned crc : {0U, 8U, 15U}) {
        MessageConfig message;
        message.flit_bits = flit;
        message.crc_bits = crc;
        message.packing = packing;
        PacketPool pool;
        TransactionQueues queues(8, RelaxedPassing::kNever);
        const auto framer = framer_of(message, queues, pool);
        BitByBit naive(message);
        for (int i = 0; i < 300; ++i) {
          while (queues.empty() || (queues.has_room(FcClass::kPosted) && random.chance(0.7))) {
            queues.push(message_of(pool, static_cast<std::uint32_t>(1 + random.below(700))));
          }
          const std::uint32_t bits = queues.peek(*queues.choose(kLater)).size.payload;
          WireUnit unit;
          ASSERT_TRUE(framer->next(kLater, unit));
          const Overhead expected = naive.add(bits, packing == Packing::kAligned || queues.empty());
          ASSERT_EQ(unit.size.padding, expected.padding) << flit << " " << crc << " " << i;
          ASSERT_EQ(unit.size.crc, expected.crc) << flit << " " << crc << " " << i;
          ASSERT_EQ(unit.size.payload, bits);
        }
      }
    }
  }
}

// Each message in whole flits of its own: cost goes up in steps of one flit.
TEST(BitPackedFramer, D24_AlignedCostIsAStaircaseOfTheIdentityBits) {
  for (const unsigned flit : {64U, 80U, 128U}) {
    MessageConfig message;
    message.flit_bits = flit;
    PacketPool pool;
    TransactionQueues queues(8, RelaxedPassing::kNever);
    const auto framer = framer_of(message, queues, pool);
    for (unsigned identity = 0; identity <= 36; ++identity) {
      const unsigned bits = message.header_bits + message.payload_bits + identity;
      queues.push(message_of(pool, bits));
      WireUnit unit;
      ASSERT_TRUE(framer->next(kLater, unit));
      const unsigned room = flit - message.crc_bits;
      EXPECT_EQ(unit.size.total(), (bits + room - 1) / room * flit);
    }
  }
}

TEST(BitPackedFramer, D24_ContiguousMessagesCostTheirBitsAndTheirShareOfCrc) {
  MessageConfig message;
  message.packing = Packing::kContiguous;
  PacketPool pool;
  TransactionQueues queues(32, RelaxedPassing::kNever);
  const auto framer = framer_of(message, queues, pool);
  std::uint64_t total = 0;
  for (int i = 0; i < 31; ++i) {
    queues.push(message_of(pool, 612));
  }
  for (int i = 0; i < 1'000; ++i) {
    queues.push(message_of(pool, 612));
    WireUnit unit;
    ASSERT_TRUE(framer->next(kLater, unit));
    EXPECT_EQ(unit.size.padding, 0U);
    total += unit.size.total();
  }
  EXPECT_NEAR(static_cast<double>(total) / 1'000, 612.0 * 80 / 64, 0.1);
}

TEST(BitPackedFramer, DamagedMessageIsDroppedAndCounted) {
  PacketPool pool;
  TransactionQueues queues(8, RelaxedPassing::kNever);
  const auto framer = framer_of(MessageConfig{}, queues, pool);
  WireUnit unit;
  unit.packet = message_of(pool, 100);
  std::vector<PacketRef> delivered;
  framer->receive(unit, true, Time{}, delivered);
  EXPECT_TRUE(delivered.empty());
  EXPECT_EQ(framer->stats().damaged_tlps, 1U);
  framer->receive(unit, false, Time{}, delivered);
  EXPECT_EQ(delivered.size(), 1U);
}

}  // namespace
}  // namespace flitwise::bit_packed_framer_test
