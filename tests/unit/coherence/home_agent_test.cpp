// SPDX-License-Identifier: Apache-2.0
// A home and its caches, message by message. [COH-3.1] to [COH-3.9]
#include <gtest/gtest.h>

#include "unit/coherence/coherence_support.h"

namespace flitwise::test::home_agent_test {
namespace {

using cxl::D2hReq;
using cxl::D2hRsp;
using cxl::GoState;
using cxl::H2dReq;
using cxl::H2dRsp;

TEST(HomeAgent, COH_3_5_AReadOfAFreeLineComesFromMemory) {
  struct Expected {
    D2hReq opcode;
    GoState state;
  };
  for (const Expected& one : {Expected{D2hReq::kRdShared, GoState::kShared},
                              {D2hReq::kRdAny, GoState::kExclusive},
                              {D2hReq::kRdOwn, GoState::kExclusive}}) {
    HomeBench bench;
    bench.memory.lines[0x40] = line_of_value(5);
    bench.request(0, one.opcode, 9, 0x40);
    EXPECT_TRUE(bench.sent_nothing_more()) << "memory has not answered";
    bench.run_memory();
    bench.expect_go(0, 9, one.state);
    EXPECT_EQ(bench.sent_data(0, 9), 5U);
    EXPECT_TRUE(bench.sent_nothing_more());
    EXPECT_EQ(bench.home.outstanding(), 0U);
  }
}

TEST(HomeAgent, COH_3_5_RdAnySharesALineThatOthersHave) {
  HomeBench bench;
  bench.hold(1, LineState::kShared);
  bench.request(0, D2hReq::kRdAny, 9);
  bench.run_memory();
  bench.expect_go(0, 9, GoState::kShared);
}

TEST(HomeAgent, COH_3_5_RdAnyOwnsWhatItsOwnerHasGivenUp) {
  HomeBench bench;
  bench.hold(1, LineState::kExclusive);
  bench.request(0, D2hReq::kRdAny, 9);
  bench.answer(1, D2hRsp::kRspIHitSE, bench.snooped(1, H2dReq::kSnpData));
  bench.run_memory();
  bench.expect_go(0, 9, GoState::kExclusive);
}

TEST(HomeAgent, COH_3_5_RdCurrHasNoGoAndIsNotRemembered) {
  HomeBench bench;
  bench.request(0, D2hReq::kRdCurr, 9);
  bench.run_memory();
  bench.sent_data(0, 9);
  EXPECT_TRUE(bench.sent_nothing_more());
  EXPECT_TRUE(bench.home.holders(0).empty());
}

TEST(HomeAgent, COH_3_1_HoldersAreExact) {
  HomeBench bench;
  bench.hold(0, LineState::kShared);
  bench.hold(2, LineState::kShared);
  EXPECT_EQ(bench.home.holders(0).sharers(), 0b101U);
  bench.request(0, D2hReq::kCleanEvictNoData, 1);
  bench.expect_go(0, 1, GoState::kInvalid);
  EXPECT_EQ(bench.home.holders(0).sharers(), 0b100U);
  bench.request(2, D2hReq::kRdOwn, 1);
  bench.run_memory();
  EXPECT_EQ(bench.home.holders(0).owner(), std::optional<std::uint8_t>(2));
  EXPECT_EQ(bench.home.holders(0).sharers(), 0U);
}

TEST(HomeAgent, COH_3_4_OnlyHoldersAreSnoopedAndWithWhatTheRequestNeeds) {
  struct Expected {
    D2hReq opcode;
    LineState held;
    bool is_snooped;
    H2dReq snoop;
  };
  constexpr LineState kS = LineState::kShared, kE = LineState::kExclusive;
  for (const Expected& one : {Expected{D2hReq::kRdShared, kS, false, {}},
                              {D2hReq::kRdAny, kS, false, {}},
                              {D2hReq::kRdCurr, kS, false, {}},
                              {D2hReq::kRdShared, kE, true, H2dReq::kSnpData},
                              {D2hReq::kRdAny, kE, true, H2dReq::kSnpData},
                              {D2hReq::kRdCurr, kE, true, H2dReq::kSnpCur},
                              {D2hReq::kRdOwn, kS, true, H2dReq::kSnpInv},
                              {D2hReq::kRdOwnNoData, kE, true, H2dReq::kSnpInv},
                              {D2hReq::kItoMWr, kS, true, H2dReq::kSnpInv},
                              {D2hReq::kWrCur, kS, true, H2dReq::kSnpInv},
                              {D2hReq::kWrInv, kE, true, H2dReq::kSnpInv},
                              {D2hReq::kWoWrInv, kS, true, H2dReq::kSnpInv},
                              {D2hReq::kWoWrInvF, kE, true, H2dReq::kSnpInv},
                              {D2hReq::kClFlush, kS, true, H2dReq::kSnpInv},
                              {D2hReq::kCleanEvict, kE, false, {}},
                              {D2hReq::kDirtyEvict, kE, false, {}}}) {
    HomeBench bench;
    bench.hold(1, one.held);
    bench.request(0, one.opcode, 9);
    if (one.is_snooped) {
      bench.snooped(1, one.snoop);
    }
    for (const CxlOut& sent : bench.out) {
      EXPECT_NE(sent.message.channel, CxlChannel::kH2dReq)
          << "request " << static_cast<int>(one.opcode) << " snoops " << int{sent.port};
    }
  }
}

TEST(HomeAgent, COH_3_4_AnUpgradeDoesNotSnoopItself) {
  HomeBench bench;
  bench.hold(0, LineState::kShared);
  bench.hold(1, LineState::kShared);
  bench.hold(2, LineState::kShared);
  bench.request(0, D2hReq::kRdOwn, 9);
  const std::uint16_t first = bench.snooped(1, H2dReq::kSnpInv);
  const std::uint16_t second = bench.snooped(2, H2dReq::kSnpInv);
  EXPECT_NE(first, second);  // [COH-1.3]
  EXPECT_TRUE(bench.sent_nothing_more());
  bench.answer(2, D2hRsp::kRspIHitSE, second);
  EXPECT_TRUE(bench.memory.empty()) << "one answer is still missing";
  bench.answer(1, D2hRsp::kRspIHitSE, first);
  bench.run_memory();
  bench.expect_go(0, 9, GoState::kExclusive);
  EXPECT_EQ(bench.home.uqids_out(), 0U);
}

TEST(HomeAgent, COH_3_6_GoWaitsForAnswerAndDataInEitherOrder) {
  for (const bool is_answer_first : {true, false}) {
    HomeBench bench;
    bench.hold(1, LineState::kExclusive);
    bench.request(0, D2hReq::kRdOwn, 9);
    const std::uint16_t uqid = bench.snooped(1, H2dReq::kSnpInv);
    is_answer_first ? bench.answer(1, D2hRsp::kRspIFwdM, uqid) : bench.data(1, uqid, 6);
    EXPECT_TRUE(bench.sent_nothing_more());
    is_answer_first ? bench.data(1, uqid, 6) : bench.answer(1, D2hRsp::kRspIFwdM, uqid);
    bench.expect_go(0, 9, GoState::kExclusive);
    EXPECT_EQ(bench.sent_data(0, 9), 6U);
    bench.run_memory();
    EXPECT_EQ(bench.in_memory(), 6U) << "dirty data go to memory as well";
    EXPECT_EQ(bench.home.holders(0).owner(), std::optional<std::uint8_t>(0));
  }
}

TEST(HomeAgent, COH_3_6_AnOwnerThatSharesStaysASharer) {
  HomeBench bench;
  bench.hold(1, LineState::kExclusive);
  bench.request(0, D2hReq::kRdShared, 9);
  const std::uint16_t uqid = bench.snooped(1, H2dReq::kSnpData);
  bench.answer(1, D2hRsp::kRspSFwdM, uqid);
  bench.data(1, uqid, 6);
  bench.expect_go(0, 9, GoState::kShared);
  EXPECT_EQ(bench.home.holders(0).sharers(), 0b11U);
}

TEST(HomeAgent, COH_3_6_SnpCurLeavesTheOwnerAndMemoryAsTheyAre) {
  HomeBench bench;
  bench.hold(1, LineState::kExclusive);
  bench.request(0, D2hReq::kRdCurr, 9);
  const std::uint16_t uqid = bench.snooped(1, H2dReq::kSnpCur);
  bench.answer(1, D2hRsp::kRspVFwdV, uqid);
  bench.data(1, uqid, 6);
  EXPECT_EQ(bench.sent_data(0, 9), 6U);
  EXPECT_TRUE(bench.memory.empty());
  EXPECT_EQ(bench.home.holders(0).owner(), std::optional<std::uint8_t>(1));
}

TEST(HomeAgent, COH_3_2_RequestsForALineTakeTheirTurn) {
  HomeBench bench;
  bench.request(0, D2hReq::kRdOwn, 1);
  bench.request(1, D2hReq::kRdOwn, 2);
  bench.request(2, D2hReq::kRdOwn, 3);
  bench.request(2, D2hReq::kRdShared, 4, 0x40);  // another line does not wait
  EXPECT_EQ(bench.memory.requests.size(), 2U);
  bench.run_memory();
  bench.expect_go(0, 1, GoState::kExclusive);
  bench.expect_go(2, 4, GoState::kShared);
  const std::uint16_t uqid = bench.snooped(0, H2dReq::kSnpInv);
  bench.answer(0, D2hRsp::kRspIFwdM, uqid);
  bench.data(0, uqid, 7);
  bench.expect_go(1, 2, GoState::kExclusive);
  for (const CxlOut& sent : bench.out) {
    EXPECT_NE(sent.message.channel, CxlChannel::kH2dReq) << "memory has not taken the line yet";
  }
  bench.run_memory();
  bench.snooped(1, H2dReq::kSnpInv);
  EXPECT_EQ(bench.home.outstanding(), 1U);
}

TEST(HomeAgent, COH_3_7_ADirtyEvictionIsPulledAndWritten) {
  HomeBench bench;
  bench.hold(1, LineState::kExclusive);
  bench.request(1, D2hReq::kDirtyEvict, 4);
  const std::uint16_t uqid = bench.responded(1, H2dRsp::kGoWritePull, 4);
  bench.request(0, D2hReq::kRdShared, 5);
  EXPECT_TRUE(bench.memory.empty()) << "the line is busy until its data are here";
  bench.data(1, uqid, 8);
  bench.run_memory();
  EXPECT_EQ(bench.in_memory(), 8U);
  bench.expect_go(0, 5, GoState::kShared);
  EXPECT_EQ(bench.sent_data(0, 5), 8U);
}

TEST(HomeAgent, COH_3_7_AnEvictionThatASnoopHasOvertakenIsPulledInVain) {
  HomeBench bench;
  bench.hold(1, LineState::kExclusive);
  bench.request(0, D2hReq::kRdOwn, 5);
  const std::uint16_t snoop = bench.snooped(1, H2dReq::kSnpInv);
  bench.request(1, D2hReq::kDirtyEvict, 4);  // has crossed the snoop
  EXPECT_TRUE(bench.sent_nothing_more());
  bench.answer(1, D2hRsp::kRspIFwdM, snoop);
  bench.data(1, snoop, 6);
  bench.expect_go(0, 5, GoState::kExclusive);
  bench.sent_data(0, 5);
  bench.run_memory();
  bench.data(1, bench.responded(1, H2dRsp::kGoWritePull, 4), 0, true);
  EXPECT_TRUE(bench.memory.empty());
  EXPECT_EQ(bench.in_memory(), 6U);
  EXPECT_EQ(bench.home.holders(0).owner(), std::optional<std::uint8_t>(0));
  EXPECT_EQ(bench.home.bad_messages().total(), 0U);
}

TEST(HomeAgent, COH_3_7_ACleanEvictionIsDroppedOrPulled) {
  for (const bool is_pulled : {false, true}) {
    HomeBench bench({3, 64, is_pulled});
    bench.hold(1, LineState::kShared);
    bench.request(1, D2hReq::kCleanEvict, 4);
    if (is_pulled) {
      bench.data(1, bench.responded(1, H2dRsp::kGoWritePull, 4), 0);
    } else {
      bench.responded(1, H2dRsp::kGoWritePullDrop, 4);
    }
    EXPECT_TRUE(bench.memory.empty()) << "memory has the line already";
    EXPECT_TRUE(bench.home.holders(0).empty());
    EXPECT_EQ(bench.home.outstanding(), 0U);
    EXPECT_EQ(bench.home.bad_messages().total(), 0U);
  }
}

TEST(HomeAgent, COH_3_8_APartialWriteIsMergedWithTheDirtyLine) {
  HomeBench bench;
  bench.hold(1, LineState::kExclusive);
  bench.request(0, D2hReq::kWrInv, 5);
  const std::uint16_t snoop = bench.snooped(1, H2dReq::kSnpInv);
  bench.answer(1, D2hRsp::kRspIFwdM, snoop);
  bench.data(1, snoop, 6);
  bench.data(0, bench.responded(0, H2dRsp::kWritePull, 5), 9, false, enables_of(1));
  EXPECT_TRUE(bench.sent_nothing_more()) << "GO waits until memory has it";
  bench.run_memory();
  bench.expect_go(0, 5, GoState::kInvalid);
  EXPECT_EQ(words_of(bench.memory.lines[0])[0], 9U);
  EXPECT_EQ(words_of(bench.memory.lines[0])[1], 6U);
}

TEST(HomeAgent, COH_3_8_APartialWriteOfAFreeLineWritesItsBytesAlone) {
  HomeBench bench;
  bench.memory.lines[0] = line_of_value(3);
  bench.request(0, D2hReq::kWoWrInv, 5);
  bench.data(0, bench.responded(0, H2dRsp::kFastGoWritePull, 5), 9, false, enables_of(2));
  EXPECT_TRUE(bench.sent_nothing_more());
  bench.run_memory();
  bench.responded(0, H2dRsp::kExtCmp, 5);
  EXPECT_EQ(words_of(bench.memory.lines[0])[0], 3U);
  EXPECT_EQ(words_of(bench.memory.lines[0])[1], 9U);
}

TEST(HomeAgent, COH_3_8_AFlushEndsWhenMemoryHasTheLine) {
  HomeBench bench;
  bench.hold(1, LineState::kExclusive);
  bench.request(0, D2hReq::kClFlush, 5);
  const std::uint16_t snoop = bench.snooped(1, H2dReq::kSnpInv);
  bench.answer(1, D2hRsp::kRspIFwdM, snoop);
  bench.data(1, snoop, 6);
  EXPECT_TRUE(bench.sent_nothing_more());
  bench.run_memory();
  bench.expect_go(0, 5, GoState::kInvalid);
  EXPECT_EQ(bench.in_memory(), 6U);
  EXPECT_TRUE(bench.home.holders(0).empty());
}

TEST(HomeAgent, COH_3_8_CacheFlushedIsAnsweredAtOnce) {
  HomeBench bench;
  bench.request(0, D2hReq::kCacheFlushed, 5);
  bench.expect_go(0, 5, GoState::kInvalid);
  EXPECT_EQ(bench.home.outstanding(), 0U);
}

TEST(HomeAgent, COH_3_11_AWriteThatHadItsGoIsOverWhenMemoryHasIt) {
  HomeBench bench;
  bench.request(1, D2hReq::kItoMWr, 5, 0x40);
  const std::uint16_t pull = bench.responded(1, H2dRsp::kGoWritePull, 5);
  EXPECT_TRUE(bench.notes.writes.empty()) << "its data are not here";
  bench.data(1, pull, 8);
  EXPECT_TRUE(bench.notes.writes.empty()) << "memory does not have them";
  bench.run_memory();
  EXPECT_EQ(bench.notes.writes, (std::vector<HomeNotes::Write>{{1, 0x40, true}}));
  EXPECT_TRUE(bench.sent_nothing_more()) << "the wire says nothing of it";
}

// Two writes of a line under one CQID, which is free with GO: the second has its turn when the
// first is over.
TEST(HomeAgent, COH_3_11_WritesOfALineAreOverOneAfterTheOther) {
  HomeBench bench;
  bench.request(1, D2hReq::kItoMWr, 5);
  bench.data(1, bench.responded(1, H2dRsp::kGoWritePull, 5), 8);
  bench.request(1, D2hReq::kItoMWr, 5);
  EXPECT_TRUE(bench.sent_nothing_more());
  bench.run_memory();
  EXPECT_EQ(bench.notes.writes.size(), 1U);
  bench.data(1, bench.responded(1, H2dRsp::kGoWritePull, 5), 9);
  bench.run_memory();
  EXPECT_EQ(bench.notes.writes.size(), 2U);
  EXPECT_EQ(bench.in_memory(), 9U);
}

TEST(HomeAgent, COH_3_11_OfWritesThatTheWireTellsTheEndOfNothingIsSaid) {
  HomeBench bench;
  bench.request(0, D2hReq::kWrInv, 5);
  bench.data(0, bench.responded(0, H2dRsp::kWritePull, 5), 9);
  bench.request(0, D2hReq::kWoWrInvF, 6, 0x40);
  bench.data(0, bench.responded(0, H2dRsp::kFastGoWritePull, 6), 9);
  bench.hold(1, LineState::kExclusive, 0x80);
  bench.request(1, D2hReq::kDirtyEvict, 7, 0x80);  // its core does not wait
  bench.data(1, bench.responded(1, H2dRsp::kGoWritePull, 7), 9);
  bench.run_memory();
  EXPECT_EQ(bench.home.outstanding(), 0U);
  EXPECT_TRUE(bench.notes.writes.empty());
}

// The line of another cache goes to memory, and what was to replace it never came.
TEST(HomeAgent, COH_3_11_BogusDataHaveWrittenNothing) {
  HomeBench bench;
  bench.hold(1, LineState::kExclusive);
  bench.request(0, D2hReq::kItoMWr, 5);
  const std::uint16_t snoop = bench.snooped(1, H2dReq::kSnpInv);
  bench.answer(1, D2hRsp::kRspIFwdM, snoop);
  bench.data(1, snoop, 6);
  bench.data(0, bench.responded(0, H2dRsp::kGoWritePull, 5), 9, true);
  bench.run_memory();
  EXPECT_EQ(bench.in_memory(), 6U);
  EXPECT_EQ(bench.notes.writes, (std::vector<HomeNotes::Write>{{0, 0, false}}));
}

TEST(HomeAgent, COH_3_9_WithFewUqidsRequestsWait) {
  HomeBench bench({3, 3, false});  // one request at a time
  bench.hold(1, LineState::kExclusive, 0x00);
  bench.hold(1, LineState::kExclusive, 0x40);
  bench.request(0, D2hReq::kRdOwn, 1, 0x00);
  bench.request(0, D2hReq::kRdOwn, 2, 0x40);
  bench.request(2, D2hReq::kRdOwn, 3, 0x00);  // no turn yet: the line is busy
  EXPECT_EQ(bench.notes.waiting.size(), 1U);
  const std::uint16_t first = bench.snooped(1, H2dReq::kSnpInv);
  EXPECT_TRUE(bench.sent_nothing_more());
  bench.answer(1, D2hRsp::kRspIHitSE, first);
  bench.run_memory();
  bench.expect_go(0, 1, GoState::kExclusive);
  bench.snooped(1, H2dReq::kSnpInv);
  EXPECT_EQ(bench.notes.waiting.size(), 1U) << "one has begun, and the third has the turn now";
}

// What the home cannot make sense of.
TEST(HomeAgentBad, COH_7_1_EachKindIsCountedAndChangesNothing) {
  HomeBench bench;
  bench.hold(1, LineState::kExclusive);
  bench.request(0, D2hReq::kRdOwn, 5);
  const std::uint16_t snoop = bench.snooped(1, H2dReq::kSnpInv);
  const BadMessageCounts& bad = bench.home.bad_messages();
  bench.home.receive(0, message_of(CxlChannel::kH2dReq, 1, 0), {}, bench.out);
  EXPECT_EQ(bad[BadMessage::kWrongChannel], 1U);
  bench.request(0, static_cast<D2hReq>(0xf), 6);
  bench.request(0, static_cast<D2hReq>(0), 6);
  bench.answer(1, static_cast<D2hRsp>(0x1f), snoop);
  EXPECT_EQ(bad[BadMessage::kUnknownOpcode], 3U);
  bench.request(0, D2hReq::kRdOwn, 5, 0x40);
  bench.request(0, D2hReq::kRdOwn, 0xffff, 0x40);
  EXPECT_EQ(bad[BadMessage::kIdInUse], 2U);
  bench.request(0, D2hReq::kRdOwn, 6, 0x41);
  EXPECT_EQ(bad[BadMessage::kBadAddress], 1U);
  bench.answer(0, D2hRsp::kRspIHitI, snoop);  // it was not asked
  bench.answer(1, D2hRsp::kRspIHitI, 0xffff);
  bench.data(1, static_cast<std::uint16_t>(snoop + 1), 1);
  EXPECT_EQ(bad[BadMessage::kUnknownId], 3U);
  EXPECT_EQ(bad.total(), 10U);
  EXPECT_TRUE(bench.sent_nothing_more());
  bench.answer(1, D2hRsp::kRspIHitSE, snoop);
  bench.run_memory();
  bench.expect_go(0, 5, GoState::kExclusive);
}

TEST(HomeAgentBad, COH_7_1_AnswersThatDoNotFitTheirData) {
  HomeBench bench;
  bench.hold(1, LineState::kExclusive);
  bench.request(0, D2hReq::kRdOwn, 5);
  const std::uint16_t snoop = bench.snooped(1, H2dReq::kSnpInv);
  bench.data(1, snoop, 1);
  bench.data(1, snoop, 2);                    // twice
  bench.answer(1, D2hRsp::kRspIHitI, snoop);  // and then says that there are none
  EXPECT_EQ(bench.home.bad_messages()[BadMessage::kUnawaitedData], 2U);
  bench.memory.lines[0] = line_of_value(4);
  bench.run_memory();
  bench.expect_go(0, 5, GoState::kExclusive);
  EXPECT_EQ(bench.sent_data(0, 5), 4U);
  bench.request(0, D2hReq::kDirtyEvict, 5);
  const std::uint16_t pull = bench.responded(0, H2dRsp::kGoWritePull, 5);
  bench.answer(0, D2hRsp::kRspIHitI, pull);  // a pull is no snoop
  EXPECT_EQ(bench.home.bad_messages()[BadMessage::kWrongAnswer], 1U);
}

TEST(HomeAgentBad, COH_7_2_WhoKeepsWhatItHadToGiveUpIsTakenAtTheHomesWord) {
  for (const D2hRsp answer : {D2hRsp::kRspSHitSE, D2hRsp::kRspVHitV}) {
    HomeBench bench;
    bench.hold(1, LineState::kExclusive);
    bench.request(0, D2hReq::kRdOwn, 5);
    bench.answer(1, answer, bench.snooped(1, H2dReq::kSnpInv));
    EXPECT_EQ(bench.home.bad_messages()[BadMessage::kWrongAnswer], 1U);
    bench.run_memory();
    EXPECT_EQ(bench.home.holders(0).all(), 0b1U);
  }
}

TEST(HomeAgentBad, COH_7_2_BogusDataAreNeverWritten) {
  HomeBench bench;
  bench.memory.lines[0] = line_of_value(3);
  bench.hold(1, LineState::kExclusive);
  bench.request(1, D2hReq::kDirtyEvict, 5);
  bench.data(1, bench.responded(1, H2dRsp::kGoWritePull, 5), 8, true);  // nobody took it
  bench.request(1, D2hReq::kItoMWr, 6);
  bench.data(1, bench.responded(1, H2dRsp::kGoWritePull, 6), 8, true);  // a write
  bench.request(1, D2hReq::kDirtyEvict, 7);                             // of what it has not
  bench.data(1, bench.responded(1, H2dRsp::kGoWritePull, 7), 8);
  bench.run_memory();
  EXPECT_EQ(bench.in_memory(), 3U);
  EXPECT_EQ(bench.home.bad_messages()[BadMessage::kWrongAnswer], 3U);
  EXPECT_EQ(bench.home.outstanding(), 0U);
}

}  // namespace
}  // namespace flitwise::test::home_agent_test
