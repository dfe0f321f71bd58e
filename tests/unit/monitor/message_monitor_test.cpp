// SPDX-License-Identifier: Apache-2.0
// Messages of CXL.cache and CXL.mem as a watcher sees them. [COH-1.3] to [COH-1.5] [CXL-3.1]
#include "monitor/message_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "cxl/channels.h"
#include "unit/monitor/monitor_support.h"

namespace flitwise::message_monitor_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class MessageMonitorTest : public ::testing::Test {
 protected:
  template <class Opcode>
  PacketRef message(CxlChannel channel, Opcode opcode, std::uint16_t id, std::uint16_t rsp = 0) {
    PacketRef packet = pool.make(PacketKind::kCxl);
    packet->cxl->channel = channel;
    packet->cxl->opcode = static_cast<std::uint8_t>(opcode);
    packet->cxl->id = id;
    packet->cxl->rsp_data = rsp;
    return packet;
  }
  PacketRef read(std::uint16_t tag) {
    PacketRef packet = message(CxlChannel::kM2sReq, cxl::M2sReq::kMemRd, tag);
    packet->cxl->meta_field = static_cast<std::uint8_t>(cxl::MetaField::kNoOp);
    return packet;
  }
  PacketRef data(std::uint16_t tag) {
    return message(CxlChannel::kS2mDrs, cxl::S2mDrs::kMemData, tag);
  }
  PacketRef ndr(std::uint16_t tag) { return message(CxlChannel::kS2mNdr, cxl::S2mNdr::kCmp, tag); }
  PacketRef request(cxl::D2hReq opcode, std::uint16_t cqid) {
    return message(CxlChannel::kD2hReq, opcode, cqid);
  }
  PacketRef response(cxl::H2dRsp opcode, std::uint16_t cqid, std::uint16_t rsp = 0) {
    return message(CxlChannel::kH2dRsp, opcode, cqid, rsp);
  }
  PacketRef host_data(std::uint16_t cqid) { return message(CxlChannel::kH2dData, 0, cqid); }
  PacketRef cache_data(std::uint16_t uqid) { return message(CxlChannel::kD2hData, 0, uqid); }
  PacketRef snoop(std::uint16_t uqid) {
    return message(CxlChannel::kH2dReq, cxl::H2dReq::kSnpInv, uqid);
  }
  PacketRef snooped(cxl::D2hRsp opcode, std::uint16_t uqid) {
    return message(CxlChannel::kD2hRsp, opcode, uqid);
  }

  PacketRef back_snoop(std::uint16_t bitag) {
    return message(CxlChannel::kS2mBiSnp, cxl::S2mBiSnp::kBiSnpInv, bitag);
  }
  PacketRef snoop_answer(std::uint16_t bitag) {
    return message(CxlChannel::kM2sBiRsp, cxl::M2sBiRsp::kBiRspI, bitag);
  }
  PacketRef conflict(std::uint16_t bitag) {
    return message(CxlChannel::kM2sRwd, cxl::M2sRwd::kBiConflict, bitag);
  }
  PacketRef conflict_ack(std::uint16_t bitag) {
    return message(CxlChannel::kS2mNdr, cxl::S2mNdr::kBiConflictAck, bitag);
  }

  static std::size_t end_of(const PacketRef& packet) {
    return info_of(packet->cxl->channel).direction == CxlDirection::kUpstream ? 1 : 0;
  }
  void queue(const PacketRef& packet) { monitor.queued(*packet); }
  PacketRef flit(std::vector<PacketRef> messages = {}) {
    PacketRef packet = pool.make(PacketKind::kFlit);
    packet->flit->is_cachemem = packet->flit->has_payload = true;
    packet->flit->starts = std::move(messages);
    return packet;
  }
  void send(const PacketRef& packet) { monitor.sent(end_of(packet), *flit({packet}), true, {}); }
  void deliver(const PacketRef& packet) { monitor.delivered(*packet, {}); }
  void pass(const PacketRef& packet) {
    kept.push_back(packet);
    queue(packet);
    send(packet);
    deliver(packet);
  }
  void give(std::size_t end, std::uint8_t count) {
    Flit credits;
    for (const bool is_mem : {false, true}) {
      for (auto& one : credits.cxl.credits) {
        one = {is_mem, count};
      }
      monitor.accepted(end, credits);
    }
  }
  void SetUp() override {
    give(0, 100);
    give(1, 100);
  }
  std::vector<std::string> rules() const { return reported.rules(); }

