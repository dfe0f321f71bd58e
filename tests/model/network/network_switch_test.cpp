// SPDX-License-Identifier: Apache-2.0
// A switch between network ports: times of frames to the femtosecond, their order and bytes, and
// what becomes of those without room or way.
#include "network/network_switch.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "flitwise/link_socket.h"
#include "network/addresses.h"
#include "network/roce_frame.h"

namespace flitwise::network_switch_test {
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

/// Ports that send what the test says, and keep what comes.
class Bench {
 public:
  explicit Bench(unsigned ends, Bytes queue = 1U << 20, std::map<unsigned, double> rates = {})
      : switch_("network", config_of(queue)), came_(ends), free_(ends) {
    for (unsigned end = 0; end < ends; ++end) {
      const std::string name = "ep" + std::to_string(end);
      NicPort& nic = ends_.emplace_back(("nic" + std::to_string(end)).c_str(), kPropagation);
      nic.on_frame([this, end](const Frame& frame) {
        came_[end].push_back({frame.bytes, frame.last});
      });
      const double rate = rates.count(end) > 0 ? rates.at(end) : kRate;
      NicPort& port = switch_.add_port(
          {name, ipv4_of_port(end), rate, kPropagation, "device.rdma.port.rate", &nic});
      nic.to_wire.bind(port.from_wire);
      port.to_wire.bind(nic.from_wire);
    }
  }
  // From `end` to `to`, as soon as its wire is free. When its last bit leaves.
  Time send(unsigned end, unsigned to, std::size_t payload = 1'000, std::uint8_t ttl = 64) {
    const FrameRef frame = pool.make(0);
    RoceShape shape{roce_opcode(0x0a)};
    shape.payload_bytes = payload;
    const RoceParts parts = make_roce(shape, frame->bytes);
    frame->bytes[parts.ip + 19] = address_byte(to);
    frame->bytes[parts.ip + 8] = ttl;
    frame->bytes[parts.payload] = static_cast<std::uint8_t>(++number_);
    seal_roce(frame->bytes.data(), parts);
    frame->wire_bytes = static_cast<std::uint32_t>(frame->bytes.size()) + 24;
    wire_bytes = frame->wire_bytes;
    free_[end] = std::max(free_[end], now()) + span_of(frame->wire_bytes);
    ends_[end].send(*frame, free_[end]);
    return free_[end];
  }
  const std::vector<Came>& came(unsigned end) const { return came_[end]; }
  NetworkPortResult row(std::size_t port) const {
    RunResult result;
    switch_.report(result);
    return result.rows<NetworkPortResult>().at(port);
  }
  void expect_all_settled() const {
    EXPECT_TRUE(switch_.is_quiet()) << switch_.waiting();
    for (const CheckResult& check : switch_.checks()) {
      EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
    }
    EXPECT_EQ(pool.in_use(), 0U);
  }
  static void run() { sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS)); }

  FramePool pool;
  std::uint32_t wire_bytes = 0;  // of the last frame

 private:
  static NetworkConfig config_of(Bytes queue) {
    NetworkConfig config;
    config.topology = NetworkTopology::kSwitch;
    config.switches.queue = queue;
    config.switches.timing.latency = kLatency;
    return config;
  }

 public:
  NetworkSwitch& sw() { return switch_; }

 private:
  NetworkSwitch switch_;
  std::deque<NicPort> ends_;
  std::vector<std::vector<Came>> came_;
  std::vector<Time> free_;
  unsigned number_ = 0;
};

