// SPDX-License-Identifier: Apache-2.0
// Transfers to TLPs and back, between stand-ins for link, handles and translations.
#include "endpoint/request_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "model/endpoint/device_fakes.h"
#include "tlp/splitter.h"

namespace flitwise::request_path_test {
namespace {

using test::FakeEngine;
using test::FakeEvents;
using test::FakeHandles;
using test::FakeOutput;
using test::RunningFunctions;
using testing::Each;
using testing::ElementsAre;
using testing::Field;

constexpr Time kPipeline = Time::from_ns(20);
constexpr Time kTimeout = Time::from_us(50);
constexpr std::uint64_t kBuffer = 0x1'0000'0000;

/// Says what the test has set of each TLP.
struct FakeTranslations final : Translations {
  NextTransfer next(TransferCursor& cursor, Time /*now*/) override {
    const bool is_there = parked.has_value();
    cursor = parked.value_or(cursor);
    parked.reset();
    return is_there ? NextTransfer::kSend : room ? NextTransfer::kNew : NextTransfer::kFull;
  }
  void begun(const Transfer& /*transfer*/, std::uint32_t /*slot*/, Time /*now*/) override {}
  Route route(const Transfer& /*transfer*/, const DeviceIdentity& /*identity*/,
              const TransferCursor& cursor, Time /*now*/) override {
    if (step == Step::kParked) {
      parked = cursor;
    }
    return {step, latency};
  }
  bool apply_route(Tlp& tlp, const DeviceIdentity& /*identity*/,
                   const RequestPiece& /*piece*/) override {
    tlp.at = AddressType::kTranslated;
    return false;
  }
  void drop(unsigned /*function*/, bool /*is_present*/,
            std::vector<std::uint32_t>& /*given_up*/) override {}
  void read_opened(unsigned /*function*/, std::uint16_t /*tag*/, bool /*is_flush*/) override {}
  void piece_gone(bool /*has_more*/) override {}
  void transfer_gone(Time /*now*/) override {}
  void read_ended(unsigned /*function*/, std::uint16_t /*tag*/, const Tlp& /*request*/,
                  TransferStatus /*status*/, Time /*now*/) override {}
  void complete(unsigned /*function*/, const Packet& /*packet*/, const OutstandingRequest& request,
                Time /*now*/) override {
    completed.push_back(request.transfer);
  }
  void give_up(unsigned /*function*/, const OutstandingRequest& request, Time /*now*/) override {
    given_up.push_back(request.transfer);
  }
  void end_context(DomainId /*domain*/, bool /*counts*/, Time /*now*/) override {}

  Step step = Step::kGo;
  Time latency{};
  bool room = true;
  std::optional<TransferCursor> parked;
  std::vector<std::uint32_t> completed, given_up;
};

class RequestPathTest : public testing::Test {
 protected:
  void make(EndpointConfig config = {}, Translations* translations = nullptr) {
    config.device.timing.pipeline = kPipeline;
    config.device.timing.completion_timeout = kTimeout;
    path_ = std::make_unique<RequestPath>(
        config, DeviceParts{pool_, sizer_, functions_, control_, output_, events_}, contexts_,
        counters_, tracer_);
    path_->connect(handles_, translations);
  }
  static Transfer transfer(Op op, std::uint64_t address, std::uint32_t bytes) {
    Transfer made;
    made.op = op;
    made.address = address;
    made.bytes = bytes;
    return made;
  }
  /// Begins it, and sends what can be sent.
  void send(const Transfer& transfer, Time now = {}) {
    path_->begin(engine_, transfer, now);
    go_on(now);
  }
  void go_on(Time now = {}) {
    while (path_->is_busy() && path_->send_next(now)) {
    }
  }
  /// Gives the request of this packet one completion with all its data.
  bool answer(std::size_t index, CplStatus status = CplStatus::kSC, Time now = {},
              bool is_poisoned = false) {
    const Tlp& request = output_.tlp(index);
    PacketRef packet = pool_.make(PacketKind::kTlp);
    Tlp& tlp = packet->tlp;
    start_completion(tlp, request);
    end_without_data(tlp, request, status);
    if (status == CplStatus::kSC) {
      CompletionPiece piece;
      CompletionSplitter(request, 4096, 64).next(piece);
      tlp.type = TlpType::kCplD;
      tlp.length_dw = piece.length_dw;
      tlp.byte_count = piece.byte_count;
      tlp.lower_address = piece.lower_address;
      tlp.is_poisoned = is_poisoned;
      packet->payload.resize(std::size_t{piece.length_dw} * 4);
      std::iota(packet->payload.begin(), packet->payload.end(), std::uint8_t{1});
    }
    return path_->complete(*packet, now);
  }

