// SPDX-License-Identifier: Apache-2.0
// The network port: its rate, its lanes in turn, and one lane that stalls.
#include "pio/egress_port.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace flitwise::egress_port_test {
namespace {

class Port {
 public:
  explicit Port(double rate_gbps = 8, std::uint64_t buffer = 1000) : port(rate_gbps, buffer) {}
  void work(Time now) {
    port.work(
        now, [this](const EgressPort::Start& one) { started.push_back(one); },
        [this](unsigned queue, std::uint32_t, Time, Time end) { sent.emplace_back(queue, end); });
  }
  EgressPort port;
  std::vector<std::pair<unsigned, Time>> sent;
  std::vector<EgressPort::Start> started;
};

// A byte takes a nanosecond at 8 Gb/s. Whoever looks late changes no time.
TEST(EgressPort, PacketsFollowEachOtherAtTheRateOfTheWire) {
  Port one;
  one.port.put(0, 100, Time::from_ns(10));
  one.port.put(0, 50, Time::from_ns(10));
  one.work(Time::from_ns(10));
  EXPECT_EQ(one.port.next(Time::from_ns(10)), Time::from_ns(110));
  one.work(Time::from_ns(110));
  one.work(Time::from_ns(165));
  ASSERT_EQ(one.sent.size(), 2U);
  EXPECT_EQ(one.sent[0].second, Time::from_ns(110));
  EXPECT_EQ(one.sent[1].second, Time::from_ns(160));
  EXPECT_TRUE(one.port.is_empty());
  EXPECT_EQ(one.port.next(Time::from_ns(165)), Time::never());
}

TEST(EgressPort, LanesTakeTurns) {
  Port one;
  for (int i = 0; i < 2; ++i) {
    one.port.put(2, 10, Time{});
    one.port.put(5, 10, Time{});
  }
  for (int ns = 0; ns <= 40; ns += 10) {
    one.work(Time::from_ns(ns));
  }
  ASSERT_EQ(one.sent.size(), 4U);
  EXPECT_EQ(one.sent[0].first, 2U);
  EXPECT_EQ(one.sent[1].first, 5U);
  EXPECT_EQ(one.sent[2].first, 2U);
  EXPECT_EQ(one.sent[3].first, 5U);
}

// [PIO-6.3] Who might have started as well, and from when on a packet was the first of its lane.
TEST(EgressPort, PIO_6_3_AStartSaysWhoMightHaveStarted) {
  Port one;
  one.port.stall(3, Time{}, Time::from_ns(15));
  one.port.put(2, 10, Time{});
  one.port.put(2, 10, Time{});
  one.port.put(3, 10, Time{});
  one.port.put(5, 10, Time::from_ns(20));
  one.work(Time::from_ns(100));
  ASSERT_EQ(one.started.size(), 4U);
  EXPECT_EQ(one.started[0].lanes, 1U << 2);
  EXPECT_EQ(one.started[1].lanes, 1U << 2);  // VL 3 stalls for 5 ns more
  EXPECT_EQ(one.started[1].is_first, Time::from_ns(10));
  EXPECT_EQ(one.started[2].lanes, 1U << 3 | 1U << 5);
  EXPECT_EQ(one.started[2].is_first, Time{});
  EXPECT_EQ(one.started[3].lanes, 1U << 5);
}

// [PIO-6.5, 12.28] Two blocks of VL 2 for each one of VL 5, and VL15 before both.
TEST(EgressPort, PIO_6_5_LanesGoByWeight) {
  Port one(8, 10'000);
  VlTables tables;
  tables.low[0] = {2, 2};
  tables.low[1] = {5, 1};
  one.port.set_vl_tables(tables);
  for (int i = 0; i < 4; ++i) {
    one.port.put(5, 64, Time{});
    one.port.put(2, 64, Time{});
  }
  one.port.put(queue_of_vl(kManagementVl), 64, Time{});
  one.work(Time::from_us(1));
  std::vector<unsigned> queues;
  for (const auto& [queue, end] : one.sent) {
    queues.push_back(queue);
  }
  EXPECT_EQ(queues, (std::vector<unsigned>{8, 2, 2, 5, 2, 2, 5, 5, 5}));
}

TEST(EgressPort, ABufferIsFullUntilItsPacketHasLeft) {
  Port one(8, 150);
  one.port.put(0, 100, Time{});
  EXPECT_FALSE(one.port.has_room(0, 51));
  EXPECT_TRUE(one.port.has_room(0, 50));
  EXPECT_TRUE(one.port.has_room(1, 150));
  one.work(Time{});
  EXPECT_FALSE(one.port.has_room(0, 51));
  one.work(Time::from_ns(100));
  EXPECT_TRUE(one.port.has_room(0, 150));
}

// [PIO-087]
TEST(EgressPort, AStalledLaneWaitsAndTheOthersGo) {
  Port one;
  one.port.stall(1, Time::from_ns(5), Time::from_ns(500));
  one.port.put(1, 10, Time::from_ns(6));
  one.port.put(0, 10, Time::from_ns(6));
  one.work(Time::from_ns(6));
  one.work(Time::from_ns(16));
  ASSERT_EQ(one.sent.size(), 1U);
  EXPECT_EQ(one.sent[0].first, 0U);
  EXPECT_EQ(one.port.next(Time::from_ns(16)), Time::from_ns(500));
  one.work(Time::from_ns(500));
  one.work(Time::from_ns(510));
  ASSERT_EQ(one.sent.size(), 2U);
  EXPECT_EQ(one.sent[1].second, Time::from_ns(510));
}

// A packet that comes while the port waits for one that is not ready goes before it.
TEST(EgressPort, APacketThatIsReadyPassesOneThatIsNot) {
  Port one;
  one.port.put(0, 10, Time::from_ns(100));
  one.work(Time::from_ns(1));
  EXPECT_EQ(one.port.next(Time::from_ns(1)), Time::from_ns(100));
  one.port.put(1, 10, Time::from_ns(20));
  one.work(Time::from_ns(20));
  one.work(Time::from_ns(30));
  ASSERT_EQ(one.sent.size(), 1U);
  EXPECT_EQ(one.sent[0].first, 1U);
}

// [PIO-1.3] Room for two packets of a lane: the third goes when the first has been taken.
TEST(EgressPort, PIO_087_APacketWaitsForRoomAtThePeer) {
  Port one;
  one.port.limit(200);
  for (int i = 0; i < 3; ++i) {
    one.port.put(0, 100, Time{});
  }
  one.work(Time::from_ns(100));
  one.work(Time::from_ns(250));
  EXPECT_EQ(one.started.size(), 2U);
  EXPECT_EQ(one.port.next(Time::from_ns(250)), Time::never());
  EXPECT_EQ(one.port.lanes_without_room(), 1U);
  one.port.add_room(0, 100, Time::from_ns(300));
  EXPECT_EQ(one.port.lanes_without_room(), 0U);
  one.work(Time::from_ns(260));
  EXPECT_EQ(one.port.next(Time::from_ns(260)), Time::from_ns(300));
  one.work(Time::from_ns(500));
  ASSERT_EQ(one.started.size(), 3U);
  EXPECT_EQ(one.started[1].has_room, Time{});
  EXPECT_EQ(one.started[2].has_room, Time::from_ns(300));
  EXPECT_EQ(one.started[2].begin, Time::from_ns(300));
  EXPECT_EQ(one.started[2].end, Time::from_ns(400));
  EXPECT_TRUE(one.port.is_empty());
}

// [PIO-1.3] Each lane has room of its own.
TEST(EgressPort, PIO_087_ALaneWithoutRoomAtThePeerStallsAlone) {
  Port one;
  one.port.limit(100);
  one.port.put(3, 100, Time{});
  one.port.put(3, 100, Time{});
  one.port.put(4, 60, Time{});
  one.work(Time::from_ns(1'000));
  ASSERT_EQ(one.sent.size(), 2U);
  EXPECT_EQ(one.sent[1].first, 4U);
  EXPECT_EQ(one.port.lanes_without_room(), 1U << 3);
  EXPECT_EQ(one.port.drained(Time::from_ns(1'000)), Time::never());
}

// Rooms add up, and what is left of one serves the next packet.
TEST(EgressPort, RoomComesInPieces) {
  Port one;
  one.port.limit(60);
  one.port.put(0, 100, Time{});
  one.port.put(0, 50, Time{});
  one.port.add_room(0, 30, Time::from_ns(10));
  EXPECT_EQ(one.port.lanes_without_room(), 1U);
  one.port.add_room(0, 40, Time::from_ns(20));
  one.work(Time::from_ns(20));
  one.work(Time::from_ns(120));
  ASSERT_EQ(one.started.size(), 1U);
  EXPECT_EQ(one.started[0].begin, Time::from_ns(20));
  one.port.add_room(0, 20, Time::from_ns(400));
  one.work(Time::from_ns(450));
  ASSERT_EQ(one.started.size(), 2U);
  EXPECT_EQ(one.started[1].begin, Time::from_ns(400));
}

}  // namespace
}  // namespace flitwise::egress_port_test
