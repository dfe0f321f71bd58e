// SPDX-License-Identifier: Apache-2.0
// Times of flows that have the network for themselves.
#include "network/ideal_time.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/random.h"
#include "network/output_port.h"
#include "support/network_forms.h"

namespace flitwise::ideal_time_test {
namespace {

// Packet by packet, edge by edge.
Time followed(const std::vector<EdgeRate>& way, const FlowFraming& framing, std::uint64_t bytes) {
  std::vector<Time> free_at(way.size());
  Time end{};
  for (std::uint64_t i = 0, left = bytes; i < framing.packets(bytes); ++i) {
    const std::uint64_t payload = std::min<std::uint64_t>(left, framing.mtu);
    left -= payload;
    const std::uint64_t size =
        (payload + 3) / 4 * 4 + framing.overhead + (i == 0 ? framing.first : 0);
    Time at{};
    for (std::size_t hop = 0; hop < way.size(); ++hop) {
      free_at[hop] = std::max(at, free_at[hop]) + wire_time(size, way[hop].gbps);
      at = free_at[hop] + way[hop].delay;
    }
    end = at;
  }
  return end;
}

TEST(IdealTime, IsThatOfFollowingEachPacket) {
  Random random(3);
  const double rates[] = {10, 25, 40, 50, 100, 200, 400};
  for (unsigned i = 0; i < 3000; ++i) {
    std::vector<EdgeRate> way(1 + random.below(6));
    for (EdgeRate& edge : way) {
      edge = {rates[random.below(7)], Time::from_ns(static_cast<std::int64_t>(random.below(2000)))};
    }
    FlowFraming framing;
    framing.mtu = 256U << random.below(5);
    framing.overhead = 82;
    framing.first = random.below(2) == 0 ? 0 : 16;
    const std::uint64_t bytes = random.below(20 * std::uint64_t{framing.mtu});
    ASSERT_EQ(ideal_time(way, framing, bytes), followed(way, framing, bytes))
        << bytes << " bytes, MTU " << framing.mtu << ", " << way.size() << " edges";
  }
}

TEST(IdealTime, LongFlowsHaveTheEfficiencyOfTheirPackets) {
  for (const std::uint32_t mtu : {256U, 1024U, 4096U}) {
    const std::uint64_t bytes = std::uint64_t{mtu} * 1'000'000;
    const Time time = ideal_time({{100, Time{}}}, {mtu, 82, 0}, bytes);
    EXPECT_NEAR(static_cast<double>(bytes) * 8e6 / 100 / static_cast<double>(time.fs),
                forms::efficiency(mtu), 1e-9);
  }
  EXPECT_NEAR(forms::efficiency(4096), .9804, 5e-5);
  EXPECT_NEAR(forms::efficiency(1024), .9259, 5e-5);
  EXPECT_NEAR(forms::efficiency(256), .7574, 5e-5);
}

// 20 MB in packets of 4,086 bytes, 4,150 on the wire, at 100 Gb/s: 1,625 us.
TEST(IdealTime, OfTheFlowsOfPublishedRuns) {
  const Time time = ideal_time({{100, Time{}}}, {4086, 64, 0}, 20'000'000);
  EXPECT_NEAR(time.ns() / 1000, 1625, 0.5);
}

TEST(IdealTime, EmptyMessagesAreAPacketToo) {
  const FlowFraming framing{4096, 82, 0};
  EXPECT_EQ(framing.packets(0), 1U);
  EXPECT_EQ(framing.wire_bytes(0), 82U);
  EXPECT_EQ(framing.wire_bytes(1), 86U);
  EXPECT_EQ(framing.packets(4096), 1U);
  EXPECT_EQ(framing.wire_bytes(4097), 2U * 82 + 4096 + 4);
  EXPECT_EQ(ideal_time({{100, Time::from_ns(5)}}, framing, 0),
            wire_time(82, 100) + Time::from_ns(5));
}

TEST(IdealTime, TheWayIsAShortestOneByItsFastestPorts) {
  NetworkPlan plan = leaf_spine_plan(2, 2, 3, {100, Time::from_ns(7)}, {25, Time::from_ns(9)});
  plan.edges[*plan.edge_between(*plan.find("leaf0"), *plan.find("spine1"))].rate.gbps = 400;
  const NetworkGraph graph(plan);
  const NextHops hops(graph);
  const std::vector<EdgeRate> way = ideal_way(hops, 0, 3);
  ASSERT_EQ(way.size(), 4U);
  EXPECT_EQ(way[0].gbps, 100);
  EXPECT_EQ(way[1].gbps, 400);
  EXPECT_EQ(way[2].gbps, 25);
  EXPECT_EQ(way[3].delay, Time::from_ns(7));
  EXPECT_EQ(ideal_way(hops, 0, 1).size(), 2U);
}

}  // namespace
}  // namespace flitwise::ideal_time_test
