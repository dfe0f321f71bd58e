// SPDX-License-Identifier: Apache-2.0
// Links and switches of a network of packets, held against what can be reckoned: times of a packet
// alone, of many into one port, of random arrivals; and what becomes of those that are lost.
#include "network/packet_fabric.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "network/fabric_fault.h"
#include "network/network_host_rules.h"

namespace flitwise::packet_fabric_test {
namespace {

constexpr Time kHop = Time::from_us(1);
constexpr std::uint32_t kBytes = 1'000;
constexpr Time kSpan = Time::from_ns(80);  // of 1,000 bytes at 100 Gb/s

/// Sends packets, and keeps when each has come.
class Bench {
 public:
  explicit Bench(NetworkPlan plan, PacketFabricRules rules = {})
      : plan_(std::move(plan)), fabric(plan_, rules, Random(3), events_, packets) {}

  void send(NodeId from, NodeId to, Time when, std::uint8_t ttl = 64, std::uint32_t hash = 0) {
    const FabricPackets::Index index = packets.make();
    FabricPacket& packet = packets[index];
    packet = FabricPacket{};
    packet.destination = to;
    packet.bytes = kBytes;
    packet.ttl = ttl;
    packet.hash = hash;
    packet.fields.psn = sent++;
    fabric.send(from, index, when);
  }
  void run() { run_until(Time::never()); }
  void run_until(Time limit) {
    while (!events_.empty() && events_.next() <= limit) {
      now = events_.next();
      const FabricPackets::Index index = fabric.arrive(place_of(events_.front()), now);
      if (index != FabricPackets::kNone) {
        came[packets[index].fields.psn] = now;
        packets.free(index);
      }
    }
  }

 private:
  const NetworkPlan plan_;
  EventQueue events_;

