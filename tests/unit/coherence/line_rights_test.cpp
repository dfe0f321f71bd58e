// SPDX-License-Identifier: Apache-2.0
// What a request may do with its line, and what one that may not is answered. [COH-3.12]
// [COH-3.13] [COH-7.4]
#include <gtest/gtest.h>

#include <random>

#include "unit/coherence/coherence_support.h"

namespace flitwise::test::line_rights_test {
namespace {

using cxl::D2hReq;
using cxl::D2hRsp;
using cxl::GoState;
using cxl::H2dReq;
using cxl::H2dRsp;

constexpr LineRights kNothing{false, false}, kToRead{true, false}, kToWrite{false, true},
    kAll{true, true};

struct RightsBench : HomeBench {
  void request(std::uint8_t port, D2hReq opcode, std::uint16_t cqid, LineRights rights,
               std::uint64_t address = 0) {
    home.receive(port, message_of(CxlChannel::kD2hReq, opcode, cqid, address), {}, out, {rights});
  }
  /// Neither memory nor another cache hears of it, and the home remembers nothing.
  void expect_untouched() {
    EXPECT_TRUE(memory.empty());
    EXPECT_TRUE(sent_nothing_more());
    EXPECT_EQ(home.holders(0).owner(), std::optional<std::uint8_t>(1));
    EXPECT_EQ(home.outstanding(), 0U);
    EXPECT_EQ(home.uqids_out(), 0U);
  }
};

TEST(LineRights, COH_3_12_EachRequestNeedsWhatItCanDoWithTheLine) {
  struct Expected {
    D2hReq opcode;
    bool by_reader, by_writer;  // may do this alone
  };
  for (const Expected& one : {Expected{D2hReq::kRdCurr, true, false},
                              {D2hReq::kRdShared, true, false},
                              {D2hReq::kRdAny, true, false},
                              {D2hReq::kClFlush, true, false},
                              {D2hReq::kRdOwn, false, false},
                              {D2hReq::kRdOwnNoData, false, true},
                              {D2hReq::kItoMWr, false, true},
                              {D2hReq::kWrCur, false, true},
                              {D2hReq::kWrInv, false, true},
                              {D2hReq::kWoWrInv, false, true},
                              {D2hReq::kWoWrInvF, false, true}}) {
    const int opcode = static_cast<int>(one.opcode);
    EXPECT_TRUE(is_checked(one.opcode)) << opcode;
    EXPECT_FALSE(are_enough(one.opcode, kNothing)) << opcode;
    EXPECT_EQ(are_enough(one.opcode, kToRead), one.by_reader) << opcode;
    EXPECT_EQ(are_enough(one.opcode, kToWrite), one.by_writer) << opcode;
    EXPECT_TRUE(are_enough(one.opcode, kAll)) << opcode;
  }
  for (const D2hReq opcode : {D2hReq::kCleanEvict, D2hReq::kDirtyEvict, D2hReq::kCleanEvictNoData,
                              D2hReq::kCacheFlushed}) {
    EXPECT_FALSE(is_checked(opcode)) << static_cast<int>(opcode);
    EXPECT_TRUE(are_enough(opcode, kNothing)) << static_cast<int>(opcode);
  }
}

TEST(LineRights, COH_3_12_AReaderGetsAtMostASharedCopy) {
  for (const D2hReq opcode : {D2hReq::kRdShared, D2hReq::kRdAny}) {
    RightsBench bench;
    bench.request(0, opcode, 9, kToRead);
    bench.run_memory();
    bench.expect_go(0, 9, GoState::kShared);
    EXPECT_FALSE(bench.home.holders(0).owner());
  }
  RightsBench bench;
  bench.request(0, D2hReq::kRdAny, 9, kAll);
  bench.run_memory();
  bench.expect_go(0, 9, GoState::kExclusive);
}

TEST(LineRights, COH_3_12_EvictionsAreAcceptedWhereTheDirectoryListsTheCache) {
  RightsBench bench;
  bench.hold(1, LineState::kExclusive);
  bench.request(1, D2hReq::kDirtyEvict, 4, kNothing);
  bench.data(1, bench.responded(1, H2dRsp::kGoWritePull, 4), 6);
  bench.run_memory();
  EXPECT_EQ(bench.in_memory(), 6U);
  bench.request(0, D2hReq::kDirtyEvict, 4, kNothing);
  bench.data(0, bench.responded(0, H2dRsp::kGoWritePull, 4), 7);
  bench.run_memory();
  EXPECT_EQ(bench.in_memory(), 6U) << "it had no such line";
  bench.request(0, D2hReq::kCacheFlushed, 4, kNothing);
  bench.expect_go(0, 4, GoState::kInvalid);
}

TEST(LineRights, COH_3_13_ARefusedReadGetsGoErrAndDataThatSayNothing) {
  for (const D2hReq opcode : {D2hReq::kRdShared, D2hReq::kRdAny, D2hReq::kRdOwn}) {
    RightsBench bench;
    bench.hold(1, LineState::kExclusive);
    bench.memory.lines[0] = line_of_value(5);
    bench.request(0, opcode, 9, kNothing);
    bench.expect_go(0, 9, GoState::kError);
    CxlOut data;
    EXPECT_TRUE(takes(bench.out, CxlChannel::kH2dData, 0, &data));
    EXPECT_TRUE(data.message.go_err);
    EXPECT_EQ(data.line, CxlLine{});
    bench.expect_untouched();
  }
}

TEST(LineRights, COH_3_13_ARefusedRdCurrGetsDataWithGoErrAlone) {
  RightsBench bench;
  bench.hold(1, LineState::kExclusive);
  bench.request(0, D2hReq::kRdCurr, 9, kToWrite);
  CxlOut data;
  EXPECT_TRUE(takes(bench.out, CxlChannel::kH2dData, 0, &data));
  EXPECT_TRUE(data.message.go_err);
  EXPECT_EQ(data.line, CxlLine{});
  bench.expect_untouched();
}

TEST(LineRights, COH_3_13_ARefusedRequestWithoutDataGetsGoErr) {
  for (const D2hReq opcode : {D2hReq::kRdOwnNoData, D2hReq::kClFlush}) {
    RightsBench bench;
    bench.hold(1, LineState::kExclusive);
    bench.request(0, opcode, 9, kNothing);
    bench.expect_go(0, 9, GoState::kError);
    bench.expect_untouched();
  }
}

TEST(LineRights, COH_3_13_DataOfARefusedWriteAreDropped) {
  struct Expected {
    D2hReq opcode;
    H2dRsp pull;
    bool has_go;  // behind its data
  };
  for (const Expected& one : {Expected{D2hReq::kItoMWr, H2dRsp::kGoErrWritePull, false},
                              {D2hReq::kWrCur, H2dRsp::kGoErrWritePull, false},
                              {D2hReq::kWrInv, H2dRsp::kWritePull, true},
                              {D2hReq::kWoWrInv, kPostedWriteRefusal, false},
                              {D2hReq::kWoWrInvF, kPostedWriteRefusal, false}}) {
    RightsBench bench;
    bench.hold(1, LineState::kExclusive);
    bench.request(0, one.opcode, 9, kToRead);
    bench.data(0, bench.responded(0, one.pull, 9), 6);
    if (one.has_go) {
      bench.expect_go(0, 9, GoState::kError);
    }
    bench.expect_untouched();
    EXPECT_TRUE(bench.notes.writes.empty());
    EXPECT_EQ(bench.home.bad_messages().total(), 0U);
  }
}

TEST(LineRights, COH_3_13_ACacheTakesEachRefusalAsAFailure) {
  struct Asked {
    CoreOp op;
    std::uint64_t byte_enables;
    H2dRsp pull;
    bool has_go;
  };
  for (const Asked& one : {Asked{CoreOp::kWriteThrough, kAllBytes, H2dRsp::kGoErrWritePull, false},
                           {CoreOp::kWriteThrough, enables_of(1), H2dRsp::kWritePull, true},
                           {CoreOp::kWritePosted, kAllBytes, kPostedWriteRefusal, false},
                           {CoreOp::kWritePosted, enables_of(1), kPostedWriteRefusal, false}}) {
    CacheBench bench;
    const std::uint16_t cqid = bench.ask(one.op, 0x40, 5, one.byte_enables);
    bench.out.clear();
    bench.respond(one.pull, cqid, 3);
    bench.sent_data(3);
    if (one.has_go) {
      bench.go(cqid, GoState::kError);
    }
    bench.result(true);
    EXPECT_EQ(bench.cache.outstanding(), 0U);
    EXPECT_EQ(bench.cache.bad_messages().total(), 0U);
  }
}

TEST(LineRights, COH_3_13_ARefusalDoesNotWaitForItsLine) {
  RightsBench bench;
  bench.request(1, D2hReq::kRdOwn, 4, kAll);  // at memory
  bench.request(0, D2hReq::kRdOwn, 9, kToRead);
  bench.expect_go(0, 9, GoState::kError);
  bench.run_memory();
  bench.expect_go(1, 4, GoState::kExclusive);
}

TEST(LineRights, COH_3_13_PullsOfRefusedWritesEndWithTheirCache) {
  RightsBench bench;
  bench.request(0, D2hReq::kWrInv, 9, kNothing);
  bench.request(0, D2hReq::kItoMWr, 8, kNothing);
  bench.out.clear();
  bench.home.port_lost(0, bench.out);
  EXPECT_EQ(bench.home.outstanding(), 0U);
  EXPECT_EQ(bench.home.uqids_out(), 0U);
}

TEST(LineRights, COH_7_4_ASharerCannotWriteBySnoopAnswers) {
  for (const D2hRsp answer : {D2hRsp::kRspIFwdM, D2hRsp::kRspSFwdM, D2hRsp::kRspVFwdV}) {
    RightsBench bench;
    bench.memory.lines[0] = line_of_value(5);
    bench.request(0, D2hReq::kRdAny, 9, kToRead);
    bench.run_memory();
    bench.out.clear();
    bench.request(1, D2hReq::kRdOwn, 4, kAll);
    const std::uint16_t uqid = bench.snooped(0, H2dReq::kSnpInv);
    bench.data(0, uqid, 6);
    bench.answer(0, answer, uqid);
    bench.run_memory();
    bench.expect_go(1, 4, GoState::kExclusive);
    EXPECT_EQ(bench.sent_data(1, 4), 5U) << static_cast<int>(answer);
    EXPECT_EQ(bench.in_memory(), 5U);
    EXPECT_FALSE(bench.home.holders(0).holds(0));
    EXPECT_GT(bench.home.bad_messages()[BadMessage::kWrongAnswer], 0U);
  }
}

// Port 0 sends what it likes; lines 0 to 1 are nobody's for it, 2 to 3 for reading, 4 to 5 all its.
LineRights rights_at(std::uint64_t address) {
  const std::uint64_t line = address / kCxlLineBytes;
  return line < 2 ? kNothing : line < 4 ? kToRead : kAll;
}

CxlMessage any_message(std::mt19937_64& random) {
  constexpr CxlChannel kSent[] = {CxlChannel::kD2hReq, CxlChannel::kD2hRsp, CxlChannel::kD2hData};
  CxlMessage message =
      message_of(kSent[random() % 3], static_cast<std::uint8_t>(random() % 0x18),
                 static_cast<std::uint16_t>(random() % 12), random() % 6 * kCxlLineBytes);
  message.bogus = random() % 4 == 0;
  message.byte_enables = random() % 2 == 0 ? kAllBytes : random();
  return message;
}

TEST(LineRights, COH_3_12_AHostileCacheReachesWhatItMayAndNothingElse) {
  constexpr int kMessages = 200'000;
  RightsBench bench;
  for (std::uint64_t line = 0; line < 6; ++line) {
    bench.memory.lines[line * kCxlLineBytes] = line_of_value(100 + line);
  }
  bench.hold(1, LineState::kExclusive, 0);
  bench.hold(1, LineState::kShared, 2 * kCxlLineBytes);
  std::mt19937_64 random(1);
  std::uint64_t secrets = 0, owned = 0;
  for (int i = 0; i < kMessages; ++i) {
    const CxlMessage message = any_message(random);
    bench.home.receive(0, message, line_of_value(7), bench.out, {rights_at(message.address)});
    bench.run_memory();
    for (const CxlOut& sent : bench.out) {
      const bool is_data = sent.port == 0 && sent.message.channel == CxlChannel::kH2dData;
      const std::uint64_t word = words_of(sent.line)[0];
      secrets += is_data && (word == 100 || word == 101) ? 1 : 0;
      EXPECT_FALSE(sent.port == 1 && sent.message.address < 2 * kCxlLineBytes) << "a snoop";
    }
    bench.out.clear();
    for (std::uint64_t line = 0; line < 4; ++line) {
      const LineHolders holders = bench.home.holders(line * kCxlLineBytes);
      owned += holders.is_owner(0) || (line < 2 && holders.holds(0)) ? 1 : 0;
    }
  }
  EXPECT_EQ(secrets, 0U);
  EXPECT_EQ(owned, 0U);
  for (std::uint64_t line = 0; line < 4; ++line) {
    EXPECT_EQ(bench.in_memory(line * kCxlLineBytes), 100 + line);
  }
  EXPECT_NE(bench.in_memory(4 * kCxlLineBytes), 104U) << "it wrote where it may";
  EXPECT_EQ(bench.home.holders(0).owner(), std::optional<std::uint8_t>(1));
}

}  // namespace
}  // namespace flitwise::test::line_rights_test
