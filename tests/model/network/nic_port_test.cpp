// SPDX-License-Identifier: Apache-2.0
// Network ports whose frames are captured: where they leave and where they arrive, with the times
// that their users are told.
#include "network/nic_port.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/input_file.h"
#include "support/temporary_folder.h"

namespace flitwise::nic_port_test {
namespace {

TEST(NicPort, AFrameIsCapturedWhereItLeavesAndWhereItArrives) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/frames.pcapng";
  FramePool pool;
  FrameCapture capture(path);
  NicPort sender("sender", Time::from_ns(105)), receiver("receiver", Time::from_ns(1));
  sender.to_wire.bind(receiver.from_wire);
  std::vector<std::uint64_t> numbers;
  receiver.on_frame([&](const Frame& frame) { numbers.push_back(frame.number); });
  const auto send = [&](std::int64_t end) {
    const FrameRef frame = pool.make(64);
    frame->number = 0;
    sender.send(*frame, Time::from_ns(end));
  };
  send(10);  // nobody watches yet
  receiver.watch(capture, capture.add({"receiver", ""}));
  sender.watch(capture, capture.add({"sender", ""}));
  send(20);
  send(30);
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(sender.sent(), 3U);
  capture.flush(Time::from_ns(125));
  const std::string text = read_own_file(path).text;
  EXPECT_NE(text.find("20000.000 ps"), std::string::npos);  // left
  EXPECT_NE(text.find("30000.000 ps"), std::string::npos);
  EXPECT_NE(text.find("125000.000 ps"), std::string::npos);  // arrived
  EXPECT_EQ(text.find("135000.000 ps"), std::string::npos);  // still on the wire
  EXPECT_EQ(text.find("10000.000 ps"), std::string::npos);
}

}  // namespace
}  // namespace flitwise::nic_port_test
