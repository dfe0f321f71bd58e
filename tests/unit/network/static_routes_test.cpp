// SPDX-License-Identifier: Apache-2.0
// What a switch does to frames: routes by destination, TTL and checksum.
#include "network/static_routes.h"

#include <gtest/gtest.h>

#include "network/addresses.h"
#include "network/internet_sum.h"
#include "network/ipv4_header.h"
#include "network/roce_frame.h"

namespace flitwise::static_routes_test {
namespace {

constexpr std::size_t kIp = 14, kTtl = kIp + 8, kDestination = kIp + 16;

// To 10.0.0.2, with a TTL of 64.
ByteVector frame_of(std::size_t payload = 64) {
  ByteVector bytes;
  RoceShape shape{roce_opcode(0x0a)};
  shape.payload_bytes = payload;
  const RoceParts parts = make_roce(shape, bytes);
  seal_roce(bytes.data(), parts);
  return bytes;
}

void set(ByteVector& frame, std::size_t at, std::uint8_t value) {
  frame[at] = value;
  const RoceRead read = read_roce(frame.data(), frame.size());
  seal_roce(frame.data(), read.parts);
}

StaticRoutes three_ports() {
  StaticRoutes routes;
  routes.add(ipv4_of_port(5), 0);
  routes.add(ipv4_of_port(1), 1);
  routes.add(ipv4_of_port(3), 2);
  return routes;
}

TEST(StaticRoutes, AFrameLeavesByThePortOfItsDestination) {
  const StaticRoutes routes = three_ports();
  const std::pair<unsigned, std::uint32_t> ways[] = {{5, 0}, {1, 1}, {3, 2}};
  for (const auto& [number, port] : ways) {
    ByteVector frame = frame_of();
    set(frame, kDestination + 3, address_byte(number));
    const StaticRoutes::Way way = routes.forward(frame);
    EXPECT_EQ(way.outcome, Forwarding::kGoesOn);
    EXPECT_EQ(way.port, port);
  }
}

// Each of the 65,536 checksums but one, which none has. [RFC 1624]
TEST(StaticRoutes, NW_6_TheChecksumIsGoodBehindEachHopWhateverItWas) {
  const StaticRoutes routes = three_ports();
  ByteVector first = frame_of();
  set(first, kDestination + 3, address_byte(1));
  for (unsigned id = 0; id < 0x10000; ++id) {
    ByteVector frame = first;
    set(frame, kIp + 4, static_cast<std::uint8_t>(id >> 8));
    set(frame, kIp + 5, static_cast<std::uint8_t>(id));
    ASSERT_EQ(routes.forward(frame).outcome, Forwarding::kGoesOn) << id;
    ASSERT_TRUE(has_good_ipv4(frame)) << id;
  }
}

TEST(StaticRoutes, AnAddressWithoutARouteLeavesTheFrameAsItIs) {
  for (const unsigned number : {0U, 2U, 4U, 6U, 200U}) {
    ByteVector frame = frame_of();
    set(frame, kDestination + 3, address_byte(number));
    const ByteVector before = frame;
    EXPECT_EQ(three_ports().forward(frame).outcome, Forwarding::kNoRoute) << number;
    EXPECT_EQ(frame, before);
  }
  ByteVector frame = frame_of();
  EXPECT_EQ(StaticRoutes().forward(frame).outcome, Forwarding::kNoRoute);
}

// The checksum is that of the new header, and the ICRC, which counts neither, stays right.
TEST(StaticRoutes, NW_6_EachHopTakesOneFromTheTtlAndMendsTheChecksum) {
  const StaticRoutes routes = three_ports();
  for (unsigned payload = 1; payload < 500; ++payload) {  // other checksums
    ByteVector frame = frame_of(payload);
    for (unsigned ttl = 64; ttl > 1; --ttl) {
      ASSERT_EQ(frame[kTtl], ttl);
      ASSERT_EQ(routes.forward(frame).outcome, Forwarding::kGoesOn);
      ASSERT_EQ(internet_sum(&frame[kIp], 20, 0), kFullSum) << payload << " bytes, " << ttl;
    }
    ASSERT_TRUE(read_roce(frame.data(), frame.size()).is_icrc_good);
  }
}

// [NW-C8]
TEST(StaticRoutes, NW_C8_TheLastHopIsDropped) {
  const StaticRoutes routes = three_ports();
  for (unsigned number = 0; number < 3; ++number) {
    const auto ttl = static_cast<std::uint8_t>(number);
    ByteVector frame = frame_of();
    set(frame, kTtl, ttl);
    EXPECT_EQ(routes.forward(frame).outcome, ttl < 2 ? Forwarding::kTtl : Forwarding::kGoesOn);
    EXPECT_EQ(frame[kTtl], ttl < 2 ? ttl : 1);
    EXPECT_EQ(routes.forward(frame).outcome, Forwarding::kTtl);
  }
}

TEST(StaticRoutes, AHeaderThatIsWrongGoesNowhere) {
  const StaticRoutes routes = three_ports();
  const ByteVector good = frame_of();
  for (std::size_t bit = 8 * kIp; bit < 8 * (kIp + 20); ++bit) {  // each damage of the header
    ByteVector frame = good;
    frame[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    EXPECT_EQ(routes.forward(frame).outcome, Forwarding::kBadHeader) << bit;
  }
  for (std::size_t size = 0; size < kIp + 20; ++size) {
    ByteVector frame(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(routes.forward(frame).outcome, Forwarding::kBadHeader) << size;
  }
  ByteVector other = good;
  other[13] = 0xdd;  // of the type
  EXPECT_EQ(routes.forward(other).outcome, Forwarding::kBadHeader);
}

}  // namespace
}  // namespace flitwise::static_routes_test
