// SPDX-License-Identifier: Apache-2.0
// What the device makes of the host's messages about handles. [DHI D8] [DHI D14] [DHI D16]
#include "endpoint/dhi_agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "model/endpoint/device_fakes.h"

namespace flitwise::dhi_agent_test {
namespace {

using testing::StrEq;
using Outcome = Handles::Outcome;

constexpr std::uint8_t kEpoch = 5;
constexpr DomainId kDomain{3};
constexpr Bdf kDevice = Bdf::of(1, 0, 0);

class DhiAgentTest : public ::testing::Test {
 protected:
  void make(AllocOrder order, Time by_handle = Time::from_ns(2), OnMiss on_miss = OnMiss::kBypass) {
    EndpointConfig config;
    config.link.identity = Identity::kDhi;
    config.link.dhi_form = DhiForm::kRidDirect;
    DeviceConfig& device = config.device;
    device.dhi.alloc_order = order;
    device.dhi.bits = 2;
    device.dhi.on_miss = on_miss;
    device.dhi.storage.timing.by_handle = by_handle;
    device.dhi.storage.timing.by_domain = Time::from_ns(3);
    agent_ = std::make_unique<DhiAgent>(
        config, DeviceParts{pool_, sizer_, functions_, control_, output_, events_}, tags_);
    negotiate(kEpoch);
  }
  void negotiate(std::uint8_t epoch) {
    const HandleEnd end{true, true, 2, epoch};
    agent_->negotiated(flitwise::negotiate(end, end, HandleRange::of_bits(2), true), false);
  }
  Handles::Answer acquire(DomainId domain, Op op = Op::kWrite) {
    output_.sent.clear();
    Transfer transfer;
    transfer.domain = domain;
    const DeviceIdentity identity(kDevice, Pasid{to_int(domain)}, false, false);
    return agent_->acquire(transfer, identity, op, tags_.free, Time{});
  }
  HandlePin acquire_for_line(DomainId domain) {
    Transfer transfer;
    transfer.domain = domain;
    return agent_->acquire_for_line(transfer, Time{}).pin;
  }
  std::uint64_t send(DomainId domain) {
    agent_->posted_sent(acquire(domain).pin);
    return agent_->posted_serial();
  }
  void flush_done(std::uint64_t serial) {
    OutstandingRequest flush;
    flush.request = pool_.make(PacketKind::kTlp);
    flush.request->purpose = HandlePurpose::kFlush;
    flush.posted_serial = serial;
    agent_->request_ended(flush, TransferStatus::kDone);
  }
  const char* receive(const DhiMessage& message, Bdf sender = kRootComplexId) {
    PacketRef packet = pool_.make(PacketKind::kTlp);
    write_dhi_message(*packet, sender, message, kDevice);
    return agent_->receive(*packet);
  }
  const char* ack(Dhi dhi, HandleStatus status, std::uint8_t epoch = kEpoch) {
    return receive(AllocAckMessage{dhi, status, epoch});
  }
  const char* error(Dhi dhi, HandleStatus status, std::uint8_t epoch = kEpoch) {
    return receive(HandleErrorMessage{dhi, status, epoch});
  }

  const char* order(std::uint8_t tag, Dhi dhi, std::uint8_t epoch = kEpoch) {
    return receive(DeallocOrder{{DeallocScope::kOne, dhi, Dhi{}, Bdf{}, epoch}, tag});
  }
  /// The DONEs that go out now.
  std::vector<DeallocDone> drained() {
    output_.sent.clear();
    agent_->drain(Time{});
    std::vector<DeallocDone> answers;
    for (const test::FakeOutput::Sent& one : output_.sent) {
      const Packet& packet = *one.packet;
      const DhiMessage message =
          parse_dhi_message(packet.tlp, packet.payload.data(), packet.payload.size());
      if (const auto* done = std::get_if<DeallocDone>(&message)) {
        answers.push_back(*done);
      }
    }
    return answers;
  }

