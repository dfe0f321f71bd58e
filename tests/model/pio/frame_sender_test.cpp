// SPDX-License-Identifier: Apache-2.0
// Packets of send memory as frames on the wire to a peer.
#include "pio/frame_sender.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "unit/pio/send_bench.h"

namespace flitwise::frame_sender_test {
namespace {

// [PIO-6.7] The bytes behind the PBC, of lane after lane in their order, at the peer a wire later.
TEST(FrameSender, PIO_6_7_AFrameHasTheBytesBehindThePbc) {
  FramePool pool;
  NicPort sender("sender", Time::from_ns(100)), receiver("receiver", Time::from_ns(1));
  sender.to_wire.bind(receiver.from_wire);
  std::vector<std::pair<std::vector<std::uint8_t>, Time>> came;
  receiver.on_frame([&](Frame& frame) {
    EXPECT_EQ(frame.lane, 1U);
    EXPECT_EQ(frame.wire_bytes, frame.bytes.size() + 4);
    came.emplace_back(std::vector<std::uint8_t>(frame.bytes.begin(), frame.bytes.end()),
                      frame.last);
  });
  test::SendBench bench;
  bench.set_up(5, {0, 8, 0, false, false});
  FrameSender frames(sender, pool, {"ep1_receive", 4096});
  for (unsigned packet = 0; packet < 2; ++packet) {
    const Pbc pbc = test::pbc_of(2, 1);
    bench.write_packet(5, 2 * packet, pbc, static_cast<std::uint8_t>(packet + 1));
    bench.launch();
    bench.commit(1);
    frames.add(*bench.engine.leaving(1), pbc, bench.engine);
    bench.clear(1);
  }
  EXPECT_TRUE(came.empty());
  frames.start_window(Time{});
  EgressPort::Start start;
  start.queue = 1;
  start.ready = Time::from_ns(10);
  start.has_room = Time::from_ns(30);  // the peer lets it wait
  start.end = Time::from_ns(50);
  frames.start(start);
  frames.start(start);
  ASSERT_EQ(came.size(), 2U);
  for (unsigned packet = 0; packet < 2; ++packet) {
    const auto seed = static_cast<std::uint8_t>(packet + 1);
    const auto& [bytes, last] = came[packet];
    EXPECT_EQ(last, Time::from_ns(150));
    ASSERT_EQ(bytes.size(), 2U * 64 - 8);
    const test::Block first = test::packet_block(test::pbc_of(2, 1), 0, seed);
    const test::Block second = test::packet_block(test::pbc_of(2, 1), 1, seed);
    EXPECT_EQ(bytes.front(), first[8]);
    EXPECT_EQ(bytes[55], first[63]);
    EXPECT_EQ(bytes[56], second[0]);
    EXPECT_EQ(bytes.back(), second[63]);
  }
  EXPECT_EQ(frames.waits().count, 2U);
  EXPECT_EQ(frames.waits().total, Time::from_ns(40));
}

}  // namespace
}  // namespace flitwise::frame_sender_test
