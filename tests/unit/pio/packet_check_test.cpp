// SPDX-License-Identifier: Apache-2.0
// What a check of packets with stamps finds.
#include "pio/packet_check.h"

#include <gtest/gtest.h>

#include <vector>

namespace flitwise::packet_check_test {
namespace {

std::vector<std::uint64_t> packet_of(unsigned source, std::uint64_t number, std::size_t qws) {
  std::vector<std::uint64_t> all;
  for (std::size_t place = 1; place <= qws; ++place) {
    all.push_back(PacketStamp(source, number).qw(place));
  }
  return all;
}

class Check {
 public:
  void note(unsigned source, unsigned queue, const std::vector<std::uint64_t>& qws,
            unsigned bytes) {
    check.note(source, queue, bytes, [&](std::uint64_t place) { return qws.at(place - 1); });
  }
  PacketCheck check;
};

TEST(PacketCheck, PIO_6_4_WholePacketsInOrderAreFine) {
  Check one;
  one.note(7, 0, packet_of(7, 0, 4), 32);
  one.note(7, 0, packet_of(7, 2, 5), 36);
  one.note(7, 1, packet_of(7, 1, 1), 8);  // another VL
  one.note(8, 0, packet_of(8, 0, 1), 8);  // another source
  EXPECT_EQ(one.check.disordered() + one.check.corrupted(), 0U);
}

TEST(PacketCheck, PIO_6_4_ATwiceOrLatePacketIsOutOfOrder) {
  Check one;
  one.note(7, 0, packet_of(7, 3, 4), 32);
  one.note(7, 0, packet_of(7, 3, 4), 32);
  one.note(7, 0, packet_of(7, 2, 4), 32);
  EXPECT_EQ(one.check.disordered(), 2U);
}

TEST(PacketCheck, EachByteCounts) {
  for (std::size_t place = 1; place <= 5; ++place) {
    Check one;
    auto qws = packet_of(7, 3, 5);
    qws[place - 1] ^= place == 1 ? std::uint64_t{1} << 48 : 1;  // of the first: the source
    one.note(7, 0, qws, 36);
    EXPECT_EQ(one.check.corrupted(), 1U) << place;
  }
  Check other;
  auto qws = packet_of(7, 3, 5);
  qws[4] ^= std::uint64_t{1} << 32;  // behind its end
  other.note(7, 0, qws, 36);
  EXPECT_EQ(other.check.corrupted(), 0U);
}

}  // namespace
}  // namespace flitwise::packet_check_test
