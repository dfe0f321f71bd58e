// SPDX-License-Identifier: Apache-2.0
// What addresses of the PIO window name, the shape of writes, and the PBC.
#include <gtest/gtest.h>

#include "pio/pbc.h"
#include "pio/send_window.h"

namespace flitwise::send_window_test {
namespace {

// [PIO-2.1]
TEST(SendWindow, PIO_2_1_OffsetsComeBackFromWhatTheyName) {
  for (const std::uint32_t offset : {0U, 0x019fffc8U, 0x009fffc8U, 0x01ffffffU, 0x00010040U}) {
    EXPECT_EQ(encode_window(decode_window(offset)), offset);
  }
}

TEST(SendWindow, OffsetNamesSopContextBlockAndByte) {
  const WindowAddress address = decode_window(0x019fffc8);
  EXPECT_TRUE(address.is_sop);
  EXPECT_EQ(address.context, 159U);
  EXPECT_EQ(address.block, 1023U);
  EXPECT_EQ(address.byte, 8U);
  EXPECT_FALSE(decode_window(0x009fffc8).is_sop);
}

TEST(SendWindow, OffsetsInBar0AreTheSame) {
  const WindowAddress address = decode_window(0x2000000 + 0x1234540);
  EXPECT_TRUE(address.is_sop);
  EXPECT_EQ(address.context, 0x23U);
  EXPECT_EQ(address.block, 0x4540U / 64);
}

// [PIO-3.1, 12.3]
TEST(SendWindow, WriteOfWholeQwsInOneBlockIsTaken) {
  EXPECT_EQ(qws_of_write(0, 64), 0xffU);
  EXPECT_EQ(qws_of_write(0, 8), 0x01U);
  EXPECT_EQ(qws_of_write(56, 8), 0x80U);
  EXPECT_EQ(qws_of_write(8, 56), 0xfeU);
  EXPECT_EQ(qws_of_write(16, 24), 0x1cU);
}

TEST(SendWindow, OtherShapesAreRefused) {
  EXPECT_FALSE(qws_of_write(56, 16));
  EXPECT_FALSE(qws_of_write(8, 64));
  EXPECT_FALSE(qws_of_write(0, 72));
  EXPECT_FALSE(qws_of_write(4, 8));
  EXPECT_FALSE(qws_of_write(0, 4));
  EXPECT_FALSE(qws_of_write(0, 0));
  EXPECT_FALSE(qws_of_write(0, 4096));
}

// [PIO-3.5]
TEST(Pbc, EachFieldHasItsBits) {
  const Pbc pbc = decode_pbc(0x1234'0200'0000);
  EXPECT_EQ(pbc.static_rate, 0x1234U);
  const struct {
    std::uint64_t qw;
    bool Pbc::*flag;
  } flags[] = {{1U << 22, &Pbc::fecn},
               {1U << 23, &Pbc::test_bad_icrc},
               {1U << 24, &Pbc::insert_bypass_icrc},
               {1U << 25, &Pbc::credit_return},
               {1U << 28, &Pbc::is_bypass},
               {1U << 29, &Pbc::test_ebp},
               {1U << 30, &Pbc::dc_info},
               {1U << 31, &Pbc::interrupts}};
  for (const auto& one : flags) {
    for (const auto& other : flags) {
      EXPECT_EQ(decode_pbc(one.qw).*other.flag, &one == &other) << std::hex << one.qw;
    }
  }
  EXPECT_EQ(decode_pbc(0xfabc).length_dws, 0xabcU);
  EXPECT_EQ(decode_pbc(0xfabc).vl, 15U);
  EXPECT_EQ(decode_pbc(1U << 27).insert_hcrc, PbcHcrc::kNone);
}

TEST(Pbc, WritesWhatItReadsButReservedBits) {
  constexpr std::uint64_t kReserved = 0xffff'0000'003f'0000;
  EXPECT_EQ(encode(decode_pbc(~std::uint64_t{0})), ~kReserved);
  EXPECT_EQ(encode(decode_pbc(0)), 0U);
}

// [PIO-3.5, 12.1]
TEST(Pbc, PIO_027_BlocksHoldTheLengthWithPbc) {
  const auto blocks_of = [](std::uint16_t dws) {
    Pbc pbc;
    pbc.length_dws = dws;
    return pbc.blocks();
  };
  EXPECT_EQ(blocks_of(0), 0U);
  EXPECT_EQ(blocks_of(1), 1U);
  EXPECT_EQ(blocks_of(16), 1U);
  EXPECT_EQ(blocks_of(17), 2U);
  EXPECT_EQ(blocks_of(162 * 16), 162U);
  EXPECT_EQ(blocks_of(162 * 16 + 1), 163U);
  EXPECT_EQ(blocks_of(Pbc::kMostLengthDws), 256U);
}

// [PIO-12.23]
TEST(Pbc, WireHasTheIcrcInPlaceOfThePbc) {
  Pbc pbc;
  pbc.length_dws = 18;
  EXPECT_EQ(pbc.packet_bytes(), 64U);
  EXPECT_EQ(pbc.wire_bytes(), 68U);
  pbc.is_bypass = true;
  EXPECT_EQ(pbc.wire_bytes(), 64U);
  pbc.length_dws = 1;
  EXPECT_EQ(pbc.packet_bytes(), 0U);
}

}  // namespace
}  // namespace flitwise::send_window_test