  PacketPool pool_;
  LatencyTracer tracer_{{}};
  PacketSizer sizer_{LinkConfig(), MessageConfig(), 8};
  RunningFunctions functions_{test::device_of(2)};
  DeviceContexts contexts_{0};
  RequestControl control_{128, 128, false, false};
  EndpointCounters counters_;
  FakeOutput output_;
  FakeEvents events_;
  FakeHandles handles_;
  FakeEngine engine_;
  std::unique_ptr<RequestPath> path_;
};

TEST_F(RequestPathTest, LNK_9_14_AWriteIsCutAtMpsAndAtPageBoundaries) {
  make();
  std::vector<std::uint8_t> bytes(300);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  Transfer write = transfer(Op::kWrite, kBuffer + 0x1000 - 64, 300);
  write.data = bytes.data();
  send(write, Time::from_ns(4));
  ASSERT_EQ(output_.sent.size(), 3U);
  const std::array<std::uint32_t, 3> sizes = {64, 128, 108};
  std::uint64_t address = write.address;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const Packet& packet = *output_.sent[i].packet;
    EXPECT_EQ(packet.tlp.address, address);
    EXPECT_EQ(packet.payload_bytes, sizes.at(i));
    EXPECT_EQ(std::memcmp(packet.payload.data(), bytes.data() + offset, sizes.at(i)), 0);
    EXPECT_EQ(output_.sent[i].ready, Time::from_ns(4) + kPipeline);
    address += sizes.at(i);
    offset += sizes.at(i);
  }
  ASSERT_EQ(engine_.ends.size(), 1U) << "over when its last TLP is sent";
  EXPECT_EQ(counters_.posted_bytes, 300U);
}

TEST_F(RequestPathTest, LNK_9_8_AReadWaitsForATagOfItsFunction) {
  EndpointConfig config;
  config.device.tag_bits = 5;
  make(config);
  for (unsigned i = 0; i < 32; ++i) {
    send(transfer(Op::kRead, kBuffer + i * 128U, 128));
  }
  EXPECT_EQ(output_.sent.size(), 32U);
  send(transfer(Op::kRead, kBuffer, 128), Time::from_ns(10));
  EXPECT_EQ(output_.sent.size(), 32U);
  EXPECT_TRUE(path_->is_busy());
  ASSERT_TRUE(answer(5, CplStatus::kSC, Time::from_ns(30)));
  go_on(Time::from_ns(30));
  ASSERT_EQ(output_.sent.size(), 33U);
  EXPECT_EQ(output_.tlp(32).tag, output_.tlp(5).tag);
  EXPECT_EQ(path_->tag_stall(Time::from_ns(99)).time, Time::from_ns(20));
}

TEST_F(RequestPathTest, LNK_9_25_TheEngineHasItsDataAtOnceAndItsEndBehindThePipeline) {
  make();
  send(transfer(Op::kRead, kBuffer + 1, 6));
  ASSERT_TRUE(answer(0, CplStatus::kSC, Time::from_ns(100)));
  EXPECT_THAT(engine_.bytes, ElementsAre(2, 3, 4, 5, 6, 7));
  EXPECT_TRUE(engine_.ends.empty());
  EXPECT_EQ(path_->next_end(), Time::from_ns(100) + kPipeline);
  EXPECT_THAT(output_.ends, ElementsAre(path_->next_end()));
  path_->end_due(path_->next_end());
  ASSERT_EQ(engine_.ends.size(), 1U);
  EXPECT_EQ(engine_.ends[0].status, TransferStatus::kDone);
  EXPECT_TRUE(path_->is_quiet());
}

TEST_F(RequestPathTest, LNK_9_26_PoisonedDataIsNotGivenToTheEngine) {
  make();
  send(transfer(Op::kRead, kBuffer, 64));
  ASSERT_TRUE(answer(0, CplStatus::kSC, Time{}, true));
  path_->end_due(kPipeline);
  EXPECT_TRUE(engine_.bytes.empty());
  ASSERT_EQ(engine_.ends.size(), 1U);
  EXPECT_EQ(engine_.ends[0].status, TransferStatus::kPoisoned);
  EXPECT_THAT(events_.reports, ElementsAre(testing::Pair(0U, "poisoned_tlp")));
  EXPECT_EQ(counters_.failed_bytes, 64U);
}

TEST_F(RequestPathTest, LNK_9_18_ARequestWithoutAnswerFreesItsTagAndItsAnswerIsUnexpected) {
  make();
  send(transfer(Op::kRead, kBuffer, 64));
  EXPECT_THAT(output_.wakes, ElementsAre(kTimeout));
  path_->check_timeouts(kTimeout - Time{1});
  EXPECT_EQ(path_->outstanding(), 1U);
  output_.sent[0].packet->stamp(Hop::kSent, Time::from_ns(7));  // its time begins on the wire
  path_->check_timeouts(kTimeout);
  EXPECT_EQ(path_->outstanding(), 1U);
  path_->check_timeouts(kTimeout + Time::from_ns(7));
  EXPECT_EQ(path_->outstanding(), 0U);
  EXPECT_THAT(events_.timeouts, ElementsAre(0U));
  EXPECT_THAT(events_.counted, ElementsAre("completion_timeout"));
  path_->end_due(Time::never());
  ASSERT_EQ(engine_.ends.size(), 1U);
  EXPECT_EQ(engine_.ends[0].status, TransferStatus::kTimeout);
  EXPECT_FALSE(answer(0)) << "no request waits for it any more";
}

// So many reads of one TLP time out that no tag is left; those that go behind them have to wait.
TEST_F(RequestPathTest, LNK_9_18_ATagIsHeldBackUntilTheLastLateCompletionHasCome) {
  EndpointConfig config;
  config.device.tag_bits = 5;
  make(config);
  control_.mrrs = 1024;
  for (int i = 0; i < 32; ++i) {
    send(transfer(Op::kRead, kBuffer, 512));
    output_.sent.back().packet->stamp(Hop::kSent, {});
  }
  path_->check_timeouts(kTimeout);
  EXPECT_EQ(path_->outstanding(), 0U);
  EXPECT_EQ(path_->held_tags(), 32U);
  EXPECT_THAT(path_->checks("ep0"), Each(Field(&CheckResult::ok, true)));
  send(transfer(Op::kRead, kBuffer, 64), kTimeout);
  EXPECT_EQ(output_.sent.size(), 32U) << "all tags are held back";
  EXPECT_EQ(path_->tag_stall(kTimeout).count, 1U);
  const PacketRef part = pool_.make(PacketKind::kTlp);
  start_completion(part->tlp, output_.tlp(5));
  part->tlp.type = TlpType::kCplD;
  part->tlp.length_dw = 32;
  part->tlp.byte_count = 512;
  EXPECT_FALSE(path_->complete(*part, kTimeout)) << "nobody waits for it";
  go_on(kTimeout);
  EXPECT_EQ(output_.sent.size(), 32U) << "more will come";
  EXPECT_FALSE(answer(5, CplStatus::kUR, kTimeout)) << "an error is the last";
  go_on(kTimeout);
  ASSERT_EQ(output_.sent.size(), 33U);
  EXPECT_EQ(output_.tlp(32).tag, output_.tlp(5).tag);
  EXPECT_TRUE(answer(32, CplStatus::kSC, kTimeout));
}

TEST_F(RequestPathTest, LNK_9_18_TagsForWhichNothingComesAreFreeAfterTheLongestCompletion) {
  EndpointConfig config;
  config.device.tag_bits = 5;
  make(config);
  for (int i = 0; i < 32; ++i) {
    send(transfer(Op::kRead, kBuffer, 64));
    output_.sent.back().packet->stamp(Hop::kSent, {});
  }
  path_->check_timeouts(kTimeout);
  const Time free = kTimeout + std::max(kTimeout, kLongestCompletion);
  EXPECT_EQ(path_->next_release(), free);
  EXPECT_EQ(output_.wakes.back(), free);
  const std::uint64_t before = counters_.settled;
  path_->check_timeouts(free - Time{1});
  EXPECT_EQ(path_->held_tags(), 32U);
  path_->check_timeouts(free);
  EXPECT_EQ(path_->held_tags(), 0U);
  EXPECT_EQ(path_->next_release(), Time{});
  EXPECT_EQ(counters_.settled, before + 32U) << "which is progress";
  send(transfer(Op::kRead, kBuffer, 64), free);
  EXPECT_EQ(output_.sent.size(), 33U);
}

// Nothing comes over a link that has gone down. [LNK-10.6]
TEST_F(RequestPathTest, LNK_9_18_ALostLinkFreesAllTags) {
  make();
  send(transfer(Op::kRead, kBuffer, 64));
  output_.sent[0].packet->stamp(Hop::kSent, {});
  path_->check_timeouts(kTimeout);
  EXPECT_EQ(path_->held_tags(), 1U);
  send(transfer(Op::kRead, kBuffer, 64), kTimeout);
  path_->link_lost(kTimeout);
  EXPECT_EQ(path_->held_tags(), 0U);
}

TEST_F(RequestPathTest, LNK_9_19_AnErrorStatusEndsTheTransferWhenAllOfItIsBack) {
  make();
  send(transfer(Op::kRead, kBuffer, 256));
  ASSERT_EQ(output_.sent.size(), 2U);
  ASSERT_TRUE(answer(0, CplStatus::kUR));
  path_->end_due(kPipeline);
  EXPECT_TRUE(engine_.ends.empty());
  ASSERT_TRUE(answer(1));
  path_->end_due(kPipeline);
  ASSERT_EQ(engine_.ends.size(), 1U);
  EXPECT_EQ(engine_.ends[0].status, TransferStatus::kUnsupportedRequest);
}

TEST_F(RequestPathTest, LNK_9_1_AnInterruptIsNeverRelaxed) {
  make();
  control_.relaxed_ordering = control_.id_based_ordering = true;
  send(transfer(Op::kWrite, kBuffer, 4));
  send(transfer(Op::kMsi, 0xfee0'0000, 4));
  EXPECT_TRUE(output_.tlp(0).relaxed_ordering && output_.tlp(0).id_based_ordering);
  EXPECT_FALSE(output_.tlp(1).relaxed_ordering || output_.tlp(1).id_based_ordering);
}

TEST_F(RequestPathTest, TCP_14_ReadsAndWritesHaveNoSnoopAndInterruptsNever) {
  make();
  control_.no_snoop = true;
  send(transfer(Op::kWrite, kBuffer, 4));
  send(transfer(Op::kRead, kBuffer, 4));
  send(transfer(Op::kMsi, 0xfee0'0000, 4));
  EXPECT_TRUE(output_.tlp(0).no_snoop && output_.tlp(1).no_snoop);
  EXPECT_FALSE(output_.tlp(2).no_snoop);
}

TEST_F(RequestPathTest, LNK_9_27_ATransferWaitsWhileItsFunctionMayNotSend) {
  make();
  functions_.enable_vf(1, false);
  Transfer of_vf = transfer(Op::kWrite, kBuffer, 64);
  of_vf.domain = DomainId{1};
  send(of_vf);
  EXPECT_TRUE(output_.sent.empty());
  functions_.enable_vf(1, true);
  go_on();
  ASSERT_EQ(output_.sent.size(), 1U);
  EXPECT_EQ(output_.tlp(0).requester_id, Bdf::of(1, 0, 1));
}

TEST_F(RequestPathTest, DHI_D9_ATlpWaitsForItsHandleAndGoesWithIt) {
  EndpointConfig config;
  config.link.identity = Identity::kDhi;
  make(config);
  handles_.active = true;
  handles_.answer.outcome = Handles::Outcome::kWait;
  send(transfer(Op::kWrite, kBuffer, 64));
  EXPECT_TRUE(output_.sent.empty());
  handles_.answer.outcome = Handles::Outcome::kHandle;
  handles_.answer.dhi = Dhi{3};
  handles_.answer.pin = {Dhi{3}, 1};
  handles_.answer.latency = Time::from_ns(4);
  go_on();
  ASSERT_EQ(output_.sent.size(), 1U);
  EXPECT_TRUE(output_.tlp(0).id_is_handle);
  EXPECT_EQ(output_.sent[0].ready, kPipeline + Time::from_ns(4));
  path_->sent(*output_.sent[0].packet, output_.sent[0].pin);
  EXPECT_EQ(handles_.posted.size(), 1U);
}

// [DHI D10]
TEST_F(RequestPathTest, DHI_D10_AReadTellsOfThePostedUsesBeforeIt) {
  make();
  handles_.active = true;
  send(transfer(Op::kRead, kBuffer, 64));
  handles_.serial = 17;
  path_->sent(*output_.sent[0].packet, {});
  handles_.serial = 18;
  ASSERT_TRUE(answer(0));
  EXPECT_THAT(handles_.ended, ElementsAre(testing::Pair(17U, TransferStatus::kDone)));
}

// Amid a transfer: the other function goes past it. What is out still has its answer, and the
// engine hears of one end.
TEST_F(RequestPathTest, HP_4_WhatAFunctionMayNotSendIsGivenUpAndNobodyWaits) {
  make();
  functions_.keep_apart();
  Transfer first = transfer(Op::kRead, kBuffer, 256), later = transfer(Op::kWrite, kBuffer, 64);
  first.domain = later.domain = DomainId{1};
  path_->begin(engine_, first, {});
  ASSERT_TRUE(path_->send_next({}));
  functions_.enable_vf(1, false);
  EXPECT_TRUE(path_->send_next({})) << "there may be more to send";
  EXPECT_FALSE(path_->is_busy());
  send(transfer(Op::kRead, kBuffer, 64));
  EXPECT_EQ(output_.sent.size(), 2U);
  send(later);
  EXPECT_EQ(output_.sent.size(), 2U);
  path_->end_due(kPipeline);
  ASSERT_EQ(engine_.ends.size(), 1U) << "of the last one";
  EXPECT_EQ(engine_.ends[0].status, TransferStatus::kContextEnded);
  ASSERT_TRUE(answer(0, CplStatus::kSC, Time::from_ns(100)));
  ASSERT_TRUE(answer(1, CplStatus::kSC, Time::from_ns(200)));
  path_->end_due(Time::from_ns(200) + kPipeline);
  ASSERT_EQ(engine_.ends.size(), 3U);
  EXPECT_EQ(engine_.ends[1].status, TransferStatus::kContextEnded);
  EXPECT_EQ(engine_.ends[2].status, TransferStatus::kDone);
  EXPECT_TRUE(path_->is_quiet());
}

TEST_F(RequestPathTest, ATR_14_OtherTransfersPassOneThatWaitsForItsTranslation) {
  FakeTranslations translations;
  make({}, &translations);
  translations.step = Translations::Step::kParked;
  send(transfer(Op::kRead, kBuffer, 256));
  EXPECT_FALSE(path_->is_busy());
  ASSERT_TRUE(translations.parked);
  const std::optional<TransferCursor> waiting = std::exchange(translations.parked, std::nullopt);
  translations.step = Translations::Step::kGo;
  ASSERT_EQ(path_->next({}), NextTransfer::kNew);
  send(transfer(Op::kRead, kBuffer + 0x1000, 64));
  EXPECT_EQ(output_.sent.size(), 1U);
  translations.parked = waiting;
  ASSERT_EQ(path_->next({}), NextTransfer::kSend);
  go_on();
  ASSERT_EQ(output_.sent.size(), 3U);
  EXPECT_EQ(output_.tlp(1).address, kBuffer);
  EXPECT_EQ(output_.tlp(2).at, AddressType::kTranslated);
}

TEST_F(RequestPathTest, TCP_01_ATranslationCompletionGoesToTheTranslations) {
  FakeTranslations translations;
  make({}, &translations);
  translations.room = false;
  EXPECT_EQ(path_->next({}), NextTransfer::kFull);
  PacketRef request = pool_.make(PacketKind::kTlp);
  request->tlp.type = TlpType::kMRd;
  request->tlp.at = AddressType::kTranslationRequest;
  request->tlp.requester_id = Bdf::of(1, 0, 0);
  request->tlp.length_dw = 2;
  path_->open_translation(0, request, {}, 9, {});
  output_.send(request, {}, {});
  EXPECT_TRUE(answer(0));
  EXPECT_THAT(translations.completed, ElementsAre(9U));
  EXPECT_TRUE(engine_.bytes.empty());
  request->stamp(Hop::kSent, Time::from_ns(1));
  path_->check_timeouts(kTimeout + Time::from_ns(1));
  EXPECT_THAT(translations.given_up, ElementsAre(9U));
  EXPECT_EQ(path_->outstanding(), 0U);
}

}  // namespace
}  // namespace flitwise::request_path_test
