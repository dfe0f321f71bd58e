// SPDX-License-Identifier: Apache-2.0
// What a switch reads and changes of frames. [KY-7] [NW-6]
#include "network/switch_view.h"

#include <gtest/gtest.h>

#include "network/addresses.h"
#include "network/ipv4_header.h"
#include "network/path_choice.h"
#include "network/roce_frame.h"

namespace flitwise::switch_view_test {
namespace {

constexpr std::size_t kUdp = 34, kBth = 42;

ByteVector frame_of(std::uint8_t tos = 0x88, std::uint8_t ttl = 64, std::uint16_t port = 49160) {
  ByteVector bytes;
  RoceShape shape{roce_opcode(0x0a)};
  shape.payload_bytes = 64;
  make_roce(shape, bytes);
  bytes[kUdp] = 0xc0;
  bytes[kUdp + 1] = 0x01;
  bytes[kUdp + 2] = static_cast<std::uint8_t>(port >> 8);
  bytes[kUdp + 3] = static_cast<std::uint8_t>(port);
  bytes[kIpv4At + kIpv4TosAt] = tos;
  bytes[kIpv4At + kIpv4TtlAt] = ttl;
  seal_roce(bytes.data(), read_roce(bytes.data(), bytes.size()).parts);
  return bytes;
}

TEST(SwitchView, TupleAndClassAreThoseOfTheHeaders) {
  ByteVector frame = frame_of(0x8b);
  const SwitchRead read = pass_switch(frame, {});
  EXPECT_EQ(read.outcome, Forwarding::kGoesOn);
  const FiveTuple tuple{ipv4_of_port(0), ipv4_of_port(1), 0xc001, 49160};
  EXPECT_TRUE(read.tuple == tuple);
  EXPECT_EQ(read.view.tos, 0x8b);
  EXPECT_EQ(ecn_of(read.view.tos), Ecn::kCe);
  EXPECT_EQ(read.view.hash, hash_of(tuple, FlowHash::kCrc32c));
  EXPECT_FALSE(read.view.has_ar_bit);
}

TEST(SwitchView, NW_C8_TheTtlGoesDownAndTheChecksumStaysRight) {
  for (unsigned ttl = 0; ttl < 256; ++ttl) {
    ByteVector frame = frame_of(0, static_cast<std::uint8_t>(ttl));
    const ByteVector before = frame;
    const SwitchRead read = pass_switch(frame, {});
    if (ttl <= 1) {
      EXPECT_EQ(read.outcome, Forwarding::kTtl);
      EXPECT_EQ(frame, before);
    } else {
      EXPECT_EQ(read.outcome, Forwarding::kGoesOn);
      EXPECT_EQ(frame[kIpv4At + kIpv4TtlAt], ttl - 1);
      EXPECT_TRUE(has_good_ipv4(frame));
    }
  }
}

TEST(SwitchView, AMarkedFrameKeepsItsChecksumAndItsIcrc) {
  for (unsigned ttl = 1; ttl < 256; ++ttl) {  // other checksums
    ByteVector frame = frame_of(0x8a, static_cast<std::uint8_t>(ttl));
    mark_ce(frame);
    EXPECT_EQ(frame[kIpv4At + kIpv4TosAt], 0x8b);
    const RoceRead read = read_roce(frame.data(), frame.size());
    EXPECT_FALSE(read.flaw.has_value());
    EXPECT_TRUE(read.is_icrc_good);
  }
}

// Whatever stands behind the UDP header, with the class for adaptive routing and without.
TEST(SwitchView, KY_7_NW_C10_BytesBehindTheUdpHeaderChangeNothing) {
  Random random(9);
  for (const std::uint8_t tos : {std::uint8_t{0x88}, std::uint8_t{0}}) {
    ByteVector first = frame_of(tos);
    const SwitchView expected = pass_switch(first, {}).view;
    for (unsigned i = 0; i < 2000; ++i) {
      ByteVector frame = frame_of(tos);
      frame.resize(kBth + random.below(120));
      for (std::size_t at = kBth; at < frame.size(); ++at) {
        frame[at] = static_cast<std::uint8_t>(random.next());
      }
      const SwitchView view = pass_switch(frame, {}).view;
      EXPECT_EQ(view.hash, expected.hash);
      EXPECT_EQ(view.tos, expected.tos);
      EXPECT_FALSE(view.has_ar_bit);
    }
  }
}

TEST(SwitchView, CC_9_TheBitOfTheBaselineCountsAtPort4791Alone) {
  const SwitchViewRules rules{FlowHash::kCrc32c, false, 4, 0x20};
  const PathRules paths;
  const PathChoice choice(paths, 1, Random(1));
  const auto view_of = [&rules](std::uint16_t port, std::uint8_t byte) {
    ByteVector frame = frame_of(0, 64, port);
    frame[kBth + 4] = byte;
    return pass_switch(frame, rules).view;
  };
  EXPECT_TRUE(choice.is_adaptive(view_of(4791, 0x20)));
  EXPECT_FALSE(choice.is_adaptive(view_of(4791, 0xdf)));
  EXPECT_FALSE(choice.is_adaptive(view_of(4792, 0x20)));
  ByteVector cut = frame_of(0, 64, 4791);
  cut.resize(kBth + 4);
  EXPECT_FALSE(pass_switch(cut, rules).view.has_ar_bit);
}

TEST(SwitchView, WhatIsNoUdpOrALaterFragmentHasNoPorts) {
  ByteVector tcp = frame_of();
  set_ipv4_byte(&tcp[kIpv4At], 9, 6);
  EXPECT_EQ(pass_switch(tcp, {}).tuple.source_port, 0);
  ByteVector later = frame_of();
  set_ipv4_byte(&later[kIpv4At], 7, 1);
  EXPECT_EQ(pass_switch(later, {}).tuple.destination_port, 0);
  EXPECT_EQ(pass_switch(later, {}).outcome, Forwarding::kGoesOn);
}

// [CC-1] Who sends a frame says that it may be marked; one that says so already stays as it is.
TEST(SwitchView, CC_1_TheSenderSetsEctWhereThereIsNone) {
  ByteVector frame = frame_of();
  set_ect(frame);
  EXPECT_EQ(ecn_of(frame[kIpv4At + kIpv4TosAt]), Ecn::kEct0);
  EXPECT_TRUE(has_good_ipv4(frame));
  ByteVector marked = frame;
  mark_ce(marked);
  const ByteVector before = marked;
  set_ect(marked);
  EXPECT_EQ(marked, before);
  ByteVector damaged = frame_of();
  damaged[kIpv4At + 17] ^= 1;
  const ByteVector as_it_was = damaged;
  set_ect(damaged);
  EXPECT_EQ(damaged, as_it_was);
}

TEST(SwitchView, BytesThatAreNoFrameAreDropped) {
  for (std::size_t bytes = 0; bytes < 34; ++bytes) {
    ByteVector frame = frame_of();
    frame.resize(bytes);
    EXPECT_EQ(pass_switch(frame, {}).outcome, Forwarding::kBadHeader);
  }
  ByteVector damaged = frame_of();
  damaged[kIpv4At + 17] ^= 1;
  EXPECT_EQ(pass_switch(damaged, {}).outcome, Forwarding::kBadHeader);
}

}  // namespace
}  // namespace flitwise::switch_view_test
