// SPDX-License-Identifier: Apache-2.0
// Switches between the network ports of adapters: times of frames to the femtosecond, their order
// and bytes, and what becomes of those without room or way.
#include "network/adapter_network.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/ranges.h"
#include "flitwise/link_socket.h"
#include "network/addresses.h"
#include "network/network_setup.h"
#include "network/roce_frame.h"

namespace flitwise::adapter_network_test {
namespace {

constexpr double kRate = 100;  // Gb/s: 80 ps a byte
constexpr Time kPropagation = Time::from_ns(7), kLatency = Time::from_ns(300);

constexpr Time span_of(std::uint32_t wire_bytes) {
  return Time::from_ps(80) * wire_bytes;
}

struct Came {
  ByteVector bytes;
  Time last;
};

AdapterNetwork::Setup star(unsigned ends, Bytes queue = 1U << 20,
                           const std::map<unsigned, double>& rates = {}) {
  AdapterNetwork::Setup setup;
  std::vector<EdgeRate> cables;
  for (unsigned end = 0; end < ends; ++end) {
    cables.push_back({rates.count(end) > 0 ? rates.at(end) : kRate, kPropagation});
  }
  setup.plan = star_plan(cables);
  setup.network.topology = NetworkTopology::kSwitch;
  setup.network.switches.queue = queue;
  setup.network.ecn.is_on = false;
  setup.latency = kLatency;
  setup.rate_key = "device.rdma.port.rate";
  return setup;
}

AdapterNetwork::Setup of(NetworkPlan plan) {
  AdapterNetwork::Setup setup;
  setup.plan = std::move(plan);
  setup.network.topology = NetworkTopology::kGraph;
  setup.network.ecn.is_on = false;
  return setup;
}

/// Adapters that send what the test says, and keep what comes.
class Bench {
 public:
  explicit Bench(AdapterNetwork::Setup setup, const std::string& name = "network",
                 unsigned adapters = ~0U, bool is_ecn_capable = false)
      : network_(name.c_str(), with_rules(setup)),
        came_(setup.plan.hosts),
        free_(setup.plan.hosts) {
    for (unsigned end = 0; end < std::min(adapters, setup.plan.hosts); ++end) {
      NicPort& nic = ends_.emplace_back((name + "_nic" + std::to_string(end)).c_str(),
                                        network_.cable_of(end).delay);
      nic.on_frame([this, end](const Frame& frame) {
        came_[end].push_back({frame.bytes, frame.last});
      });
      if (is_ecn_capable) {
        nic.set_ecn_capable();
      }
      NicPort& port = network_.attach(end, "ep" + std::to_string(end), nic);
      nic.to_wire.bind(port.from_wire);
      port.to_wire.bind(nic.from_wire);
    }
  }
  // From `end` to `to`, as soon as its wire is free. When its last bit leaves.
  Time send(unsigned end, unsigned to, std::size_t payload = 1'000, std::uint8_t ttl = 64) {
    return send(end, to, payload, ttl, [](ByteVector&, const RoceParts&) {});
  }
  // change: of the bytes, once they are sealed.
  template <class Change>
  Time send(unsigned end, unsigned to, std::size_t payload, std::uint8_t ttl, Change change) {
    const FrameRef frame = pool.make(0);
    RoceShape shape{roce_opcode(0x0a)};
    shape.payload_bytes = payload;
    const RoceParts parts = make_roce(shape, frame->bytes);
    frame->bytes[parts.ip + 15] = address_byte(end);
    frame->bytes[parts.ip + 19] = address_byte(to);
    frame->bytes[parts.ip + 8] = ttl;
    frame->bytes[parts.udp + 1] = source_port;
    frame->bytes[parts.payload] = static_cast<std::uint8_t>(++number_);
    seal_roce(frame->bytes.data(), parts);
    change(frame->bytes, parts);
    frame->wire_bytes = static_cast<std::uint32_t>(frame->bytes.size()) + 24;
    wire_bytes = frame->wire_bytes;
    free_[end] = std::max(std::max(free_[end], now()), ends_[end].wire_free_at()) +
                 span_of(frame->wire_bytes);
    ends_[end].send(*frame, free_[end]);
    return free_[end];
  }
  const std::vector<Came>& came(unsigned end) const { return came_[end]; }
  NicPort& nic(unsigned end) { return ends_[end]; }
  std::vector<NetworkPortResult> rows() const {
    RunResult result;
    network_.report(result);
    return result.rows<NetworkPortResult>();
  }
  NetworkPortResult row(std::size_t port) const { return rows().at(port); }
  void expect_all_settled() const {
    EXPECT_TRUE(network_.is_quiet()) << network_.waiting();
    expect_checked();
    EXPECT_EQ(pool.in_use(), 0U);
  }
  void expect_checked() const {
    for (const CheckResult& check : network_.checks()) {
      EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
    }
  }
  static void run() { sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS)); }