  PacketPool pool;
  test::Reported reported;
  MessageMonitor monitor{reported.log, true};
  std::vector<PacketRef> kept;
};

TEST_F(MessageMonitorTest, RequestsOfAllKindsWithTheirAnswersAreFine) {
  pass(read(1));
  pass(data(1));
  pass(message(CxlChannel::kM2sRwd, cxl::M2sRwd::kMemWr, 1));
  pass(ndr(1));
  pass(message(CxlChannel::kM2sReq, cxl::M2sReq::kMemSpecRd, 1));
  pass(request(cxl::D2hReq::kRdOwn, 7));
  pass(host_data(7));
  pass(response(cxl::H2dRsp::kGo, 7, 3));
  pass(request(cxl::D2hReq::kWrInv, 7));
  pass(response(cxl::H2dRsp::kWritePull, 7, 2));
  pass(cache_data(2));
  pass(response(cxl::H2dRsp::kGo, 7));
  pass(request(cxl::D2hReq::kDirtyEvict, 7));
  pass(response(cxl::H2dRsp::kGoWritePull, 7, 2));
  pass(request(cxl::D2hReq::kRdCurr, 7));  // the CQID is free with the GO
  pass(cache_data(2));
  pass(snoop(2));
  pass(cache_data(2));
  pass(snooped(cxl::D2hRsp::kRspIFwdM, 2));
  pass(snoop(2));
  pass(snooped(cxl::D2hRsp::kRspIHitSE, 2));
  pass(host_data(7));
  EXPECT_THAT(rules(), IsEmpty()) << text_of(reported.log.first());
}

TEST_F(MessageMonitorTest, AReadWithAStateHasTwoAnswers) {
  const PacketRef stated = read(3);
  stated->cxl->meta_field = static_cast<std::uint8_t>(cxl::MetaField::kMeta0State);
  pass(stated);
  pass(ndr(3));
  pass(data(3));
  EXPECT_THAT(rules(), IsEmpty());
  stated->cxl->meta_field = static_cast<std::uint8_t>(cxl::MetaField::kNoOp);
  pass(stated);
  pass(ndr(3));
  EXPECT_THAT(rules(), ElementsAre("COH-5.1"));
}

// Such memory answers by the opcode, whatever the request says of states. [COH-5.1]
TEST_F(MessageMonitorTest, MemoryWithoutStatesHasOneAnswerToARead) {
  MessageIdMonitor ids(reported.log, false);
  const PacketRef asked = read(3), answer = ndr(3);
  asked->cxl->meta_field = static_cast<std::uint8_t>(cxl::MetaField::kMeta0State);
  ids.sent(*asked, {});
  ids.delivered(*asked);
  ids.sent(*answer, {});
  EXPECT_THAT(rules(), ElementsAre("COH-5.1"));
}

TEST_F(MessageMonitorTest, AnIdIsOutOnce) {
  pass(read(5));
  const PacketRef again = read(5);
  pass(again);
  ASSERT_THAT(rules(), ElementsAre("COH-1.3"));
  EXPECT_THAT(reported.log.first()[0].packet, HasSubstr("M2S Req MemRd id 5 at 0x0"));
  EXPECT_THAT(reported.log.first()[0].other, HasSubstr("M2S Req MemRd id 5"));
  EXPECT_NE(reported.log.first()[0].packet, reported.log.first()[0].other);
}

TEST_F(MessageMonitorTest, AnAnswerComesOnceAndBehindItsRequest) {
  const PacketRef early = read(5), answer = data(5);
  queue(early);
  send(early);
  queue(answer);
  send(answer);  // the request is still on its way
  EXPECT_THAT(rules(), ElementsAre("COH-1.3"));
  deliver(early);
  deliver(answer);
  pass(data(5));
  pass(data(5));
  EXPECT_THAT(rules(), ElementsAre("COH-1.3", "COH-1.3"));
}

TEST_F(MessageMonitorTest, AnswersAreThoseThatTheRequestAsksFor) {
  pass(request(cxl::D2hReq::kRdOwnNoData, 1));
  pass(host_data(1));
  pass(request(cxl::D2hReq::kWoWrInv, 2));
  pass(response(cxl::H2dRsp::kExtCmp, 2));
  pass(request(cxl::D2hReq::kCleanEvictNoData, 3));
  pass(response(cxl::H2dRsp::kGoWritePull, 3, 9));
  pass(snoop(4));
  pass(snooped(cxl::D2hRsp::kRspIHitSE, 4));
  pass(cache_data(4));
  EXPECT_THAT(rules(), ElementsAre("COH-2.5", "COH-2.6", "COH-2.7", "COH-1.3"));
}