 public:
  FabricPackets packets;
  PacketFabric fabric;
  std::map<std::uint32_t, Time> came;
  std::uint32_t sent = 0;
  Time now{};
};

NetworkPlan star(std::uint32_t hosts) {
  NetworkPlan plan;
  plan.hosts = hosts;
  plan.switches = {"switch"};
  for (NodeId host = 0; host < hosts; ++host) {
    plan.edges.push_back({host, hosts, {100, kHop}});
  }
  return plan;
}

PacketFabricRules without_marks() {
  PacketFabricRules rules;
  rules.red.is_on = false;
  return rules;
}

// [NW-1] Store and forward: each edge takes its time once more.
TEST(PacketFabric, NW_1_APacketAloneTakesTheSumOfItsEdges) {
  Bench bench(leaf_spine_plan(2, 1, 1, {100, kHop}, {100, kHop}));
  bench.send(0, 1, Time{});
  bench.run();
  EXPECT_EQ(bench.came.at(0), (kSpan + kHop) * 4);
}

// [NW-1] Cut-through: its headers do.
TEST(PacketFabric, NW_1_CutThroughAddsTheTimeOfHeadersAlone) {
  PacketFabricRules rules = without_marks();
  rules.is_cut_through = true;
  Bench bench(leaf_spine_plan(2, 1, 1, {100, kHop}, {100, kHop}), rules);
  bench.send(0, 1, Time{});
  bench.run();
  EXPECT_EQ(bench.came.at(0), kSpan + kHop * 4 + Time::from_ps(80) * kSwitchedHeaderBytes * 3);
}

// Anchors 3.7: n packets at once into one port, the last one waits for n - 1 others.
TEST(PacketFabric, Incast_TheLastOfManyWaitsForAllOthers) {
  constexpr std::uint32_t kSenders = 20;
  Bench bench(star(kSenders + 1), without_marks());
  for (NodeId host = 0; host < kSenders; ++host) {
    bench.send(host, kSenders, Time{});
  }
  bench.run();
  EXPECT_EQ(bench.came.size(), kSenders);
  EXPECT_EQ(bench.came.at(kSenders - 1), (kSpan + kHop) * 2 + kSpan * (kSenders - 1));
}

// Anchors 3.7: below the rate of the port packets in step never wait.
TEST(PacketFabric, D_D_1_PacketsInStepDoNotWait) {
  Bench bench(star(2), without_marks());
  for (std::uint32_t i = 0; i < 100; ++i) {
    bench.send(0, 1, Time::from_ns(100) * i);
  }
  bench.run();
  for (const auto& [number, when] : bench.came) {
    EXPECT_EQ(when, Time::from_ns(100) * number + (kSpan + kHop) * 2);
  }
}

/// Mean wait at one port, in times of a packet, where packets of many hosts come at random.
double mean_wait(double load) {
  constexpr std::uint32_t kHosts = 200, kPackets = 200'000;
  Bench bench(star(kHosts + 1), without_marks());
  Random random(11);
  std::vector<Time> ready;  // at the switch, if its host's wire was free
  double time = 0;
  const double mean = static_cast<double>(kSpan.fs) / load;
  double waits = 0;
  for (std::uint32_t i = 0; i < kPackets; ++i) {
    time += random.exponential(mean);
    const auto host = static_cast<NodeId>(random.below(kHosts));
    const Time when{static_cast<std::int64_t>(time)};
    ready.push_back(std::max(when, bench.fabric.free_at(host)) + kSpan + kHop);
    bench.send(host, kHosts, when);
  }
  bench.run();
  for (const auto& [number, when] : bench.came) {
    waits += static_cast<double>((when - ready[number] - kSpan - kHop).fs);
  }
  return waits / kPackets / static_cast<double>(kSpan.fs);
}

// Anchors 3.7: rho / (2 (1 - rho)) times of a packet.
TEST(PacketFabric, M_D_1_RandomArrivalsWaitAsTheFormulaSays) {
  EXPECT_NEAR(mean_wait(0.5), 0.5, 0.5 * 0.03);
  EXPECT_NEAR(mean_wait(0.8), 2.0, 2.0 * 0.05);
}

// [NW-C8]
TEST(PacketFabric, NW_6_TheTtlOfAPacketIsUsedUpAtSwitches) {
  Bench bench(leaf_spine_plan(2, 1, 1, {100, kHop}, {100, kHop}));
  for (const std::uint8_t ttl :
       {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}, std::uint8_t{4}}) {
    bench.send(0, 1, Time{}, ttl);
  }
  bench.run();
  EXPECT_EQ(bench.came.size(), 1U);  // the last one: there are three switches
  EXPECT_EQ(bench.fabric.lost(PacketFabric::Loss::kTtl), 3U);
  EXPECT_EQ(bench.packets.in_use(), 0U);
}

// [NW-C7] Room for two packets beside the one that leaves.
TEST(PacketFabric, NW_8_WhatHasNoRoomIsDroppedAndCounted) {
  PacketFabricRules rules = without_marks();
  rules.room = 3 * kBytes;
  Bench bench(star(6), rules);
  for (NodeId host = 0; host < 5; ++host) {
    bench.send(host, 5, Time{});
  }
  bench.run();
  EXPECT_EQ(bench.came.size(), 3U);
  EXPECT_EQ(bench.fabric.dropped(), 2U);
  EXPECT_EQ(bench.packets.in_use(), 0U);
}

// [NW-6] Lost until the loss is noticed; then it goes around.
TEST(PacketFabric, NW_6_PacketsToALinkThatIsDownAreLostUntilItIsNoticed) {
  PacketFabricRules rules = without_marks();
  rules.detect = Time::from_us(50);
  const NetworkPlan plan = leaf_spine_plan(2, 1, 2, {100, kHop}, {100, kHop});
  Bench bench(plan, rules);
  bench.fabric.take_down(*plan.edge_between(*plan.find("leaf0"), *plan.find("spine0")), Time{});
  for (std::uint32_t hash = 0; hash < 64; ++hash) {
    bench.send(0, 1, Time{}, 64, hash);
  }
  bench.run();
  const std::uint64_t lost = bench.fabric.lost(PacketFabric::Loss::kLinkDown);
  EXPECT_EQ(lost + bench.came.size(), 64U);
  EXPECT_GT(lost, 10U);
  EXPECT_LT(lost, 54U);
  bench.fabric.detect(Time::from_us(50));
  for (std::uint32_t hash = 0; hash < 64; ++hash) {
    bench.send(0, 1, Time::from_us(60), 64, hash);
  }
  bench.run();
  EXPECT_EQ(bench.fabric.lost(PacketFabric::Loss::kLinkDown), lost);
  EXPECT_EQ(bench.came.size(), 128 - lost);
}

// [NW-6] Four wait for the wire of the switch when its link goes down; the first one has left.
TEST(PacketFabric, NW_6_WhatWaitsForALinkThatGoesDownIsLost) {
  Bench bench(star(5), without_marks());
  for (NodeId host = 0; host < 4; ++host) {
    bench.send(host, 4, Time{});
  }
  bench.run_until(kSpan + kHop);
  bench.fabric.take_down(4, kSpan + kHop + kSpan);
  bench.run();
  EXPECT_EQ(bench.came.size(), 1U);
  EXPECT_EQ(bench.fabric.lost(PacketFabric::Loss::kLinkDown), 3U);
  EXPECT_EQ(bench.packets.in_use(), 0U);
}

// [NW-6] The second one is on the wire when the link goes down, the third is when it is up again.
TEST(PacketFabric, NW_6_WhatHasNotBegunToLeaveWhenALinkIsUpAgainArrives) {
  Bench bench(star(5), without_marks());
  for (NodeId host = 0; host < 4; ++host) {
    bench.send(host, 4, Time{});
  }
  bench.run_until(kSpan + kHop);
  bench.fabric.take_down(4, kSpan + kHop + Time::from_ns(100));
  bench.fabric.bring_up(4, kSpan + kHop + Time::from_ns(200));
  bench.run();
  EXPECT_EQ(bench.fabric.lost(PacketFabric::Loss::kLinkDown), 2U);
  EXPECT_EQ(bench.came.count(0), 1U);
  EXPECT_EQ(bench.came.count(3), 1U);
}

// [NW-6] Its loss is noticed at once, and once.
TEST(PacketFabric, NW_6_AFaultHasThreeEventsHoweverSoonItsLossIsNoticed) {
  const NetworkPlan plan = leaf_spine_plan(2, 1, 2, {100, kHop}, {100, kHop});
  for (const std::int64_t detect : {0, 5, 10, 50}) {
    NetworkConfig network;
    network.fault.link = "leaf0-spine0";
    network.fault.at = Time::from_us(1);
    network.fault.lasts = Time::from_us(10);
    PacketFabricRules rules;
    rules.detect = Time::from_us(detect);
    EventQueue events;
    FabricPackets packets;
    PacketFabric fabric(plan, rules, Random(3), events, packets);
    FabricFault fault(network, plan, fabric, events);
    const NodeId leaf = *plan.find("leaf0");
    std::map<std::int64_t, std::size_t> ways;  // at the end of each time
    unsigned count = 0;
    for (; !events.empty() && count < 10; ++count) {
      const Time now = events.next();
      events.take();
      fault.work(now);
      ways[now.fs / Time::from_us(1).fs] = fabric.hops().candidates(leaf, 1).size();
    }
    EXPECT_EQ(count, 3U) << detect;
    EXPECT_EQ(ways[11], 2U) << detect;
    EXPECT_EQ(ways[1], detect == 0 ? 1U : 2U);
    EXPECT_EQ(ways[6], detect == 5 ? 1U : 0U) << "no event";
  }
}

// [NW-1] 25 Gb/s for 480 ns are a packet and a half.
TEST(PacketFabric, NW_1_WhatWaitsLeavesAtTheRateThatItsLinkHasThen) {
  Bench bench(star(5), without_marks());
  for (NodeId host = 0; host < 4; ++host) {
    bench.send(host, 4, Time{});
  }
  const Time begin = kSpan + kHop;
  bench.run_until(begin);
  bench.fabric.set_rate(4, 25, begin);
  bench.run_until(begin + Time::from_ns(480));
  bench.fabric.restore_rate(4, begin + Time::from_ns(480));
  bench.run();
  std::int64_t ends[] = {320, 520, 600, 680};
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(bench.came[i], begin + kHop + Time::from_ns(ends[i])) << i;
  }
}

