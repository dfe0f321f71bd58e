// SPDX-License-Identifier: Apache-2.0
// Blocks of capture files, against the layouts of the specification of pcapng, written down by
// hand.
#include "network/pcapng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "unit/tlp/random_tlp.h"

namespace flitwise::pcapng_test {
namespace {

using test::from_hex;

TEST(Pcapng, ASectionTellsByteOrderVersionAndWhoWroteIt) {
  ByteVector file;
  put_section(file, "abcde");
  EXPECT_EQ(file, from_hex("0a0d0d0a"          // Section Header Block, the same in both orders
                           "2c000000"          // 44 bytes
                           "4d3c2b1a"          // byte-order magic 0x1a2b3c4d, lowest byte first
                           "01000000"          // version 1.0
                           "ffffffffffffffff"  // length of the section: not given
                           "04000500"          // shb_userappl, 5 bytes,
                           "6162636465000000"  // padded to 8
                           "00000000"          // opt_endofopt
                           "2c000000"));       // the length again
}

TEST(Pcapng, APortTellsItsLinkTypeNameAndResolution) {
  ByteVector file;
  put_port(file, {"ep0", "port", LinkType::kEthernet});
  EXPECT_EQ(file, from_hex("01000000"          // Interface Description Block
                           "38000000"          // 56 bytes
                           "01000000"          // LINKTYPE_ETHERNET, 2 bytes reserved
                           "00000000"          // no limit of captured bytes
                           "0200030065703000"  // if_name
                           "03000400706f7274"  // if_description: needs no padding
                           "0900010009000000"  // if_tsresol: 10^-9
                           "0d00010000000000"  // if_fcslen: frames have no FCS
                           "00000000"          // opt_endofopt
                           "38000000"));
  ByteVector own;
  put_port(own, {"ep0", "port", LinkType::kUser0});
  EXPECT_EQ(own.size(), file.size() - 8);  // nothing is known of an FCS
  EXPECT_EQ(own[8], 147);
}

TEST(Pcapng, AFrameTellsPortTimeDirectionAndId) {
  const ByteVector bytes = from_hex("0102030405");
  ByteVector file;
  // 2^32 + 7 ns and 1.25 ps more: the higher half of the time comes first.
  const Time time{((std::int64_t{1} << 32) + 7) * 1'000'000 + 1'250};
  put_frame(file, {2, true, 0x1122334455667788, time, bytes.data(), bytes.size()});
  EXPECT_EQ(file, from_hex("06000000"                    // Enhanced Packet Block
                           "58000000"                    // 88 bytes
                           "02000000"                    // interface
                           "0100000007000000"            // time
                           "0500000005000000"            // captured and original length
                           "0102030405000000"            // bytes, padded to 8
                           "01001400"                    // opt_comment, 20 bytes:
                           "34323934393637333033303031"  // "4294967303001"
                           "2e323530207073"              // ".250 ps"
                           "0200040001000000"            // epb_flags: inbound
                           "050008008877665544332211"    // epb_packetid
                           "00000000"                    // opt_endofopt
                           "58000000"));
}

TEST(Pcapng, FlagsOfWhatLeavesSayOutbound) {
  ByteVector out, in;
  const std::uint8_t byte = 0x5a;
  put_frame(out, {0, false, 1, Time{}, &byte, 1});
  put_frame(in, {0, true, 1, Time{}, &byte, 1});
  ASSERT_EQ(out.size(), in.size());
  const auto [first, second] = std::mismatch(out.begin(), out.end(), in.begin());
  EXPECT_EQ(*first, 2);
  EXPECT_EQ(*second, 1);
  EXPECT_TRUE(std::equal(first + 1, out.end(), second + 1));
}

// "Block Total Length ... MUST be a multiple of 4", and stands at both ends.
TEST(Pcapng, BlocksOfAnyLengthEndAtMultiplesOfFour) {
  ByteVector bytes;
  for (std::size_t count = 0; count < 9; ++count) {
    ByteVector file = from_hex("ffff");  // a block may begin anywhere in what is written at once
    put_frame(file, {0, false, count, Time::from_ns(999), bytes.data(), count});
    const std::size_t size = file.size() - 2;
    EXPECT_EQ(size % 4, 0U) << count;
    EXPECT_EQ(little_endian(&file[6], 4), size) << count;
    EXPECT_EQ(little_endian(&file[file.size() - 4], 4), size) << count;
    EXPECT_EQ(little_endian(&file[2 + 16], 4), 999U) << count;
    EXPECT_EQ(little_endian(&file[2 + 20], 4), count);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), file.begin() + 2 + 28)) << count;
    EXPECT_EQ(little_endian(&file[2 + 28 + (count + 3) / 4 * 4], 4), 0x000d'0001U) << count;
    bytes.push_back(static_cast<std::uint8_t>(0xa0 + count));
  }
}

}  // namespace
}  // namespace flitwise::pcapng_test