TEST_F(MessageMonitorTest, DataOfASnoopNeedAResponseThatForwards) {
  pass(snoop(4));
  pass(cache_data(4));
  pass(snooped(cxl::D2hRsp::kRspIHitI, 4));
  EXPECT_THAT(rules(), ElementsAre("COH-4.1"));
}

TEST_F(MessageMonitorTest, TheEndOfAWriteComesBehindItsData) {
  pass(request(cxl::D2hReq::kWrInv, 2));
  pass(response(cxl::H2dRsp::kFastGoWritePull, 2, 6));  // and of another kind
  pass(response(cxl::H2dRsp::kGo, 2));
  EXPECT_THAT(rules(), ElementsAre("COH-2.6", "COH-2.6"));
}

TEST_F(MessageMonitorTest, COH_3_13_APostedWriteThatIsRefusedHasNoEnd) {
  pass(request(cxl::D2hReq::kWoWrInv, 2));
  pass(response(cxl::H2dRsp::kGoErrWritePull, 2, 7));
  pass(cache_data(7));
  pass(request(cxl::D2hReq::kWoWrInv, 2));  // its CQID is free
  EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(MessageMonitorTest, APullTakesAnIdOfItsOwn) {
  pass(snoop(6));
  pass(request(cxl::D2hReq::kItoMWr, 2));
  pass(response(cxl::H2dRsp::kGoWritePull, 2, 6));
  EXPECT_THAT(rules(), ElementsAre("COH-1.3"));
}

TEST_F(MessageMonitorTest, AChannelKeepsItsOrderOnTheWireAndBehindIt) {
  const PacketRef first = read(1), second = read(2), third = read(3);
  for (const PacketRef& one : {first, second, third}) {
    queue(one);
  }
  send(second);
  ASSERT_THAT(rules(), ElementsAre("COH-1.4"));
  EXPECT_THAT(reported.log.first()[0].other, HasSubstr("MemRd id 1"));
  send(first);
  send(third);
  deliver(second);
  deliver(third);
  deliver(first);
  EXPECT_THAT(rules(), ElementsAre("COH-1.4", "COH-1.4"));
  deliver(third);  // twice
  send(read(4));   // from nowhere
  EXPECT_THAT(rules(), ElementsAre("COH-1.4", "COH-1.4", "COH-1.4", "COH-1.4"));
}

TEST_F(MessageMonitorTest, ManyMessagesAreInFlightInOrder) {
  std::vector<PacketRef> all;
  for (std::uint16_t tag = 0; tag < 1000; ++tag) {
    give(0, 1);
    all.push_back(read(tag));
    queue(all.back());
    send(all.back());
  }
  for (const PacketRef& one : all) {
    deliver(one);
  }
  EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(MessageMonitorTest, ASnoopComesBehindAnOlderGo) {
  pass(request(cxl::D2hReq::kRdOwnNoData, 1));
  pass(request(cxl::D2hReq::kRdOwnNoData, 2));
  const PacketRef go = response(cxl::H2dRsp::kGo, 1), old = snoop(1), late = snoop(2);
  queue(old);
  queue(go);
  queue(late);
  for (const PacketRef& one : {old, late, go}) {
    send(one);
  }
  deliver(old);
  EXPECT_THAT(rules(), IsEmpty());
  deliver(late);
  ASSERT_THAT(rules(), ElementsAre("COH-1.5"));
  EXPECT_THAT(reported.log.first()[0].other, HasSubstr("H2D Rsp GO id 1"));
  deliver(go);
}

TEST_F(MessageMonitorTest, AWritePullHoldsUpNoSnoop) {
  pass(request(cxl::D2hReq::kWrInv, 1));
  const PacketRef pull = response(cxl::H2dRsp::kWritePull, 1, 8), late = snoop(2);
  queue(pull);
  queue(late);
  send(late);
  send(pull);
  deliver(late);
  deliver(pull);
  EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(MessageMonitorTest, CreditsOfEachClassAndProtocolCount) {
  monitor.reset();
  give(0, 2);
  const PacketRef a = read(1), b = message(CxlChannel::kM2sRwd, cxl::M2sRwd::kMemWr, 2),
                  c = read(3), d = read(4);
  for (const PacketRef& one : {a, b, c, d}) {
    queue(one);
    send(one);
  }
  ASSERT_THAT(rules(), ElementsAre("CXL-3.1"));
  EXPECT_EQ(reported.log.first()[0].other,
            "0 request, 2 response and 1 data credits of CXL.mem left");
  const PacketRef other = snoop(1);
  queue(other);
  send(other);
  EXPECT_THAT(rules(), SizeIs(1));
}

// Flits behind a damaged one do not count before they come again.
TEST_F(MessageMonitorTest, CreditsOfShortFlitsCountInTheOrderOfTheFlits) {
  monitor.reset();
  const PacketRef first = flit(), second = flit();
  first->flit->cxl.credits[0] = second->flit->cxl.credits[0] = {true, 1};
  monitor.sent(1, *first, false, {});
  monitor.sent(1, *second, false, {});
  monitor.arrived(0, *second);
  const PacketRef one = read(1);
  queue(one);
  send(one);
  EXPECT_THAT(rules(), ElementsAre("CXL-3.1"));
  monitor.arrived(0, *first);
  monitor.arrived(0, *first);  // once again
  monitor.arrived(0, *second);
  for (const std::uint16_t tag : std::vector<std::uint16_t>{2, 3}) {
    kept.push_back(read(tag));
    queue(kept.back());
    send(kept.back());
  }
  EXPECT_THAT(rules(), SizeIs(1));
  const PacketRef control = flit();
  control->flit->cxl.control = CxlFlitHeader::Control::kLlcrd;
  control->flit->cxl.credits[0] = {true, 1};
  monitor.sent(1, *control, false, {});
  monitor.arrived(0, *control);
  const PacketRef last = read(4);
  queue(last);
  send(last);
  EXPECT_THAT(rules(), SizeIs(1));
}

TEST_F(MessageMonitorTest, ALinkThatWentDownHasNothingOnItsWay) {
  pass(read(5));
  const PacketRef lost = read(6);
  queue(lost);
  send(lost);
  monitor.reset();
  give(0, 10);
  give(1, 10);
  pass(read(5));
  pass(data(5));
  EXPECT_THAT(rules(), IsEmpty());
}

// Conflicts belong to a BITag, and to no Tag.
TEST_F(MessageMonitorTest, COH_6_4_AConflictIsAcknowledgedBeforeItsSnoopIsAnswered) {
  pass(read(5));
  pass(back_snoop(5));
  pass(conflict(5));
  pass(conflict_ack(5));
  pass(snoop_answer(5));
  pass(data(5));
  pass(back_snoop(5));  // its BITag is free again
  pass(snoop_answer(5));
  EXPECT_THAT(rules(), IsEmpty());
}

TEST_F(MessageMonitorTest, COH_6_4_AnAnswerAheadOfTheAck) {
  pass(back_snoop(5));
  pass(conflict(5));
  const PacketRef ack = conflict_ack(5);
  queue(ack);
  send(ack);  // and is not there yet
  pass(snoop_answer(5));
  EXPECT_THAT(rules(), ElementsAre("COH-6.4"));
}

TEST_F(MessageMonitorTest, COH_6_4_ASecondConflict) {
  pass(back_snoop(5));
  pass(conflict(5));
  pass(conflict(5));
  EXPECT_THAT(rules(), ElementsAre("COH-6.4"));
}

TEST_F(MessageMonitorTest, COH_6_4_AnAckWithoutAConflict) {
  pass(back_snoop(5));
  pass(conflict_ack(5));
  EXPECT_THAT(rules(), ElementsAre("COH-6.2"));
}

TEST_F(MessageMonitorTest, COH_1_3_ABiTagThatIsOut) {
  pass(back_snoop(5));
  pass(back_snoop(5));
  EXPECT_THAT(rules(), ElementsAre("COH-1.3"));
}

TEST_F(MessageMonitorTest, COH_6_2_ASnoopIsAnsweredOnce) {
  pass(back_snoop(5));
  const PacketRef answer = snoop_answer(5), second = snoop_answer(5);
  for (const PacketRef& one : {answer, second}) {
    queue(one);
    send(one);
  }
  EXPECT_THAT(rules(), ElementsAre("COH-6.2"));
}

TEST_F(MessageMonitorTest, COH_1_3_AnAnswerToNoSnoop) {
  pass(snoop_answer(5));
  EXPECT_THAT(rules(), ElementsAre("COH-1.3"));
}

}  // namespace
}  // namespace flitwise::message_monitor_test
