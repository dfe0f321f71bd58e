// SPDX-License-Identifier: Apache-2.0
// Sequence numbers as a watcher counts them. [LNK-7.1] to [LNK-7.10]
#include "monitor/sequence_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "unit/monitor/monitor_support.h"

namespace flitwise::sequence_monitor_test {
namespace {

using test::dllp;
using test::packet;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SequenceMonitorTest : public ::testing::Test {
 protected:
  void send(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      sent.push_back(packet(pool, TlpType::kMWr));
      send_as(*sent.back(), (sent.size() - 1) & 0xfffU);
    }
  }
  void send_as(const Packet& one, unsigned sequence) {
    if (!monitor.fits(sequence)) {
      monitor.report(one, sequence, {});
    }
    monitor.sent(one, sequence);
  }
  void again(std::size_t index) { monitor.sent_again(*sent[index], index & 0xfffU, {}); }
  void deliver(std::size_t index) {
    const auto sequence = static_cast<unsigned>(index & 0xfffU);
    if (!monitor.fits_delivery(*sent[index], sequence)) {
      monitor.report_delivery(*sent[index], sequence, {});
    }
    monitor.delivered(sequence);
  }
  void acknowledge(unsigned sequence, DllpType type = DllpType::kAck) {
    const PacketRef ack = dllp(pool, type, static_cast<std::uint16_t>(sequence & 0xfffU));
    monitor.acknowledging(*ack, {});
    monitor.acknowledged(ack->dllp);
  }
  PacketPool pool;
  test::Reported reported;
  SequenceMonitor monitor{reported.reporter};
  std::vector<PacketRef> sent;
};

TEST_F(SequenceMonitorTest, ManyRoundsOfTheNumbersAreFine) {
  for (unsigned i = 0; i < 20'000; ++i) {
    send(1);
    deliver(i);
    if (i % 7 == 0) {
      acknowledge(i);
    }
  }
  EXPECT_THAT(reported.rules(), IsEmpty());
}

// [LNK-7.1]
TEST_F(SequenceMonitorTest, ASkippedNumberIsNoticed) {
  send(3);
  send_as(*packet(pool, TlpType::kMWr), 4);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-7.1"));
}

// [LNK-7.2]
TEST_F(SequenceMonitorTest, AtMost2048AreUnacknowledged) {
  send(2047);
  EXPECT_THAT(reported.rules(), IsEmpty());
  send(1);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-7.2"));
}

// [LNK-7.10] [LNK-7.3]
TEST_F(SequenceMonitorTest, AReplayRepeatsTheSamePacketsOldestFirst) {
  send(100);
  deliver(0);
  acknowledge(0, DllpType::kNak);
  for (std::size_t i = 1; i < 100; ++i) {
    again(i);
  }
  send(1);
  EXPECT_THAT(reported.rules(), IsEmpty());
  again(5);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-7.10"));
}
TEST_F(SequenceMonitorTest, AReplayOfAnotherPacketIsNoticed) {
  send(2);
  monitor.sent_again(*sent[1], 0, {});
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-7.3"));
}
TEST_F(SequenceMonitorTest, NewTlpsWaitForTheEndOfAReplay) {
  send(3);
  again(0);
  send(1);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-7.10"));
}
TEST_F(SequenceMonitorTest, AnAckInTheMiddleShortensAReplay) {
  send(5);
  again(0);
  for (std::size_t i = 0; i < 3; ++i) {
    deliver(i);
  }
  acknowledge(2);
  again(3);
  again(4);
  send(1);
  EXPECT_THAT(reported.rules(), IsEmpty());
}

// [LNK-7.5]
TEST_F(SequenceMonitorTest, ADeliveryOutOfOrderOrTwiceIsNoticed) {
  send(4);
  deliver(0);
  deliver(0);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-7.5"));
  deliver(2);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-7.5", "LNK-7.5"));
}

// [LNK-7.15] [LNK-7.4]
TEST_F(SequenceMonitorTest, NoAckGoesBeyondWhatWasDelivered) {
  send(4);
  deliver(0);
  acknowledge(0);
  EXPECT_THAT(reported.rules(), IsEmpty());
  acknowledge(1);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-7.15"));
  acknowledge(2, DllpType::kNak);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-7.15", "LNK-7.4"));
}

// 1 to 1023, round after round, with up to 511 of them open; 0 is reserved. [LNK-11.6]
TEST(SequenceMonitorOfFlits, NumbersRunFrom1To1023) {
  PacketPool pool;
  test::Reported reported;
  SequenceMonitor monitor(reported.reporter, SequenceMonitor::Numbered::kFlits);
  const PacketRef flit = pool.make(PacketKind::kFlit);
  const auto send = [&](unsigned sequence) {
    if (!monitor.fits(sequence)) {
      monitor.report(*flit, sequence, {});
    }
    monitor.sent(*flit, sequence);
  };
  const auto number = [](unsigned index) { return index % 1023 + 1; };
  for (unsigned i = 0; i < 5'000; ++i) {
    send(number(i));
    EXPECT_TRUE(monitor.fits_delivery(*flit, number(i)));
    monitor.delivered(number(i));
    if (i % 511 == 510) {
      const PacketRef ack = dllp(pool, DllpType::kAck, static_cast<std::uint16_t>(number(i)));
      monitor.acknowledging(*ack, {});
      monitor.acknowledged(ack->dllp);
    }
  }
  EXPECT_THAT(reported.rules(), IsEmpty());
  send(0);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-11.6"));
}

}  // namespace
}  // namespace flitwise::sequence_monitor_test