  PacketPool pool_;
  PacketSizer sizer_{LinkConfig(), MessageConfig(), 2};
  test::RunningFunctions functions_{test::device_of(4)};
  RequestControl control_{128, 128, false, false};
  test::FakeOutput output_;
  test::FakeTags tags_;
  test::FakeEvents events_;
  std::unique_ptr<DhiAgent> agent_;
};

// [DHI D8]
TEST_F(DhiAgentTest, D8_AckCountsForTheOutstandingAllocationOfItsEpochAlone) {
  make(AllocOrder::kAck);
  const Dhi dhi = acquire(kDomain).dhi;
  EXPECT_THAT(ack(dhi, HandleStatus::kOk, kEpoch + 1), StrEq("stale_alloc_ack"));
  EXPECT_TRUE(acquire(kDomain).must_keep_order);
  EXPECT_THAT(ack(Dhi{static_cast<std::uint16_t>(to_int(dhi) + 1)}, HandleStatus::kOk),
              StrEq("stale_alloc_ack"));
  EXPECT_TRUE(acquire(kDomain).must_keep_order);
  EXPECT_EQ(ack(dhi, HandleStatus::kOk), nullptr);
  EXPECT_FALSE(acquire(kDomain).must_keep_order);
  EXPECT_EQ(agent_->result("ep0", Time{}).acks, 1U);
}

// [DHI D8]
TEST_F(DhiAgentTest, D8_SecondAckOfAnAllocationChangesNothing) {
  make(AllocOrder::kAck);
  const Dhi dhi = acquire(kDomain).dhi;
  EXPECT_EQ(ack(dhi, HandleStatus::kOk), nullptr);
  EXPECT_THAT(ack(dhi, HandleStatus::kPasidNotGranted), StrEq("stale_alloc_ack"));
  EXPECT_EQ(acquire(kDomain).outcome, Outcome::kHandle);
}

// [DHI S1] [DHI D8]
TEST_F(DhiAgentTest, S1_WhatAPeerSaysOfAHandleChangesNothing) {
  constexpr Bdf kPeer = Bdf::of(9, 0, 0);
  make(AllocOrder::kAck);
  const Dhi dhi = acquire(kDomain).dhi;
  EXPECT_THAT(receive(AllocAckMessage{dhi, HandleStatus::kOk, kEpoch}, kPeer),
              StrEq("foreign_handle_answer"));
  EXPECT_TRUE(acquire(kDomain).must_keep_order);
  EXPECT_THAT(receive(HandleErrorMessage{dhi, HandleStatus::kPasidNotGranted, kEpoch}, kPeer),
              StrEq("foreign_handle_answer"));
  EXPECT_EQ(acquire(kDomain).outcome, Outcome::kHandle);
  EXPECT_EQ(ack(dhi, HandleStatus::kOk), nullptr);
}

// [DHI D8]
TEST_F(DhiAgentTest, D8_AckIsStaleWhereNobodyAskedForOne) {
  make(AllocOrder::kFlush);
  const Dhi dhi = acquire(kDomain).dhi;
  EXPECT_THAT(ack(dhi, HandleStatus::kOk), StrEq("stale_alloc_ack"));
  EXPECT_TRUE(acquire(kDomain).must_keep_order);
}

// The flush is for a victim, and has come back past the ALLOC_ACK. [DHI D8]
TEST_F(DhiAgentTest, D8_FlushIsNoAcknowledgement) {
  make(AllocOrder::kAck);
  std::uint64_t serial = 0;
  for (std::uint32_t domain = 0; domain < 4; ++domain) {
    serial = send(DomainId{domain});
  }
  EXPECT_EQ(acquire(DomainId{9}).outcome, Outcome::kFull);
  ASSERT_EQ(agent_->flushes(), 1U);
  flush_done(serial);
  const Handles::Answer use = acquire(DomainId{2});
  EXPECT_TRUE(use.must_keep_order);
  EXPECT_EQ(ack(use.dhi, HandleStatus::kOk), nullptr);
  EXPECT_FALSE(acquire(DomainId{2}).must_keep_order);
}

// Two ALLOCs; the flush that is out left between them. [DHI D8]
class FlushBetweenAllocs : public DhiAgentTest {
 protected:
  FlushBetweenAllocs() {
    make(AllocOrder::kFlush);
    before_ = acquire(kBefore).dhi;
    behind_ = acquire(kBehind).dhi;
  }
  static constexpr DomainId kBefore{1}, kBehind{2};
  Dhi before_{}, behind_{};
};

TEST_F(FlushBetweenAllocs, D8_CoversTheOneBeforeIt) {
  ASSERT_EQ(agent_->flushes(), 1U);
  flush_done(agent_->posted_serial());
  EXPECT_FALSE(acquire(kBefore).must_keep_order);
  EXPECT_TRUE(acquire(kBehind).must_keep_order);
}

TEST_F(FlushBetweenAllocs, D8_CoversTheOneBeforeItWhereTheOtherIsRefused) {
  EXPECT_THAT(error(behind_, HandleStatus::kPasidNotGranted), StrEq("alloc_refused"));
  flush_done(agent_->posted_serial());
  EXPECT_FALSE(acquire(kBefore).must_keep_order);
}

TEST_F(FlushBetweenAllocs, D8_DoesNotCoverTheOneBehindItWhereTheOtherIsRefused) {
  EXPECT_THAT(error(before_, HandleStatus::kPasidNotGranted), StrEq("alloc_refused"));
  flush_done(agent_->posted_serial());
  EXPECT_TRUE(acquire(kBehind).must_keep_order);
  EXPECT_EQ(agent_->flushes(), 2U);
  flush_done(agent_->posted_serial());
  EXPECT_FALSE(acquire(kBehind).must_keep_order);
}

// [DHI D4]
TEST_F(DhiAgentTest, D4_AckFromBeforeAResetIsStale) {
  make(AllocOrder::kAck);
  const Dhi dhi = acquire(kDomain).dhi;
  negotiate(kEpoch + 1);
  EXPECT_EQ(acquire(kDomain).dhi, dhi);
  EXPECT_THAT(ack(dhi, HandleStatus::kPasidNotGranted), StrEq("stale_alloc_ack"));
  EXPECT_EQ(acquire(kDomain).outcome, Outcome::kHandle);
}

// [DHI D9] [DHI D10]
TEST_F(DhiAgentTest, D9_BypassingDomainAsksByOneFlushWhetherAVictimIsIdle) {
  make(AllocOrder::kNone);
  constexpr DomainId kNewDomain{9};
  std::uint64_t serial = 0;
  for (std::uint32_t domain = 0; domain < 4; ++domain) {
    serial = send(DomainId{domain});
  }
  EXPECT_EQ(acquire(kNewDomain).outcome, Outcome::kFull);
  ASSERT_EQ(output_.sent.size(), 1U);
  EXPECT_EQ(output_.sent[0].packet->purpose, HandlePurpose::kFlush);
  EXPECT_EQ(acquire(kNewDomain).outcome, Outcome::kFull);
  EXPECT_TRUE(output_.sent.empty()) << "one is out at a time";
  flush_done(serial);
  EXPECT_EQ(acquire(kNewDomain).outcome, Outcome::kHandle);
  EXPECT_EQ(agent_->result("ep0", Time{}).bypasses, 2U);
}

// [DHI D9] [DHI D10] [CXL-7.8]
TEST_F(DhiAgentTest, D10_LineThatLetsGoOfItsHandleHasATlpThatWaitsForOneLookedAt) {
  make(AllocOrder::kNone, Time::from_ns(2), OnMiss::kStall);
  HandlePin last;
  for (const std::uint32_t domain : {0U, 1U, 2U, 3U}) {
    last = acquire_for_line(DomainId{domain});
    ASSERT_TRUE(last);
  }
  const DomainId fifth{4};
  ASSERT_EQ(acquire(fifth).outcome, Outcome::kWait);
  output_.wakes.clear();
  agent_->line_over(last, Time::from_ns(7));
  EXPECT_THAT(output_.wakes, testing::ElementsAre(Time::from_ns(7)));
  EXPECT_EQ(acquire(fifth).dhi, last.dhi);
}

// [DHI D10]
TEST_F(DhiAgentTest, D10_LineThatLetsGoOfItsHandleWakesNobodyWhereNobodyWaits) {
  make(AllocOrder::kNone, Time::from_ns(2), OnMiss::kStall);
  const HandlePin line = acquire_for_line(DomainId{0});
  output_.wakes.clear();
  agent_->line_over(line, Time::from_ns(7));
  EXPECT_TRUE(output_.wakes.empty());
}

// [DHI D9] [DHI D14]
TEST_F(DhiAgentTest, D9_RefusedDomainGoesInFullUntilItsContextStartsAgain) {
  make(AllocOrder::kAck);
  EXPECT_THAT(ack(acquire(kDomain).dhi, HandleStatus::kPasidNotGranted), StrEq("alloc_refused"));
  EXPECT_EQ(acquire(kDomain).outcome, Outcome::kFull);
  EXPECT_TRUE(output_.sent.empty()) << "it asks no more";
  EXPECT_EQ(acquire(DomainId{4}).outcome, Outcome::kHandle);
  EXPECT_EQ(agent_->result("ep0", Time{}).bypasses, 1U);
  agent_->end_context(kDomain);
  EXPECT_EQ(acquire(kDomain).outcome, Outcome::kHandle);
}

// [DHI D9] [DHI D14]
TEST_F(DhiAgentTest, D9_RefusedDomainAsksAgainInANewEpoch) {
  make(AllocOrder::kFlush);
  EXPECT_THAT(error(acquire(kDomain).dhi, HandleStatus::kTrustNotGranted), StrEq("alloc_refused"));
  EXPECT_EQ(acquire(kDomain).outcome, Outcome::kFull);
  negotiate(kEpoch + 1);
  EXPECT_EQ(acquire(kDomain).outcome, Outcome::kHandle);
}

// [DHI D11]
TEST_F(DhiAgentTest, D11_HandleThatWasInUseIsAskedForAgain) {
  make(AllocOrder::kFlush);
  EXPECT_THAT(error(acquire(kDomain).dhi, HandleStatus::kHandleInUse), StrEq("alloc_refused"));
  EXPECT_EQ(acquire(kDomain).outcome, Outcome::kHandle);
  EXPECT_FALSE(output_.sent.empty());
}

// [DHI D16]
TEST_F(DhiAgentTest, D16_ErrorOfAnotherEpochChangesNothing) {
  make(AllocOrder::kNone);
  const Dhi dhi = acquire(kDomain).dhi;
  EXPECT_THAT(error(dhi, HandleStatus::kNoValidEntry, kEpoch - 1), StrEq("stale_handle_error"));
  EXPECT_EQ(acquire(kDomain).dhi, dhi);
  EXPECT_TRUE(output_.sent.empty());
}

// [DHI D16]
TEST_F(DhiAgentTest, D16_HandleThatTheHostDoesNotKnowIsAllocatedAnew) {
  make(AllocOrder::kNone);
  EXPECT_THAT(error(acquire(kDomain).dhi, HandleStatus::kNoValidEntry),
              StrEq("handle_unknown_to_host"));
  EXPECT_EQ(acquire(kDomain).outcome, Outcome::kHandle);
  EXPECT_FALSE(output_.sent.empty());
}

// A use that failed was sent before the ALLOC that is under way. [DHI D16]
TEST_F(DhiAgentTest, D16_LateErrorOfAFormerOwnerLeavesTheNextOneAlone) {
  make(AllocOrder::kAck);
  const Dhi dhi = acquire(kDomain).dhi;
  EXPECT_THAT(error(dhi, HandleStatus::kNoValidEntry), StrEq("stale_handle_error"));
  EXPECT_EQ(ack(dhi, HandleStatus::kOk), nullptr);
}

// The new entry is written before its ALLOC leaves. [DHI D3] [DHI D8]
TEST_F(DhiAgentTest, D3_AllocationTakesASearchInVainAndAWriteByHandle) {
  make(AllocOrder::kAck, Time::from_ns(40));
  EXPECT_EQ(acquire(kDomain).latency, Time::from_ns(43));
  EXPECT_EQ(acquire(kDomain).latency, Time::from_ns(3));
}

// [DHI D3] [DHI D22]
TEST_F(DhiAgentTest, D22_HandleFromTheHostIsLookedUpByIndex) {
  make(AllocOrder::kAck, Time::from_ns(40));
  const Dhi dhi = acquire(kDomain).dhi;
  const DhiAgent::Addressee found = agent_->find_addressee(dhi);
  ASSERT_TRUE(found.entry);
  EXPECT_EQ(found.entry->domain, kDomain);
  EXPECT_EQ(found.latency, Time::from_ns(40));
  EXPECT_FALSE(agent_->find_addressee(Dhi{3}).entry);
  EXPECT_FALSE(agent_->find_addressee(Dhi{1000}).entry) << "outside of the device's range";
}

// [DHI D15] [DHI-33]
TEST_F(DhiAgentTest, D15_SixteenOrdersAreTakenWhateverIsUnderWayAndAnsweredInOneGo) {
  make(AllocOrder::kNone);
  const Handles::Answer use = acquire(kDomain, Op::kRead);
  for (std::uint8_t tag = 0; tag < kDeallocOrders; ++tag) {
    EXPECT_EQ(order(tag, use.dhi), nullptr);
    EXPECT_THAT(order(tag, use.dhi), StrEq("handle_order_tag_in_use"));
  }
  EXPECT_TRUE(drained().empty());
  OutstandingRequest read;
  read.pin = use.pin;
  agent_->let_go(read, false);
  const std::vector<DeallocDone> answers = drained();
  ASSERT_EQ(answers.size(), kDeallocOrders);
  for (std::uint8_t tag = 0; tag < kDeallocOrders; ++tag) {
    EXPECT_EQ(answers[tag].tag, tag);
    EXPECT_EQ(answers[tag].status, HandleStatus::kOk);
    EXPECT_EQ(answers[tag].epoch, kEpoch);
  }
  EXPECT_FALSE(agent_->is_draining());
  EXPECT_EQ(order(0, use.dhi), nullptr) << "there is room again";
}

// [DHI D15]
TEST_F(DhiAgentTest, D15_AnOrderThatCannotBeDoneIsAnsweredAtOnce) {
  make(AllocOrder::kNone);
  const Dhi dhi = acquire(kDomain).dhi;
  EXPECT_EQ(order(1, Dhi{4}), nullptr);
  EXPECT_EQ(order(2, dhi, kEpoch + 1), nullptr);
  const std::vector<DeallocDone> answers = drained();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].status, HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(answers[1].status, HandleStatus::kEpochMismatch);
  EXPECT_EQ(answers[1].epoch, kEpoch + 1) << "the order's";
  EXPECT_EQ(acquire(kDomain).dhi, dhi);
}

// [DHI D4] [DHI D15]
TEST_F(DhiAgentTest, D4_OrdersFromBeforeAResetAreForgotten) {
  make(AllocOrder::kNone);
  const Handles::Answer use = acquire(kDomain, Op::kRead);
  EXPECT_EQ(order(1, use.dhi), nullptr);
  negotiate(kEpoch + 1);
  EXPECT_FALSE(agent_->is_draining());
  EXPECT_TRUE(drained().empty());
  EXPECT_EQ(acquire(kDomain).outcome, Outcome::kHandle);
  agent_->negotiated({}, false);
  EXPECT_THAT(order(1, use.dhi), StrEq("stale_handle_order"));
}

TEST_F(DhiAgentTest, MessagesThatOnlyADeviceSendsAreCounted) {
  make(AllocOrder::kAck);
  EXPECT_THAT(receive(AllocMessage{}), StrEq("bad_handle_message"));
  EXPECT_THAT(agent_->receive(*pool_.make(PacketKind::kTlp)), StrEq("bad_handle_message"));
}

}  // namespace
}  // namespace flitwise::dhi_agent_test
