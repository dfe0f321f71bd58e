// SPDX-License-Identifier: Apache-2.0
// The host's lines of device memory, message by message. [COH-5.6] [COH-6.2] to [COH-6.5]
#include "coherence/host_lines.h"

#include <gtest/gtest.h>

#include "unit/coherence/coherence_support.h"

namespace flitwise::test::host_lines_test {
namespace {

using cxl::M2sBiRsp;
using cxl::M2sReq;
using cxl::M2sRwd;
using cxl::MetaValue;
using cxl::S2mBiSnp;
using cxl::S2mNdr;
using cxl::SnpType;

struct HostBench {
  std::uint16_t ask(CoreOp op, std::uint64_t value = 0, std::uint64_t byte_enables = kAllBytes) {
    const CoreRequest request{op, 1, 0x40, byte_enables, line_of_value(value)};
    EXPECT_EQ(host.obstacle(request), CoreObstacle::kNone);
    host.request(request, out, done);
    return out.empty() ? 0xffff : out.back().message.id;
  }
  bool accepts(CoreOp op) const {
    return host.obstacle({op, 1, 0x40, kAllBytes, {}}) == CoreObstacle::kNone;
  }
  void cmp(S2mNdr opcode, std::uint16_t tag) {
    host.receive(message_of(CxlChannel::kS2mNdr, opcode, tag), {}, out, done);
  }
  void data(std::uint16_t tag, std::uint64_t value) {
    host.receive(message_of(CxlChannel::kS2mDrs, 0, tag), line_of_value(value), out, done);
  }
  void snoop(S2mBiSnp opcode, std::uint16_t bitag = 5) {
    host.receive(message_of(CxlChannel::kS2mBiSnp, opcode, bitag, 0x40), {}, out, done);
  }
  void hold(LineState state, std::uint64_t value) {
    const std::uint16_t tag =
        ask(state == LineState::kModified ? CoreOp::kWrite : CoreOp::kRead, value, enables_of(1));
    data(tag, value);
    cmp(state == LineState::kShared ? S2mNdr::kCmpS : S2mNdr::kCmpE, tag);
    EXPECT_EQ(host.state(0x40), state);
    out.clear();
    done.clear();
  }
  template <class Opcode>
  bool sent(CxlChannel channel, Opcode opcode, CxlOut* taken = nullptr) {
    return takes(out, channel, opcode, taken);
  }
  bool answered(M2sBiRsp opcode) { return takes(out, CxlChannel::kM2sBiRsp, opcode); }
  bool conflicted() { return takes(out, CxlChannel::kM2sRwd, M2sRwd::kBiConflict); }