// [NW-1] Cut through: the first one has left, and the tail of those that are slow is not overtaken.
TEST(PacketFabric, NW_1_CutThroughWhatWaitsLeavesAtTheRateThatItsLinkHasThen) {
  PacketFabricRules rules = without_marks();
  rules.is_cut_through = true;
  const NetworkPlan plan = dumbbell_plan(2, {100, kHop}, {100, kHop});
  const EdgeId middle = *plan.edge_between(*plan.find("left"), *plan.find("right"));
  Bench bench(plan, rules);
  for (const NodeId host : {0U, 1U, 0U, 1U}) {
    bench.send(host, 2, Time{});
  }
  const Time head = wire_time(kSwitchedHeaderBytes, 100), begin = head + kHop;
  bench.run_until(begin + kSpan);
  bench.fabric.set_rate(middle, 25, begin + kSpan);
  bench.fabric.restore_rate(middle, begin + Time::from_ns(560));
  bench.run();
  const Time ends[] = {kSpan + head, Time::from_ns(400), Time::from_ns(600),
                       Time::from_ns(680) + head};
  for (std::uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(bench.came[i], begin + kHop + kHop + ends[i]) << i;
  }
}

// [NW-C4] A flow keeps its way.
TEST(PacketFabric, NW_2_PacketsOfOneHashStayInOrder) {
  Bench bench(leaf_spine_plan(4, 4, 4, {100, kHop}, {100, kHop}), without_marks());
  for (std::uint32_t i = 0; i < 200; ++i) {
    bench.send(0, 15, Time{}, 64, 12345);
  }
  bench.run();
  Time last{};
  for (const auto& [number, when] : bench.came) {
    EXPECT_GT(when, last);
    last = when;
  }
}

}  // namespace
}  // namespace flitwise::packet_fabric_test
