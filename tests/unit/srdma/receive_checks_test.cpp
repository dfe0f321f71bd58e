// SPDX-License-Identifier: Apache-2.0
// Checks of what comes, in their order. [RX-1] [SEL-8]
#include "srdma/receive_checks.h"

#include <gtest/gtest.h>

#include "common/random.h"
#include "unit/srdma/two_ends.h"

namespace flitwise::receive_checks_test {
namespace {

using two_ends::TwoEnds;
using Kind = SessionEvent::Kind;
using Counter = ReceiveCounter;

constexpr std::size_t kIp = 14, kUdp = 34, kBth = 42;

/// Two ends with a group of two sessions.
struct Connected : TwoEnds {
  explicit Connected(const Change& change = {}) : TwoEnds(change) {
    connect(0);
    run_us(100);
  }
  std::uint32_t pair(unsigned end) { return group(end).pairs()[0].own; }
  ByteVector good() {
    ByteVector frame = data(0, {0, 0}, pair(1));
    groups(0).settle({0, 0}, 1, now);
    return frame;
  }
  /// Changes a field, and makes the checksums right again.
  static void seal(ByteVector& frame, std::size_t header, const RoceField& field,
                   std::uint64_t value) {
    put(&frame[header], field, value);
    RoceParts parts = read_roce(frame.data(), frame.size()).parts;
    parts.ip = kIp;
    parts.udp = kUdp;
    parts.bth = kBth;
    parts.icrc = frame.size() - kIcrcBytes;
    seal_roce(frame.data(), parts);
  }
  Counter with(std::size_t header, const RoceField& field, std::uint64_t value) {
    ByteVector frame = good();
    seal(frame, header, field, value);
    return deliver(1, frame);
  }
};

TEST(ReceiveChecks, RX_1_AGoodFrameIsForItsQueuePair) {
  Connected both;
  ByteVector frame = both.good();
  const ReceivedFrame received = both.at(1).receive(frame, both.now);
  EXPECT_EQ(received.outcome, Counter::kData);
  EXPECT_EQ(received.place, (SessionPlace{0, 0}));
  EXPECT_EQ(received.queue_pair, both.pair(1));
  EXPECT_EQ(received.parts.payload_bytes, 64U);
  EXPECT_EQ(both.at(1).checks().count(Counter::kData), 1U);
}

TEST(ReceiveChecks, KY_8_WithoutKeysAFrameIsRoceBehindUdp) {
  Connected both;
  const ByteVector frame = both.good();
  const RoceRead read = read_roce(frame.data(), frame.size());
  EXPECT_FALSE(read.flaw);
  EXPECT_TRUE(read.is_icrc_good);
  EXPECT_EQ(get(&frame[kUdp], RoceField{"dst_port", 16, 16}),
            both.group(0).session(0).tuple.destination_port);
}

TEST(ReceiveChecks, RX_1_EachCheckHasItsCounter) {
  Connected both;
  ByteVector frame = both.good();
  frame[kIp + 8] = 9;  // TTL, without a new checksum
  EXPECT_EQ(both.deliver(1, frame), Counter::kBadIp);
  EXPECT_EQ(both.with(kUdp, {"length", 32, 16}, 60), Counter::kBadUdpLength);
  EXPECT_EQ(both.with(kUdp, {"src_port", 0, 16}, 1), Counter::kUnknownTuple);
  frame = both.good();
  frame[kBth + 20] ^= 1;
  EXPECT_EQ(both.deliver(1, frame), Counter::kBadIcrc);
  EXPECT_EQ(both.with(kBth, roce_field::kTransportVersion, 1), Counter::kBadVersion);
  EXPECT_EQ(both.with(kBth, roce_field::kOpcode, 0x15), Counter::kBadOpcode);
  EXPECT_EQ(both.with(kBth, roce_field::kOpcode, 0x24), Counter::kBadTransport);  // UC
  EXPECT_EQ(both.with(kBth, {"dest_qp", 40, 24}, 0x999), Counter::kQpMismatch);
  for (const Counter counter :
       {Counter::kBadIp, Counter::kBadUdpLength, Counter::kUnknownTuple, Counter::kBadIcrc,
        Counter::kBadVersion, Counter::kBadOpcode, Counter::kBadTransport, Counter::kQpMismatch}) {
    EXPECT_EQ(both.at(1).checks().count(counter), 1U) << name_of(counter);
  }
  EXPECT_EQ(both.at(1).checks().count(Counter::kData), 0U);
}

// A frame with all of them wrong, put right one after the other.
TEST(ReceiveChecks, RX_1_TheFirstCheckThatFailsIsTheOnlyOne) {
  Connected both;
  const ByteVector good = both.good();
  ByteVector bad = good;
  bad[kIp + 10] ^= 0xff;     // checksum of IP
  bad[kUdp + 5] ^= 1;        // length of UDP
  bad[kUdp] ^= 0x40;         // source port
  bad[kBth + 1] |= 1;        // TVer
  bad[kBth] = 0x15;          // opcode
  bad[kBth + 7] ^= 0x55;     // DestQP
  bad[bad.size() - 1] ^= 1;  // ICRC
  const auto repair = [&](std::size_t byte) { bad[byte] = good[byte]; };
  EXPECT_EQ(both.deliver(1, bad), Counter::kBadIp);
  repair(kIp + 10);
  EXPECT_EQ(both.deliver(1, bad), Counter::kBadUdpLength);
  repair(kUdp + 5);
  EXPECT_EQ(both.deliver(1, bad), Counter::kUnknownTuple);
  repair(kUdp);
  EXPECT_EQ(both.deliver(1, bad), Counter::kBadIcrc);
  Connected::seal(bad, kBth, roce_field::kTransportVersion, 1);
  EXPECT_EQ(both.deliver(1, bad), Counter::kBadVersion);
  Connected::seal(bad, kBth, roce_field::kTransportVersion, 0);
  EXPECT_EQ(both.deliver(1, bad), Counter::kBadOpcode);
  Connected::seal(bad, kBth, roce_field::kOpcode, 0x04);
  EXPECT_EQ(both.deliver(1, bad), Counter::kQpMismatch);
}

TEST(ReceiveChecks, RX_C1_AQueuePairOfAnotherGroup) {
  Connected both;
  both.connect(0);
  both.run_us(100);
  ASSERT_EQ(both.open_groups(1), 2U);
  const std::uint32_t other = both.group(1, 1).pairs()[0].own;
  EXPECT_EQ(both.with(kBth, {"dest_qp", 40, 24}, other), Counter::kQpMismatch);
}

TEST(ReceiveChecks, SG_C3_GroupsToTheSamePeerShareNoTuple) {
  Connected both;
  both.connect(0, 20);
  both.run_us(100);
  std::vector<SessionTuple> seen;
  for (GroupSlot slot = 0; slot < 2; ++slot) {
    for (SessionSlot i = 0; i < both.group(0, slot).slots(); ++i) {
      const SessionTuple tuple = both.group(0, slot).session(i).tuple;
      EXPECT_EQ(std::count(seen.begin(), seen.end(), tuple), 0);
      seen.push_back(tuple);
    }
  }
  EXPECT_EQ(seen.size(), 22U);
}

TEST(ReceiveChecks, RX_C11_ATranslatedAddressOrPort) {
  Connected both;
  for (const RoceField& field : {RoceField{"src", 96, 32}, RoceField{"dst", 128, 32}}) {
    EXPECT_EQ(both.with(kIp, field, 0x0a000009), Counter::kUnknownTuple);
  }
  // To the tuple of the other session, with the checksum of IP alone put right.
  ByteVector frame = both.good();
  const SessionTuple other = both.group(0).session(1).tuple;
  put(&frame[kUdp], {"src_port", 0, 16}, other.source_port);
  put(&frame[kUdp], {"dst_port", 16, 16}, other.destination_port);
  EXPECT_EQ(both.deliver(1, frame), Counter::kBadIcrc);
}

TEST(ReceiveChecks, RX_C10_FieldsThatSwitchesChange) {
  Connected both;
  ByteVector frame = both.good();
  RoceParts parts = read_roce(frame.data(), frame.size()).parts;
  const std::uint32_t icrc = icrc_of(frame.data(), parts);
  frame[kIp + 1] = 0x8b;
  frame[kIp + 8] = 3;
  EXPECT_EQ(icrc_of(frame.data(), parts), icrc);
  seal_roce(frame.data(), parts);
  EXPECT_EQ(both.deliver(1, frame), Counter::kData);
}

TEST(ReceiveChecks, HS_C7_DataBeforeTheReplyIsOfNoSession) {
  TwoEnds both;
  both.connect(0);
  both.flush();
  const SessionTuple tuple = both.sent[0].sessions[0].tuple;
  const ReceivedFrame early =
      ReceiveChecks(both.groups(1), 4790).check(tuple, 0x200, std::nullopt, both.now);
  EXPECT_EQ(early.outcome, Counter::kUnknownTuple);
  both.run_us(5);  // the reply leaves
  const ReceivedFrame later =
      ReceiveChecks(both.groups(1), 4790).check(tuple, 0x200, std::nullopt, both.now);
  EXPECT_EQ(later.outcome, Counter::kData);
}

TEST(ReceiveChecks, SG_C8_DrainingReceivesAndClosedDoesNot) {
  Connected both;
  const ByteVector first = both.good(), second = both.good();
  both.groups(1).send({0, 0}, both.now);
  both.groups(1).drain({0, 0}, false, both.now);
  EXPECT_EQ(both.deliver(1, first), Counter::kData);
  both.groups(1).settle({0, 0}, 1, both.now);
  EXPECT_EQ(both.deliver(1, second), Counter::kUnknownTuple);
}

TEST(ReceiveChecks, SG_C6_ADetachedQueuePairReceivesNoMore) {
  Connected both;
  both.manager(0).attach(0, {0x150, 9}, both.now);
  both.run_us(100);
  const std::uint32_t first = both.pair(1), second = both.group(1).pairs()[1].own;
  const ByteVector late = both.data(0, {0, 0}, first), other = both.data(0, {0, 0}, second);
  both.manager(0).detach(0, 0x100, both.now);
  both.run_us(100);
  EXPECT_EQ(both.deliver(1, late), Counter::kQpMismatch);
  EXPECT_EQ(both.deliver(1, other), Counter::kData);
}

TEST(ReceiveChecks, SG_C4_ALatePacketOfAClosedSession) {
  Connected both([](SrdmaEndSetup& setup, unsigned /*end*/) {
    setup.ports.source = {100, 100};
    setup.ports.destination = {200, 202};
    setup.ports.quarantine = Time::from_us(500);
    setup.sessions.drain_timeout = Time::from_us(50);  // of the end that is asked
  });
  const ByteVector late = both.good();
  const SessionTuple closed = both.group(0).session(0).tuple;
  both.manager(0).delete_session({0, 0}, both.now);
  both.run_us(100);
  both.manager(0).add_session(0, both.now);
  both.run_us(100);
  EXPECT_EQ(both.group(0).sessions(), 2U);
  for (SessionSlot i = 0; i < both.group(0).slots(); ++i) {
    EXPECT_TRUE(both.group(0).session(i).state == SessionState::kClosed ||
                !(both.group(0).session(i).tuple == closed));
  }
  EXPECT_EQ(both.deliver(1, late), Counter::kUnknownTuple);
  EXPECT_EQ(both.manager(0).add_session(0, both.now).reason, CmReason::kNoPort);
  both.run_us(500);
  EXPECT_EQ(both.manager(0).add_session(0, both.now).reason, CmReason::kNone);
}

TEST(ReceiveChecks, RX_1_PlainUdpGoesToItsApplication) {
  Connected both;
  EXPECT_TRUE(both.groups(1).ports().bind(5000));
  EXPECT_EQ(both.with(kUdp, {"dst_port", 16, 16}, 5000), Counter::kPlainUdp);
  EXPECT_EQ(both.with(kUdp, {"dst_port", 16, 16}, 5001), Counter::kUnknownTuple);
}

TEST(ReceiveChecks, SEL_C10_AMillionGuessesReachNoQueuePair) {
  Connected both;
  Random random(7);
  const SessionTuple& session = both.group(0).session(0).tuple;
  ReceiveChecks checks(both.groups(1), 4790);
  constexpr int kGuesses = 1'000'000;
  for (int i = 0; i < kGuesses; ++i) {
    SessionTuple guess = session;
    guess.source_port = static_cast<std::uint16_t>(49152 + random.below(16384));
    guess.destination_port = static_cast<std::uint16_t>(49152 + random.below(16384));
    checks.check(guess, both.pair(1), std::nullopt, both.now);
  }
  EXPECT_EQ(checks.count(Counter::kUnknownTuple), static_cast<std::uint64_t>(kGuesses));
}

TEST(ReceiveChecks, SEL_C12_TheRightTupleWithoutSecurityLeavesChecksOfTheQueuePair) {
  Connected both;
  EXPECT_EQ(both.with(kBth, {"psn", 72, 24}, 0x123456), Counter::kData);  // a wrong PSN is its own
  EXPECT_EQ(both.with(kBth, {"dest_qp", 40, 24}, both.pair(1) + 1), Counter::kQpMismatch);
}

TEST(ReceiveChecks, RX_1_PacketsWithoutBytesMeetTheSameChecks) {
  Connected both(
      [](SrdmaEndSetup& setup, unsigned /*end*/) { setup.sessions.credentials.is_secured = true; });
  ReceiveChecks checks(both.groups(1), 4790);
  const SessionTuple tuple = both.group(0).session(0).tuple;
  const auto outcome = [&](const SessionTuple& of, std::uint32_t pair,
                           std::optional<EpochNumber> epoch) {
    return checks.check(of, pair, epoch, both.now).outcome;
  };
  EXPECT_EQ(outcome(tuple.reverse(), both.pair(1), 0), Counter::kUnknownTuple);
  EXPECT_EQ(outcome(tuple, both.pair(1), 0), Counter::kData);
  EXPECT_EQ(outcome(tuple, both.pair(1), std::nullopt), Counter::kAuth);
  EXPECT_EQ(outcome(tuple, both.pair(1), 1), Counter::kBadKey);
  EXPECT_EQ(outcome(tuple, both.pair(1) + 1, 0), Counter::kQpMismatch);
}

TEST(ReceiveChecks, SEL_8_ControlMessagesOfAnotherKeyAreDropped) {
  TwoEnds both;
  both.connect(0);
  both.flush();
  CmChannelRules rules = both.setups[0].channel;
  rules.provisioned.fill(0x43);
  ByteVector frame;
  CmChannel(rules).make(both.sent[0], two_ends::kLow, two_ends::kHigh, frame);
  EXPECT_EQ(both.deliver(1, frame), Counter::kControl);
  rules.is_plain = true;
  CmChannel(rules).make(both.sent[0], two_ends::kLow, two_ends::kHigh, frame);
  EXPECT_EQ(both.deliver(1, frame), Counter::kControl);
  EXPECT_EQ(both.at(1).channel().counts().auth, 2U);
  EXPECT_EQ(both.at(1).channel().counts().received, 0U);
  EXPECT_EQ(both.open_groups(1), 0U);
}

TEST(ReceiveChecks, SEL_8_ControlMessagesAreTakenOnceAndNoneOfAnOlderStart) {
  TwoEnds both([](SrdmaEndSetup& setup, unsigned end) { setup.channel.start = end == 0 ? 10 : 1; });
  both.connect(0);
  both.flush();
  const ByteVector first = both.wire.front().bytes;
  both.run_us(100);
  both.deliver(1, first);
  EXPECT_EQ(both.at(1).channel().counts().replayed, 1U);
  CmChannelRules older = both.setups[0].channel;
  older.start = 9;
  ByteVector frame;
  CmChannel(older).make(both.sent[0], two_ends::kLow, two_ends::kHigh, frame);
  both.deliver(1, frame);
  EXPECT_EQ(both.at(1).channel().counts().replayed, 2U);
}

// Frames with bytes changed anywhere: nothing reaches a queue pair that its sender did not send.
TEST(ReceiveChecks, RX_1_AnyBytesAreDroppedOrWhatWasSent) {
  for (const bool is_secured : {false, true}) {
    Connected both([is_secured](SrdmaEndSetup& setup, unsigned /*end*/) {
      setup.sessions.credentials.is_secured = is_secured;
    });
    Random random(11);
    for (int i = 0; i < 20'000; ++i) {
      ByteVector frame = both.good();
      const ByteVector sent = frame;
      for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
        frame[random.below(frame.size())] ^= static_cast<std::uint8_t>(1 + random.below(255));
      }
      frame.resize(random.below(10) == 0 ? random.below(frame.size() + 1) : frame.size());
      const std::uint64_t before = both.at(1).checks().count(Counter::kData);
      ByteVector seen = frame;
      const ReceivedFrame received = both.at(1).receive(seen, both.now);
      if (received.outcome == Counter::kData) {
        if (!is_secured) {
          frame[kBth + 4] = sent[kBth + 4];  // FECN and BECN, which switches may set
        }
        EXPECT_TRUE(std::equal(frame.begin() + kBth, frame.end(), sent.begin() + kBth)) << i;
      } else {
        EXPECT_EQ(both.at(1).checks().count(Counter::kData), before);
      }
    }
  }
}

}  // namespace
}  // namespace flitwise::receive_checks_test