TEST(NetworkSwitch, ALoneFrameIsStoredAndForwarded) {
  Bench bench(2);
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
TEST(NetworkSwitch, EachPortHasTheRateOfItsCable) {
  Bench bench(2, 1U << 20, {{1, 25.0}});
  const Time left = bench.send(0, 1);
  Bench::run();
  EXPECT_EQ(bench.came(1).at(0).last,
            left + kPropagation + kLatency + span_of(4 * bench.wire_bytes) + kPropagation);
}

// n frames into one port at one time: the last waits (n - 1) of their times. network_anchors 3.7
TEST(NetworkSwitch, OfFramesThatComeTogetherTheLastWaitsForAllOthers) {
  constexpr unsigned kSenders = 8;
  Bench bench(kSenders + 1);
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
  const std::vector<WaitResult> waits = bench.sw().waits();
  EXPECT_EQ(waits[0].resource.at, "network.ep0");
  EXPECT_EQ(waits[0].count, kSenders - 1);
  EXPECT_EQ(waits[0].total, span * (kSenders * (kSenders - 1) / 2));
  EXPECT_EQ(waits[0].peak, kSenders * std::uint64_t{bench.wire_bytes});
  EXPECT_EQ(bench.row(0).most_queued, kSenders * std::uint64_t{bench.wire_bytes});
  bench.expect_all_settled();
}

// Below capacity, in step: no wait. network_anchors 3.7
TEST(NetworkSwitch, AStreamAtTheRateOfThePortNeverWaits) {
  Bench bench(2);
  Time left{};
  for (unsigned i = 0; i < 50; ++i) {
    left = bench.send(0, 1);
  }
  Bench::run();
  EXPECT_EQ(bench.came(1).size(), 50U);
  EXPECT_EQ(bench.came(1).back().last,
            left + kPropagation + kLatency + span_of(bench.wire_bytes) + kPropagation);
  EXPECT_EQ(bench.sw().waits()[2].count, 0U);                  // of network.ep1
  EXPECT_LE(bench.row(1).most_queued, 5U * bench.wire_bytes);  // the latency holds 300 ns of them
}

// Room for three frames, the one that leaves among them. [NW-8, NW-C7]
TEST(NetworkSwitch, NW_C7_FramesWithoutRoomAreDroppedAndCounted) {
  constexpr std::uint32_t kFrame = 14 + 20 + 8 + 12 + 16 + 1'000 + 4 + 24;
  Bench small(9, 3 * Bytes{kFrame});
  for (unsigned end = 1; end <= 5; ++end) {
    small.send(end, 0);
  }
  Bench::run();
  EXPECT_EQ(small.came(0).size(), 3U);
  EXPECT_EQ(small.row(0).drops, 2U);
  EXPECT_EQ(small.row(0).packets, 3U);
  EXPECT_EQ(small.row(0).most_queued, 3 * std::uint64_t{kFrame});
  EXPECT_EQ(small.sw().errors(), (Component::Counts{{"network_queue_full", 2}}));
  small.expect_all_settled();
}

// One port that is full holds up no other.
TEST(NetworkSwitch, PortsDoNotWaitForEachOther) {
  Bench bench(6);
  for (unsigned end = 1; end <= 4; ++end) {
    bench.send(end, 0);
  }
  const Time left = bench.send(1, 5);
  Bench::run();
  EXPECT_EQ(bench.came(5).at(0).last,
            left + kPropagation + kLatency + span_of(bench.wire_bytes) + kPropagation);
}

TEST(NetworkSwitch, NW_6_FramesWithoutAWayAreDroppedByCause) {
  Bench bench(2);
  bench.send(0, 1, 100, 1);  // its last hop
  bench.send(0, 77);         // nobody there
  bench.send(0, 1, 100);
  Bench::run();
  EXPECT_EQ(bench.came(1).size(), 1U);
  EXPECT_EQ(bench.sw().errors(), (Component::Counts{{"network_ttl", 1}, {"network_no_route", 1}}));
  bench.expect_all_settled();
}

// What is under way counts as such at any time.
TEST(NetworkSwitch, NoFrameIsLostFromSight) {
  Bench bench(5);
  for (unsigned i = 0; i < 20; ++i) {
    for (unsigned end = 0; end < 5; ++end) {
      bench.send(end, (end + 1 + i % 4) % 5, 10 + 60 * i);
    }
  }
  for (unsigned step = 0; step < 300; ++step) {
    sc_core::sc_start(sc_core::sc_time(13, sc_core::SC_NS));
    for (const CheckResult& check : bench.sw().checks()) {
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

}  // namespace
}  // namespace flitwise::network_switch_test