  HostLines host{{4, 2, 8}};
  CxlOutput out;
  CoreResults done;
};

TEST(HostLines, COH_5_6_EachOperationSaysWhatTheHostWillHold) {
  struct Expected {
    CoreOp op;
    LineState held;
    std::uint64_t byte_enables;
    CxlChannel channel;
    std::uint8_t opcode;
    SnpType snoop;
    MetaValue value;
  };
  constexpr LineState kI = LineState::kInvalid, kS = LineState::kShared, kE = LineState::kExclusive,
                      kM = LineState::kModified;
  constexpr CxlChannel kReq = CxlChannel::kM2sReq;
  const auto code = [](M2sReq opcode) { return static_cast<std::uint8_t>(opcode); };
  const std::uint64_t part = enables_of(1);
  for (const Expected& one :
       {Expected{CoreOp::kRead, kI, 0, kReq, code(M2sReq::kMemRd), SnpType::kSnpData,
                 MetaValue::kShared},
        {CoreOp::kReadAny, kI, 0, kReq, code(M2sReq::kMemRdData), SnpType::kSnpData,
         MetaValue::kShared},
        {CoreOp::kReadOnce, kI, 0, kReq, code(M2sReq::kMemRd), SnpType::kSnpCur,
         MetaValue::kInvalid},
        {CoreOp::kWrite, kI, part, kReq, code(M2sReq::kMemRd), SnpType::kSnpInv, MetaValue::kAny},
        {CoreOp::kWrite, kI, kAllBytes, kReq, code(M2sReq::kMemInv), SnpType::kSnpInv,
         MetaValue::kAny},
        {CoreOp::kWrite, kS, part, kReq, code(M2sReq::kMemInv), SnpType::kSnpInv, MetaValue::kAny},
        {CoreOp::kEvict, kE, 0, kReq, code(M2sReq::kMemClnEvct), SnpType::kNoOp,
         MetaValue::kInvalid},
        {CoreOp::kEvict, kM, 0, CxlChannel::kM2sRwd, static_cast<std::uint8_t>(M2sRwd::kMemWr),
         SnpType::kNoOp, MetaValue::kInvalid}}) {
    HostBench bench;
    if (one.held != kI) {
      bench.hold(one.held, 5);
    }
    bench.ask(one.op, 9, one.byte_enables);
    CxlOut request;
    ASSERT_TRUE(bench.sent(one.channel, one.opcode, &request)) << static_cast<int>(one.op);
    EXPECT_EQ(request.message.snp_type, static_cast<std::uint8_t>(one.snoop));
    EXPECT_EQ(request.message.meta_value, static_cast<std::uint8_t>(one.value));
    EXPECT_TRUE(bench.out.empty());
    EXPECT_FALSE(bench.accepts(CoreOp::kRead)) << "one request a line";
  }
}

TEST(HostLines, COH_5_6_AReadHasCmpAndDataInEitherOrder) {
  for (const bool is_cmp_first : {true, false}) {
    HostBench bench;
    const std::uint16_t tag = bench.ask(CoreOp::kReadAny);
    is_cmp_first ? bench.cmp(S2mNdr::kCmpE, tag) : bench.data(tag, 5);
    EXPECT_TRUE(bench.done.empty());
    is_cmp_first ? bench.data(tag, 5) : bench.cmp(S2mNdr::kCmpE, tag);
    ASSERT_EQ(bench.done.size(), 1U);
    EXPECT_EQ(words_of(bench.done[0].line)[0], 5U);
    EXPECT_EQ(bench.host.state(0x40), LineState::kExclusive);
    EXPECT_EQ(bench.host.outstanding(), 0U);
  }
}

TEST(HostLines, COH_5_6_AnUpgradeHasCmpAlone) {
  HostBench bench;
  bench.hold(LineState::kShared, 5);
  bench.cmp(S2mNdr::kCmpE, bench.ask(CoreOp::kWrite, 9, enables_of(1)));
  ASSERT_EQ(bench.done.size(), 1U);
  EXPECT_EQ(words_of(bench.done[0].line)[1], 5U);
  EXPECT_EQ(bench.host.state(0x40), LineState::kModified);
}

TEST(HostLines, COH_7_1_AWriteThatIsGrantedNoOwnershipFails) {
  HostBench bench;
  const std::uint16_t tag = bench.ask(CoreOp::kWrite, 9, enables_of(1));
  bench.cmp(S2mNdr::kCmpS, tag);
  bench.data(tag, 5);
  ASSERT_EQ(bench.done.size(), 1U);
  EXPECT_TRUE(bench.done[0].is_error);
  EXPECT_EQ(bench.host.bad_messages()[BadMessage::kWrongAnswer], 1U);
}

TEST(HostLines, COH_6_2_CleanLinesAreGivenBackAtOnce) {
  struct Expected {
    LineState state;
    S2mBiSnp snoop;
    M2sBiRsp answer;
    LineState keeps;
  };
  constexpr LineState kI = LineState::kInvalid, kS = LineState::kShared, kE = LineState::kExclusive;
  for (const Expected& one : {Expected{kI, S2mBiSnp::kBiSnpInv, M2sBiRsp::kBiRspI, kI},
                              {kI, S2mBiSnp::kBiSnpData, M2sBiRsp::kBiRspI, kI},
                              {kS, S2mBiSnp::kBiSnpInv, M2sBiRsp::kBiRspI, kI},
                              {kS, S2mBiSnp::kBiSnpData, M2sBiRsp::kBiRspS, kS},
                              {kE, S2mBiSnp::kBiSnpInv, M2sBiRsp::kBiRspI, kI},
                              {kE, S2mBiSnp::kBiSnpData, M2sBiRsp::kBiRspS, kS},
                              {kE, S2mBiSnp::kBiSnpCur, M2sBiRsp::kBiRspE, kE}}) {
    HostBench bench;
    if (one.state != kI) {
      bench.hold(one.state, 5);
    }
    bench.snoop(one.snoop);
    EXPECT_TRUE(bench.answered(one.answer));
    EXPECT_TRUE(bench.out.empty());
    EXPECT_EQ(bench.host.state(0x40), one.keeps);
  }
}

TEST(HostLines, COH_6_2_AModifiedLineIsWrittenBeforeTheAnswer) {
  struct Expected {
    S2mBiSnp snoop;
    MetaValue value;
    M2sBiRsp answer;
    LineState keeps;
  };
  for (const Expected& one :
       {Expected{S2mBiSnp::kBiSnpInv, MetaValue::kInvalid, M2sBiRsp::kBiRspI, LineState::kInvalid},
        {S2mBiSnp::kBiSnpData, MetaValue::kShared, M2sBiRsp::kBiRspS, LineState::kShared},
        {S2mBiSnp::kBiSnpCur, MetaValue::kAny, M2sBiRsp::kBiRspE, LineState::kExclusive}}) {
    HostBench bench;
    bench.hold(LineState::kModified, 5);
    bench.snoop(one.snoop, 6);
    CxlOut write;
    ASSERT_TRUE(bench.sent(CxlChannel::kM2sRwd, M2sRwd::kMemWr, &write));
    EXPECT_TRUE(bench.out.empty());
    EXPECT_EQ(write.message.id, HostLines::kWriteBackTag + 6);
    EXPECT_EQ(write.message.meta_value, static_cast<std::uint8_t>(one.value));
    EXPECT_EQ(words_of(write.line)[0], 5U);
    EXPECT_FALSE(bench.accepts(CoreOp::kRead));
    bench.cmp(S2mNdr::kCmp, write.message.id);
    EXPECT_TRUE(bench.answered(one.answer));
    EXPECT_EQ(bench.host.state(0x40), one.keeps);
    EXPECT_TRUE(bench.accepts(CoreOp::kRead));
  }
}

TEST(HostLines, COH_6_3_ABackInvalidationWaitsForTheWriteThatItCrosses) {
  HostBench bench;
  bench.hold(LineState::kModified, 5);
  const std::uint16_t tag = bench.ask(CoreOp::kEvict);
  bench.out.clear();
  bench.snoop(S2mBiSnp::kBiSnpInv);
  EXPECT_TRUE(bench.out.empty()) << "no BIConflict: the device takes writes in any case";
  bench.cmp(S2mNdr::kCmp, tag);
  EXPECT_TRUE(bench.answered(M2sBiRsp::kBiRspI));
}

TEST(HostLines, COH_6_4_AnEarlyConflictIsAnsweredBeforeTheRequest) {
  HostBench bench;
  const std::uint16_t tag = bench.ask(CoreOp::kRead);
  bench.out.clear();
  bench.snoop(S2mBiSnp::kBiSnpInv);
  EXPECT_TRUE(bench.conflicted());
  EXPECT_TRUE(bench.out.empty()) << "no BIRsp before the BIConflictAck";
  bench.cmp(S2mNdr::kBiConflictAck, 5);
  EXPECT_TRUE(bench.answered(M2sBiRsp::kBiRspI));
  EXPECT_EQ(bench.host.early_conflicts(), 1U);
  bench.cmp(S2mNdr::kCmpS, tag);
  bench.data(tag, 7);
  EXPECT_EQ(bench.host.state(0x40), LineState::kShared) << "the request comes after it";
}

TEST(HostLines, COH_6_4_ALateConflictIsAnsweredWithWhatTheRequestGot) {
  HostBench bench;
  const std::uint16_t tag = bench.ask(CoreOp::kWrite, 9, enables_of(1));
  bench.out.clear();
  bench.snoop(S2mBiSnp::kBiSnpInv);
  EXPECT_TRUE(bench.conflicted());
  bench.cmp(S2mNdr::kCmpE, tag);
  bench.cmp(S2mNdr::kBiConflictAck, 5);
  EXPECT_TRUE(bench.out.empty()) << "its data are still under way";
  bench.data(tag, 7);
  ASSERT_EQ(bench.done.size(), 1U) << "the write is done once";
  CxlOut write;
  EXPECT_TRUE(bench.sent(CxlChannel::kM2sRwd, M2sRwd::kMemWr, &write));
  EXPECT_EQ(words_of(write.line)[0], 9U);
  EXPECT_EQ(bench.host.late_conflicts(), 1U);
}

TEST(HostLines, COH_6_4_NobodyAnswersBeforeTheAckEvenIfAllIsHere) {
  HostBench bench;
  const std::uint16_t tag = bench.ask(CoreOp::kRead);
  bench.out.clear();
  bench.snoop(S2mBiSnp::kBiSnpInv);
  bench.conflicted();
  bench.data(tag, 7);
  bench.cmp(S2mNdr::kCmpS, tag);
  EXPECT_EQ(bench.done.size(), 1U);
  EXPECT_TRUE(bench.out.empty());
  EXPECT_FALSE(bench.accepts(CoreOp::kWrite));
  bench.cmp(S2mNdr::kBiConflictAck, 5);
  EXPECT_TRUE(bench.answered(M2sBiRsp::kBiRspI));
  EXPECT_EQ(bench.host.state(0x40), LineState::kInvalid);
}

TEST(HostLines, COH_6_4_BehindCmpThereIsNoConflict) {
  HostBench bench;
  const std::uint16_t tag = bench.ask(CoreOp::kRead);
  bench.out.clear();
  bench.cmp(S2mNdr::kCmpS, tag);
  bench.snoop(S2mBiSnp::kBiSnpInv);
  EXPECT_TRUE(bench.out.empty());
  bench.data(tag, 7);
  EXPECT_TRUE(bench.answered(M2sBiRsp::kBiRspI));
}

TEST(HostLines, COH_6_5_AnUpgradeThatLostItsCopyReadsTheLine) {
  HostBench bench;
  bench.hold(LineState::kShared, 5);
  const std::uint16_t tag = bench.ask(CoreOp::kWrite, 9, enables_of(1));
  bench.out.clear();
  bench.snoop(S2mBiSnp::kBiSnpInv);
  bench.conflicted();
  bench.cmp(S2mNdr::kBiConflictAck, 5);
  EXPECT_TRUE(bench.answered(M2sBiRsp::kBiRspI));
  bench.cmp(S2mNdr::kCmpE, tag);
  EXPECT_TRUE(bench.done.empty());
  CxlOut again;
  ASSERT_TRUE(bench.sent(CxlChannel::kM2sReq, M2sReq::kMemRd, &again));
  EXPECT_EQ(again.message.id, tag);
  bench.data(tag, 6);
  bench.cmp(S2mNdr::kCmpE, tag);
  ASSERT_EQ(bench.done.size(), 1U);
  EXPECT_EQ(words_of(bench.done[0].line)[0], 9U);
  EXPECT_EQ(words_of(bench.done[0].line)[1], 6U);
}

TEST(HostLines, COH_7_1_EachKindIsCountedAndDropped) {
  HostBench bench;
  bench.hold(LineState::kModified, 5);
  const BadMessageCounts& bad = bench.host.bad_messages();
  bench.host.receive(message_of(CxlChannel::kM2sReq, 0, 0), {}, bench.out, bench.done);
  EXPECT_EQ(bad[BadMessage::kWrongChannel], 1U);
  bench.cmp(static_cast<S2mNdr>(7), 0);
  bench.snoop(static_cast<S2mBiSnp>(9));
  EXPECT_EQ(bad[BadMessage::kUnknownOpcode], 2U);
  bench.cmp(S2mNdr::kCmp, 3);
  bench.cmp(S2mNdr::kCmp, 0x8003);
  bench.cmp(S2mNdr::kCmp, 0xffff);
  bench.cmp(S2mNdr::kBiConflictAck, 3);
  bench.cmp(S2mNdr::kBiConflictAck, 0xffff);
  bench.data(3, 1);
  EXPECT_EQ(bad[BadMessage::kUnknownId], 6U);
  bench.snoop(S2mBiSnp::kBiSnpInv, 0x1000);
  EXPECT_EQ(bad[BadMessage::kIdInUse], 1U);
  EXPECT_TRUE(bench.out.empty());
  bench.snoop(S2mBiSnp::kBiSnpInv, 5);
  bench.snoop(S2mBiSnp::kBiSnpInv, 6);  // of the line that is being written
  EXPECT_EQ(bad[BadMessage::kSecondSnoop], 1U);
  const std::uint16_t tag = bench.out.back().message.id;
  bench.data(tag, 1);
  EXPECT_EQ(bad[BadMessage::kUnknownId], 7U) << "a write has no data";
}

TEST(HostLines, COH_7_3_AReadOfMemoryThatIsNotThereFails) {
  for (const CoreOp op : {CoreOp::kRead, CoreOp::kReadAny, CoreOp::kReadOnce}) {
    HostBench bench;
    const std::uint16_t tag = bench.ask(op);
    bench.cmp(S2mNdr::kCmp, tag);
    bench.host.receive(message_of(CxlChannel::kS2mDrs, cxl::S2mDrs::kMemDataNxm, tag), {},
                       bench.out, bench.done);
    ASSERT_EQ(bench.done.size(), 1U);
    EXPECT_TRUE(bench.done[0].is_error);
    EXPECT_EQ(bench.host.state(0x40), LineState::kInvalid);
    EXPECT_EQ(bench.host.bad_messages().total(), 0U);
    EXPECT_TRUE(bench.accepts(CoreOp::kWrite));
  }
}

TEST(HostLines, COH_6_6_ADeviceThatIsGoneTakesAllLinesWithIt) {
  HostBench bench;
  bench.hold(LineState::kModified, 3);
  EXPECT_EQ(bench.host.lose_all(), 1U);
  EXPECT_EQ(bench.host.state(0x40), LineState::kInvalid);

  bench.hold(LineState::kExclusive, 5);
  const std::uint16_t tag = bench.ask(CoreOp::kEvict);
  EXPECT_EQ(bench.host.outstanding(), 1U);
  EXPECT_EQ(bench.host.lose_all(), 0U);  // it was clean
  EXPECT_EQ(bench.host.outstanding(), 0U);
  bench.out.clear();
  bench.cmp(S2mNdr::kCmp, tag);  // of before
  EXPECT_EQ(bench.host.bad_messages()[BadMessage::kUnknownId], 1U);
  EXPECT_TRUE(bench.accepts(CoreOp::kRead));

  bench.hold(LineState::kModified, 7);
  bench.ask(CoreOp::kEvict);
  EXPECT_EQ(bench.host.lose_all(), 1U);  // a line that no Cmp has answered
}

}  // namespace
}  // namespace flitwise::test::host_lines_test