  FramePool pool;
  std::uint32_t wire_bytes = 0;  // of the last frame
  std::uint8_t source_port = 0;  // its low byte
  AdapterNetwork& network() { return network_; }

 private:
  static AdapterNetwork::Setup with_rules(AdapterNetwork::Setup setup) {
    setup.rules = fabric_rules(setup.network, setup.plan, false, 4'096);
    setup.rules.keeps_waits = true;
    return setup;
  }

  AdapterNetwork network_;
  std::deque<NicPort> ends_;
  std::vector<std::vector<Came>> came_;
  std::vector<Time> free_;
  unsigned number_ = 0;
};

TEST(AdapterNetwork, ALoneFrameIsStoredAndForwarded) {
  Bench bench(star(2));
  const Time left = bench.send(0, 1);
  Bench::run();
  ASSERT_EQ(bench.came(1).size(), 1U);
  const Came& came = bench.came(1)[0];
  EXPECT_EQ(came.last, left + kPropagation + kLatency + span_of(bench.wire_bytes) + kPropagation);
  EXPECT_EQ(came.bytes[14 + 8], 63);  // its TTL
  EXPECT_TRUE(read_roce(came.bytes.data(), came.bytes.size()).is_icrc_good);
  EXPECT_FALSE(read_roce(came.bytes.data(), came.bytes.size()).flaw);
  EXPECT_EQ(bench.row(1).bytes, bench.wire_bytes);
  EXPECT_EQ(bench.row(0).packets, 0U);
  bench.expect_all_settled();
}

// A slow port behind a fast one takes its own time.
TEST(AdapterNetwork, EachPortHasTheRateOfItsCable) {
  Bench bench(star(2, 1U << 20, {{1, 25.0}}));
  const Time left = bench.send(0, 1);
  Bench::run();
  EXPECT_EQ(bench.came(1).at(0).last,
            left + kPropagation + kLatency + span_of(4 * bench.wire_bytes) + kPropagation);
}

// n frames into one port at one time: the last waits (n - 1) of their times. network_anchors 3.7
TEST(AdapterNetwork, OfFramesThatComeTogetherTheLastWaitsForAllOthers) {
  constexpr unsigned kSenders = 8;
  Bench bench(star(kSenders + 1));
  Time left{};
  for (unsigned end = 1; end <= kSenders; ++end) {
    left = bench.send(end, 0);
  }
  Bench::run();
  const Time span = span_of(bench.wire_bytes);
  ASSERT_EQ(bench.came(0).size(), kSenders);
  for (unsigned i = 0; i < kSenders; ++i) {
    EXPECT_EQ(bench.came(0)[i].last,
              left + kPropagation + kLatency + span * (i + 1) + kPropagation);
    EXPECT_EQ(bench.came(0)[i].bytes[14 + 20 + 8 + 12 + 16], i + 1);  // in the order of ports
  }
  const std::vector<WaitResult> waits = bench.network().waits();
  EXPECT_EQ(waits[0].resource.at, "network.ep0");
  EXPECT_EQ(waits[0].count, kSenders - 1);
  EXPECT_EQ(waits[0].total, span * (kSenders * (kSenders - 1) / 2));
  EXPECT_EQ(waits[0].peak, kSenders * std::uint64_t{bench.wire_bytes});
  EXPECT_EQ(bench.row(0).most_queued, kSenders * std::uint64_t{bench.wire_bytes});
  bench.expect_all_settled();
}

// Below capacity, in step: no wait. network_anchors 3.7
TEST(AdapterNetwork, AStreamAtTheRateOfThePortNeverWaits) {
  Bench bench(star(2));
  Time left{};
  for (unsigned i = 0; i < 50; ++i) {
    left = bench.send(0, 1);
  }
  Bench::run();
  EXPECT_EQ(bench.came(1).size(), 50U);
  EXPECT_EQ(bench.came(1).back().last,
            left + kPropagation + kLatency + span_of(bench.wire_bytes) + kPropagation);
  EXPECT_EQ(bench.network().waits()[2].count, 0U);             // of network.ep1
  EXPECT_LE(bench.row(1).most_queued, 5U * bench.wire_bytes);  // the latency holds 300 ns of them
}

// Room for three frames, the one that leaves among them. [NW-8, NW-C7]
TEST(AdapterNetwork, NW_C7_FramesWithoutRoomAreDroppedAndCounted) {
  constexpr std::uint32_t kFrame = 14 + 20 + 8 + 12 + 16 + 1'000 + 4 + 24;
  Bench small(star(9, 3 * Bytes{kFrame}));
  for (unsigned end = 1; end <= 5; ++end) {
    small.send(end, 0);
  }
  Bench::run();
  EXPECT_EQ(small.came(0).size(), 3U);
  EXPECT_EQ(small.row(0).drops, 2U);
  EXPECT_EQ(small.row(0).packets, 3U);
  EXPECT_EQ(small.row(0).most_queued, 3 * std::uint64_t{kFrame});
  EXPECT_EQ(small.network().errors(), (Component::Counts{{"network_queue_full", 2}}));
  small.expect_all_settled();
}

// One port that is full holds up no other.
TEST(AdapterNetwork, PortsDoNotWaitForEachOther) {
  Bench bench(star(6));
  for (unsigned end = 1; end <= 4; ++end) {
    bench.send(end, 0);
  }
  const Time left = bench.send(1, 5);
  Bench::run();
  EXPECT_EQ(bench.came(5).at(0).last,
            left + kPropagation + kLatency + span_of(bench.wire_bytes) + kPropagation);
}

TEST(AdapterNetwork, NW_6_FramesWithoutAWayAreDroppedByCause) {
  Bench bench(star(2));
  bench.send(0, 1, 100, 1);  // its last hop
  bench.send(0, 77);         // nobody there
  bench.send(0, 1, 100);
  Bench::run();
  EXPECT_EQ(bench.came(1).size(), 1U);
  EXPECT_EQ(bench.network().errors(),
            (Component::Counts{{"network_ttl", 1}, {"network_no_route", 1}}));
  bench.expect_all_settled();
}

// What is under way counts as such at any time.
TEST(AdapterNetwork, NoFrameIsLostFromSight) {
  Bench bench(star(5));
  for (unsigned i = 0; i < 20; ++i) {
    for (unsigned end = 0; end < 5; ++end) {
      bench.send(end, (end + 1 + i % 4) % 5, 10 + 60 * i);
    }
  }
  for (unsigned step = 0; step < 300; ++step) {
    sc_core::sc_start(sc_core::sc_time(13, sc_core::SC_NS));
    for (const CheckResult& check : bench.network().checks()) {
      ASSERT_TRUE(check.ok) << check.name << ": " << check.detail;
    }
  }
  Bench::run();
  std::size_t came = 0;
  for (unsigned end = 0; end < 5; ++end) {
    came += bench.came(end).size();
  }
  EXPECT_EQ(came, 100U);
  bench.expect_all_settled();
}

// [NW-1] Each edge of a leaf-spine takes its time once more; what a switch reads is in the bytes.
TEST(AdapterNetwork, NW_1_AFrameAloneTakesTheSumOfItsEdges) {
  Bench bench(of(leaf_spine_plan(2, 1, 1, {kRate, kPropagation}, {kRate, kLatency})));
  const Time left = bench.send(0, 1);
  Bench::run();
  EXPECT_EQ(bench.came(1).at(0).last,
            left + kPropagation + span_of(bench.wire_bytes) * 3 + kLatency * 2 + kPropagation);
  EXPECT_EQ(bench.came(1).at(0).bytes[14 + 8], 61);  // three hops
  EXPECT_FALSE(read_roce(bench.came(1)[0].bytes.data(), bench.came(1)[0].bytes.size()).flaw);
  EXPECT_EQ(bench.row(0).name, "network.ep0");
  EXPECT_EQ(bench.row(1).name, "leaf0.1");
  bench.expect_all_settled();
}

// [NW-1] Cut-through: what is behind the headers costs its time once.
TEST(AdapterNetwork, NW_1_CutThroughAddsTheTimeOfHeadersAlone) {
  AdapterNetwork::Setup setup =
      of(leaf_spine_plan(2, 1, 1, {kRate, kPropagation}, {kRate, kLatency}));
  setup.network.switching = Switching::kCutThrough;
  Bench bench(setup);
  const Time left = bench.send(0, 1);
  Bench::run();
  EXPECT_EQ(bench.came(1).at(0).last,
            left + kPropagation * 2 + kLatency * 2 + span_of(kSwitchedHeaderBytes) * 3);
  bench.expect_all_settled();
}

// [KY-7] Two networks alike: frames of the second one are other ones behind the UDP header, and
// fare alike, port by port and to the femtosecond: hashes, queues, marks and drops.
TEST(AdapterNetwork, KY_7_NoBytesBehindTheUdpHeaderChangeWhatSwitchesDo) {
  AdapterNetwork::Setup setup = of(leaf_spine_plan(2, 2, 4, {kRate, kPropagation}, {40, kLatency}));
  setup.network.ecn.is_on = true;
  setup.network.switches.queue = 12'000;
  setup.network.ecn.kmin = 2'000;
  setup.network.ecn.kmax = 10'000;
  setup.network.ecn.pmax = 0.5;
  Bench plain(setup, "plain", 4, true), other(setup, "other", 4, true);
  Random sizes(1), noise(2);
  for (unsigned i = 0; i < 400; ++i) {
    const unsigned from = i % 2, to = 2 + i / 2 % 2;
    const std::size_t payload = 4 * (1 + sizes.below(500));
    plain.source_port = other.source_port = static_cast<std::uint8_t>(sizes.below(256));
    plain.send(from, to, payload);
    other.send(from, to, payload, 64, [&](ByteVector& bytes, const RoceParts& parts) {
      for (std::size_t at = parts.udp + 8; at < bytes.size(); ++at) {
        bytes[at] = static_cast<std::uint8_t>(noise.next());
      }
    });
  }
  Bench::run();
  const auto rows = plain.rows(), others = other.rows();
  std::uint64_t ce = 0, drops = 0;
  unsigned used = 0;
  for (std::size_t port = 0; port < rows.size(); ++port) {
    EXPECT_EQ(rows[port].packets, others[port].packets) << rows[port].name;
    EXPECT_EQ(rows[port].bytes, others[port].bytes) << rows[port].name;
    EXPECT_EQ(rows[port].ce, others[port].ce) << rows[port].name;
    EXPECT_EQ(rows[port].drops, others[port].drops) << rows[port].name;
    EXPECT_EQ(rows[port].most_queued, others[port].most_queued) << rows[port].name;
    ce += rows[port].ce;
    drops += rows[port].drops;
    used += rows[port].name.rfind("leaf0.", 0) == 0 && rows[port].packets > 0 ? 1 : 0;
  }
  EXPECT_GT(ce, 20U);
  EXPECT_GT(drops, 5U);
  EXPECT_EQ(used, 4U);
  std::size_t came = 0;
  for (unsigned end = 2; end < 4; ++end) {
    ASSERT_EQ(plain.came(end).size(), other.came(end).size());
    for (std::size_t i = 0; i < plain.came(end).size(); ++i, ++came) {
      const Came &one = plain.came(end)[i], &two = other.came(end)[i];
      EXPECT_EQ(one.last, two.last);
      EXPECT_TRUE(std::equal(one.bytes.begin(), one.bytes.begin() + 42, two.bytes.begin()));
    }
  }
  EXPECT_EQ(came + drops, 400U);
  plain.expect_all_settled();
  other.expect_all_settled();
}

// [CC-1] The mark is in the bytes, with the checksum; a frame without ECT is dropped early instead.
TEST(AdapterNetwork, CC_1_AMarkIsInTheBytesOfTheFrame) {
  AdapterNetwork::Setup setup = star(3);
  setup.network.ecn.is_on = true;
  setup.network.ecn.kmin = 500;
  setup.network.ecn.kmax = 1'000;
  Bench marked(setup, "marked", 3, true), dropped(setup, "dropped");
  for (Bench* const bench : {&marked, &dropped}) {
    for (unsigned i = 0; i < 5; ++i) {
      bench->send(1, 0);
      bench->send(2, 0);
    }
  }
  Bench::run();
  ASSERT_EQ(marked.came(0).size(), 10U);
  unsigned ce = 0;
  for (const Came& one : marked.came(0)) {
    const RoceRead read = read_roce(one.bytes.data(), one.bytes.size());
    EXPECT_FALSE(read.flaw);
    EXPECT_TRUE(read.is_icrc_good);
    EXPECT_NE(one.bytes[15] & 3, 0);
    ce += (one.bytes[15] & 3) == 3 ? 1 : 0;
  }
  EXPECT_GT(ce, 3U);
  EXPECT_EQ(marked.row(0).ce, ce);
  EXPECT_EQ(dropped.came(0).size() + dropped.row(0).drops, 10U);
  EXPECT_EQ(dropped.network().errors(),
            (Component::Counts{{"network_early_drop", dropped.row(0).drops}}));
  EXPECT_GT(dropped.row(0).drops, 0U);
  EXPECT_LE(dropped.row(0).drops, ce);  // what is dropped is in no queue before those behind it
  marked.expect_all_settled();
  dropped.expect_all_settled();
}

// [CC-6] Ports whose frames fill the switch stop; nothing is dropped, and they go on.
TEST(AdapterNetwork, CC_6_APausedPortStopsItsAdapter) {
  AdapterNetwork::Setup setup = star(3, 200'000);
  setup.network.pfc.is_on = true;
  setup.network.pfc.headroom = 40'000;
  Bench bench(setup);
  unsigned paused = 0, resumed = 0;
  bench.nic(1).on_resume([&] { ++resumed; });
  for (unsigned i = 0; i < 200; ++i) {
    for (const unsigned end : {1U, 2U}) {
      if (!bench.nic(end).is_paused()) {
        bench.send(end, 0, 4'000);
      } else {
        ++paused;
      }
    }
    sc_core::sc_start(sc_core::sc_time(330, sc_core::SC_NS));
    bench.expect_checked();
  }
  Bench::run();
  EXPECT_GT(paused, 20U);
  EXPECT_GT(resumed, 2U);
  const std::vector<WaitResult> waits = bench.network().waits();
  const auto pauses = those(waits, [](const auto& one) { return one.resource.name == "pause"; });
  ASSERT_EQ(pauses.size(), 2U) << "of the two that send";
  EXPECT_EQ(pauses[0].count, resumed) << "ep1";
  EXPECT_GT(pauses[0].total, Time::from_ns(330 * 10));
  EXPECT_FALSE(bench.nic(1).is_paused());
  EXPECT_EQ(bench.row(0).drops, 0U);
  EXPECT_EQ(bench.came(0).size() + paused, 400U);
  EXPECT_GT(bench.row(0).most_queued, 20'000U);
  bench.expect_all_settled();
}

// [NW-6, NW-C5] Between the loss of a link and its detection frames are lost; others go around it.
TEST(AdapterNetwork, NW_C5_ALinkThatFailsLosesFramesUntilItIsNoticed) {
  AdapterNetwork::Setup setup =
      of(leaf_spine_plan(2, 1, 2, {kRate, kPropagation}, {kRate, kLatency}));
  setup.network.fault.link = "leaf0-spine1";
  setup.network.fault.at = Time::from_us(10);
  setup.network.timing.detect = Time::from_us(20);
  Bench bench(setup);
  unsigned sent = 0;
  for (unsigned us = 0; us < 60; ++us, ++sent) {
    bench.source_port = static_cast<std::uint8_t>(us);
    bench.send(0, 1, 100);
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  }
  Bench::run();
  const std::uint64_t lost = bench.network().errors().at("network_link_down");
  EXPECT_GT(lost, 3U);
  EXPECT_LT(lost, 20U);
  EXPECT_EQ(bench.came(1).size() + lost, sent);
  bench.expect_all_settled();
}

// [NW-7] Hosts without an adapter, and those with one, send other traffic: it takes its share of
// wires and queues, also of the adapter's own, and the books close.
TEST(AdapterNetwork, NW_7_OtherTrafficSharesWiresAndQueues) {
  AdapterNetwork::Setup setup = of(dumbbell_plan(2, {kRate, kPropagation}, {kRate, kLatency}));
  setup.network.background.kind = BackgroundTraffic::kCbr;
  setup.network.background.load = 0.4;
  Bench bench(setup, "network", 2);
  Time last{};
  for (unsigned i = 0; i < 100; ++i) {
    last = bench.send(0, 1);
    sc_core::sc_start(sc_core::sc_time(100, sc_core::SC_NS));
    bench.expect_checked();
  }
  EXPECT_GT(last, span_of(bench.wire_bytes) * 130);  // its wire was not its own
  sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_US));
  EXPECT_EQ(bench.came(1).size(), 100U);
  EXPECT_GT(bench.row(0).packets, 10U);  // to ep0, which sees none of it
  EXPECT_EQ(bench.came(0).size(), 0U);
  EXPECT_TRUE(bench.network().is_quiet());
  bench.expect_checked();
}

}  // namespace
}  // namespace flitwise::adapter_network_test
